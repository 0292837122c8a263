//! How much goes into one A-MPDU, all limits at once. [802.11-2020 §10.12]
//!
//! ```text
//! | delimiter 4 | MPDU | pad to 4 || delimiter 4 | MPDU | pad to 4 || …   the PSDU of one PPDU
//! ```
//!
//! A subframe that is shorter than what the receiver needs between the starts of two MPDUs is followed by empty
//! delimiters.

use lasthop_units::{Bytes, Duration, Time};

use crate::phy::{ModeId, Phy};

/// Before each MPDU of an A-MPDU. [802.11-2020 §9.7.1]
const DELIMITER: u32 = 4;
/// Subframe header of an A-MSDU: two addresses and a length. [802.11-2020 §9.3.2.2.2]
pub(crate) const AMSDU_SUBFRAME_HEADER: u32 = 14;

/// What a driver allows beyond what PHY and Block Ack agreement do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aggregation {
    /// MPDUs in a PPDU at most
    pub max_mpdus: u32,
    /// bytes of the PSDU at most
    pub max_bytes: u32,
    /// duration of the PPDU at most
    pub max_duration: Duration,
    /// bytes of an A-MSDU at most; `None`: an MSDU for each MPDU
    pub max_amsdu: Option<u32>,
}

/// The length of a PSDU that grows MPDU by MPDU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Psdu<'a> {
    phy: &'a Phy,
    limits: Aggregation,
    mode: ModeId,
    /// How long its PPDU may last.
    longest: Duration,
    /// Bytes between the starts of two MPDUs at least.
    spacing: u32,
    at_least_one: bool,
    bytes: u32,
    mpdus: u32,
}

impl<'a> Psdu<'a> {
    /// An empty one for a PPDU in `mode`, which may last no longer than `longest`; with `at_least_one` the first MPDU fits
    /// whatever the limits say.
    pub(crate) fn new(
        phy: &'a Phy,
        limits: Aggregation,
        mode: ModeId,
        longest: Duration,
        at_least_one: bool,
    ) -> Self {
        let spacing = phy.mode(mode).rate.as_bps() as u128 * u128::from(phy.min_mpdu_start_spacing().as_nanos());
        let longest = longest.min(limits.max_duration).min(phy.max_ppdu_duration(mode));
        let spacing = spacing.div_ceil(8_000_000_000) as u32;
        Psdu { phy, limits, mode, longest, spacing, at_least_one, bytes: 0, mpdus: 0 }
    }

    /// Adds an MPDU of `bytes` if all limits allow.
    pub(crate) fn add(&mut self, bytes: u32) -> bool {
        let padded = self.bytes.next_multiple_of(4);
        let whole = padded + DELIMITER + bytes;
        let must = self.at_least_one && self.mpdus == 0;
        if !must && !self.allows(whole) {
            return false;
        }
        let subframe = (DELIMITER + bytes).next_multiple_of(4).max(self.spacing.next_multiple_of(4));
        (self.bytes, self.mpdus) = (padded + subframe, self.mpdus + 1);
        true
    }

    fn allows(&self, bytes: u32) -> bool {
        self.mpdus < self.limits.max_mpdus
            && bytes <= self.limits.max_bytes.min(self.phy.max_ampdu_bytes())
            && self.phy.ppdu_duration(self.mode, Bytes(u64::from(bytes))) <= self.longest
    }

    /// Whether another MPDU could be added, if it were short enough.
    pub(crate) fn has_room(&self) -> bool {
        self.mpdus < self.limits.max_mpdus
    }

    /// Its length now.
    pub(crate) fn bytes(&self) -> u32 {
        self.bytes
    }
}

/// How long a PPDU may last that starts at `at` in a TXOP, with the response to it.
pub(crate) fn left_of_txop(at: Time, ends: Time, response: Duration) -> Duration {
    if ends <= at + response { Duration::ZERO } else { ends.since(at + response) }
}
