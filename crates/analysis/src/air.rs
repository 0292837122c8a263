//! The frames on the air: their senders and durations, and their answers.
//!
//! ```text
//!  data      |=========|                            answered: the attempt ends with the answer
//!  Ack                 <SIFS>|==|
//!  data      |=========|                            not answered: the attempt ends with its frame
//!                      <SIFS + slot>  nothing
//! ```

use std::collections::BTreeMap;

use lasthop_observe::{LinkId, Outcome, Record};
use lasthop_units::{Duration, Time};

use crate::announcement::Announcement;
use crate::attempts::Attempts;
use crate::durations::{Durations, Mode};
use crate::events::{Carrier, Event, Events};
use crate::hidden::Sensed;
use crate::modes::{LatestExchange, Tried};
use crate::ppdu::{Kind, NO_TID, Ppdu};
use crate::recording::{self, Ends};
use crate::sequence::{Novelty, Numbers};
use crate::site::{Site, id};
use crate::tally::{AirTally, LinkTally};
use crate::waiting::{Sent, Waiting, answers, is_answer};

/// Largest error of a sniffer's clock between a frame and its answer.
const CLOCK: Duration = Duration::from_micros(10);

/// Bytes of the longest PSDU, of HE. [802.11ax-2021 Table 27-55]
const LONGEST_PSDU: u32 = 6_500_631;

/// The air as heard by one sniffer.
pub(crate) struct Air {
    pub durations: Durations,
    pub tally: AirTally,
    window: (Time, Time),
    file: usize,
    is_recorded: bool,
    ppdu: Option<Ppdu>,
    waiting: Vec<Waiting>,
    numbers: BTreeMap<(u32, u32, u8), Numbers>,
    attempts: Attempts,
    exchange: LatestExchange,
    /// node whose RTS was answered last
    announced: Option<u32>,
    /// nodes before this one are APs
    aps: u32,
}

impl Air {
    pub(crate) fn new(site: &Site, window: (Time, Time), file: usize, is_recorded: bool) -> Air {
        let tally = AirTally { links: vec![LinkTally::default(); site.link_ends.len()], ..AirTally::default() };
        Air {
            durations: Durations::default(),
            tally,
            window,
            file,
            is_recorded,
            ppdu: None,
            waiting: Vec::new(),
            numbers: BTreeMap::new(),
            attempts: Attempts::new(window),
            exchange: LatestExchange::default(),
            announced: None,
            aps: site.aps as u32,
        }
    }

    /// Handles a frame that was heard.
    pub(crate) fn hear(&mut self, at: Time, heard: &crate::frame::Heard<'_>, site: &Site, events: &mut Events) {
        if self.is_measured(at) {
            self.tally.frames += 1;
            self.tally.bad_fcs += u64::from(!heard.is_good);
        }
        if let Some(ppdu) = self.ppdu.as_mut().filter(|ppdu| ppdu.holds(at, heard)) {
            return ppdu.add(heard);
        }
        self.flush(site, events);
        self.ppdu = Ppdu::begin(at, heard);
    }

    /// Later frames are not before `at`. Returns the time up to which everything is known.
    pub(crate) fn known_until(&mut self, at: Time, events: &mut Events) -> Time {
        let until = self.ppdu.as_ref().map_or(at, |ppdu| ppdu.start.min(at));
        self.give_up(until, events);
        self.attempts.decide(until, &mut self.durations, events);
        let open = self.attempts.open_since().unwrap_or(until);
        self.waiting.iter().map(|waiting| waiting.ended).fold(until.min(open), Time::min)
    }

    /// Handles the end of the capture.
    pub(crate) fn end(&mut self, site: &Site, events: &mut Events) {
        self.flush(site, events);
        // A frame without an answer at the end of the capture has not necessarily failed.
        self.waiting.clear();
        self.attempts.decide(Time::NEVER, &mut self.durations, events);
        self.tally.steps = std::mem::take(&mut self.attempts.steps);
        for (link, open) in &self.attempts.uncertain {
            if let Some(tally) = self.tally.links.get_mut(link.index()) {
                tally.rts_open = *open;
            }
        }
        // Without QoS all frames of a transmitter share one sequence, including beacons: a hole means little.
        for (_, numbers) in self.numbers.iter().filter(|(key, _)| key.2 != NO_TID) {
            self.tally.missed.add_numbers(numbers);
        }
    }

    fn is_measured(&self, at: Time) -> bool {
        self.window.0 <= at && at < self.window.1
    }

    /// Gives up frames whose answer had to begin before `at`.
    fn give_up(&mut self, at: Time, events: &mut Events) {
        while let Some(place) = self.waiting.iter().position(|waiting| waiting.deadline < at) {
            let waiting = self.waiting.swap_remove(place);
            self.record_end(&waiting, Some(0), false, events);
            self.attempted(waiting.ended, &waiting, 0, events);
        }
    }

    /// All frames of the PPDU were heard.
    fn flush(&mut self, site: &Site, events: &mut Events) {
        let Some(ppdu) = self.ppdu.take() else { return };
        self.give_up(ppdu.start, events);
        let mode = ppdu.sending.filter(|_| ppdu.bytes <= LONGEST_PSDU);
        let mode = mode.and_then(|sending| self.durations.mode(sending));
        let measured = self.is_measured(ppdu.start);
        if measured {
            self.tally.ppdus += 1;
            self.tally.captured_twice += ppdu.twice;
            self.tally.unknown_duration += u64::from(mode.is_none());
        }
        self.tally.is_cut_off |= ppdu.is_cut_off;
        let Some(mode) = mode else { return };
        let duration = self.durations.ppdu(mode, ppdu.bytes);
        let end = ppdu.start + duration;
        let to = site.node_of.get(&ppdu.receiver).copied();
        let told = ppdu.transmitter.and_then(|mac| site.node_of.get(&mac)).copied();
        let (from, link) = match ppdu.kind {
            kind if is_answer(kind) => self.answer(&ppdu, told, to, end, site, events),
            _ => (told, told.zip(to).and_then(|(from, to)| site.link(from, to))),
        };
        self.occupy(&ppdu, end, (from, to), link, (site, mode), events);
        let waits = ppdu.wants_answer && from.is_some() && to.is_some();
        if !waits && let Some(from) = from.filter(|_| self.is_recorded) {
            let goes_on = ppdu.kind == Kind::Cts;
            let initiator = to.filter(|_| is_answer(ppdu.kind)).unwrap_or(from);
            let detail = recording::ends(from, initiator, ppdu.mpdus.len().max(1) as u32, None, goes_on);
            events.push(end, Event::Detail(detail));
        }
        if let (Some(from), Some(to), Kind::Data) = (from, to, ppdu.kind) {
            self.read_mpdus(&ppdu, from, to, end, link, events);
        }
        if let (Some(link), Some(request)) = (link, ppdu.requests) {
            self.attempts.given_up(link, request, &mut self.durations, events);
        }
        if let (Some(from), Some(to), true) = (from, to, ppdu.wants_answer) {
            self.wait(&ppdu, from, to, end, mode, link, events);
        }
    }

    /// Puts the PPDU on the air from its start to its end.
    fn occupy(
        &mut self,
        ppdu: &Ppdu,
        end: Time,
        (from, to): (Option<u32>, Option<u32>),
        link: Option<LinkId>,
        (site, mode): (&Site, Mode),
        events: &mut Events,
    ) {
        let within = end.min(self.window.1).since(ppdu.start.max(self.window.0));
        let channel = ppdu.channel_mhz.and_then(|mhz| site.channels.iter().position(|own| *own == mhz));
        let channel = channel.unwrap_or(0) as u32;
        events.push(ppdu.start, Event::OnAir { channel, begins: true });
        events.push(end, Event::OnAir { channel, begins: false });
        let Some(from) = from else {
            self.tally.airtime_of_others += within;
            return;
        };
        let ends = Ends { from, to, channel, link };
        if self.is_recorded
            && let Some(detail) = recording::begins(ppdu, mode, &ends, site, &self.durations)
        {
            events.push(ppdu.start, Event::Detail(detail));
        }
        let sensed = Sensed { start: ppdu.start, end, channel, from, to };
        let measured = self.is_measured(ppdu.start);
        self.tally.hidden.begin(&sensed, self.durations.slot_and_sifs(mode), CLOCK, measured);
        let spent = self.tally.airtime.entry((from, ppdu.kind)).or_default();
        *spent += within;
        let node = id(from);
        events.push(ppdu.start, Event::Told(Record::TransmitterOn { node, link }));
        events.push(end, Event::Told(Record::Airtime { node, link, duration: end.since(ppdu.start) }));
    }

    /// Handles an answer: its receiver has waited for it. Returns the answer's sender and link.
    fn answer(
        &mut self,
        ppdu: &Ppdu,
        told: Option<u32>,
        to: Option<u32>,
        end: Time,
        site: &Site,
        events: &mut Events,
    ) -> (Option<u32>, Option<LinkId>) {
        let place = self.waiting.iter().position(|waiting| {
            Some(waiting.from) == to && told.is_none_or(|from| from == waiting.to) && answers(ppdu.kind, waiting)
        });
        let waiting = place.map(|place| self.waiting.swap_remove(place));
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
        if let (Some(block_ack), Some(originator), true) = (&ppdu.block_ack, to, ppdu.is_good) {
            let told: Vec<u16> = (0..block_ack.bitmap.frames())
                .filter(|&offset| block_ack.bitmap.contains(offset))
                .map(|offset| (block_ack.start + offset) % 4096)
                .collect();
            let of_psdu = waiting.as_ref().map_or(&[][..], |waiting| &waiting.mpdus);
            acknowledged = of_psdu.iter().filter(|number| told.contains(number)).count() as u32;
            if let Some(numbers) = from.and_then(|from| self.numbers.get_mut(&(originator, from, block_ack.tid))) {
                for came_whole in told.iter().filter_map(|&number| numbers.acknowledge(number)) {
                    if measured {
                        self.tally.missed.answer(came_whole);
                    }
                }
            }
        }
        match &waiting {
            Some(waiting) if waiting.kind == Kind::Rts => self.announced = ppdu.is_good.then_some(waiting.from),
            Some(waiting) => self.exchange.ended(waiting.from, end),
            None => {}
        }
        if let Some(waiting) = &waiting {
            self.record_end(waiting, Some(if waiting.kind == Kind::Data { acknowledged } else { 1 }), true, events);
            if waiting.kind != Kind::Rts || !ppdu.is_good {
                self.attempted(end, waiting, acknowledged, events);
            }
        }
        (from, link)
    }

    /// Records the end of a frame that waited for an answer; `decoded`: number of its MPDUs that arrived, according to
    /// the answer; none without an answer.
    fn record_end(&self, waiting: &Waiting, decoded: Option<u32>, goes_on: bool, events: &mut Events) {
        if self.is_recorded {
            let mpdus = waiting.mpdus.len().max(1) as u32;
            let detail = recording::ends(waiting.from, waiting.from, mpdus, decoded, goes_on);
            events.push(waiting.ended, Event::Detail(detail));
        }
    }

    /// An attempt has ended.
    fn attempted(&mut self, at: Time, waiting: &Waiting, acknowledged: u32, events: &mut Events) {
        if let (Some(link), Some(sent), true) = (waiting.link, &waiting.sent, self.is_measured(at)) {
            let Sent { sending, rate, psdu_bytes, duration, has_retry, follows_own_exchange, follows_rts } = *sent;
            let mpdus = waiting.mpdus.as_slice();
            let since = at.since(self.window.0);
            let tried = Tried {
                sending,
                rate,
                since,
                mpdus,
                acknowledged,
                has_retry,
                psdu_bytes,
                duration,
                follows_own_exchange,
                follows_rts,
            };
            self.tally.links[link.index()].modes.count(&tried);
        }
        if let Some(begun) = &waiting.begun {
            let outcome = if acknowledged > 0 { Outcome::Success } else { Outcome::Unknown };
            Attempts::end(at, begun, acknowledged, outcome, events);
        }
        if let (Some(link), Some(announcement)) = (waiting.link, waiting.announcement) {
            if self.is_measured(at) {
                self.tally.links[link.index()].rts_unanswered += 1;
            }
            self.attempts.unanswered(at, (link, id(waiting.from)), announcement);
        }
    }

    fn read_mpdus(&mut self, ppdu: &Ppdu, from: u32, to: u32, end: Time, link: Option<LinkId>, events: &mut Events) {
        let measured = self.is_measured(ppdu.start);
        let mut first = 0;
        for mpdu in &ppdu.mpdus {
            if measured {
                self.tally.frames_retried += u64::from(mpdu.is_retry);
                if let Some(link) = link {
                    self.tally.links[link.index()].count(mpdu);
                }
            }
            let packets = &ppdu.packets[first..mpdu.packets_until];
            first = mpdu.packets_until;
            // Frames without a payload have no relevant numbers. [802.11-2020 §10.3.2.14.2]
            if mpdu.is_null {
                continue;
            }
            let key = if mpdu.tid == NO_TID { (from, from, NO_TID) } else { (from, to, mpdu.tid) };
            let numbers = self.numbers.entry(key).or_insert_with(|| Numbers::new(mpdu.number));
            let novelty = numbers.hear(mpdu.number, mpdu.is_good);
            // Without QoS an AP has one sequence for all stations: the receivers of missed frames are unknown.
            let is_shared = mpdu.tid == NO_TID && from < self.aps;
            let novelty = if is_shared && novelty.is_new() { Novelty::New } else { novelty };
            if novelty != Novelty::Again && mpdu.is_good {
                let frame = Carrier { novelty, is_retry: mpdu.is_retry };
                for &packet in packets {
                    events.push(end, Event::Packet { file: self.file, packet, frame });
                }
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "all that is known of the frame")]
    fn wait(
        &mut self,
        ppdu: &Ppdu,
        from: u32,
        to: u32,
        end: Time,
        mode: Mode,
        link: Option<LinkId>,
        events: &mut Events,
    ) {
        if let Some(before) = self.waiting.iter().position(|waiting| waiting.from == from) {
            let before = self.waiting.swap_remove(before);
            self.record_end(&before, Some(0), false, events);
            self.attempted(before.ended.min(ppdu.start), &before, 0, events);
        }
        let begun = match (link, ppdu.sending, ppdu.kind) {
            (Some(link), Some(sending), Kind::Data) => {
                let with = ((link, id(from)), ppdu, (sending, mode));
                Some(self.attempts.begin(with.0, with.1, with.2, &mut self.durations, events))
            }
            _ => None,
        };
        let is_data = ppdu.kind == Kind::Data;
        let follows_rts = is_data && self.announced.take() == Some(from);
        let sent = ppdu.sending.filter(|_| is_data).map(|sending| Sent {
            sending,
            rate: self.durations.rate(mode),
            psdu_bytes: ppdu.bytes,
            duration: end.since(ppdu.start),
            has_retry: ppdu.mpdus.iter().any(|mpdu| mpdu.is_retry),
            follows_rts,
            follows_own_exchange: !follows_rts
                && self.exchange.is_followed(from, ppdu.start, self.durations.answer_begins(mode)),
        });
        let announcement = (ppdu.kind == Kind::Rts).then_some(Announcement { duration_us: ppdu.reserves_us, mode });
        let mpdus: Vec<u16> = ppdu.mpdus.iter().map(|mpdu| mpdu.number).collect();
        self.waiting.push(Waiting {
            sent,
            from,
            to,
            kind: ppdu.kind,
            link,
            deadline: end + self.durations.answer_begins(mode) + CLOCK,
            ended: end,
            mpdus,
            begun,
            announcement,
        });
    }
}
