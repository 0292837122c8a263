//! A signal among others at a receiver: noise, interference, capture, and what the error model makes of it.
//!
//! Powers add up in milliwatts: the SINR of a stretch of a frame is the signal over the noise within the
//! bandwidth of its mode and all that is on the air besides, whatever its own bandwidth. Left out: cross-talk of
//! channels that overlap in part.

use lasthop_observe::NodeId;
use lasthop_units::Time;

use super::carrier_sense::Capture;
use super::ppdu::Transmission;
use crate::channel::Matrix;
use crate::phy::ModeId;
use crate::phy::error_model::{ErrorModel, ReceivedFrame};

/// A PPDU that overlaps another, at a receiver.
#[derive(Clone, Copy, Debug)]
struct Other {
    start: Time,
    end: Time,
    power_mw: f64,
}

/// A signal and what surrounds it, at a receiver; powers in milliwatts.
#[derive(Debug)]
pub(super) struct Air {
    pub signal_mw: f64,
    pub noise_mw: f64,
    others: Vec<Other>,
    /// From which on one of the others spoils what it overlaps, where there is no capture.
    audible_mw: f64,
    capture: Option<Capture>,
}

/// A part of a PPDU.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub from: Time,
    pub to: Time,
}

/// Probabilities that a frame is decoded: as it is, and if nothing overlapped it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Success {
    pub here: f64,
    pub in_silence: f64,
}

impl Air {
    /// What surrounds `ended` at `receiver`.
    pub(super) fn of(
        matrix: &Matrix,
        ended: &Transmission,
        receiver: NodeId,
        noise_mw: f64,
        capture: Option<Capture>,
    ) -> Air {
        let others = ended.overlaps.iter().map(|o| Other {
            start: o.start,
            end: o.end,
            power_mw: matrix.power_mw(o.start, o.node, receiver),
        });
        Air {
            signal_mw: matrix.power_mw(ended.start, ended.ppdu.from, receiver),
            noise_mw,
            others: others.filter(|o| o.power_mw > 0.0).collect(),
            audible_mw: matrix.audible_mw(),
            capture,
        }
    }

    /// Whether what overlaps `span` leaves it clear: nothing audible does, or with capture the sum of what does is
    /// weaker by the threshold at every moment.
    pub(super) fn is_clear(&self, span: Span) -> bool {
        let audible = |o: &&Other| o.power_mw >= self.audible_mw && o.start < span.to && o.end > span.from;
        let mut others = self.others.iter().filter(audible);
        let Some(capture) = self.capture else { return others.next().is_none() };
        // Interference is greatest when one of the others has just begun.
        others.all(|latest| {
            let worst = latest.start.max(span.from);
            let present = self.others.iter().filter(audible).filter(|o| o.start <= worst && o.end > worst);
            capture.captures(self.signal_mw, present.map(|o| o.power_mw).sum())
        })
    }

    /// For each stretch of `span` with constant interference: its share of the whole, and the SINR.
    fn stretches(&self, span: Span) -> impl Iterator<Item = (f64, f64)> {
        let inside = |t: &Time| *t > span.from && *t < span.to;
        let changes = self.others.iter().flat_map(|o| [o.start, o.end]).filter(inside);
        let mut edges: Vec<Time> = [span.from, span.to].into_iter().chain(changes).collect();
        edges.sort_unstable();
        edges.dedup();
        let whole = span.to.since(span.from).as_secs_f64();
        (1..edges.len()).map(move |i| {
            let (from, to) = (edges[i - 1], edges[i]);
            let present = self.others.iter().filter(|o| o.start <= from && o.end >= to);
            let interference: f64 = present.map(|o| o.power_mw).sum();
            (to.since(from).as_secs_f64() / whole, self.signal_mw / (self.noise_mw + interference))
        })
    }
}

/// The error model, and what it said before.
pub(super) struct Judge<'a> {
    model: &'a mut dyn ErrorModel,
    memory: &'a mut Memory,
    /// In the table of which BSS.
    mode: (usize, ModeId),
}

impl<'a> Judge<'a> {
    pub(super) fn new(model: &'a mut dyn ErrorModel, memory: &'a mut Memory, mode: (usize, ModeId)) -> Self {
        Judge { model, memory, mode }
    }

    /// The success of `frame`, which takes up `span`; its SINR is that in silence.
    pub(super) fn success(&mut self, air: &Air, frame: &ReceivedFrame, span: Span) -> Success {
        if !air.others.is_empty() && !air.is_clear(span) {
            return Success { here: 0.0, in_silence: 1.0 };
        }
        let in_silence = self.in_silence(air, frame);
        let disturbed = air.others.iter().any(|o| o.start < span.to && o.end > span.from);
        if !disturbed || !self.model.needs_sinr() {
            return Success { here: in_silence, in_silence };
        }
        let part = |(share, sinr): (f64, f64)| {
            let bits = libm::round(frame.bits as f64 * share) as u64;
            self.model.success_probability(&ReceivedFrame { bits, sinr, ..*frame })
        };
        Success { here: air.stretches(span).map(part).product(), in_silence }
    }

    fn in_silence(&mut self, air: &Air, frame: &ReceivedFrame) -> f64 {
        if self.model.needs_sinr() {
            return self.memory.recall(self.mode, frame, || self.model.success_probability(frame));
        }
        let strong_enough = air.signal_mw >= crate::channel::milliwatts(frame.mode.sensitivity);
        if strong_enough { self.model.success_probability(frame) } else { 0.0 }
    }
}

/// What an error model that judges by the SINR has said of frames that nothing overlapped. Such a model is a function
/// of mode, length and SINR, of which few combinations come up in a run, again and again.
pub(crate) struct Memory {
    /// By a hash of the question; a later question takes the place of an earlier one.
    answers: Vec<Option<Answer>>,
}

#[derive(Clone, Copy)]
struct Answer {
    mode: (usize, ModeId),
    bits: u64,
    sinr: u64,
    probability: f64,
}

impl Memory {
    const ANSWERS: usize = 1 << 10;

    pub(crate) fn new() -> Self {
        Memory { answers: vec![None; Self::ANSWERS] }
    }

    fn recall(&mut self, mode: (usize, ModeId), frame: &ReceivedFrame, ask: impl FnOnce() -> f64) -> f64 {
        let (bits, sinr) = (frame.bits, frame.sinr.to_bits());
        let key = (sinr ^ bits.rotate_left(32) ^ u64::from(mode.1.0) ^ (mode.0 as u64) << 16)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let place = &mut self.answers[(key >> 54) as usize % Self::ANSWERS];
        match *place {
            Some(known) if (known.mode, known.bits, known.sinr) == (mode, bits, sinr) => known.probability,
            _ => {
                let probability = ask();
                *place = Some(Answer { mode, bits, sinr, probability });
                probability
            }
        }
    }
}
