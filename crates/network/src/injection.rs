//! Packets that a driver announces for a time at which they enter.

use std::fmt;

use lasthop_link::Packet;
use lasthop_observe::{FlowId, NodeId};
use lasthop_units::Time;

/// Why a network does not take a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// it was offered for a time that is past
    Past {
        /// the time it was offered for
        at: Time,
        /// the present
        now: Time,
    },
    /// there is no such node
    NoSuchNode(NodeId),
    /// a packet from behind an AP is for a station that is not of its BSS
    NotOfThisBss {
        /// the AP
        ap: NodeId,
        /// for whom the packet is
        station: NodeId,
    },
    /// nobody opened this flow, or it is closed
    NoSuchFlow(FlowId),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Refusal::Past { at, now } => write!(f, "a packet was offered for {at} when it was already {now}"),
            Refusal::NoSuchNode(node) => write!(f, "there is no node {}", node.0),
            Refusal::NotOfThisBss { ap, station } => {
                write!(f, "node {} is not a station of the AP {}", station.0, ap.0)
            }
            Refusal::NoSuchFlow(flow) => write!(f, "flow {} is not open", flow.0),
        }
    }
}

impl std::error::Error for Refusal {}

/// Announced packets; a place is used again when its packet has entered.
pub(crate) struct Announced<B> {
    places: Vec<Option<Packet<B>>>,
    free: Vec<u32>,
}

impl<B> Announced<B> {
    pub(crate) fn new() -> Self {
        Announced { places: Vec::new(), free: Vec::new() }
    }

    /// Keeps a packet; the place where it is.
    pub(crate) fn keep(&mut self, packet: Packet<B>) -> u32 {
        if let Some(place) = self.free.pop() {
            self.places[place as usize] = Some(packet);
            return place;
        }
        self.places.push(Some(packet));
        (self.places.len() - 1) as u32
    }

    /// Takes the packet from its place.
    pub(crate) fn take(&mut self, place: u32) -> Option<Packet<B>> {
        self.free.push(place);
        self.places[place as usize].take()
    }
}
