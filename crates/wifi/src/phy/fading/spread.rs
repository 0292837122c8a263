//! Links whose subcarriers or antennas fade apart, and what that does to a PPDU.

use core::cell::RefCell;
use std::sync::Arc;

use super::antenna::{Antenna, place};
use super::complex::Complex;
use super::delay_profile::{DelayProfile, Tap};
use super::response::{Comb, Response, Way};
use crate::phy::Mode;

/// Responses per wavelength of movement: between two of them the phase of a wave changes by at most 1.4 degrees.
const STEPS: f64 = 256.0;

/// The causes of differences between subcarriers and between antennas.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// Echoes; without them all subcarriers are alike.
    pub delay_profile: Option<DelayProfile>,
    /// Correlation of the channels of neighbouring antennas, at either end; without it streams never disturb one another.
    pub antenna_correlation: Option<f64>,
}

/// A response, and the step of movement at which it was taken.
type Latest = (u64, Arc<Response>);

/// The responses of all links.
#[derive(Clone, Debug)]
pub(super) struct Responses {
    correlation: f64,
    /// For each node, the number of its comb.
    comb_of: Vec<usize>,
    combs: Vec<Comb>,
    /// The place of each node in the order of names, by which the two ends of a link differ.
    rank: Vec<usize>,
    /// The latest response of each pair, and its step.
    latest: RefCell<Vec<Option<Latest>>>,
}

/// The quality of a link at a moment, for PPDUs in one direction.
#[derive(Clone, Debug)]
pub struct Quality {
    response: Arc<Response>,
    way: Way,
}

impl Quality {
    /// The SINR of a flat channel that serves `mode` as well as this one, whose mean over subcarriers and antennas is
    /// `sinr`.
    pub fn effective_sinr(&self, mode: &Mode, sinr: f64) -> f64 {
        self.response.effective_sinr(mode, self.way, sinr)
    }
}

impl Responses {
    /// `None` if all subcarriers and antennas fade alike.
    pub(super) fn new(spread: Spread, nodes: &[Antenna]) -> Option<Responses> {
        let correlation = spread.antenna_correlation;
        if spread.delay_profile.is_none() && correlation.is_none() {
            return None;
        }
        let mut kinds: Vec<(f64, usize)> = Vec::new();
        let comb_of = nodes.iter().map(|node| {
            let kind = (node.bandwidth_hz, if correlation.is_some() { usize::from(node.antennas) } else { 1 });
            kinds.iter().position(|known| *known == kind).unwrap_or_else(|| {
                kinds.push(kind);
                kinds.len() - 1
            })
        });
        let comb_of = comb_of.collect();
        let taps = |width| spread.delay_profile.map_or(vec![Tap { delay_s: 0.0, power: 1.0 }], |it| it.taps(width));
        let combs = kinds.iter().map(|&(width, antennas)| Comb::new(taps(width), width, antennas)).collect();
        let rank = |node: &Antenna| nodes.iter().filter(|other| other.name < node.name).count();
        Some(Responses {
            correlation: correlation.unwrap_or(0.0),
            comb_of,
            combs,
            rank: nodes.iter().map(rank).collect(),
            latest: RefCell::new(vec![None; nodes.len() * nodes.len().saturating_sub(1) / 2]),
        })
    }

    /// The comb of a link: the one of the end with more antennas, or the wider channel.
    fn comb(&self, a: usize, b: usize) -> &Comb {
        let [a, b] = [a, b].map(|node| &self.combs[self.comb_of[node]]);
        if (a.antennas, a.taps.len()) >= (b.antennas, b.taps.len()) { a } else { b }
    }

    /// The response of a pair after this many wavelengths; `amplitude(number, wavelengths)`: the amplitude of one of its channels.
    pub(super) fn at(
        &self,
        (a, b): (usize, usize),
        wavelengths: f64,
        amplitude: impl Fn(u64, f64) -> Complex,
    ) -> Arc<Response> {
        let step = (wavelengths * STEPS) as u64;
        let place = place(a, b);
        if let Some((known, response)) = &self.latest.borrow()[place]
            && *known == step
        {
            return Arc::clone(response);
        }
        let response = Arc::new(self.response(self.comb(a, b), |number| amplitude(number, step as f64 / STEPS)));
        self.latest.borrow_mut()[place] = Some((step, Arc::clone(&response)));
        response
    }

    fn response(&self, comb: &Comb, amplitude: impl Fn(u64) -> Complex) -> Response {
        let n = comb.antennas;
        let mut amplitudes = Vec::with_capacity(comb.taps.len() * n * n);
        for tap in 0..comb.taps.len() as u64 {
            // Numbers that do not depend on how many taps and antennas there are.
            let entry = |k: usize| amplitude(tap * 64 + (k / n) as u64 * 8 + (k % n) as u64);
            let mut matrix: Vec<Complex> = (0..n * n).map(entry).collect();
            for antenna in 0..n {
                correlate(self.correlation, matrix[antenna * n..][..n].iter_mut());
            }
            for antenna in 0..n {
                correlate(self.correlation, matrix[antenna..].iter_mut().step_by(n));
            }
            amplitudes.extend(matrix);
        }
        comb.response(&amplitudes)
    }

    /// The response of a link as PPDUs from `tx` to `rx` meet it.
    pub(super) fn quality(&self, tx: usize, rx: usize, response: Arc<Response>) -> Quality {
        let way = if self.rank[tx] < self.rank[rx] { Way::There } else { Way::Back };
        Quality { response, way }
    }
}

/// Gives independent values the correlation `r^|i - j|`. [Loyka 2001]
fn correlate<'a>(r: f64, values: impl Iterator<Item = &'a mut Complex>) {
    let fresh = libm::sqrt(1.0 - r * r);
    let mut before: Option<Complex> = None;
    for value in values {
        if let Some(before) = before {
            *value = before.scaled(r) + value.scaled(fresh);
        }
        before = Some(*value);
    }
}

#[cfg(test)]
mod tests {
    use super::super::draws::complex_normal;
    use super::*;
    use crate::phy::path_loss::{Position, Way as Path};
    use crate::phy::{ChannelWidth, PhyOptions, Standard};
    use lasthop_engine::Stream;

    fn responses(spread: Spread, bandwidth_hz: f64, antennas: u8) -> Responses {
        let way = Path::from(Position::default());
        let antenna = |name| Antenna { name, way: &way, frequency_hz: 5.18e9, bandwidth_hz, antennas };
        Responses::new(spread, &["ap", "sta"].map(antenna)).unwrap()
    }
    /// The response of a link whose channels are drawn from this stream.
    fn drawn(responses: &Responses, seed: u64) -> Response {
        let draw = |number| complex_normal(&mut Stream::new(seed, "test", number));
        responses.response(responses.comb(0, 1), draw)
    }
    fn profile(word: DelayProfile) -> Spread {
        Spread { delay_profile: Some(word), antenna_correlation: None }
    }

    #[test]
    fn subcarriers_are_correlated_as_the_transform_of_the_delay_profile() {
        let n = 20_000;
        for word in [DelayProfile::TgnB, DelayProfile::TgnD, DelayProfile::TgnF] {
            let link = responses(profile(word), 20e6, 1);
            let all: Vec<Response> = (0..n).map(|seed| drawn(&link, seed)).collect();
            let power = all.iter().map(|one| one.power).sum::<f64>() / n as f64;
            assert!((power - 1.0).abs() < 5.0 / (n as f64).sqrt(), "{power}");
            for apart in [1, 4, 15] {
                let product = |one: &Response| one.gain(0, 0, 0).conjugate() * one.gain(apart, 0, 0);
                let sum = all.iter().map(product).fold(Complex::default(), |sum, one| sum + one);
                let mean = sum.scaled(1.0 / n as f64);
                let turn = |tap: &Tap| Complex::turned(-1.25e6 * apart as f64 * tap.delay_s).scaled(tap.power);
                let expected = word.taps(20e6).iter().map(turn).fold(Complex::default(), |sum, one| sum + one);
                let error = (mean + expected.scaled(-1.0)).power().sqrt();
                assert!(error < 5.0 / (n as f64).sqrt(), "{} {apart}: {mean:?} {expected:?}", word.word());
            }
        }
    }

    #[test]
    fn antennas_are_correlated_at_both_ends() {
        let n = 20_000;
        let spread = Spread { delay_profile: None, antenna_correlation: Some(0.6) };
        let link = responses(spread, 20e6, 3);
        let all: Vec<Response> = (0..n).map(|seed| drawn(&link, seed)).collect();
        // Receiving, then sending antennas: r to the power of both distances.
        for ((row, column), expected) in
            [((0, 0), 1.0), ((0, 1), 0.6), ((1, 0), 0.6), ((2, 0), 0.36), ((1, 1), 0.36), ((2, 2), 0.1296)]
        {
            let product = |one: &Response| (one.gain(0, 0, 0).conjugate() * one.gain(0, row, column)).re;
            let mean = all.iter().map(product).sum::<f64>() / n as f64;
            assert!((mean - expected).abs() < 5.0 / (n as f64).sqrt(), "{row} {column}: {mean} {expected}");
        }
    }

    #[test]
    fn steadier_over_more_echoes_and_lower_rank_with_correlation() {
        let n = 4_000;
        let options = |streams| PhyOptions {
            channel_width: Some(ChannelWidth::Mhz20),
            spatial_streams: Some(streams),
            ..PhyOptions::new(Standard::named("802.11n").unwrap())
        };
        // The share of links on which a mode has less than a tenth of the mean SINR of 20 dB.
        let poor = |spread: Spread, streams: u8, mcs: u8| {
            let phy = options(streams).resolve("bss").unwrap();
            let mode = phy.mode(phy.mode_of_mcs(mcs).unwrap());
            let link = responses(spread, 20e6, streams);
            let one = |seed| {
                let response = drawn(&link, seed);
                let (there, back) = [Way::There, Way::Back]
                    .map(|way| response.effective_sinr(mode, way, 100.0 * response.power))
                    .into();
                assert!(streams > 1 || there == back);
                there < 10.0
            };
            (0..n).filter(|&seed| one(seed)).count() as f64 / n as f64
        };
        // One path: an exponential, 1 - e^-0.1. MCS 7.
        let flat = poor(profile(DelayProfile::TgnA), 1, 7);
        assert!((flat - 0.0952).abs() < 5.0 * (0.0952 / n as f64).sqrt(), "{flat}");
        let [home, office, hall] =
            [DelayProfile::TgnB, DelayProfile::TgnD, DelayProfile::TgnF].map(|word| poor(profile(word), 1, 7));
        assert!(flat > 1.3 * home && home > 1.3 * office && office > hall, "{flat} {home} {office} {hall}");
        // Two streams, MCS 15, and one at two antennas, MCS 7.
        let rank = |correlation| {
            let spread = Spread { delay_profile: None, antenna_correlation: Some(correlation) };
            [poor(spread, 2, 15), poor(spread, 2, 7)]
        };
        let [[free, one], [tied, one_tied], [same, _]] = [0.0, 0.8, 1.0].map(rank);
        assert!(free < 0.7 * tied && tied < same && same > 0.99, "{free} {tied} {same}");
        assert!(one < 0.05 && one < one_tied, "{one} {one_tied}");
    }

    #[test]
    fn a_response_lasts_for_a_small_part_of_a_wavelength() {
        let link = responses(profile(DelayProfile::TgnB), 20e6, 1);
        let amplitude = |number: u64, wavelengths: f64| Complex::turned(wavelengths * number as f64);
        let at = |wavelengths| link.at((0, 1), wavelengths, amplitude).gain(0, 0, 0);
        assert_eq!(at(1.0), at(1.0 + 0.9 / STEPS));
        assert_ne!(at(1.0), at(1.0 + 1.1 / STEPS));
    }
}
