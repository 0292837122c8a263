//! The first process of a guest: a kernel that was started for one run, whose root is that of the host.

use std::fs;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::MountFlags;
use rustix::system::RebootCommand;

use crate::error::{Context, Result};
use crate::host::supervise::{signals, supervise};
use crate::system_calls::{Fork, fork_alone, reap_by_waiting};

/// The file systems of a guest besides its root: the type, and the mount point.
const MOUNTS: [(&str, &str); 4] = [("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev"), ("tmpfs", "/run")];

/// Mounts `/proc`, `/sys`, `/dev` and `/run`. One that the kernel has already mounted stays.
///
/// # Errors
/// The kernel lacks one of these file systems.
pub fn mount_guest() -> Result<()> {
    for (kind, at) in MOUNTS {
        match rustix::mount::mount(kind, at, kind, MountFlags::NOSUID, None) {
            Ok(()) | Err(Errno::BUSY) => {}
            Err(error) => return Err(error).context(|| format!("{kind} cannot be mounted at {at}")),
        }
    }
    // Terminals, for programs that open some. A kernel without them runs all other programs.
    fs::create_dir_all("/dev/pts").ok();
    rustix::mount::mount("devpts", "/dev/pts", "devpts", MountFlags::NOSUID, None).ok();
    Ok(())
}

/// Continues in a child of the first process, which reaps orphans. When the child has ended, the first process calls
/// `at_end` with its exit status and switches the guest off.
///
/// # Errors
/// No further process can be created. The error is returned in the first process.
pub fn go_on_below_init(at_end: impl FnOnce(i32)) -> Result<()> {
    let signals = signals();
    let blocked = signals.block();
    match fork_alone().context(|| "the guest has no room for a process".to_owned())? {
        Fork::Child => {
            drop(blocked);
            reap_by_waiting();
            Ok(())
        }
        Fork::Parent(below) => {
            at_end(supervise(below, &signals));
            power_off()
        }
    }
}

/// Writes unwritten data and switches the guest off.
///
/// # Panics
/// The kernel refuses: the process may not.
pub fn power_off() -> ! {
    rustix::fs::sync();
    let answer = rustix::system::reboot(RebootCommand::PowerOff);
    panic!("the guest cannot be switched off: {answer:?}")
}

/// Loads a kernel module from a file. A module that is already loaded stays.
///
/// # Errors
/// The file is not a module of this kernel, or is compressed.
pub fn load_module(path: &Path) -> Result<()> {
    let place = || format!("{}: the module cannot be loaded", path.display());
    let file = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).context(place)?;
    match rustix::system::finit_module(&file, c"", 0) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error).context(place),
    }
}
