//! All metrics of a run together, with another watcher.

use lasthop_units::{Duration, Time};

use crate::detail::{Detail, FrameFacts, PacketFacts};
use crate::metric::{Metric, Metrics};
use crate::{Layout, Observer, Record, Report, Watcher};

/// Feeds every metric and resets them after the warm-up.
pub struct Collector<O = ()> {
    layout: Layout,
    metrics: Metrics,
    observer: O,
    started: Time,
}

impl<O: Watcher> Collector<O> {
    /// Metrics for `layout`; `observer` receives the same records.
    pub fn new(layout: Layout, observer: O) -> Self {
        let metrics = Metrics::new(&layout);
        Collector { layout, metrics, observer, started: Time::ZERO }
    }

    /// The warm-up is over: summaries begin here.
    pub fn start(&mut self, now: Time) {
        self.started = now;
        self.metrics.start(now);
        self.observer.start(now);
    }

    /// Samples the watcher at the time that it has set.
    pub fn sample(&mut self, now: Time) {
        self.observer.sample(now);
    }

    /// The summary from the end of the warm-up to `now`.
    pub fn report(&mut self, now: Time) -> Report {
        let mut report = Report::new(&self.layout);
        self.metrics.report(now, now.since(self.started), &mut report);
        report
    }

    /// The same as [`report`](Self::report), for a run that continues.
    pub fn report_so_far(&self, now: Time) -> Report {
        let mut report = Report::new(&self.layout);
        self.metrics.clone().report(now, now.since(self.started), &mut report);
        report
    }

    /// The watcher beside the metrics.
    pub fn observer(&self) -> &O {
        &self.observer
    }

    /// The same, for changes.
    pub fn observer_mut(&mut self) -> &mut O {
        &mut self.observer
    }

    /// The metrics, and the watcher beside them.
    pub fn into_parts(self) -> (Metrics, O) {
        (self.metrics, self.observer)
    }

    /// The time covered by summaries at `now`.
    pub fn covered(&self, now: Time) -> Duration {
        now.since(self.started)
    }
}

impl<O: Watcher> Observer for Collector<O> {
    const READS_STEPS: bool = O::READS_STEPS;
    const READS_DETAILS: bool = O::READS_DETAILS;
    const READS_FRAMES: bool = O::READS_FRAMES;

    #[inline(always)]
    fn reads_steps(&self) -> bool {
        self.observer.reads_steps()
    }

    #[inline(always)]
    fn reads_frames(&self) -> bool {
        self.observer.reads_frames()
    }

    #[inline(always)]
    fn reads_waits(&self) -> bool {
        self.observer.reads_waits()
    }

    #[inline(always)]
    fn reads_segments(&self) -> bool {
        self.observer.reads_segments()
    }

    #[inline(always)]
    fn awaits_txops(&self) -> bool {
        self.observer.awaits_txops()
    }

    #[inline(always)]
    fn pauses(&self) -> bool {
        self.observer.pauses()
    }

    #[inline(always)]
    fn observe(&mut self, at: Time, record: Record) {
        self.metrics.observe(at, &record);
        self.observer.observe(at, record);
    }

    #[inline(always)]
    fn detail(&mut self, at: Time, detail: Detail) {
        self.observer.detail(at, detail);
    }

    #[inline(always)]
    fn packet(&mut self, at: Time, facts: &PacketFacts, payload: &[u8]) {
        self.observer.packet(at, facts, payload);
    }

    #[inline(always)]
    fn frame(&mut self, facts: &FrameFacts, bytes: &[u8]) {
        self.observer.frame(facts, bytes);
    }
}
