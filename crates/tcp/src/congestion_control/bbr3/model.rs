//! The path model of BBR version 3. [draft-ietf-ccwg-bbr-02 §5.5]

use lasthop_units::{Duration, Time};

use super::super::RateSample;

/// Time for which a least RTT counts. [§2.14.1, BBR.MinRTTFilterLen]
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
/// Growth of the rate that shows room, and round trips without it. [§5.3.1.2]
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
/// Round trips for which an excess of ACKs counts, once Startup is over. [§2.11, BBR.ExtraAckedFilterLen]
const EXTRA_ROUNDS: usize = 10;

/// Round trips, counted by delivered segments. [§5.5.1]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    end: u64,
    pub begins: bool,
}

impl Rounds {
    pub fn start(&mut self, delivered: u64) {
        self.end = delivered;
    }

    pub fn hear(&mut self, sample: &RateSample, delivered: u64) {
        self.begins = sample.prior_delivered >= self.end;
        if self.begins {
            self.start(delivered);
        }
    }
}

/// The largest rate of this cycle of probing and the one before, in segments per s. [§5.5.5]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxRate {
    this: f64,
    before: f64,
}

impl MaxRate {
    pub fn get(&self) -> f64 {
        self.this.max(self.before)
    }

    pub fn hear(&mut self, rate: f64, is_app_limited: bool) {
        if !is_app_limited || rate >= self.get() {
            self.this = self.this.max(rate);
        }
    }

    /// Ends a cycle; one without samples changes nothing.
    pub fn advance(&mut self) {
        if self.this > 0.0 {
            self.before = core::mem::take(&mut self.this);
        }
    }
}

/// [§5.5.4, §5.3.4.2]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MinRtt {
    pub s: Option<f64>,
    at: Time,
    /// least since ProbeRTT was due last
    probed: Option<f64>,
    pub probed_at: Time,
}

impl MinRtt {
    pub fn begin(&mut self, now: Time, rtt: Option<Duration>) {
        let s = rtt.map(Duration::as_secs_f64);
        *self = MinRtt { s, at: now, probed: s, probed_at: now };
    }

    /// True if it is time for ProbeRTT.
    pub fn hear(&mut self, now: Time, rtt: Option<Duration>, interval: Duration) -> bool {
        let expired = now > self.probed_at + interval;
        if let Some(rtt) = rtt.map(Duration::as_secs_f64)
            && (expired || self.probed.is_none_or(|least| rtt < least))
        {
            self.probed = Some(rtt);
            self.probed_at = now;
        }
        let is_old = now > self.at + MIN_RTT_WINDOW;
        if let Some(probed) = self.probed
            && (is_old || self.s.is_none_or(|least| probed < least))
        {
            self.s = Some(probed);
            self.at = self.probed_at;
        }
        expired
    }
}

/// Detection of a full pipe. [§5.3.1.2]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    /// since the connection began
    pub reached: bool,
    /// since the last restart
    pub now: bool,
    rate: f64,
    rounds: u32,
    /// ACKs of this round trip that report losses
    pub losses: u32,
}

impl FullPipe {
    /// Takes in the rate of another round trip.
    pub fn hear(&mut self, rate: f64) {
        if self.now {
            return;
        }
        if rate >= self.rate * FULL_GROWTH {
            return self.restart(rate);
        }
        self.rounds += 1;
        self.now = self.rounds >= FULL_ROUNDS;
        self.reached |= self.now;
    }

    pub fn restart(&mut self, rate: f64) {
        (self.rate, self.rounds, self.now) = (rate, 0, false);
    }
}

/// Segments acknowledged at once beyond those that the rate explains. [§5.5.9]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aggregation {
    began: Time,
    acked: f64,
    rounds: [f64; EXTRA_ROUNDS],
}

impl Aggregation {
    pub fn begin(&mut self, now: Time) {
        (self.began, self.acked) = (now, 0.0);
    }

    /// Begins a round trip; in Startup earlier ones are forgotten. [§5.5.9, filter_len]
    pub fn begin_round(&mut self, startup_is_over: bool) {
        if startup_is_over {
            self.rounds.rotate_right(1);
            self.rounds[0] = 0.0;
        } else {
            self.rounds = [0.0; EXTRA_ROUNDS];
        }
    }

    pub fn hear(&mut self, now: Time, acked: f64, rate: f64, cwnd: f64) {
        let mut expected = rate * now.since(self.began).as_secs_f64();
        if self.acked <= expected {
            self.begin(now);
            expected = 0.0;
        }
        self.acked += acked;
        self.rounds[0] = self.rounds[0].max((self.acked - expected).min(cwnd));
    }

    pub fn extra(&self) -> f64 {
        self.rounds.iter().fold(0.0, |most, extra| extra.max(most))
    }
}

/// Bounds from the losses of the last round trips, until the next probe. [§5.5.10.3]
#[derive(Clone, Copy, Debug)]
pub(super) struct ShortTerm {
    /// segments per s; infinite without a loss
    pub rate: f64,
    /// segments in flight; infinite without a loss
    pub flight: f64,
    latest_rate: f64,
    pub latest_flight: f64,
    /// something was lost in this round trip
    pub lost: bool,
    round_end: u64,
    pub round_begins: bool,
}

impl Default for ShortTerm {
    fn default() -> Self {
        ShortTerm {
            rate: f64::INFINITY,
            flight: f64::INFINITY,
            latest_rate: 0.0,
            latest_flight: 0.0,
            lost: false,
            round_end: 0,
            round_begins: false,
        }
    }
}

impl ShortTerm {
    /// [§5.5.10.1, BBRNoteLoss]
    pub fn note_loss(&mut self, delivered: u64) {
        if !self.lost {
            self.round_end = delivered;
        }
        self.lost = true;
    }

    /// [§5.5.10.3, BBRUpdateLatestDeliverySignals]
    pub fn hear(&mut self, sample: &RateSample, rate: f64, delivered: u64) {
        self.latest_rate = self.latest_rate.max(rate);
        self.latest_flight = self.latest_flight.max(f64::from(sample.delivered));
        self.round_begins = sample.prior_delivered >= self.round_end;
        if self.round_begins {
            self.round_end = delivered;
        }
    }

    /// [BBRAdvanceLatestDeliverySignals]
    pub fn advance(&mut self, sample: &RateSample, rate: f64) {
        if self.round_begins {
            self.latest_rate = rate;
            self.latest_flight = f64::from(sample.delivered);
        }
    }

    /// [BBRInitLowerBounds, BBRLossLowerBounds]
    pub fn lower(&mut self, rate: f64, cwnd: f64, beta: f64) {
        let (rate, flight) = (self.rate.min(rate), if self.flight.is_infinite() { cwnd } else { self.flight });
        self.rate = self.latest_rate.max(beta * rate);
        self.flight = self.latest_flight.max(beta * flight);
    }

    /// [BBRResetShortTermModel]
    pub fn forget(&mut self) {
        (self.rate, self.flight) = (f64::INFINITY, f64::INFINITY);
    }

    /// [BBRResetCongestionSignals]
    pub fn restart(&mut self) {
        (self.lost, self.latest_rate, self.latest_flight) = (false, 0.0, 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn startup_remembers_the_excess_of_one_round_trip_and_later_phases_of_ten() {
        // Ten segments at once at a rate of 1000/s, then nothing above the rate: an excess of ten in the first round.
        for (startup_is_over, rounds) in [(false, 1), (true, 10)] {
            let mut aggregation = Aggregation::default();
            let mut now = Time::from_nanos(1_000_000_000);
            aggregation.begin(now);
            aggregation.hear(now, 10.0, 1000.0, 100.0);
            let remembered = (1..20).find(|_| {
                now += Duration::from_millis(50);
                aggregation.begin_round(startup_is_over);
                aggregation.hear(now, 1.0, 1000.0, 100.0);
                aggregation.extra() < 10.0
            });
            assert_eq!(remembered, Some(rounds));
        }
    }
}
