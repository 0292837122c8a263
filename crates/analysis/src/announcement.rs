//! The announcement of an RTS: its Duration field gives the length of the announced PPDU [802.11-2020 §9.3.1.2].

use std::cmp::Reverse;

use lasthop_units::DataRate;
use lasthop_wire::ieee80211::AMPDU_DELIMITER;

use crate::durations::{Durations, Mode, Sending};

/// Largest difference between a Duration field and the PHY's duration, below and above: the field is in whole
/// microseconds.
const ROUNDING_NS: (u64, u64) = (1_000, 1_999);

/// MPDUs of the longest A-MPDU, that of HE. [802.11ax-2021 §26.6.3]
const MOST_MPDUS: usize = 256;

/// The fields of an RTS that concern the announced PPDU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Announcement {
    pub duration_us: u16,
    /// its own mode, if it is known
    pub mode: Option<Mode>,
}

/// The MPDUs of a data PPDU, and its PHY mode.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    /// none if it is unknown
    pub mode: Option<(Sending, Mode)>,
    pub tid: u8,
    pub is_ampdu: bool,
    /// number, bytes, and whether it was sent before
    pub mpdus: Vec<(u16, u32, bool)>,
}

/// The PPDU that an RTS announced, as far as it is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub rate: DataRate,
    pub mpdus: usize,
    /// the lowest and the highest possible rate
    pub between: (DataRate, DataRate),
}

impl Announcement {
    /// Finds the mode and the number of MPDUs, counted from the first of `sent`, that fill the announced time; `used`
    /// gives the use of a mode on the link.
    pub(crate) fn find(&self, sent: &Sent, used: impl Fn(&Sending) -> u64, durations: &mut Durations) -> Option<Found> {
        let (announcing, own, count) = (self.mode?, sent.mode?.0, sent.mpdus.len());
        let mut best: Option<(_, Found)> = None;
        // Rates at which the same number of MPDUs lasts as long, and at which any number does.
        let (mut alike, mut all) = (Vec::new(), Vec::new());
        for sending in own.alike() {
            let Some(mode) = durations.mode(sending) else { continue };
            let Some(n) = self.fitting((announcing, mode), sent, durations) else { continue };
            // An unchanged retransmission ranks before as many MPDUs in another mode, then other numbers; then the most
            // used mode.
            let is_same = sending == own && n == count;
            let rank = (is_same, n == count, used(&sending), Reverse(n.abs_diff(count)));
            let rate = durations.rate(mode);
            all.push(rate);
            if n == count {
                alike.push(rate);
            }
            if best.as_ref().is_none_or(|(other, _)| rank > *other) {
                best = Some((rank, Found { rate, mpdus: n, between: (rate, rate) }));
            }
        }
        let (_, found) = best?;
        let alike = if alike.is_empty() { all } else { alike };
        let lowest = alike.iter().copied().fold(found.rate, DataRate::min);
        let highest = alike.iter().copied().fold(found.rate, DataRate::max);
        Some(Found { between: (lowest, highest), ..found })
    }

    /// The number of MPDUs, counted from the first of `sent`, with which a data PPDU and its answer fill the announced
    /// time: of several numbers the one nearest to that of `sent`.
    fn fitting(&self, (announcing, mode): (Mode, Mode), sent: &Sent, durations: &Durations) -> Option<usize> {
        let told = u64::from(self.duration_us) * 1000;
        let (most, count) = (if sent.is_ampdu { MOST_MPDUS } else { 1 }, sent.mpdus.len());
        let needs = |psdu| durations.behind_rts(announcing, mode, psdu, sent.is_ampdu).as_nanos();
        let filled = psdus(sent).take(most).zip(1_usize..).map(|(psdu, n)| (needs(psdu), n));
        let near = filled.take_while(|(needs, _)| *needs <= told + ROUNDING_NS.0);
        let fits = near.filter(|(needs, _)| told < needs + ROUNDING_NS.1);
        fits.map(|(_, n)| n).min_by_key(|n| n.abs_diff(count))
    }
}

/// Bytes of PSDUs with the first MPDU, the first two and so on; missing MPDUs count as long as the longest.
fn psdus(sent: &Sent) -> impl Iterator<Item = u32> {
    let longest = sent.mpdus.iter().map(|mpdu| mpdu.1).max().unwrap_or(0);
    let lengths = sent.mpdus.iter().map(|mpdu| mpdu.1).chain(std::iter::repeat(longest));
    lengths.scan(0, |bytes: &mut u32, length| {
        *bytes = if sent.is_ampdu { bytes.next_multiple_of(4) + AMPDU_DELIMITER as u32 + length } else { length };
        Some(*bytes)
    })
}

/// The number of the last of `count` MPDUs that start with these.
pub(crate) fn number_of(mpdus: &[(u16, u32, bool)], count: usize) -> Option<u16> {
    let known = mpdus.get(count.saturating_sub(1)).map(|mpdu| mpdu.0);
    known.or_else(|| mpdus.last().map(|last| (last.0 + (count - mpdus.len()) as u16) % 4096))
}

/// Whether a sequence number is later than another. [802.11-2020 §10.3.2.14]
pub(crate) fn is_after(number: u16, other: u16) -> bool {
    let ahead = (4096 + number - other) % 4096;
    ahead != 0 && ahead < 2048
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_wire::radiotap::{Channel, Mcs, Radiotap};

    fn sending(index: Option<u8>) -> Sending {
        let channel = Some(Channel { mhz: 5180, flags: Channel::OFDM | Channel::GHZ_5 });
        let mcs = index.map(|index| Mcs::mixed(index, 20, false));
        Sending::of(&Radiotap { channel, mcs, rate_500kbps: Some(48), ..Radiotap::default() }).unwrap()
    }

    fn sent(index: u8, mpdus: &[(u16, u32, bool)], durations: &mut Durations) -> Sent {
        let sending = sending(Some(index));
        let mode = durations.mode(sending).unwrap();
        Sent { mode: Some((sending, mode)), tid: 0, is_ampdu: true, mpdus: mpdus.to_vec() }
    }

    #[test]
    fn an_rts_announces_the_mpdus_that_follow_in_the_mode_that_fills_its_duration() {
        let mut durations = Durations::default();
        let rts = durations.mode(sending(None)).unwrap();
        let mpdus: Vec<_> = (10..14).map(|number| (number, 1500, false)).collect();
        let follows = sent(3, &mpdus, &mut durations);
        for (index, count, rate) in [(7, 4, 65_000_000), (7, 6, 65_000_000), (3, 4, 26_000_000)] {
            let mode = durations.mode(sending(Some(index))).unwrap();
            let psdu = psdus(&follows).nth(count - 1).unwrap();
            let duration_us = durations.behind_rts(rts, mode, psdu, true).as_nanos().div_ceil(1000) as u16;
            let announcement = Announcement { duration_us, mode: Some(rts) };
            let found = announcement.find(&follows, |_| 0, &mut durations).unwrap();
            assert_eq!((found.rate.as_bps(), found.mpdus), (rate, count));
        }
    }

    #[test]
    fn numbers_are_compared_round_the_corner() {
        assert!(is_after(3, 4090) && !is_after(4090, 3) && !is_after(7, 7));
        assert_eq!(number_of(&[(4094, 1, false), (4095, 1, false)], 3), Some(0));
    }
}
