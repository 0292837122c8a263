//! Limits of the size of one A-MPDU, all of them together. [802.11-2020 §10.12]
//!
//! ```text
//! | delimiter 4 | MPDU | pad to 4 || delimiter 4 | MPDU | pad to 4 || …   the PSDU of one PPDU
//! ```
//!
//! A subframe that is shorter than the space that the receiver needs between the starts of two MPDUs is followed by
//! empty delimiters.

use lasthop_units::{Bytes, Duration, Time};

use crate::phy::{ModeId, Phy, frame_size};

const DELIMITER: u32 = frame_size::AMPDU_DELIMITER.0 as u32;

/// Limits of a driver on A-MPDUs, besides those of PHY and Block Ack agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aggregation {
    /// most MPDUs in a PPDU
    pub max_mpdus: u32,
    /// most bytes of the PSDU
    pub max_bytes: u32,
    /// longest duration of the PPDU
    pub max_duration: Duration,
    /// most bytes of an A-MSDU; `None`: each MPDU holds one MSDU
    pub max_amsdu: Option<u32>,
    /// time that receivers require between the starts of two MPDUs
    pub min_start_spacing: Duration,
}

impl Aggregation {
    /// The most MPDUs of `bytes` that a PPDU in `mode` holds under all limits.
    pub fn mpdus_of(self, phy: &Phy, mode: ModeId, bytes: u32) -> u32 {
        let mut psdu = PsduLength::new(phy, self, mode, self.max_duration, true);
        (0..self.max_mpdus).take_while(|_| psdu.add(bytes)).count() as u32
    }
}

/// The length of a PSDU that grows MPDU by MPDU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PsduLength<'a> {
    phy: &'a Phy,
    limits: Aggregation,
    mode: ModeId,
    /// The longest duration of its PPDU.
    longest: Duration,
    /// The most bytes it may have.
    most: u64,
    /// True if that many bytes would take too long, so that its duration must be checked.
    time_binds: bool,
    /// The fewest bytes between the starts of two MPDUs.
    spacing: u32,
    at_least_one: bool,
    /// End of the last MPDU.
    bytes: u32,
    /// Position at which the next subframe may start.
    next: u32,
    mpdus: u32,
}

impl<'a> PsduLength<'a> {
    /// An empty PSDU for a PPDU in `mode` that may last no longer than `longest`; with `at_least_one` the first MPDU
    /// fits whatever the limits.
    pub(crate) fn new(phy: &'a Phy, limits: Aggregation, mode: ModeId, longest: Duration, at_least_one: bool) -> Self {
        let spacing = phy.mode(mode).rate.as_bps() as u128 * u128::from(limits.min_start_spacing.as_nanos());
        let longest = longest.min(limits.max_duration).min(phy.max_ppdu_duration(mode));
        let spacing = spacing.div_ceil(8_000_000_000) as u32;
        let most = phy.max_ampdu_bytes().0.min(u64::from(limits.max_bytes));
        let time_binds = phy.ppdu_duration(mode, Bytes(most)) > longest;
        PsduLength { phy, limits, mode, longest, most, time_binds, spacing, at_least_one, bytes: 0, next: 0, mpdus: 0 }
    }

    /// An empty PSDU of at most `most` bytes, whose time is not counted.
    pub(crate) fn within(phy: &'a Phy, limits: Aggregation, mode: ModeId, most: Bytes) -> Self {
        let longest = Duration::from_nanos(u64::MAX / 2);
        let of = PsduLength::new(phy, limits, mode, longest, false);
        PsduLength { most: of.most.min(most.0), time_binds: false, ..of }
    }

    /// Adds an MPDU that is no longer than one for which there is [room](Self::has_room).
    pub(crate) fn push(&mut self, bytes: u32) {
        let whole = self.next + DELIMITER + bytes;
        self.next = (self.next + self.spacing).max(whole).next_multiple_of(4);
        (self.bytes, self.mpdus) = (whole, self.mpdus + 1);
    }

    /// Adds an MPDU of `bytes` if all limits allow.
    pub(crate) fn add(&mut self, bytes: u32) -> bool {
        let whole = self.next + DELIMITER + bytes;
        let must = self.at_least_one && self.mpdus == 0;
        if !must && !self.allows(whole) {
            return false;
        }
        self.push(bytes);
        true
    }

    fn allows(&self, bytes: u32) -> bool {
        self.mpdus < self.limits.max_mpdus
            && u64::from(bytes) <= self.most
            && (!self.time_binds || self.phy.ppdu_duration(self.mode, Bytes(u64::from(bytes))) <= self.longest)
    }

    /// Returns whether an MPDU of `bytes` could be added.
    pub(crate) fn has_room(&self, bytes: u32) -> bool {
        self.allows(self.next + DELIMITER + bytes)
    }

    /// Its present length.
    pub(crate) fn bytes(&self) -> u32 {
        self.bytes
    }
}

/// The longest duration of a PPDU that starts at `at` in a TXOP and must leave time for its response.
pub(crate) fn left_of_txop(at: Time, ends: Time, response: Duration) -> Duration {
    if ends <= at + response { Duration::ZERO } else { ends.since(at + response) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::{ChannelWidth, PhyOptions, Standard};

    const OWN: Aggregation = Aggregation {
        max_mpdus: 64,
        max_bytes: 65_535,
        max_duration: Duration::from_micros(5484),
        max_amsdu: None,
        min_start_spacing: Duration::ZERO,
    };

    fn phy() -> Phy {
        let options = PhyOptions::new(Standard::named("802.11n").unwrap());
        let wide = PhyOptions { channel_width: Some(ChannelWidth::Mhz40), spatial_streams: Some(2), ..options };
        wide.resolve("bss").unwrap()
    }
    /// MPDUs of 1538 bytes that fit in the mode with this MCS, and the length of the PSDU.
    fn fit(limits: Aggregation, mcs: u8, longest: Duration, at_least_one: bool) -> (u32, u32) {
        let phy = phy();
        let mode = phy.mode_of_mcs(mcs).unwrap();
        let mut psdu = PsduLength::new(&phy, limits, mode, longest, at_least_one);
        let fitted = (0..100).take_while(|_| psdu.add(1538)).count();
        (fitted as u32, psdu.bytes())
    }

    #[test]
    fn an_empty_a_mpdu_holds_as_many_as_it_can_grow_to() {
        let phy = phy();
        assert_eq!(OWN.mpdus_of(&phy, phy.mode_of_mcs(15).unwrap(), 1538), 42);
        assert_eq!(OWN.mpdus_of(&phy, phy.mode_of_mcs(0).unwrap(), 1538), 5);
    }

    #[test]
    fn the_length_of_an_ht_a_mpdu_limits_it_to_42_full_packets() {
        // 1542 bytes, padded to 1544: 42 * 1544 - 2 = 64,846; one more would make 66,390.
        assert_eq!(fit(OWN, 15, Duration::from_secs(1), true), (42, 64_846));
    }

    #[test]
    fn each_limit_binds_where_it_is_the_smallest() {
        let second = Duration::from_secs(1);
        assert_eq!(fit(Aggregation { max_mpdus: 5, ..OWN }, 15, second, true).0, 5);
        assert_eq!(fit(Aggregation { max_bytes: 4630, ..OWN }, 15, second, true), (3, 4630));
        assert_eq!(fit(Aggregation { max_bytes: 4629, ..OWN }, 15, second, true).0, 2);
        let phy = phy();
        let three = phy.ppdu_duration(phy.mode_of_mcs(15).unwrap(), Bytes(4630));
        assert_eq!(fit(OWN, 15, three, true).0, 3);
        assert_eq!(fit(OWN, 15, three - Duration::from_nanos(1), true).0, 2);
        assert_eq!(fit(Aggregation { max_duration: three, ..OWN }, 15, second, true).0, 3);
        // 13.5 Mbit/s: 1544 bytes take 915 us, and 5.484 ms hold five of them.
        assert_eq!(fit(OWN, 0, second, true).0, 5);
    }

    #[test]
    fn short_mpdus_are_spaced_as_receivers_ask() {
        let limits = Aggregation { min_start_spacing: Duration::from_micros(8), ..OWN };
        let phy = phy();
        let mut psdu = PsduLength::new(&phy, limits, phy.mode_of_mcs(15).unwrap(), Duration::from_secs(1), true);
        // 270 Mbit/s: 270 bytes in 8 us, filled up to 272.
        assert!(psdu.add(78) && psdu.add(78) && psdu.bytes() == 272 + 4 + 78);
    }

    #[test]
    fn first_mpdu_ignores_limits_unless_it_must_fit() {
        let short = Duration::from_micros(100);
        assert_eq!((fit(OWN, 0, short, true).0, fit(OWN, 0, short, false)), (1, (0, 0)));
    }

    #[test]
    fn no_time_is_looked_at_only_where_none_could_be_too_long() {
        let mut without = 0;
        for (standard, width) in [
            ("802.11n", ChannelWidth::Mhz40),
            ("802.11ac", ChannelWidth::Mhz20),
            ("802.11ax", ChannelWidth::Mhz20),
            ("802.11ax", ChannelWidth::Mhz80),
        ] {
            let options = PhyOptions::new(Standard::named(standard).unwrap());
            let phy = PhyOptions { channel_width: Some(width), ..options }.resolve("bss").unwrap();
            for (mcs, longest_us) in (0..8).flat_map(|mcs| [300, 2_000, 5_000].map(|us| (mcs, us))) {
                let (mode, longest) = (phy.mode_of_mcs(mcs).unwrap(), Duration::from_micros(longest_us));
                let psdu = PsduLength::new(&phy, OWN, mode, longest, false);
                let lasts = |bytes: u32| phy.ppdu_duration(mode, Bytes(u64::from(bytes)));
                for bytes in (1..66_000).step_by(7) {
                    let plain = bytes <= OWN.max_bytes && lasts(bytes) <= psdu.longest;
                    assert_eq!(psdu.allows(bytes), plain, "{standard}, MCS {mcs}, {bytes} B");
                }
                without += u32::from(!psdu.time_binds);
            }
        }
        assert!(without > 10, "{without}");
    }

    #[test]
    fn rest_of_a_txop_excludes_the_response() {
        let us = |us| Time::ZERO + Duration::from_micros(us);
        assert_eq!(left_of_txop(us(100), us(200), Duration::from_micros(60)), Duration::from_micros(40));
        assert_eq!(left_of_txop(us(150), us(200), Duration::from_micros(60)), Duration::ZERO);
    }
}
