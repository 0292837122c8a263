//! Events of a network.

use lasthop_link::WiredEvent;
use lasthop_observe::FlowId;

/// A time at which a driver is to be woken; the number is the driver's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alarm(pub u32);

impl Alarm {
    /// The observer pauses the run: a driver gives no alarm of its own this number.
    pub const PAUSED: Alarm = Alarm(u32::MAX);
}

/// Every event of a network whose hosts have events of kind `E`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event<E> {
    Medium(lasthop_wifi::MediumEvent),
    /// an event of an AP's wired link: upwards, or down
    Wired(u32, bool, WiredEvent),
    /// the wired link of an AP is free for the next saturated source behind it
    ServerTransmitterFree(u32),
    /// the oldest packet of a flow on its detour is at its end: upwards, or down
    DetourEnds(FlowId, bool),
    /// a packet that a driver announced enters the network; its number
    Enters(u32),
    Alarm(Alarm),
    Host(E),
}
