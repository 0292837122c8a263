//! A path of constant delay without a rate, whose losses are a script, and a log of the datagrams on it.

use std::collections::VecDeque;

use lasthop_quic::{Change, Datagram, Pair, Role, Settings};
use lasthop_units::{Duration, Time};

/// One way. Two of them are a round trip of 100 ms.
pub const DELAY: Duration = Duration::from_millis(50);
pub const RTT: Duration = Duration::from_millis(100);
pub const BOTH: [Role; 2] = [Role::Client, Role::Server];

/// A datagram that an end has sent.
#[derive(Clone, Debug)]
pub struct Sent {
    pub at: Time,
    pub by: Role,
    pub arrives: bool,
    pub payload: Vec<u8>,
}

/// An ACK frame at the beginning of a packet with a short header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    pub largest: u64,
    pub delay: Duration,
}

impl Sent {
    /// Whether its first packet has a short header. [RFC 9000 §17.3]
    pub fn is_short(&self) -> bool {
        self.payload[0] & 0x80 == 0
    }

    /// The frames of such a packet: after the flags, a connection ID of eight bytes and the packet number.
    fn split(&self) -> (u64, &[u8]) {
        let length = usize::from(self.payload[0] & 3) + 1;
        let (number, frames) = self.payload[9..].split_at(length);
        (number.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)), frames)
    }

    /// Its packet number, which is small in these tests.
    pub fn number(&self) -> u64 {
        self.split().0
    }

    /// Its ACK, if that is its first frame, or follows HANDSHAKE_DONE and RETIRE_CONNECTION_ID; the delay is in units of
    /// 8 us. [RFC 9000 §19.3, §19.16, §19.20, §18.2]
    pub fn ack(&self) -> Option<Ack> {
        let mut frames = self.split().1;
        loop {
            frames = match frames {
                [0x1e, rest @ ..] | [0x19, _, rest @ ..] => rest,
                _ => break,
            };
        }
        let mut rest = frames.strip_prefix(&[2]).or(frames.strip_prefix(&[3]))?;
        let (largest, delay) = (integer(&mut rest), integer(&mut rest));
        Some(Ack { largest, delay: Duration::from_micros(8) * delay })
    }
}

/// An integer of variable length. [RFC 9000 §16]
fn integer(bytes: &mut &[u8]) -> u64 {
    let length = 1 << (bytes[0] >> 6);
    let (of, rest) = bytes.split_at(length);
    *bytes = rest;
    of[1..].iter().fold(u64::from(of[0] & 0x3f), |value, byte| value << 8 | u64::from(*byte))
}

/// Whether the path loses a datagram, by its place in the log.
type Losses = Box<dyn Fn(&Sent, usize) -> bool>;

pub struct World {
    pub pair: Pair,
    pub now: Time,
    pub log: Vec<Sent>,
    pub loses: Losses,
    on_the_way: VecDeque<(Time, Role, Datagram)>,
    pub changes: Vec<(Time, Change)>,
}

impl World {
    pub fn new(settings: &Settings, seed: u64) -> World {
        World {
            pair: Pair::new(settings, seed),
            now: Time::ZERO,
            log: Vec::new(),
            loses: Box::new(|_, _| false),
            on_the_way: VecDeque::new(),
            changes: Vec::new(),
        }
    }

    fn send(&mut self) {
        for by in BOTH {
            while let Some(datagram) = self.pair.poll_transmit(self.now, by) {
                let mut sent = Sent { at: self.now, by, arrives: true, payload: datagram.payload.to_vec() };
                sent.arrives = !(self.loses)(&sent, self.log.len());
                if sent.arrives {
                    self.on_the_way.push_back((self.now + DELAY, by.other(), datagram));
                }
                self.log.push(sent);
            }
        }
        while let Some((_, change)) = self.pair.next_change() {
            self.changes.push((self.now, change));
        }
    }

    /// Handles what happens next, if it is before `end`; false if it is not.
    pub fn step(&mut self, end: Time) -> bool {
        self.send();
        let arrival = self.on_the_way.front().map_or(Time::NEVER, |(at, ..)| *at);
        let next = BOTH.iter().map(|&role| self.pair.poll_timeout(role)).fold(arrival, Time::min);
        if next >= end {
            return false;
        }
        self.now = next.max(self.now);
        if arrival <= self.now
            && let Some((_, role, datagram)) = self.on_the_way.pop_front()
        {
            self.pair.handle(self.now, role, datagram);
        } else {
            for role in BOTH {
                if self.pair.poll_timeout(role) <= self.now {
                    self.pair.handle_timeout(self.now, role);
                }
            }
        }
        self.send();
        true
    }

    pub fn run_until(&mut self, end: Time) {
        while self.step(end) {}
        self.now = end;
    }

    /// The datagrams of an end from a time on.
    pub fn sent_by(&self, role: Role, from: Time) -> Vec<&Sent> {
        self.log.iter().filter(|sent| sent.by == role && sent.at >= from).collect()
    }

    /// A number that any difference in time or bytes changes. [FNV-1a]
    pub fn digest(&self) -> u64 {
        let each = self.log.iter().flat_map(|sent| [&sent.at.as_nanos().to_be_bytes()[..], &sent.payload[..]].concat());
        each.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    }
}
