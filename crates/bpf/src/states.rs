//! The kernel's numbers of states, events and flags; from its BTF, if they are there.

/// An event, beside ACKs, that a controller receives. [enum tcp_ca_event]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    TransmitStart = 0,
    WindowRestart = 1,
    ReductionComplete = 2,
    Loss = 3,
}

/// No slow-start threshold.
pub(crate) const INFINITE: u32 = i32::MAX as u32;
/// `flags` of the ops: marks are needed.
pub(crate) const NEEDS_ECN: u32 = 2;
/// `ecn_flags`: both ends have agreed on marks.
pub(crate) const ECN_AGREED: u64 = 1;
/// `skc_state`: the connection is open.
pub(crate) const ESTABLISHED: u64 = 1;
/// IPv4, as in sockets.
pub(crate) const AF_INET: u64 = 2;
/// Argument of `in_ack_event`: the ACK is not a plain one, or carried ECE. [enum tcp_ca_ack_event_flags]
pub(crate) const ACK_SLOW_PATH: u64 = 1;
pub(crate) const ACK_ECE: u64 = 4;

/// Whole segments, as in a socket.
pub(crate) fn whole(segments: f64) -> u64 {
    if segments < f64::from(INFINITE) { segments.max(0.0) as u64 } else { u64::from(INFINITE) }
}

/// Flags of an ACK for `cong_control`.
pub(crate) mod ack_flag {
    pub const DATA_ACKED: u64 = 0x04;
    pub const DATA_SACKED: u64 = 0x20;
    pub const ECE: u64 = 0x40;
    pub const SND_UNA_ADVANCED: u64 = 0x400;
}
