//! All metrics of a run together, and an account of time beside them where somebody wants one.

use lasthop_units::{Duration, Time};

use crate::account::{Balance, Bookkeeper};
use crate::metric::{Metric, Metrics};
use crate::{Layout, Observer, Record, Report, Series};

/// Feeds every metric, starts them anew after the warm-up and takes the time series.
pub struct Collector<B = ()> {
    layout: Layout,
    metrics: Metrics,
    books: B,
    started: Time,
    sampled: Time,
    series: Option<Series>,
}

impl<B: Bookkeeper> Collector<B> {
    /// Metrics for `layout`; time series are kept if a number of samples to expect is given, and `books` are.
    pub fn new(layout: Layout, samples: Option<usize>, books: B) -> Self {
        let metrics = Metrics::new(&layout);
        Collector {
            layout,
            metrics,
            books,
            started: Time::ZERO,
            sampled: Time::ZERO,
            series: samples.map(Series::with_room_for),
        }
    }

    /// The warm-up is over: summaries begin here.
    pub fn start(&mut self, now: Time) {
        self.started = now;
        self.metrics.start(now);
        self.books.start(now);
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

    /// Where the time went up to `now`, if books were kept, and the time series.
    pub fn close(self, now: Time) -> (Option<Balance>, Series) {
        (self.books.close(now), self.series.unwrap_or_default())
    }

    /// How long summaries have covered at `now`.
    pub fn covered(&self, now: Time) -> Duration {
        now.since(self.started)
    }
}

impl<B: Bookkeeper> Observer for Collector<B> {
    const READS_STEPS: bool = B::READS_STEPS;

    #[inline(always)]
    fn observe(&mut self, at: Time, record: Record) {
        self.metrics.observe(at, &record);
        self.books.observe(at, record);
    }
}
