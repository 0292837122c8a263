//! Metrics, one file each.
//!
//! A new metric is a file with a type that implements [`Metric`] and the rows of its quantities, and a row in
//! `metrics!` below. Its time series are a type of their own, which implements [`OverTime`] and is in the row too: a
//! run without series does not pay for them.

use lasthop_units::{Duration, Time};

use crate::{Definition, Layout, Places, Record, Report, Series};

/// Quantities over time, computed from records. They ignore the warm-up.
pub trait OverTime: Clone {
    /// The series of everything in `layout`.
    fn new(layout: &Layout) -> Self;
    /// Handles a record.
    fn observe(&mut self, at: Time, record: &Record);
    /// Adds one point to the time series, covering `interval` up to `now`.
    fn sample(&mut self, now: Time, interval: Duration, series: &mut Series);
}

/// A quantity computed from records.
pub trait Metric: Clone {
    /// A metric for everything in `layout`.
    fn new(layout: &Layout) -> Self;
    /// Handles a record.
    fn observe(&mut self, at: Time, record: &Record);
    /// The warm-up is over: forgets the past, keeps the state (such as the length of a queue).
    fn start(&mut self, now: Time);
    /// Adds the same metric of a part of the run at its end, as far as totals need it; rows of entities come from the part.
    fn join(&mut self, part: &Self, places: &Places, now: Time);
    /// Writes the summary over `covered` up to `now`.
    fn report(&mut self, now: Time, covered: Duration, report: &mut Report);
}

macro_rules! metrics {
    ($( $(#[$doc:meta])* $module:ident => $name:ident $(and $over_time:ident)? ),* $(,)?) => {
        $( $(#[$doc])* pub mod $module; )*

        /// The quantities of all metrics.
        pub const QUANTITIES: &[&[&Definition]] = &[$( $module::QUANTITIES ),*];

        /// Every metric.
        #[derive(Clone)]
        pub struct Metrics {
            $( $module: $module::$name, )*
        }

        impl Metric for Metrics {
            fn new(layout: &Layout) -> Self {
                Metrics { $( $module: $module::$name::new(layout), )* }
            }
            // At a place that emits one kind of record, only the metrics that read it remain.
            #[inline(always)]
            fn observe(&mut self, at: Time, record: &Record) {
                $( self.$module.observe(at, record); )*
            }
            fn start(&mut self, now: Time) {
                $( self.$module.start(now); )*
            }
            fn join(&mut self, part: &Self, places: &Places, now: Time) {
                $( self.$module.join(&part.$module, places, now); )*
            }
            fn report(&mut self, now: Time, covered: Duration, report: &mut Report) {
                $( self.$module.report(now, covered, report); )*
            }
        }

        impl Metrics {
            /// The same as [`start`](Metric::start) and [`report`](Metric::report) for some metrics: bits in the order of
            /// [`QUANTITIES`].
            pub(crate) fn start_of(&mut self, wanted: u32, now: Time) {
                let mut bit = 1;
                $( if wanted & bit != 0 { self.$module.start(now); } bit <<= 1; )*
                let _ = bit;
            }
            pub(crate) fn report_of(&mut self, wanted: u32, now: Time, covered: Duration, report: &mut Report) {
                let mut bit = 1;
                $( if wanted & bit != 0 { self.$module.report(now, covered, report); } bit <<= 1; )*
                let _ = bit;
            }
        }

        /// All metrics over time.
        #[derive(Clone)]
        pub struct Sampled {
            $( $( $module: $module::$over_time, )? )*
        }

        impl OverTime for Sampled {
            fn new(layout: &Layout) -> Self {
                Sampled { $( $( $module: $module::$over_time::new(layout), )? )* }
            }
            #[inline(always)]
            fn observe(&mut self, at: Time, record: &Record) {
                $( $( <$module::$over_time as OverTime>::observe(&mut self.$module, at, record); )? )*
            }
            fn sample(&mut self, now: Time, interval: Duration, series: &mut Series) {
                $( $( <$module::$over_time as OverTime>::sample(&mut self.$module, now, interval, series); )? )*
            }
        }

        impl Sampled {
            /// The same as [`sample`](OverTime::sample) for some metrics: bits in the order of [`QUANTITIES`].
            pub(crate) fn sample_of(&mut self, wanted: u32, now: Time, interval: Duration, series: &mut Series) {
                let mut bit = 1;
                $( $( if wanted & bit != 0 {
                    <$module::$over_time as OverTime>::sample(&mut self.$module, now, interval, series);
                } )? bit <<= 1; )*
                let _ = bit;
            }
        }
    };
}

metrics! {
    /// Goodput, completion, starvation and fairness of flows.
    goodput => Goodput and GoodputOverTime,
    /// Time for which goodput had not settled.
    settling => Settling,
    /// Congestion window and flight size.
    window => Window and WindowOverTime,
    /// Round-trip times.
    rtt => Rtt and RttOverTime,
    /// One-way delay of packets, by station.
    latency => Latency,
    /// Segments, retransmissions and timeouts.
    segments => Segments,
    /// Occupancy of interface queues.
    queue => Queue and QueueOverTime,
    /// Drops by reason.
    drops => Drops and DropsOverTime,
    /// Attempts, retries, rates and delays of frames.
    frames => Frames and FramesOverTime,
    /// Decisions of rate controls and their causes.
    rate_decisions => RateDecisions,
    /// Airtime by node and link.
    airtime => Airtime and AirtimeOverTime,
    /// Use of PPDUs of several users.
    users => Users,
    /// Use of the channel.
    medium => Medium,
}

/// The integral of a value that changes in steps.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Integral {
    value: f64,
    since: Time,
    /// Sum of value times nanoseconds.
    sum: f64,
    max: f64,
}

impl Integral {
    /// Sets the value from `at` on.
    #[inline]
    pub(crate) fn set(&mut self, at: Time, value: f64) {
        // A signed number is converted by one instruction, and a run is shorter than its 292 years.
        self.sum += self.value * at.since(self.since).as_nanos() as i64 as f64;
        self.since = at;
        self.value = value;
        self.max = if value > self.max { value } else { self.max };
    }
    /// The current value.
    pub(crate) fn value(&self) -> f64 {
        self.value
    }
    /// The greatest value since the start.
    pub(crate) fn max(&self) -> f64 {
        self.max
    }
    /// Forgets the past, keeps the value.
    pub(crate) fn start(&mut self, now: Time) {
        *self = Integral { value: self.value, since: now, sum: 0.0, max: self.value };
    }
    /// The same; a value known ahead holds from its own time on, after zero.
    pub(crate) fn start_after_zero(&mut self, now: Time) {
        *self = Integral { value: self.value, since: self.since.max(now), sum: 0.0, max: self.value };
    }
    /// Adds another value over the same time, up to `now`.
    pub(crate) fn add(&mut self, mut other: Integral, now: Time) {
        self.set(now, self.value);
        other.set(now, other.value);
        (self.sum, self.value, self.max) = (self.sum + other.sum, self.value + other.value, f64::NAN);
    }
    /// The mean over `covered` up to `now`.
    pub(crate) fn mean(&self, now: Time, covered: Duration) -> f64 {
        let sum = self.sum + self.value * now.since(self.since).as_nanos() as i64 as f64;
        sum / covered.as_nanos() as f64
    }
}
