//! The sender's reaction to marks.
//!
//! Only data sent for the first time may be marked [RFC 3168 §6.1.4, §6.1.5]. Marks shrink the window once in a window
//! of data, and the next new data reports this by CWR [RFC 3168 §6.1.2]. A loss counts as well. With accurate feedback
//! CWR has no such meaning, and the ACE field gives the number of marked packets [RFC 9768 §3.2.2.5.2]; `marks` reads it.

use lasthop_units::Ecn;

use super::Sender;
use super::marks::{FIRST_COUNT, Marks, Reported};
use super::recovery::Phase;
use crate::congestion_control::CongestionCause;
use crate::ecn::{Feedback, is_mangled};
use crate::segment::Flags;

impl Sender {
    /// Takes over the agreement of the SYNs; `is_passive` if the peer's came first, else `syn_arrived` is the ECN field of the
    /// own one as the peer reports it, if it does.
    pub fn negotiate_ecn(&mut self, feedback: Feedback, is_passive: bool, syn_arrived: Option<Ecn>) {
        let needs = self.needs();
        let codepoint = match feedback {
            Feedback::Off => Ecn::NotEct,
            _ if needs.is_scalable => Ecn::Ect1,
            _ => Ecn::Ect0,
        };
        let codepoint_again = if needs.lives_on_marks() { codepoint } else { Ecn::NotEct };
        let is_accurate = feedback == Feedback::Accurate;
        self.marks = Marks {
            feedback,
            codepoint,
            codepoint_again,
            count: FIRST_COUNT,
            awaits_handshake: is_passive && is_accurate,
            awaits_count: !is_passive && is_accurate,
            falls_back: self.config.ecn_fallback != Some(false),
            wraps: self.config.ace_wraps.unwrap_or_default(),
            ..Marks::default()
        };
        if is_accurate && self.config.ect_on_control == Some(true) {
            (self.marks.codepoint_again, self.marks.codepoint_control) = (codepoint, codepoint);
        }
        // SYNs are not ECN-capable.
        if is_accurate && syn_arrived.is_some_and(|arrived| is_mangled(Ecn::NotEct, arrived)) {
            self.marks.doubt_path();
        }
    }

    /// Ends the use of ECT in this direction.
    pub fn stop_ect(&mut self) {
        self.marks.stop_ect();
    }

    /// The ECN field of a segment without data that is no SYN or reset.
    #[inline(always)]
    pub fn mark_control(&self) -> Ecn {
        self.marks.codepoint_control
    }

    /// Leaves `bytes` of each full segment to options other than timestamps.
    pub fn reserve(&mut self, bytes: u32) {
        if self.reserved != bytes {
            self.mss = (self.mss + self.reserved).saturating_sub(bytes).max(1);
            self.reserved = bytes;
        }
    }

    /// Bytes that options other than timestamps may take in a segment with so much payload.
    pub fn room_with(&self, payload: u32) -> u32 {
        (self.mss + self.reserved).saturating_sub(payload)
    }

    /// The ECN field and flags of outgoing data. Retransmissions are not ECN-capable [RFC 3168 §6.1.5], except with a
    /// controller that depends on marks, as in Linux: a queue that marks all other packets would drop them each time.
    pub fn mark_data(&mut self, is_new: bool) -> (Ecn, Flags) {
        if !is_new {
            return (self.marks.codepoint_again, Flags::NONE);
        }
        let owes = core::mem::take(&mut self.marks.owes_cwr);
        (self.marks.codepoint, if owes { Flags::CWR } else { Flags::NONE })
    }

    /// Queues CWR after a reduction of the window for any reason. [RFC 3168 §6.1.2]
    pub(super) fn queue_cwr(&mut self) {
        self.marks.owes_cwr = self.marks.feedback == Feedback::Classic;
        self.marks.answered_below = self.board.nxt();
    }

    /// Reads the marks in an ACK of `segments` newly delivered; their number.
    #[inline(always)]
    pub(super) fn read_marks(&mut self, reported: Reported, segments: u32) -> u32 {
        if self.marks.feedback == Feedback::Off { 0 } else { self.marks.read(reported, segments, self.mss) }
    }

    /// Shrinks the window once in a window of data, for marks with an ACK of all below `ack`. [RFC 3168 §6.1.2]
    pub(super) fn answer_marks(&mut self, now: lasthop_units::Time, marked: u32, ack: u64) {
        let is_new = marked > 0 && ack > self.marks.answered_below;
        if !is_new || self.recovery.phase != Phase::Open {
            return;
        }
        let event = self.congestion_event(now, CongestionCause::Ecn);
        self.control.on_congestion(&event);
        // The window has fallen at once, so the reduction ends here.
        self.control.on_recovery_exit(&self.moment(now));
        self.queue_cwr();
    }
}
