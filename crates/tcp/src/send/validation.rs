//! A window that is not used: kept for a time, and no measure of what the path bears. [RFC 7661]
//!
//! ```text
//!              pipeACK < cwnd / 2
//!   validated ───────────────────► non-validated ──► after five minutes, and each five again:
//!       ▲                            │        │       ssthresh = max(ssthresh, 3/4 cwnd)
//!       │      pipeACK >= cwnd / 2   │        │       cwnd = max(cwnd / 2, initial window)
//!       ├────────────────────────────┘        │
//!       └───── recovery ends ◄─── loss: from max(pipeACK, LossFlightSize),
//!              cwnd less R/2                        R: what was sent again
//! ```
//! Source: RFC 7661 §4.2 to §4.4. Controllers take their own share where it says a half.
//! Leaves out: the limit on bursts of §4.4.2; `pacing` and `max_burst` are for that.

use lasthop_units::{Duration, Time};

use super::Sender;
use crate::config::WindowValidation;

/// How long a window is kept that is not used. [RFC 7661 §4.4.3]
const NON_VALIDATED_PERIOD: Duration = Duration::from_secs(300);
/// Least time for which a sample of pipeACK counts. [RFC 7661 §4.2]
const SAMPLING_PERIOD: Duration = Duration::from_secs(1);
/// Measurement periods in it. [RFC 7661 §4.5.1]
const SAMPLES: usize = 4;

/// What was acknowledged in a round trip.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    /// when the first of it was
    start: Time,
    /// when the last of it was
    end: Time,
    /// its acknowledgement ends the round trip
    ends_at: u64,
    bytes: u64,
}

/// Where the sender stands.
#[derive(Clone, Copy, Debug)]
struct Round {
    now: Time,
    una: u64,
    nxt: u64,
}

/// A loss that is being repaired.
#[derive(Clone, Copy, Debug)]
struct Loss {
    /// max(pipeACK, LossFlightSize), in segments
    window: f64,
    /// retransmissions before it
    retransmissions: u64,
}

/// The samples of pipeACK, and whether the window is validated.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Validation {
    /// of this round trip; `None` before its first ACK
    open: Option<Sample>,
    /// pipeACK is defined
    is_defined: bool,
    /// the newest first; each stands for a quarter of the period
    samples: [Sample; SAMPLES],
    /// since when the window is not validated, or was reduced for that
    since: Option<Time>,
    loss: Option<Loss>,
}

fn period(rtt: Duration) -> Duration {
    (rtt * 3).max(SAMPLING_PERIOD)
}

impl Validation {
    /// An ACK of so many bytes, outside recovery. A round trip ends when what was out at its start is acknowledged.
    fn on_ack(&mut self, round: Round, bytes: u64, rtt: Duration) {
        let Round { now, una, nxt } = round;
        let open = self.open.get_or_insert(Sample { start: now, end: now, ends_at: nxt, bytes: 0 });
        open.bytes += bytes;
        open.end = now;
        if una >= open.ends_at {
            let done = *open;
            self.open = None;
            self.close(done, period(rtt) / SAMPLES as u64);
        }
    }

    fn close(&mut self, done: Sample, span: Duration) {
        let newest = &mut self.samples[0];
        if self.is_defined && done.start < newest.start + span {
            newest.bytes = newest.bytes.max(done.bytes);
            newest.end = done.end;
        } else {
            self.samples.rotate_right(1);
            self.samples[0] = done;
        }
        self.is_defined = true;
    }

    /// pipeACK in bytes; `None` while undefined. [RFC 7661 §4.2]
    fn pipe_ack(&self, now: Time, rtt: Duration) -> Option<u64> {
        let samples = self.samples.iter().chain(&self.open);
        let recent = samples.filter(|sample| sample.end + period(rtt) > now);
        self.is_defined.then(|| recent.map(|sample| sample.bytes).max().unwrap_or(0))
    }

    /// Looks again which phase this is. [RFC 7661 §4.3]
    fn judge(&mut self, now: Time, rtt: Duration, cwnd_bytes: u64) {
        let is_valid = self.pipe_ack(now, rtt).is_none_or(|bytes| 2 * bytes >= cwnd_bytes);
        if is_valid {
            self.since = None;
        } else if self.since.is_none() {
            // In a pause nobody looked when the last sample fell out.
            let last = self.open.unwrap_or(self.samples[0]);
            self.since = Some(now.min(last.end + period(rtt)));
        }
    }

    /// Recovery is over: pipeACK is undefined again. [RFC 7661 §4.4.1]
    fn reset(&mut self) {
        *self = Validation::default();
    }
}

impl Sender {
    /// The window is not used: growing would be for nothing. `by_use` is what Linux' rule says.
    pub(super) fn is_unused(&self, by_use: bool) -> bool {
        match self.config.window_validation {
            WindowValidation::Off => false,
            WindowValidation::Linux => by_use,
            WindowValidation::Rfc7661 => self.validation.since.is_some(),
        }
    }

    fn has_validation(&self) -> bool {
        self.config.window_validation == WindowValidation::Rfc7661
    }

    /// An ACK of so many bytes has come.
    pub(super) fn validate_on_ack(&mut self, now: Time, bytes: u64, in_recovery: bool) {
        if !self.has_validation() {
            return;
        }
        let Some(rtt) = self.rtt.srtt().filter(|_| !in_recovery && bytes > 0) else { return };
        let round = Round { now, una: self.board.una(), nxt: self.board.nxt() };
        self.validation.on_ack(round, bytes, rtt);
        self.validate(now);
    }

    /// Before new data goes out: is the window still good?
    pub(super) fn validate_on_send(&mut self, now: Time) {
        if self.has_validation() {
            self.validate(now);
        }
    }

    /// [RFC 7661 §4.3, §4.4.3]
    fn validate(&mut self, now: Time) {
        let Some(rtt) = self.rtt.srtt() else { return };
        self.validation.judge(now, rtt, self.cwnd_bytes());
        while let Some(since) = self.validation.since.filter(|&since| since + NON_VALIDATED_PERIOD <= now) {
            self.validation.since = Some(since + NON_VALIDATED_PERIOD);
            let cwnd = self.control.cwnd();
            let least = f64::from(self.config.initial_window);
            if cwnd <= least {
                continue;
            }
            let ssthresh = self.control.ssthresh();
            self.control.set_ssthresh(ssthresh.max(0.75 * cwnd));
            self.control.set_window((cwnd / 2.0).max(least));
        }
    }

    /// The window from which a reduction starts, in segments: in the non-validated phase, what was in use.
    /// [RFC 7661 §4.4.1]
    pub(super) fn window_in_use(&self, now: Time, window: f64) -> f64 {
        let (Some(_), Some(rtt)) = (self.validation.since, self.rtt.srtt()) else { return window };
        let pipe_ack = self.validation.pipe_ack(now, rtt).unwrap_or(0);
        let used = pipe_ack.max(self.board.outstanding_bytes()) as f64 / f64::from(self.mss);
        window.min(used)
    }

    /// A loss is to be repaired, with `window` from [`Self::window_in_use`].
    pub(super) fn note_validated_loss(&mut self, window: f64) {
        if self.validation.since.is_some() {
            self.validation.loss = Some(Loss { window, retransmissions: self.retransmissions });
        }
    }

    /// The window after recovery, in segments: ssthresh, less the share of what had to be sent again; then all is
    /// measured anew. [RFC 7661 §4.4.1]
    pub(super) fn window_after_recovery(&mut self) -> Option<f64> {
        let loss = self.validation.loss.take()?;
        self.validation.reset();
        let again = (self.retransmissions - loss.retransmissions) as f64;
        Some((self.control.ssthresh() * (1.0 - again / loss.window)).max(1.0))
    }

    /// A timeout: what was measured before is void.
    pub(super) fn forget_validation(&mut self) {
        self.validation.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(100);

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    /// So many ACKs of 1000 bytes 5 ms apart, of a burst that went out at once.
    fn burst(validation: &mut Validation, from_ms: u64, acks: u64) {
        for ack in 1..=acks {
            let round = Round { now: at(from_ms + 5 * ack), una: 1000 * ack, nxt: 1000 * acks };
            validation.on_ack(round, 1000, RTT);
        }
    }

    #[test]
    fn pipe_ack_is_the_most_of_a_round_trip_within_a_second() {
        let mut validation = Validation::default();
        for round in 0..20 {
            let expected = match round {
                0 => None,
                // Three of 12 segments, the last of which ends at 260 ms; then of 6.
                1..=12 => Some(12_000),
                _ => Some(6_000),
            };
            assert_eq!(validation.pipe_ack(at(100 * round), RTT), expected, "{round}");
            burst(&mut validation, 100 * round, if round < 3 { 12 } else { 6 });
        }
        assert_eq!(validation.pipe_ack(at(4000), RTT), Some(0), "nothing within a second");
    }

    #[test]
    fn half_the_window_in_use_validates_it() {
        let mut validation = Validation::default();
        burst(&mut validation, 0, 10);
        validation.judge(at(50), RTT, 20_000);
        assert_eq!(validation.since, None);
        validation.judge(at(50), RTT, 21_000);
        assert_eq!(validation.since, Some(at(50)));
        validation.judge(at(50), RTT, 20_000);
        assert_eq!(validation.since, None);
        // In a pause it lapses a second after the last ACK.
        validation.judge(at(60_000), RTT, 20_000);
        assert_eq!(validation.since, Some(at(1050)));
    }
}
