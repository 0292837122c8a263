//! The channel of a link at a moment: a complex gain for each subcarrier and each pair of antennas.

use super::complex::Complex;
use super::delay_profile::Tap;
use super::effective_sinr::{beta, effective};
use super::streams;
use crate::phy::Mode;

/// Distance of the subcarriers that are looked at: finer than echoes of 0.4 us can resolve.
const SPACING_HZ: f64 = 1.25e6;

/// The phases of all taps at all subcarriers, for channels of one width.
#[derive(Clone, Debug)]
pub(super) struct Comb {
    pub taps: Vec<Tap>,
    /// For each subcarrier, for each tap: its turn, times the root of its power.
    turns: Vec<Complex>,
    /// Antennas of either node.
    pub antennas: usize,
}

impl Comb {
    pub(super) fn new(taps: Vec<Tap>, bandwidth_hz: f64, antennas: usize) -> Comb {
        // Taps that do not differ in delay need no second subcarrier.
        let tones = if taps.len() == 1 { 1 } else { (bandwidth_hz / SPACING_HZ) as usize };
        let frequency = |tone: usize| (tone as f64 - (tones as f64 - 1.0) / 2.0) * SPACING_HZ;
        let turn =
            |tone: usize, tap: &Tap| Complex::turned(-frequency(tone) * tap.delay_s).scaled(libm::sqrt(tap.power));
        let turns = (0..tones).flat_map(|tone| taps.iter().map(move |tap| turn(tone, tap))).collect();
        Comb { taps, turns, antennas }
    }

    /// The response to these amplitudes of mean power 1: for each tap, a row for each antenna of the second node with the
    /// antennas of the first.
    pub(super) fn response(&self, amplitudes: &[Complex]) -> Response {
        let entries = self.antennas * self.antennas;
        let tone = |turns: &[Complex], entry: usize| {
            let of_tap = |(turn, tap): (&Complex, usize)| *turn * amplitudes[tap * entries + entry];
            turns.iter().zip(0..).map(of_tap).fold(Complex::default(), |sum, one| sum + one)
        };
        let by_tone = self.turns.chunks_exact(self.taps.len());
        let gains: Vec<Complex> = by_tone.flat_map(|turns| (0..entries).map(move |entry| tone(turns, entry))).collect();
        let power = gains.iter().map(|gain| gain.power()).sum::<f64>() / gains.len() as f64;
        Response { gains, antennas: self.antennas, power }
    }
}

/// A response.
#[derive(Clone, Debug)]
pub(super) struct Response {
    /// For each subcarrier a matrix: rows for the second node's antennas.
    gains: Vec<Complex>,
    antennas: usize,
    /// Mean over all of them.
    pub power: f64,
}

/// The direction in which a response is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// from the first node to the second
    There,
    /// from the second to the first
    Back,
}

impl Response {
    /// The gain of a subcarrier, between an antenna of the second node and one of the first.
    #[cfg(test)]
    pub(super) fn gain(&self, tone: usize, second: usize, first: usize) -> Complex {
        self.gains[(tone * self.antennas + second) * self.antennas + first]
    }

    /// The SINR of a flat channel that serves a mode as well as this one, at the SINR of the mean over subcarriers.
    pub(super) fn effective_sinr(&self, mode: &Mode, way: Way, sinr: f64) -> f64 {
        if self.power <= 0.0 {
            return sinr;
        }
        let mut all = Vec::with_capacity(self.gains.len());
        if self.antennas == 1 {
            // All streams see one channel, as without a model of antennas.
            let scale = sinr * mode.antennas_per_stream / self.power;
            all.extend(self.gains.iter().map(|gain| scale * gain.power()));
        } else {
            self.tell_streams(mode, way, sinr / self.power, &mut all);
        }
        effective(beta(mode), &all) / mode.antennas_per_stream
    }

    /// The SINR of each stream on each subcarrier; `sinr` is the one at an antenna over a channel of gain 1.
    fn tell_streams(&self, mode: &Mode, way: Way, sinr: f64, all: &mut Vec<f64>) {
        let n = self.antennas;
        let streams = usize::from(mode.streams).min(n);
        let receivers = (libm::round(mode.antennas_per_stream * f64::from(mode.streams)) as usize).clamp(streams, n);
        for matrix in self.gains.chunks_exact(n * n) {
            let at = |rx: usize, tx: usize| match way {
                Way::There => matrix[rx * n + tx],
                Way::Back => matrix[tx * n + rx],
            };
            streams::Channel { receivers, at }.sinrs(streams, sinr / streams as f64, |one| all.push(one));
        }
    }
}
