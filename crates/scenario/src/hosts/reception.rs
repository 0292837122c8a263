//! The fate of the datagrams of a flow: loss, order, delay and jitter.
//!
//! Datagrams sent after the warm-up count. One that has not arrived when the run ends is lost, unless it was sent in
//! the last second (the last tenth of a short run) and none sent after it has arrived: it may be in flight.

use lasthop_observe::{Histogram, Row, scope};
use lasthop_units::{Duration, Time};

use super::application::Span;

lasthop_observe::quantities! {
    /// Datagrams that were sent in the window and did not arrive, over those sent; of a `ping`, round trips. One that was sent
    /// in the last second (the last tenth of a short window) is left out unless it or a later one has arrived: it may be
    /// under way.
    LOSS: Flow, f64, Summary => "loss_fraction", Fraction, One, "loss", only "UDP";
    /// Datagrams that came after one with a higher number.
    REORDERED: Flow, u64, Summary => "reordered", Count, One, "reordered", only "UDP";
    /// Median of the time from the application's write to the arrival at the other host, the wait in a back-pressured socket
    /// included.
    DELAY_P50: Flow, f64, Summary => "delay_p50_s", Quantile, Delay, "delay, median", only "UDP";
    /// 95th percentile of the time from the application's write to the arrival.
    DELAY_P95: Flow, f64, Summary => "delay_p95_s", Quantile, Delay, "delay, 95th percentile", only "UDP";
    /// 99th percentile of the time from the application's write to the arrival.
    DELAY_P99: Flow, f64, Summary => "delay_p99_s", Quantile, Delay, "delay, 99th percentile", only "UDP";
    /// Quantiles of the time from the application's write to the arrival, at the probabilities in `quantile_probabilities` of
    /// the run, in whole nanoseconds.
    DELAY_QUANTILES: Flow, Vec<f64>, Summary => "delay_quantiles_s", List, Delay, "one-way delay", only "UDP";
    /// Smoothed difference of transit times at the end of the run. [RFC 3550 §6.4.1]
    JITTER: Flow, f64, Summary => "jitter_s", Variation, Delay, "jitter", only "UDP";
}

/// The receiver of a flow's datagrams, which counts losses, delay and jitter. Datagrams are numbered from 1.
#[derive(Clone, Debug)]
pub(super) struct Reception {
    span: Span,
    sent: u64,
    /// Number of the last one sent in the warm-up.
    warmup: u64,
    /// Number of the last one that must have arrived by the end.
    settled: u64,
    highest: u64,
    /// All that arrived, and those that count.
    arrived: u64,
    received: u64,
    late: u64,
    delays: Histogram,
    /// Smoothed difference of transit times, in seconds [RFC 3550 §6.4.1].
    jitter_s: f64,
    last_transit: Option<Duration>,
}

impl Reception {
    pub(super) fn new(span: Span) -> Reception {
        Reception {
            span,
            sent: 0,
            warmup: 0,
            settled: 0,
            highest: 0,
            arrived: 0,
            received: 0,
            late: 0,
            delays: Histogram::default(),
            jitter_s: 0.0,
            last_transit: None,
        }
    }

    /// Numbers the next datagram that leaves.
    pub(super) fn on_sent(&mut self, now: Time) -> u64 {
        self.sent += 1;
        if now < self.span.from {
            self.warmup = self.sent;
        }
        if now < self.span.settled() {
            self.settled = self.sent;
        }
        self.sent
    }

    /// A datagram arrives after `transit`; true if it counts.
    pub(super) fn on_arrival(&mut self, number: u64, transit: Duration) -> bool {
        self.arrived += 1;
        let late = number < self.highest;
        self.highest = self.highest.max(number);
        if let Some(last) = self.last_transit {
            let difference = (transit.as_secs_f64() - last.as_secs_f64()).abs();
            self.jitter_s += (difference - self.jitter_s) / 16.0;
        }
        self.last_transit = Some(transit);
        let counts = number > self.warmup;
        if counts {
            self.received += 1;
            self.late += u64::from(late);
            self.delays.add(transit);
        }
        counts
    }

    /// The number of datagrams that must have arrived.
    pub(super) fn expected(&self) -> u64 {
        self.settled.max(self.highest).saturating_sub(self.warmup)
    }

    pub(super) fn loss_fraction(&self) -> Option<f64> {
        let expected = self.expected();
        (expected > 0).then(|| (expected - self.received) as f64 / expected as f64)
    }

    pub(super) fn check_conservation(&self, flow: u32) -> Result<(), String> {
        if self.arrived <= self.sent {
            return Ok(());
        }
        Err(format!("flow {flow} received {} datagrams of {} sent", self.arrived, self.sent))
    }

    pub(super) fn report(&self, row: &mut Row<scope::Flow>) {
        row.put(LOSS, self.loss_fraction());
        row.put(REORDERED, self.late);
        row.put(DELAY_P50, self.delays.quantile_s(0.5));
        row.put(DELAY_P95, self.delays.quantile_s(0.95));
        row.put(DELAY_P99, self.delays.quantile_s(0.99));
        row.put(DELAY_QUANTILES, self.delays.quantiles_s());
        row.put(JITTER, self.last_transit.map(|_| self.jitter_s));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(s: u64) -> Time {
        Time::ZERO + Duration::from_secs(s)
    }

    #[test]
    fn only_datagrams_after_warmup_count_and_the_last_second_is_excused() {
        let mut reception = Reception::new(Span { from: second(10), end: second(30) });
        for s in [5, 11, 12, 13, 29] {
            reception.on_sent(second(s));
        }
        let ms = Duration::from_millis(1);
        assert!(!reception.on_arrival(1, ms));
        assert!(reception.on_arrival(2, ms) && reception.on_arrival(4, ms));
        // Two of those sent at 11 to 13 s arrived; the one of 29 s may be in flight.
        assert_eq!(reception.loss_fraction(), Some(1.0 / 3.0));
        // It arrives: three of four.
        reception.on_arrival(5, ms);
        assert_eq!(reception.loss_fraction(), Some(0.25));
    }

    #[test]
    fn jitter_is_a_sixteenth_of_the_first_difference() {
        let mut reception = Reception::new(Span { from: second(0), end: second(30) });
        for (number, ms) in [(1, 10), (2, 26)] {
            reception.on_sent(second(1));
            reception.on_arrival(number, Duration::from_millis(ms));
        }
        assert!((reception.jitter_s - 0.001).abs() < 1e-12);
    }
}
