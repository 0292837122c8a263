//! The wired link between an AP and its servers.

use lasthop_link::{WireUse, WiredLink};

/// Both directions of a wired link.
pub struct Wires<B> {
    /// towards the servers
    pub up: WiredLink<B>,
    /// towards the AP
    pub down: WiredLink<B>,
    /// a saturated source waits until `down` is free
    pub(crate) is_awaited: bool,
}

/// Packets that entered the wired links, for the conservation check.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub sent: u64,
    pub arrived: u64,
    pub dropped: u64,
}

impl<B> Wires<B> {
    /// A link of these two directions.
    pub fn new(up: WiredLink<B>, down: WiredLink<B>) -> Wires<B> {
        Wires { up, down, is_awaited: false }
    }

    pub(crate) fn direction(&self, up: bool) -> &WiredLink<B> {
        if up { &self.up } else { &self.down }
    }

    #[inline(always)]
    pub(crate) fn direction_mut(&mut self, up: bool) -> &mut WiredLink<B> {
        if up { &mut self.up } else { &mut self.down }
    }

    /// The use of its directions, up and down, since [`start`](Self::start).
    pub(crate) fn used(&self) -> [&WireUse; 2] {
        [self.up.used(), self.down.used()]
    }

    /// Resets the record of its use.
    pub(crate) fn start(&mut self) {
        self.up.start();
        self.down.start();
    }

    /// Packets that wait or are on the way.
    pub(crate) fn held(&self) -> u64 {
        self.up.held() + self.down.held()
    }
}
