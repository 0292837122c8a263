//! The objects that lie beside their sources are those of the sources.

use std::path::Path;
use std::process::Command;

use crate::objects::folder;

/// The code of an object, as text; the rest depends on the compiler's version.
fn instructions(object: &Path) -> Option<String> {
    let output = Command::new("llvm-objdump").args(["-d", "--no-show-raw-insn"]).arg(object).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.lines().skip(2).collect::<Vec<_>>().join("\n"))
}

/// True if the compiler of the objects is installed.
fn has_clang() -> bool {
    let version = |program: &str| Command::new(program).arg("--version").output().ok();
    let is_same = |text: &[u8]| String::from_utf8_lossy(text).contains("clang version 14.");
    version("clang").is_some_and(|output| is_same(&output.stdout)) && version("llvm-strip").is_some()
}

#[test]
fn objects_are_those_of_their_sources() {
    if !has_clang() {
        eprintln!("skipped: there is no clang 14, which made the objects, or no llvm-strip");
        return;
    }
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/objects");
    let to = std::env::temp_dir().join(format!("lasthop-bpf-{}", std::process::id()));
    std::fs::create_dir_all(&to).unwrap();
    for (from, source) in [
        (folder(), "cubic.bpf.c"),
        (folder(), "newreno.bpf.c"),
        (tests.clone(), "faulty.bpf.c"),
        (tests.clone(), "maps.bpf.c"),
        (tests, "wrapper.bpf.c"),
    ] {
        let built = Command::new(folder().join("build.sh")).arg(&to).arg(source).current_dir(&from).status().unwrap();
        assert!(built.success(), "{source}");
        let object = source.replace(".c", ".o");
        let (new, kept) = (instructions(&to.join(&object)), instructions(&from.join(&object)));
        assert!(new.is_some() && new == kept, "{object} is not what build.sh makes of {source}");
    }
    std::fs::remove_dir_all(&to).unwrap();
}
