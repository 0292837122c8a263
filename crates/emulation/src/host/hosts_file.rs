//! An `/etc/hosts` that only the emulator and its programs see.

use std::fmt::Write;
use std::fs;
use std::net::Ipv4Addr;

use rustix::mount::{MountFlags, UnmountFlags};

use crate::error::{Context, Result};

const HOSTS: &str = "/etc/hosts";
/// A directory that exists everywhere: a file system is mounted on it, and unmounted before this returns.
const FOR_NOW: &str = "/tmp";

/// Mounts an `/etc/hosts` over that of the machine, with `localhost` and only these names.
///
/// Call it where mounts are private to the emulator: inside [`contain`](crate::host::contain), or in a guest.
///
/// # Errors
/// The process may not mount, or the machine has no `/etc/hosts`.
pub fn set_hosts(names: &[(Ipv4Addr, &str)]) -> Result<()> {
    let place = || format!("{HOSTS} cannot be laid over that of the machine");
    let file = format!("{FOR_NOW}/hosts");
    rustix::mount::mount("tmpfs", FOR_NOW, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, None).context(place)?;
    let laid = fs::write(&file, text(names)).and_then(|()| Ok(rustix::mount::mount_bind(&file, HOSTS)?)).context(place);
    // The file stays mounted where it was bound.
    rustix::mount::unmount(FOR_NOW, UnmountFlags::DETACH).context(place)?;
    laid
}

fn text(names: &[(Ipv4Addr, &str)]) -> String {
    names.iter().fold("127.0.0.1 localhost\n".to_owned(), |mut text, (address, name)| {
        writeln!(text, "{address} {name}").ok();
        text
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_name_has_a_line() {
        let text = super::text(&[([10, 0, 0, 1].into(), "server"), ([10, 1, 0, 2].into(), "sta1")]);
        assert_eq!(text, "127.0.0.1 localhost\n10.0.0.1 server\n10.1.0.2 sta1\n");
    }
}
