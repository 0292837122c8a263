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
use lasthop_units::Time;

use super::interference::{Air, Judge, Span, Success, spans};
use super::ppdu::Transmission;
use super::received::Reception;
use crate::channel::Channel;
use crate::medium::Medium;
use crate::phy::error_model::{Direction, ReceivedFrame};

/// Less than half the distance from one to the number below it.
const NEGLIGIBLE: f64 = f64::EPSILON / 4.0;

impl<B: Send + 'static> Medium<B> {
    /// What `receiver` makes of a PPDU with a single frame that ends now.
    pub(crate) fn reception(&mut self, now: Time, ended: &Transmission, receiver: NodeId) -> Reception {
        if ended.overlaps.is_empty() && self.channel.is_uniform() {
            return Reception::Decoded;
        }
        self.overhears(now, ended, receiver, &[ended.ppdu.bytes])
    }

    /// What `receiver` makes of a PPDU that ends now, where any one of its MPDUs will do: decoded if one is.
    pub(crate) fn overhears(
        &mut self,
        now: Time,
        ended: &Transmission,
        receiver: NodeId,
        lengths: &[u32],
    ) -> Reception {
        let air = match self.receives_header(ended, receiver) {
            Ok(Some(air)) => air,
            Ok(None) => return Reception::Decoded,
            Err(loss) => return loss,
        };
        let mut all_lost = Success { here: 1.0, in_silence: 1.0 };
        self.each_mpdu(now, ended, receiver, &air, lengths, |success| {
            all_lost.here *= 1.0 - success.here;
            all_lost.in_silence *= 1.0 - success.in_silence;
            // One less than this is one: the rest cannot change what follows.
            if all_lost.here < NEGLIGIBLE { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let any = Success { here: 1.0 - all_lost.here, in_silence: 1.0 - all_lost.in_silence };
        self.draw(ended, receiver, any)
    }

    /// What `receiver` makes of an A-MPDU that ends now, with MPDUs of so many bytes each, delimiters and padding
    /// included: decoded if one is, and `decoded` says which; else what the first was lost to.
    pub(crate) fn receive_mpdus(
        &mut self,
        now: Time,
        ended: &Transmission,
        receiver: NodeId,
        lengths: &[u32],
        decoded: &mut Vec<bool>,
    ) -> Reception {
        decoded.clear();
        decoded.resize(lengths.len(), true);
        self.lost_to = None;
        let air = match self.receives_header(ended, receiver) {
            Ok(Some(air)) => air,
            Ok(None) => return Reception::Decoded,
            Err(loss) => {
                decoded.fill(false);
                return loss;
            }
        };
        let mut successes = std::mem::take(&mut self.successes);
        successes.clear();
        self.each_mpdu(now, ended, receiver, &air, lengths, |success| {
            successes.push(success);
            ControlFlow::Continue(())
        });
        let mut first = None;
        for (success, decoded) in successes.iter().zip(decoded.iter_mut()) {
            let fate = self.draw(ended, receiver, *success);
            *decoded = fate == Reception::Decoded;
            first = first.or(Some(fate));
            self.lost_to = self.lost_to.or(Some(fate).filter(|_| !*decoded));
        }
        self.successes = successes;
        if decoded.contains(&true) { Reception::Decoded } else { first.unwrap_or(Reception::Decoded) }
    }

    /// Whether `receiver`, not sending itself, tried to receive this PPDU to its end.
    pub(crate) fn locks_on(&self, ended: &Transmission, receiver: NodeId) -> bool {
        match &self.channel {
            Channel::Uniform { .. } => self.rivals(ended).all(|start| start >= ended.start),
            Channel::Matrix(_) => self.carrier_sense.is_locked_on(receiver, ended.ppdu.from),
        }
    }

    /// When those began that share a view with the sender of a PPDU and overlap it.
    fn rivals<'a>(&'a self, ended: &'a Transmission) -> impl Iterator<Item = Time> + 'a {
        let view = self.channel.view_of(ended.ppdu.from);
        ended.overlaps.iter().filter(move |o| self.channel.view_of(o.node) == view).map(|o| o.start)
    }

    /// What surrounds a PPDU whose header `receiver` has received, or why it has not; nothing to ask for where nodes
    /// share views.
    fn receives_header(&self, ended: &Transmission, receiver: NodeId) -> Result<Option<Air>, Reception> {
        let Channel::Matrix(matrix) = &self.channel else {
            return if self.rivals(ended).next().is_none() { Ok(None) } else { Err(Reception::Collided) };
        };
        if ended.overlaps.iter().any(|o| o.node == receiver) {
            return Err(Reception::Deaf);
        }
        let noise_mw = self.noise_mw_per_hz * self.phy_of(ended.ppdu.from).mode(ended.ppdu.mode).bandwidth_hz;
        let air = Air::of(matrix, ended, receiver, noise_mw, self.capture);
        if air.signal_mw < matrix.preamble_mw {
            return Err(Reception::Noisy);
        }
        let header = Span { from: ended.start, to: self.header_ends(ended) };
        if self.carrier_sense.is_locked_on(receiver, ended.ppdu.from) && air.is_clear(header) {
            Ok(Some(air))
        } else {
            Err(self.cause(ended, receiver))
        }
    }

    fn header_ends(&self, ended: &Transmission) -> Time {
        (ended.start + self.phy_of(ended.ppdu.from).rx_start_delay(ended.ppdu.mode)).min(ended.end)
    }

    /// Finds the success of each MPDU in turn. What follows the header is theirs, each by its bytes.
    fn each_mpdu(
        &mut self,
        now: Time,
        ended: &Transmission,
        receiver: NodeId,
        air: &Air,
        lengths: &[u32],
        mut tell: impl FnMut(Success) -> ControlFlow<()>,
    ) {
        let ppdu = &ended.ppdu;
        let header_ends = self.header_ends(ended);
        let which = self.nodes[ppdu.from.index()].bss;
        let bss = &self.bss[which];
        let mode = bss.phy.mode(ppdu.mode);
        let mut judge = Judge::new(&mut *self.error_model, &mut self.memory, air, mode, (which, ppdu.mode));
        let mut frame = ReceivedFrame {
            at: now,
            mode,
            kind: ppdu.kind.frame_kind(),
            direction: if ppdu.from == bss.ap { Direction::Down } else { Direction::Up },
            link: ppdu.from.0 << 16 | receiver.0,
            bits: 0,
            sinr: air.signal_mw / air.noise_mw,
        };
        if air.is_silent() {
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
    fn draw(&mut self, ended: &Transmission, receiver: NodeId, success: Success) -> Reception {
        if success.here >= 1.0 {
            return Reception::Decoded;
        }
        if success.here <= 0.0 && success.in_silence >= 1.0 {
            return self.cause(ended, receiver);
        }
        let drawn = self.noise[receiver.index()].unit();
        match drawn {
            _ if drawn < success.here => Reception::Decoded,
            _ if drawn < success.in_silence => self.cause(ended, receiver),
            _ => Reception::Noisy,
        }
    }

    /// What a frame was lost to that others have spoiled.
    fn cause(&self, ended: &Transmission, receiver: NodeId) -> Reception {
        let Channel::Matrix(matrix) = &self.channel else { return Reception::Collided };
        let slot = self.phy_of(ended.ppdu.from).slot();
        let apart = |a: Time, b: Time| a.since(b).max(b.since(a));
        let heard = ended.overlaps.iter().filter(|o| matrix.power_mw(o.start, o.node, receiver) > 0.0);
        let mut collided =
            heard.filter(|o| apart(o.start, ended.start) < slot || matrix.hears(o.start, ended.ppdu.from, o.node));
        if collided.next().is_some() { Reception::Collided } else { Reception::Interfered }
    }
}
