//! The metrics of a run, fed from a capture. Quantities that a capture cannot give are absent.

use std::collections::BTreeMap;

use lasthop_observe::metric::airtime::{Airtime, AirtimeOverTime};
use lasthop_observe::metric::frames::{self, Frames, FramesOverTime};
use lasthop_observe::metric::goodput::{BYTES_DELIVERED, GOODPUT, Goodput, GoodputOverTime, STARVED};
use lasthop_observe::metric::goodput::{GOODPUT_OF_ALL, GOODPUT_OF_DOWNLOADS, GOODPUT_OF_UPLOADS};
use lasthop_observe::metric::goodput::{JAIN_OF_ALL, JAIN_OF_DOWNLOADS, JAIN_OF_UPLOADS};
use lasthop_observe::metric::medium::{self, Medium};
use lasthop_observe::metric::rtt::{Rtt, RttOverTime};
use lasthop_observe::metric::segments::{self, Segments};
use lasthop_observe::metric::{Metric, OverTime};
use lasthop_observe::{FlowId, Layout, Record, Report, Series};
use lasthop_units::{Duration, Time};

use crate::site::Flow;
use crate::unknown::blank_columns;

/// The metrics that a capture can feed, from the start of a window to its end.
pub(crate) struct Measure {
    layout: Layout,
    window: (Time, Time),
    has_begun: bool,
    goodput: Goodput,
    rtt: Rtt,
    segments: Segments,
    frames: Frames,
    airtime: Airtime,
    medium: Medium,
    over_time: Option<Sampled>,
}

/// Bytes that were delivered in intervals that are over.
type Late = BTreeMap<(usize, FlowId), u64>;

struct Sampled {
    late: Late,
    interval: Duration,
    next: Time,
    series: Series,
    goodput: GoodputOverTime,
    rtt: RttOverTime,
    frames: FramesOverTime,
    airtime: AirtimeOverTime,
}

impl Measure {
    pub(crate) fn new(layout: Layout, window: (Time, Time), interval: Option<Duration>) -> Measure {
        let over_time = interval.filter(|interval| *interval > Duration::ZERO).map(|interval| Sampled {
            interval,
            next: window.0 + interval,
            series: Series::default(),
            late: Late::new(),
            goodput: GoodputOverTime::new(&layout),
            rtt: RttOverTime::new(&layout),
            frames: FramesOverTime::new(&layout),
            airtime: AirtimeOverTime::new(&layout),
        });
        Measure {
            window,
            has_begun: false,
            goodput: Goodput::new(&layout),
            rtt: Rtt::new(&layout),
            segments: Segments::new(&layout),
            frames: Frames::new(&layout),
            airtime: Airtime::new(&layout),
            medium: Medium::new(&layout),
            over_time,
            layout,
        }
    }

    /// Moves the time forward to `at`.
    pub(crate) fn advance(&mut self, at: Time) {
        if !self.has_begun && at >= self.window.0 {
            self.has_begun = true;
            let now = self.window.0;
            self.goodput.start(now);
            self.rtt.start(now);
            self.segments.start(now);
            self.frames.start(now);
            self.airtime.start(now);
            self.medium.start(now);
            if let Some(sampled) = &mut self.over_time {
                sampled.begin(now);
            }
        }
        if let Some(sampled) = &mut self.over_time {
            sampled.advance(at.min(self.window.1));
        }
    }

    /// Handles `record`, which happened at `at`, before the end of the window.
    pub(crate) fn observe(&mut self, at: Time, record: &Record) {
        self.goodput.observe(at, record);
        self.rtt.observe(at, record);
        self.segments.observe(at, record);
        self.frames.observe(at, record);
        self.airtime.observe(at, record);
        self.medium.observe(at, record);
        if let Some(sampled) = &mut self.over_time {
            sampled.goodput.observe(at, record);
            sampled.rtt.observe(at, record);
            sampled.frames.observe(at, record);
            sampled.airtime.observe(at, record);
        }
    }

    /// Handles a delivery of which an acknowledgement tells after it happened, at `when`. Those of a connection come in
    /// the order of their times.
    pub(crate) fn delivered_before(&mut self, when: Time, record: &Record) {
        if when < self.window.0 || when >= self.window.1 {
            return;
        }
        self.goodput.observe(when, record);
        if let (Some(sampled), Record::Delivered { flow, bytes }) = (&mut self.over_time, record) {
            let row = when.since(self.window.0).div_floor(sampled.interval) as usize;
            *sampled.late.entry((row, *flow)).or_default() += bytes;
        }
    }

    /// The summary of the window, and the series.
    pub(crate) fn finish(mut self, flows: &[Flow]) -> (Report, Option<Series>) {
        let now = self.window.1;
        self.advance(now);
        let covered = now.since(self.window.0);
        let mut report = Report::new(&self.layout);
        self.goodput.report(now, covered, &mut report);
        self.rtt.report(now, covered, &mut report);
        self.segments.report(now, covered, &mut report);
        self.frames.report(now, covered, &mut report);
        self.airtime.report(now, covered, &mut report);
        self.medium.report(now, covered, &mut report);
        withdraw(&mut report);
        // Packets that wait and are dropped in a station's queue pass no sniffer.
        for (row, _) in report.flows.iter_mut().zip(flows).filter(|(_, flow)| !flow.sender_is_seen) {
            row.withdraw(segments::SEGMENTS_SENT);
            row.withdraw(segments::SEGMENTS_RETRANSMITTED);
        }
        withdraw_goodput(&mut report, flows);
        (report, self.over_time.map(|sampled| sampled.into_series(flows)))
    }
}

/// Removes goodputs that no packet shows.
fn withdraw_goodput(report: &mut Report, flows: &[Flow]) {
    for (row, _) in report.flows.iter_mut().zip(flows).filter(|(_, flow)| !flow.has_goodput()) {
        row.withdraw(GOODPUT);
        row.withdraw(BYTES_DELIVERED);
        row.withdraw(STARVED);
    }
    let known = |up: bool| Flow::have_goodput(flows.iter().filter(|flow| flow.up == up));
    if !known(true) {
        report.totals.withdraw(GOODPUT_OF_UPLOADS);
        report.totals.withdraw(JAIN_OF_UPLOADS);
    }
    if !known(false) {
        report.totals.withdraw(GOODPUT_OF_DOWNLOADS);
        report.totals.withdraw(JAIN_OF_DOWNLOADS);
    }
    if !Flow::have_goodput(flows.iter()) {
        report.totals.withdraw(GOODPUT_OF_ALL);
        report.totals.withdraw(JAIN_OF_ALL);
    }
}

impl Sampled {
    /// Starts the series with the window.
    fn begin(&mut self, now: Time) {
        let mut forgotten = Series::default();
        self.take(now, &mut forgotten);
    }

    fn advance(&mut self, at: Time) {
        while self.next <= at {
            let now = self.next;
            let mut series = std::mem::take(&mut self.series);
            self.take(now, &mut series);
            self.series = series;
            self.next = now + self.interval;
        }
    }

    /// The series, with late deliveries in their row, and without goodputs that no packet shows.
    fn into_series(mut self, flows: &[Flow]) -> Series {
        let goodput = self.series.blocks.iter_mut().find(|block| block.quantity.is(GOODPUT.definition()));
        let Some(block) = goodput else { return self.series };
        let columns = block.entities.len();
        for ((row, flow), bytes) in self.late {
            let column = block.entities.iter().position(|&entity| entity == flow.0);
            if let Some(value) = column.and_then(|column| block.values.get_mut(row * columns + column)) {
                *value += bytes as f64 * 8.0 / self.interval.as_secs_f64();
            }
        }
        blank_columns(block, |flow| !flows[flow as usize].has_goodput());
        self.series
    }

    fn take(&mut self, now: Time, series: &mut Series) {
        self.goodput.sample(now, self.interval, series);
        self.rtt.sample(now, self.interval, series);
        self.frames.sample(now, self.interval, series);
        self.airtime.sample(now, self.interval, series);
    }
}

/// Removes quantities that need records which a capture cannot give.
fn withdraw(report: &mut Report) {
    for flow in &mut report.flows {
        flow.withdraw(segments::TIMEOUTS);
        flow.withdraw(segments::ACK_LOSSES_DETECTED);
    }
    for node in &mut report.nodes {
        node.withdraw(frames::COLLISIONS);
        node.withdraw(frames::NOISE);
        node.withdraw(frames::INTERFERENCE);
        node.withdraw(frames::INTERNAL_COLLISIONS);
    }
    for link in &mut report.links {
        link.withdraw(frames::DELAY_P50);
        link.withdraw(frames::DELAY_P95);
        link.withdraw(frames::DELAY_QUANTILES);
    }
    report.medium.withdraw(frames::COLLISIONS_OF_ALL);
    report.medium.withdraw(medium::COLLISION);
    report.medium.withdraw(medium::CONTENDERS);
}
