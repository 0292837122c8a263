//! Goodput: bytes delivered in order to the application, once, over the time covered.
//!
//! Also quantities derived from it: completion of sized transfers, the longest silence of a flow, and Jain's index of
//! fairness [Jain, Chiu, Hawe 1984] over the flows of a direction.

use lasthop_units::{Duration, Time};

use crate::metric::{Metric, OverTime};
use crate::places::put;
use crate::{Layout, Places, Record, Report, Series, Transport};

crate::quantities! {
    /// Payload that was delivered in order to the receiving applications of all flows, each byte once, over the length of
    /// the window.
    GOODPUT_OF_ALL: Totals, f64, Summary => "goodput_bps", Rate, BitsPerSecond, "goodput";
    /// The sum of the goodputs of all uploads.
    GOODPUT_OF_UPLOADS: Totals, f64, Summary => "goodput_up_bps", Rate, BitsPerSecond, "goodput, up";
    /// The sum of the goodputs of all downloads.
    GOODPUT_OF_DOWNLOADS: Totals, f64, Summary => "goodput_down_bps", Rate, BitsPerSecond, "goodput, down";
    /// Jain's index of the goodputs of all flows, `(Σx)² / (n Σx²)`: 1 where all are equal, 1/n where one flow has all.
    /// `null` without flows, or where all goodputs are zero. [Jain, Chiu, Hawe 1984]
    JAIN_OF_ALL: Totals, f64, Summary => "jain_index", Index, One, "Jain's index";
    /// Jain's index of the goodputs of all uploads; see `jain_index`.
    JAIN_OF_UPLOADS: Totals, f64, Summary => "jain_index_up", Index, One, "Jain's index, up";
    /// Jain's index of the goodputs of all downloads; see `jain_index`.
    JAIN_OF_DOWNLOADS: Totals, f64, Summary => "jain_index_down", Index, One, "Jain's index, down";
    /// Payload that was delivered in order to the receiving application, each byte once, over the length of the window. A
    /// sample of the time series covers the interval that ends there. A `ping` has none.
    GOODPUT: Flow, f64, Both => "goodput_bps", Rate, BitsPerSecond, "goodput";
    /// Payload that was delivered in order to the receiving application in the window, each byte once.
    BYTES_DELIVERED: Flow, u64, Summary => "bytes_delivered", Amount, Bytes, "bytes delivered";
    /// The time from the SYN or the first datagram of a transfer to the acknowledgement of its last byte, mean over the transfers that were
    /// completed in the whole run, warm-up included.
    COMPLETION_TIME: Flow, f64, Summary => "completion_time_s", Mean, Seconds, "completion time", only "with size";
    /// Number of transfers that were completed in the whole run, warm-up included.
    TRANSFERS_COMPLETED: Flow, u64, Summary => "transfers_completed", Count, One, "transfers completed", only "with size";
    /// The longest time in the window without a delivery; the start and the end of the window count as deliveries. A
    /// flow that has not started, or has finished, counts as silent.
    STARVED: Flow, f64, Summary => "starved_s", Maximum, Seconds, "starved";
}

#[derive(Clone, Debug, Default)]
struct Flow {
    up: bool,
    /// false for echo requests, which deliver nothing
    delivers: bool,
    bytes: u64,
    last_delivery: Time,
    silence: Duration,
    completed: Option<(u32, Duration)>,
}

/// Goodput, completed transfers and the longest silence of each flow.
#[derive(Clone)]
pub struct Goodput {
    flows: Vec<Flow>,
}

/// Jain's index `(Σx)² / (n Σx²)`; none for no flows or all-zero rates.
fn jain(rates: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let n = rates.clone().count() as f64;
    let squares: f64 = rates.clone().map(|x| x * x).sum();
    let sum: f64 = rates.sum();
    (squares > 0.0).then(|| sum * sum / (n * squares))
}

impl Metric for Goodput {
    fn new(layout: &Layout) -> Self {
        let flow = |&(transport, up)| Flow { up, delivers: transport != Transport::Echo, ..Flow::default() };
        Goodput { flows: layout.flows.iter().map(flow).collect() }
    }

    #[inline(always)]
    fn observe(&mut self, at: Time, record: &Record) {
        match *record {
            Record::Delivered { flow, bytes } => {
                let flow = &mut self.flows[flow.index()];
                flow.bytes += bytes;
                flow.silence = flow.silence.max(at.since(flow.last_delivery));
                flow.last_delivery = at;
            }
            Record::Completed { flow, took } => {
                let (count, sum) = self.flows[flow.index()].completed.unwrap_or_default();
                self.flows[flow.index()].completed = Some((count + 1, sum + took));
            }
            _ => {}
        }
    }

    fn start(&mut self, now: Time) {
        for flow in &mut self.flows {
            *flow = Flow {
                up: flow.up,
                delivers: flow.delivers,
                last_delivery: now,
                completed: flow.completed,
                ..Flow::default()
            };
        }
    }

    fn join(&mut self, part: &Self, places: &Places, _: Time) {
        put(&mut self.flows, &places.flows, part.flows.iter().cloned());
    }

    fn report(&mut self, now: Time, covered: Duration, report: &mut Report) {
        let rate = |f: &Flow| f.bytes as f64 * 8.0 / covered.as_secs_f64();
        for (flow, row) in self.flows.iter().zip(&mut report.flows) {
            row.put(GOODPUT, flow.delivers.then(|| rate(flow)));
            row.put(BYTES_DELIVERED, flow.delivers.then_some(flow.bytes));
            row.put(COMPLETION_TIME, flow.completed.map(|(n, sum)| sum.as_secs_f64() / f64::from(n)));
            row.put(TRANSFERS_COMPLETED, flow.completed.map(|(n, _)| u64::from(n)));
            let silence = flow.silence.max(now.since(flow.last_delivery)).as_secs_f64();
            row.put(STARVED, flow.delivers.then_some(silence));
        }
        let all = || self.flows.iter().filter(|f| f.delivers).map(rate);
        let of = |up: bool| self.flows.iter().filter(move |f| f.delivers && f.up == up).map(rate);
        // An empty sum of floats is minus zero.
        let sum = |rates: &mut dyn Iterator<Item = f64>| rates.fold(0.0, |sum, rate| sum + rate);
        report.totals.put(GOODPUT_OF_ALL, sum(&mut all()));
        report.totals.put(GOODPUT_OF_UPLOADS, sum(&mut of(true)));
        report.totals.put(GOODPUT_OF_DOWNLOADS, sum(&mut of(false)));
        report.totals.put(JAIN_OF_ALL, jain(all()));
        report.totals.put(JAIN_OF_UPLOADS, jain(of(true)));
        report.totals.put(JAIN_OF_DOWNLOADS, jain(of(false)));
    }
}

/// Goodput of flows, in each interval.
#[derive(Clone)]
pub struct GoodputOverTime {
    /// bytes delivered in this interval; `None` for echo requests, which deliver nothing
    flows: Vec<Option<u64>>,
}

impl OverTime for GoodputOverTime {
    fn new(layout: &Layout) -> Self {
        let flow = |&(transport, _)| (transport != Transport::Echo).then_some(0);
        GoodputOverTime { flows: layout.flows.iter().map(flow).collect() }
    }

    #[inline(always)]
    fn observe(&mut self, _: Time, record: &Record) {
        if let Record::Delivered { flow, bytes } = *record
            && let Some(all) = &mut self.flows[flow.index()]
        {
            *all += bytes;
        }
    }

    fn sample(&mut self, _: Time, interval: Duration, series: &mut Series) {
        let rate = |bytes: u64| bytes as f64 * 8.0 / interval.as_secs_f64();
        let flows = self.flows.iter().enumerate().filter_map(|(i, bytes)| Some((i as u32, rate((*bytes)?))));
        series.push(GOODPUT, flows);
        self.flows.iter_mut().flatten().for_each(|bytes| *bytes = 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_shares_are_fair_and_one_taking_all_is_one_nth() {
        assert_eq!(jain([3.0, 3.0, 3.0].into_iter()), Some(1.0));
        assert_eq!(jain([5.0, 0.0, 0.0, 0.0].into_iter()), Some(0.25));
        assert_eq!(jain([0.0; 3].into_iter()), None);
        assert_eq!(jain(std::iter::empty()), None);
    }
}
