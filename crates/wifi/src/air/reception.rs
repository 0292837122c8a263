//! Decoding at each receiver, and the cause of each loss.
//!
//! ```text
//! A-MPDU   | preamble, PHY header | MPDU | MPDU     | MPDU |      each in its share of the time, by its bytes
//! other             |   burst   |
//! SINR     ‾‾‾‾‾‾‾‾‾‾____________‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾
//! ```
//!
//! Where nodes share a view there is neither noise nor capture: all of them decode a PPDU if no other overlapped it.
//! Otherwise, at each receiver:
//! 1. It must not send itself (half duplex), the PPDU must reach `cca_preamble`, and the receiver must have
//!    locked on it and stayed with it; see `carrier_sense`.
//! 2. Header and MPDU must be clear of overlapping signals: without capture no audible one, or with capture a sum
//!    below the signal by the threshold, at every moment.
//! 3. Each MPDU must reach the sensitivity of its mode; or the error model decides by the SINR of each stretch
//!    between changes of interference. Signals too weak to be heard count here too.
//!
//! ```text
//! SINR = S / (N + sum of I_j) ,    N = n0 B ,    P(MPDU) = product over stretches s of P_s
//!
//! S: power of the PPDU at this receiver in mW; of one user of several, that in its unit
//! I_j: power of each other signal that is on the air during the stretch, whatever its strength
//! N: noise; n0: its density, thermal noise and the receiver's noise figure together, in mW/Hz; B: bandwidth of the mode
//! s: a stretch in which no signal begins or ends, and with it the SINR is constant [Lacage, Henderson 2006]
//! P_s: probability that its bits arrive whole, by the error model, e.g. [Pei, Henderson 2010]
//! ```
//!
//! Bursts of interferers count as noise: in 2 by 4 dB for preamble and header, and in 3 (`energy`).
//!
//! A loss has one cause: a collision with a PPDU that began within a slot of this one, or whose sender is heard by this
//! sender, so that contention should have prevented it; interference of nodes that this sender does not hear; interferers, if
//! no other PPDU reaches the receiver; or noise, which would have spoiled the frame without interference too. One number `u` is
//! drawn for both questions: decoded if `u < P`, lost to others if `P <= u < P0`, else to noise, where `P0` is `P` with all
//! `I_j = 0`. Left out: errors of the header.

use std::ops::ControlFlow;

use lasthop_observe::NodeId;
use lasthop_units::{Db, Dbm, Time};

use super::carrier_sense::Heard;
use super::interference::{Judge, Span, Success, Surroundings, spans};
use super::on_air::Transmission;
use super::received::{Missed, Reception};
use super::{Air, JudgedBy, Radio};
use crate::channel::Channel;
use crate::phy::Mode;
use crate::phy::error_model::{Direction, ReceivedFrame};
use crate::ppdu::Part;

/// Less than half the gap between one and the next smaller number.
const NEGLIGIBLE: f64 = f64::EPSILON / 4.0;

/// Receptions of the MPDUs of an A-MPDU at a receiver.
#[derive(Clone, Debug, Default)]
pub(crate) struct Receptions {
    /// true for each MPDU that was decoded
    pub decoded: Vec<bool>,
    /// why the first MPDU that was not decoded was lost
    pub lost_to: Option<Reception>,
}

/// Conditions that settle at once the reception of a PPDU at a receiver locked on it: most receptions need no more
/// computation. The full computation settles the rest, and would agree where this one settles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shortcut {
    /// A receiver decodes it at this strength, if no other PPDU reaches that receiver: `P` is 1 there in double precision.
    enough: Enough,
    /// True if any other PPDU that reaches the receiver spoils it, whatever the signal: there is no capture, and it
    /// holds a single frame, so every overlap is with its header or with that frame.
    others_spoil: bool,
}

/// Strength at which a signal is decoded for certain.
#[derive(Clone, Copy, Debug)]
enum Enough {
    /// this ratio to this noise in milliwatts
    Sinr { noise_mw: f64, from: f64 },
    /// this power in milliwatts
    Power { from_mw: f64 },
    /// no strength is certain
    Never,
}

impl Shortcut {
    /// The reception at a receiver that no other PPDU reaches, if this settles it.
    #[inline(always)]
    pub(crate) fn settles_alone(self, power_mw: f64) -> Option<Result<(), Missed>> {
        match self.enough {
            _ if self.enough.is_reached(power_mw) => Some(Ok(())),
            // Nothing but the power decides; the full computation draws a number that has no effect.
            Enough::Power { .. } => Some(Err(Missed::Noisy)),
            _ => None,
        }
    }

    /// The reception of the PPDU, if this settles it.
    #[inline(always)]
    pub(crate) fn settles(self, heard: &Heard) -> Option<Result<(), Missed>> {
        if heard.overlaid {
            return self.others_spoil.then_some(Err(Missed::Spoiled));
        }
        self.settles_alone(heard.power_mw)
    }
}

impl Enough {
    #[inline(always)]
    fn is_reached(self, power_mw: f64) -> bool {
        match self {
            Enough::Sinr { noise_mw, from } => power_mw / noise_mw >= from,
            Enough::Power { from_mw } => power_mw >= from_mw,
            Enough::Never => false,
        }
    }
}

impl Air {
    /// The reception of a part that ends now and holds a single frame, at its receiver.
    #[inline(always)]
    pub(crate) fn reception(&mut self, now: Time, ended: &Transmission, part: &Part, receiver: NodeId) -> Reception {
        if self.channel.is_uniform() {
            return if ended.is_disturbed { Reception::Collided } else { Reception::Decoded };
        }
        let settled = self.settled(ended, part, receiver, 1);
        match settled.unwrap_or_else(|| self.overhears(now, ended, part, receiver, &[part.bytes])) {
            Ok(()) => Reception::Decoded,
            Err(missed) => self.reason(missed, ended, part, receiver),
        }
    }

    /// Returns whether `receiver` decodes a part that ends now, of which any MPDU is enough.
    pub(crate) fn overhears(
        &mut self,
        now: Time,
        ended: &Transmission,
        part: &Part,
        receiver: NodeId,
        lengths: &[u32],
    ) -> Result<(), Missed> {
        let silent = ended.overlaps.is_empty() && !self.meets_burst(ended) && self.judged_by == JudgedBy::Sinr;
        if silent && self.is_locked_on(receiver, ended.ppdu.from()) {
            return self.overhears_in_silence(now, ended, part, receiver, lengths);
        }
        self.overhears_at_length(now, ended, part, receiver, lengths)
    }

    /// Does the same as [`overhears`](Self::overhears) for a part without overlap, at a receiver that is locked on it.
    fn overhears_in_silence(
        &mut self,
        now: Time,
        ended: &Transmission,
        part: &Part,
        receiver: NodeId,
        lengths: &[u32],
    ) -> Result<(), Missed> {
        let Channel::Matrix(matrix) = &self.channel else { return Ok(()) };
        let signal_mw = matrix.power_mw(ended.start, part.from, receiver) * self.gain(&ended.ppdu, part);
        let radio = &self.radios[part.from.index()];
        let id = (radio.bss as usize, part.mode);
        let mode = self.phys[id.0].mode(part.mode);
        let mean = signal_mw / (self.noise_mw_per_hz * mode.bandwidth_hz);
        let sinr = matrix.effective_sinr(ended.start, [part.from, receiver], mode, mean);
        let mut frame = frame_of(now, (ended, part), mode, (radio, receiver), sinr);
        let (mut all_lost, mut latest) = (1.0, None);
        for &bytes in lengths {
            let success = match latest {
                Some((length, success)) if length == bytes => success,
                _ => {
                    frame.bits = u64::from(bytes) * 8;
                    self.memory.success_in_silence(id, &frame, &mut *self.error_model)
                }
            };
            latest = Some((bytes, success));
            all_lost *= 1.0 - success;
            if all_lost < NEGLIGIBLE {
                break;
            }
        }
        let any = 1.0 - all_lost;
        self.draw(receiver, Success { here: any, in_silence: any })
    }

    /// Does the same as [`overhears`](Self::overhears) by the full computation.
    fn overhears_at_length(
        &mut self,
        now: Time,
        ended: &Transmission,
        part: &Part,
        receiver: NodeId,
        lengths: &[u32],
    ) -> Result<(), Missed> {
        let Some(around) = self.receives_header(ended, part, receiver)? else { return Ok(()) };
        let mut all_lost = Success { here: 1.0, in_silence: 1.0 };
        self.each_mpdu(now, (ended, part), receiver, &around, lengths, |success| {
            all_lost.here *= 1.0 - success.here;
            all_lost.in_silence *= 1.0 - success.in_silence;
            // One less this is one: the rest cannot change the result.
            if all_lost.here < NEGLIGIBLE { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        self.give_back(around);
        let any = Success { here: 1.0 - all_lost.here, in_silence: 1.0 - all_lost.in_silence };
        self.draw(receiver, any)
    }

    /// The reception at `receiver` of a part that ends now, with MPDUs of these lengths in bytes, delimiters and
    /// padding included: decoded if one MPDU is, with `receptions` for each; else the reason why the first was lost.
    pub(crate) fn receive_mpdus(
        &mut self,
        now: Time,
        ended: &Transmission,
        part: &Part,
        receiver: NodeId,
        lengths: &[u32],
        receptions: &mut Receptions,
    ) -> Reception {
        let Receptions { decoded, lost_to } = receptions;
        decoded.clear();
        decoded.resize(lengths.len(), true);
        *lost_to = None;
        if !self.channel.is_uniform() && self.settled(ended, part, receiver, lengths.len()) == Some(Ok(())) {
            return Reception::Decoded;
        }
        let around = match self.receives_header(ended, part, receiver) {
            Ok(Some(around)) => around,
            Ok(None) => return Reception::Decoded,
            Err(missed) => {
                decoded.fill(false);
                return self.reason(missed, ended, part, receiver);
            }
        };
        let mut successes = std::mem::take(&mut self.successes);
        successes.clear();
        self.each_mpdu(now, (ended, part), receiver, &around, lengths, |success| {
            successes.push(success);
            ControlFlow::Continue(())
        });
        self.give_back(around);
        let mut first = None;
        for (success, decoded) in successes.iter().zip(decoded.iter_mut()) {
            let drawn = self.draw(receiver, *success);
            *decoded = drawn.is_ok();
            let fate = drawn.map_or_else(|missed| self.reason(missed, ended, part, receiver), |()| Reception::Decoded);
            first = first.or(Some(fate));
            *lost_to = lost_to.or(Some(fate).filter(|_| !*decoded));
        }
        self.successes = successes;
        if decoded.contains(&true) { Reception::Decoded } else { first.unwrap_or(Reception::Decoded) }
    }

    /// The power at which `receiver` hears the part of a PPDU that `from` sends, and that ends, if each node has a view of its own.
    pub(crate) fn power_of(&self, ended: &Transmission, from: NodeId, receiver: NodeId) -> Option<Dbm> {
        let Channel::Matrix(matrix) = &self.channel else { return None };
        let power_mw = matrix.power_mw(ended.start, from, receiver);
        (power_mw > 0.0).then(|| Dbm(10.0 * libm::log10(power_mw)))
    }

    /// Returns whether `receiver`, not sending itself, tried to receive this PPDU to its end.
    pub(crate) fn locks_on(&self, ended: &Transmission, receiver: NodeId) -> bool {
        match &self.channel {
            Channel::Uniform { .. } => !ended.came_second,
            Channel::Matrix(_) => self.sense.is_locked_on(receiver, ended.ppdu.from()),
        }
    }

    /// Signal-to-noise ratio at which a node hears its peer, or would, if it changes with time.
    pub(crate) fn snr_of(&self, now: Time, from: NodeId, at: NodeId) -> Option<Db> {
        let Channel::Matrix(matrix) = &self.channel else { return None };
        let noise_mw = self.noise_mw_per_hz * self.phy_of(at).bandwidth_hz();
        let ratio = || matrix.power_mw(now, from, at) / noise_mw;
        matrix.is_varying().then(|| Db(10.0 * libm::log10(ratio())))
    }

    /// Returns whether all that hear a radio share the view of their group and decode a part of its PPDU that is alone on the
    /// air.
    #[inline(always)]
    pub(crate) fn all_share_and_decode(
        &self,
        from: NodeId,
        shortcut: Shortcut,
        at_destination: Option<Reception>,
    ) -> bool {
        let Some(group) = self.hearing.group_of(from) else { return false };
        let of = &self.hearing.groups[group];
        of.sharing == of.members.len()
            && (of.on_air.len() > 1
                || (at_destination.is_none_or(|reception| reception == Reception::Decoded)
                    && shortcut.settles_alone(self.hearing.weakest_mw(from)) == Some(Ok(()))))
    }

    /// Returns whether `receiver` is locked on the PPDU that `from` is sending. A member of a group that shares a view is
    /// locked on a PPDU that is alone on the air; of several it decodes none, whichever it is locked on.
    fn is_locked_on(&self, receiver: NodeId, from: NodeId) -> bool {
        if self.hearing.shares(receiver) { receiver != from } else { self.sense.is_locked_on(receiver, from) }
    }

    /// How a member of a group that shares a view has heard a PPDU that was alone on the air of its group.
    #[inline(never)]
    fn heard_alone(&self, ended: &Transmission, receiver: NodeId) -> Option<Heard> {
        let Channel::Matrix(matrix) = &self.channel else { return None };
        let alone = self.hearing.is_alone(ended.ppdu.from());
        alone.then(|| Heard::alone(matrix.power_mw(ended.start, ended.ppdu.from(), receiver)))
    }

    /// The reception at `receiver` of a part with this many frames, if a [`Shortcut`] settles it.
    #[inline(always)]
    fn settled(
        &self,
        ended: &Transmission,
        part: &Part,
        receiver: NodeId,
        frames: usize,
    ) -> Option<Result<(), Missed>> {
        let heard = if self.hearing.shares(receiver) {
            self.heard_alone(ended, receiver)?
        } else {
            self.sense.heard(receiver.index(), ended.ppdu.from()).filter(|heard| heard.locked)?
        };
        if ended.ppdu.more.is_some() {
            // Each part has a power of its own.
            return None;
        }
        self.shortcut(ended, part, frames).settles(&heard)
    }

    /// The shortcut for a part with this many frames, if each node has a view of its own.
    #[inline(always)]
    pub(crate) fn shortcut(&self, ended: &Transmission, part: &Part, frames: usize) -> Shortcut {
        let meets_burst = self.meets_burst(ended);
        let (silent, no_capture) = (ended.overlaps.is_empty() && !meets_burst, self.capture.is_none());
        let bss = self.radios[part.from.index()].bss as usize;
        let enough = match self.judged_by {
            // Signals too weak to be heard add to the noise.
            JudgedBy::Sinr if silent && !self.is_spread => {
                let noise_mw = self.noise_mw_per_hz * self.phys[bss].mode(part.mode).bandwidth_hz;
                Enough::Sinr { noise_mw, from: self.memory.known_certain_from(bss, part.mode) }
            }
            JudgedBy::Power if silent || (no_capture && !meets_burst) => {
                Enough::Power { from_mw: self.sensitivity_mw[bss][part.mode.index()] }
            }
            _ => Enough::Never,
        };
        Shortcut { enough, others_spoil: no_capture && frames == 1 }
    }

    /// The signals around a PPDU whose header `receiver` has received, or the reason why it has not; `None` if nodes
    /// share views. To be handed [back](Self::give_back).
    fn receives_header(
        &mut self,
        ended: &Transmission,
        part: &Part,
        receiver: NodeId,
    ) -> Result<Option<Surroundings>, Missed> {
        let Channel::Matrix(matrix) = &self.channel else {
            return if ended.is_disturbed { Err(Missed::Spoiled) } else { Ok(None) };
        };
        if ended.overlaps.iter().any(|o| o.node == receiver) {
            return Err(Missed::Deaf);
        }
        if matrix.power_mw(ended.start, part.from, receiver) < matrix.preamble_mw {
            return Err(Missed::Noisy);
        }
        if !self.is_locked_on(receiver, ended.ppdu.from()) {
            return Err(Missed::Spoiled);
        }
        let mode = self.phy_of(part.from).mode(part.mode);
        let noise_mw = self.noise_mw_per_hz * mode.bandwidth_hz;
        let quality = matrix.quality(ended.start, part.from, receiver).map(|quality| Box::new((quality, mode.clone())));
        let others = std::mem::take(&mut self.others);
        let signal_mw = matrix.power_mw(ended.start, part.from, receiver) * self.gain(&ended.ppdu, part);
        let mut around = Surroundings::of(matrix, ended, (signal_mw, receiver), noise_mw, self.capture, others);
        around.quality = quality;
        if let Some(energy) = &self.energy {
            around.add(energy.heard_in(Span { from: ended.start, to: ended.end }, receiver));
        }
        let header = Span { from: ended.start, to: self.header_ends(ended) };
        if around.is_clear(header) && around.is_legible(header) {
            return Ok(Some(around));
        }
        self.give_back(around);
        Err(Missed::Spoiled)
    }

    /// Keeps its list for reuse.
    fn give_back(&mut self, around: Surroundings) {
        self.others = around.into_others();
    }

    fn header_ends(&self, ended: &Transmission) -> Time {
        let Part { from, mode, .. } = ended.ppdu.first;
        (ended.start + self.phy_of(from).header_duration(mode)).min(ended.end)
    }

    /// Finds the success of each MPDU in turn. They share the time after the header in proportion to their bytes.
    fn each_mpdu(
        &mut self,
        now: Time,
        (ended, part): (&Transmission, &Part),
        receiver: NodeId,
        around: &Surroundings,
        lengths: &[u32],
        mut tell: impl FnMut(Success) -> ControlFlow<()>,
    ) {
        let header_ends = self.header_ends(ended);
        let radio = &self.radios[part.from.index()];
        let which = radio.bss as usize;
        let mode = self.phys[which].mode(part.mode);
        let strong_enough =
            self.judged_by == JudgedBy::Sinr || around.signal_mw >= self.sensitivity_mw[which][part.mode.index()];
        let judge_of = (which, part.mode);
        let mut judge = Judge::new(&mut *self.error_model, &mut self.memory, around, judge_of, strong_enough);
        let mut frame = frame_of(now, (ended, part), mode, (radio, receiver), around.sinr(0.0));
        if around.is_silent() {
            // The position of an MPDU in the PPDU makes no difference, and MPDUs of one length have one result.
            let mut latest: Option<(u32, Success)> = None;
            for &bytes in lengths {
                frame.bits = u64::from(bytes) * 8;
                let known = latest.filter(|(length, _)| *length == bytes && judge.repeats_itself());
                let (_, success) = *latest.insert(known.unwrap_or_else(|| (bytes, judge.success_in_silence(&frame))));
                if tell(success).is_break() {
                    return;
                }
            }
            return;
        }
        for (bytes, span) in spans(header_ends, ended.end, lengths) {
            frame.bits = u64::from(bytes) * 8;
            if tell(judge.success(&frame, span)).is_break() {
                return;
            }
        }
    }

    /// Draws the fate of a frame, once, so that a frame lost to others would have arrived without them.
    fn draw(&mut self, receiver: NodeId, success: Success) -> Result<(), Missed> {
        if success.here >= 1.0 {
            return Ok(());
        }
        if success.here <= 0.0 && success.in_silence >= 1.0 {
            return Err(Missed::Spoiled);
        }
        let drawn = self.noise[receiver.index()].unit();
        match drawn {
            _ if drawn < success.here => Ok(()),
            _ if drawn < success.in_silence => Err(Missed::Spoiled),
            _ => Err(Missed::Noisy),
        }
    }

    /// The reported reason for a frame that `receiver` has missed.
    #[inline(never)]
    fn reason(&self, missed: Missed, ended: &Transmission, part: &Part, receiver: NodeId) -> Reception {
        match missed {
            Missed::Deaf => Reception::Deaf,
            Missed::Noisy | Missed::TooWide => Reception::Noisy,
            Missed::Spoiled => self.cause(ended, part, receiver),
        }
    }

    /// The cause of the loss of a frame that others have spoiled.
    fn cause(&self, ended: &Transmission, part: &Part, receiver: NodeId) -> Reception {
        let Channel::Matrix(matrix) = &self.channel else { return Reception::Collided };
        let slot = self.phy_of(part.from).slot();
        let apart = |a: Time, b: Time| a.since(b).max(b.since(a));
        let mut heard = ended.overlaps.iter().filter(|o| matrix.power_mw(o.start, o.node, receiver) > 0.0).peekable();
        if heard.peek().is_none() {
            return Reception::Drowned;
        }
        let mut collided =
            heard.filter(|o| apart(o.start, ended.start) < slot || matrix.hears(o.start, part.from, o.node));
        if collided.next().is_some() { Reception::Collided } else { Reception::Interfered }
    }
}

/// A frame for the error model; its length is still to be filled in.
fn frame_of<'a>(
    at: Time,
    (ended, part): (&Transmission, &Part),
    mode: &'a Mode,
    (sender, receiver): (&Radio, NodeId),
    sinr: f64,
) -> ReceivedFrame<'a> {
    ReceivedFrame {
        at,
        mode,
        kind: ended.ppdu.frame_kind(),
        direction: if sender.is_ap { Direction::Down } else { Direction::Up },
        link: part.from.0 << 16 | receiver.0,
        bits: 0,
        sinr,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use lasthop_engine::Stream;
    use lasthop_observe::LinkId;
    use lasthop_units::{Dbm, Duration};

    use super::super::carrier_sense::CarrierSense;
    use super::super::{AirConfig, Radio};
    use super::*;
    use crate::channel::Matrix;
    use crate::ids::{ExchangeId, TxId};
    use crate::phy::error_model::{ErrorModelKind, nist, none};
    use crate::phy::{ModeId, PhyOptions, Standard};
    use crate::ppdu::{Ppdu, PpduKind, To};

    const RECEIVERS: u32 = 60;

    /// Node n hears node 0 at -95 + n dBm, and the last node at -60 - n dBm.
    fn air(error_model: ErrorModelKind) -> Air {
        let power = |tx: NodeId, rx: NodeId| {
            Dbm(if tx.0 == 0 { -95.0 } else { -60.0 } + f64::from(rx.0) * if tx.0 == 0 { 1.0 } else { -1.0 })
        };
        let channel = Channel::Matrix(Matrix::new(RECEIVERS as usize + 1, Dbm(-90.0), power));
        let radio = |node: u32| Radio { bss: 0, channel: 0, is_ap: node == 0, transmitting: false };
        let nodes = 0..=RECEIVERS;
        Air::new(AirConfig {
            radios: nodes.clone().map(radio).collect(),
            phys: vec![Arc::new(PhyOptions::new(Standard::named("802.11a").unwrap()).resolve("bss").unwrap())],
            noise_mw_per_hz: 5e-18,
            sense: CarrierSense::new(&channel, None, nodes.clone().map(|_| None)),
            channel,
            capture: None,
            error_model: error_model.build(1),
            noise: nodes.map(|n| Stream::new(1, "reception", u64::from(n))).collect(),
            interferers: crate::interferer::Interferers::default(),
            seed: 1,
        })
    }

    /// Begins a PPDU of `from` in a mode at every receiver.
    fn begin(air: &mut Air, at: Time, from: NodeId, mode: u16) -> (TxId, Time, Part) {
        let airtime = Duration::from_micros(500);
        let first = Part { from, to: To::Nobody, link: LinkId(0), mode: ModeId(mode), bytes: 1500, ru: None };
        let (kind, exchange) = (PpduKind::Data, ExchangeId(0));
        let ppdu =
            Ppdu { kind, first, more: None, airtime, reserves_until: at, exchange, initiator: from, of_several: false };
        let begun = air.begun(at, &ppdu);
        for hearer in &*air.hearers(from) {
            air.notice(hearer, &begun, false);
        }
        let (id, end) = air.begin(at, ppdu);
        (id, end, first)
    }

    fn end_at_all(air: &mut Air, ended: Transmission) {
        for view in 0..=RECEIVERS as usize {
            if let Some(heard) = air.heard(view, ended.ppdu.from()) {
                air.lose(view, heard);
            }
        }
        air.forget(ended);
    }

    /// The reception of a PPDU at `receiver` by the shortest computation, which agrees with the full one and takes as
    /// many draws, unless the power alone decides: then no draw has an effect.
    fn overheard(air: &mut Air, end: Time, ended: &Transmission, part: &Part, receiver: NodeId) -> Result<(), Missed> {
        let before = air.noise.clone();
        let at_length = air.overhears_at_length(end, ended, part, receiver, &[1500]);
        let after = std::mem::replace(&mut air.noise, before);
        let settled = air.settled(ended, part, receiver, 1);
        let found = settled.unwrap_or_else(|| air.overhears(end, ended, part, receiver, &[1500]));
        let mut streams = [&after, &air.noise].map(|noise| noise[receiver.index()].clone());
        assert_eq!(found, at_length, "{receiver:?}");
        if settled != Some(Err(Missed::Noisy)) {
            assert_eq!(streams[0].bits(), streams[1].bits(), "{receiver:?}");
        }
        found
    }

    /// The number of receptions that were certain; the full computation agreed on these, without a draw.
    fn certain(error_model: ErrorModelKind) -> usize {
        let (mut air, mut certain) = (air(error_model), 0);
        for number in 0..64u64 {
            let (id, end, part) = begin(&mut air, Time::from_nanos(number * 1_000_000), NodeId(0), (number % 8) as u16);
            let ended = air.end(id);
            for receiver in (1..=RECEIVERS).map(NodeId) {
                let is_certain = air.settled(&ended, &part, receiver, 1) == Some(Ok(()));
                let before = air.noise.clone();
                let found = overheard(&mut air, end, &ended, &part, receiver);
                if is_certain {
                    let (mut noise, mut unused) =
                        (air.noise[receiver.index()].clone(), before[receiver.index()].clone());
                    assert_eq!((found, noise.bits()), (Ok(()), unused.bits()));
                    certain += 1;
                }
            }
            end_at_all(&mut air, ended);
        }
        certain
    }

    /// The number of receptions that failed, and of those settled at once, if a second PPDU begins this many
    /// microseconds later at the last node.
    fn lost(error_model: ErrorModelKind, later: u64) -> (usize, usize) {
        let (mut air, mut lost, mut at_once) = (air(error_model), 0, 0);
        for number in 0..64u64 {
            let (start, mode) = (Time::from_nanos(number * 2_000_000), (number % 8) as u16);
            let first = begin(&mut air, start, NodeId(0), mode);
            let second = begin(&mut air, start + Duration::from_micros(later), NodeId(RECEIVERS), mode);
            for (id, end, part) in [first, second] {
                let ended = air.end(id);
                for receiver in (1..RECEIVERS).map(NodeId) {
                    let settled = air.settled(&ended, &part, receiver, 1);
                    at_once += usize::from(settled.is_some_and(|fate| fate.is_err()));
                    lost += usize::from(overheard(&mut air, end, &ended, &part, receiver).is_err());
                }
                end_at_all(&mut air, ended);
            }
        }
        (lost, at_once)
    }

    #[test]
    fn certain_outcome_equals_the_long_way_and_draws_nothing() {
        let all = 64 * RECEIVERS as usize;
        for model in [ErrorModelKind::Nist(nist::Params {}), ErrorModelKind::None(none::Params::default())] {
            let found = certain(model);
            assert!((all / 3..all * 9 / 10).contains(&found), "{found} of {all}");
        }
    }

    #[test]
    fn losses_to_others_are_equal_the_short_and_the_long_way() {
        let all = 2 * 64 * (RECEIVERS as usize - 1);
        for model in [ErrorModelKind::Nist(nist::Params {}), ErrorModelKind::None(none::Params::default())] {
            let found = [0, 30, 300].map(|later| lost(model.clone(), later));
            assert!(found.iter().all(|(lost, _)| (all / 2..all).contains(lost)), "{found:?} of {all}");
            assert!(found.iter().all(|(lost, at_once)| at_once * 4 > *lost && at_once < lost), "{found:?}");
        }
    }
}
