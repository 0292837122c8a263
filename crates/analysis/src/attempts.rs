//! Attempts to send data: the outcome of each, its rate, and whether it was a retry.
//!
//! An RTS without an answer announces a PPDU that is never heard. Its Duration field gives the PPDU's length
//! [802.11-2020 §9.3.1.2], and the next data PPDU over the link shows its MPDUs: the RTS announced the mode and the
//! number of MPDUs, counted from the first of the next attempt, that fill the time.
//!
//! ```text
//!  RTS |==|                                  Duration: SIFS CTS SIFS |=====data=====| SIFS answer
//!  later       |==| |==| |=======data=======| |==|      its first MPDUs are those that the RTS was about
//! ```

use std::collections::BTreeMap;

use lasthop_observe::{LinkId, NodeId, Outcome, Record};
use lasthop_units::{DataRate, Duration, Time};

use crate::announcement::{Announcement, Found, Sent, is_after, number_of};
use crate::bounds::{Bounds, Kept};
use crate::durations::{Durations, Mode, Sending};
use crate::events::{Attempt, Event, Events};
use crate::ppdu::Ppdu;

/// Longest time for which an RTS's announcement stays open: enough for a station among many contenders.
const LONGEST_OPEN: Duration = Duration::from_millis(500);

/// In place of an unknown rate.
const NO_RATE: DataRate = DataRate::from_bps(0);

/// An RTS without a CTS, whose announcement is not resolved yet.
#[derive(Clone, Copy, Debug)]
struct Unanswered {
    /// time at which it ended
    at: Time,
    link: LinkId,
    node: NodeId,
    announcement: Announcement,
}

/// An attempt that has begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begun {
    pub link: LinkId,
    pub node: NodeId,
    /// none if it is unknown
    pub rate: Option<DataRate>,
    /// the rate, or the latest rate of the link
    pub near_rate: DataRate,
    pub mpdus: u32,
    pub is_retry: bool,
}

/// The state of one link.
#[derive(Clone, Debug, Default)]
struct Link {
    latest: Option<Sent>,
    /// Whether that PPDU was heard to be lost in whole: a retransmission of it is due.
    lost: bool,
    /// the latest rate that was known
    rate: Option<DataRate>,
    /// number of uses of each mode
    used: BTreeMap<Sending, u64>,
    /// by TID: the last MPDU announced by an RTS that was not answered
    announced_until: BTreeMap<u8, u16>,
    /// the latest rate of new MPDUs, and whether there was a retry since
    begins_at: Option<DataRate>,
    has_retried: bool,
}

/// RTS of a link that were not answered, and whose announcement is uncertain.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Open {
    /// no PPDU followed that they could have announced: they count as a repetition of the PPDU before them
    pub guessed: u64,
    /// PPDUs of several rates would last as long: they count with the most used one
    pub ambiguous: u64,
    /// sums of rates in bit/s: possible error of the attempts' rates, too high and too low
    pub rates_below: u64,
    pub rates_above: u64,
}

/// Steps of the rate of first attempts at new MPDUs, as seen on the air: those of a rate control, and its probes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Steps {
    pub up: u64,
    pub down: u64,
    /// number of these that follow a retry
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
    pub bounds: Bounds,
}

impl Attempts {
    /// No attempts yet; uncertain ones are counted within a window.
    pub(crate) fn new(window: (Time, Time), bounds: Bounds) -> Attempts {
        Attempts { window, bounds, ..Attempts::default() }
    }

    /// The time up to which all attempts are reported; none if all are.
    pub(crate) fn open_since(&self) -> Option<Time> {
        self.open.iter().map(|rts| rts.at).min()
    }

    /// Begins the attempt of a data PPDU over a link.
    pub(crate) fn begin(
        &mut self,
        (link, node): (LinkId, NodeId),
        ppdu: &Ppdu,
        mode: Option<(Sending, Mode)>,
        durations: &mut Durations,
        events: &mut Events,
    ) -> Begun {
        let tid = ppdu.mpdus.first().map_or(0, |mpdu| mpdu.tid);
        let mpdus = ppdu.mpdus.iter().map(|mpdu| (mpdu.number, mpdu.length, mpdu.is_retry)).collect();
        let sent = Sent { mode, tid, is_ampdu: ppdu.is_ampdu, mpdus };
        let mut later = Vec::new();
        for rts in std::mem::take(&mut self.open) {
            let found = (rts.link == link).then(|| self.find(&rts, &sent, durations)).flatten();
            match found {
                Some(found) => self.announced(&rts, &sent, &found, events),
                None => later.push(rts),
            }
        }
        self.open = later;
        let own = self.links.entry(link).or_default();
        let is_retry = own.is_retry(&sent, sent.mpdus.len());
        own.pass(&sent);
        if let Some((sending, _)) = mode {
            *own.used.entry(sending).or_default() += 1;
        }
        let (rate, mpdus) = (mode.map(|(_, mode)| durations.rate(mode)), sent.mpdus.len() as u32);
        if let Some(step) = rate.and_then(|rate| own.step(rate, is_retry))
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
        own.rate = rate.or(own.rate);
        (own.latest, own.lost) = (Some(sent), false);
        Begun { link, node, rate, near_rate: own.rate.unwrap_or(NO_RATE), mpdus, is_retry }
    }

    /// Ends an attempt, with this many MPDUs acknowledged.
    pub(crate) fn end(at: Time, begun: &Begun, acknowledged: u32, outcome: Outcome, events: &mut Events) {
        let Begun { link, node, rate, near_rate, mpdus, is_retry: retry } = *begun;
        let attempt = Attempt { link: link.0, rate, mpdus };
        // A link has no mean rate if the rates of more than a few attempts are unknown.
        let rate = near_rate;
        events.push(at, Event::Told(Record::Attempt { link, node, rate, mpdus, acknowledged, retry, outcome }));
        events.push(at, Event::Attempted(attempt));
    }

    /// The latest PPDU of a link was not acknowledged.
    pub(crate) fn lost(&mut self, link: LinkId) {
        self.links.entry(link).or_default().lost = true;
    }

    /// An RTS was not answered.
    pub(crate) fn unanswered(&mut self, at: Time, (link, node): (LinkId, NodeId), announcement: Announcement) {
        if self.bounds.admits(Kept::UnansweredRts, self.open.len()) {
            self.open.push(Unanswered { at, link, node, announcement });
        }
    }

    /// Resolves announcements that have been open for too long at `now` by the PPDU sent before.
    pub(crate) fn decide(&mut self, now: Time, durations: &mut Durations, events: &mut Events) {
        while let Some(place) = self.open.iter().position(|rts| rts.at + LONGEST_OPEN < now) {
            let rts = self.open.remove(place);
            let Some(latest) = self.links.get(&rts.link).and_then(|link| link.latest.clone()) else { continue };
            let found = self.find(&rts, &latest, durations);
            self.uncertain(&rts).guessed += 1;
            let rate = latest.mode.map(|(_, mode)| durations.rate(mode));
            let found =
                found.or_else(|| rate.map(|rate| Found { rate, mpdus: latest.mpdus.len(), between: (rate, rate) }));
            // The MPDUs announced are unknown: those of the PPDU before were not sent again.
            match found {
                Some(found) => self.settle(&rts, &found, false, events),
                None => {
                    let (link, node, mpdus) = (rts.link, rts.node, latest.mpdus.len() as u32);
                    let begun = Begun { link, node, rate: None, near_rate: NO_RATE, mpdus, is_retry: false };
                    Attempts::end(rts.at, &begun, 0, Outcome::Unknown, events);
                }
            }
        }
    }

    /// A BlockAckReq gives up MPDUs before `start` of a TID: open RTS had announced these.
    pub(crate) fn given_up(
        &mut self,
        link: LinkId,
        (tid, start): (u8, u16),
        durations: &mut Durations,
        events: &mut Events,
    ) {
        let Some(own) = self.links.get(&link) else { return };
        let Some(latest) = own.latest.clone().filter(|latest| latest.tid == tid) else { return };
        // MPDUs that were on the air before are retries from the first RTS on.
        let mut is_retry = own.lost || latest.mpdus.iter().any(|(number, ..)| (number + 1) % 4096 == start);
        for rts in std::mem::take(&mut self.open) {
            let found = (rts.link == link).then(|| self.find(&rts, &latest, durations)).flatten();
            let Some(found) = found else {
                self.open.push(rts);
                continue;
            };
            self.settle(&rts, &found, is_retry, events);
            is_retry = true;
        }
    }

    /// The counter of uncertain RTS of its link, if it counts; else a counter that is not reported.
    fn uncertain(&mut self, rts: &Unanswered) -> &mut Open {
        let is_measured = self.window.0 <= rts.at && rts.at < self.window.1;
        // Numbers of links end before this one.
        let link = if is_measured { rts.link } else { LinkId(u32::MAX) };
        self.uncertain.entry(link).or_default()
    }

    /// An RTS had announced the first MPDUs of the PPDU sent now.
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
        let (link, node) = (rts.link, rts.node);
        let begun = Begun { link, node, rate: Some(rate), near_rate: rate, mpdus, is_retry };
        Attempts::end(rts.at, &begun, 0, Outcome::Unknown, events);
    }

    /// The PPDU that an RTS announced, if it matches the one sent over its link now or before.
    fn find(&self, rts: &Unanswered, sent: &Sent, durations: &mut Durations) -> Option<Found> {
        let known = self.links.get(&rts.link);
        let used = |sending: &Sending| known.and_then(|link| link.used.get(sending)).copied().unwrap_or(0);
        rts.announcement.find(sent, used, durations)
    }
}

/// A step of the rate.
enum Step {
    Up,
    Down { after_retry: bool },
}

impl Link {
    /// Registers a PPDU; a step if it is new and its rate differs from that of the last new one.
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

    /// Forgets announced MPDUs once only later MPDUs are sent.
    fn pass(&mut self, sent: &Sent) {
        let until = self.announced_until.get(&sent.tid);
        if until.is_some_and(|until| sent.mpdus.iter().all(|(number, ..)| is_after(*number, *until))) {
            self.announced_until.remove(&sent.tid);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_wire::radiotap::{Mcs, Radiotap};

    #[test]
    fn data_announced_by_a_failed_rts_is_a_retry_without_a_retry_bit() {
        let sending = Sending::of(&Radiotap { mcs: Some(Mcs::mixed(3, 20, false)), ..Radiotap::default() }).unwrap();
        let mode = Durations::default().mode(sending).unwrap();
        let sent = |mpdus: &[_]| Sent { mode: Some((sending, mode)), tid: 0, is_ampdu: true, mpdus: mpdus.to_vec() };
        let mut link = Link::default();
        link.announced_until.insert(0, 11);
        let first = sent(&[(10, 1500, false), (11, 1500, false)]);
        let second = sent(&[(12, 1500, false)]);
        assert!(link.is_retry(&first, 2) && !link.is_retry(&second, 1));
        link.pass(&second);
        assert!(link.announced_until.is_empty());
    }
}
