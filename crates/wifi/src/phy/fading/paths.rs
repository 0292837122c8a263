//! Channels of many paths that change with movement.

use core::cell::RefCell;
use std::collections::BTreeMap;

use lasthop_units::{Hertz, Speed, Time};

use super::antenna::{Antenna, place};
use super::complex::Complex;
use super::doppler::Movement;
use super::gauss_markov::Bridge;
use super::jakes::{WAVES, Waves};
use super::spread::{Quality, Responses, Spread};

/// Waves of a tap or an antenna: the sum of taps is closer to the normal law than each.
const WAVES_OF_SEVERAL: usize = WAVES / 2;

/// Channels between all nodes.
#[derive(Clone, Debug)]
pub(super) struct Paths {
    movement: Movement,
    law: Law,
    responses: Option<Responses>,
}

/// How the amplitude of a channel changes.
#[derive(Clone, Debug)]
pub(super) enum Law {
    /// The waves of each pair's channels, drawn when they are first needed.
    Waves(RefCell<Vec<BTreeMap<u64, Waves>>>),
    Bridge(Bridge),
}

impl Law {
    pub(super) fn waves(nodes: usize) -> Law {
        Law::Waves(RefCell::new(vec![BTreeMap::new(); nodes * nodes.saturating_sub(1) / 2]))
    }
    pub(super) fn bridges() -> Law {
        Law::Bridge(Bridge::new())
    }

    /// The amplitude of a channel of the pair at this place.
    fn amplitude(&self, seed: u64, place: usize, (number, waves): (u64, usize), wavelengths: f64) -> Complex {
        match self {
            Law::Waves(known) => {
                let of_pair = &mut known.borrow_mut()[place];
                of_pair.entry(number).or_insert_with(|| Waves::new(seed, number, waves)).amplitude(wavelengths)
            }
            Law::Bridge(bridge) => bridge.amplitude(seed, number, wavelengths),
        }
    }
}

impl Paths {
    pub(super) fn new(
        law: Law,
        (doppler, speed): (Option<Hertz>, Option<Speed>),
        spread: Spread,
        nodes: &[Antenna],
    ) -> Paths {
        Paths { movement: Movement::new(doppler, speed, nodes), law, responses: Responses::new(spread, nodes) }
    }

    /// The gain of a pair with this seed.
    pub(super) fn gain(&self, seed: u64, (a, b): (usize, usize), at: Time) -> f64 {
        let wavelengths = self.movement.wavelengths(a, b, at);
        match &self.responses {
            None => self.law.amplitude(seed, place(a, b), (0, WAVES), wavelengths).power(),
            Some(responses) => responses.at((a, b), wavelengths, self.channels(seed, (a, b))).power,
        }
    }

    /// The quality of a link, if its subcarriers or antennas fade apart.
    pub(super) fn quality(&self, seed: u64, (tx, rx): (usize, usize), at: Time) -> Option<Quality> {
        let responses = self.responses.as_ref()?;
        let wavelengths = self.movement.wavelengths(tx, rx, at);
        Some(responses.quality(tx, rx, responses.at((tx, rx), wavelengths, self.channels(seed, (tx, rx)))))
    }

    fn channels(&self, seed: u64, (a, b): (usize, usize)) -> impl Fn(u64, f64) -> Complex {
        move |number, wavelengths| self.law.amplitude(seed, place(a, b), (number, WAVES_OF_SEVERAL), wavelengths)
    }

    pub(super) fn is_spread(&self) -> bool {
        self.responses.is_some()
    }
}
