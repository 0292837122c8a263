//! Attempts to send data frames: their number, retries, rates and delays.
//!
//! An attempt is one data frame, or the RTS that precedes it. Control responses are not counted.

use lasthop_units::{Duration, Time};

use crate::metric::{Metric, OverTime};
use crate::places::put;
use crate::{Histogram, Layout, Outcome, Places, Record, Report, Series};

crate::quantities! {
    /// Attempts of all nodes that were lost to a collision, over attempts.
    COLLISIONS_OF_ALL: Medium, f64, Summary => "collision_probability", Probability, One, "collision probability";
    /// Attempts of the node.
    FRAMES_SENT: Node, u64, Summary => "frames_sent", Count, One, "frames sent";
    /// Attempts of the node that were retries.
    FRAMES_RETRIED: Node, u64, Summary => "frames_retried", Count, One, "frames retried";
    /// PHY rate of the data PPDU, mean over attempts.
    DATA_RATE_MEAN: Node, f64, Summary => "mean_data_rate_bps", Mean, BitsPerSecond, "PHY rate, mean";
    /// MPDUs of a data PPDU, mean over attempts; 1 without aggregation.
    MPDUS_MEAN: Node, f64, Summary => "mpdus_per_ampdu_mean", Mean, One, "MPDUs per A-MPDU, mean";
    /// Attempts that were lost to a collision, over attempts.
    COLLISIONS: Node, f64, Summary => "collision_probability", Probability, One, "collision probability";
    /// Attempts that were lost to noise alone, over attempts.
    NOISE: Node, f64, Summary => "noise_probability", Probability, One, "noise probability";
    /// Attempts that were lost to nodes that the sender does not hear, over attempts; medium-access.md says where the line
    /// is.
    INTERFERENCE: Node, f64, Summary => "interference_probability", Probability, One, "interference probability";
    /// Attempts that were lost to interferers, over attempts.
    INTERFERERS: Node, f64, Feature => "interferer_probability", Probability, One, "interferer probability", only "scenarios with interferers";
    /// Number of times that two access categories of the node wanted to send at the same instant.
    INTERNAL_COLLISIONS: Node, u64, Summary => "internal_collisions", Count, One, "internal collisions";
    /// Attempts over this link.
    LINK_FRAMES_SENT: Link, u64, Summary => "frames_sent", Count, One, "frames sent";
    /// PHY rate of the data PPDU, mean over attempts.
    LINK_DATA_RATE_MEAN: Link, f64, Summary => "mean_data_rate_bps", Mean, BitsPerSecond, "PHY rate, mean";
    /// MPDUs of a data PPDU, mean over attempts; 1 without aggregation.
    LINK_MPDUS_MEAN: Link, f64, Summary => "mpdus_per_ampdu_mean", Mean, One, "MPDUs per A-MPDU, mean";
    /// Retries over attempts.
    RETRIES: Link, f64, Summary => "retry_fraction", Fraction, One, "retried attempts";
    /// MPDUs that were sent and not acknowledged, over those sent.
    MPDU_LOSS: Link, f64, Summary => "mpdu_loss_fraction", Fraction, One, "MPDU loss";
    /// Median of the time from the moment at which the sender's MAC takes the packet of an MPDU from the queue to the end of
    /// the PPDU that brought it. Only first arrivals count, without the recipient's wait for earlier MPDUs.
    DELAY_P50: Link, f64, Summary => "delay_p50_s", Quantile, Delay, "delay on the air, median";
    /// 95th percentile of the delays on the air; see `delay_p50_s`.
    DELAY_P95: Link, f64, Summary => "delay_p95_s", Quantile, Delay, "delay on the air, 95th percentile";
    /// Quantiles of the delays on the air at the probabilities in `quantile_probabilities` of the run, in whole nanoseconds.
    DELAY_QUANTILES: Link, Vec<f64>, Summary => "delay_quantiles_s", List, Delay, "delay on the link";
    /// PHY rate of the data PPDU, mean over the attempts of the interval; NaN without any.
    DATA_RATE: Link, f64, Series => "data_rate_bps", Mean, BitsPerSecond, "PHY rate";
    /// MPDUs of a data PPDU, mean over the attempts of the interval; NaN without any.
    MPDUS: Link, f64, Series => "mpdus_per_ampdu", Mean, One, "MPDUs per A-MPDU";
    /// Delay on the air as in `delay_p50_s`, mean over the MPDUs that arrived in the interval; NaN without any.
    AIR_DELAY: Link, f64, Series => "air_delay_s", Mean, Delay, "delay on the air";
}

#[derive(Clone, Copy, Debug, Default)]
struct Attempts {
    all: u64,
    retries: u64,
    collided: u64,
    noisy: u64,
    internal: u64,
    interfered: u64,
    /// lost to interferers
    burst: u64,
    mpdus: u64,
    acknowledged: u64,
    /// Sum of rates in bit/s: 2^64 holds 10^9 attempts at 10 Gbit/s.
    rate_sum: u64,
}

impl Attempts {
    fn add(&mut self, rate_bps: u64, (mpdus, acknowledged): (u32, u32), retry: bool, outcome: Outcome) {
        self.all += 1;
        self.retries += u64::from(retry);
        self.collided += u64::from(outcome == Outcome::Collision);
        self.mpdus += u64::from(mpdus);
        self.acknowledged += u64::from(acknowledged);
        self.noisy += u64::from(outcome == Outcome::Noise);
        self.interfered += u64::from(outcome == Outcome::Interference);
        self.burst += u64::from(outcome == Outcome::Interferer);
        self.rate_sum += rate_bps;
    }
    /// The fraction of MPDUs of all attempts that were not acknowledged.
    fn mpdu_loss(&self) -> Option<f64> {
        (self.mpdus > 0).then(|| (self.mpdus - self.acknowledged) as f64 / self.mpdus as f64)
    }
    fn per_attempt(&self, sum: u64) -> Option<f64> {
        (self.all > 0).then(|| sum as f64 / self.all as f64)
    }
}

#[derive(Clone, Debug, Default)]
struct Link {
    attempts: Attempts,
    delays: Histogram,
}

/// Attempts of each node and over each link, and the delays of frames.
#[derive(Clone)]
pub struct Frames {
    nodes: Vec<Attempts>,
    links: Vec<Link>,
    has_interferers: bool,
}

impl Metric for Frames {
    fn new(layout: &Layout) -> Self {
        let (nodes, links) = (vec![Attempts::default(); layout.nodes], vec![Link::default(); layout.links]);
        Frames { nodes, links, has_interferers: layout.interferers }
    }

    #[inline(always)]
    fn observe(&mut self, _: Time, record: &Record) {
        match *record {
            Record::Attempt { link, node, rate, mpdus, acknowledged, retry, outcome } => {
                let link = &mut self.links[link.index()];
                for attempts in [&mut self.nodes[node.index()], &mut link.attempts] {
                    attempts.add(rate.as_bps(), (mpdus, acknowledged), retry, outcome);
                }
            }
            Record::InternalCollision { node } => self.nodes[node.index()].internal += 1,
            Record::FrameDelivered { link, delay } => {
                self.links[link.index()].delays.add(delay);
            }
            _ => {}
        }
    }

    fn start(&mut self, _: Time) {
        self.nodes.fill(Attempts::default());
        for link in &mut self.links {
            link.attempts = Attempts::default();
            link.delays = Histogram::default();
        }
    }

    fn join(&mut self, part: &Self, places: &Places, _: Time) {
        put(&mut self.nodes, &places.nodes, part.nodes.iter().copied());
    }

    fn report(&mut self, _: Time, _: Duration, report: &mut Report) {
        for (attempts, row) in self.nodes.iter().zip(&mut report.nodes) {
            row.put(FRAMES_SENT, attempts.all);
            row.put(FRAMES_RETRIED, attempts.retries);
            row.put(DATA_RATE_MEAN, attempts.per_attempt(attempts.rate_sum));
            row.put(MPDUS_MEAN, attempts.per_attempt(attempts.mpdus));
            row.put(COLLISIONS, attempts.per_attempt(attempts.collided));
            row.put(NOISE, attempts.per_attempt(attempts.noisy));
            row.put(INTERFERENCE, attempts.per_attempt(attempts.interfered));
            if self.has_interferers {
                row.put_of_feature(INTERFERERS, attempts.per_attempt(attempts.burst));
            }
            row.put(INTERNAL_COLLISIONS, attempts.internal);
        }
        for (link, row) in self.links.iter().zip(&mut report.links) {
            let attempts = &link.attempts;
            row.put(LINK_FRAMES_SENT, attempts.all);
            row.put(LINK_DATA_RATE_MEAN, attempts.per_attempt(attempts.rate_sum));
            row.put(LINK_MPDUS_MEAN, attempts.per_attempt(attempts.mpdus));
            row.put(RETRIES, attempts.per_attempt(attempts.retries));
            row.put(MPDU_LOSS, attempts.mpdu_loss());
            row.put(DELAY_P50, link.delays.quantile_s(0.5));
            row.put(DELAY_P95, link.delays.quantile_s(0.95));
            row.put(DELAY_QUANTILES, link.delays.quantiles_s());
        }
        let (all, collided) = self.nodes.iter().fold((0, 0), |sum, a| (sum.0 + a.all, sum.1 + a.collided));
        report.medium.put(COLLISIONS_OF_ALL, (all > 0).then(|| collided as f64 / all as f64));
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Interval {
    attempts: u32,
    /// Sum of rates in bit/s.
    rate_sum: u64,
    mpdus: u64,
    arrivals: u32,
    delay_sum: Duration,
}

/// Rate, size and delay of frames over each link, in each interval.
#[derive(Clone)]
pub struct FramesOverTime {
    links: Vec<Interval>,
}

impl OverTime for FramesOverTime {
    fn new(layout: &Layout) -> Self {
        FramesOverTime { links: vec![Interval::default(); layout.links] }
    }

    #[inline(always)]
    fn observe(&mut self, _: Time, record: &Record) {
        match *record {
            Record::Attempt { link, rate, mpdus, .. } => {
                let link = &mut self.links[link.index()];
                link.attempts += 1;
                link.rate_sum += rate.as_bps();
                link.mpdus += u64::from(mpdus);
            }
            Record::FrameDelivered { link, delay } => {
                let link = &mut self.links[link.index()];
                link.arrivals += 1;
                link.delay_sum += delay;
            }
            _ => {}
        }
    }

    fn sample(&mut self, _: Time, _: Duration, series: &mut Series) {
        let links = || self.links.iter().enumerate().map(|(i, link)| (i as u32, link));
        let mean = |sum: f64, n: u32| if n > 0 { sum / f64::from(n) } else { f64::NAN };
        series.push(DATA_RATE, links().map(|(i, l)| (i, mean(l.rate_sum as f64, l.attempts))));
        series.push(MPDUS, links().map(|(i, l)| (i, mean(l.mpdus as f64, l.attempts))));
        series.push(AIR_DELAY, links().map(|(i, l)| (i, mean(l.delay_sum.as_secs_f64(), l.arrivals))));
        self.links.fill(Interval::default());
    }
}
