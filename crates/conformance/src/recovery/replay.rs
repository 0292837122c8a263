//! The closed loop: an endpoint, the path and the receiver, and their rows.

use std::collections::VecDeque;

use lasthop_engine::Scheduler;
use lasthop_tcp::congestion_control::Algorithm;
use lasthop_tcp::{CaState, Config, Endpoint, Flags, SackBlock, SackBlocks, Segment, SeqNumber, Timestamps};
use lasthop_units::{Duration, Ecn, Time};

use crate::recovery::compare::Comparison;
use crate::recovery::host::Host;
use crate::recovery::path::{Fate, Path};
use crate::recovery::receiver::{Answer, Arrival, Receiver};
use crate::recovery::report::{ReplayVerdict, Report};
use crate::recovery::row::{Cause, Happening, Info, Out, Row};
use crate::recovery::scenario::MOST_ROWS;
use crate::recovery::trace::Trace;

/// Time of the recording's t = 0, except for its place in a tick of its kernel.
const START: Time = Time::from_nanos(10_000_000_000);
/// Places in a tick that are tried. A recording does not give its place; CUBIC's window depends on it.
const PHASES: u32 = 4;
/// Initial sequence numbers of the sender and of the receiver.
const ISS: u32 = 1000;
const PEER_ISS: u32 = 500_000;
/// Shift of the receiver's window field.
const SCALE: u8 = 8;
/// Steps of a replay, rows or not: beyond this many the endpoint runs away.
const MOST_STEPS: usize = 10 * MOST_ROWS;

/// Runs the scenario of a recording and compares.
pub fn replay(trace: &Trace) -> Report {
    let config = match trace.scenario.config(trace.hz) {
        Ok(config) => config,
        Err(why) => return skipped(trace, why),
    };
    let at_phase = |phase: u32| {
        let start = START + config.controller_tick * u64::from(phase) / u64::from(PHASES);
        let mut world = World::new(trace, &config, start);
        world.run();
        world.comparison.finish()
    };
    let first = at_phase(0);
    let has_clock = matches!(config.congestion_control, Algorithm::Cubic(_));
    if first.verdict != ReplayVerdict::Fail || !has_clock {
        return first;
    }
    (1..PHASES).map(at_phase).find(|report| report.verdict == ReplayVerdict::Pass).unwrap_or(first)
}

fn skipped(trace: &Trace, why: String) -> Report {
    Report {
        recorded: trace.rows.clone(),
        replayed: Vec::new(),
        same: 0,
        order: None,
        state: None,
        verdict: ReplayVerdict::Skip(why),
    }
}

/// An event at the receiver.
#[derive(Debug)]
enum Event {
    Arrival(Arrival),
    Window(u64),
}

struct World<'a> {
    trace: &'a Trace,
    host: Host,
    /// time of the recording's t = 0
    start: Time,
    now: Time,
    endpoint: Endpoint,
    /// time of the endpoint's last change of its alarm, and the alarm
    alarm: (Time, Time),
    path: Path,
    receiver: Receiver,
    events: Scheduler<Event>,
    /// ACKs under way, with the times at which they are due; one read late by the sender's host delays nothing else
    answers: VecDeque<(Time, Answer)>,
    /// transmissions of each segment
    sent: Vec<u64>,
    comparison: Comparison<'a>,
}

fn state_word(state: CaState) -> &'static str {
    match state {
        CaState::Open => "Open",
        CaState::Disorder => "Disorder",
        CaState::Cwr => "CWR",
        CaState::Recovery => "Recovery",
        CaState::Loss => "Loss",
    }
}

/// [RFC 3168 §6.1.1]
fn asks_for_ecn(syn: &Segment) -> bool {
    syn.flags.contains(Flags::ECE | Flags::CWR)
}

impl<'a> World<'a> {
    fn new(trace: &'a Trace, config: &Config, start: Time) -> World<'a> {
        let scenario = &trace.scenario;
        let mut world = World {
            trace,
            host: Host::new(trace.hz),
            start,
            now: start,
            endpoint: Endpoint::new(config, ISS),
            alarm: (Time::ZERO, Time::NEVER),
            path: Path::new(scenario),
            receiver: Receiver::new(scenario),
            events: Scheduler::new(),
            answers: VecDeque::new(),
            sent: vec![0; scenario.segments as usize],
            comparison: Comparison::new(trace),
        };
        for (t_ms, window) in &scenario.window_script {
            world.events.at(world.at_ms(*t_ms), Event::Window(*window));
        }
        world
    }

    fn at_ms(&self, t_ms: f64) -> Time {
        self.start + Duration::from_nanos((t_ms.max(0.0) * 1e6).round() as u64)
    }

    fn as_ms(&self, time: Time) -> f64 {
        (time.as_nanos() as f64 - self.start.as_nanos() as f64) / 1e6
    }

    /// The handshake, with the RTT of the recording's first row; then the application writes all.
    fn open(&mut self) {
        let rtt = self.trace.rows.iter().find_map(|row| match &row.happening {
            Happening::Info(info) => Some(Duration::from_nanos((info.srtt_ms * 1e6) as u64)),
            _ => None,
        });
        let before = self.start - rtt.unwrap_or(self.trace.scenario.rtt);
        let scenario = &self.trace.scenario;
        if scenario.listens {
            self.accept(before);
        } else {
            self.connect(before);
        }
        while self.endpoint.poll_transmit(self.start).is_some() {}
        self.endpoint.write(scenario.segments * scenario.mss);
        self.transmit(Cause::Write);
        self.ask(Cause::Write);
    }

    fn connect(&mut self, before: Time) {
        self.endpoint.connect(before);
        let syn = self.endpoint.poll_transmit(before).expect("a SYN after connect");
        let syn_ack = Segment {
            ack: syn.seq.plus(1),
            flags: if asks_for_ecn(&syn) { Flags::SYN | Flags::ACK | Flags::ECE } else { Flags::SYN | Flags::ACK },
            sack_permitted: syn.sack_permitted,
            window_scale: syn.window_scale.map(|_| SCALE),
            timestamps: syn.timestamps.map(|t| Timestamps { value: 1, echo: t.value }),
            ..self.peer_syn()
        };
        self.endpoint.handle_segment(self.start, &syn_ack);
    }

    fn accept(&mut self, before: Time) {
        let scenario = &self.trace.scenario;
        let syn = Segment {
            flags: if scenario.ecn { Flags::SYN | Flags::ECE | Flags::CWR } else { Flags::SYN },
            sack_permitted: scenario.sack,
            window_scale: Some(SCALE),
            timestamps: scenario.timestamps.then_some(Timestamps { value: 1, echo: 0 }),
            ..self.peer_syn()
        };
        self.endpoint.listen();
        self.endpoint.handle_segment(before, &syn);
        let syn_ack = self.endpoint.poll_transmit(before).expect("a SYN+ACK in answer to a SYN");
        let shift = syn_ack.window_scale.map_or(0, |_| SCALE);
        let ack = Segment {
            seq: SeqNumber(PEER_ISS + 1),
            ack: syn_ack.seq.plus(1),
            flags: Flags::ACK,
            window: (scenario.window >> shift).min(u64::from(u16::MAX)) as u16,
            timestamps: syn_ack.timestamps.map(|t| Timestamps { value: 2, echo: t.value }),
            ..Segment::default()
        };
        self.endpoint.handle_segment(self.start, &ack);
    }

    /// The receiver's SYN or SYN+ACK. Its window is not scaled. [RFC 7323 §2.2]
    fn peer_syn(&self) -> Segment {
        let scenario = &self.trace.scenario;
        let room_for_timestamps = if scenario.timestamps { 12 } else { 0 };
        Segment {
            seq: SeqNumber(PEER_ISS),
            window: scenario.window.min(u64::from(u16::MAX)) as u16,
            mss: Some((scenario.mss + room_for_timestamps) as u16),
            ..Segment::default()
        }
    }

    fn run(&mut self) {
        self.open();
        let end = self.end();
        let mut steps = 0;
        while steps < MOST_STEPS && self.comparison.len() < MOST_ROWS && !self.is_done() {
            steps += 1;
            let alarm = self.wake_up();
            let next = self.events.next_at().unwrap_or(Time::NEVER);
            let ack = self.answers.front().map_or(Time::NEVER, |(due, _)| self.expected(*due));
            let withheld = self.receiver.deadline();
            let now = alarm.min(next).min(ack).min(withheld);
            if now > end {
                break;
            }
            self.now = self.now.max(now);
            if withheld == now {
                let answer = self.receiver.answer_now();
                self.send_back(answer);
            } else if next == now {
                let Some((_, event)) = self.events.next_before(Time::NEVER) else { break };
                self.take(event);
            } else if ack == now {
                let Some((_, answer)) = self.answers.pop_front() else { break };
                self.acknowledge(&answer);
            } else {
                self.endpoint.handle_timeout(self.now.max(self.alarm.1));
                if self.transmit(Cause::Timer) {
                    self.ask(Cause::Timer);
                }
            }
        }
    }

    fn is_done(&self) -> bool {
        let scenario = &self.trace.scenario;
        self.endpoint.acked_bytes() >= scenario.segments * scenario.mss
            && self.events.pending() == 0
            && self.answers.is_empty()
    }

    /// The end of the recording; if it lasted until all was acknowledged, a second later.
    fn end(&self) -> Time {
        let last = self.trace.rows.last().map_or(0.0, |row| row.t_ms);
        match self.trace.scenario.stop_ms {
            Some(stop) => self.at_ms(stop),
            None => self.at_ms(last + 1000.0),
        }
    }

    // The lateness of the host.

    /// The time at which the endpoint's timer runs on the host of the recording.
    fn wake_up(&self) -> Time {
        let (set_at, ideal) = self.alarm;
        if ideal.is_never() {
            return ideal;
        }
        let latest = ideal + self.host.lateness(ideal.since(set_at.min(ideal)));
        let Some(row) = self.comparison.next() else { return ideal };
        let recorded = self.at_ms(row.t_ms);
        match &row.happening {
            Happening::Out(Out { cause: Cause::Timer, .. }) if ideal <= recorded && recorded <= latest => recorded,
            // An ACK came before the timer could run.
            Happening::Ack(_) if recorded <= latest => ideal.max(recorded + Duration::from_nanos(1)),
            _ => ideal,
        }
    }

    /// The time at which the host of the recording reads an ACK that is due: the recorded one.
    fn expected(&self, due: Time) -> Time {
        let Some(row) = self.comparison.next() else { return due };
        let recorded = self.at_ms(row.t_ms);
        let in_time = due <= recorded + self.host.early() && recorded <= due + self.host.jitter();
        match &row.happening {
            Happening::Ack(_) if in_time => recorded,
            _ => due,
        }
    }

    // The events.

    fn take(&mut self, event: Event) {
        match event {
            Event::Arrival(arrival) => {
                if let Some(answer) = self.receiver.receive(self.now, arrival) {
                    self.send_back(answer);
                }
            }
            Event::Window(window) => {
                let answer = self.receiver.change_window(window);
                self.send_back(answer);
            }
        }
    }

    /// Hands an ACK to the sender.
    fn acknowledge(&mut self, answer: &Answer) {
        let cause = Cause::Ack(answer.ack.number);
        let segment = self.segment_of(answer);
        self.note(Happening::Ack(answer.ack.clone()));
        self.endpoint.handle_segment(self.now, &segment);
        self.transmit(cause);
        self.ask(cause);
    }

    fn send_back(&mut self, answer: Answer) {
        if !self.trace.lost_acks.contains(&answer.ack.number) {
            self.answers.push_back((self.now + self.trace.scenario.rtt / 2, answer));
        }
    }

    /// The segment of an ACK.
    fn segment_of(&self, answer: &Answer) -> Segment {
        let mss = self.trace.scenario.mss;
        let number = |segment: u64| SeqNumber(ISS + 1).plus((segment * mss) as u32);
        let mut sack = SackBlocks::NONE;
        for (left, right) in &answer.ack.blocks {
            sack.push(SackBlock { left: number(*left), right: number(*right) });
        }
        let has_echo = answer.ack.flags.iter().any(|flag| flag == "ece");
        let value = ((self.now.as_nanos() - self.start.as_nanos()) / 1_000_000) as u32 + 2;
        Segment {
            seq: SeqNumber(PEER_ISS + 1),
            ack: number(answer.ack.cumulative),
            flags: if has_echo { Flags::ACK | Flags::ECE } else { Flags::ACK },
            window: (answer.window >> SCALE).min(u64::from(u16::MAX)) as u16,
            timestamps: self.receiver.recent_timestamp().map(|echo| Timestamps { value, echo }),
            sack,
            ..Segment::default()
        }
    }

    /// Sends the endpoint's segments; true if there were any.
    fn transmit(&mut self, cause: Cause) -> bool {
        let mut any = false;
        while let Some(segment) = self.endpoint.poll_transmit(self.now) {
            if segment.payload > 0 {
                self.send(&segment, cause);
                any = true;
            }
        }
        let alarm = self.endpoint.poll_timeout();
        if alarm != self.alarm.1 {
            self.alarm = (self.now, alarm);
        }
        any
    }

    fn send(&mut self, data: &Segment, cause: Cause) {
        let mss = self.trace.scenario.mss;
        let segment = (data.seq.distance_from(SeqNumber(ISS + 1)) as u64) / mss;
        let Some(count) = self.sent.get_mut(segment as usize) else { return };
        *count += 1;
        let transmission = *count;
        let mut flags = Vec::new();
        let fate = self.path.carry(self.now, segment, transmission);
        if fate == Fate::Dropped {
            flags.push("dropped".to_string());
        }
        if data.flags.contains(Flags::CWR) {
            flags.push("cwr".to_string());
        }
        if u64::from(data.payload) != mss {
            flags.push(format!("len{}", data.payload));
        }
        if let Fate::Arrives(at) = fate {
            let arrival = Arrival {
                segment,
                timestamp: data.timestamps.map(|t| t.value),
                marked: data.ecn != Ecn::NotEct && self.trace.scenario.mark.contains(&(segment, transmission)),
                window_reduced: data.flags.contains(Flags::CWR),
            };
            self.events.at(at, Event::Arrival(arrival));
        }
        self.note(Happening::Out(Out { segment, transmission, cause, flags }));
    }

    /// Notes the endpoint's state.
    fn ask(&mut self, after: Cause) {
        let info = self.endpoint.info(self.now);
        self.note(Happening::Info(Info {
            after,
            ca_state: state_word(info.ca_state).to_string(),
            cwnd: u64::from(info.snd_cwnd),
            ssthresh: u64::from(info.snd_ssthresh),
            unacked: u64::from(info.unacked),
            sacked: u64::from(info.sacked),
            lost: u64::from(info.lost),
            retrans: u64::from(info.retrans),
            rto_ms: info.rto_us as f64 / 1000.0,
            srtt_ms: info.rtt_us as f64 / 1000.0,
            backoff: u64::from(info.backoff),
            reordering: u64::from(info.reordering),
        }));
    }

    /// Adds a row.
    fn note(&mut self, happening: Happening) {
        self.comparison.note(Row { t_ms: self.as_ms(self.now), happening });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest window of the peer when the application writes.
    fn largest_window_at_the_write(listens: bool) -> u64 {
        let mut trace = Trace::parse(
            r#"{"name": "opened", "kernel": "", "HZ": 250, "identical_runs": "1/1", "events": [],
            "scenario": {"rtt_ms": 100, "gap_ms": 1.5, "mss": 1000, "cc": "reno", "sack": true, "ts": true, "delack": 1,
            "window": 1048576, "segments": 2}}"#,
        )
        .expect("a recording without events");
        trace.scenario.listens = listens;
        let config = trace.scenario.config(trace.hz).expect("known settings");
        let mut world = World::new(&trace, &config, START);
        world.open();
        world.endpoint.largest_peer_window()
    }

    /// A SYN+ACK's window is not scaled [RFC 7323 §2.2]; the ACK that answers the kernel's own SYN+ACK has a scaled one.
    #[test]
    fn the_window_is_known_before_the_write_where_the_kernel_listened() {
        assert_eq!(largest_window_at_the_write(false), 65_535);
        assert_eq!(largest_window_at_the_write(true), 1_048_576);
    }
}
