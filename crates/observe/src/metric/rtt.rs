//! Round-trip times as TCP senders, and those who send echo requests, measure them.

use lasthop_units::{Duration, Time};

use crate::metric::Metric;
use crate::{Histogram, Layout, Record, Report, Scope, Series, Transport};

#[derive(Clone, Debug, Default)]
struct Flow {
    samples: Histogram,
    least: Option<Duration>,
    latest: Option<Duration>,
    controller: Option<Duration>,
}

/// See the module.
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
        if let Record::Rtt { flow, sample, controller } = *record
            && let Some(flow) = &mut self.flows[flow.index()]
        {
            flow.samples.add(sample);
            flow.least = Some(flow.least.map_or(sample, |least| least.min(sample)));
            flow.latest = Some(sample);
            flow.controller = controller;
        }
    }

    fn start(&mut self, _: Time) {
        self.flows.iter_mut().flatten().for_each(|f| (f.samples, f.least) = (Histogram::default(), None));
    }

    fn sample(&mut self, _: Time, _: Duration, series: &mut Series) {
        let tcp = || self.flows.iter().enumerate().filter_map(|(i, f)| Some((i as u32, f.as_ref()?)));
        let seconds = |d: Option<Duration>| d.map_or(f64::NAN, Duration::as_secs_f64);
        series.push("rtt_s", Scope::Flow, tcp().map(|(i, f)| (i, seconds(f.latest))));
        series.push("controller_rtt_s", Scope::Flow, tcp().map(|(i, f)| (i, seconds(f.controller))));
    }

    fn report(&mut self, _: Time, _: Duration, report: &mut Report) {
        for (flow, row) in self.flows.iter().zip(&mut report.flows) {
            let samples = flow.as_ref().map(|f| &f.samples);
            let quantile = |q: f64| samples.and_then(|s| s.quantile_s(q));
            row.put("rtt_mean_s", samples.and_then(Histogram::mean_s));
            row.put("rtt_min_s", flow.as_ref().and_then(|f| f.least).map(Duration::as_secs_f64));
            row.put("rtt_p50_s", quantile(0.5));
            row.put("rtt_p95_s", quantile(0.95));
            row.put("rtt_p99_s", quantile(0.99));
            row.put_list("rtt_quantiles_s", samples.and_then(Histogram::quantiles_s));
        }
    }
}
