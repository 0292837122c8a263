//! A network namespace that a descriptor holds.
//!
//! It has no name and no mount. The kernel takes it down, with its devices and sockets, when the last descriptor is closed and the
//! last process in it has ended, whatever ends them.

use std::fs;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};

use crate::error::{Place, Result};
use crate::system_calls;

/// The namespace of the calling thread.
const OWN: &str = "/proc/thread-self/ns/net";

/// How many buckets the TCP connections of a namespace made from this one are kept in; from Linux 6.1 on.
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
            .place(|| format!("{OWN}: the network namespace cannot be opened"))?;
        Ok(Namespace { descriptor })
    }

    /// A new namespace, in which there is a loopback device that is down.
    ///
    /// # Errors
    /// The process may not make namespaces: it has no `CAP_SYS_ADMIN` in its user namespace.
    pub fn new() -> Result<Namespace> {
        let _back = Back::prepare()?;
        unshare()?;
        // To list its connections, the kernel walks through all buckets. Those of the machine are hundreds of thousands, which takes
        // half a millisecond, so the namespace gets some of its own. It inherits their number from the one it is made from, which
        // goes at once.
        if fs::write(BUCKETS, FEW).is_ok() {
            unshare()?;
        }
        Namespace::own()
    }

    /// Calls `inside` with the calling thread in this namespace, and takes the thread back.
    ///
    /// Sockets that are opened and processes that are started there belong to the namespace from then on.
    ///
    /// # Errors
    /// The process may not enter the namespace.
    ///
    /// # Panics
    /// The process aborts if the thread cannot go back, since all that it did afterwards would be done in the wrong place.
    pub fn enter<T>(&self, inside: impl FnOnce() -> T) -> Result<T> {
        let _back = Back::prepare()?;
        go_to(self.descriptor.as_fd()).place(|| "a network namespace cannot be entered".to_owned())?;
        Ok(inside())
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// Takes the thread back to where it was, at the end of the scope and when a panic passes through.
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
        .place(|| "a network namespace cannot be made".to_owned())
        .map_err(|error| error.with_remedy("run as root, or where an ordinary user may make user namespaces"))
}

fn go_to(namespace: BorrowedFd<'_>) -> rustix::io::Result<()> {
    move_into_link_name_space(namespace, Some(LinkNameSpaceType::Network))
}
