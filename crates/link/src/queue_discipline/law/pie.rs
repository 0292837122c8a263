//! PIE, proportional integral controller enhanced: drops arrivals with a probability that follows the queueing delay.
//!
//! Source: RFC 8033, the basic scheme (§4) and its enhancements (§5): ECN, estimation by the departure rate, switching
//! off while the queue is short, de-randomisation, the cap on a rise. There is no timer: updates that are due are made
//! at the next arrival or departure, on a grid of `t_update` from the start of the run.

use lasthop_engine::Stream;
use lasthop_registry::{ParamError, words};
use lasthop_units::{Duration, Time};

use super::Verdict;

words! {
    /// Source of the queueing delay.
    pub enum Estimate {
        /// The arrival time of the packet that leaves.
        Timestamp = "timestamp",
        /// The bytes that wait and the rate at which they leave. [RFC 8033 §5.2]
        DepartureRate = "departure_rate",
    }
}

/// Settings of the law.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// `QDELAY_REF`: queueing delay to keep [RFC 8033 §4.2]
    pub target: Duration,
    /// `T_UPDATE`: time between calculations of the probability [RFC 8033 §4.2]
    pub t_update: Duration,
    /// weight of the distance to the target, in Hz [RFC 8033 §4.2]
    pub alpha: f64,
    /// weight of the change since the last update, in Hz [RFC 8033 §4.2]
    pub beta: f64,
    /// `MAX_BURST`: time for which a burst is admitted after a calm period [RFC 8033 §4.4]
    pub max_burst: Duration,
    /// whether capable packets are marked [RFC 8033 §5.1]
    pub ecn: bool,
    /// `MARK_ECNTH`: probability from which capable packets are dropped too [RFC 8033 §5.1]
    pub mark_ecnth: f64,
    /// source of the queueing delay
    pub estimate: Estimate,
    /// whether drops are spread out [RFC 8033 §5.4]
    pub derandomise: bool,
    /// whether the law is off until the queue has filled to a third [RFC 8033 §5.3]
    pub on_off: bool,
    /// whether small packets are dropped less often, in proportion to their size, as in Linux
    pub bytemode: bool,
    /// `MEAN_PKTSIZE`: two such packets are always admitted; 1 in `bytemode` [RFC 8033 §4.1]
    pub mtu: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            target: Duration::from_millis(15),
            t_update: Duration::from_millis(15),
            alpha: 0.125,
            beta: 1.25,
            max_burst: Duration::from_millis(150),
            ecn: true,
            mark_ecnth: 0.1,
            estimate: Estimate::Timestamp,
            derandomise: true,
            on_off: false,
            bytemode: false,
            mtu: 1500,
        }
    }
}

impl Settings {
    /// Refuses settings that the law cannot work with; `path` is the place of the table.
    ///
    /// # Errors
    /// A target of no time, updates without end, or a negative weight.
    pub fn check(&self, path: &str) -> Result<(), ParamError> {
        super::check_pi(path, self.target, self.t_update, [self.alpha, self.beta])
    }
}

/// A packet that arrives.
#[derive(Clone, Copy, Debug)]
pub struct Arriving {
    /// its size
    pub bytes: u32,
    /// bytes that already wait
    pub queue_bytes: u64,
    /// whether a third of the queue is full
    pub third_full: bool,
    /// whether it may be marked
    pub is_capable: bool,
}

/// A packet that leaves.
#[derive(Clone, Copy, Debug)]
pub struct Departing {
    /// its size
    pub bytes: u32,
    /// time that it waited
    pub sojourn: Duration,
    /// bytes that it leaves behind
    pub left_bytes: u64,
}

/// `DQ_THRESHOLD`: bytes of a measurement of the departure rate. [RFC 8033 §5.2]
const DQ_THRESHOLD: u64 = 1 << 14;
/// Share of the latest measurement in the average: DQ_THRESHOLD/2^16. [RFC 8033 §5.2]
const DQ_WEIGHT: f64 = 0.25;

/// The time that [`DQ_THRESHOLD`] bytes take to leave. [RFC 8033 §5.2]
#[derive(Clone, Copy, Debug, Default)]
struct DepartureRate {
    /// start of this measurement, and the bytes since
    measuring: Option<(Time, u64)>,
    /// average in seconds; `None` before the first measurement
    average_s: Option<f64>,
}

impl DepartureRate {
    fn on_departure(&mut self, now: Time, packet: Departing) {
        if let Some((since, bytes)) = &mut self.measuring {
            *bytes += u64::from(packet.bytes);
            if *bytes < DQ_THRESHOLD {
                return;
            }
            let took_s = now.since(*since).as_secs_f64();
            let average_s = self.average_s.map_or(took_s, |old| old + DQ_WEIGHT * (took_s - old));
            *self = DepartureRate { measuring: None, average_s: Some(average_s) };
        }
        if packet.left_bytes >= DQ_THRESHOLD {
            self.measuring = Some((now, 0));
        }
    }

    fn delay_s(&self, queue_bytes: u64) -> f64 {
        queue_bytes as f64 * self.average_s.unwrap_or(0.0) / DQ_THRESHOLD as f64
    }
}

/// State of PIE for one queue.
#[derive(Clone, Debug)]
pub struct Pie {
    is_active: bool,
    drop_probability: f64,
    /// Sum of the probabilities since the last drop. [RFC 8033 §5.4]
    accumulated: f64,
    /// Delay of the last packet that left, in seconds; with the departure rate, at the last update.
    delay_s: f64,
    /// Delay at the last update, in seconds.
    delay_old_s: f64,
    burst_allowance: Duration,
    next_update: Time,
    departures: DepartureRate,
}

impl Pie {
    /// A law in its initial state.
    pub fn new(settings: &Settings) -> Self {
        Pie {
            is_active: !settings.on_off,
            drop_probability: 0.0,
            accumulated: 0.0,
            delay_s: 0.0,
            delay_old_s: 0.0,
            burst_allowance: settings.max_burst,
            next_update: Time::ZERO + settings.t_update,
            departures: DepartureRate::default(),
        }
    }

    /// The present drop probability for an arrival.
    pub fn drop_probability(&self) -> f64 {
        self.drop_probability
    }

    /// The verdict on a packet that fits into the queue. [RFC 8033 §4.1, §5.1]
    pub fn on_arrival(&mut self, settings: &Settings, now: Time, packet: Arriving, random: &mut Stream) -> Verdict {
        self.catch_up(settings, now, packet.queue_bytes);
        let verdict = match self.is_active && self.burst_allowance == Duration::ZERO {
            true if self.drops_early(settings, packet, random) => self.signal(settings, packet),
            _ => Verdict::Forward,
        };
        if settings.on_off {
            self.switch(settings, packet);
        }
        if self.is_calm(settings) {
            self.burst_allowance = settings.max_burst;
        }
        verdict
    }

    /// Called when an arrival found no room.
    pub fn on_tail_drop(&mut self, settings: &Settings, now: Time, packet: Arriving) {
        self.catch_up(settings, now, packet.queue_bytes);
        self.accumulated = 0.0;
        if settings.on_off {
            self.switch(settings, packet);
        }
    }

    /// Called when a packet has left the queue.
    pub fn on_departure(&mut self, settings: &Settings, now: Time, packet: Departing) {
        self.catch_up(settings, now, packet.left_bytes + u64::from(packet.bytes));
        match settings.estimate {
            Estimate::Timestamp => self.delay_s = packet.sojourn.as_secs_f64(),
            Estimate::DepartureRate if self.is_active => self.departures.on_departure(now, packet),
            Estimate::DepartureRate => {}
        }
    }

    /// Draws whether an arrival is dropped. [RFC 8033 §4.1, §5.4]
    fn drops_early(&mut self, settings: &Settings, packet: Arriving, random: &mut Stream) -> bool {
        let is_short = packet.queue_bytes <= 2 * settings.mtu;
        if is_short || self.drop_probability < 0.2 && self.delay_old_s < settings.target.as_secs_f64() / 2.0 {
            return false;
        }
        let size = if settings.bytemode { f64::from(packet.bytes) / settings.mtu as f64 } else { 1.0 };
        let probability = self.drop_probability * size.min(1.0);
        if !settings.derandomise {
            return random.chance(probability);
        }
        self.accumulated = if probability == 0.0 { 0.0 } else { self.accumulated + probability };
        self.accumulated >= 0.85 && (self.accumulated >= 8.5 || random.chance(probability))
    }

    fn signal(&mut self, settings: &Settings, packet: Arriving) -> Verdict {
        self.accumulated = 0.0;
        match settings.ecn && packet.is_capable && self.drop_probability < settings.mark_ecnth {
            true => Verdict::Mark,
            false => Verdict::Drop,
        }
    }

    /// Switches the law on above a third of the queue, and off when congestion is over and the queue empty.
    /// [RFC 8033 §5.3]
    fn switch(&mut self, settings: &Settings, packet: Arriving) {
        if !self.is_active && packet.third_full {
            let next_update = self.next_update;
            *self = Pie { is_active: true, next_update, ..Pie::new(settings) };
        } else if packet.queue_bytes == 0 && self.drop_probability == 0.0 && self.delay_old_s == 0.0 {
            self.is_active = false;
            self.departures.measuring = None;
        }
    }

    /// Returns whether congestion has gone away. [RFC 8033 §4.4]
    fn is_calm(&self, settings: &Settings) -> bool {
        let half = settings.target.as_secs_f64() / 2.0;
        self.drop_probability == 0.0 && self.delay_s < half && self.delay_old_s < half
    }

    /// Makes the updates that were due up to `now`, with `queue_bytes` waiting meanwhile.
    #[inline]
    fn catch_up(&mut self, settings: &Settings, now: Time, queue_bytes: u64) {
        while now >= self.next_update {
            self.next_update += settings.t_update;
            if self.is_active {
                self.update(settings, queue_bytes);
            }
            if !self.is_active || self.is_settled() {
                let missed = now.since(self.next_update).div_floor(settings.t_update);
                self.next_update += settings.t_update * missed;
            }
        }
    }

    /// Returns whether an update changes nothing while the queue stays unchanged.
    fn is_settled(&self) -> bool {
        self.drop_probability == 0.0
            && self.delay_s == 0.0
            && self.delay_old_s == 0.0
            && self.burst_allowance == Duration::ZERO
    }

    /// Recalculates the drop probability. [RFC 8033 §4.2]
    fn update(&mut self, settings: &Settings, queue_bytes: u64) {
        match settings.estimate {
            Estimate::Timestamp if queue_bytes == 0 => self.delay_s = 0.0,
            Estimate::Timestamp => {}
            Estimate::DepartureRate => self.delay_s = self.departures.delay_s(queue_bytes),
        }
        let from_target = settings.alpha * (self.delay_s - settings.target.as_secs_f64());
        let since_last = settings.beta * (self.delay_s - self.delay_old_s);
        let change = tuned(from_target + since_last, self.drop_probability);
        // p = p + change
        let mut probability = self.drop_probability + change;
        if self.delay_s == 0.0 && self.delay_old_s == 0.0 {
            probability *= 0.98;
        }
        self.drop_probability = probability.clamp(0.0, 1.0);
        self.delay_old_s = self.delay_s;
        self.burst_allowance = self.burst_allowance.saturating_sub(settings.t_update);
    }
}

/// Scales the change by the probability that it changes, and caps it for a rise from a tenth. [RFC 8033 §4.2, §5.5]
fn tuned(change: f64, probability: f64) -> f64 {
    let scaled = match probability {
        p if p < 0.000_001 => change / 2048.0,
        p if p < 0.000_01 => change / 512.0,
        p if p < 0.000_1 => change / 128.0,
        p if p < 0.001 => change / 32.0,
        p if p < 0.01 => change / 8.0,
        p if p < 0.1 => change / 2.0,
        _ => change,
    };
    if probability >= 0.1 { scaled.min(0.02) } else { scaled }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STANDING: u64 = 100_000;

    fn ms(x: u64) -> Time {
        Time::ZERO + Duration::from_millis(x)
    }

    fn arriving(queue_bytes: u64) -> Arriving {
        Arriving { bytes: 1500, queue_bytes, third_full: false, is_capable: false }
    }

    fn departing(sojourn_ms: u64) -> Departing {
        Departing { bytes: 1500, sojourn: Duration::from_millis(sojourn_ms), left_bytes: STANDING }
    }

    /// The probability after updates at 15, 30, ... ms; before each of them a packet left that had waited this long.
    fn after(sojourns_ms: &[u64]) -> Vec<f64> {
        let settings = Settings::default();
        let mut law = Pie::new(&settings);
        let mut probabilities = Vec::new();
        for (sojourn, t) in sojourns_ms.iter().zip((0..).step_by(15)) {
            law.on_departure(&settings, ms(t + 1), departing(*sojourn));
            law.catch_up(&settings, ms(t + 15), STANDING);
            probabilities.push(law.drop_probability());
        }
        probabilities
    }

    fn close(a: &[f64], b: &[f64]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-12 * b.abs())
    }

    #[test]
    fn the_probability_follows_the_pseudo_code() {
        // 0.125*(115 - 15) ms + 1.25*(115 - 0) ms = 0.0125 + 0.14375 = 0.15625, scaled by 1/2048 at first:
        // 7.62939453125e-5. Then only the distance counts: 0.0125/128 = 9.765625e-5, as the probability is now below
        // 0.0001, making 1.739501953125e-4; then 0.0125/32 = 3.90625e-4, making 5.645751953125e-4.
        let expected = [7.62939453125e-5, 1.739501953125e-4, 5.645751953125e-4];
        assert!(close(&after(&[115, 115, 115]), &expected), "{:?}", after(&[115, 115, 115]));
        // At the target only the way there changes it: 1.25*15 ms/2048 = 9.1552734375e-6, and then nothing.
        assert!(close(&after(&[15, 15]), &[9.1552734375e-6, 9.1552734375e-6]), "{:?}", after(&[15, 15]));
        // Below the target it does not go below 0.
        assert_eq!(after(&[1, 1, 1]), [0.0; 3]);
    }

    #[test]
    fn the_scale_of_a_change_follows_the_table() {
        let scales = [(9e-7, 2048.0), (1e-6, 512.0), (1e-5, 128.0), (1e-4, 32.0), (1e-3, 8.0), (0.01, 2.0), (0.1, 1.0)];
        for (probability, divisor) in scales {
            assert_eq!(tuned(-0.01, probability), -0.01 / divisor);
        }
    }

    #[test]
    fn from_a_tenth_on_it_rises_by_a_fiftieth_at_most() {
        assert_eq!(tuned(0.05, 0.1), 0.02);
        assert_eq!(tuned(-0.05, 0.1), -0.05);
        assert_eq!(tuned(0.05, 0.099), 0.025);
    }

    #[test]
    fn an_idle_queue_forgets_by_a_fiftieth_an_update() {
        let settings = Settings { alpha: 0.0, beta: 0.0, ..Settings::default() };
        let mut law = Pie { drop_probability: 0.5, ..Pie::new(&settings) };
        law.catch_up(&settings, ms(45), 0);
        assert!((law.drop_probability() - 0.5 * 0.98 * 0.98 * 0.98).abs() < 1e-15);
    }

    #[test]
    fn updates_missed_are_the_updates_made() {
        let settings = Settings::default();
        let (mut stepped, mut late) = (Pie::new(&settings), Pie::new(&settings));
        for law in [&mut stepped, &mut late] {
            law.drop_probability = 0.7;
            law.delay_s = 0.03;
        }
        for step in 1..=100_000 {
            stepped.catch_up(&settings, ms(15 * step), 0);
        }
        late.catch_up(&settings, ms(15 * 100_000), 0);
        assert_eq!(format!("{stepped:?}"), format!("{late:?}"));
    }

    /// A law that would drop every packet, except for the condition under test.
    fn certain(settings: &Settings) -> Pie {
        Pie {
            drop_probability: 1.0,
            delay_s: 1.0,
            delay_old_s: 1.0,
            burst_allowance: Duration::ZERO,
            next_update: Time::NEVER,
            ..Pie::new(settings)
        }
    }

    #[test]
    fn a_burst_is_let_in_for_its_allowance() {
        let settings = Settings::default();
        let mut random = Stream::new(1, "pie", 0);
        let mut law = Pie::new(&settings);
        let mut first_drop = None;
        // All packets wait for a second, from the first on.
        for t in 0..1_000 {
            law.on_departure(&settings, ms(t), departing(1_000));
            if law.on_arrival(&settings, ms(t), arriving(STANDING), &mut random) == Verdict::Drop {
                first_drop.get_or_insert(t);
            }
        }
        // 150 ms are ten updates: at 15, ..., 150.
        assert!(first_drop.is_some_and(|t| (150..300).contains(&t)), "{first_drop:?}");
        assert_eq!(law.burst_allowance, Duration::ZERO);
        // A calm period restores it.
        law = Pie { drop_probability: 0.0, delay_s: 0.007, delay_old_s: 0.007, next_update: Time::NEVER, ..law };
        law.on_arrival(&settings, ms(1_000), arriving(STANDING), &mut random);
        assert_eq!(law.burst_allowance, settings.max_burst);
    }

    #[test]
    fn two_packets_are_always_let_in() {
        let settings = Settings { derandomise: false, ..Settings::default() };
        let mut random = Stream::new(1, "pie", 0);
        let mut arrive = |bytes| certain(&settings).on_arrival(&settings, ms(1), arriving(bytes), &mut random);
        assert_eq!((arrive(3000), arrive(3001)), (Verdict::Forward, Verdict::Drop));
    }

    #[test]
    fn a_short_delay_is_let_in_below_a_probability_of_a_fifth() {
        let settings = Settings { derandomise: false, ..Settings::default() };
        let mut random = Stream::new(1, "pie", 0);
        let mut drops = |drop_probability, delay_old_s| {
            let mut law = Pie { drop_probability, delay_old_s, ..certain(&settings) };
            let arrive = |_: &i32| law.on_arrival(&settings, ms(1), arriving(STANDING), &mut random) == Verdict::Drop;
            (0..1_000).filter(arrive).count()
        };
        assert_eq!(drops(0.199, 0.0074), 0);
        assert!(drops(0.2, 0.0074) > 100);
        assert!(drops(0.199, 0.0075) > 100);
    }

    #[test]
    fn drops_are_kept_apart() {
        // At 1/8 none of the 6 packets after a drop is dropped (6/8 < 0.85), and the 68th certainly is (68/8 = 8.5).
        let settings = Settings::default();
        let mut random = Stream::new(2, "pie", 0);
        let mut law = Pie { drop_probability: 0.125, ..certain(&settings) };
        let drops: Vec<u32> = (0..200_000)
            .filter(|_| law.on_arrival(&settings, ms(1), arriving(STANDING), &mut random) == Verdict::Drop)
            .collect();
        let gaps: Vec<u32> = drops.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(gaps.iter().min(), Some(&7));
        assert!(gaps.iter().all(|gap| *gap <= 68));
        // The mean gap is 6 + 8 = 14, and its deviation sqrt(7 * 8)/sqrt(200,000/14) = 0.063: five of them.
        let mean = f64::from(gaps.iter().sum::<u32>()) / gaps.len() as f64;
        assert!((mean - 14.0).abs() < 0.31, "{mean}");
    }

    #[test]
    fn capable_packets_are_marked_below_the_threshold_and_dropped_from_it_on() {
        let settings = Settings::default();
        let mut random = Stream::new(3, "pie", 0);
        for (drop_probability, expected) in [(0.0999, Verdict::Mark), (0.1, Verdict::Drop)] {
            let mut law = Pie { drop_probability, ..certain(&settings) };
            let packet = Arriving { is_capable: true, ..arriving(STANDING) };
            let verdicts: Vec<_> = (0..1_000).map(|_| law.on_arrival(&settings, ms(1), packet, &mut random)).collect();
            assert!(verdicts.contains(&expected) && verdicts.iter().all(|v| [expected, Verdict::Forward].contains(v)));
        }
    }

    #[test]
    fn delay_follows_from_the_departure_rate() {
        let settings = Settings { estimate: Estimate::DepartureRate, ..Settings::default() };
        let mut law = Pie::new(&settings);
        // 1500 B a millisecond, 12 Mbit/s: 30,000 B wait for 20 ms. The estimate counts whole packets: 11 of them,
        // 16,500 B in 11 ms, are one threshold of 16,384 B.
        for t in 1..100 {
            law.on_departure(&settings, ms(t), Departing { left_bytes: 30_000, ..departing(0) });
        }
        assert!((law.departures.delay_s(30_000) - 0.020).abs() < 0.000_15, "{}", law.departures.delay_s(30_000));
    }

    #[test]
    fn it_switches_on_at_a_third_and_off_when_all_is_over() {
        let settings = Settings { on_off: true, ..Settings::default() };
        let mut random = Stream::new(4, "pie", 0);
        let mut law = Pie::new(&settings);
        law.on_arrival(&settings, ms(1), arriving(STANDING), &mut random);
        assert!(!law.is_active);
        law.on_arrival(&settings, ms(2), Arriving { third_full: true, ..arriving(STANDING) }, &mut random);
        assert!(law.is_active);
        law.on_arrival(&settings, ms(3), arriving(0), &mut random);
        assert!(!law.is_active);
    }
}
