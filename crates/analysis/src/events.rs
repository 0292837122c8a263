//! Events in the order of time: they are found in another order.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use lasthop_observe::Record;
use lasthop_observe::detail::Detail;
use lasthop_units::{DataRate, Duration, Time};

use crate::dialogue::Point;
use crate::packet::Packet;
use crate::sequence::Novelty;

/// An attempt to send a data PPDU, for counts that no observer keeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    pub link: u32,
    /// none if it is unknown
    pub rate: Option<DataRate>,
    pub mpdus: u32,
}

/// An event.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// a record for observers
    Told(Record),
    /// a detail for recordings
    Detail(Detail),
    /// one PPDU more on a channel, or one fewer
    OnAir { channel: u32, begins: bool },
    /// an attempt has ended
    Attempted(Attempt),
    /// a packet passes a point of capture
    Packet { point: Point, packet: Packet, frame: Carrier },
}

/// The frame in which a packet passes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carrier {
    pub novelty: Novelty,
    /// it had been sent before, and was not received intact then
    pub is_retry: bool,
}

impl Carrier {
    /// The longest time that attempts of one frame take on a busy channel.
    const LONGEST_RETRIES: Duration = Duration::from_millis(300);
    /// A frame of a wire.
    pub(crate) const WIRE: Carrier = Carrier { novelty: Novelty::New, is_retry: false };

    /// For how long it may have been tried in vain.
    pub(crate) fn in_vain(self) -> Duration {
        if self.is_retry { Self::LONGEST_RETRIES } else { Duration::ZERO }
    }
}

struct Due {
    at: Time,
    order: u64,
    event: Event,
}

impl Ord for Due {
    fn cmp(&self, other: &Due) -> Ordering {
        (other.at, other.order).cmp(&(self.at, self.order))
    }
}
impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Due) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Due {
    fn eq(&self, other: &Due) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Due {}

/// Future events.
#[derive(Default)]
pub(crate) struct Events {
    heap: BinaryHeap<Due>,
    orders: u64,
    now: Time,
}

impl Events {
    /// `event` happens at `at`, or now if that has passed.
    pub(crate) fn push(&mut self, at: Time, event: Event) {
        self.orders += 1;
        self.heap.push(Due { at: at.max(self.now), order: self.orders, event });
    }

    /// The next event before `limit`.
    pub(crate) fn pop_before(&mut self, limit: Time) -> Option<(Time, Event)> {
        if self.heap.peek()?.at >= limit {
            return None;
        }
        let due = self.heap.pop()?;
        self.now = due.at;
        Some((due.at, due.event))
    }
}
