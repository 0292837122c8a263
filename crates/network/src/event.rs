//! What can happen.

use lasthop_link::WiredEvent;
use lasthop_observe::FlowId;

/// A moment that a driver asked to be woken at; the number is the driver's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alarm(pub u32);

/// Everything that can happen in a network whose hosts have events of kind `E`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event<E> {
    Medium(lasthop_wifi::MediumEvent),
    /// of the wired link of an AP: upwards, or down
    Wired(u32, bool, WiredEvent),
    /// the wired link of an AP is free for the next saturated source behind it
    ServerTransmitterFree(u32),
    /// the oldest packet of a flow on its detour is at its end: upwards, or down
    DetourEnds(FlowId, bool),
    /// a packet that a driver announced enters the network; which one
    Enters(u32),
    Alarm(Alarm),
    Host(E),
}
