//! A network namespace that is held by a descriptor.
//!
//! It has no name and no mount. The kernel takes it down, with its devices and sockets, when the last descriptor is
//! closed and the last process in it has ended, for whatever reason.

use std::fs;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};

use crate::error::{Context, Result};
use crate::system_calls;

/// Path of the namespace of the calling thread.
const OWN: &str = "/proc/thread-self/ns/net";

/// Number of buckets for the TCP connections of a namespace made from this one; from Linux 6.1 on.
const BUCKETS: &str = "/proc/sys/net/ipv4/tcp_child_ehash_entries";
const FEW: &str = "4096";

/// A network namespace.
#[derive(Debug)]
pub struct Namespace {
    descriptor: OwnedFd,
}

impl Namespace {
    /// The namespace that the calling thread is in.
    ///
    /// # Errors
    /// `/proc` is not mounted.
    pub fn own() -> Result<Namespace> {
        let descriptor = rustix::fs::open(OWN, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
            .context(|| format!("{OWN}: the network namespace cannot be opened"))?;
        Ok(Namespace { descriptor })
    }

    /// A new namespace with a loopback device that is down.
    ///
    /// # Errors
    /// The process may not make namespaces: it has no `CAP_SYS_ADMIN` in its user namespace.
    pub fn new() -> Result<Namespace> {
        let _back = Back::prepare()?;
        unshare()?;
        // To list connections, the kernel walks through all buckets. Those of the machine are hundreds of thousands,
        // which takes half a millisecond, so the namespace gets its own. It inherits their number from the one it is
        // made from, which is dropped at once.
        if fs::write(BUCKETS, FEW).is_ok() {
            unshare()?;
        }
        Namespace::own()
    }

    /// Calls `inside` with the calling thread in this namespace, then moves the thread back.
    ///
    /// Sockets that are opened and processes that are started there belong to the namespace from then on.
    ///
    /// # Errors
    /// The process may not enter the namespace.
    ///
    /// # Panics
    /// The process aborts if the thread cannot go back, since all its later actions would happen in the wrong place.
    pub fn enter<T>(&self, inside: impl FnOnce() -> T) -> Result<T> {
        let _back = Back::prepare()?;
        go_to(self.descriptor.as_fd()).context(|| "a network namespace cannot be entered".to_owned())?;
        Ok(inside())
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// Moves the thread back at the end of the scope, and when a panic unwinds through it.
struct Back(Namespace);

impl Back {
    fn prepare() -> Result<Back> {
        Namespace::own().map(Back)
    }
}

impl Drop for Back {
    fn drop(&mut self) {
        if let Err(cause) = go_to(self.0.as_fd()) {
            eprintln!("lasthop: a thread cannot go back to its network namespace: {cause}");
            std::process::abort();
        }
    }
}

/// Moves the thread into a new network namespace.
fn unshare() -> Result<()> {
    system_calls::unshare(UnshareFlags::NEWNET)
        .context(|| "a network namespace cannot be made".to_owned())
        .map_err(|error| error.with_remedy("run as root, or where an ordinary user may make user namespaces"))
}

fn go_to(namespace: BorrowedFd<'_>) -> rustix::io::Result<()> {
    move_into_link_name_space(namespace, Some(LinkNameSpaceType::Network))
}
