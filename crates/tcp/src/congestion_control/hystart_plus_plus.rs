//! HyStart++: leaves slow start by stages when the RTT grows.
//!
//! Source: RFC 9406. A round of at least eight samples whose least RTT is an eighth (4 to 16 ms) above that of the
//! round before begins Conservative Slow Start: growth by a quarter. Five rounds of it end slow start, unless the RTT
//! falls below its value at their beginning: then they were spurious, and slow start goes on. Only for the first slow
//! start [§4.3]. Leaves out: the larger L of senders that pace.

use lasthop_units::Duration;

use super::AckSample;

/// [RFC 9406 §4.3]
const MIN_RTT_THRESH: Duration = Duration::from_millis(4);
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: f64 = 4.0;
const CSS_ROUNDS: u32 = 5;
/// Segments that one ACK counts for at most.
const L: f64 = 8.0;

/// The effect of an ACK on slow start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SlowStart {
    /// The window grows by so many segments.
    Grow(f64),
    /// Slow start is over: ssthresh becomes the window.
    Over,
}

/// A Conservative Slow Start.
#[derive(Clone, Copy, Debug)]
struct Css {
    baseline: Duration,
    rounds: u32,
}

/// Watches the first slow start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HystartPlusPlus {
    /// The first slow start is over, for any reason.
    done: bool,
    window_end: Option<u64>,
    last: Option<Duration>,
    current: Option<Duration>,
    samples: u32,
    css: Option<Css>,
}

impl HystartPlusPlus {
    /// Ends the watch at a loss or a mark: a later slow start is not the first.
    pub fn end(&mut self) {
        self.done = true;
    }

    /// Takes in an ACK of slow start.
    pub fn on_ack(&mut self, ack: &AckSample) -> SlowStart {
        if self.done {
            return SlowStart::Grow(ack.slow_start_credit);
        }
        if self.window_end.is_none_or(|end| ack.snd_una > end) && self.end_round(ack) {
            self.done = true;
            return SlowStart::Over;
        }
        if let Some(rtt) = ack.rtt_sample {
            self.current = Some(self.current.map_or(rtt, |least| least.min(rtt)));
            self.samples += 1;
        }
        if self.samples >= N_RTT_SAMPLE {
            self.compare();
        }
        let credit = ack.slow_start_credit.min(L);
        SlowStart::Grow(if self.css.is_some() { credit / CSS_GROWTH_DIVISOR } else { credit })
    }

    /// True if that was the last round of a Conservative Slow Start; the one in which it began counts.
    fn end_round(&mut self, ack: &AckSample) -> bool {
        let is_first = self.window_end.is_none();
        self.window_end = Some(ack.snd_nxt);
        if !is_first {
            self.last = self.current;
            self.current = None;
            self.samples = 0;
        }
        self.css.as_mut().is_some_and(|css| {
            css.rounds += 1;
            css.rounds >= CSS_ROUNDS
        })
    }

    fn compare(&mut self) {
        let Some(current) = self.current else { return };
        if let Some(css) = self.css {
            if current < css.baseline {
                self.css = None;
            }
            return;
        }
        let Some(last) = self.last else { return };
        let threshold = (last / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
        if current >= last + threshold {
            self.css = Some(Css { baseline: current, rounds: 0 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::ack;
    use super::*;
    use crate::congestion_control::GrowthMode::PerByte;
    use lasthop_units::Time;

    /// Rounds of ten ACKs with these RTTs in ms; the growth by each ACK of each round.
    fn rounds(watch: &mut HystartPlusPlus, rtts_ms: &[u64]) -> Vec<Option<f64>> {
        let mut una = 0;
        let mut grown = Vec::new();
        for &rtt in rtts_ms {
            let end = una + 10;
            let mut sum = Some(0.0);
            while una < end {
                una += 1;
                let sample = ack(Time::ZERO, 1, Duration::from_millis(rtt), PerByte);
                let sample = AckSample { snd_una: una * 1000, snd_nxt: (una + 9) * 1000, ..sample };
                match watch.on_ack(&sample) {
                    SlowStart::Grow(by) => sum = sum.map(|sum| sum + by),
                    SlowStart::Over => sum = None,
                }
            }
            grown.push(sum);
        }
        grown
    }

    #[test]
    fn a_constant_rtt_is_plain_slow_start() {
        let grown = rounds(&mut HystartPlusPlus::default(), &[50; 20]);
        assert!(grown.iter().all(|&round| round == Some(10.0)), "{grown:?}");
    }

    #[test]
    fn a_longer_rtt_slows_growth_to_a_quarter_and_ends_it_after_five_rounds() {
        // 50 ms, then 60: the threshold is 50/8 = 6.25 ms
        let mut rtts = vec![50, 50];
        rtts.extend([60; 8]);
        let grown = rounds(&mut HystartPlusPlus::default(), &rtts);
        let over = grown.iter().position(Option::is_none).unwrap();
        // The third round begins it at its eighth sample; rounds four to seven are whole; the eighth brings the end.
        assert_eq!(over, 7, "{grown:?}");
        assert_eq!(grown[3], Some(2.5));
    }

    #[test]
    fn growth_of_the_rtt_below_the_threshold_does_not_count() {
        let grown = rounds(&mut HystartPlusPlus::default(), &[50, 55, 60, 65, 70, 75]);
        assert!(grown.iter().all(|&round| round == Some(10.0)), "{grown:?}");
    }

    #[test]
    fn an_rtt_that_falls_again_resumes_slow_start() {
        let grown = rounds(&mut HystartPlusPlus::default(), &[50, 50, 60, 60, 52, 52, 52, 52, 52, 52, 52, 52]);
        assert!(grown.iter().all(Option::is_some), "{grown:?}");
        assert_eq!(grown.last(), Some(&Some(10.0)));
    }

    #[test]
    fn an_ack_counts_for_eight_segments_at_most() {
        let sample = ack(Time::ZERO, 30, Duration::from_millis(50), PerByte);
        assert_eq!(HystartPlusPlus::default().on_ack(&sample), SlowStart::Grow(8.0));
    }
}
