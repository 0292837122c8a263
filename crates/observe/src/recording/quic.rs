//! A recording's memory of QUIC connections: full packet numbers from the bytes of headers, and which packets a sender has
//! declared lost.

use std::collections::{BTreeMap, BTreeSet};

use crate::FlowId;
use crate::detail::{Host, QuicFacts, QuicSpace};

/// Connections of a flow that are remembered: the oldest is forgotten first.
const CONNECTIONS: usize = 64;
/// A packet is lost when one is acknowledged that was sent so many later. [RFC 9002 §6.1.1]
const PACKET_THRESHOLD: u32 = 3;

/// The rule by which a packet was declared lost, by qlog's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LossTrigger {
    ReorderingThreshold,
    TimeThreshold,
}

/// A packet that its sender has declared lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LostPacket {
    pub space: QuicSpace,
    pub number: u32,
    pub trigger: LossTrigger,
}

/// A packet number space at one end.
#[derive(Debug, Default)]
struct Numbers {
    /// the largest number in a packet sent, and in one received
    largest: [Option<u32>; 2],
    /// sent, and neither acknowledged nor lost
    outstanding: BTreeSet<u32>,
    largest_acked: Option<u32>,
}

/// An end of a connection: its three spaces.
#[derive(Debug, Default)]
struct End {
    spaces: [Numbers; 3],
    /// of the last packet with an ACK
    acked_in: Option<QuicSpace>,
}

/// By flow: the ends of its connections.
pub(super) struct Connections(Vec<BTreeMap<u32, [End; 2]>>);

impl Connections {
    pub(super) fn new(flows: usize) -> Connections {
        Connections((0..flows).map(|_| BTreeMap::new()).collect())
    }

    fn end(&mut self, flow: FlowId, connection: u32, host: Host) -> &mut End {
        let connections = &mut self.0[flow.index()];
        if !connections.contains_key(&connection) && connections.len() >= CONNECTIONS {
            connections.pop_first();
        }
        &mut connections.entry(connection).or_default()[host as usize]
    }

    /// A frame of a packet at one of its hosts. Returns the packet's number.
    pub(super) fn frame(&mut self, facts: &QuicFacts) -> u32 {
        let end = self.end(facts.flow, facts.connection, facts.host);
        let numbers = &mut end.spaces[facts.space as usize];
        let largest = &mut numbers.largest[usize::from(facts.sent)];
        let number = full(facts.number, facts.number_bytes, largest.map_or(0, |of| of.wrapping_add(1)));
        *largest = Some(largest.map_or(number, |of| of.max(number)));
        if facts.sent {
            numbers.outstanding.insert(number);
        } else if let Some((first, last)) = facts.frame.acked {
            let acked: Vec<u32> = numbers.outstanding.range(first..=last).copied().collect();
            acked.iter().for_each(|number| _ = numbers.outstanding.remove(number));
            numbers.largest_acked = Some(numbers.largest_acked.map_or(last, |of| of.max(last)));
            end.acked_in = Some(facts.space);
        }
        number
    }

    /// An end has declared so many packets lost: the oldest of those sent before the largest that is acknowledged, in the space
    /// of the last ACK if it has them. [RFC 9002 §6.1]
    pub(super) fn lose(&mut self, flow: FlowId, connection: u32, host: Host, packets: u64) -> Vec<LostPacket> {
        let end = self.end(flow, connection, host);
        let spaces = end.acked_in.into_iter().chain([QuicSpace::Application, QuicSpace::Handshake, QuicSpace::Initial]);
        let mut lost = Vec::new();
        for space in spaces {
            let numbers = &mut end.spaces[space as usize];
            let Some(acked) = numbers.largest_acked else { continue };
            while (lost.len() as u64) < packets
                && let Some(number) = numbers.outstanding.first().copied().filter(|number| *number < acked)
            {
                numbers.outstanding.remove(&number);
                let is_behind = acked >= number + PACKET_THRESHOLD;
                let trigger = if is_behind { LossTrigger::ReorderingThreshold } else { LossTrigger::TimeThreshold };
                lost.push(LostPacket { space, number, trigger });
            }
        }
        lost
    }
}

/// The number whose low bytes a header has, next to the one that is expected. [RFC 9000 §A.3]
fn full(low: u32, bytes: u8, expected: u32) -> u32 {
    if bytes >= 4 {
        return low;
    }
    let window = 1_i64 << (8 * bytes);
    let candidate = i64::from(expected) & !(window - 1) | i64::from(low);
    let expected = i64::from(expected);
    let near = if candidate <= expected - window / 2 {
        candidate + window
    } else if candidate > expected + window / 2 && candidate >= window {
        candidate - window
    } else {
        candidate
    };
    near as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detail::{QuicFrame, QuicFrameKind};

    #[test]
    fn number_is_the_nearest_to_the_expected_one() {
        // [RFC 9000 §A.3]: 0xa82f30ea has been received, the 16-bit value 0x9b32 is 0xa82f9b32.
        assert_eq!(full(0x9b32, 2, 0xa82f_30eb), 0xa82f_9b32);
        assert_eq!(full(0xff, 1, 0x100), 0xff);
        assert_eq!(full(0x01, 1, 0xff), 0x101);
        assert_eq!(full(7, 1, 0), 7);
    }

    fn facts(sent: bool, number: u32, acked: Option<(u32, u32)>) -> QuicFacts {
        let kind = if acked.is_some() { QuicFrameKind::Ack } else { QuicFrameKind::Stream };
        QuicFacts {
            flow: FlowId(0),
            connection: 2,
            host: Host::Server,
            sent,
            up: !sent,
            packet: 1,
            space: QuicSpace::Application,
            number,
            number_bytes: 1,
            bytes: 1200,
            frame: QuicFrame { kind, stream: None, offset: 0, length: 0, is_last: false, acked },
        }
    }

    #[test]
    fn lost_packets_are_the_oldest_that_are_not_acknowledged() {
        let mut connections = Connections::new(1);
        for number in 0..=9 {
            assert_eq!(connections.frame(&facts(true, number, None)), number);
        }
        connections.frame(&facts(false, 0, Some((3, 4))));
        connections.frame(&facts(false, 0, Some((0, 0))));
        let lost = connections.lose(FlowId(0), 2, Host::Server, 2);
        let of = |number, trigger| LostPacket { space: QuicSpace::Application, number, trigger };
        assert_eq!(lost, [of(1, LossTrigger::ReorderingThreshold), of(2, LossTrigger::TimeThreshold)]);
        assert_eq!(connections.lose(FlowId(0), 2, Host::Server, 1), []);
    }
}
