//! Round-trip times as measured by TCP and QUIC senders and by senders of echo requests.

use lasthop_units::{Duration, Time};

use crate::metric::{Metric, OverTime};
use crate::{Histogram, Layout, Places, Record, Report, Series, Transport};

crate::quantities! {
    /// Mean of the sender's RTT samples (tcp.md); of a `ping`, of its round trips.
    RTT_MEAN: Flow, f64, Summary => "rtt_mean_s", Mean, Delay, "RTT, mean", only "TCP, QUIC, ping";
    /// The smallest RTT sample.
    RTT_MIN: Flow, f64, Summary => "rtt_min_s", Minimum, Delay, "RTT, minimum", only "TCP, QUIC, ping";
    /// Median of the RTT samples, within a bucket of at most 1/16 of its value.
    RTT_P50: Flow, f64, Summary => "rtt_p50_s", Quantile, Delay, "RTT, median", only "TCP, QUIC, ping";
    /// 95th percentile of the RTT samples, within a bucket of at most 1/16 of its value.
    RTT_P95: Flow, f64, Summary => "rtt_p95_s", Quantile, Delay, "RTT, 95th percentile", only "TCP, QUIC, ping";
    /// 99th percentile of the RTT samples, within a bucket of at most 1/16 of its value.
    RTT_P99: Flow, f64, Summary => "rtt_p99_s", Quantile, Delay, "RTT, 99th percentile", only "TCP, QUIC, ping";
    /// Quantiles of the RTT samples at the probabilities in `quantile_probabilities` of the run, in whole nanoseconds.
    RTT_QUANTILES: Flow, Vec<f64>, Summary => "rtt_quantiles_s", List, Delay, "RTT", only "TCP, QUIC, ping";
    /// The latest RTT sample.
    RTT: Flow, f64, Series => "rtt_s", Level, Delay, "RTT", only "TCP, QUIC, ping";
    /// The RTT that the congestion control works with; NaN for those that use none.
    CONTROLLER_RTT: Flow, f64, Series => "controller_rtt_s", Level, Delay, "RTT of the congestion control", only "TCP, QUIC";
}

#[derive(Clone, Debug, Default)]
struct Flow {
    samples: Histogram,
    least: Option<Duration>,
}

/// The minimum RTT sample of each flow, and the distribution of all.
#[derive(Clone)]
pub struct Rtt {
    flows: Vec<Option<Flow>>,
}

impl Metric for Rtt {
    fn new(layout: &Layout) -> Self {
        Rtt { flows: layout.flows.iter().map(|&(t, _)| (t != Transport::Udp).then(Flow::default)).collect() }
    }

    #[inline(always)]
    fn observe(&mut self, _: Time, record: &Record) {
        if let Record::Rtt { flow, sample, .. } = *record
            && let Some(flow) = &mut self.flows[flow.index()]
        {
            flow.samples.add(sample);
            flow.least = Some(flow.least.map_or(sample, |least| least.min(sample)));
        }
    }

    fn start(&mut self, _: Time) {
        self.flows.iter_mut().flatten().for_each(|f| (f.samples, f.least) = (Histogram::default(), None));
    }

    fn join(&mut self, _: &Self, _: &Places, _: Time) {}

    fn report(&mut self, _: Time, _: Duration, report: &mut Report) {
        for (flow, row) in self.flows.iter().zip(&mut report.flows) {
            let samples = flow.as_ref().map(|f| &f.samples);
            let quantile = |q: f64| samples.and_then(|s| s.quantile_s(q));
            row.put(RTT_MEAN, samples.and_then(Histogram::mean_s));
            row.put(RTT_MIN, flow.as_ref().and_then(|f| f.least).map(Duration::as_secs_f64));
            row.put(RTT_P50, quantile(0.5));
            row.put(RTT_P95, quantile(0.95));
            row.put(RTT_P99, quantile(0.99));
            row.put(RTT_QUANTILES, samples.and_then(Histogram::quantiles_s));
        }
    }
}

/// The latest RTT sample of each flow, and its controller's RTT, at each sample.
#[derive(Clone)]
pub struct RttOverTime {
    flows: Vec<Option<Latest>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Latest {
    sample: Option<Duration>,
    controller: Option<Duration>,
}

impl OverTime for RttOverTime {
    fn new(layout: &Layout) -> Self {
        let flow = |&(transport, _)| (transport != Transport::Udp).then(Latest::default);
        RttOverTime { flows: layout.flows.iter().map(flow).collect() }
    }

    #[inline(always)]
    fn observe(&mut self, _: Time, record: &Record) {
        if let Record::Rtt { flow, sample, controller } = *record
            && let Some(latest) = &mut self.flows[flow.index()]
        {
            *latest = Latest { sample: Some(sample), controller };
        }
    }

    fn sample(&mut self, _: Time, _: Duration, series: &mut Series) {
        let flows = || self.flows.iter().enumerate().filter_map(|(i, f)| Some((i as u32, f.as_ref()?)));
        let seconds = |d: Option<Duration>| d.map_or(f64::NAN, Duration::as_secs_f64);
        series.push(RTT, flows().map(|(i, f)| (i, seconds(f.sample))));
        series.push(CONTROLLER_RTT, flows().map(|(i, f)| (i, seconds(f.controller))));
    }
}
