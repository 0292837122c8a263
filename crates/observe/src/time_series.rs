//! Time series: an observer that takes a sample of its metrics at regular times.

use lasthop_units::{Duration, Time};

use crate::metric::{OverTime, Sampled};
use crate::{Layout, Observer, Places, Record, Series, Watcher};

/// Takes a sample of every series once per interval, the first at its end. Series cover the warm-up
/// too.
#[derive(Clone)]
pub struct TimeSeries {
    sampled: Sampled,
    interval: Duration,
    next: Time,
    series: Series,
}

impl TimeSeries {
    /// Series of everything in `layout` over a run of length `duration`.
    ///
    /// # Panics
    /// If `interval` is zero.
    pub fn new(layout: &Layout, interval: Duration, duration: Duration) -> TimeSeries {
        assert!(interval > Duration::ZERO, "samples are some time apart");
        let samples = duration.div_floor(interval) as usize;
        let series = Series::with_room_for(samples);
        TimeSeries { sampled: Sampled::new(layout), interval, next: Time::ZERO + interval, series }
    }

    /// The time between samples.
    pub fn interval(&self) -> Duration {
        self.interval
    }

    /// The series of a run from those of its parts, which have the same interval; `None` if there are no parts.
    pub fn joined(parts: &[(&TimeSeries, &Places)]) -> Option<TimeSeries> {
        let (one, _) = parts.first()?;
        let series = Series::joined(parts.iter().map(|(part, places)| (&part.series, *places)));
        Some(TimeSeries { series, ..(*one).clone() })
    }

    /// The recorded series.
    pub fn into_series(self) -> Series {
        self.series
    }
}

impl Observer for TimeSeries {
    #[inline(always)]
    fn observe(&mut self, at: Time, record: Record) {
        self.sampled.observe(at, &record);
    }
}

impl Watcher for TimeSeries {
    fn next_sample(&self) -> Time {
        self.next
    }
    fn sample(&mut self, now: Time) {
        self.sampled.sample(now, self.interval, &mut self.series);
        self.next = now + self.interval;
    }
}
