//! What lies between the wired link and the server of a flow: a delay of its own, the same for every packet.
//!
//! ```text
//! AP ── wired link ── detour ── server
//! ```

use std::collections::VecDeque;

use lasthop_link::Packet;
use lasthop_units::Duration;

/// See the module. Packets of a direction keep their order, so that the oldest is the next to arrive.
pub(super) struct Detour<B> {
    pub(super) delay: Duration,
    to_server: VecDeque<Packet<B>>,
    from_server: VecDeque<Packet<B>>,
}

impl<B> Detour<B> {
    pub(super) fn new(delay: Duration) -> Detour<B> {
        Detour { delay, to_server: VecDeque::new(), from_server: VecDeque::new() }
    }

    /// A packet sets out; it arrives after the delay.
    pub(super) fn enter(&mut self, packet: Packet<B>) {
        let way = if packet.meta.up { &mut self.to_server } else { &mut self.from_server };
        way.push_back(packet);
    }

    /// The oldest packet on its way up or down.
    pub(super) fn leave(&mut self, up: bool) -> Option<Packet<B>> {
        if up { self.to_server.pop_front() } else { self.from_server.pop_front() }
    }
}
