//! Round-trip time and the retransmission timeout.
//!
//! Source: RFC 6298; `RtoFormula::Linux` as described in [Sarolahti, Kuznetsov 2002]. The caller takes no samples of
//! retransmitted data without timestamps (Karn) [RFC 6298 §3].

use lasthop_units::{Duration, Time};

use crate::config::{Config, RtoFormula};
use crate::tick::Tick;

/// The estimator of one connection. Deviations are held fourfold, as the formulas need them.
#[derive(Clone, Debug)]
pub(crate) struct RttEstimator {
    formula: RtoFormula,
    min_rto: Duration,
    max_rto: Duration,
    granularity: Tick,
    timer_tick: Tick,
    /// time of the host's first tick, in ns
    phase: u64,
    max_backoff: u32,
    /// Smoothed RTT as sampled, for observers and controllers.
    srtt: Option<Duration>,
    latest: Option<Duration>,
    /// number of samples that controllers and observers have seen
    samples: u64,
    /// Smoothed RTT in clock ticks of the timer, in ns.
    timer_srtt: u64,
    /// 4 * RTTVAR, in ns.
    variation: u64,
    linux: LinuxVariation,
    base_rto: Duration,
    backoff: u32,
}

/// Linux's state beside the variation, which rises at once, and falls once per round trip at most.
/// [Sarolahti, Kuznetsov 2002]
#[derive(Clone, Copy, Debug, Default)]
struct LinuxVariation {
    /// mean deviation, fourfold
    mean: u64,
    /// its largest value in this round trip, and not below the least RTO
    highest: u64,
    /// the round trip ends when more than this is acknowledged
    round_end: u64,
}

impl LinuxVariation {
    /// Replaces a quarter of `mean` by the deviation of a sample. A sudden fall of the RTT is no reason for a longer
    /// timeout: its excess counts for an eighth.
    fn take(&mut self, deviation: u64, is_shorter: bool) {
        let quarter = self.mean / 4;
        self.mean = match deviation.checked_sub(quarter) {
            Some(rise) if is_shorter => self.mean + rise / 8,
            Some(rise) => self.mean + rise,
            None => self.mean - (quarter - deviation),
        };
        self.highest = self.highest.max(self.mean);
    }
}

impl RttEstimator {
    /// An estimator of a host whose phase of ticks is derived from `host`, any number.
    pub fn new(config: &Config, host: u32) -> Self {
        RttEstimator {
            formula: config.rto_formula,
            min_rto: config.min_rto,
            max_rto: config.max_rto,
            granularity: Tick::new(config.rto_granularity),
            timer_tick: Tick::new(config.timer_tick),
            phase: u64::from(host.wrapping_mul(2_654_435_761)) % config.timer_tick.as_nanos().max(1),
            max_backoff: config.max_backoff,
            srtt: None,
            latest: None,
            samples: 0,
            timer_srtt: 0,
            variation: 0,
            linux: LinuxVariation::default(),
            base_rto: config.initial_rto,
            backoff: 1,
        }
    }

    pub fn srtt(&self) -> Option<Duration> {
        self.srtt
    }
    pub fn latest(&self) -> Option<Duration> {
        self.latest
    }
    /// Sets the sample for controllers and observers, where it is not the one of the timer.
    pub fn set_latest(&mut self, rtt: Duration) {
        self.latest = Some(rtt);
        self.samples += 1;
    }
    pub fn samples(&self) -> u64 {
        self.samples
    }
    /// True after a timeout without a later sample.
    pub fn is_backed_off(&self) -> bool {
        self.backoff > 1
    }

    /// The present factor on the timeout.
    pub fn backoff(&self) -> u32 {
        self.backoff
    }
    /// RTTVAR, the mean deviation.
    pub fn variation(&self) -> Duration {
        Duration::from_nanos(self.variation / 4)
    }

    /// The timeout in force, backoff included.
    pub fn rto(&self) -> Duration {
        self.base_rto.saturating_mul(u64::from(self.backoff)).min(self.max_rto)
    }

    /// Doubles the timeout. [RFC 6298 §5.5]
    pub fn back_off(&mut self) {
        self.backoff = self.backoff.saturating_mul(2).min(self.max_backoff);
    }

    /// Notes a lost SYN: the first data waits 3 s. [RFC 6298 §5.7]
    pub fn on_syn_lost(&mut self) {
        self.backoff = 1;
        if self.srtt.is_none() {
            self.base_rto = self.base_rto.max(Duration::from_secs(3)).min(self.max_rto);
        }
    }

    /// Takes in a sample; `una` and `nxt` are the oldest unacknowledged and the next offset.
    pub fn sample(&mut self, rtt: Duration, una: u64, nxt: u64) {
        self.latest = Some(rtt);
        let exact = rtt.as_nanos();
        self.srtt =
            Some(Duration::from_nanos(self.srtt.map_or(exact, |s| s.as_nanos() - s.as_nanos() / 8 + exact / 8)));
        let first = self.timer_srtt == 0;
        let ticked = self.in_ticks(exact);
        match self.formula {
            RtoFormula::Rfc6298 => self.sample_rfc6298(ticked, first),
            RtoFormula::Linux => self.sample_linux(ticked, first, una, nxt),
        }
        self.backoff = 1;
        self.base_rto = self.formula_rto();
    }

    /// Rounded to the nearest tick, at least one: a timer that counts ticks sees no other values.
    fn in_ticks(&self, rtt_ns: u64) -> u64 {
        let tick = self.granularity.length().as_nanos();
        self.granularity.whole(rtt_ns + tick / 2).max(1) * tick
    }

    /// SRTT <- 7/8 SRTT + 1/8 R; RTTVAR <- 3/4 RTTVAR + 1/4 |SRTT - R|. [RFC 6298 §2.2, §2.3]
    fn sample_rfc6298(&mut self, rtt: u64, first: bool) {
        if first {
            self.timer_srtt = rtt;
            self.variation = 2 * rtt;
            return;
        }
        self.variation = self.variation - self.variation / 4 + self.timer_srtt.abs_diff(rtt);
        self.timer_srtt = self.timer_srtt - self.timer_srtt / 8 + rtt / 8;
    }

    fn sample_linux(&mut self, rtt: u64, first: bool, una: u64, nxt: u64) {
        let floor = self.min_rto.as_nanos();
        if first {
            self.timer_srtt = rtt;
            self.variation = (2 * rtt).max(floor);
            self.linux = LinuxVariation { mean: 2 * rtt, highest: self.variation, round_end: nxt };
            return;
        }
        self.linux.take(self.timer_srtt.abs_diff(rtt), rtt < self.timer_srtt);
        self.timer_srtt = self.timer_srtt - self.timer_srtt / 8 + rtt / 8;
        self.variation = self.variation.max(self.linux.highest);
        if una > self.linux.round_end {
            // A quarter of the way down to the value of this round trip.
            self.variation -= (self.variation - self.linux.highest) / 4;
            self.linux = LinuxVariation { highest: floor, round_end: nxt, ..self.linux };
        }
    }

    fn formula_rto(&self) -> Duration {
        let rto = match self.formula {
            RtoFormula::Rfc6298 => self.timer_srtt + self.variation.max(self.granularity.length().as_nanos()),
            RtoFormula::Linux => self.timer_srtt + self.variation.max(self.min_rto.as_nanos()),
        };
        let rto = Duration::from_nanos(rto).max(self.min_rto).min(self.max_rto);
        if self.formula == RtoFormula::Linux { self.in_timer_ticks(rto) } else { rto }
    }

    /// Time at which a timer set now expires: timers count from the last tick of their host.
    pub fn expiry(&self, now: Time, wait: Duration) -> Time {
        let phase = self.phase;
        let wait = self.in_timer_ticks(wait).as_nanos();
        Time::from_nanos(self.timer_tick.after_last(now.as_nanos(), phase, wait)).max(now)
    }

    /// Rounded up to the tick of the timers.
    pub fn in_timer_ticks(&self, wait: Duration) -> Duration {
        Duration::from_nanos(self.timer_tick.cover(wait.as_nanos()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn rfc() -> RttEstimator {
        let granularity = Duration::from_nanos(1);
        let config = Config { rto_formula: RtoFormula::Rfc6298, rto_granularity: granularity, ..Config::default() };
        RttEstimator::new(&config, 0)
    }

    #[test]
    fn the_first_sample_gives_three_times_the_rtt() {
        // SRTT = R, RTTVAR = R/2, RTO = R + 4 R/2
        let mut estimator = rfc();
        assert_eq!(estimator.rto(), ms(1000));
        estimator.sample(ms(100), 0, 0);
        assert_eq!(estimator.rto(), ms(300));
        assert_eq!(estimator.srtt(), Some(ms(100)));
    }

    #[test]
    fn later_samples_move_by_an_eighth_and_a_quarter() {
        let mut estimator = rfc();
        estimator.sample(ms(100), 0, 0);
        estimator.sample(ms(180), 0, 0);
        // RTTVAR = 3/4 50 + 1/4 80 = 57.5; SRTT = 110; RTO = 110 + 230
        assert_eq!(estimator.srtt(), Some(ms(110)));
        assert_eq!(estimator.rto(), ms(340));
    }

    #[test]
    fn the_timeout_is_never_below_its_least_and_doubles_up_to_its_greatest() {
        let mut estimator = rfc();
        estimator.sample(ms(1), 0, 0);
        assert_eq!(estimator.rto(), ms(200));
        estimator.back_off();
        estimator.back_off();
        assert_eq!(estimator.rto(), ms(800));
        (0..20).for_each(|_| estimator.back_off());
        assert_eq!(estimator.rto(), Duration::from_secs(120));
        estimator.sample(ms(1), 0, 0);
        assert_eq!(estimator.rto(), ms(200), "a sample ends back-off");
    }

    #[test]
    fn ns2_doubles_at_most_six_times_and_counts_in_ticks() {
        let mut estimator = RttEstimator::new(&Profile::Ns2.config(), 0);
        assert_eq!(estimator.rto(), Duration::from_secs(3));
        // 104 ms are 10 ticks of 10 ms
        estimator.sample(ms(104), 0, 0);
        assert_eq!(estimator.rto(), ms(300));
        assert_eq!(estimator.srtt(), Some(ms(104)));
        (0..10).for_each(|_| estimator.back_off());
        assert_eq!(estimator.rto(), ms(300 * 64));
    }

    #[test]
    fn linux_keeps_the_least_rto_above_the_rtt() {
        let mut estimator = RttEstimator::new(&Profile::Linux.config(), 0);
        (0..200).for_each(|i| estimator.sample(ms(100), i * 10, i * 10 + 5));
        assert_eq!(estimator.rto(), ms(300));
        assert_eq!(
            {
                let mut e = rfc();
                (0..200).for_each(|_| e.sample(ms(100), 0, 0));
                e.rto()
            },
            ms(200),
            "RFC 6298: the minimum"
        );
    }

    #[test]
    fn linux_lets_the_timeout_rise_at_once_and_fall_slowly() {
        let mut estimator = RttEstimator::new(&Profile::Linux.config(), 0);
        (0..50).for_each(|i| estimator.sample(ms(50), i * 10, i * 10 + 5));
        assert_eq!(estimator.rto(), ms(250));
        estimator.sample(ms(450), 501, 505);
        let risen = estimator.rto();
        assert!(risen >= ms(400), "{risen}");
        estimator.sample(ms(50), 511, 515);
        assert!(estimator.rto() > ms(350) && estimator.rto() < risen);
    }
}
