//! All metrics of a run together, and beside them whoever else wants to watch.

use lasthop_units::{Duration, Time};

use crate::metric::{Metric, Metrics};
use crate::{Layout, Observer, Record, Report, Series, Watcher};

/// Feeds every metric, starts them anew after the warm-up and takes the time series.
pub struct Collector<O = ()> {
    layout: Layout,
    metrics: Metrics,
    observer: O,
    started: Time,
    sampled: Time,
    series: Option<Series>,
}

impl<O: Watcher> Collector<O> {
    /// Metrics for `layout`; time series are kept if a number of samples to expect is given, and `observer` is told all
    /// that they are told.
    pub fn new(layout: Layout, samples: Option<usize>, observer: O) -> Self {
        let metrics = Metrics::new(&layout);
        Collector {
            layout,
            metrics,
            observer,
            started: Time::ZERO,
            sampled: Time::ZERO,
            series: samples.map(Series::with_room_for),
        }
    }

    /// The warm-up is over: summaries begin here.
    pub fn start(&mut self, now: Time) {
        self.started = now;
        self.metrics.start(now);
        self.observer.start(now);
    }

    /// Takes one sample of every time series, covering the time since the last one.
    pub fn sample(&mut self, now: Time) {
        let interval = now.since(self.sampled);
        self.sampled = now;
        if let Some(series) = &mut self.series {
            self.metrics.sample(now, interval, series);
        }
    }

    /// The summary from the end of the warm-up to `now`.
    pub fn report(&mut self, now: Time) -> Report {
        let mut report = Report::new(&self.layout);
        self.metrics.report(now, now.since(self.started), &mut report);
        report
    }

    /// As [`report`](Self::report), of a run that goes on.
    pub fn report_so_far(&self, now: Time) -> Report {
        let mut report = Report::new(&self.layout);
        self.metrics.clone().report(now, now.since(self.started), &mut report);
        report
    }

    /// Who watches beside the metrics.
    pub fn observer(&self) -> &O {
        &self.observer
    }

    /// Who watched beside the metrics, and the time series.
    pub fn close(self) -> (O, Series) {
        (self.observer, self.series.unwrap_or_default())
    }

    /// How long summaries have covered at `now`.
    pub fn covered(&self, now: Time) -> Duration {
        now.since(self.started)
    }
}

impl<O: Watcher> Observer for Collector<O> {
    const READS_STEPS: bool = O::READS_STEPS;

    #[inline(always)]
    fn observe(&mut self, at: Time, record: Record) {
        self.metrics.observe(at, &record);
        self.observer.observe(at, record);
    }
}
