//! Digests the sources of the engine, so that a result names its engine however that was compiled.
//!
//! The same sources give the same results on any platform and with any optimisation, so a store need not repeat runs of
//! another build. The sources are those of all crates, with their manifests and the versions of their dependencies.

use std::fs;
use std::path::{Path, PathBuf};

/// FNV-1a with 128 bits: no protection against an adversary, and no need for a crate.
const OFFSET: u128 = 0x6c62272e07bb014262b821756295c58d;
const PRIME: u128 = 0x0000000001000000000000000000013b;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = vec![root.join("Cargo.toml"), root.join("Cargo.lock")];
    for folder in entries(&root.join("crates")) {
        files.push(folder.join("Cargo.toml"));
        let sources = folder.join("src");
        println!("cargo:rerun-if-changed={}", sources.display());
        add_sources(&sources, &mut files);
    }
    files.retain(|file| file.is_file());
    let digest = files.iter().fold(OFFSET, |digest, file| {
        println!("cargo:rerun-if-changed={}", file.display());
        let name = file.strip_prefix(&root).expect("it was found there").to_string_lossy().replace('\\', "/");
        let content = fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        add(add(digest, name.as_bytes()), &content)
    });
    println!("cargo:rustc-env=LASTHOP_SOURCE_DIGEST={:016x}", (digest ^ digest >> 64) as u64);
    println!("cargo:rerun-if-env-changed=LASTHOP_PROFILE_GUIDED");
}

/// The entries of a folder, sorted by name; none if there is no folder.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    entries
}

/// Adds everything below `folder`: included files may be of any kind.
fn add_sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in entries(folder) {
        if entry.is_dir() { add_sources(&entry, files) } else { files.push(entry) }
    }
}

/// Adds `bytes` to the digest, and their number, so that no two lists of files have the same input.
fn add(digest: u128, bytes: &[u8]) -> u128 {
    let length = (bytes.len() as u64).to_le_bytes();
    bytes.iter().chain(&length).fold(digest, |digest, &byte| (digest ^ u128::from(byte)).wrapping_mul(PRIME))
}
