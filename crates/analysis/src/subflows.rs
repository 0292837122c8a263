//! Subflows of MPTCP connections, found by keys and tokens. [RFC 8684 §2.1, §2.2]
//!
//! ```text
//! A1 -> B1   MP_CAPABLE, keys of A and B         a connection
//! A2 -> B1   MP_JOIN, token = hash(key of B)     a further subflow of it
//! ```
//!
//! A version 1 client has its key in the third segment, where a server's tokens are seldom needed. Connections whose
//! first subflow was not captured are told apart by their tokens.

use std::collections::BTreeMap;

use lasthop_wire::tcp::Mptcp;

use crate::bounds::{Bounds, Kept};
use crate::dialogue::Connection;

/// A subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Subflow {
    /// number of its MPTCP connection
    of: usize,
    version: Option<u8>,
    has_joined: bool,
    /// the peer answered with an option, too
    is_answered: bool,
}

/// Subflows of all connections.
#[derive(Clone, Debug, Default)]
pub(crate) struct Subflows {
    all: BTreeMap<Connection, Subflow>,
    /// by token
    connections: BTreeMap<u32, usize>,
    next: usize,
}

/// An MPTCP connection, of which some subflows were captured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Multipath {
    /// unknown if the first subflow was not captured
    pub version: Option<u8>,
    /// each with whether it has joined
    pub subflows: Vec<(Connection, bool)>,
}

impl Subflows {
    /// A segment has an option; `is_answer` if it acknowledges.
    pub(crate) fn add(&mut self, connection: Connection, option: Mptcp, is_answer: bool, bounds: &mut Bounds) {
        let is_known = self.all.contains_key(&connection);
        if !is_known && !bounds.admits(Kept::Subflows, self.all.len()) {
            return;
        }
        match option {
            Mptcp::Capable { version, key } => self.capable(connection, version, key, is_answer, bounds),
            Mptcp::Join { token } => self.join(connection, token, bounds),
            Mptcp::JoinAnswer => {
                if let Some(subflow) = self.all.get_mut(&connection) {
                    subflow.is_answered = true;
                }
            }
        }
    }

    /// A SYN that joins, perhaps again.
    fn join(&mut self, connection: Connection, token: u32, bounds: &mut Bounds) {
        let known = self.connections.get(&token).copied();
        if known.is_none() && !bounds.admits(Kept::Tokens, self.connections.len()) {
            return;
        }
        let of = known.unwrap_or(self.next);
        self.connections.insert(token, of);
        self.next = self.next.max(of + 1);
        let new = Subflow { of, version: None, has_joined: true, is_answered: false };
        let subflow = self.all.entry(connection).or_insert(new);
        // A SYN that was sent again is the same subflow; with another token the ports were used again.
        if subflow.of != of {
            *subflow = new;
        }
    }

    fn capable(&mut self, connection: Connection, version: u8, key: Option<u64>, is_answer: bool, bounds: &mut Bounds) {
        let next = self.next;
        let new = Subflow { of: next, version: Some(version), has_joined: false, is_answered: false };
        let subflow = self.all.entry(connection).or_insert(new);
        // The version of the answer counts.
        subflow.version = Some(version);
        subflow.is_answered |= is_answer;
        let of = subflow.of;
        self.next = next.max(of + 1);
        let Some(token) = key.map(|key| Mptcp::token(version, key)) else { return };
        if !self.connections.contains_key(&token) && !bounds.admits(Kept::Tokens, self.connections.len()) {
            return;
        }
        if let Some(before) = self.connections.insert(token, of).filter(|before| *before != of) {
            // Its other subflows were captured first.
            self.all.values_mut().filter(|subflow| subflow.of == before).for_each(|subflow| subflow.of = of);
        }
    }

    /// The connections, in the order of their numbers.
    pub(crate) fn connections(&self) -> Vec<Multipath> {
        let mut all: BTreeMap<usize, Multipath> = BTreeMap::new();
        for (connection, subflow) in self.all.iter().filter(|(_, subflow)| subflow.is_answered) {
            let multipath = all.entry(subflow.of).or_default();
            multipath.version = multipath.version.or(subflow.version);
            multipath.subflows.push((*connection, subflow.has_joined));
        }
        for multipath in all.values_mut() {
            multipath.subflows.sort_by_key(|(connection, has_joined)| (*has_joined, *connection));
        }
        all.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{IpAddr, Ipv4Addr};

    fn connection(host: u8) -> Connection {
        let end = |host: u8, port| (IpAddr::V4(Ipv4Addr::new(10, 0, 0, host)), port);
        (end(host, 5000), end(200, 80), true)
    }

    #[test]
    fn tokens_join_subflows_in_any_order() {
        let key = 0x0102_0304_0506_0708;
        for (version, token) in [(0, 0xdd57_83bc), (1, 0x6684_0dda)] {
            let first = |subflows: &mut Subflows| {
                subflows.add(connection(1), Mptcp::Capable { version, key: None }, false, &mut Bounds::default());
                subflows.add(connection(1), Mptcp::Capable { version, key: Some(key) }, true, &mut Bounds::default());
            };
            let second = |subflows: &mut Subflows| {
                subflows.add(connection(2), Mptcp::Join { token }, false, &mut Bounds::default());
                subflows.add(connection(2), Mptcp::JoinAnswer, true, &mut Bounds::default());
            };
            let (mut one, mut other) = (Subflows::default(), Subflows::default());
            first(&mut one);
            second(&mut one);
            second(&mut other);
            first(&mut other);
            let expected =
                Multipath { version: Some(version), subflows: vec![(connection(1), false), (connection(2), true)] };
            assert_eq!((one.connections(), other.connections()), (vec![expected.clone()], vec![expected]));
        }
    }

    #[test]
    fn options_that_no_peer_answers_are_plain_tcp() {
        let mut subflows = Subflows::default();
        subflows.add(connection(1), Mptcp::Capable { version: 1, key: None }, false, &mut Bounds::default());
        subflows.add(connection(2), Mptcp::Join { token: 5 }, false, &mut Bounds::default());
        assert_eq!(subflows.connections(), []);
        subflows.add(connection(2), Mptcp::JoinAnswer, true, &mut Bounds::default());
        assert_eq!(subflows.connections()[0].subflows, [(connection(2), true)]);
        // The SYN comes again, late.
        subflows.add(connection(2), Mptcp::Join { token: 5 }, false, &mut Bounds::default());
        assert_eq!(subflows.connections()[0].subflows, [(connection(2), true)]);
    }
}
