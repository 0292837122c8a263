//! RED, random early detection: drops arrivals with a probability that grows with the average queue.
//!
//! Source: Floyd, Jacobson 1993, Fig. 2 and §4, §7; gentle from Floyd 2000; `wait` and the size of packets as in
//! ns-2.35 (queue/red.cc); the choice between mark and drop by RFC 3168 §7 and Linux (net/sched/sch_red.c); adaptation
//! by Floyd, Gummadi, Shenker 2001.
//!
//! ```text
//!  drop                                     _______ 1
//!  probability                       _ - ´
//!                             _ - ´   gentle
//!     max_p              _ - |
//!                    _ -     |
//!         0 ______ -         |
//!                 min       max           2*max   average queue
//! ```

use lasthop_engine::Stream;
use lasthop_units::{Duration, Time};

use super::Verdict;

/// Settings of the law; thresholds are in packets or in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// average queue up to which nothing is dropped
    pub min: f64,
    /// average queue at which an arrival is dropped with probability `max_p`
    pub max: f64,
    /// the greatest probability between the thresholds
    pub max_p: f64,
    /// share of the queue that an arrival finds in the average, `w_q`
    pub weight: f64,
    /// time to send a packet of the mean size: the unit of time in which the average of an empty queue decays
    pub packet_time: Duration,
    /// mean packet size in bytes, if sizes count
    pub mean_bytes: Option<f64>,
    /// whether the probability grows on from `max` to twice that, instead of jumping to 1
    pub gentle: bool,
    /// whether drops are at least 1/p apart
    pub wait: bool,
    /// whether capable packets are marked
    pub ecn: bool,
    /// whether capable packets are dropped too if every packet is dropped
    pub harddrop: bool,
    /// whether `max_p` follows the average
    pub adaptive: bool,
}

/// A packet that arrives.
#[derive(Clone, Copy, Debug)]
pub struct Arriving {
    /// its size
    pub bytes: u32,
    /// the queue before it, in the unit of the thresholds
    pub queue: f64,
    /// whether it may be marked
    pub is_capable: bool,
}

/// Time between adaptations of `max_p`. [Floyd, Gummadi, Shenker 2001]
const ADAPTATION_INTERVAL: Duration = Duration::from_millis(500);

/// State of RED for one queue.
#[derive(Clone, Debug)]
pub struct Red {
    average: f64,
    max_p: f64,
    /// Arrivals since the last drop between the thresholds; -1 while there is no drop to count from.
    count: i64,
    /// The time at which the queue became empty, if it is.
    empty_since: Option<Time>,
    next_adaptation: Time,
}

impl Red {
    /// A law in its initial state.
    pub fn new(settings: &Settings) -> Self {
        let next_adaptation = Time::ZERO + ADAPTATION_INTERVAL;
        Red { average: 0.0, max_p: settings.max_p, count: -1, empty_since: Some(Time::ZERO), next_adaptation }
    }

    /// The average queue.
    pub fn average(&self) -> f64 {
        self.average
    }

    /// The verdict on an arrival.
    pub fn on_arrival(&mut self, settings: &Settings, now: Time, packet: Arriving, random: &mut Stream) -> Verdict {
        self.average_in(settings, now, packet.queue);
        if settings.adaptive {
            self.adapt(settings, now);
        }
        if self.average < settings.min {
            self.count = -1;
            return Verdict::Forward;
        }
        let marks = settings.ecn && packet.is_capable;
        let certain_from = if settings.gentle { 2.0 * settings.max } else { settings.max };
        if self.average >= certain_from {
            self.count = 0;
            return if marks && !settings.harddrop { Verdict::Mark } else { Verdict::Drop };
        }
        self.count += 1;
        if !random.chance(self.spaced(settings, self.probability(settings, packet))) {
            return Verdict::Forward;
        }
        self.count = 0;
        if marks { Verdict::Mark } else { Verdict::Drop }
    }

    /// Called when the queue has become empty.
    pub fn on_empty(&mut self, now: Time) {
        self.empty_since = Some(now);
    }

    /// avg = (1 - w)*avg + w*queue; after an empty queue avg = (1 - w)^m * avg, as if m packets had come meanwhile.
    fn average_in(&mut self, settings: &Settings, now: Time, queue: f64) {
        match self.empty_since.take() {
            Some(since) => {
                let m = now.since(since).as_secs_f64() / settings.packet_time.as_secs_f64();
                self.average *= libm::pow(1.0 - settings.weight, m);
            }
            None => self.average += settings.weight * (queue - self.average),
        }
    }

    /// `p_b`: depends on the average alone, and on the size if sizes count.
    fn probability(&self, settings: &Settings, packet: Arriving) -> f64 {
        let Settings { min, max, .. } = *settings;
        let by_average = if self.average < max {
            self.max_p * (self.average - min) / (max - min)
        } else {
            self.max_p + (1.0 - self.max_p) * (self.average - max) / max
        };
        by_average * settings.mean_bytes.map_or(1.0, |mean| f64::from(packet.bytes) / mean)
    }

    /// `p_a`: spreads drops evenly. p_a = p_b/(1 - count*p_b)
    fn spaced(&self, settings: &Settings, p_b: f64) -> f64 {
        let passed = self.count as f64 * p_b;
        let over = if settings.wait { passed - 1.0 } else { passed };
        match over {
            over if over < 0.0 => 0.0,
            over if over < 1.0 => p_b / (1.0 - over),
            _ => 1.0,
        }
    }

    /// Keeps the average in the middle fifth between the thresholds: `max_p` grows by a hundredth or by a quarter of
    /// itself, and shrinks by a tenth of itself. [Floyd, Gummadi, Shenker 2001]
    fn adapt(&mut self, settings: &Settings, now: Time) {
        if now < self.next_adaptation {
            return;
        }
        self.next_adaptation = now + ADAPTATION_INTERVAL;
        let span = settings.max - settings.min;
        if self.average > settings.min + 0.6 * span && self.max_p <= 0.5 {
            self.max_p += (self.max_p / 4.0).min(0.01);
        } else if self.average < settings.min + 0.4 * span && self.max_p >= 0.01 {
            self.max_p *= 0.9;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings {
            min: 5.0,
            max: 15.0,
            max_p: 0.1,
            weight: 0.25,
            packet_time: Duration::from_millis(1),
            mean_bytes: None,
            gentle: true,
            wait: false,
            ecn: false,
            harddrop: true,
            adaptive: false,
        }
    }

    fn arriving(queue: f64) -> Arriving {
        Arriving { bytes: 1000, queue, is_capable: false }
    }

    /// A law with this average.
    fn at(average: f64) -> Red {
        Red { average, empty_since: None, ..Red::new(&settings()) }
    }

    /// The share of arrivals that are dropped or marked, each at this average and the first of its count.
    fn share(settings: &Settings, average: f64, packet: Arriving) -> f64 {
        let mut random = Stream::new(1, "red", 0);
        let packet = Arriving { queue: average, ..packet };
        let hit = |_: &u32| at(average).on_arrival(settings, Time::ZERO, packet, &mut random) != Verdict::Forward;
        (0..40_000).filter(hit).count() as f64 / 40_000.0
    }

    #[test]
    fn the_average_follows_the_queue_by_its_weight() {
        let (settings, mut random) = (settings(), Stream::new(1, "red", 0));
        let mut law = at(0.0);
        let averages: Vec<f64> = [8.0, 8.0, 0.0]
            .map(|queue| {
                law.on_arrival(&settings, Time::ZERO, arriving(queue), &mut random);
                law.average()
            })
            .to_vec();
        // 0.25*8 = 2; 0.75*2 + 2 = 3.5; 0.75*3.5 = 2.625.
        assert_eq!(averages, [2.0, 3.5, 2.625]);
    }

    #[test]
    fn an_empty_queue_is_averaged_as_if_packets_had_come() {
        let (settings, mut random) = (settings(), Stream::new(1, "red", 0));
        let mut law = at(4.0);
        law.on_empty(Time::ZERO);
        // Three packets could have been sent in 3 ms: 4 * 0.75^3 = 1.6875.
        law.on_arrival(&settings, Time::ZERO + Duration::from_millis(3), arriving(0.0), &mut random);
        assert!((law.average() - 1.6875).abs() < 1e-12);
    }

    #[test]
    fn the_drop_curve_is_that_of_the_paper() {
        let gentle = settings();
        // p_b at min, in the middle, at max, half way to 2 max, at 2 max: 0, max_p/2, max_p, 0.1 + 0.9/2, 1. Deviation
        // of a share of 40,000: at most 0.0025, three of them.
        for (average, p) in [(4.99, 0.0), (5.0, 0.0), (10.0, 0.05), (15.0, 0.1), (22.5, 0.55), (30.0, 1.0)] {
            let share = share(&gentle, average, arriving(average));
            assert!((share - p).abs() <= 0.007_5 && (p > 0.0 || share == 0.0), "{average}: {share} for {p}");
        }
        let abrupt = Settings { gentle: false, ..gentle };
        assert_eq!(share(&abrupt, 15.0, arriving(15.0)), 1.0);
        assert!((share(&abrupt, 14.999, arriving(14.999)) - 0.1).abs() < 0.007_5);
    }

    #[test]
    fn where_sizes_count_a_small_packet_is_dropped_less() {
        let settings = Settings { mean_bytes: Some(1000.0), ..settings() };
        let small = Arriving { bytes: 100, ..arriving(15.0) };
        // 0.1 * 100/1000 = 0.01; deviation 0.0005.
        assert!((share(&settings, 15.0, small) - 0.01).abs() < 0.001_5);
    }

    /// Numbers of arrivals from one drop to the next at an average of 10, where p_b = 1/16.
    fn gaps(wait: bool) -> Vec<u32> {
        let settings = Settings { max_p: 0.125, wait, ..settings() };
        let mut random = Stream::new(2, "red", 0);
        let mut law = Red { max_p: 0.125, ..at(10.0) };
        let drops: Vec<u32> = (0..100_000)
            .filter(|_| law.on_arrival(&settings, Time::ZERO, arriving(10.0), &mut random) != Verdict::Forward)
            .collect();
        drops.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    #[test]
    fn drops_are_spread_evenly() {
        // With n = 1 at the first arrival after a drop: p_a = (1/16)/(1 - n/16) = 1/(16 - n), so each gap from 1 to 15
        // is equally likely: mean 8, deviation 4.32, that of the mean of 12,500 is 0.039; five of them.
        let gaps = gaps(false);
        let mean = f64::from(gaps.iter().sum::<u32>()) / gaps.len() as f64;
        assert!((mean - 8.0).abs() < 0.2, "{mean}");
        for gap in 1..=15 {
            // 833 of each, deviation 28.
            let seen = gaps.iter().filter(|g| **g == gap).count();
            assert!((690..980).contains(&seen), "{gap}: {seen}");
        }
        assert_eq!(gaps.iter().max(), Some(&15));
    }

    #[test]
    fn wait_spreads_drops_out() {
        // p_a = 0 up to n = 15, then 1/16/(2 - n/16) = 1/(32 - n): from 16 to 31.
        let gaps = gaps(true);
        assert_eq!((gaps.iter().min(), gaps.iter().max()), (Some(&16), Some(&31)));
    }

    #[test]
    fn capable_packets_are_marked_and_above_all_thresholds_dropped() {
        let mut random = Stream::new(3, "red", 0);
        let verdict = |settings: &Settings, average: f64, random: &mut Stream| {
            let packet = Arriving { is_capable: true, ..arriving(average) };
            let mut law = Red { count: 1_000, ..at(average) };
            law.on_arrival(settings, Time::ZERO, packet, random)
        };
        let ecn = Settings { ecn: true, ..settings() };
        assert_eq!(verdict(&ecn, 4.9, &mut random), Verdict::Forward);
        assert_eq!(verdict(&ecn, 10.0, &mut random), Verdict::Mark);
        assert_eq!(verdict(&ecn, 29.9, &mut random), Verdict::Mark);
        assert_eq!(verdict(&ecn, 30.0, &mut random), Verdict::Drop);
        let soft = Settings { harddrop: false, ..ecn };
        assert_eq!(verdict(&soft, 30.0, &mut random), Verdict::Mark);
        assert_eq!(verdict(&settings(), 10.0, &mut random), Verdict::Drop);
    }

    #[test]
    fn adaptation_brings_max_p_to_the_average() {
        let settings = Settings { adaptive: true, ..settings() };
        let mut random = Stream::new(4, "red", 0);
        let mut law = at(14.0);
        // Above 5 + 0.6*10 = 11 it grows by min(0.01, 0.1/4) to 0.11; once in half a second.
        for at_ms in [500, 999, 1_000] {
            law.on_arrival(&settings, Time::ZERO + Duration::from_millis(at_ms), arriving(14.0), &mut random);
        }
        assert!((law.max_p - 0.12).abs() < 1e-12, "{}", law.max_p);
        // Below 5 + 0.4*10 = 9 it shrinks by a tenth, to 0.108.
        law.average = 6.0;
        law.on_arrival(&settings, Time::ZERO + Duration::from_millis(1_500), arriving(6.0), &mut random);
        assert!((law.max_p - 0.108).abs() < 1e-12, "{}", law.max_p);
    }
}
