//! The wired link between an AP and its servers.

use std::borrow::Cow;

use lasthop_link::{ByClass, WireUse, WiredLink};
use lasthop_units::Time;

/// Packets of a saturated source that may be lost before the wire at one instant: a wire that loses 999 of 1000 at random
/// never loses so many in a row.
const MOST_REFUSALS: u32 = 100_000;

/// Both directions of a wired link.
pub struct Wires<B> {
    /// towards the servers
    pub up: WiredLink<B>,
    /// towards the AP
    pub down: WiredLink<B>,
    /// a saturated source waits until `down` is free
    pub(crate) is_awaited: bool,
    /// the time of the latest packet of a saturated source, and the number of those at that time
    fed: (Time, u32),
    /// the reason why its saturated sources have ended
    pub(crate) failure: Option<String>,
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
        Wires { up, down, is_awaited: false, fed: (Time::ZERO, 0), failure: None }
    }

    /// Counts a packet of a saturated source. Returns false if `down` has lost too many at this instant: the source would
    /// send for ever.
    pub(crate) fn feeds_on(&mut self, now: Time) -> bool {
        let count = if self.fed.0 == now { self.fed.1 + 1 } else { 1 };
        self.fed = (now, count);
        if count > MOST_REFUSALS {
            let at_s = now.since(Time::ZERO).as_secs_f64();
            self.failure = Some(format!(
                "it has dropped {MOST_REFUSALS} packets of a saturated source at one instant, {at_s:.4} s; a queue that drops \
                 every packet, or a loss of 1, needs a source with a rate"
            ));
        }
        self.failure.is_none()
    }

    pub(crate) fn direction(&self, up: bool) -> &WiredLink<B> {
        if up { &self.up } else { &self.down }
    }

    #[inline(always)]
    pub(crate) fn direction_mut(&mut self, up: bool) -> &mut WiredLink<B> {
        if up { &mut self.up } else { &mut self.down }
    }

    /// The use of its directions, up and down, from [`start`](Self::start) until `now`, the present.
    pub(crate) fn used(&self, now: Time) -> [Cow<'_, WireUse>; 2] {
        [self.up.used(now), self.down.used(now)]
    }

    /// Waits and marks of its queues by class, up and down.
    pub(crate) fn by_class(&self) -> [Option<&ByClass>; 2] {
        [self.up.by_class(), self.down.by_class()]
    }

    /// Resets the record of its use.
    pub(crate) fn start(&mut self, now: Time) {
        self.up.start(now);
        self.down.start(now);
    }

    /// Packets that wait or are on the way.
    pub(crate) fn held(&self) -> u64 {
        self.up.held() + self.down.held()
    }
}
