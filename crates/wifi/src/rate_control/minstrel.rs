//! Minstrel: the rate with the best measured throughput, and one frame in ten to sample others.
//! [Linux 3.10, net/mac80211/rc80211_minstrel.c; its documentation on wireless.wiki.kernel.org]
//!
//! Every 100 ms the share of successful attempts in each rate goes into a moving average, in which the past has a
//! weight of three quarters. A rate's throughput is that probability over the time of one perfect attempt, or nothing
//! below 10 %. Frames then have a chain of four rates:
//!
//! ```text
//!   as a rule                    best throughput | second best     | best probability | lowest rate
//!   looking at a faster rate     sampled         | best throughput | best probability | lowest rate
//!   looking at a slower rate     best throughput | sampled         | best probability | lowest rate
//! ```
//!
//! Each entry has as many attempts as fit a segment of 6 ms, backoff included; the lowest lasts to the end. A rate that
//! is sure to succeed or to fail (above 95 %, below 10 %) gets only four samples a window, and two attempts. A slower
//! rate without attempts for 20 windows is sampled first in its chain, too.
//!
//! The tables of the documentation are followed where the code of 3.10 differs: there the sampled rate takes the place
//! of the first or second entry of the usual chain. A frame that needs a second chain is not sampled. An A-MPDU counts
//! by its MPDUs, though this is not the law for them: see `minstrel_ht`, to which Linux 5.12 moved all rates. Left out:
//! the other law for hardware without a chain; retry counts for frames behind RTS or CTS.

use lasthop_engine::Stream;
use lasthop_registry::{ParamError, Parameter};
use lasthop_units::{Bytes, Duration, Probability, Time};

use super::interface::{FrameInfo, PeerModes, RateControl, TxStatus};
use super::ladder::ladder;
use super::rate_chain::RateChain;
use super::sample_table::{Cursor, SampleTable};
use crate::phy::{ModeId, Phy, frame_size};

lasthop_registry::params! {
    /// Parameters.
    pub struct Params {
        /// Time between updates of the statistics.
        pub window: Duration = Duration::from_millis(100),
        /// Share of the past in the moving average of the success probability.
        pub ewma: Probability = const { Probability::of(0.75) },
        /// Share of frames that probe another rate.
        pub lookaround: Probability = const { Probability::of(0.1) },
        /// Longest time for the attempts of one entry of the chain.
        pub segment: Duration = Duration::from_millis(6),
        /// Largest number of attempts of one entry of the chain.
        pub max_tries: u8 = 7,
    }
    check |this, path| {
        if this.max_tries == 0 {
            return Err(ParamError::new(format!("{path}.max_tries"), "must be at least 1"));
        }
        if this.window == Duration::ZERO {
            let message = format!("{} is too short or too long for a statistics window", Parameter::to_value(&this.window).expect("a time"));
            return Err(ParamError::new(format!("{path}.window"), message));
        }
        Ok(())
    }
}

/// Length of the frame for which a perfect attempt is timed. [Linux 3.10, calc_rate_durations]
const FRAME: Bytes = Bytes(1200 + frame_size::FCS.0);
/// Slot and bounds of the contention window assumed for retries, whatever the PHY's.
/// [Linux 3.10, minstrel_rate_init, minstrel_alloc]
const SLOT: Duration = Duration::from_micros(9);
const CW_MIN: u64 = 15;
const CW_MAX: u64 = 1023;
/// Below this probability a rate has no throughput.
const HOPELESS: f64 = 0.10;
/// Above this probability few samples suffice.
const SURE: f64 = 0.95;
/// Samples in a window of a rate that is hopeless or sure.
const FEW_SAMPLES: u32 = 4;
/// Windows without an attempt after which a slower rate is sampled first in its chain.
const FORGOTTEN: u32 = 20;
/// Number of frames after which the counts of frames and samples restart.
const RECKONING: u64 = 10_000;

/// A rate and its statistics.
#[derive(Clone, Copy, Debug)]
struct Rate {
    mode: ModeId,
    /// Time of one attempt without backoff, in seconds.
    perfect_tx_s: f64,
    /// Attempts that fit a segment.
    full_tries: u8,
    /// Attempts in its entry of a chain.
    tries: u8,
    /// MPDUs in this window, and acknowledged MPDUs among them.
    attempts: u32,
    successes: u32,
    /// Moving average of the success probability.
    probability: f64,
    /// Throughput in MPDUs a second.
    throughput: f64,
    /// Windows since its last attempt.
    unseen: u32,
    /// Samples that this window has left; `None`: any number.
    samples_left: Option<u32>,
}

/// The rate control.
pub struct Minstrel {
    params: Params,
    /// The rates, strictly growing.
    rates: Vec<Rate>,
    table: SampleTable,
    cursor: Cursor,
    /// Indices of the best and the second best throughput, and of the best probability.
    best: usize,
    second: usize,
    probable: usize,
    last_update: Time,
    frames: u64,
    samples: u64,
    /// The rate that the frame under way samples second, if it gets to that entry.
    deferred: Option<usize>,
}

impl Minstrel {
    pub(super) fn new(params: &Params, peer: &PeerModes) -> Minstrel {
        let modes = ladder(peer);
        let rates: Vec<Rate> = modes.iter().map(|&mode| Rate::new(mode, modes[0], peer.phy, params)).collect();
        let table = SampleTable::new(rates.len(), &mut Stream::new(peer.seed, "minstrel", 0));
        Minstrel {
            params: params.clone(),
            rates,
            table,
            cursor: Cursor::default(),
            best: 0,
            second: 0,
            probable: 0,
            last_update: Time::ZERO,
            frames: 0,
            samples: 0,
            deferred: None,
        }
    }

    fn update(&mut self, now: Time) {
        self.last_update = now;
        for rate in &mut self.rates {
            rate.update(self.params.ewma.get());
        }
        (self.best, self.second, self.probable) = (0, 0, 0);
        for i in 0..self.rates.len() {
            self.rank(i);
        }
    }

    /// Ranks a rate among those before it, which are slower.
    fn rank(&mut self, i: usize) {
        let rate = &self.rates[i];
        if rate.throughput > self.rates[self.best].throughput {
            (self.second, self.best) = (self.best, i);
        } else if rate.throughput > self.rates[self.second].throughput {
            self.second = i;
        }
        // Among rates that are sure, the fastest is best; otherwise the most probable.
        let probable = &self.rates[self.probable];
        let better = if rate.probability >= SURE {
            rate.throughput >= probable.throughput
        } else {
            rate.probability >= probable.probability
        };
        if better {
            self.probable = i;
        }
    }

    /// The rate to sample with this frame, if a sample is due.
    fn next_sample(&mut self) -> Option<usize> {
        self.frames += 1;
        let due = libm::floor(self.frames as f64 * self.params.lookaround.get()) as u64;
        let owed = due.checked_sub(self.samples)?;
        let most = 2 * self.rates.len() as u64;
        if self.frames >= RECKONING {
            (self.frames, self.samples) = (0, 0);
        } else if owed > most {
            // Deferred samples are seldom made on a good link; this prevents a burst of them when it turns bad.
            self.samples += owed - most;
        }
        Some(self.table.next(&mut self.cursor))
    }

    /// `first` and `second`, then the usual end of a chain.
    fn chain(&self, first: usize, second: usize) -> RateChain {
        let [first, second, third, lowest] = [first, second, self.probable, 0].map(|i| &self.rates[i]);
        RateChain::single(first.mode, first.tries)
            .then(second.mode, second.tries)
            .then(third.mode, third.tries)
            .then(lowest.mode, self.params.max_tries)
    }

    fn sampling_chain(&mut self, sample: usize) -> Option<RateChain> {
        let slower = self.rates[sample].perfect_tx_s > self.rates[self.best].perfect_tx_s;
        if slower && self.rates[sample].unseen < FORGOTTEN {
            self.deferred = Some(sample);
            return Some(self.chain(self.best, sample));
        }
        if let Some(left) = &mut self.rates[sample].samples_left {
            *left = left.checked_sub(1)?;
        }
        self.samples += 1;
        Some(self.chain(sample, self.best).probing())
    }
}

impl Rate {
    fn new(mode: ModeId, lowest: ModeId, phy: &Phy, params: &Params) -> Rate {
        let perfect = phy.sifs() + phy.ppdu_duration(mode, FRAME);
        let ack = phy.sifs() + phy.ppdu_duration(mode, frame_size::ACK);
        let lowest_ack = phy.sifs() + phy.ppdu_duration(lowest, frame_size::ACK);
        let (mut tries, mut cw, mut time) = (1, CW_MIN, perfect + lowest_ack);
        loop {
            time = time + ack + perfect + SLOT * cw / 2;
            cw = (2 * cw + 1).min(CW_MAX);
            if time >= params.segment || tries >= params.max_tries {
                break;
            }
            tries += 1;
        }
        Rate {
            mode,
            perfect_tx_s: perfect.as_secs_f64(),
            full_tries: tries,
            tries,
            attempts: 0,
            successes: 0,
            probability: 0.0,
            throughput: 0.0,
            unseen: 0,
            samples_left: None,
        }
    }

    fn update(&mut self, ewma: f64) {
        if self.attempts > 0 {
            let now = f64::from(self.successes) / f64::from(self.attempts);
            self.probability = ewma * self.probability + (1.0 - ewma) * now;
            self.unseen = 0;
        } else {
            self.unseen = self.unseen.saturating_add(1);
        }
        (self.attempts, self.successes) = (0, 0);
        self.throughput = if self.probability < HOPELESS { 0.0 } else { self.probability / self.perfect_tx_s };
        if (HOPELESS..=SURE).contains(&self.probability) {
            self.samples_left = None;
            self.tries = self.full_tries;
        } else {
            self.samples_left = Some(FEW_SAMPLES);
            self.tries = match self.full_tries / 2 {
                0 => 2,
                half => half.min(2),
            };
        }
    }
}

impl RateControl for Minstrel {
    fn rates_for(&mut self, frame: &FrameInfo) -> RateChain {
        self.deferred = None;
        let sampled = if frame.is_new() { self.next_sample() } else { None };
        sampled.and_then(|i| self.sampling_chain(i)).unwrap_or_else(|| self.chain(self.best, self.second))
    }

    fn on_tx_status(&mut self, status: &TxStatus) {
        if let Some(i) = self.rates.iter().position(|r| r.mode == status.mode) {
            self.rates[i].attempts += status.mpdus;
            self.rates[i].successes += status.acknowledged;
            // A deferred sample counts once it is made.
            if self.deferred == Some(i) {
                self.samples += 1;
                self.deferred = None;
            }
        }
        if status.now.since(self.last_update) > self.params.window {
            self.update(status.now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{frame, peer, phy, status};
    use super::*;

    fn minstrel(phy: &Phy) -> Minstrel {
        Minstrel::new(&Params::default(), &peer(phy))
    }
    fn mode(phy: &Phy, mbps: u64) -> ModeId {
        phy.mode_of_rate(lasthop_units::DataRate::from_100kbps(10 * mbps)).unwrap()
    }
    /// Reports `successes` of ten attempts in each of these rates, in one window that ends at `ms`.
    fn window(control: &mut Minstrel, phy: &Phy, ms: u64, outcomes: &[(u64, u32)]) {
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        for &(rate, successes) in outcomes {
            for i in 0..10 {
                control.on_tx_status(&status(at(ms - 100), mode(phy, rate), i < successes, None));
            }
        }
        control.update(at(ms));
    }
    fn usual_chain(control: &Minstrel, phy: &Phy) -> Vec<f64> {
        let chain = control.chain(control.best, control.second);
        chain.entries().iter().map(|e| phy.mode(e.mode).rate.as_mbps_f64()).collect()
    }

    #[test]
    fn a_quarter_of_the_average_is_the_last_window() {
        let phy = phy("802.11a");
        let mut control = minstrel(&phy);
        window(&mut control, &phy, 100, &[(54, 10)]);
        assert_eq!(control.rates[7].probability, 0.25);
        window(&mut control, &phy, 200, &[(54, 6)]);
        // 0.75 * 0.25 + 0.25 * 0.6
        assert!((control.rates[7].probability - 0.3375).abs() < 1e-12);
        window(&mut control, &phy, 300, &[]);
        assert!((control.rates[7].probability - 0.3375).abs() < 1e-12);
    }

    #[test]
    fn the_chain_is_best_second_most_probable_lowest() {
        let phy = phy("802.11a");
        let mut control = minstrel(&phy);
        for i in 1..=20 {
            window(&mut control, &phy, 100 * i, &[(54, 3), (48, 6), (36, 9), (24, 10), (6, 10)]);
        }
        // Times of 1204 bytes and SIFS: 54: 216, 48: 240, 36: 308, 24: 440 us; 48: 0.6 / 240 = 2500/s, 36: 0.9 / 308 =
        // 2922/s, 24: 2273/s, 54: 0.3 / 216 = 1389/s. Among the sure ones, 24 is the fastest.
        assert_eq!(usual_chain(&control, &phy), [36.0, 48.0, 24.0, 6.0]);
    }

    #[test]
    fn where_nothing_is_sure_the_surest_is_third() {
        let phy = phy("802.11a");
        let mut control = minstrel(&phy);
        for i in 1..=20 {
            window(&mut control, &phy, 100 * i, &[(54, 5), (48, 6), (36, 7)]);
        }
        assert_eq!(usual_chain(&control, &phy), [48.0, 54.0, 36.0, 6.0]);
    }

    #[test]
    fn below_a_tenth_a_rate_has_no_throughput() {
        let phy = phy("802.11a");
        let mut control = minstrel(&phy);
        for i in 1..=40 {
            window(&mut control, &phy, 100 * i, &[(54, 0), (6, 2)]);
        }
        assert_eq!(control.rates[7].throughput, 0.0);
        assert_eq!(usual_chain(&control, &phy)[0], 6.0);
        // 0.2 of attempts that take 16 + 20 + 4 * ceil((22 + 8 * 1204) / 24) us.
        assert!((control.rates[0].throughput - 0.2 / 1648e-6).abs() < 0.1, "{}", control.rates[0].throughput);
    }

    #[test]
    fn tries_fill_a_segment_of_six_milliseconds() {
        let phy = phy("802.11a");
        let control = minstrel(&phy);
        // 6 Mbit/s: 1648 + 60 us, then 1708 and backoffs of 67, 139, 283 us: 3483, 5330, 7321: the fourth is too much.
        // 54 Mbit/s: 216 + 60 us, then 256 and 67, 139, 283, 571, 1147, 2299 us: 599, 994, 1533, 2360, 3763, 6318.
        assert_eq!(control.rates[0].full_tries, 3);
        assert_eq!(control.rates[7].full_tries, 6);
    }

    #[test]
    fn sure_and_hopeless_rates_get_two_tries_and_four_samples() {
        let phy = phy("802.11a");
        let mut control = minstrel(&phy);
        for i in 1..=20 {
            window(&mut control, &phy, 100 * i, &[(54, 0), (48, 10), (36, 5)]);
        }
        let told: Vec<_> = [7, 6, 5].map(|i: usize| (control.rates[i].tries, control.rates[i].samples_left)).into();
        assert_eq!(told, [(2, Some(4)), (2, Some(4)), (control.rates[5].full_tries, None)]);
    }

    #[test]
    fn one_frame_in_ten_looks_around_a_slower_rate_second() {
        let phy = phy("802.11a");
        let mut control = minstrel(&phy);
        for i in 1..=20 {
            window(
                &mut control,
                &phy,
                100 * i,
                &[(54, 5), (48, 7), (36, 8), (24, 8), (18, 9), (12, 9), (9, 9), (6, 9)],
            );
        }
        let best = control.rates[control.best].mode;
        let (mut direct, mut deferred) = (0, 0);
        for _ in 0..1000 {
            let chain = control.rates_for(&frame(0));
            assert!(chain.is_probe() || chain.first() == best);
            direct += u32::from(chain.is_probe());
            deferred += u32::from(control.deferred.is_some());
            // The first attempt fails, so deferred samples are made.
            control.on_tx_status(&status(control.last_update, chain.first(), false, None));
            let second = chain.entries()[1].mode;
            control.on_tx_status(&status(control.last_update, second, true, None));
        }
        // The best is 36 Mbit/s or above: at least five rates of eight are slower. That rate itself is sampled, too.
        assert!((95..=105).contains(&(direct + deferred)), "{direct} {deferred}");
        assert!(deferred > direct, "{direct} {deferred}");
    }

    #[test]
    fn a_frame_that_asks_again_does_not_look_around() {
        let phy = phy("802.11a");
        let mut control = minstrel(&phy);
        assert!((0..1000).all(|_| !control.rates_for(&frame(8)).is_probe() && control.frames == 0));
    }
}
