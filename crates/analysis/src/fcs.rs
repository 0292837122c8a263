//! Whether frames of a capture end with their FCS: drivers set radiotap's flag wrongly, and captures without radiotap have
//! no flag.
//!
//! An Ack and a CTS have 10 bytes without FCS and 14 with it, an RTS 16 and 20, a compressed BlockAck 28, 52, 84 or 148 and
//! four more [802.11-2020 §9.3.1; 802.11be-2024 §9.3.1.8]. Captures keep the lengths of frames that they cut off. Frames with the flag and frames without it are learned separately.

use lasthop_wire::capture::LinkType;
use lasthop_wire::ieee80211::fcs_is_good;
use lasthop_wire::radiotap::Flags;

use crate::header::behind_header;
use crate::input::Captured;

/// Bytes of the FCS.
pub(crate) const FCS: usize = 4;

/// First byte of a BlockAck. Other variants than the compressed one have any length.
const BLOCK_ACK: u8 = 0x94;
/// First bytes of an RTS, a CTS, an Ack and a BlockAck, and their lengths without FCS.
const FIXED: [(u8, &[usize]); 4] = [(0xb4, &[16]), (0xc4, &[10]), (0xd4, &[10]), (BLOCK_ACK, &[28, 52, 84, 148])];

/// More frames than these change no verdict.
const ENOUGH: u32 = 1000;
/// Frames of a kind that are looked at: those of some captures show nothing.
const MOST_LOOKED_AT: u32 = 100_000;

/// Frames of one kind: with an FCS, and without.
#[derive(Clone, Copy, Debug, Default)]
struct Votes {
    with: u32,
    without: u32,
    looked_at: u32,
}

impl Votes {
    /// Whether further frames may change the verdict.
    fn needs_more(&self) -> bool {
        self.with + self.without < ENOUGH && self.looked_at < MOST_LOOKED_AT
    }

    fn add(&mut self, has_fcs: bool) {
        if has_fcs {
            self.with += 1;
        } else {
            self.without += 1;
        }
    }
}

/// The FCS of the frames of one capture.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fcs {
    /// frames with radiotap's flag, and frames without it
    flagged: Votes,
    plain: Votes,
}

impl Fcs {
    /// Whether a frame ends with its FCS; `is_flagged` if radiotap's flag is set.
    pub(crate) fn is_there(&self, is_flagged: bool) -> bool {
        match is_flagged {
            true => self.flagged.without <= self.flagged.with,
            false => self.plain.with > self.plain.without,
        }
    }

    /// Whether frames with the flag have no FCS, and whether frames without it have one.
    pub(crate) fn contradicts_flag(&self) -> (bool, bool) {
        (!self.is_there(true), self.is_there(false))
    }

    /// Learns from a packet.
    pub(crate) fn look(&mut self, captured: &Captured) {
        if !self.flagged.needs_more() && !self.plain.needs_more() {
            return;
        }
        let Ok((LinkType::IEEE_802_11, radiotap, frame)) = behind_header(captured) else { return };
        let flags = radiotap.flags.unwrap_or_default();
        let is_flagged = flags.contains(Flags::FCS_AT_END);
        let votes = if is_flagged { &mut self.flagged } else { &mut self.plain };
        if !votes.needs_more() {
            return;
        }
        votes.looked_at += 1;
        if radiotap.no_psdu.is_some() || flags.contains(Flags::BAD_FCS) {
            return;
        }
        let original = captured.original_length.saturating_sub(captured.bytes.len() - frame.len());
        if let Some(has_fcs) = ends_with_fcs(frame, original) {
            votes.add(has_fcs);
        }
    }
}

/// Whether a frame of so many bytes ends with its FCS, if that is certain.
fn ends_with_fcs(frame: &[u8], original: usize) -> Option<bool> {
    let first = *frame.first()?;
    if first == BLOCK_ACK && frame.get(16).is_some_and(|control| control & 0x1e != 2 << 1) {
        return None;
    }
    let fixed = FIXED.iter().find(|(own, _)| *own == first);
    match fixed {
        Some((_, lengths)) if lengths.contains(&original) => Some(false),
        Some((_, lengths)) if lengths.iter().any(|bytes| original == bytes + FCS) => Some(true),
        Some(_) => None,
        // Bytes that are no FCS match once in 2^32.
        None => fcs_is_good(frame, original).filter(|is_good| *is_good),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_wire::Radiotap;

    fn radiotap(flags: Flags, frame: &[u8]) -> Captured {
        let mut bytes = Vec::new();
        Radiotap { flags: Some(flags), ..Radiotap::default() }.append(&mut bytes);
        bytes.extend_from_slice(frame);
        Captured { time_ns: 0, link_type: LinkType::RADIOTAP, original_length: bytes.len(), bytes }
    }

    fn ack(length: usize) -> Vec<u8> {
        [vec![0xd4], vec![0; length - 1]].concat()
    }

    #[test]
    fn length_of_acks_overrules_flag() {
        let mut fcs = Fcs::default();
        assert!(fcs.is_there(true) && !fcs.is_there(false));
        fcs.look(&radiotap(Flags::FCS_AT_END, &ack(10)));
        assert!(!fcs.is_there(true) && !fcs.is_there(false));
        fcs.look(&radiotap(Flags(0), &ack(14)));
        assert_eq!(fcs.contradicts_flag(), (true, true));
    }

    #[test]
    fn majority_decides_and_damaged_frames_do_not_count() {
        let mut fcs = Fcs::default();
        fcs.look(&radiotap(Flags::FCS_AT_END, &ack(14)));
        fcs.look(&radiotap(Flags::FCS_AT_END.with(Flags::BAD_FCS), &ack(10)));
        fcs.look(&radiotap(Flags::FCS_AT_END, &ack(12)));
        assert!(fcs.is_there(true));
        fcs.look(&radiotap(Flags::FCS_AT_END, &ack(10)));
        assert!(fcs.is_there(true));
        fcs.look(&radiotap(Flags::FCS_AT_END, &ack(10)));
        assert!(!fcs.is_there(true));
    }

    #[test]
    fn each_kind_is_learned_to_its_own_end() {
        let mut fcs = Fcs::default();
        (0..ENOUGH).for_each(|_| fcs.look(&radiotap(Flags::FCS_AT_END, &ack(14))));
        fcs.look(&radiotap(Flags(0), &ack(14)));
        assert_eq!(fcs.contradicts_flag(), (false, true));
        // Frames that show nothing end it.
        let mut shows_nothing = Fcs::default();
        (0..MOST_LOOKED_AT).for_each(|_| shows_nothing.look(&radiotap(Flags(0), &ack(12))));
        assert!(!shows_nothing.plain.needs_more() && shows_nothing.flagged.needs_more());
    }

    #[test]
    fn check_sum_of_a_whole_frame_shows_an_fcs() {
        let mut frame = vec![0x80; 30];
        lasthop_wire::append_fcs(&mut frame, 0);
        let mut fcs = Fcs::default();
        fcs.look(&radiotap(Flags(0), &frame));
        assert!(fcs.is_there(false));
    }
}
