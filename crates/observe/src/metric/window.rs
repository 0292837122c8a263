//! Congestion window, slow-start threshold and flight size of TCP senders.

use lasthop_units::{Duration, Time};

use crate::metric::{Integral, Metric};
use crate::{Layout, Record, Report, Series, Transport};

crate::quantities! {
    /// The congestion window without what recovery adds, mean over time.
    CWND_MEAN: Flow, f64, Summary => "cwnd_mean_segments", Mean, Segments, "congestion window, mean", only "TCP";
    /// The greatest congestion window.
    CWND_MAX: Flow, f64, Summary => "cwnd_max_segments", Maximum, Segments, "congestion window, maximum", only "TCP";
    /// The congestion window just before the sample.
    CWND: Flow, f64, Series => "cwnd_segments", Level, Segments, "congestion window", only "TCP";
    /// The slow-start threshold just before the sample; NaN before the first loss.
    SSTHRESH: Flow, f64, Series => "ssthresh_segments", Level, Segments, "slow-start threshold", only "TCP";
    /// Bytes that were sent and not acknowledged, just before the sample.
    FLIGHT_SIZE: Flow, f64, Series => "flight_size", Level, Bytes, "flight size", only "TCP";
}

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
        series.push(CWND, tcp().map(|(i, f)| (i, f.cwnd.value())));
        let finite = |x: f64| if x.is_finite() { x } else { f64::NAN };
        series.push(SSTHRESH, tcp().map(|(i, f)| (i, finite(f.ssthresh))));
        series.push(FLIGHT_SIZE, tcp().map(|(i, f)| (i, f.flight_bytes as f64)));
    }

    fn report(&mut self, now: Time, covered: Duration, report: &mut Report) {
        for (flow, row) in self.flows.iter_mut().zip(&mut report.flows) {
            row.put(CWND_MEAN, flow.as_mut().map(|f| f.cwnd.mean(now, covered)));
            row.put(CWND_MAX, flow.as_ref().map(|f| f.cwnd.max()));
        }
    }
}
