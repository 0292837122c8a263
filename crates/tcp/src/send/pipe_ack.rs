//! The used part of the window, measured by the data acknowledged in a round trip: pipeACK. [RFC 7661 §4.2, §4.3]

use lasthop_units::{Duration, Time};

/// Least time for which a sample of pipeACK counts. [RFC 7661 §4.2]
const SAMPLING_PERIOD: Duration = Duration::from_secs(1);
/// Measurement periods in the sampling period. [RFC 7661 §4.5.1]
const SAMPLES: usize = 4;

/// The data acknowledged in a round trip.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    /// time of its first acknowledgement
    start: Time,
    /// time of its last acknowledgement
    end: Time,
    /// its acknowledgement ends the round trip
    ends_at: u64,
    bytes: u64,
}

/// The sender's position at an ACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    pub now: Time,
    pub una: u64,
    pub nxt: u64,
}

/// A loss that is being repaired.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loss {
    /// max(pipeACK, LossFlightSize), in segments
    pub window: f64,
    /// retransmissions before it
    pub retransmissions: u64,
}

/// Measurements of the use of the window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Validation {
    /// the sample of this round trip; `None` before its first ACK
    open: Option<Sample>,
    /// pipeACK is defined
    is_defined: bool,
    /// the newest first; each stands for a quarter of the period
    samples: [Sample; SAMPLES],
    /// time since which the window is not validated, or of its last reduction for that
    pub since: Option<Time>,
    pub loss: Option<Loss>,
}

fn period(rtt: Duration) -> Duration {
    (rtt * 3).max(SAMPLING_PERIOD)
}

impl Validation {
    /// Takes in an ACK of so many bytes, outside recovery. A round trip ends when the data in flight at its start
    /// is acknowledged.
    pub fn on_ack(&mut self, round: Round, bytes: u64, rtt: Duration) {
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
    pub fn pipe_ack(&self, now: Time, rtt: Duration) -> Option<u64> {
        let samples = self.samples.iter().chain(&self.open);
        let recent = samples.filter(|sample| sample.end + period(rtt) > now);
        self.is_defined.then(|| recent.map(|sample| sample.bytes).max().unwrap_or(0))
    }

    /// Determines the phase again. [RFC 7661 §4.3]
    pub fn judge(&mut self, now: Time, rtt: Duration, cwnd_bytes: u64) {
        let is_valid = self.pipe_ack(now, rtt).is_none_or(|bytes| 2 * bytes >= cwnd_bytes);
        if is_valid {
            self.since = None;
        } else if self.since.is_none() {
            // In a pause the lapse of the last sample goes unnoticed.
            let last = self.open.unwrap_or(self.samples[0]);
            self.since = Some(now.min(last.end + period(rtt)));
        }
    }

    /// Makes pipeACK undefined again after recovery. [RFC 7661 §4.4.1]
    pub fn reset(&mut self) {
        *self = Validation::default();
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
