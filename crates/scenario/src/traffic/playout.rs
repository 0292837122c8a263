//! The receiving end of a call: audible speech, its delay and its quality.
//!
//! A packet is played a playout delay after it was sent; one that comes later is not heard. With a fixed jitter buffer
//! that delay is the transit time of the first packet plus the buffer. The adaptive one follows [Ramjee et al. 1994,
//! algorithm 2]: an average d of transit times that falls slowly and rises fast, and an average v of their deviations;
//! the delay is `d + 4 v`, at least one packet time beyond d. It changes with each packet, as in players that stretch
//! speech; the original changes it only at the start of a talk spurt. Stretching is free, and so is the concealment of
//! a loss, except as Bpl models it.

use lasthop_units::Duration;

use super::e_model::{Conditions, mean_opinion_score, rating};
use super::voip::{JitterBuffer, Params};

/// Weight of the past in averages. [Ramjee et al. 1994]
const SLOW: f64 = 0.998002;
/// Weight of the past while the delay rises. [Ramjee et al. 1994]
const FAST: f64 = 0.75;

/// One direction of a call, at its receiver.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    params: Params,
    /// d and v, in seconds
    average: Option<(f64, f64)>,
    heard: u64,
    late: u64,
    /// Sum of playout delays of heard packets, in seconds.
    playout_s: f64,
    /// Number of the last packet heard; 0 before.
    last_heard: u64,
    /// Runs of packets not heard.
    gaps: u64,
}

/// The outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct HeardCall {
    /// packets that arrived but were not played in time, over packets sent
    pub late_fraction: f64,
    /// mean mouth-to-ear delay
    pub mouth_to_ear_s: Option<f64>,
    pub r_factor: Option<f64>,
    pub mos: Option<f64>,
}

impl Call {
    /// A call without packets so far.
    pub(crate) fn new(params: Params) -> Call {
        Call { params, average: None, heard: 0, late: 0, playout_s: 0.0, last_heard: 0, gaps: 0 }
    }

    /// Handles the packet with this number, which arrived after `transit`; `counts` if it belongs to the summary.
    pub(crate) fn on_packet(&mut self, number: u64, transit: Duration, counts: bool) {
        let transit_s = transit.as_secs_f64();
        let playout_s = self.playout_delay_s(transit_s);
        self.learn(transit_s);
        let in_time = transit_s <= playout_s;
        if counts {
            self.late += u64::from(!in_time);
        }
        if !in_time {
            return;
        }
        if counts {
            self.heard += 1;
            self.playout_s += playout_s;
            self.gaps += u64::from(self.last_heard > 0 && number > self.last_heard + 1);
        }
        self.last_heard = self.last_heard.max(number);
    }

    /// The playout delay of a packet with this transit time; the first packet sets the scale.
    fn playout_delay_s(&self, transit_s: f64) -> f64 {
        let (d, v) = self.average.unwrap_or((transit_s, 0.0));
        match self.params.jitter_buffer {
            JitterBuffer::Fixed(buffer) => d + buffer.as_secs_f64(),
            JitterBuffer::Adaptive => d + (4.0 * v).max(self.params.packet_time.as_secs_f64()),
        }
    }

    fn learn(&mut self, n: f64) {
        let (d, v) = match (self.average, self.params.jitter_buffer) {
            (None, _) => (n, 0.0),
            // The buffer counts from the transit time of the first packet.
            (Some(first), JitterBuffer::Fixed(_)) => first,
            (Some((d, v)), JitterBuffer::Adaptive) => {
                let weight = if n > d { FAST } else { SLOW };
                let d = weight * d + (1.0 - weight) * n;
                (d, SLOW * v + (1.0 - SLOW) * (d - n).abs())
            }
        };
        self.average = Some((d, v));
    }

    /// The summary over `sent` packets.
    pub(crate) fn report(&self, sent: u64) -> Option<HeardCall> {
        let loss = 1.0 - self.heard as f64 / (sent > 0).then_some(sent)? as f64;
        let mean_s = (self.heard > 0).then(|| self.playout_s / self.heard as f64);
        let mouth_to_ear_s = mean_s.map(|mean| mean + self.params.coding_delay().as_secs_f64());
        let r_factor = self.params.impairment().map(|(ie, bpl)| match mouth_to_ear_s {
            Some(delay) => {
                let burst_ratio = self.burst_ratio(sent, loss);
                rating(&Conditions { ie, bpl, loss, burst_ratio, delay_ms: delay * 1e3 })
            }
            None => 0.0,
        });
        let r_factor = r_factor.map(|r| r.max(0.0));
        let late_fraction = self.late as f64 / sent as f64;
        Some(HeardCall { late_fraction, mouth_to_ear_s, r_factor, mos: r_factor.map(mean_opinion_score) })
    }

    /// Mean length of gaps over that of independent losses, `1/(1 - loss)`; never below 1. [G.107 §7.5]
    fn burst_ratio(&self, sent: u64, loss: f64) -> f64 {
        let lost = sent.saturating_sub(self.heard) as f64;
        if self.gaps == 0 { 1.0 } else { (lost / self.gaps as f64 * (1.0 - loss)).max(1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn fixed(buffer_ms: u64) -> Call {
        Call::new(Params { jitter_buffer: JitterBuffer::Fixed(MS(buffer_ms)), ..Params::default() })
    }

    #[test]
    fn late_packet_is_not_played() {
        let mut call = fixed(10);
        for (number, transit) in [(1, 30), (2, 40), (3, 41), (4, 20)] {
            call.on_packet(number, MS(transit), true);
        }
        let report = call.report(4).unwrap();
        assert_eq!(report.late_fraction, 0.25);
        // 20 ms of speech in a packet, 30 ms of transit, 10 ms of buffer.
        assert!((report.mouth_to_ear_s.unwrap() - 0.060).abs() < 1e-9);
    }

    #[test]
    fn the_rating_is_that_of_its_delay_and_loss() {
        // 100 packets, every tenth lost: gaps of one, so no bursts. 20 + 130 + 50 = 200 ms mouth to ear.
        let mut call = fixed(50);
        for number in (1..=100).filter(|n| n % 10 != 5) {
            call.on_packet(number, MS(130), true);
        }
        let report = call.report(100).unwrap();
        // Ie,eff = 95 x 10/(10 + 25.1) = 27.066 and Idd = 3.044. Idte: TERV = 65 - 40 log10(21/2.3333) = 26.830, Re =
        // 112.075, Roe = 94.769, -8.653 + sqrt(8.653² + 100) - 1 = 3.571. Idle: Rle = 1228.5 x 401^-0.25 = 274.53,
        // -89.88 + sqrt(89.88² + 169) = 0.935. 94.769 - 1.414 - 27.066 - 3.044 - 3.571 - 0.935 = 58.739.
        let r = report.r_factor.unwrap();
        assert!((r - 58.739).abs() < 0.01, "{r}");
        assert_eq!(report.mos, Some(mean_opinion_score(r)));
    }

    #[test]
    fn losses_in_one_piece_are_a_burst() {
        // 10 of 100 lost in one gap: 10 (1 - 0.1) = 9 times the length under independent losses.
        let mut call = fixed(50);
        for number in (1..=100).filter(|n| !(40..50).contains(n)) {
            call.on_packet(number, MS(30), true);
        }
        assert!((call.burst_ratio(100, 0.1) - 9.0).abs() < 1e-12);
    }

    #[test]
    fn an_adaptive_buffer_follows_a_rise_of_the_delay_within_a_second() {
        let mut call = Call::new(Params::default());
        (1..=100).for_each(|n| call.on_packet(n, MS(10), true));
        assert_eq!(call.late, 0);
        (101..=150).for_each(|n| call.on_packet(n, MS(100), true));
        assert!(call.late > 0 && call.late < 10, "{}", call.late);
        assert!(call.playout_delay_s(0.0) >= 0.1);
    }

    #[test]
    fn silence_from_the_network_is_the_worst_score() {
        let report = fixed(50).report(10).unwrap();
        assert_eq!((report.r_factor, report.mos, report.mouth_to_ear_s), (Some(0.0), Some(1.0), None));
    }
}
