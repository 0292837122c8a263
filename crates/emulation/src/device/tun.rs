//! A TUN device: a packet that a network stack sends is read from it, and a packet written to it has arrived.
//!
//! There are no offloads, so a packet is at most as long as the MTU and its checksums are complete. A TUN never pushes
//! back: a packet that finds its queue full is dropped and counted, and the socket that sent it does not notice. The
//! reader must therefore keep the queue empty, and a drop is an error of the run.

use std::cell::RefCell;
use std::fs;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::error::{Context, Error, Result};
use crate::host::{Namespace, Netlink};
use crate::system_calls;

/// The control file of all TUN devices.
const DOOR: &str = "/dev/net/tun";

/// The name of a device, and its settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// its name, of at most 15 bytes
    pub name: String,
    /// the address of the host
    pub address: Ipv4Addr,
    /// number of network bits in the address
    pub prefix: u8,
    /// the longest IP packet, in bytes
    pub mtu: u32,
    /// number of packets that may wait to be read; further ones are dropped
    pub queue: u32,
}

/// A TUN device in a namespace. It goes with this value.
#[derive(Debug)]
pub struct Tun {
    descriptor: OwnedFd,
    name: String,
    netlink: RefCell<Netlink>,
}

impl Tun {
    /// Makes the device in `namespace` and brings it and the loopback device up. IPv6 is switched off in the namespace.
    ///
    /// # Errors
    /// `/dev/net/tun` cannot be opened, the name is taken, or the process has no `CAP_NET_ADMIN` in the namespace.
    pub fn open(namespace: &Namespace, setup: &Interface) -> Result<Tun> {
        let name = setup.name.clone();
        let descriptor = namespace.enter(|| {
            switch_off_ipv6();
            attach(&name)
        })??;
        let mut netlink = Netlink::open(namespace)?;
        netlink.set_sizes(&name, setup.mtu, setup.queue)?;
        netlink.add_address(&name, setup.address, setup.prefix)?;
        netlink.bring_up("lo")?;
        netlink.bring_up(&name)?;
        Ok(Tun { descriptor, name, netlink: RefCell::new(netlink) })
    }

    /// Reads the next packet that the stack has sent. `None`: there is none.
    ///
    /// A packet that is longer than `packet` is cut off.
    ///
    /// # Errors
    /// The device is gone.
    pub fn read(&self, packet: &mut [u8]) -> Result<Option<usize>> {
        match rustix::io::read(&self.descriptor, packet) {
            Ok(length) => Ok(Some(length)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(error).context(|| format!("{}: a packet cannot be read", self.name)),
        }
    }

    /// Hands a packet to the stack, which processes it before this returns. False: the kernel has no room for it now.
    ///
    /// # Errors
    /// The device is down or gone, or the bytes are not an IP packet.
    pub fn write(&self, packet: &[u8]) -> Result<bool> {
        match rustix::io::write(&self.descriptor, packet) {
            Ok(_) => Ok(true),
            Err(Errno::AGAIN | Errno::INTR | Errno::NOBUFS | Errno::NOMEM) => Ok(false),
            Err(error) => Err(error).context(|| format!("{}: a packet cannot be written", self.name)),
        }
    }

    /// Number of packets of the stack that found the queue full.
    ///
    /// # Errors
    /// The device is gone.
    pub fn drops(&self) -> Result<u64> {
        self.netlink.borrow_mut().dropped(&self.name)
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// Makes the device in the namespace of the calling thread.
fn attach(name: &str) -> Result<OwnedFd> {
    let descriptor = rustix::fs::open(DOOR, OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())
        .context(|| format!("{DOOR} cannot be opened"))
        .map_err(|error| error.with_remedy("load the module `tun`, and let this user read and write the file"))?;
    system_calls::attach_tun(descriptor.as_fd(), name)
        .context(|| format!("{name}: the TUN device cannot be made"))
        .map_err(with_cause_of_refusal)?;
    Ok(descriptor)
}

fn with_cause_of_refusal(error: Error) -> Error {
    match error.cause().and_then(std::io::Error::raw_os_error).map(Errno::from_raw_os_error) {
        Some(Errno::PERM) => error.with_remedy("it needs CAP_NET_ADMIN in the namespace"),
        Some(Errno::BUSY) => error.with_remedy("a device of this name is there already"),
        _ => error,
    }
}

/// Keeps the namespace free of router solicitations and of neighbour discovery. A kernel without IPv6 has no such files.
fn switch_off_ipv6() {
    for which in ["all", "default"] {
        fs::write(format!("/proc/sys/net/ipv6/conf/{which}/disable_ipv6"), "1").ok();
    }
}
