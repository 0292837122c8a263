//! Messages between the process that carries data and the emulator.

use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};

const READY: u8 = b'R';
const COMPLETED: u8 = b'C';
const FAILED: u8 = b'F';

/// The longest message, in bytes.
const LONGEST: usize = 1024;

/// A connection whose data has all arrived: the receiver has read its end and closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// the transfer, by its index in the order of starting
    pub transfer: usize,
    /// its connection of that number, from 0
    pub connection: u32,
    /// time at which the sender noticed it, in nanoseconds of `CLOCK_MONOTONIC`
    pub at_ns: u64,
}

/// A message of the process that carries data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// all is set up
    Ready,
    /// a connection is complete
    Completed(Completion),
    /// a transfer cannot go on, with a sentence of the reason
    Failed(String),
}

impl Message {
    /// Sends it. Blocks while the other end has too much left to read.
    pub fn send(&self, channel: impl AsFd) -> rustix::io::Result<()> {
        let mut bytes = Vec::new();
        match self {
            Message::Ready => bytes.push(READY),
            Message::Completed(Completion { transfer, connection, at_ns }) => {
                bytes.push(COMPLETED);
                bytes.extend((*transfer as u64).to_ne_bytes());
                bytes.extend(connection.to_ne_bytes());
                bytes.extend(at_ns.to_ne_bytes());
            }
            Message::Failed(sentence) => {
                bytes.push(FAILED);
                bytes.extend(sentence.bytes().take(LONGEST - 1));
            }
        }
        rustix::net::send(channel, &bytes, SendFlags::NOSIGNAL).map(drop)
    }

    /// Reads the next message. `None`: the other end is gone.
    pub fn receive(channel: impl AsFd, flags: RecvFlags) -> rustix::io::Result<Option<Message>> {
        let mut bytes = [0; LONGEST];
        let (length, _) = rustix::net::recv(channel, &mut bytes[..], flags)?;
        Message::parse(&bytes[..length]).transpose()
    }

    fn parse(bytes: &[u8]) -> Option<rustix::io::Result<Message>> {
        let (&kind, rest) = bytes.split_first()?;
        Some(match (kind, rest.len()) {
            (READY, 0) => Ok(Message::Ready),
            (COMPLETED, 20) => Ok(Message::Completed(Completion {
                transfer: number(&rest[..8]) as usize,
                connection: number(&rest[8..12]) as u32,
                at_ns: number(&rest[12..]),
            })),
            (FAILED, _) => Ok(Message::Failed(String::from_utf8_lossy(rest).into_owned())),
            _ => Err(Errno::BADMSG),
        })
    }
}

/// A number of four or eight bytes in the order of this machine.
fn number(bytes: &[u8]) -> u64 {
    match (<[u8; 4]>::try_from(bytes), <[u8; 8]>::try_from(bytes)) {
        (Ok(four), _) => u64::from(u32::from_ne_bytes(four)),
        (_, Ok(eight)) => u64::from_ne_bytes(eight),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sent_messages_are_received() {
        use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
        let (one, other) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap();
        let completed = Completion { transfer: 3, connection: 70_000, at_ns: u64::MAX - 1 };
        let all = [Message::Ready, Message::Completed(completed), Message::Failed("up: no route".to_owned())];
        for message in &all {
            message.send(&one).unwrap();
        }
        for message in &all {
            assert_eq!(Message::receive(&other, RecvFlags::empty()).unwrap().as_ref(), Some(message));
        }
        drop(one);
        assert_eq!(Message::receive(&other, RecvFlags::empty()).unwrap(), None);
    }
}
