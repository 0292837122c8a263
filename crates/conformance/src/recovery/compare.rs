//! Comparison of two lists of rows, as the second grows.

use crate::recovery::host::Host;
use crate::recovery::report::{Difference, ReplayVerdict, Report};
use crate::recovery::row::{Cause, Happening, Info, Out, Row};
use crate::recovery::trace::Trace;

/// A segment leaves the kernel up to 0.2 ms before the recording's time, and timestamps count whole milliseconds:
/// this is the possible difference of smoothed RTTs.
const SRTT_TOLERANCE_MS: f64 = 0.5;

/// The recording program notices a timer's segment when it wakes up: s_spurious_rto_eifel has a retransmission at
/// 442.97 ms whose own timestamp, echoed, makes it 435 ms. An eighth of that goes into the smoothed RTT, and fades.
const NOTICED_LATE_MS: f64 = 10.0;

/// A difference: in the segments and times, or in the sender's report of itself.
enum Found {
    Order(&'static str),
    State(&'static str),
}

/// The recorded rows, and how far the rows here follow them.
pub(crate) struct Comparison<'a> {
    trace: &'a Trace,
    host: Host,
    rows: Vec<Row>,
    order: Option<Difference>,
    state: Option<Difference>,
    srtt_tolerance_ms: f64,
}

impl<'a> Comparison<'a> {
    pub fn new(trace: &'a Trace) -> Comparison<'a> {
        Comparison {
            trace,
            host: Host::new(trace.hz),
            rows: Vec::new(),
            order: None,
            state: None,
            srtt_tolerance_ms: SRTT_TOLERANCE_MS,
        }
    }

    /// The number of rows so far.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The next recorded row, as long as the segments sent and acknowledged before it are the same.
    pub fn next(&self) -> Option<&'a Row> {
        if self.order.is_some() { None } else { self.trace.rows.get(self.rows.len()) }
    }

    /// Adds a row.
    pub fn note(&mut self, row: Row) {
        if self.order.is_none() {
            match self.next().map_or(Some(Found::Order("the number of rows")), |recorded| self.compare(recorded, &row))
            {
                None => {}
                Some(Found::Order(what)) => self.order = Some(self.difference(what, Some(row.clone()))),
                Some(Found::State(what)) if self.state.is_none() => {
                    self.state = Some(self.difference(what, Some(row.clone())));
                }
                Some(Found::State(_)) => {}
            }
        }
        self.rows.push(row);
    }

    fn difference(&self, what: &str, replayed: Option<Row>) -> Difference {
        let recorded = self.trace.rows.get(self.rows.len()).cloned();
        Difference { row: self.rows.len() + 1, what: what.to_string(), recorded, replayed }
    }

    fn compare(&mut self, recorded: &Row, row: &Row) -> Option<Found> {
        match (&recorded.happening, &row.happening) {
            (Happening::Out(a), Happening::Out(b)) if a != b => Some(Found::Order("what is sent")),
            (Happening::Ack(a), Happening::Ack(b)) if a != b => Some(Found::Order("what is acknowledged")),
            (Happening::Info(a), Happening::Info(b)) if a.after == b.after => {
                let in_time = self.is_in_time(recorded.t_ms - row.t_ms);
                if in_time { self.compare_info(a, b).map(Found::State) } else { Some(Found::Order("its time")) }
            }
            (Happening::Out(Out { cause, .. }), Happening::Out(_)) => {
                if *cause == Cause::Timer {
                    self.srtt_tolerance_ms = SRTT_TOLERANCE_MS + NOTICED_LATE_MS / 8.0;
                }
                (!self.is_in_time(recorded.t_ms - row.t_ms)).then_some(Found::Order("its time"))
            }
            (Happening::Ack(_), Happening::Ack(_)) => {
                (!self.is_in_time(recorded.t_ms - row.t_ms)).then_some(Found::Order("its time"))
            }
            _ => Some(Found::Order("what happens")),
        }
    }

    fn is_in_time(&self, late_ms: f64) -> bool {
        late_ms >= -1e3 * self.host.early().as_secs_f64() && late_ms <= 1e3 * self.host.jitter().as_secs_f64()
    }

    /// The first field that differs.
    fn compare_info(&mut self, a: &Info, b: &Info) -> Option<&'static str> {
        let tolerance_ms = self.srtt_tolerance_ms;
        self.srtt_tolerance_ms += (SRTT_TOLERANCE_MS - tolerance_ms) / 8.0;
        let fields = [
            ("ca_state", a.ca_state == b.ca_state),
            ("cwnd", a.cwnd == b.cwnd),
            ("ssthresh", a.ssthresh == b.ssthresh),
            ("unacked", a.unacked == b.unacked),
            ("sacked", a.sacked == b.sacked),
            ("lost", a.lost == b.lost),
            ("retrans", a.retrans == b.retrans),
            ("backoff", a.backoff == b.backoff),
            ("reordering", a.reordering == b.reordering),
            ("srtt", (a.srtt_ms - b.srtt_ms).abs() <= tolerance_ms),
            ("rto", self.is_rto(a.rto_ms, b, tolerance_ms)),
        ];
        fields.iter().find(|(_, agrees)| !agrees).map(|(name, _)| *name)
    }

    /// A kernel's RTO is a whole number of ticks, rounded up, before it is doubled.
    fn is_rto(&self, recorded_ms: f64, here: &Info, tolerance_ms: f64) -> bool {
        let doubled = (1u64 << here.backoff.min(32)) as f64;
        let tick_ms = self.host.tick().as_secs_f64() * 1e3;
        let rounded = |rto_ms: f64| (rto_ms / doubled / tick_ms).ceil() * tick_ms * doubled;
        let (low, high) = (here.rto_ms - tolerance_ms * doubled, here.rto_ms + tolerance_ms * doubled);
        (rounded(low)..=rounded(high)).contains(&recorded_ms)
    }

    /// Ends the list.
    pub fn finish(mut self) -> Report {
        if self.next().is_some() {
            self.order = Some(self.difference("the number of rows", None));
        }
        let (alike, runs) = self.trace.identical_runs;
        let before = |found: &Option<Difference>| found.as_ref().map_or(usize::MAX, |found| found.row - 1);
        let verdict = match (&self.order, &self.state) {
            (None, None) => ReplayVerdict::Pass,
            _ if alike < runs => {
                ReplayVerdict::Skip(format!("the kernel's own runs were alike in {alike} of {runs} only"))
            }
            _ => ReplayVerdict::Fail,
        };
        Report {
            recorded: self.trace.rows.clone(),
            same: before(&self.order).min(before(&self.state)).min(self.rows.len()),
            replayed: self.rows,
            order: self.order,
            state: self.state,
            verdict,
        }
    }
}
