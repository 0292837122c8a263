//! Generic netlink: families of commands with attributes, by which the kernel's Wi-Fi is configured. [genetlink(7)]

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, SocketFlags, SocketType, netlink, sockopt};

use crate::error::{Context, Error, Result};
use crate::host::namespace::Namespace;

/// `NLMSG_ERROR`, and the flags of a request and of one that is to be acknowledged. [include/uapi/linux/netlink.h]
const ERROR: u16 = 2;
const REQUEST: u16 = 1;
const ACK: u16 = 4;
/// The family of families: its number, the question for a family by its name, and the attributes. [genetlink.h]
const CONTROLLER: u16 = 16;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;
/// Bytes of the headers of netlink and of generic netlink.
const HEADER: usize = 16;
const HEADERS: usize = HEADER + 4;
/// The bits of an attribute's type that are no flags.
const TYPE: u16 = 0x3fff;
/// Room for messages that were not read yet, in bytes.
const ROOM: usize = 64 << 20;

/// Attributes of a message that is made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attributes(Vec<u8>);

impl Attributes {
    /// Adds an attribute.
    pub(crate) fn with(mut self, kind: u16, value: &[u8]) -> Attributes {
        self.0.extend(((4 + value.len()) as u16).to_ne_bytes());
        self.0.extend(kind.to_ne_bytes());
        self.0.extend(value);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self
    }
}

/// A message of a family, as it came.
#[derive(Debug)]
pub(crate) struct Message<'a> {
    pub(crate) family: u16,
    pub(crate) command: u8,
    attributes: &'a [u8],
}

impl<'a> Message<'a> {
    /// The value of the first attribute of a kind.
    pub(crate) fn get(&self, kind: u16) -> Option<&'a [u8]> {
        let mut rest = self.attributes;
        while rest.len() >= 4 {
            let length = usize::from(u16::from_ne_bytes([rest[0], rest[1]]));
            let value = rest.get(4..length)?;
            if u16::from_ne_bytes([rest[2], rest[3]]) & TYPE == kind {
                return Some(value);
            }
            rest = rest.get(length.next_multiple_of(4)..)?;
        }
        None
    }
}

/// A connection to the kernel for all families.
#[derive(Debug)]
pub(crate) struct GenericNetlink {
    socket: OwnedFd,
    sequence: u32,
    buffer: Vec<u8>,
}

impl GenericNetlink {
    /// Opens the connection in `namespace`.
    ///
    /// # Errors
    /// The kernel has no generic netlink.
    pub(crate) fn open(namespace: &Namespace) -> Result<GenericNetlink> {
        let socket = namespace.enter(|| {
            let family = rustix::net::AddressFamily::NETLINK;
            rustix::net::socket_with(family, SocketType::RAW, SocketFlags::CLOEXEC, Some(netlink::GENERIC))
        })?;
        let socket = socket.context(|| "a generic netlink socket cannot be opened".to_owned())?;
        sockopt::set_socket_recv_buffer_size_force(&socket, ROOM)
            .context(|| "a netlink socket cannot have its room".to_owned())?;
        Ok(GenericNetlink { socket, sequence: 0, buffer: vec![0; 1 << 16] })
    }

    /// The number of a family.
    ///
    /// # Errors
    /// The kernel does not have it.
    pub(crate) fn family(&mut self, name: &str) -> Result<u16> {
        let what = || format!("the kernel has no netlink family {name}");
        let named = Attributes::default().with(FAMILY_NAME, format!("{name}\0").as_bytes());
        self.send(CONTROLLER, GET_FAMILY, &named, 0)?;
        loop {
            let length = self.wait(what)?;
            let bytes = &self.buffer[..length];
            if let Some(code) = error_of(bytes) {
                return Err(std::io::Error::from_raw_os_error(-code)).context(what);
            }
            if let Some([low, high]) = message_of(bytes).and_then(|message| message.get(FAMILY_ID)) {
                return Ok(u16::from_ne_bytes([*low, *high]));
            }
        }
    }

    /// Sends a command without waiting for an answer.
    ///
    /// # Errors
    /// The kernel does not take it.
    pub(crate) fn tell(&mut self, family: u16, command: u8, attributes: &Attributes) -> Result<()> {
        self.send(family, command, attributes, 0)
    }

    /// Sends a command and waits until the kernel has carried it out; messages that come meanwhile are lost. Returns what
    /// the kernel answers: 0, or a number of its own.
    ///
    /// # Errors
    /// The kernel refuses it.
    pub(crate) fn ask(&mut self, what: &str, family: u16, command: u8, attributes: &Attributes) -> Result<i32> {
        self.send(family, command, attributes, ACK)?;
        loop {
            let length = self.wait(|| what.to_owned())?;
            match error_of(&self.buffer[..length]) {
                None => {}
                Some(code) if code < 0 => {
                    return Err(std::io::Error::from_raw_os_error(-code)).context(|| what.to_owned());
                }
                Some(answer) => return Ok(answer),
            }
        }
    }

    /// Calls `each` with the next message, if there is one.
    ///
    /// # Errors
    /// Messages were lost.
    pub(crate) fn next<T>(&mut self, each: impl FnOnce(&Message<'_>) -> T) -> Result<Option<T>> {
        match rustix::net::recv(&self.socket, self.buffer.as_mut_slice(), RecvFlags::DONTWAIT) {
            Ok((length, _)) => match message_of(&self.buffer[..length]) {
                Some(message) => Ok(Some(each(&message))),
                None => self.next(each),
            },
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(error).context(|| "frames of the kernel's radios cannot be read".to_owned()),
        }
    }

    fn wait(&mut self, what: impl FnOnce() -> String) -> Result<usize> {
        let (length, _) =
            rustix::net::recv(&self.socket, self.buffer.as_mut_slice(), RecvFlags::empty()).context(what)?;
        Ok(length)
    }

    fn send(&mut self, family: u16, command: u8, attributes: &Attributes, flags: u16) -> Result<()> {
        self.sequence += 1;
        let mut bytes = Vec::with_capacity(HEADERS + attributes.0.len());
        bytes.extend(((HEADERS + attributes.0.len()) as u32).to_ne_bytes());
        bytes.extend(family.to_ne_bytes());
        bytes.extend((REQUEST | flags).to_ne_bytes());
        bytes.extend(self.sequence.to_ne_bytes());
        bytes.extend([0; 4]);
        bytes.extend([command, 1, 0, 0]);
        bytes.extend(&attributes.0);
        rustix::net::send(&self.socket, &bytes, SendFlags::empty())
            .map(drop)
            .context(|| "a netlink message cannot be sent".to_owned())
    }
}

impl AsFd for GenericNetlink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// The answer of the kernel that a message is, if it is one.
fn error_of(bytes: &[u8]) -> Option<i32> {
    let kind = u16::from_ne_bytes(bytes.get(4..6)?.try_into().ok()?);
    let code = bytes.get(HEADER..HEADER + 4)?;
    (kind == ERROR).then(|| i32::from_ne_bytes(code.try_into().expect("it has four bytes")))
}

/// The message of a family that these bytes are, if they are one.
fn message_of(bytes: &[u8]) -> Option<Message<'_>> {
    let length = u32::from_ne_bytes(bytes.get(..4)?.try_into().ok()?) as usize;
    let family = u16::from_ne_bytes(bytes.get(4..6)?.try_into().ok()?);
    let attributes = bytes.get(HEADERS..length.min(bytes.len()))?;
    (family >= CONTROLLER).then(|| Message { family, command: bytes[HEADER], attributes })
}

/// Gives a radio, with its network devices, to a namespace, as `iw phy … set netns` does. `number`: the radio's among all of
/// the kernel's.
///
/// # Errors
/// The kernel refuses it.
pub(crate) fn give_radio(netlink: &mut GenericNetlink, number: u32, to: &Namespace) -> Result<()> {
    // [include/uapi/linux/nl80211.h]
    const SET_WIPHY_NETNS: u8 = 49;
    const WIPHY: u16 = 1;
    const NETNS_FD: u16 = 219;
    use std::os::fd::AsRawFd;
    let descriptor = to.as_fd().as_raw_fd();
    let attributes = Attributes::default().with(WIPHY, &number.to_ne_bytes()).with(NETNS_FD, &descriptor.to_ne_bytes());
    let family = netlink.family("nl80211")?;
    netlink.ask("a radio cannot be given to its namespace", family, SET_WIPHY_NETNS, &attributes).map(drop)
}

/// The error if a kernel has no Wi-Fi stack.
pub(crate) fn without_wifi(error: &Error) -> Error {
    Error::new(format!("{error}; build a kernel with `lasthop emulate --build-kernel --wifi`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_found_again_by_their_kinds() {
        let made = Attributes::default().with(3, b"abcde").with(8, &7u64.to_ne_bytes()).with(0x8000 | 2, b"x");
        let message = Message { family: 20, command: 2, attributes: &made.0 };
        assert_eq!(message.get(3), Some(&b"abcde"[..]));
        assert_eq!(message.get(8).map(|value| value.len()), Some(8));
        assert_eq!((message.get(2), message.get(5)), (Some(&b"x"[..]), None));
    }
}
