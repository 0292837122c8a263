//! Who decodes what, and what a loss is due to.
//!
//! ```text
//! A-MPDU   | preamble, PHY header | MPDU | MPDU     | MPDU |      each in its share of the time, by its bytes
//! other             |   burst   |
//! SINR     ‾‾‾‾‾‾‾‾‾‾____________‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾‾
//! ```
//!
//! Where nodes share a view there is neither noise nor capture: a PPDU is decoded by all of them if none of
//! them overlapped it. Otherwise, at each receiver:
//! 1. It must not send itself (half duplex), the PPDU must reach `cca_preamble`, and the receiver must have
//!    locked on it and stayed with it; see `carrier_sense`.
//! 2. Header and MPDU must be clear of what overlaps them: nothing that is heard at all without capture, or
//!    with it the sum less than the signal by the threshold, at every moment.
//! 3. Each MPDU must reach the sensitivity of its mode; or the error model, fed with the SINR of each stretch
//!    between changes of interference, decides. What is too weak to be heard counts here too.
//!
//! A loss has one cause: a **collision** with a PPDU that began within a slot of this one, or whose sender this
//! sender hears, so that contention should have prevented it; **interference** of nodes that this sender does not
//! hear; or **noise**, which would have spoiled the frame in silence too. Left out: errors of the header.

use std::ops::ControlFlow;

use lasthop_observe::NodeId;
use lasthop_units::{Db, Time};

use super::interference::{Judge, Span, Success, Surroundings, spans};
use super::on_air::Transmission;
use super::received::{Missed, Reception};
use super::{Air, JudgedBy};
use crate::channel::Channel;
use crate::phy::error_model::{Direction, ReceivedFrame};
use crate::ppdu::Part;

/// Less than half the distance from one to the number below it.
const NEGLIGIBLE: f64 = f64::EPSILON / 4.0;

/// What a receiver made of the MPDUs of an A-MPDU.
#[derive(Clone, Debug, Default)]
pub(crate) struct Receptions {
    /// of each MPDU, whether it was decoded
    pub decoded: Vec<bool>,
    /// what the first that was not was lost to
    pub lost_to: Option<Reception>,
}

impl Air {
    /// What the receiver of a part makes of it, which ends now and holds a single frame.
    #[inline(always)]
    pub(crate) fn reception(&mut self, now: Time, ended: &Transmission, part: &Part, receiver: NodeId) -> Reception {
        if !ended.is_disturbed && self.channel.is_uniform() {
            return Reception::Decoded;
        }
        match self.overhears(now, ended, part, receiver, &[part.bytes]) {
            Ok(()) => Reception::Decoded,
            Err(missed) => self.reason(missed, ended, part, receiver),
        }
    }

    /// Whether `receiver` decodes a part that ends now, where any one of its MPDUs will do.
    #[inline(always)]
    pub(crate) fn overhears(
        &mut self,
        now: Time,
        ended: &Transmission,
        part: &Part,
        receiver: NodeId,
        lengths: &[u32],
    ) -> Result<(), Missed> {
        if self.is_certain(ended, part, receiver) {
            return Ok(());
        }
        if lengths.len() == 1 && self.is_spoiled(ended, receiver) {
            return Err(Missed::Spoiled);
        }
        self.overhears_at_length(now, ended, part, receiver, lengths)
    }

    /// As [`overhears`](Self::overhears), for what is not certain.
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
            // One less than this is one: the rest cannot change what follows.
            if all_lost.here < NEGLIGIBLE { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        self.give_back(around);
        let any = Success { here: 1.0 - all_lost.here, in_silence: 1.0 - all_lost.in_silence };
        self.draw(receiver, any)
    }

    /// What `receiver` makes of a part that ends now and holds MPDUs of so many bytes each, delimiters and padding
    /// included: decoded if one is, and `receptions` says which; else what the first was lost to.
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
        if self.is_certain(ended, part, receiver) {
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

    /// Whether `receiver`, not sending itself, tried to receive this PPDU to its end.
    pub(crate) fn locks_on(&self, ended: &Transmission, receiver: NodeId) -> bool {
        match &self.channel {
            Channel::Uniform { .. } => !ended.came_second,
            Channel::Matrix(_) => self.sense.is_locked_on(receiver, ended.ppdu.from()),
        }
    }

    /// Signal over noise at which a node hears its peer, or would, where that changes with time.
    pub(crate) fn snr_of(&self, now: Time, from: NodeId, at: NodeId) -> Option<Db> {
        let Channel::Matrix(matrix) = &self.channel else { return None };
        let noise_mw = self.noise_mw_per_hz * self.phy_of(at).bandwidth_hz();
        let ratio = || matrix.power_mw(now, from, at) / noise_mw;
        matrix.is_varying().then(|| Db(10.0 * libm::log10(ratio())))
    }

    /// Whether a PPDU of one frame is lost at `receiver`, which has not sent meanwhile, to others that it hears, whatever the
    /// signal: without capture one is enough, as header and frame are all of it.
    fn is_spoiled(&self, ended: &Transmission, receiver: NodeId) -> bool {
        let Channel::Matrix(matrix) = &self.channel else { return false };
        let spoils = |power_mw: f64| power_mw >= matrix.audible_mw();
        self.capture.is_none()
            && self.sense.is_locked_on(receiver, ended.ppdu.from())
            && ended.overlaps.iter().any(|o| spoils(matrix.power_mw(o.start, o.node, receiver)))
    }

    /// Whether nothing overlaps a PPDU and the signal is so strong that whatever it holds is decoded: most are, and nothing
    /// more need be found out about them. What is not certain is settled at length, and comes to the same where it is.
    #[inline(always)]
    fn is_certain(&self, ended: &Transmission, part: &Part, receiver: NodeId) -> bool {
        let Channel::Matrix(matrix) = &self.channel else { return !ended.is_disturbed };
        if !ended.overlaps.is_empty() || !self.sense.is_locked_on(receiver, ended.ppdu.from()) {
            return false;
        }
        let signal_mw = matrix.power_mw(ended.start, part.from, receiver);
        if signal_mw < matrix.preamble_mw {
            return false;
        }
        let bss = self.radios[part.from.index()].bss as usize;
        match self.judged_by {
            JudgedBy::Sinr => {
                let noise_mw = self.noise_mw_per_hz * self.phys[bss].mode(part.mode).bandwidth_hz;
                signal_mw / noise_mw >= self.memory.known_certain_from(bss, part.mode)
            }
            JudgedBy::Power => signal_mw >= self.sensitivity_mw[bss][part.mode.index()],
            JudgedBy::Else => false,
        }
    }

    /// What surrounds a PPDU whose header `receiver` has received, or why it has not; nothing to ask for where nodes
    /// share views. To be given [back](Self::give_back).
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
        if !self.sense.is_locked_on(receiver, ended.ppdu.from()) {
            return Err(Missed::Spoiled);
        }
        let noise_mw = self.noise_mw_per_hz * self.phy_of(part.from).mode(part.mode).bandwidth_hz;
        let others = std::mem::take(&mut self.others);
        let around = Surroundings::of(matrix, ended, (part.from, receiver), noise_mw, self.capture, others);
        if around.is_clear(Span { from: ended.start, to: self.header_ends(ended) }) {
            return Ok(Some(around));
        }
        self.give_back(around);
        Err(Missed::Spoiled)
    }

    /// Its list is used again.
    fn give_back(&mut self, around: Surroundings) {
        self.others = around.into_others();
    }

    fn header_ends(&self, ended: &Transmission) -> Time {
        let Part { from, mode, .. } = ended.ppdu.first;
        (ended.start + self.phy_of(from).rx_start_delay(mode)).min(ended.end)
    }

    /// Finds the success of each MPDU in turn. What follows the header is theirs, each by its bytes.
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
        let mut frame = ReceivedFrame {
            at: now,
            mode,
            kind: ended.ppdu.kind.frame_kind(),
            direction: if radio.is_ap { Direction::Down } else { Direction::Up },
            link: part.from.0 << 16 | receiver.0,
            bits: 0,
            sinr: around.signal_mw / around.noise_mw,
        };
        if around.is_silent() {
            // Where in the PPDU an MPDU stands makes no difference, and those of one length have one answer.
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

    /// Draws what becomes of a frame: one draw, so that what is lost to others would have arrived without them.
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

    /// What a frame that `receiver` has missed is said to be lost to.
    #[inline(never)]
    fn reason(&self, missed: Missed, ended: &Transmission, part: &Part, receiver: NodeId) -> Reception {
        match missed {
            Missed::Deaf => Reception::Deaf,
            Missed::Noisy => Reception::Noisy,
            Missed::Spoiled => self.cause(ended, part, receiver),
        }
    }

    /// What a frame was lost to that others have spoiled.
    fn cause(&self, ended: &Transmission, part: &Part, receiver: NodeId) -> Reception {
        let Channel::Matrix(matrix) = &self.channel else { return Reception::Collided };
        let slot = self.phy_of(part.from).slot();
        let apart = |a: Time, b: Time| a.since(b).max(b.since(a));
        let heard = ended.overlaps.iter().filter(|o| matrix.power_mw(o.start, o.node, receiver) > 0.0);
        let mut collided =
            heard.filter(|o| apart(o.start, ended.start) < slot || matrix.hears(o.start, part.from, o.node));
        if collided.next().is_some() { Reception::Collided } else { Reception::Interfered }
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
    use crate::ids::ExchangeId;
    use crate::phy::error_model::{ErrorModelKind, nist, none};
    use crate::phy::{ModeId, PhyOptions, Standard};
    use crate::ppdu::{Ppdu, PpduKind, To};

    const RECEIVERS: u32 = 60;

    /// Node 0 sends; node n hears it at -95 + n dBm.
    fn air(error_model: ErrorModelKind) -> Air {
        let power = |_: NodeId, rx: NodeId| Dbm(-95.0 + f64::from(rx.0));
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
        })
    }

    /// How many of all receptions were certain; each came to the same as at length, and without a draw.
    fn certain(error_model: ErrorModelKind) -> usize {
        let (mut air, mut certain) = (air(error_model), 0);
        for number in 0..64u64 {
            let (at, airtime) = (Time::from_nanos(number * 1_000_000), Duration::from_micros(500));
            let (from, mode) = (NodeId(0), ModeId((number % 8) as u16));
            let first = Part { from, to: To::Nobody, link: LinkId(0), mode, bytes: 1500 };
            let (kind, exchange) = (PpduKind::Data, ExchangeId(0));
            let ppdu = Ppdu { kind, first, more: None, airtime, reserves_until: at, exchange };
            let begun = air.begun(at, &ppdu);
            for place in 0..air.hearers(from) {
                air.notice(place, &begun);
            }
            let (id, end) = air.begin(at, ppdu);
            let ended = air.end(id);
            for receiver in (1..=RECEIVERS).map(NodeId) {
                let (is_certain, before) = (air.is_certain(&ended, &first, receiver), air.noise.clone());
                let at_length = air.overhears_at_length(end, &ended, &first, receiver, &[1500]);
                if is_certain {
                    let (mut noise, mut unused) =
                        (air.noise[receiver.index()].clone(), before[receiver.index()].clone());
                    assert_eq!((at_length, noise.bits()), (Ok(()), unused.bits()));
                    certain += 1;
                }
            }
            for view in 0..=RECEIVERS as usize {
                if let Some(heard) = air.heard(view, from) {
                    air.lose(view, heard);
                }
            }
            air.forget(ended);
        }
        certain
    }

    #[test]
    fn what_is_certain_comes_to_the_same_at_length_and_draws_nothing() {
        let all = 64 * RECEIVERS as usize;
        for model in [ErrorModelKind::Nist(nist::Params {}), ErrorModelKind::None(none::Params::default())] {
            let found = certain(model);
            assert!((all / 3..all * 9 / 10).contains(&found), "{found} of {all}");
        }
    }
}
