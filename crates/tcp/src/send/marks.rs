//! The sender's count of marks, and the number in an ACK; see `ecn`.
//!
//! An ACK of many segments leaves open whether the count of three bits has wrapped. The option decides: without new bytes
//! under CE it has not; else so often that the marked segments can hold these bytes. Without the option, as many marks as fit
//! are taken, the safe reading of [RFC 9768 §A.2.1], or, where ACKs cover many segments as a rule, the fewest: then it is no
//! sign of lost ACKs, and a receiver may leave no more than six marks unreported [§3.2.2.5.1].

use lasthop_units::Ecn;

use crate::config::AceWraps;
use crate::ecn::{Feedback, ace, handshake_code, handshake_ecn, is_mangled};
use crate::segment::{AccEcn, Flags};

/// Start of the counter of marked packets. [RFC 9768 §3.2.1]
pub(super) const FIRST_COUNT: u8 = 5;
/// Value at which the ACE field wraps.
const WRAP: u32 = 8;
/// Segments per ACK, on average, above which long ACKs are the rule: half of the range of the field.
const LONG: u32 = WRAP / 2;
/// Parts of a segment in the average, and its weight: 1/8.
const PARTS: u32 = 64;
const WEIGHT: u32 = 8;

/// Reports of marks in a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reported<'a> {
    /// ECE, CWR and AE
    pub flags: Flags,
    pub accecn: &'a Option<AccEcn>,
    /// it carries data or a newer timestamp, so that it is later than those before even if it delivers no data
    pub is_later: bool,
}

/// Bytes delivered under each ECN field, by the peer's options: ECT(1), CE, ECT(0).
#[derive(Clone, Copy, Debug)]
pub(super) struct DeliveredBytes {
    /// the counters seen last
    seen: [u32; 3],
    pub totals: [u64; 3],
    /// an initial counter was zero, so something clears the option. [RFC 9768 §3.2.3.2.4]
    is_zeroed: bool,
}

impl DeliveredBytes {
    fn begin(option: &AccEcn) -> DeliveredBytes {
        let [ect1, _, ect0] = option.by_codepoint();
        // Counters that follow ECT start at 1. [RFC 9768 §3.2.1]
        DeliveredBytes { seen: [1, 0, 1], totals: [0; 3], is_zeroed: ect1 == Some(0) || ect0 == Some(0) }
    }

    /// Takes in an option; the new bytes under CE, if it has that counter.
    fn take(&mut self, option: &AccEcn) -> Option<u32> {
        if self.is_zeroed {
            return None;
        }
        let mut marked = None;
        for (place, counter) in option.by_codepoint().into_iter().enumerate() {
            let Some(counter) = counter else { continue };
            let rise = counter.wrapping_sub(self.seen[place]) & 0x00ff_ffff;
            if rise >= 1 << 23 {
                // an older option
                continue;
            }
            self.seen[place] = (self.seen[place] + rise) & 0x00ff_ffff;
            self.totals[place] += u64::from(rise);
            if place == 1 {
                marked = Some(rise);
            }
        }
        marked
    }
}

/// The sender's knowledge of marks.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    pub feedback: Feedback,
    /// the ECN field of new data
    pub codepoint: Ecn,
    /// the ECN field of retransmitted data
    pub codepoint_again: Ecn,
    /// the ECN field of segments without data, SYNs and resets apart
    pub codepoint_control: Ecn,
    /// the ACE field seen last
    pub count: u8,
    /// the peer's answer to the own SYN+ACK is to come; its ACE field is not a count
    pub awaits_handshake: bool,
    /// the first count of a peer that answered the own SYN is to come
    pub awaits_count: bool,
    /// signs of a path that changes ECN fields end the use of ECT
    pub falls_back: bool,
    /// the SYN+ACK arrived with a mark
    pub syn_ack_was_marked: bool,
    /// marks read so far
    pub total: u32,
    pub wraps: AceWraps,
    /// average of segments per ACK, in parts
    pub per_ack: u32,
    /// the next new data reports the reduction of the window
    pub owes_cwr: bool,
    /// marks of data before this offset were answered
    pub answered_below: u64,
    pub bytes: Option<Box<DeliveredBytes>>,
}

impl Marks {
    /// Segments that were marked, of `segments` newly delivered, each of at most `mss` bytes.
    #[inline(never)]
    pub fn read(&mut self, reported: Reported, segments: u32, mss: u32) -> u32 {
        match self.feedback {
            Feedback::Off => 0,
            _ if reported.flags.contains(Flags::SYN) => self.begin_bytes(reported.accecn),
            Feedback::Classic if reported.flags.contains(Flags::ECE) => segments.max(1),
            Feedback::Classic => 0,
            Feedback::Accurate => self.read_count(reported, segments, mss),
        }
    }

    fn begin_bytes(&mut self, option: &Option<AccEcn>) -> u32 {
        if let Some(option) = option {
            self.bytes = Some(Box::new(DeliveredBytes::begin(option)));
        }
        0
    }

    fn read_count(&mut self, reported: Reported, segments: u32, mss: u32) -> u32 {
        let field = ace(reported.flags);
        if core::mem::take(&mut self.awaits_handshake) {
            self.judge_handshake(field);
            return self.begin_bytes(reported.accecn);
        }
        // Three marks make it zero.
        if core::mem::take(&mut self.awaits_count) && field == 0 && segments < 3 {
            self.doubt_path();
        }
        if segments == 0 && !reported.is_later {
            return 0;
        }
        let marked_bytes = reported.accecn.as_ref().and_then(|option| self.take_option(option));
        let seen = core::mem::replace(&mut self.count, field);
        let least = u32::from(field.wrapping_sub(seen) & 0b111);
        let long = self.wraps == AceWraps::Likely && self.note_length(segments);
        let marked = if segments < WRAP { least } else { Marks::unwrap(least, segments, (marked_bytes, mss), long) };
        self.total += marked;
        marked
    }

    /// The count with the wraps that it may have made, of `least` at least.
    fn unwrap(least: u32, segments: u32, (marked_bytes, mss): (Option<u32>, u32), long: bool) -> u32 {
        let most = segments - (segments - least) % WRAP;
        match marked_bytes {
            Some(0) => least,
            Some(bytes) => {
                let wraps = bytes.div_ceil(mss.max(1)).saturating_sub(least).div_ceil(WRAP);
                most.min(least + wraps * WRAP)
            }
            None if long => least,
            None => most,
        }
    }

    /// Reads the peer's answer to the own SYN+ACK, or its first data if that was lost. [RFC 9768 §3.2.2.1, table 4]
    fn judge_handshake(&mut self, field: u8) {
        self.syn_ack_was_marked = field == handshake_code(Ecn::Ce);
        self.count = FIRST_COUNT + u8::from(self.syn_ack_was_marked);
        if field == 0 || handshake_ecn(field).is_some_and(|arrived| is_mangled(Ecn::NotEct, arrived)) {
            self.doubt_path();
        }
    }

    /// Ends the use of ECT after a sign of a path that changes ECN fields.
    pub fn doubt_path(&mut self) {
        if self.falls_back {
            self.stop_ect();
        }
    }

    /// Ends the use of ECT in this direction. The peer's marks are reported as before.
    pub fn stop_ect(&mut self) {
        (self.codepoint, self.codepoint_again, self.codepoint_control) = (Ecn::NotEct, Ecn::NotEct, Ecn::NotEct);
    }

    fn take_option(&mut self, option: &AccEcn) -> Option<u32> {
        self.bytes.get_or_insert_with(|| Box::new(DeliveredBytes::begin(option))).take(option)
    }

    /// Takes in the length of an ACK; true if long ones are the rule.
    fn note_length(&mut self, segments: u32) -> bool {
        let parts = segments.saturating_mul(PARTS);
        self.per_ack = match self.per_ack {
            0 => parts,
            average if segments > 0 => average - average / WEIGHT + parts / WEIGHT,
            average => average,
        };
        self.per_ack > LONG * PARTS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ecn::with_ace;

    const MSS: u32 = 1000;

    fn accurate() -> Marks {
        Marks { feedback: Feedback::Accurate, count: 5, ..Marks::default() }
    }

    fn read(marks: &mut Marks, field: u8, segments: u32, option: Option<AccEcn>) -> u32 {
        marks.read(Reported { flags: with_ace(field), accecn: &option, is_later: false }, segments, MSS)
    }

    #[test]
    fn the_counter_is_read_modulo_eight_and_safely_beyond() {
        let mut marks = accurate();
        assert_eq!(read(&mut marks, 5, 4, None), 0);
        assert_eq!(read(&mut marks, 0, 4, None), 3);
        // One mark, or nine: of ten segments, nine may have been marked.
        assert_eq!(read(&mut marks, 1, 10, None), 9);
    }

    #[test]
    fn the_option_decides_whether_the_counter_wrapped() {
        // [RFC 9768 §A.2.2]
        let option = |ce| Some(AccEcn::new(true, &[1, ce, 1]));
        let mut marks = accurate();
        assert_eq!(read(&mut marks, 5, 20, option(0)), 0, "no bytes under CE");
        assert_eq!(read(&mut marks, 6, 20, option(1000)), 1);
        assert_eq!(read(&mut marks, 7, 20, option(10_000)), 9, "nine segments of 1000 bytes hold them, one does not");
        assert_eq!(read(&mut marks, 0, 20, option(9_000)), 17, "an older counter of bytes is not read");
        assert_eq!(marks.bytes.unwrap().totals, [0, 10_000, 0]);
    }

    #[test]
    fn long_acks_are_no_sign_of_lost_ones_where_they_are_the_rule() {
        let mut marks = Marks { wraps: AceWraps::Likely, ..accurate() };
        assert_eq!(read(&mut marks, 5, 10, None), 0, "the first is all there is to go by");
        let mut marks = Marks { wraps: AceWraps::Likely, ..accurate() };
        assert_eq!(read(&mut marks, 5, 1, None), 0);
        assert_eq!(read(&mut marks, 5, 9, None), 8);
    }

    #[test]
    fn a_repeated_ack_is_not_read() {
        let mut marks = accurate();
        assert_eq!(read(&mut marks, 6, 0, None), 0);
        assert_eq!(marks.count, 5);
        let later = Reported { flags: with_ace(6), accecn: &None, is_later: true };
        assert_eq!(marks.read(later, 0, MSS), 1);
    }

    #[test]
    fn a_cleared_count_ends_the_use_of_ect() {
        // [RFC 9768 §3.2.2.4]; after three marks zero is a count.
        for (passive, field, segments, ends) in [
            (true, 0, 1, true),
            (true, 0b010, 1, false),
            (true, 0b110, 1, true),
            (false, 0, 2, true),
            (false, 0, 3, false),
        ] {
            let mut marks = Marks {
                codepoint: Ecn::Ect0,
                awaits_handshake: passive,
                awaits_count: !passive,
                falls_back: true,
                ..accurate()
            };
            read(&mut marks, field, segments, None);
            assert_eq!(marks.codepoint == Ecn::NotEct, ends, "{passive} {field} {segments}");
        }
    }

    #[test]
    fn an_option_that_begins_at_zero_is_cleared_on_the_path() {
        // [RFC 9768 §3.2.3.2.4]
        let mut marks = accurate();
        read(&mut marks, 5, 1, Some(AccEcn::new(false, &[0, 0, 0])));
        assert_eq!(read(&mut marks, 6, 10, Some(AccEcn::new(false, &[0, 0, 0]))), 9, "it is not read");
    }

    #[test]
    fn classic_echo_counts_the_delivered_segments() {
        let mut marks = Marks { feedback: Feedback::Classic, ..Marks::default() };
        let classic = |flags| Reported { flags, accecn: &None, is_later: false };
        assert_eq!(marks.read(classic(Flags::ACK | Flags::ECE), 2, MSS), 2);
        assert_eq!(marks.read(classic(Flags::ACK), 2, MSS), 0);
    }
}
