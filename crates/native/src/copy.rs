//! A private copy of a shared library's bytes, so that exactly the bytes that were read and hashed before are loaded.

use std::path::{Path, PathBuf};

/// A copy in memory with a path, until the end of its scope.
pub(crate) struct Copied {
    path: PathBuf,
    /// Keeps the path valid.
    _memory: std::fs::File,
}

impl Copied {
    /// A copy of `content`, the bytes of `file`, unless the system has no such copies or the library looks for others next to
    /// itself.
    pub fn of(file: &Path, content: &[u8]) -> Option<Copied> {
        if content.windows(ORIGIN.len()).any(|bytes| bytes == ORIGIN) {
            return None;
        }
        let memory = sealed(file, content)?;
        let path = path_of(&memory);
        // Without /proc there is no path.
        path.exists().then_some(Copied { path, _memory: memory })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The word by which a library names its own folder.
const ORIGIN: &[u8] = b"$ORIGIN";

#[cfg(target_os = "linux")]
fn path_of(memory: &std::fs::File) -> PathBuf {
    use std::os::fd::AsRawFd;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    static MADE: AtomicU64 = AtomicU64::new(0);
    PathBuf::from(format!("/proc/self/fd/{}{}", detour(MADE.fetch_add(1, Relaxed)), memory.as_raw_fd()))
}

/// Steps of a path that stay in its folder, different for each number. The C library takes a path that it has loaded before for the same
/// library, and numbers of descriptors come again.
#[cfg(target_os = "linux")]
fn detour(number: u64) -> String {
    let bits = u64::BITS - number.leading_zeros();
    (0..bits).map(|bit| if number >> bit & 1 == 1 { "./" } else { "/" }).collect()
}

/// A file in memory that can no longer change.
#[cfg(target_os = "linux")]
fn sealed(file: &Path, content: &[u8]) -> Option<std::fs::File> {
    use std::io::Write;

    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
    // The name is for debuggers.
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or("controller");
    let memory = memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).ok()?;
    let mut memory = std::fs::File::from(memory);
    memory.write_all(content).ok()?;
    fcntl_add_seals(&memory, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL).ok()?;
    Some(memory)
}

#[cfg(not(target_os = "linux"))]
fn path_of(_: &std::fs::File) -> PathBuf {
    PathBuf::new()
}

#[cfg(not(target_os = "linux"))]
fn sealed(_: &Path, _: &[u8]) -> Option<std::fs::File> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn every_copy_has_another_path() {
        let paths: std::collections::BTreeSet<String> = (0..1000).map(detour).collect();
        assert_eq!(paths.len(), 1000);
        assert!(std::fs::exists(format!("/proc/self/fd/{}", detour(0b1011))).unwrap());
    }
}
