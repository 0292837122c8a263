//! Who decodes what.
//!
//! With one view for all there is neither noise nor capture: a PPDU is decoded by everybody if
//! nothing overlapped it. Otherwise, at each receiver: it must not send itself (half duplex); what
//! overlaps must be weaker by the capture threshold, and nothing that it hears may have been on the air
//! when the PPDU began, as a receiver stays with what it has locked on; the power must reach the
//! sensitivity of the mode, or the error model, fed with the SINR of each stretch between changes of
//! interference, decides.

use lasthop_observe::NodeId;
use lasthop_registry::Switch;
use lasthop_units::{Db, Dbm, Time};

use super::ppdu::{Overlap, Transmission};
use crate::channel::{Channel, Matrix};
use crate::medium::Medium;
use crate::phy::error_model::{Direction, ReceivedFrame};

/// What a receiver made of a PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reception {
    Decoded,
    /// overlapped by others
    Collided,
    /// the receiver was sending itself
    Deaf,
    /// lost to noise, or too weak for its mode
    Noisy,
}

fn milliwatts(power: Dbm) -> f64 {
    power.to_milliwatts(|x| libm::pow(10.0, x)).0
}

impl<B: Send + 'static> Medium<B> {
    /// What `receiver` makes of an A-MPDU.
    pub(crate) fn receive_mpdus(
        &mut self,
        now: Time,
        ended: &Transmission,
        receiver: NodeId,
        lengths: &[u32],
        decoded: &mut Vec<bool>,
    ) -> Reception {
        let reception = self.reception(now, ended, receiver);
        decoded.extend(lengths.iter().map(|_| reception == Reception::Decoded));
        reception
    }

    /// What `receiver` makes of a PPDU that ends now.
    pub(crate) fn reception(&mut self, now: Time, ended: &Transmission, receiver: NodeId) -> Reception {
        let Channel::Matrix(matrix) = &self.channel else {
            return if ended.overlaps.is_empty() { Reception::Decoded } else { Reception::Collided };
        };
        if ended.overlaps.iter().any(|o| o.node == receiver) {
            return Reception::Deaf;
        }
        if !matrix.hears(receiver, ended.ppdu.from) {
            return Reception::Noisy;
        }
        if !survives(matrix, ended, receiver, self.capture) {
            return Reception::Collided;
        }
        let overlapped = audible(matrix, ended, receiver).next().is_some();
        let success = self.success_probability(now, ended, receiver);
        match success >= 1.0 || self.noise[receiver.index()].chance(success) {
            true => Reception::Decoded,
            false if overlapped => Reception::Collided,
            false => Reception::Noisy,
        }
    }

    /// Whether `receiver`, not sending itself, tried to receive this PPDU: nothing was on the air when it
    /// began, and it is the strongest of those that began together.
    pub(crate) fn locks_on(&self, ended: &Transmission, receiver: NodeId) -> bool {
        let Channel::Matrix(matrix) = &self.channel else {
            return ended.overlaps.iter().all(|o| o.start >= ended.start);
        };
        let power = matrix.power(ended.ppdu.from, receiver);
        audible(matrix, ended, receiver)
            .all(|o| o.start > ended.start || (o.start == ended.start && matrix.power(o.node, receiver) <= power))
    }

    /// The error model's answer, or the product of its answers over stretches of constant interference.
    fn success_probability(&mut self, now: Time, ended: &Transmission, receiver: NodeId) -> f64 {
        let Channel::Matrix(matrix) = &self.channel else { return 1.0 };
        let ppdu = &ended.ppdu;
        let phy = self.bss[self.nodes[ppdu.from.index()].bss].phy.clone();
        let (mode, signal) = (phy.mode(ppdu.mode), matrix.power(ppdu.from, receiver));
        let whole = ReceivedFrame {
            at: now,
            mode,
            kind: ppdu.kind.frame_kind(),
            direction: if ppdu.from == NodeId(0) { Direction::Down } else { Direction::Up },
            link: ppdu.from.0 * matrix.nodes() as u32 + receiver.0,
            bits: u64::from(ppdu.bytes) * 8,
            sinr: milliwatts(signal) / self.noise_mw,
        };
        if !self.error_model.needs_sinr() {
            let strong_enough = signal >= mode.sensitivity;
            return if strong_enough { self.error_model.success_probability(&whole) } else { 0.0 };
        }
        if ended.overlaps.is_empty() {
            return self.error_model.success_probability(&whole);
        }
        let stretches = stretches(matrix, ended, receiver);
        let part = |(share, interference)| {
            let sinr = milliwatts(signal) / (self.noise_mw + interference);
            let bits = libm::round(whole.bits as f64 * share) as u64;
            self.error_model.success_probability(&ReceivedFrame { bits, sinr, ..whole })
        };
        stretches.map(part).product()
    }
}

/// Overlapping PPDUs that `receiver` hears.
fn audible<'a>(
    matrix: &'a Matrix,
    ended: &'a Transmission,
    receiver: NodeId,
) -> impl Iterator<Item = &'a Overlap> + Clone {
    ended.overlaps.iter().filter(move |o| matrix.hears(receiver, o.node))
}

/// Whether a PPDU survives what overlaps it at `receiver`.
fn survives(matrix: &Matrix, ended: &Transmission, receiver: NodeId, capture: Switch<Db>) -> bool {
    let mut others = audible(matrix, ended, receiver).peekable();
    if others.peek().is_none() {
        return true;
    }
    let Switch::On(threshold) = capture else { return false };
    if others.clone().any(|o| o.start < ended.start) {
        return false;
    }
    let signal = milliwatts(matrix.power(ended.ppdu.from, receiver));
    // Interference is greatest when one of the others has just begun.
    others.clone().all(|latest| {
        let present = others.clone().filter(|o| o.start <= latest.start && o.end > latest.start);
        let sum: f64 = present.map(|o| milliwatts(matrix.power(o.node, receiver))).sum();
        10.0 * libm::log10(signal / sum) >= threshold.0
    })
}

/// For each stretch of a PPDU with constant interference: its share of the whole, and the interference in
/// milliwatts.
fn stretches<'a>(
    matrix: &'a Matrix,
    ended: &'a Transmission,
    receiver: NodeId,
) -> impl Iterator<Item = (f64, f64)> + 'a {
    let inside = |t: &Time| *t > ended.start && *t < ended.end;
    let changes = ended.overlaps.iter().flat_map(|o| [o.start, o.end]).filter(inside);
    let mut edges: Vec<Time> = [ended.start, ended.end].into_iter().chain(changes).collect();
    edges.sort_unstable();
    edges.dedup();
    let whole = ended.end.since(ended.start).as_secs_f64();
    (1..edges.len()).map(move |i| {
        let (from, to) = (edges[i - 1], edges[i]);
        let present = ended.overlaps.iter().filter(|o| o.start <= from && o.end >= to);
        let interference = present.map(|o| milliwatts(matrix.power(o.node, receiver))).sum();
        (to.since(from).as_secs_f64() / whole, interference)
    })
}
