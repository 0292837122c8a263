//! Packets that a driver announces, with the time at which they enter.

use std::fmt;

use lasthop_link::Packet;
use lasthop_observe::{FlowId, NodeId};
use lasthop_units::Time;
use lasthop_wifi::GroupFrame;

/// The reason why a network refuses a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// it was offered for a time in the past
    Past {
        /// the time it was offered for
        at: Time,
        /// the present
        now: Time,
    },
    /// there is no such node
    NoSuchNode(NodeId),
    /// a packet from behind an AP is for a station outside its BSS
    NotOfThisBss {
        /// the AP
        ap: NodeId,
        /// the station the packet is for
        station: NodeId,
    },
    /// the flow was never opened, or is closed
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

/// The place where an announced packet enters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// at its host: a station's interface, or the server behind an AP
    Host,
    /// at the interface of a radio: a station's, or an AP's if it goes down
    Radio,
    /// at the AP's end of its wired link, towards the server
    Wire,
}

/// Something that enters at a time.
pub(crate) enum Entry<B> {
    Packet(Packet<B>, Door),
    Group(NodeId, GroupFrame),
}

/// Announced packets; an index is reused when its packet has entered.
pub(crate) struct Announced<B> {
    places: Vec<Option<Entry<B>>>,
    free: Vec<u32>,
}

impl<B> Announced<B> {
    pub(crate) fn new() -> Self {
        Announced { places: Vec::new(), free: Vec::new() }
    }

    /// Keeps a packet; returns its index.
    pub(crate) fn keep(&mut self, packet: Entry<B>) -> u32 {
        if let Some(place) = self.free.pop() {
            self.places[place as usize] = Some(packet);
            return place;
        }
        self.places.push(Some(packet));
        (self.places.len() - 1) as u32
    }

    /// Removes the packet at an index.
    pub(crate) fn take(&mut self, place: u32) -> Option<Entry<B>> {
        self.free.push(place);
        self.places[place as usize].take()
    }
}
