//! A segment that has been sent.

use lasthop_units::Time;

/// The content of one segment beside payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Data,
    Syn,
    /// payload, perhaps none, and a FIN
    Fin,
}

/// The state of delivery when a segment was sent. [draft-cheng-iccrg-delivery-rate-estimation §3.2]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stamp {
    /// segments delivered, and found lost, since the start
    pub delivered: u64,
    pub lost: u64,
    /// time of the last delivery among these
    pub delivered_at: Time,
    /// time at which the first segment of this flight was sent
    pub first_sent_at: Time,
    /// segments in flight, this one included
    pub flight: u32,
    pub delivered_ce: u32,
    pub is_app_limited: bool,
}

/// A segment that was just sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub start: u64,
    /// sequence numbers taken
    pub length: u32,
    pub content: Content,
    /// sent before
    pub retransmitted: bool,
}

impl Sent {
    pub fn payload(&self) -> u32 {
        self.length - u32::from(self.content != Content::Data)
    }
}

/// One segment that is not acknowledged, as it was sent last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outstanding {
    pub start: u64,
    pub sent_at: Time,
    /// sequence numbers taken
    pub length: u32,
    /// neighbours in the order of sending, as the low half of their index; its own where there is none
    pub(super) earlier: u32,
    pub(super) later: u32,
    pub content: Content,
    /// SACKed
    pub reported: bool,
    /// taken as lost, apart from its retransmissions
    pub lost: bool,
    /// the retransmission is in flight
    pub resent: bool,
    /// sent more than once
    pub retransmitted: bool,
    /// in the list by time
    pub(super) linked: bool,
    /// taken out of the list by a timeout
    pub(super) set_aside: bool,
}

impl Outstanding {
    pub(super) fn new(start: u64, sent_at: Time, length: u32, content: Content) -> Outstanding {
        Outstanding {
            start,
            sent_at,
            length,
            earlier: 0,
            later: 0,
            content,
            reported: false,
            lost: false,
            resent: false,
            retransmitted: false,
            linked: false,
            set_aside: false,
        }
    }

    /// True if it was sent once, with data alone, and is neither SACKed nor lost.
    #[inline(always)]
    pub(super) fn is_plain(&self) -> bool {
        self.content == Content::Data && !(self.reported | self.lost | self.resent | self.retransmitted)
    }

    pub(super) fn brief(&self) -> Sent {
        let Outstanding { start, length, content, retransmitted, .. } = *self;
        Sent { start, length, content, retransmitted }
    }
    pub fn end(&self) -> u64 {
        self.start + u64::from(self.length)
    }
    pub fn payload(&self) -> u32 {
        self.length - u32::from(self.content != Content::Data)
    }
}
