//! Who decodes what.
//!
//! With one view for all there is neither noise nor capture: a PPDU is decoded by everybody if
//! nothing overlapped it. Otherwise, at each receiver: it must not send itself (half duplex); what
//! overlaps must be weaker by the capture threshold, and nothing the receiver was already locked on
//! may have begun earlier; the power must reach the sensitivity of the mode, or the error model, fed
//! with the SINR of each stretch between changes of interference, decides.

use lasthop_observe::NodeId;
use lasthop_registry::Switch;
use lasthop_units::{Db, Dbm, Time};

use crate::channel::{Channel, Matrix};
use crate::medium::{Medium, Overlap, Ppdu, PpduKind};
use crate::phy::error_model::{Direction, FrameKind, ReceivedFrame};

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
    /// What `receiver` makes of `ppdu`, which ends now.
    pub(crate) fn reception(&mut self, now: Time, ppdu: &Ppdu, receiver: NodeId) -> Reception {
        let Channel::Matrix(matrix) = &self.channel else {
            return if ppdu.overlaps.is_empty() { Reception::Decoded } else { Reception::Collided };
        };
        if ppdu.overlaps.iter().any(|o| o.node == receiver) {
            return Reception::Deaf;
        }
        let power = matrix.power(ppdu.from, receiver);
        if !matrix.hears(receiver, ppdu.from) {
            return Reception::Noisy;
        }
        if !survives(matrix, ppdu, receiver, power, self.capture) {
            return Reception::Collided;
        }
        let mode = self.phy.mode(ppdu.mode);
        if !self.error_model.needs_sinr() && power < mode.sensitivity {
            return Reception::Noisy;
        }
        let success = self.success_probability(now, ppdu, receiver, power);
        if self.noise[receiver.index()].chance(success) { Reception::Decoded } else { Reception::Noisy }
    }

    /// The product of the error model's answers over stretches of constant interference.
    fn success_probability(&mut self, now: Time, ppdu: &Ppdu, receiver: NodeId, power: Dbm) -> f64 {
        let Channel::Matrix(matrix) = &self.channel else { return 1.0 };
        if self.error_model.is_none() {
            return 1.0;
        }
        let mode = self.phy.mode(ppdu.mode);
        let kind = match ppdu.kind {
            PpduKind::Data => FrameKind::Data,
            PpduKind::Ack => FrameKind::Ack,
            PpduKind::Rts | PpduKind::Cts | PpduKind::CtsToSelf => FrameKind::Control,
            PpduKind::Beacon => FrameKind::Management,
        };
        let direction = if ppdu.from == NodeId(0) { Direction::Down } else { Direction::Up };
        let link = ppdu.from.0 * matrix.nodes() as u32 + receiver.0;
        let bits = f64::from(ppdu.bytes) * 8.0;
        let mut edges: Vec<Time> = vec![ppdu.start, ppdu.end];
        if self.error_model.needs_sinr() {
            let inside = |t: &Time| *t > ppdu.start && *t < ppdu.end;
            edges.extend(ppdu.overlaps.iter().flat_map(|o| [o.start, o.end]).filter(inside));
            edges.sort_unstable();
            edges.dedup();
        }
        let whole = ppdu.end.since(ppdu.start).as_secs_f64();
        let mut success = 1.0;
        for stretch in edges.windows(2) {
            let present = |o: &&Overlap| o.start <= stretch[0] && o.end >= stretch[1];
            let interference: f64 =
                ppdu.overlaps.iter().filter(present).map(|o| milliwatts(matrix.power(o.node, receiver))).sum();
            let sinr = milliwatts(power) / (self.noise_mw + interference);
            let share = stretch[1].since(stretch[0]).as_secs_f64() / whole;
            let frame = ReceivedFrame { at: now, mode, kind, direction, link, bits: (bits * share) as u64, sinr };
            success *= self.error_model.success_probability(&frame);
        }
        success
    }
}

/// Whether `ppdu` survives what overlaps it at `receiver`.
fn survives(matrix: &Matrix, ppdu: &Ppdu, receiver: NodeId, power: Dbm, capture: Switch<Db>) -> bool {
    let audible = |o: &&Overlap| matrix.hears(receiver, o.node);
    let mut others = ppdu.overlaps.iter().filter(audible).peekable();
    if others.peek().is_none() {
        return true;
    }
    let Switch::On(threshold) = capture else { return false };
    if others.clone().any(|o| o.start < ppdu.start) {
        return false;
    }
    let sum: f64 = others.map(|o| milliwatts(matrix.power(o.node, receiver))).sum();
    10.0 * libm::log10(milliwatts(power) / sum) >= threshold.0
}
