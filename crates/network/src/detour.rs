//! The path between the wired link and the server of a flow: its own delay, the same for every packet.

use std::collections::VecDeque;

use lasthop_link::Packet;
use lasthop_units::Duration;

/// The path between wired link and server, with the packets on it. Packets of a direction keep their order, so the
/// oldest is the next to arrive.
pub(crate) struct Detour<B> {
    pub(crate) delay: Duration,
    /// the flow takes no more packets from a driver
    pub(crate) closed: bool,
    to_server: VecDeque<Packet<B>>,
    from_server: VecDeque<Packet<B>>,
}

impl<B> Detour<B> {
    pub(crate) fn new(delay: Duration) -> Detour<B> {
        Detour { delay, closed: false, to_server: VecDeque::new(), from_server: VecDeque::new() }
    }

    /// Sends a packet on its way; it arrives after the delay.
    pub(crate) fn enter(&mut self, packet: Packet<B>) {
        let way = if packet.meta.up { &mut self.to_server } else { &mut self.from_server };
        way.push_back(packet);
    }

    /// Removes the oldest packet on its way up or down.
    pub(crate) fn leave(&mut self, up: bool) -> Option<Packet<B>> {
        if up { self.to_server.pop_front() } else { self.from_server.pop_front() }
    }

    /// Packets on the way.
    pub(crate) fn held(&self) -> u64 {
        (self.to_server.len() + self.from_server.len()) as u64
    }
}
