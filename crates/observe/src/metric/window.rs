//! Congestion window, slow-start threshold and flight size of TCP and QUIC senders.

use lasthop_units::{Duration, Time};

use crate::metric::{Integral, Metric, OverTime};
use crate::{Layout, Places, Record, Report, Series, Transport};

crate::quantities! {
    /// The congestion window without inflation in recovery, mean over time; over QUIC in full datagrams.
    CWND_MEAN: Flow, f64, Summary => "cwnd_mean_segments", Mean, Segments, "congestion window, mean", only "TCP, QUIC";
    /// The greatest congestion window.
    CWND_MAX: Flow, f64, Summary => "cwnd_max_segments", Maximum, Segments, "congestion window, maximum", only "TCP, QUIC";
    /// The congestion window just before the sample.
    CWND: Flow, f64, Series => "cwnd_segments", Level, Segments, "congestion window", only "TCP, QUIC";
    /// The slow-start threshold just before the sample; NaN before the first loss.
    SSTHRESH: Flow, f64, Series => "ssthresh_segments", Level, Segments, "slow-start threshold", only "TCP, QUIC";
    /// Bytes that were sent and not acknowledged, just before the sample.
    FLIGHT_SIZE: Flow, f64, Series => "flight_size", Level, Bytes, "flight size", only "TCP, QUIC";
}

/// Mean and maximum congestion window of TCP and QUIC flows.
#[derive(Clone)]
pub struct Window {
    cwnd: Vec<Option<Integral>>,
}

impl Metric for Window {
    fn new(layout: &Layout) -> Self {
        let flow = |&(transport, _): &(Transport, bool)| transport.has_window().then(Integral::default);
        Window { cwnd: layout.flows.iter().map(flow).collect() }
    }

    #[inline(always)]
    fn observe(&mut self, at: Time, record: &Record) {
        if let Record::Window { flow, cwnd, .. } = *record
            && let Some(before) = &mut self.cwnd[flow.index()]
            && cwnd != before.value()
        {
            before.set(at, cwnd);
        }
    }

    fn start(&mut self, now: Time) {
        self.cwnd.iter_mut().flatten().for_each(|cwnd| cwnd.start(now));
    }

    fn join(&mut self, _: &Self, _: &Places, _: Time) {}

    fn report(&mut self, now: Time, covered: Duration, report: &mut Report) {
        for (cwnd, row) in self.cwnd.iter_mut().zip(&mut report.flows) {
            row.put(CWND_MEAN, cwnd.as_mut().map(|cwnd| cwnd.mean(now, covered)));
            row.put(CWND_MAX, cwnd.as_ref().map(Integral::max));
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Latest {
    cwnd: f64,
    ssthresh: f64,
    flight_bytes: u64,
}

/// Congestion window, slow-start threshold and flight size of TCP and QUIC flows, at each sample.
#[derive(Clone)]
pub struct WindowOverTime {
    flows: Vec<Option<Latest>>,
}

impl OverTime for WindowOverTime {
    fn new(layout: &Layout) -> Self {
        let unknown = Latest { cwnd: 0.0, ssthresh: f64::INFINITY, flight_bytes: 0 };
        let flow = |&(transport, _): &(Transport, bool)| transport.has_window().then_some(unknown);
        WindowOverTime { flows: layout.flows.iter().map(flow).collect() }
    }

    #[inline(always)]
    fn observe(&mut self, _: Time, record: &Record) {
        if let Record::Window { flow, cwnd, ssthresh, flight_bytes } = *record
            && let Some(latest) = &mut self.flows[flow.index()]
        {
            *latest = Latest { cwnd, ssthresh, flight_bytes };
        }
    }

    fn sample(&mut self, _: Time, _: Duration, series: &mut Series) {
        let tcp = || self.flows.iter().enumerate().filter_map(|(i, f)| Some((i as u32, f.as_ref()?)));
        series.push(CWND, tcp().map(|(i, f)| (i, f.cwnd)));
        let finite = |x: f64| if x.is_finite() { x } else { f64::NAN };
        series.push(SSTHRESH, tcp().map(|(i, f)| (i, finite(f.ssthresh))));
        series.push(FLIGHT_SIZE, tcp().map(|(i, f)| (i, f.flight_bytes as f64)));
    }
}
