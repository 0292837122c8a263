//! Attempts to send data frames: how many, how many again, at which rate, with what delay.
//!
//! An attempt is one data frame, or the RTS that precedes it. Control responses are not counted.

use lasthop_units::{Duration, Time};

use crate::metric::Metric;
use crate::{Histogram, Layout, Outcome, Record, Report, Scope, Series};

#[derive(Clone, Copy, Debug, Default)]
struct Attempts {
    all: u64,
    retries: u64,
    collided: u64,
    noisy: u64,
    internal: u64,
    interfered: u64,
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
        self.rate_sum += rate_bps;
    }
    /// MPDUs of all attempts that were not acknowledged, of all.
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
    interval: Attempts,
    delays: Histogram,
    interval_delay: (u32, Duration),
}

/// See the module.
#[derive(Clone)]
pub struct Frames {
    nodes: Vec<Attempts>,
    links: Vec<Link>,
}

impl Metric for Frames {
    fn new(layout: &Layout) -> Self {
        Frames { nodes: vec![Attempts::default(); layout.nodes], links: vec![Link::default(); layout.links] }
    }

    #[inline(always)]
    fn observe(&mut self, _: Time, record: &Record) {
        match *record {
            Record::Attempt { link, node, rate, mpdus, acknowledged, retry, outcome } => {
                let link = &mut self.links[link.index()];
                for attempts in [&mut self.nodes[node.index()], &mut link.attempts, &mut link.interval] {
                    attempts.add(rate.as_bps(), (mpdus, acknowledged), retry, outcome);
                }
            }
            Record::InternalCollision { node } => self.nodes[node.index()].internal += 1,
            Record::FrameDelivered { link, delay } => {
                let link = &mut self.links[link.index()];
                link.delays.add(delay);
                link.interval_delay.0 += 1;
                link.interval_delay.1 += delay;
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

    fn sample(&mut self, _: Time, _: Duration, series: &mut Series) {
        let links = || self.links.iter().enumerate();
        let rate = |l: &Link| l.interval.per_attempt(l.interval.rate_sum).unwrap_or(f64::NAN);
        let mpdus = |l: &Link| l.interval.per_attempt(l.interval.mpdus).unwrap_or(f64::NAN);
        let delay = |l: &Link| l.interval_delay.1.as_secs_f64() / f64::from(l.interval_delay.0);
        series.push("data_rate_bps", Scope::Link, links().map(|(i, l)| (i as u32, rate(l))));
        series.push("mpdus_per_ampdu", Scope::Link, links().map(|(i, l)| (i as u32, mpdus(l))));
        series.push("air_delay_s", Scope::Link, links().map(|(i, l)| (i as u32, delay(l))));
        for link in &mut self.links {
            link.interval = Attempts::default();
            link.interval_delay = (0, Duration::ZERO);
        }
    }

    fn report(&mut self, _: Time, _: Duration, report: &mut Report) {
        for (attempts, row) in self.nodes.iter().zip(&mut report.nodes) {
            row.put_count("frames_sent", attempts.all);
            row.put_count("frames_retried", attempts.retries);
            row.put("mean_data_rate_bps", attempts.per_attempt(attempts.rate_sum));
            row.put("mpdus_per_ampdu_mean", attempts.per_attempt(attempts.mpdus));
            row.put("collision_probability", attempts.per_attempt(attempts.collided));
            row.put("noise_probability", attempts.per_attempt(attempts.noisy));
            row.put("interference_probability", attempts.per_attempt(attempts.interfered));
            row.put_count("internal_collisions", attempts.internal);
        }
        for (link, row) in self.links.iter().zip(&mut report.links) {
            let attempts = &link.attempts;
            row.put_count("frames_sent", attempts.all);
            row.put("mean_data_rate_bps", attempts.per_attempt(attempts.rate_sum));
            row.put("mpdus_per_ampdu_mean", attempts.per_attempt(attempts.mpdus));
            row.put("retry_fraction", attempts.per_attempt(attempts.retries));
            row.put("mpdu_loss_fraction", attempts.mpdu_loss());
            row.put("delay_p50_s", link.delays.quantile_s(0.5));
            row.put("delay_p95_s", link.delays.quantile_s(0.95));
            row.put_list("delay_quantiles_s", link.delays.quantiles_s());
        }
        let (all, collided) = self.nodes.iter().fold((0, 0), |sum, a| (sum.0 + a.all, sum.1 + a.collided));
        report.medium.put("collision_probability", (all > 0).then(|| collided as f64 / all as f64));
    }
}
