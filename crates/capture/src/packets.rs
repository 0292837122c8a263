//! Headers of packets under way: a frame refers to its packets by number.

use std::collections::VecDeque;
use std::sync::Arc;

use lasthop_observe::detail::PacketFacts;
use lasthop_observe::{FlowId, QueueLayer};
use lasthop_units::Ecn;

/// A packet: its headers, and the payload of its datagram without the zeros at its end, if there is one; or a host's own frame.
#[derive(Clone)]
pub(crate) struct Held {
    pub facts: PacketFacts,
    pub payload: Option<Arc<[u8]>>,
    /// the bytes of its frame without an FCS, if a host made that
    pub frame: Option<Arc<[u8]>>,
}

impl Held {
    /// A packet whose payload is zeros.
    pub(crate) fn of_zeros(facts: PacketFacts) -> Held {
        Held { facts, payload: None, frame: None }
    }

    pub(crate) fn with_payload(facts: PacketFacts, payload: &[u8]) -> Held {
        let end = payload.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        Held { facts, payload: Some(payload[..end].into()), frame: None }
    }

    /// A frame of a host's own.
    pub(crate) fn of_frame((flow, up, packet): (FlowId, bool, u32), bytes: &Arc<[u8]>) -> Held {
        let facts = PacketFacts {
            flow,
            up,
            packet,
            sent: true,
            bytes: bytes.len() as u32,
            ecn: Ecn::NotEct,
            tcp: None,
            datagram: None,
        };
        Held { frame: Some(Arc::clone(bytes)), ..Held::of_zeros(facts) }
    }
}

/// A packet, and its state.
struct Entry {
    held: Held,
    /// the MAC that sends it may retransmit it
    in_mac: bool,
    /// it has neither arrived nor been dropped
    under_way: bool,
}

/// The packets of one direction of a flow, by their numbers.
#[derive(Default)]
struct Line {
    /// number of the first entry
    first: u32,
    entries: VecDeque<Option<Entry>>,
}

impl Line {
    fn place(&self, packet: u32) -> usize {
        packet.wrapping_sub(self.first) as usize
    }

    fn change(&mut self, packet: u32, change: impl FnOnce(&mut Entry)) {
        let place = self.place(packet);
        let Some(slot) = self.entries.get_mut(place) else { return };
        if let Some(entry) = slot {
            change(entry);
            if !entry.in_mac && !entry.under_way {
                *slot = None;
            }
        }
        while let Some(None) = self.entries.front() {
            self.entries.pop_front();
            self.first = self.first.wrapping_add(1);
        }
    }
}

/// All packets under way, of each flow down and up.
pub(crate) struct Packets(Vec<[Line; 2]>);

impl Packets {
    pub(crate) fn new(flows: usize) -> Packets {
        Packets((0..flows).map(|_| Default::default()).collect())
    }

    fn line(&mut self, flow: FlowId, up: bool) -> &mut Line {
        &mut self.0[flow.index()][usize::from(up)]
    }

    /// Adds a packet that a host sends: the next of its direction.
    pub(crate) fn send(&mut self, held: Held) {
        let facts = &held.facts;
        let line = self.line(facts.flow, facts.up);
        if line.entries.is_empty() {
            line.first = facts.packet;
        }
        debug_assert_eq!(line.place(facts.packet), line.entries.len(), "packets are numbered one after another");
        line.entries.push_back(Some(Entry { held, in_mac: true, under_way: true }));
    }

    /// A packet under way.
    pub(crate) fn get(&self, flow: FlowId, up: bool, packet: u32) -> Option<&Held> {
        let line = &self.0[flow.index()][usize::from(up)];
        line.entries.get(line.place(packet))?.as_ref().map(|entry| &entry.held)
    }

    /// Notes that it has arrived at its host.
    pub(crate) fn arrive(&mut self, flow: FlowId, up: bool, packet: u32) {
        self.line(flow, up).change(packet, |entry| entry.under_way = false);
    }

    /// Notes that the MAC is done with it.
    pub(crate) fn mac_done(&mut self, flow: FlowId, up: bool, packet: u32) {
        self.line(flow, up).change(packet, |entry| entry.in_mac = false);
    }

    /// Notes that it was dropped, or given up by a MAC whose peer may have received it.
    pub(crate) fn drop(&mut self, flow: FlowId, up: bool, packet: u32, layer: QueueLayer, arrived: bool) {
        self.line(flow, up).change(packet, |entry| {
            entry.under_way &= arrived;
            // Past the air, its MAC may not know yet that it has arrived; before the air, no MAC has had it.
            entry.in_mac &= matches!(layer, QueueLayer::Mac | QueueLayer::WiredUp);
        });
    }

    /// The number of packets remembered.
    #[cfg(test)]
    fn count(&self) -> usize {
        self.0.iter().flatten().map(|line| line.entries.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOW: FlowId = FlowId(0);

    fn sent(packets: &mut Packets, up: bool, numbers: std::ops::RangeInclusive<u32>) {
        for packet in numbers {
            packets.send(Held::of_zeros(PacketFacts {
                flow: FLOW,
                up,
                packet,
                sent: true,
                bytes: packet,
                ecn: Ecn::NotEct,
                tcp: None,
                datagram: None,
            }));
        }
    }

    #[test]
    fn a_packet_is_kept_until_it_has_arrived_and_its_mac_knows() {
        let mut packets = Packets::new(1);
        sent(&mut packets, true, 1..=3);
        packets.arrive(FLOW, true, 1);
        assert_eq!(packets.get(FLOW, true, 1).map(|p| p.facts.bytes), Some(1), "it may be sent again");
        packets.mac_done(FLOW, true, 1);
        assert!(packets.get(FLOW, true, 1).is_none());
        packets.mac_done(FLOW, true, 3);
        packets.arrive(FLOW, true, 3);
        assert_eq!((packets.get(FLOW, true, 2).map(|p| p.facts.bytes), packets.count()), (Some(2), 2));
        packets.mac_done(FLOW, true, 2);
        packets.arrive(FLOW, true, 2);
        assert_eq!(packets.count(), 0);
        sent(&mut packets, true, 4..=4);
        assert_eq!(packets.get(FLOW, true, 4).map(|p| p.facts.bytes), Some(4));
    }

    #[test]
    fn dropped_packet_is_forgotten_when_no_mac_can_resend_it() {
        let mut packets = Packets::new(1);
        sent(&mut packets, false, 1..=2);
        packets.drop(FLOW, false, 1, QueueLayer::WiredDown, false);
        packets.drop(FLOW, false, 2, QueueLayer::Interface, false);
        assert_eq!(packets.count(), 0);
        sent(&mut packets, true, 1..=2);
        packets.drop(FLOW, true, 1, QueueLayer::WiredUp, false);
        packets.drop(FLOW, true, 2, QueueLayer::Mac, true);
        assert_eq!(packets.count(), 2);
        packets.mac_done(FLOW, true, 1);
        packets.mac_done(FLOW, true, 2);
        assert_eq!(packets.count(), 1, "one that was given up arrives all the same");
        packets.arrive(FLOW, true, 2);
        assert_eq!(packets.count(), 0);
    }
}
