//! Attempts to send data: what came of each, at which rate, and whether it was a retry.
//!
//! An RTS that is not answered announces a PPDU that is never heard. Its Duration field tells how long that was
//! [802.11-2020 §9.3.1.2], and the next data PPDU over the link which MPDUs it held: what the RTS announced is the mode
//! and the number of MPDUs, counted from the first that is tried next, that fill the time.
//!
//! ```text
//!  RTS |==|                                  Duration: SIFS CTS SIFS |=====data=====| SIFS answer
//!  later       |==| |==| |=======data=======| |==|      its first MPDUs are those that the RTS was about
//! ```

use std::cmp::Reverse;
use std::collections::BTreeMap;

use lasthop_observe::{LinkId, NodeId, Outcome, Record};
use lasthop_units::{DataRate, Duration, Time};
use lasthop_wire::ieee80211::AMPDU_DELIMITER;

use crate::durations::{Durations, Mode, Sending};
use crate::events::{Attempt, Event, Events};
use crate::ppdu::Ppdu;

/// For how long what an RTS announced may stay open: long enough for a station that waits its turn among many.
const LONGEST_OPEN: Duration = Duration::from_millis(500);

/// By how much less or more a Duration field may tell than the PHYs say: it is in whole microseconds.
const ROUNDING_NS: (u64, u64) = (1_000, 1_999);

/// MPDUs of the longest A-MPDU, that of HE. [802.11ax-2021 §26.6.3]
const MOST_MPDUS: usize = 256;

/// An RTS without a CTS, of which is not known yet what it announced.
#[derive(Clone, Copy, Debug)]
struct Unanswered {
    /// when it ended
    at: Time,
    link: LinkId,
    node: NodeId,
    announcement: Announcement,
}

/// What an RTS says of what follows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Announcement {
    pub duration_us: u16,
    /// its own mode
    pub mode: Mode,
}

/// An attempt that has begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begun {
    pub link: LinkId,
    pub node: NodeId,
    pub rate: DataRate,
    pub mpdus: u32,
    pub is_retry: bool,
}

/// The MPDUs of a data PPDU, and how it was sent.
#[derive(Clone, Debug)]
struct Sent {
    sending: Sending,
    mode: Mode,
    tid: u8,
    is_ampdu: bool,
    /// number, bytes, and whether it was sent before
    mpdus: Vec<(u16, u32, bool)>,
}

/// What is known of one link.
#[derive(Clone, Debug, Default)]
struct Link {
    latest: Option<Sent>,
    /// how often each mode was used
    used: BTreeMap<Sending, u64>,
    /// by TID: the last MPDU that an RTS announced in vain
    announced_until: BTreeMap<u8, u16>,
    /// the rate at which new MPDUs were sent last, and whether something was tried again since
    begins_at: Option<DataRate>,
    has_retried: bool,
}

/// What an RTS announced, as far as it is known.
#[derive(Clone, Copy, Debug)]
struct Found {
    rate: DataRate,
    mpdus: usize,
    /// the lowest and the highest rate that it may have been
    between: (DataRate, DataRate),
}

/// RTS of a link that were not answered, and of which is not known for certain what they announced.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Open {
    /// no PPDU followed that they could have been about: they count as what was sent before them
    pub guessed: u64,
    /// PPDUs of several rates would last as long: they count with that which is used most
    pub ambiguous: u64,
    /// sums of rates in bit/s: by how much those of the attempts may be too high, and too low
    pub rates_below: u64,
    pub rates_above: u64,
}

/// Steps of the rate at which new MPDUs are sent first, as the air shows them: those of a rate control, and its probes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Steps {
    pub up: u64,
    pub down: u64,
    /// of these, how many follow a retry
    pub down_after_retry: u64,
}

/// All attempts.
#[derive(Default)]
pub(crate) struct Attempts {
    links: BTreeMap<LinkId, Link>,
    open: Vec<Unanswered>,
    window: (Time, Time),
    /// by link
    pub steps: BTreeMap<LinkId, Steps>,
    pub uncertain: BTreeMap<LinkId, Open>,
}

impl Attempts {
    /// None yet; what is uncertain of them is counted within a window.
    pub(crate) fn new(window: (Time, Time)) -> Attempts {
        Attempts { window, ..Attempts::default() }
    }

    /// Attempts before this time are all told; none where they are.
    pub(crate) fn open_since(&self) -> Option<Time> {
        self.open.iter().map(|rts| rts.at).min()
    }

    /// A data PPDU goes over a link. Gives its attempt, as it begins.
    pub(crate) fn begin(
        &mut self,
        (link, node): (LinkId, NodeId),
        ppdu: &Ppdu,
        (sending, mode): (Sending, Mode),
        durations: &mut Durations,
        events: &mut Events,
    ) -> Begun {
        let tid = ppdu.mpdus.first().map_or(0, |mpdu| mpdu.tid);
        let mpdus = ppdu.mpdus.iter().map(|mpdu| (mpdu.number, mpdu.length, mpdu.is_retry)).collect();
        let sent = Sent { sending, mode, tid, is_ampdu: ppdu.is_ampdu, mpdus };
        let mut later = Vec::new();
        for rts in std::mem::take(&mut self.open) {
            let found = (rts.link == link).then(|| self.find(&rts.announcement, link, &sent, durations)).flatten();
            match found {
                Some(found) => self.announced(&rts, &sent, &found, events),
                None => later.push(rts),
            }
        }
        self.open = later;
        let own = self.links.entry(link).or_default();
        let is_retry = own.is_retry(&sent, sent.mpdus.len());
        own.pass(&sent);
        *own.used.entry(sending).or_default() += 1;
        let (rate, mpdus) = (durations.rate(mode), sent.mpdus.len() as u32);
        if let Some(step) = own.step(rate, is_retry)
            && self.window.0 <= ppdu.start
            && ppdu.start < self.window.1
        {
            let steps = self.steps.entry(link).or_default();
            match step {
                Step::Up => steps.up += 1,
                Step::Down { after_retry } => {
                    steps.down += 1;
                    steps.down_after_retry += u64::from(after_retry);
                }
            }
        }
        own.latest = Some(sent);
        Begun { link, node, rate, mpdus, is_retry }
    }

    /// It has ended, with so many MPDUs acknowledged.
    pub(crate) fn end(at: Time, begun: &Begun, acknowledged: u32, outcome: Outcome, events: &mut Events) {
        let Begun { link, node, rate, mpdus, is_retry: retry } = *begun;
        events.push(at, Event::Told(Record::Attempt { link, node, rate, mpdus, acknowledged, retry, outcome }));
        events.push(at, Event::Attempted(Attempt { link: link.0, rate, mpdus }));
    }

    /// An RTS was not answered.
    pub(crate) fn unanswered(&mut self, at: Time, (link, node): (LinkId, NodeId), announcement: Announcement) {
        self.open.push(Unanswered { at, link, node, announcement });
    }

    /// What stays open for too long at `now` is decided by what was sent before.
    pub(crate) fn decide(&mut self, now: Time, durations: &mut Durations, events: &mut Events) {
        while let Some(place) = self.open.iter().position(|rts| rts.at + LONGEST_OPEN < now) {
            let rts = self.open.remove(place);
            let Some(latest) = self.links.get(&rts.link).and_then(|link| link.latest.clone()) else { continue };
            let found = self.find(&rts.announcement, rts.link, &latest, durations);
            self.uncertain(&rts).guessed += 1;
            let rate = durations.rate(latest.mode);
            let found = found.unwrap_or(Found { rate, mpdus: latest.mpdus.len(), between: (rate, rate) });
            // Which MPDUs it was about is not known: those of before it was not.
            self.settle(&rts, &found, false, events);
        }
    }

    /// What comes before MPDU `start` of a TID is given up, as a BlockAckReq says: RTS were about that.
    pub(crate) fn given_up(
        &mut self,
        link: LinkId,
        (tid, start): (u8, u16),
        durations: &mut Durations,
        events: &mut Events,
    ) {
        let Some(latest) = self.links.get(&link).and_then(|link| link.latest.clone()) else { return };
        if latest.tid != tid {
            return;
        }
        // Those that were on the air before are retries from the first RTS on.
        let mut is_retry = latest.mpdus.iter().any(|(number, ..)| (number + 1) % 4096 == start);
        for rts in std::mem::take(&mut self.open) {
            let found = (rts.link == link).then(|| self.find(&rts.announcement, link, &latest, durations)).flatten();
            let Some(found) = found else {
                self.open.push(rts);
                continue;
            };
            self.settle(&rts, &found, is_retry, events);
            is_retry = true;
        }
    }

    /// What is not known for certain of an RTS, if it counts; else what is counted of nothing.
    fn uncertain(&mut self, rts: &Unanswered) -> &mut Open {
        let is_measured = self.window.0 <= rts.at && rts.at < self.window.1;
        // Numbers of links end before this one.
        let link = if is_measured { rts.link } else { LinkId(u32::MAX) };
        self.uncertain.entry(link).or_default()
    }

    /// An RTS was about the first MPDUs of what is sent now.
    fn announced(&mut self, rts: &Unanswered, sent: &Sent, found: &Found, events: &mut Events) {
        let own = self.links.entry(rts.link).or_default();
        let is_retry = own.is_retry(sent, found.mpdus);
        if let Some(last) = number_of(&sent.mpdus, found.mpdus) {
            let until = own.announced_until.entry(sent.tid).or_insert(last);
            if is_after(last, *until) {
                *until = last;
            }
        }
        self.settle(rts, found, is_retry, events);
    }

    fn settle(&mut self, rts: &Unanswered, found: &Found, is_retry: bool, events: &mut Events) {
        let (rate, mpdus) = (found.rate, found.mpdus as u32);
        if found.between.0 < found.between.1 {
            let open = self.uncertain(rts);
            open.ambiguous += 1;
            open.rates_below += rate.as_bps() - found.between.0.as_bps();
            open.rates_above += found.between.1.as_bps() - rate.as_bps();
        }
        let begun = Begun { link: rts.link, node: rts.node, rate, mpdus, is_retry };
        Attempts::end(rts.at, &begun, 0, Outcome::Noise, events);
    }

    /// The mode and how many MPDUs, those of `sent` first, fill what was announced.
    fn find(&self, announcement: &Announcement, link: LinkId, sent: &Sent, durations: &mut Durations) -> Option<Found> {
        let known = self.links.get(&link);
        let used = |sending: &Sending| known.and_then(|link| link.used.get(sending)).copied().unwrap_or(0);
        let count = sent.mpdus.len();
        let mut best: Option<(_, Found)> = None;
        // Rates at which as many MPDUs last as long, and at which any number does.
        let (mut alike, mut all) = (Vec::new(), Vec::new());
        for sending in sent.sending.alike() {
            let Some(mode) = durations.mode(sending) else { continue };
            let Some(n) = announcement.fitting(mode, sent, durations) else { continue };
            // What is sent again as it was, before as many in another mode, before others; then what is used most.
            let is_same = sending == sent.sending && n == count;
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
}

/// A step of the rate.
enum Step {
    Up,
    Down { after_retry: bool },
}

impl Link {
    /// Something is sent; a step if it is new and goes at another rate than what was new before it.
    fn step(&mut self, rate: DataRate, is_retry: bool) -> Option<Step> {
        if is_retry {
            self.has_retried = true;
            return None;
        }
        let after_retry = std::mem::take(&mut self.has_retried);
        let before = self.begins_at.replace(rate)?;
        match rate.cmp(&before) {
            std::cmp::Ordering::Greater => Some(Step::Up),
            std::cmp::Ordering::Less => Some(Step::Down { after_retry }),
            std::cmp::Ordering::Equal => None,
        }
    }

    /// Whether some of the first `count` MPDUs were tried before, on the air or by an RTS.
    fn is_retry(&self, sent: &Sent, count: usize) -> bool {
        let until = self.announced_until.get(&sent.tid);
        let mut first = sent.mpdus.iter().take(count.max(1));
        first.any(|(number, _, is_retry)| *is_retry || until.is_some_and(|until| !is_after(*number, *until)))
    }

    /// What was announced in vain is forgotten when later MPDUs alone are sent.
    fn pass(&mut self, sent: &Sent) {
        let until = self.announced_until.get(&sent.tid);
        if until.is_some_and(|until| sent.mpdus.iter().all(|(number, ..)| is_after(*number, *until))) {
            self.announced_until.remove(&sent.tid);
        }
    }
}

impl Announcement {
    /// With how many MPDUs, those of `sent` first, a data PPDU and its answer fill what is announced: of several numbers the
    /// one nearest to that of `sent`.
    fn fitting(&self, mode: Mode, sent: &Sent, durations: &Durations) -> Option<usize> {
        let told = u64::from(self.duration_us) * 1000;
        let (most, count) = (if sent.is_ampdu { MOST_MPDUS } else { 1 }, sent.mpdus.len());
        let needs = |psdu| durations.behind_rts(self.mode, mode, psdu, sent.is_ampdu).as_nanos();
        let filled = psdus(sent).take(most).zip(1_usize..).map(|(psdu, n)| (needs(psdu), n));
        let near = filled.take_while(|(needs, _)| *needs <= told + ROUNDING_NS.0);
        let fits = near.filter(|(needs, _)| told < needs + ROUNDING_NS.1);
        fits.map(|(_, n)| n).min_by_key(|n| n.abs_diff(count))
    }
}

/// Bytes of PSDUs with the first MPDUs of one: with one, two and so on, as long as the longest where there are not so many.
fn psdus(sent: &Sent) -> impl Iterator<Item = u32> {
    let longest = sent.mpdus.iter().map(|mpdu| mpdu.1).max().unwrap_or(0);
    let lengths = sent.mpdus.iter().map(|mpdu| mpdu.1).chain(std::iter::repeat(longest));
    lengths.scan(0, |bytes: &mut u32, length| {
        *bytes = if sent.is_ampdu { bytes.next_multiple_of(4) + AMPDU_DELIMITER as u32 + length } else { length };
        Some(*bytes)
    })
}

/// The number of the last of `count` MPDUs that begin with these.
fn number_of(mpdus: &[(u16, u32, bool)], count: usize) -> Option<u16> {
    let known = mpdus.get(count.saturating_sub(1)).map(|mpdu| mpdu.0);
    known.or_else(|| mpdus.last().map(|last| (last.0 + (count - mpdus.len()) as u16) % 4096))
}

/// Whether a sequence number is later than another. [802.11-2020 §10.3.2.14]
fn is_after(number: u16, other: u16) -> bool {
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
        Sent { sending, mode, tid: 0, is_ampdu: true, mpdus: mpdus.to_vec() }
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
            let announcement = Announcement { duration_us, mode: rts };
            let found = Attempts::default().find(&announcement, LinkId(0), &follows, &mut durations).unwrap();
            assert_eq!((found.rate.as_bps(), found.mpdus), (rate, count));
        }
    }

    #[test]
    fn what_an_rts_announced_in_vain_is_a_retry_though_no_frame_says_so() {
        let mut durations = Durations::default();
        let mut link = Link::default();
        link.announced_until.insert(0, 11);
        let first = sent(3, &[(10, 1500, false), (11, 1500, false)], &mut durations);
        let second = sent(3, &[(12, 1500, false)], &mut durations);
        assert!(link.is_retry(&first, 2) && !link.is_retry(&second, 1));
        link.pass(&second);
        assert!(link.announced_until.is_empty());
    }

    #[test]
    fn numbers_are_compared_round_the_corner() {
        assert!(is_after(3, 4090) && !is_after(4090, 3) && !is_after(7, 7));
        assert_eq!(number_of(&[(4094, 1, false), (4095, 1, false)], 3), Some(0));
    }
}
