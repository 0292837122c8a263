//! Interferers for both implementations: bursts, powers, and an error model with a threshold, so that a frame arrives or is
//! lost for certain.

use crate::twin;
use lasthop_engine::Stream;
use lasthop_units::{Db, Dbm, Duration, Time};
use lasthop_wifi::phy::error_model::{ErrorModel, ReceivedFrame};
use lasthop_wifi::{Burst, Emission, Interferer, Interferers};

/// Interferers: their bursts in the order of starts, and the power in dBm of each at each node.
#[derive(Clone, Debug)]
pub struct Interference {
    pub bursts: Vec<twin::Burst>,
    pub levels: Vec<Vec<f64>>,
}

/// Ratio in dB from which on a frame arrives.
pub const DATA_DB: f64 = 20.0;

/// Frames arrive from [`DATA_DB`] on.
pub struct Threshold;

impl ErrorModel for Threshold {
    fn success_probability(&mut self, frame: &ReceivedFrame<'_>) -> f64 {
        if 10.0 * libm::log10(frame.sinr) >= DATA_DB { 1.0 } else { 0.0 }
    }
    fn needs_sinr(&self) -> bool {
        true
    }
}

impl Interference {
    pub fn for_medium(&self) -> Interferers {
        let one = |(k, levels): (usize, &Vec<f64>)| {
            let of = self.bursts.iter().filter(|burst| burst.by == k).map(|burst| Burst {
                start: Time::from_nanos(burst.start),
                duration: Duration::from_nanos(burst.end - burst.start),
                level: Db(0.0),
            });
            let power = levels.iter().map(|level| Dbm(*level)).collect();
            Interferer { name: format!("interferer{k}"), power, emission: Emission::Trace(of.collect()) }
        };
        Interferers { all: self.levels.iter().enumerate().map(one).collect(), movement: None, shares: Vec::new() }
    }

    /// The same for the twin, with headers of this duration.
    pub fn for_twin(&self, header: Duration) -> twin::Interferers {
        twin::Interferers::new(self.bursts.clone(), self.levels.clone(), (4.0, DATA_DB), header.as_nanos())
    }

    /// One interferer or two, with random bursts and a level at each node that is noticed or not, and destroys or not.
    pub fn random(which: u64, nodes: usize, end_ns: u64) -> Interference {
        let mut dice = Stream::new(which, "interferers", 0);
        let count = 1 + dice.up_to(1) as usize;
        let mut level = || [-90.1, -71.9, -62.3, -53.3, -40.7][dice.up_to(4) as usize];
        let levels = (0..count).map(|_| (0..nodes).map(|_| level()).collect()).collect();
        let times = [(15.0, 150.0), (60.0, 2_000.0), (700.0, 1_300.0), (4_000.0, 9_000.0)][dice.up_to(3) as usize];
        Interference { bursts: some_bursts(which, count, times, end_ns), levels }
    }
}

/// Bursts of one interferer, or of several that are independent of one another.
pub fn some_bursts(which: u64, interferers: usize, (on_us, off_us): (f64, f64), end_ns: u64) -> Vec<twin::Burst> {
    let mut bursts = Vec::new();
    for by in 0..interferers {
        let mut dice = Stream::new(which, "bursts", by as u64);
        let mut at = 0;
        while at < end_ns {
            let mut some = |mean_us: f64| (-libm::log(1.0 - dice.unit()) * mean_us * 1e3) as u64 + 1;
            let start = at + some(off_us);
            at = start + some(on_us);
            bursts.push(twin::Burst { by, start, end: at });
        }
    }
    bursts.sort_unstable_by_key(|burst| burst.start);
    bursts
}

/// The same in equal bursts at equal intervals.
pub fn regular_bursts((on_ns, off_ns): (u64, u64), first_ns: u64, end_ns: u64) -> Vec<twin::Burst> {
    let starts = (0..).map(|k| first_ns + k * (on_ns + off_ns)).take_while(|start| *start < end_ns);
    starts.map(|start| twin::Burst { by: 0, start, end: start + on_ns }).collect()
}
