//! Runs a script: events in order, under a virtual clock.
//!
//! An event that is not an outbound packet waits until its time; the endpoint's timers run out meanwhile, and its
//! segments are kept with their times. An outbound packet takes the next of these, or waits for it. Times are compared
//! as in packetdrill: within the tolerance, or an eighth of the time since the event before, whichever is more.

use lasthop_tcp::Flags;
use lasthop_units::{Duration, Time};

use crate::packetdrill::calls::{Outcome, Progress};
use crate::packetdrill::expect::difference;
use crate::packetdrill::facts::{CONSTANTS, facts};
use crate::packetdrill::host::{Host, Sent, Trouble, UnderTest};
use crate::packetdrill::options::Options;
use crate::packetdrill::script::{Action, Call, Expr, LATEST_US, Packet, Script, ScriptEvent, Tcp, TcpOption, When};
use crate::packetdrill::setup::Settings;
use crate::packetdrill::wire::{flags_of, show};

/// Start of a script: late enough for timestamps not to be 0, and in the middle of a tick.
const START: Time = Time::from_nanos(10_000_250_000);

/// A piece of code, with its variables.
#[derive(Clone, Debug)]
pub struct Code {
    /// Line of the script.
    pub line: usize,
    /// The text between the brackets.
    pub text: String,
    /// Names and numbers at the time of the code.
    pub variables: Vec<(&'static str, i64)>,
}

/// The end of a script; code is still to be evaluated.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The failure, or the reason for skipping; `None` if everything was as stated.
    pub ending: Ending,
    /// The code that was reached.
    pub code: Vec<Code>,
}

/// Pass, failure or skip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All packets and calls are as stated.
    AsStated,
    /// Something differs.
    Failed {
        /// Line of the script.
        line: usize,
        /// The expectation and the observation, over several lines.
        why: String,
    },
    /// The simulator does not model something that the script needs.
    Skipped {
        /// Line of the script.
        line: usize,
        /// The reason.
        why: String,
    },
}

/// A call that has not returned.
#[derive(Debug)]
struct Pending<'a> {
    line: usize,
    call: &'a Call,
    progress: Progress,
    /// time at which it is to return
    end_us: i64,
    begun_us: i64,
}

struct Runner<'a> {
    host: Host,
    options: Options,
    /// nominal time of the last event, in microseconds
    last_event_us: Option<i64>,
    last_was_inbound: bool,
    pending: Option<Pending<'a>>,
    code: Vec<Code>,
}

/// Runs a script that has been read.
pub(crate) fn run(script: &Script, options: Options, settings: Settings) -> Ran {
    let host = Host::new(settings, options.mtu, START);
    let mut runner =
        Runner { host, options, last_event_us: None, last_was_inbound: false, pending: None, code: Vec::new() };
    let ending = runner.events(&script.events);
    Ran { ending, code: runner.code }
}

/// A failure of the current line, or of the waiting call.
enum Stop {
    Here(Trouble),
    At(usize, Trouble),
}

impl From<Trouble> for Stop {
    fn from(trouble: Trouble) -> Self {
        Stop::Here(trouble)
    }
}

fn mismatch<T>(why: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Here(Trouble::Mismatch(why.into())))
}

impl<'a> Runner<'a> {
    fn events(&mut self, events: &'a [ScriptEvent]) -> Ending {
        for event in events {
            if let Err(stop) = self.event(event) {
                let (line, trouble) = match stop {
                    Stop::Here(trouble) => (event.line, trouble),
                    Stop::At(line, trouble) => (line, trouble),
                };
                return match trouble {
                    Trouble::Skip(why) => Ending::Skipped { line, why },
                    Trouble::Mismatch(why) => Ending::Failed { line, why },
                };
            }
        }
        match self.finish_pending() {
            Err(Stop::At(line, Trouble::Mismatch(why))) => Ending::Failed { line, why },
            Err(Stop::At(line, Trouble::Skip(why))) => Ending::Skipped { line, why },
            Err(Stop::Here(_)) | Ok(()) => Ending::AsStated,
        }
    }

    fn now_us(&self) -> i64 {
        (self.host.now.since(START).as_nanos() / 1000) as i64
    }

    fn event(&mut self, event: &'a ScriptEvent) -> Result<(), Stop> {
        let is_inbound = matches!(event.action, Action::Inbound(_));
        // A call waits for the one before it, as both run in one thread; its time counts from there.
        let from = match self.last_event_us {
            Some(last) if is_inbound && self.last_was_inbound => last,
            _ => self.now_us(),
        };
        let (due, until) = match event.when {
            When::At(at) => (at, at),
            When::After(after) => (from + after, from + after),
            When::Between(start, end) => (start, end),
            When::BetweenAfter(start, end) => (from + start, from + end),
            When::AnyTime => (from, LATEST_US),
        };
        if due > LATEST_US {
            return mismatch(format!("this is to happen at {}; a script may take {}", time(due), time(LATEST_US)));
        }
        let tolerance = self.tolerance(due);
        if let Action::Outbound(packet) = &event.action {
            self.outbound(packet, due, until, tolerance)?;
        } else {
            self.wait_until(due)?;
            if self.now_us() > due + tolerance {
                return mismatch(format!("this was to happen at {}, but it is {}", time(due), time(self.now_us())));
            }
            self.act(event, due, from)?;
        }
        self.host.check_work()?;
        self.last_event_us = Some(if event.when == When::AnyTime { self.now_us() } else { due });
        self.last_was_inbound = is_inbound;
        Ok(())
    }

    /// The tolerance for an event due at `due`.
    fn tolerance(&self, due: i64) -> i64 {
        let since_last = self.last_event_us.map_or(0, |last| due - last);
        self.options.tolerance_us.max((self.options.tolerance_percent / 100.0 * since_last as f64) as i64)
    }

    fn act(&mut self, event: &'a ScriptEvent, due: i64, from: i64) -> Result<(), Stop> {
        match &event.action {
            Action::Inbound(packet) => self.inbound(packet)?,
            Action::Call(call) => self.call(event.line, call, due, from, event.when)?,
            Action::Shell(lines) => self.host.set_up(lines)?,
            Action::Code(text) => {
                let mut variables = CONSTANTS.to_vec();
                if let Some(connection) = self.host.connection() {
                    variables.extend(facts(&connection.endpoint.info(self.host.now)));
                }
                self.code.push(Code { line: event.line, text: text.clone(), variables });
            }
            Action::Outbound(_) => unreachable!("handled by the caller"),
        }
        Ok(())
    }

    /// Lets time pass.
    fn wait_until(&mut self, due_us: i64) -> Result<(), Stop> {
        let due = START + Duration::from_micros(due_us.max(0) as u64);
        while self.host.next_timeout() <= due {
            let next = self.host.next_timeout().max(self.host.now);
            self.step(next)?;
        }
        if due > self.host.now {
            self.step(due)?;
        }
        Ok(())
    }

    fn step(&mut self, to: Time) -> Result<(), Stop> {
        self.host.advance(to);
        self.host.check_work()?;
        self.go_on()
    }

    /// Continues the waiting call.
    fn go_on(&mut self) -> Result<(), Stop> {
        let Some(mut pending) = self.pending.take() else { return Ok(()) };
        let line = pending.line;
        let at = |trouble| Stop::At(line, trouble);
        let outcome = self.host.call(pending.call, &mut pending.progress).map_err(at)?;
        self.host.settle();
        match outcome {
            Outcome::Waits => self.pending = Some(pending),
            Outcome::Returns(result) => {
                check_result(pending.call, result).map_err(at)?;
                let now = self.now_us();
                let share = self.options.tolerance_percent / 100.0 * (pending.end_us - pending.begun_us) as f64;
                if (now - pending.end_us).abs() > self.options.tolerance_us.max(share as i64) {
                    let why = format!("this was to return at {}, but did at {}", time(pending.end_us), time(now));
                    return Err(at(Trouble::Mismatch(why)));
                }
            }
        }
        Ok(())
    }

    /// Requires that a waiting call returns before the next one begins.
    fn finish_pending(&mut self) -> Result<(), Stop> {
        while let Some(pending) = &self.pending {
            let (line, end) = (pending.line, pending.end_us);
            let next = self.host.next_timeout();
            let limit = START + Duration::from_micros((end + self.options.tolerance_us) as u64);
            if next > limit {
                let why = format!("this was to return at {}, but did not", time(end));
                return Err(Stop::At(line, Trouble::Mismatch(why)));
            }
            self.step(next.max(self.host.now))?;
        }
        Ok(())
    }

    fn call(&mut self, line: usize, call: &'a Call, due: i64, from: i64, when: When) -> Result<(), Stop> {
        self.finish_pending()?;
        let mut progress = Progress::default();
        let outcome = self.host.call(call, &mut progress)?;
        self.host.settle();
        // The result of an immediate call may depend on the segments that it has just sent.
        match (outcome, call.end) {
            (Outcome::Returns(result), end) => {
                check_result(call, result)?;
                let end_us = end.map(|end| if matches!(when, When::After(_)) { from + end } else { end });
                if end_us.is_some_and(|end| (end - due).abs() > self.options.tolerance_us) {
                    return mismatch("this was to wait, but returned at once");
                }
            }
            (Outcome::Waits, None) => return mismatch("this waits, but was to return at once"),
            (Outcome::Waits, Some(end)) => {
                let end_us = if matches!(when, When::After(_)) { from + end } else { end };
                self.pending = Some(Pending { line, call, progress, end_us, begun_us: due });
            }
        }
        Ok(())
    }

    fn inbound(&mut self, packet: &Packet) -> Result<(), Stop> {
        let tcp = known(packet)?;
        let flags = known_flags(tcp)?;
        self.host.receive(tcp, flags, self.options.guess_echo)?;
        self.go_on()
    }

    fn outbound(&mut self, packet: &Packet, due: i64, until: i64, tolerance: i64) -> Result<(), Stop> {
        let expected = known(packet)?;
        known_flags(expected)?;
        if self.host.under_test == UnderTest::Nothing {
            return Err(Stop::Here(Trouble::Skip("a packet without a socket has no counterpart".into())));
        }
        let limit = until.saturating_add(tolerance);
        let first = self.next_sent(limit)?;
        let Some(first) = first else {
            return mismatch(format!("expected  {}  {}\nseen      no packet", time(due), show(expected)));
        };
        self.learn(expected, &first);
        let seen = self.merge(expected, first, limit)?;
        let at = self.since_start(seen.at);
        let both = |why: &str, seen: &Tcp| {
            format!("{why}\nexpected  {}  {}\nseen      {}  {}", time(due), show(expected), time(at), show(seen))
        };
        let mapping = &self.host.connection().expect("a packet has been seen").mapping;
        let shown = mapping.to_script(&seen.segment);
        let ticks = self.timestamp_tolerance(due);
        if let Some(why) = difference(expected, &shown, seen.segment.ecn, ticks) {
            return mismatch(both(&why, &shown));
        }
        if at < due - tolerance || at > limit {
            return mismatch(both(&format!("the time is wrong, by more than {}", time(tolerance)), &shown));
        }
        self.wait_until(at)
    }

    fn since_start(&self, at: Time) -> i64 {
        (at.since(START).as_nanos() / 1000) as i64
    }

    fn timestamp_tolerance(&self, due: i64) -> Option<u32> {
        let tick = self.options.timestamp_tick_us;
        let share = (self.options.tolerance_percent / 100.0 * due as f64) as i64;
        (tick > 0).then(|| u32::try_from(self.options.tolerance_us.max(share) / tick).unwrap_or(u32::MAX))
    }

    /// The next packet sent no later than `limit`, microseconds.
    fn next_sent(&mut self, limit_us: i64) -> Result<Option<Sent>, Stop> {
        loop {
            if let Some(sent) = self.host.sent.pop_front() {
                return Ok(Some(sent));
            }
            let next = self.host.next_timeout();
            if next.is_never() || self.since_start(next.max(self.host.now)) > limit_us {
                return Ok(None);
            }
            self.step(next.max(self.host.now))?;
        }
    }

    /// Learns the numbers of the endpoint from the first packet.
    fn learn(&mut self, expected: &Tcp, sent: &Sent) {
        let UnderTest::Connection(index) = self.host.under_test else { return };
        let mapping = &mut self.host.connections[index].mapping;
        if sent.segment.flags.contains(Flags::SYN) && expected.flags.contains('S') {
            mapping.script_local_isn = expected.seq;
        }
        mapping.learn_timestamp(expected, &sent.segment);
    }

    /// Joins consecutive segments until there are as many bytes as the script states.
    fn merge(&mut self, expected: &Tcp, first: Sent, limit: i64) -> Result<Sent, Stop> {
        let mut merged = first;
        while merged.segment.payload < expected.payload && !self.options.strict_segments {
            let Some(next) = self.host.sent.front().copied() else {
                match self.next_sent(limit)? {
                    Some(sent) if sent.at == merged.at => {
                        self.host.sent.push_front(sent);
                        continue;
                    }
                    Some(sent) => self.host.sent.push_front(sent),
                    None => {}
                }
                break;
            };
            let (a, b) = (&merged.segment, &next.segment);
            let goes_on = b.payload > 0 && b.seq == a.seq.plus(a.payload) && b.ack == a.ack && b.ecn == a.ecn;
            if !goes_on {
                break;
            }
            self.host.sent.pop_front();
            let cwr = Flags::from_bits(a.flags.bits() & Flags::CWR.bits());
            merged = Sent {
                at: merged.at,
                segment: lasthop_tcp::Segment {
                    seq: a.seq,
                    payload: a.payload + b.payload,
                    flags: b.flags | cwr,
                    ..*b
                },
            };
        }
        Ok(merged)
    }
}

/// The packet, if the simulator models it.
fn known(packet: &Packet) -> Result<&Tcp, Stop> {
    let skip = |why: String| Err(Stop::Here(Trouble::Skip(why)));
    match packet {
        Packet::Foreign(what) => skip(format!("{what} have no counterpart")),
        Packet::Tcp(tcp) if tcp.urgent != 0 => skip("urgent data have no counterpart".into()),
        Packet::Tcp(tcp) if tcp.ports.is_some() => skip("packets of other ports have no counterpart".into()),
        Packet::Tcp(tcp) => {
            let foreign = tcp.options.iter().flatten().find_map(|option| match option {
                TcpOption::Foreign(name) => Some(name),
                _ => None,
            });
            foreign.map_or(Ok(tcp), |name| skip(format!("the TCP option {name} has no counterpart")))
        }
    }
}

fn known_flags(tcp: &Tcp) -> Result<Flags, Stop> {
    flags_of(&tcp.flags).ok_or_else(|| Stop::Here(Trouble::Skip(format!("flags {} have no counterpart", tcp.flags))))
}

fn check_result(call: &Call, result: Result<i64, crate::packetdrill::errno::Errno>) -> Result<(), Trouble> {
    let shown = match result {
        Ok(value) => value.to_string(),
        Err(errno) => format!("-1 {}", errno.name()),
    };
    let stated = match &call.result {
        Expr::Ellipsis => return Ok(()),
        result => crate::packetdrill::arguments::number_of(result)?,
    };
    let fits = match result {
        Ok(value) => value == stated && call.error.is_none(),
        Err(errno) => stated == -1 && call.error.as_deref().is_none_or(|name| name == errno.name()),
    };
    let error = call.error.as_ref().map_or(String::new(), |name| format!(" {name}"));
    if fits {
        return Ok(());
    }
    Err(Trouble::Mismatch(format!("{} returns {shown}, not {stated}{error}", call.name)))
}

/// Microseconds as seconds.
fn time(us: i64) -> String {
    format!("{:.6}", us as f64 / 1e6)
}
