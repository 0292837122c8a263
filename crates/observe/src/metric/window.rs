//! Congestion window, slow-start threshold and flight size of TCP senders.

use lasthop_units::{Duration, Time};

use crate::metric::{Integral, Metric};
use crate::{Layout, Record, Report, Scope, Series, Transport};

#[derive(Clone, Debug)]
struct Flow {
    cwnd: Integral,
    ssthresh: f64,
    flight_bytes: u64,
}

/// See the module.
#[derive(Clone)]
pub struct Window {
    flows: Vec<Option<Flow>>,
}

impl Metric for Window {
    fn new(layout: &Layout) -> Self {
        let flow = Flow { cwnd: Integral::default(), ssthresh: f64::INFINITY, flight_bytes: 0 };
        let flows = layout.flows.iter().map(|&(t, _)| (t == Transport::Tcp).then(|| flow.clone())).collect();
        Window { flows }
    }

    #[inline(always)]
    fn observe(&mut self, at: Time, record: &Record) {
        if let Record::Window { flow, cwnd, ssthresh, flight_bytes } = *record
            && let Some(flow) = &mut self.flows[flow.index()]
        {
            if cwnd != flow.cwnd.value() {
                flow.cwnd.set(at, cwnd);
            }
            flow.ssthresh = ssthresh;
            flow.flight_bytes = flight_bytes;
        }
    }

    fn start(&mut self, now: Time) {
        self.flows.iter_mut().flatten().for_each(|f| f.cwnd.start(now));
    }

    fn sample(&mut self, _: Time, _: Duration, series: &mut Series) {
        let tcp = || self.flows.iter().enumerate().filter_map(|(i, f)| Some((i as u32, f.as_ref()?)));
        series.push("cwnd_segments", Scope::Flow, tcp().map(|(i, f)| (i, f.cwnd.value())));
        let finite = |x: f64| if x.is_finite() { x } else { f64::NAN };
        series.push("ssthresh_segments", Scope::Flow, tcp().map(|(i, f)| (i, finite(f.ssthresh))));
        series.push("flight_size", Scope::Flow, tcp().map(|(i, f)| (i, f.flight_bytes as f64)));
    }

    fn report(&mut self, now: Time, covered: Duration, report: &mut Report) {
        for (flow, row) in self.flows.iter_mut().zip(&mut report.flows) {
            row.put("cwnd_mean_segments", flow.as_mut().map(|f| f.cwnd.mean(now, covered)));
            row.put("cwnd_max_segments", flow.as_ref().map(|f| f.cwnd.max()));
        }
    }
}
