//! The facts that the sender receives of an acknowledgement, and its answer.

use lasthop_units::{Duration, Time};

use super::marks::Reported;
use crate::segment::SackBlocks;

/// An acknowledgement, made of offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acknowledgement<'a> {
    pub now: Time,
    /// between SND.UNA and SND.NXT
    pub ack: u64,
    /// the peer's offset of the segment
    pub seq: u64,
    /// the peer's window in bytes
    pub window: u64,
    pub sack: &'a SackBlocks,
    /// no payload, SYN or FIN
    pub is_pure: bool,
    pub reported: Reported<'a>,
    /// time since the echoed timestamp
    pub echo_rtt: Option<Duration>,
    /// data sent from then on has a timestamp later than the one echoed; `NEVER` without timestamps
    pub echo_ends: Time,
}

/// Change of the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimerChange {
    Keep,
    Restart,
    Stop,
}

/// The effects of an acknowledgement on the endpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    pub timer: TimerChange,
    pub syn_acked: bool,
    pub fin_acked: bool,
}
