//! Random access to units of a trigger (UORA) [802.11ax-2021 §26.5.4].
//!
//! A trigger has units for which it names no station. A station that has data and is not named counts its OFDMA backoff (OBO)
//! down by their number; at zero it sends in one of them, drawn evenly. Stations in one unit collide.
//!
//! ```text
//! OBO drawn from 0 to OCW;    at a trigger with n such units: OBO <= n: send, else OBO <- OBO - n
//! success: OCW <- OCWmin;     failure: OCW <- min(2 OCW + 1, OCWmax);    both: a new OBO
//! ```
//! A station learns at once whether a report of its queue has arrived; after a real one the next trigger shows it.

use lasthop_engine::Stream;

/// Parameters of random access. [802.11ax-2021 §9.4.2.252]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomAccess {
    /// units of each trigger without a name
    pub units: u32,
    /// smallest contention window
    pub ocw_min: u32,
    /// largest contention window
    pub ocw_max: u32,
}

/// A station's contention for such units.
pub(crate) struct Contender {
    of: RandomAccess,
    window: u32,
    backoff: u32,
    random: Stream,
}

impl Contender {
    pub(crate) fn new(of: RandomAccess, random: Stream) -> Contender {
        let mut contender = Contender { of, window: of.ocw_min, backoff: 0, random };
        contender.draw();
        contender
    }

    fn draw(&mut self) {
        self.backoff = self.random.up_to(self.window);
    }

    /// Counts the units of a trigger; returns the one in which the station sends, if it does.
    pub(crate) fn count(&mut self) -> Option<u32> {
        if self.backoff > self.of.units {
            self.backoff -= self.of.units;
            return None;
        }
        self.backoff = 0;
        Some(self.random.up_to(self.of.units - 1))
    }

    /// Notes whether it was heard.
    pub(crate) fn has_sent(&mut self, was_heard: bool) {
        let doubled = self.window.saturating_mul(2).saturating_add(1);
        self.window = if was_heard { self.of.ocw_min } else { doubled.min(self.of.ocw_max) };
        self.draw();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contenders that always have data, over triggers; returns the part of units in which exactly one sends.
    fn efficiency(stations: u64, of: RandomAccess, triggers: u32) -> f64 {
        let mut all: Vec<Contender> = (0..stations).map(|n| Contender::new(of, Stream::new(5, "test", n))).collect();
        let mut heard = 0;
        for _ in 0..triggers {
            let sent: Vec<Option<u32>> = all.iter_mut().map(Contender::count).collect();
            for (station, unit) in sent.iter().enumerate().filter_map(|(n, unit)| Some((n, (*unit)?))) {
                let alone = sent.iter().filter(|other| **other == Some(unit)).count() == 1;
                heard += u32::from(alone);
                all[station].has_sent(alone);
            }
        }
        f64::from(heard) / f64::from(triggers * of.units)
    }

    /// With a constant window a station sends every ceil(OBO / units) triggers, at least every one: with probability tau in
    /// each. Stations are independent, so a unit is used well with probability n tau / M (1 - tau / M)^(n - 1).
    #[test]
    fn constant_windows_agree_with_the_closed_form() {
        for (stations, units, window) in [(10, 4, 31), (20, 9, 15), (5, 8, 0), (40, 2, 127)] {
            let of = RandomAccess { units, ocw_min: window, ocw_max: window };
            let waits: f64 = (0..=window).map(|drawn| f64::from(drawn.div_ceil(units).max(1))).sum();
            let tau = f64::from(window + 1) / waits;
            let each = tau / f64::from(units);
            let expected = stations as f64 * each * (1.0 - each).powi(stations as i32 - 1);
            let found = efficiency(stations, of, 40_000);
            assert!((found / expected - 1.0).abs() < 0.02, "{stations} {of:?}: {found} for {expected}");
        }
    }

    /// With many stations and the best window, as with slotted ALOHA, 1/e of the units is used well.
    #[test]
    fn many_stations_reach_the_limit_of_aloha_and_no_more() {
        let best = (5..9)
            .map(|exponent| {
                let window = (1 << exponent) - 1;
                efficiency(60, RandomAccess { units: 8, ocw_min: window, ocw_max: window }, 5000)
            })
            .fold(0.0, f64::max);
        assert!((0.35..0.39).contains(&best), "{best}");
    }

    /// A trigger with more units than any window lets every station send.
    #[test]
    fn a_window_below_the_units_never_waits() {
        let mut one = Contender::new(RandomAccess { units: 8, ocw_min: 7, ocw_max: 7 }, Stream::new(1, "test", 0));
        for _ in 0..100 {
            assert!(one.count().is_some_and(|unit| unit < 8));
            one.has_sent(true);
        }
    }
}
