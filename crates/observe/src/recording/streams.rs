//! A recording's memory of byte streams: the sent position at each end of a connection.

use crate::detail::{Host, SegmentFacts};

/// Bits of the control field that take a sequence number.
const SYN: u32 = 2;
const FIN: u32 = 1;

/// By flow and connection: the number after the last one that each host has sent.
pub(super) struct Streams(Vec<Vec<[Option<u32>; 2]>>);

impl Streams {
    pub(super) fn new(flows: usize) -> Streams {
        Streams(vec![Vec::new(); flows])
    }

    /// A host sends a segment. Returns whether some of it had been sent before.
    pub(super) fn send(&mut self, segment: &SegmentFacts) -> bool {
        let length = segment.payload + (segment.flags & SYN) / SYN + (segment.flags & FIN);
        if length == 0 {
            return false;
        }
        let (connections, place) = (&mut self.0[segment.flow.index()], segment.connection as usize);
        if place >= connections.len() {
            connections.resize(place + 1, [None; 2]);
        }
        let next = &mut connections[place][usize::from(segment.host == Host::Server)];
        let behind = |of: u32| (segment.seq.wrapping_sub(of) as i32) < 0;
        let again = next.is_some_and(behind);
        let end = segment.seq.wrapping_add(length);
        if next.is_none_or(|next| (end.wrapping_sub(next) as i32) > 0) {
            *next = Some(end);
        }
        again
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FlowId;

    fn data(seq: u32, payload: u32) -> SegmentFacts {
        SegmentFacts {
            flow: FlowId(0),
            connection: 2,
            host: Host::Server,
            sent: true,
            seq,
            ack: 0,
            payload,
            window: 0,
            flags: 16,
            sack_blocks: 0,
            sack: None,
            packet: 0,
            packet_bytes: 0,
        }
    }

    #[test]
    fn retransmissions_are_known_across_sequence_wrap() {
        let mut streams = Streams::new(1);
        let start = u32::MAX - 99;
        let again: Vec<bool> = [(start, 60), (start + 60, 60), (20, 10), (start + 60, 60), (30, 5), (10, 40)]
            .map(|(seq, payload)| streams.send(&data(seq, payload)))
            .to_vec();
        assert_eq!(again, [false, false, false, true, false, true]);
    }

    #[test]
    fn hosts_and_pure_acks_do_not_disturb_one_another() {
        let mut streams = Streams::new(1);
        assert!(!streams.send(&data(100, 50)));
        assert!(!streams.send(&SegmentFacts { host: Host::Station, ..data(100, 50) }));
        assert!(!streams.send(&data(100, 0)));
        assert!(streams.send(&data(149, 50)));
    }
}
