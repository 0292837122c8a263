//! The content of a trace that a scenario names.

use std::path::{Path, PathBuf};

use lasthop_registry::FileName;

const MIB: u64 = 1 << 20;

/// Reads `file`, whose relative name starts at `folder`, of at most `most` bytes; returns its path too.
///
/// # Errors
/// A sentence that names the file.
pub(crate) fn content(file: &FileName, folder: &Path, most: u64) -> Result<(PathBuf, Vec<u8>), String> {
    let path = file.within(folder);
    let fail = |error: std::io::Error| format!("cannot read {}: {}", path.display(), reason(&error));
    let facts = std::fs::metadata(&path).map_err(fail)?;
    // A device or a pipe may have no end.
    if !facts.is_file() || facts.len() > most {
        let most =
            if most >= 1024 * MIB { format!("{} GiB", most / 1024 / MIB) } else { format!("{} MiB", most / MIB) };
        return Err(format!("cannot read {}: a trace is a file of at most {most}", path.display()));
    }
    let content = std::fs::read(&path).map_err(fail)?;
    Ok((path, content))
}

/// The system's message about a file, without its error number.
fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_string()
}
