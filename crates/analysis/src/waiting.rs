//! Frames that wait for their answer.

use lasthop_observe::LinkId;
use lasthop_units::{DataRate, Duration, Time};

use crate::announcement::Announcement;
use crate::attempts::Begun;
use crate::durations::Sending;
use crate::ppdu::Kind;

/// A frame whose answer has not come.
pub(crate) struct Waiting {
    pub from: u32,
    pub to: u32,
    pub kind: Kind,
    pub link: Option<LinkId>,
    /// latest start of the answer
    pub deadline: Time,
    /// no answer comes after an answer to another frame: the deadline is vague
    pub until_other: bool,
    pub started: Time,
    /// a part of a PPDU for several stations
    pub is_joint: bool,
    /// a part of a PPDU of several stations
    pub is_triggered: bool,
    /// its mode is known
    pub has_mode: bool,
    pub ended: Time,
    pub mpdus: Vec<u16>,
    /// the ones with the Retry bit
    pub again: Vec<u16>,
    /// the attempt of a data PPDU
    pub begun: Option<Begun>,
    /// the announcement of an RTS
    pub announcement: Option<Announcement>,
    pub sent: Option<Sent>,
}

/// The mode and MPDUs of a data PPDU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    /// none if it is unknown
    pub mode: Option<(Sending, DataRate)>,
    pub psdu_bytes: u32,
    /// none if it is unknown
    pub duration: Option<Duration>,
    pub has_retry: bool,
    pub follows_own_exchange: bool,
    pub follows_rts: bool,
}

/// Whether frames of this kind answer others.
pub(crate) fn is_answer(kind: Kind) -> bool {
    matches!(kind, Kind::Ack | Kind::Cts | Kind::BlockAck)
}

/// Whether a frame of this kind may be the answer.
pub(crate) fn answers(kind: Kind, waiting: &Waiting) -> bool {
    match kind {
        Kind::Cts => waiting.kind == Kind::Rts,
        Kind::BlockAck => matches!(waiting.kind, Kind::Data | Kind::BlockAckReq),
        _ => matches!(waiting.kind, Kind::Data | Kind::Management | Kind::Control),
    }
}
