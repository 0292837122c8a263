//! The frames on the air: their senders and durations, and their answers.
//!
//! ```text
//!  data      |=========|                            answered: the attempt ends with the answer
//!  Ack                 <SIFS>|==|
//!  data      |=========|                            not answered: the attempt ends with its frame
//!                      <SIFS + slot>  nothing
//! ```
//!
//! The duration of some PPDUs is unknown, and some clocks are coarse. Such a frame waits for its answer until its sender
//! sends again or another frame is answered; its airtime and its rate stay unknown.

use std::collections::{BTreeMap, VecDeque};

use lasthop_observe::{LinkId, Outcome, Record};
use lasthop_units::{Duration, Time};
use lasthop_wire::ieee80211::BlockAck;

use crate::aids::Aids;
use crate::announcement::Announcement;
use crate::attempts::Attempts;
use crate::bounds::{Bounds, Kept};
use crate::durations::{Durations, Mode};
use crate::events::{Event, Events};
use crate::hidden::Sensed;
use crate::modes::{LatestExchange, Tried};
use crate::mpdus::Mpdus;
use crate::parts::{Part, Parts, TOGETHER};
use crate::ppdu::{Kind, Ppdu};
use crate::recording::{self, Ends};
use crate::site::{Site, id};
use crate::stamps::{CLOCK, Stamps};
use crate::tally::AirTally;
use crate::waiting::{Sent, Waiting, answers, is_answer};

/// Bytes of the longest PSDU, of HE. [802.11ax-2021 Table 27-55]
const LONGEST_PSDU: u32 = 6_500_631;
/// An answer comes no later after the beginning of its frame: 2,304 bytes take 19 ms at 1 Mbit/s.
const LATEST_ANSWER: Duration = Duration::from_millis(20);
/// SIFS and a slot of OFDM, for PPDUs whose PHY has no mode here. [802.11-2020 Table 17-21]
const ANSWER_OF_OFDM: Duration = Duration::from_micros(25);

/// The air as heard by one sniffer.
pub(crate) struct Air {
    pub durations: Durations,
    pub tally: AirTally,
    window: (Time, Time),
    stamps: Stamps,
    is_recorded: bool,
    /// PPDUs whose frames may not be complete
    open: VecDeque<Ppdu>,
    waiting: Vec<Waiting>,
    mpdus: Mpdus,
    attempts: Attempts,
    exchange: LatestExchange,
    /// node whose RTS was answered last
    announced: Option<u32>,
    /// end of the latest PPDU of each node, with a coarse clock
    latest_ends: BTreeMap<u32, Time>,
    /// of the latest PPDU of several users
    parts: Parts,
    /// the numbers of stations that answers to several name
    stations: Aids,
    pub bounds: Bounds,
}

/// The nodes and the link of a PPDU, as far as they are known.
#[derive(Clone, Copy)]
struct Path {
    from: Option<u32>,
    to: Option<u32>,
    link: Option<LinkId>,
}

/// The number of the channel of a PPDU.
fn channel_of(ppdu: &Ppdu, site: &Site) -> u32 {
    let channel = ppdu.channel_mhz.and_then(|mhz| site.channels.iter().position(|own| *own == mhz));
    channel.unwrap_or(0) as u32
}

/// The time of a PPDU on the air. Without a known duration it ends when it begins.
#[derive(Clone, Copy)]
struct Lasting {
    start: Time,
    end: Time,
    is_known: bool,
    mode: Option<Mode>,
}

impl Air {
    pub(crate) fn new(site: &Site, window: (Time, Time), stamps: Stamps, is_recorded: bool, bounds: &Bounds) -> Air {
        Air {
            durations: Durations::default(),
            tally: AirTally::new(site.link_ends.len()),
            window,
            stamps,
            is_recorded,
            open: VecDeque::new(),
            waiting: Vec::new(),
            mpdus: Mpdus::new(site.aps as u32, site.air.unwrap_or(0), bounds.clone()),
            attempts: Attempts::new(window, bounds.clone()),
            bounds: bounds.clone(),
            exchange: LatestExchange::default(),
            announced: None,
            latest_ends: BTreeMap::new(),
            parts: Parts::default(),
            stations: Aids::default(),
        }
    }

    /// Handles a frame that was heard.
    pub(crate) fn hear(&mut self, at: Time, heard: &crate::frame::Heard<'_>, site: &Site, events: &mut Events) {
        if self.is_measured(at) {
            self.tally.count_frame(heard);
        }
        if let Some(ppdu) = self.open.iter_mut().rev().find(|ppdu| ppdu.shares(at, heard) == Some(true)) {
            return ppdu.add(at, heard);
        }
        if self.goes_on_with_latest(at, heard)
            && let Some(latest) = self.open.back_mut()
        {
            latest.is_guessed = true;
            return latest.add(at, heard);
        }
        let Some(next) = Ppdu::begin(at, heard) else { return };
        if !self.stamps.is_coarse() && self.open.back().is_some_and(|ppdu| ppdu.is_copied_by(&next)) {
            self.tally.captured_twice += u64::from(self.is_measured(at));
            return;
        }
        // Frames of two PPDUs that begin together come in any order by a clock with jitter.
        let over = next.start - self.stamps.hold();
        self.open.push_back(next);
        while self.open.len() > 1
            && (self.open[0].start <= over || !self.bounds.admits(Kept::OpenPpdus, self.open.len()))
        {
            self.flush(site, events);
        }
    }

    /// Whether a frame belongs to the PPDU before it by its order.
    fn goes_on_with_latest(&mut self, at: Time, heard: &crate::frame::Heard<'_>) -> bool {
        let Some(ppdu) = self.open.back() else { return false };
        ppdu.shares(at, heard).is_none()
            && ppdu.goes_on_with(heard)
            && is_near(ppdu, at, heard.length, &self.stamps, &mut self.durations)
    }

    /// Later frames are not before `at`. Returns the time up to which everything is known.
    pub(crate) fn known_until(&mut self, at: Time, events: &mut Events) -> Time {
        let until = self.open.iter().map(|ppdu| ppdu.start).chain(self.parts.since()).fold(at, Time::min);
        // A stamp of its end is at most this long after the beginning of a PPDU.
        let until = if self.stamps.is_of_end() { until - LATEST_ANSWER } else { until };
        self.give_up(until, events);
        self.attempts.decide(until, &mut self.durations, events);
        let open = self.attempts.open_since().unwrap_or(until);
        self.waiting.iter().map(|waiting| waiting.ended).fold(until.min(open), Time::min)
    }

    /// Handles the end of the capture.
    pub(crate) fn end(&mut self, site: &Site, events: &mut Events) {
        while !self.open.is_empty() {
            self.flush(site, events);
        }
        self.settle_parts(events);
        // A frame without an answer at the end of the capture has not necessarily failed.
        self.waiting.clear();
        self.attempts.decide(Time::NEVER, &mut self.durations, events);
        self.tally.steps = std::mem::take(&mut self.attempts.steps);
        for (link, open) in &self.attempts.uncertain {
            if let Some(tally) = self.tally.links.get_mut(link.index()) {
                tally.rts_open = *open;
            }
        }
        self.mpdus.add_to(&mut self.tally.missed);
        self.bounds.add(&self.mpdus.bounds);
        self.bounds.add(&self.attempts.bounds);
    }

    fn is_measured(&self, at: Time) -> bool {
        self.window.0 <= at && at < self.window.1
    }

    /// Gives up frames whose answer had to begin before `at`.
    fn give_up(&mut self, at: Time, events: &mut Events) {
        self.give_up_if(events, |waiting| waiting.deadline < at);
    }

    fn give_up_if(&mut self, events: &mut Events, is_over: impl Fn(&Waiting) -> bool) {
        while let Some(place) = self.waiting.iter().position(&is_over) {
            let waiting = self.waiting.swap_remove(place);
            self.record_end(&waiting, Some(0), false, events);
            self.attempted(waiting.ended, &waiting, 0, events);
        }
    }

    /// All frames of the first open PPDU were heard.
    fn flush(&mut self, site: &Site, events: &mut Events) {
        let Some(mut ppdu) = self.open.pop_front() else { return };
        let next = self.open.front();
        let is_ack = next.is_some_and(|next| next.kind == Kind::Ack && Some(next.receiver) == ppdu.transmitter);
        if ppdu.is_guessed && is_ack {
            for mut alone in ppdu.apart() {
                alone.close(None);
                self.pass(alone, site, events);
            }
            return;
        }
        ppdu.close(next);
        self.pass(ppdu, site, events);
    }

    /// Handles a whole PPDU.
    fn pass(&mut self, mut ppdu: Ppdu, site: &Site, events: &mut Events) {
        self.bounds.admits(Kept::MpdusOfAPpdu, ppdu.mpdus.len().saturating_sub(1));
        let lasting = self.lasting(&ppdu);
        ppdu.start = lasting.start;
        self.give_up(ppdu.start, events);
        let to = site.node_of.get(&ppdu.receiver).copied();
        let told = ppdu.transmitter.and_then(|mac| site.node_of.get(&mac)).copied();
        let path = match ppdu.kind {
            _ if ppdu.is_for_several() => {
                if !self.answer_several(&ppdu, told, lasting.end, events) {
                    ppdu.acked.clear();
                }
                Path { from: told, to: None, link: None }
            }
            _ if ppdu.is_unread_answer() => {
                self.forget(told, to, events);
                Path { from: told, to, link: told.zip(to).and_then(|(from, to)| site.link(from, to)) }
            }
            kind if is_answer(kind) => self.answer(&ppdu, told, to, lasting.end, site, events),
            _ => Path { from: told, to, link: told.zip(to).and_then(|(from, to)| site.link(from, to)) },
        };
        if self.is_measured(ppdu.start) {
            let known = (lasting.is_known, lasting.mode.is_some());
            self.tally.count_ppdu(&ppdu, known, (path.from, path.link));
        }
        self.tally.is_cut_off |= ppdu.is_cut_off;
        self.stations.learn(&ppdu, (path.from, to));
        let part = ppdu.unit.filter(|_| lasting.is_known).map(|unit| {
            let (channel, Path { from, link, .. }) = (channel_of(&ppdu, site), path);
            Part { start: lasting.start, end: lasting.end, unit, channel, kind: ppdu.kind, node: from, link }
        });
        if !part.is_some_and(|part| self.parts.go_on_with(&part)) {
            self.settle_parts(events);
        }
        match part {
            Some(part) => self.parts.push(part),
            None if lasting.is_known => self.occupy(&ppdu, lasting, path, site, events),
            None => {}
        }
        let waits = ppdu.wants_answer && !self.asks_again(&ppdu, path) && path.from.is_some() && path.to.is_some();
        if let (Some(from), false, true, Some(_)) = (path.from, waits, self.is_recorded, lasting.mode) {
            let goes_on = ppdu.kind == Kind::Cts;
            let initiator = to.filter(|_| is_answer(ppdu.kind)).unwrap_or(from);
            let detail = recording::ends(from, initiator, ppdu.mpdus.len().max(1) as u32, None, goes_on);
            events.push(lasting.end, Event::Detail(detail));
        }
        if let (Some(from), Some(to), Kind::Data) = (path.from, path.to, ppdu.kind) {
            let measured = self.is_measured(ppdu.start);
            let mut tally = path.link.filter(|_| measured).map(|link| &mut self.tally.links[link.index()]);
            self.mpdus.read(&ppdu, (from, to), lasting.end, events, |mpdu, shows_unheard| {
                if let Some(tally) = &mut tally {
                    tally.count(mpdu, shows_unheard);
                }
            });
        }
        if let (Some(link), Some(request)) = (path.link, ppdu.requests) {
            self.attempts.given_up(link, request, &mut self.durations, events);
        }
        if let (Some(from), Some(to), true) = (path.from, path.to, waits) {
            self.wait(&ppdu, (from, to, path.link), lasting, events);
        }
    }

    /// Whether a BlockAckReq only asks for the answer to data that wait for it: those of a PPDU for several.
    fn asks_again(&self, ppdu: &Ppdu, Path { from, to, .. }: Path) -> bool {
        let asked = |waiting: &Waiting| waiting.is_joint && (Some(waiting.from), Some(waiting.to)) == (from, to);
        ppdu.kind == Kind::BlockAckReq && self.waiting.iter().any(asked)
    }

    /// The beginning and the end of a PPDU.
    fn lasting(&mut self, ppdu: &Ppdu) -> Lasting {
        let mode = ppdu.sending.filter(|_| ppdu.bytes <= LONGEST_PSDU);
        let mode = mode.and_then(|sending| self.durations.mode(sending));
        let duration = mode.map(|mode| self.durations.ppdu(mode, ppdu.bytes)).or(ppdu.told);
        let lasts = duration.unwrap_or(Duration::ZERO);
        let start = if self.stamps.is_of_end() { ppdu.latest - lasts } else { ppdu.start };
        Lasting { start, end: start + lasts, is_known: duration.is_some(), mode }
    }

    /// The PPDU of several users before this one is whole.
    fn settle_parts(&mut self, events: &mut Events) {
        let tally = &mut self.tally;
        self.parts.settle(self.window, events, |part, share| match part.node {
            Some(node) => tally.spent.entry((node, part.kind)).or_default().time += share,
            None => tally.airtime_of_others += share,
        });
    }

    /// Puts the PPDU on the air from its start to its end.
    fn occupy(&mut self, ppdu: &Ppdu, lasting: Lasting, path: Path, site: &Site, events: &mut Events) {
        let Lasting { start, end, mode, .. } = lasting;
        let within = end.min(self.window.1).since(start.max(self.window.0));
        let channel = channel_of(ppdu, site);
        events.push(start, Event::OnAir { channel, begins: true });
        events.push(end, Event::OnAir { channel, begins: false });
        let Path { from, to, link } = path;
        let Some(from) = from else {
            self.tally.airtime_of_others += within;
            return;
        };
        self.tally.spent.entry((from, ppdu.kind)).or_default().time += within;
        let node = id(from);
        if let Some(mode) = mode {
            let ends = Ends { from, to, channel, link };
            if self.is_recorded
                && let Some(detail) = recording::begins(ppdu, mode, &ends, site, &self.durations)
            {
                events.push(start, Event::Detail(detail));
            }
            let sensed = Sensed { start, end, channel, from, to };
            let (times, clock) = (self.durations.slot_and_sifs(mode), self.stamps.tolerance());
            let counts = self.is_measured(start);
            self.tally.hidden.begin(&sensed, times, clock, counts, &mut self.bounds);
        }
        let start = self.free_since(from, start, end);
        let end = start + lasting.end.since(lasting.start);
        events.push(start, Event::Told(Record::TransmitterOn { node, link }));
        events.push(end, Event::Told(Record::Airtime { node, link, duration: end.since(start) }));
    }

    /// The first time from `start` on at which a node is not sending already: by a coarse clock its PPDUs overlap.
    fn free_since(&mut self, node: u32, start: Time, end: Time) -> Time {
        if !self.stamps.is_coarse() {
            return start;
        }
        let latest = self.latest_ends.entry(node).or_insert(start);
        let free = start.max(*latest);
        *latest = free + end.since(start);
        free
    }

    /// An answer to one node or several acknowledges some of their frames: the outcomes are unknown.
    fn forget(&mut self, from: Option<u32>, to: Option<u32>, events: &mut Events) {
        let is_answered = |waiting: &Waiting| Some(waiting.to) == from && to.is_none_or(|to| waiting.from == to);
        while let Some(place) = self.waiting.iter().position(is_answered) {
            let waiting = self.waiting.swap_remove(place);
            self.record_end(&waiting, None, false, events);
        }
    }

    /// Handles an answer of an access point to several stations: the MPDUs in the record of a station have arrived, and nothing of
    /// stations that it does not name. The outcome for a station whose AID is unknown is unknown: returns whether there is none.
    fn answer_several(&mut self, ppdu: &Ppdu, ap: Option<u32>, end: Time, events: &mut Events) -> bool {
        let Some(ap) = ap.filter(|_| ppdu.is_good) else { return true };
        let measured = self.is_measured(ppdu.start);
        let known = |of: &Air, waiting: &Waiting| {
            let named = of.stations.aid(ap, waiting.from).filter(|_| waiting.to == ap && waiting.is_triggered);
            let told = |aid: &u16| ppdu.has_all_records || ppdu.acked.iter().any(|of| of.aid == *aid);
            named.filter(told).map(|aid| (waiting.from, aid))
        };
        while let Some((from, aid)) = self.waiting.iter().find_map(|waiting| known(self, waiting)) {
            let place = self.waiting.iter().position(|waiting| waiting.from == from).expect("it waits");
            let waiting = self.waiting.swap_remove(place);
            let mut acknowledged = 0;
            if let Some(of) = ppdu.acked.iter().find(|of| of.aid == aid) {
                let block_ack = BlockAck { tid: of.tid, start: of.start, bitmap: of.bitmap, ..BlockAck::default() };
                // A missed trigger hides that its MPDUs were seen, so that these answers are no measure of the frames missed.
                let told = self.mpdus.acknowledge(&block_ack, &waiting.mpdus, (Some(ap), waiting.from), None);
                acknowledged = self.arrived(&waiting, &told, measured);
            }
            self.exchange.ended(waiting.from, end);
            self.record_end(&waiting, Some(acknowledged), false, events);
            self.attempted(end, &waiting, acknowledged, events);
        }
        let are_all = !self.waiting.iter().any(|waiting| waiting.to == ap);
        self.forget(Some(ap), None, events);
        are_all
    }

    /// Counts the MPDUs of a frame that an answer acknowledges, and returns how many they are.
    fn arrived(&mut self, waiting: &Waiting, told: &[u16], measured: bool) -> u32 {
        let of_psdu = |mpdus: &[u16]| mpdus.iter().filter(|number| told.contains(number)).count() as u32;
        let (acknowledged, again) = (of_psdu(&waiting.mpdus), of_psdu(&waiting.again));
        if let Some(link) = waiting.link.filter(|_| measured && waiting.kind == Kind::Data) {
            let tally = &mut self.tally.links[link.index()];
            tally.arrived += u64::from(acknowledged);
            tally.arrived_again += u64::from(again);
        }
        acknowledged
    }

    /// Handles an answer: its receiver has waited for it.
    fn answer(
        &mut self,
        ppdu: &Ppdu,
        told: Option<u32>,
        to: Option<u32>,
        end: Time,
        site: &Site,
        events: &mut Events,
    ) -> Path {
        let place = self.waiting.iter().position(|waiting| {
            Some(waiting.from) == to && told.is_none_or(|from| from == waiting.to) && answers(ppdu.kind, waiting)
        });
        let waiting = place.map(|place| self.waiting.swap_remove(place));
        if ppdu.is_good {
            self.give_up_if(events, |waiting| waiting.until_other && !waiting.is_joint);
        }
        let measured = self.is_measured(ppdu.start) && ppdu.is_good;
        // A CTS may be a CTS-to-self, and a BlockAck is counted by MPDU.
        if measured && to.is_some() && ppdu.kind == Kind::Ack {
            self.tally.missed.answer(waiting.is_some());
        }
        let (from, link) = match &waiting {
            Some(waiting) => (Some(waiting.to), site.link(waiting.to, waiting.from)),
            // Stations are answered by their AP; a CTS that answers nothing is a CTS-to-self.
            None if ppdu.kind == Kind::Cts => (to, None),
            None => {
                let from =
                    told.or_else(|| to.map(|to| (to, site.nodes[to as usize].ap)).filter(|(a, b)| a != b).map(|p| p.1));
                (from, from.zip(to).and_then(|(from, to)| site.link(from, to)))
            }
        };
        let mut acknowledged = u32::from(ppdu.is_good && ppdu.kind == Kind::Ack);
        let mut again = waiting.as_ref().map_or(0, |waiting| waiting.again.len() as u32).min(acknowledged);
        if let (Some(block_ack), Some(originator), true) = (&ppdu.block_ack, to, ppdu.is_good) {
            let missed = measured.then_some(&mut self.tally.missed);
            let sent = waiting.as_ref().map_or(&[][..], |waiting| &waiting.mpdus);
            let told = self.mpdus.acknowledge(block_ack, sent, (from, originator), missed);
            let of_psdu = |mpdus: &[u16]| mpdus.iter().filter(|number| told.contains(number)).count() as u32;
            acknowledged = waiting.as_ref().map_or(0, |waiting| of_psdu(&waiting.mpdus));
            again = waiting.as_ref().map_or(0, |waiting| of_psdu(&waiting.again));
        }
        match &waiting {
            Some(waiting) if waiting.kind == Kind::Rts => self.announced = ppdu.is_good.then_some(waiting.from),
            Some(waiting) => self.exchange.ended(waiting.from, end),
            None => {}
        }
        let of_data = waiting.as_ref().filter(|waiting| waiting.kind == Kind::Data && measured);
        if let Some(link) = of_data.and_then(|waiting| waiting.link) {
            let tally = &mut self.tally.links[link.index()];
            tally.arrived += u64::from(acknowledged);
            tally.arrived_again += u64::from(again);
        }
        if let Some(waiting) = &waiting {
            self.record_end(waiting, Some(if waiting.kind == Kind::Data { acknowledged } else { 1 }), true, events);
            if waiting.kind != Kind::Rts || !ppdu.is_good {
                self.attempted(end, waiting, acknowledged, events);
            }
        }
        Path { from, to, link }
    }

    /// Records the end of a frame that waited for an answer; `decoded`: number of its MPDUs that arrived, according to
    /// the answer; none without an answer.
    fn record_end(&self, waiting: &Waiting, decoded: Option<u32>, goes_on: bool, events: &mut Events) {
        if self.is_recorded && waiting.has_mode {
            let mpdus = waiting.mpdus.len().max(1) as u32;
            let detail = recording::ends(waiting.from, waiting.from, mpdus, decoded, goes_on);
            events.push(waiting.ended, Event::Detail(detail));
        }
    }

    /// An attempt has ended.
    fn attempted(&mut self, at: Time, waiting: &Waiting, acknowledged: u32, events: &mut Events) {
        if let (Some(link), Some(sent), true) = (waiting.link, &waiting.sent, self.is_measured(at)) {
            let since = at.since(self.window.0);
            let tried = Tried { sent, since, mpdus: waiting.mpdus.as_slice(), acknowledged };
            self.tally.links[link.index()].modes.count(&tried);
        }
        if let Some(begun) = &waiting.begun {
            let outcome = if acknowledged > 0 { Outcome::Success } else { Outcome::Unknown };
            Attempts::end(at, begun, acknowledged, outcome, events);
            if acknowledged == 0 {
                self.attempts.lost(begun.link);
            }
        }
        if let (Some(link), Some(announcement)) = (waiting.link, waiting.announcement) {
            if self.is_measured(at) {
                self.tally.links[link.index()].rts_unanswered += 1;
            }
            self.attempts.unanswered(at, (link, id(waiting.from)), announcement);
        }
    }

    /// A frame begins to wait for its answer.
    fn wait(
        &mut self,
        ppdu: &Ppdu,
        (from, to, link): (u32, u32, Option<LinkId>),
        lasting: Lasting,
        events: &mut Events,
    ) {
        let Lasting { start, end, mode, is_known } = lasting;
        let is_data = ppdu.kind == Kind::Data;
        // Parts for several stations may be answered by turns, or after a trigger.
        let is_joint = is_data && ppdu.unit.is_some_and(|unit| !unit.is_triggered);
        let is_known = is_known && !is_joint;
        let is_before = |waiting: &Waiting| {
            let apart = waiting.started.since(start).max(start.since(waiting.started));
            waiting.from == from && !(is_joint && waiting.is_joint && apart < TOGETHER)
        };
        while let Some(before) = self.waiting.iter().position(is_before) {
            let before = self.waiting.swap_remove(before);
            self.record_end(&before, Some(0), false, events);
            self.attempted(before.ended.min(start), &before, 0, events);
        }
        let begun = link.filter(|_| is_data).map(|link| {
            let mode = ppdu.sending.zip(mode);
            self.attempts.begin((link, id(from)), ppdu, mode, &mut self.durations, events)
        });
        let follows_rts = is_data && self.announced.take() == Some(from);
        let answer_begins = mode.map_or(ANSWER_OF_OFDM, |mode| self.durations.answer_begins(mode));
        let sent = is_data.then(|| Sent {
            mode: ppdu.sending.zip(mode).map(|(sending, mode)| (sending, self.durations.rate(mode))),
            psdu_bytes: ppdu.bytes,
            duration: is_known.then(|| end.since(start)),
            has_retry: ppdu.mpdus.iter().any(|mpdu| mpdu.is_retry),
            follows_rts,
            follows_own_exchange: !follows_rts && self.exchange.is_followed(from, start, answer_begins),
        });
        let announcement = (ppdu.kind == Kind::Rts).then_some(Announcement { duration_us: ppdu.reserves_us, mode });
        let until_other = !is_known || self.stamps.is_coarse();
        let latest = if until_other { start + LATEST_ANSWER } else { end + answer_begins };
        self.waiting.push(Waiting {
            sent,
            from,
            to,
            kind: ppdu.kind,
            link,
            deadline: latest + self.stamps.tolerance(),
            until_other,
            started: start,
            is_joint,
            is_triggered: ppdu.unit.is_some_and(|unit| unit.is_triggered),
            has_mode: mode.is_some(),
            ended: end,
            mpdus: ppdu.mpdus.iter().map(|mpdu| mpdu.number).collect(),
            again: ppdu.mpdus.iter().filter(|mpdu| mpdu.is_retry).map(|mpdu| mpdu.number).collect(),
            begun,
            announcement,
        });
    }
}

/// Whether the stamp of a frame of so many bytes shows that it follows the last MPDU of a PPDU at once. Another PPDU comes a
/// SIFS later at least.
fn is_near(ppdu: &Ppdu, at: Time, length: u32, stamps: &Stamps, durations: &mut Durations) -> bool {
    let mode = ppdu.sending.and_then(|sending| durations.mode(sending));
    let (Some(mode), Some(last), false) = (mode, ppdu.mpdus.last(), stamps.is_coarse()) else {
        return at.since(ppdu.latest) < LATEST_ANSWER;
    };
    let between = durations.ppdu(mode, if stamps.is_of_end() { length } else { last.length });
    let sifs = durations.slot_and_sifs(mode).1;
    let allowance = stamps.tolerance().saturating_sub(CLOCK);
    at.since(last.at) < between + Duration::from_nanos(sifs.as_nanos() / 2) + allowance
}
