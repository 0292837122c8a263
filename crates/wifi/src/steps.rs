//! Events for an account of time: the places of packets, the PPDUs on the air and their contents. A run without an
//! account skips all of it.

use lasthop_link::PacketMeta;
use lasthop_observe::detail::Detail;
use lasthop_observe::{End, FlowId, NodeId, Payload, Record, Start, Step};
use lasthop_units::{Bytes, Duration, Time};

use crate::air::received::Reception;
use crate::environment::Environment;
use crate::exchange::User;
use crate::ids::FunctionId;
use crate::medium::Medium;
use crate::multi_user::Plan;
use crate::phy::{ModeId, RuPart};
use crate::ppdu::{Part, Ppdu, PpduKind};
use crate::rate_control::{FrameInfo, TxStatus};
use crate::sender::agreement::HeldBy;

fn payload_of(kind: PpduKind) -> Payload {
    match kind {
        PpduKind::Data | PpduKind::Ampdu => Payload::Packets,
        PpduKind::Ack | PpduKind::BlockAck | PpduKind::MultiStaBlockAck => Payload::Acknowledgement,
        PpduKind::Rts
        | PpduKind::Cts
        | PpduKind::CtsToSelf
        | PpduKind::BlockAckReq
        | PpduKind::CfEnd
        | PpduKind::MuBar
        | PpduKind::Bsrp
        | PpduKind::QosNull
        | PpduKind::Trigger => Payload::Control,
        PpduKind::Beacon => Payload::Beacon,
    }
}

fn tell<B, E: Environment<B>>(env: &mut E, at: Time, step: Step) {
    env.observe(at, Record::Step(step));
}

impl<B: Send + 'static> Medium<B> {
    /// Returns whether the sender of a PPDU that comes on the air at `at` has won the medium over a PPDU whose preamble
    /// it has missed; to be called before any node senses the new one. A PPDU a SIFS after the one before has not been
    /// contended for.
    #[inline(always)]
    pub(crate) fn overlaps_missed<E: Environment<B>>(&self, at: Time, ppdu: &Ppdu, env: &E) -> bool {
        let contended = || ppdu.initiator == ppdu.from() && self.exchanges[ppdu.exchange].began == at;
        env.reads_steps() && contended() && self.air.misses(ppdu.from(), at, self.layout.phy_of(ppdu.from()).slot())
    }

    /// Reports a PPDU that comes on the air at `at`.
    #[inline(always)]
    pub(crate) fn note_start<E: Environment<B>>(&mut self, at: Time, ppdu: &Ppdu, overlaps_missed: bool, env: &mut E) {
        if env.reads_steps() {
            self.tell_start(at, ppdu, overlaps_missed, env);
        }
        if E::READS_DETAILS {
            self.detail_start(at, ppdu, env);
        }
    }

    /// Reports that the node of `view` notices the PPDUs of these nodes from now on.
    #[inline(always)]
    pub(crate) fn note_recognised<E: Environment<B>>(&self, now: Time, view: usize, from: &[NodeId], env: &mut E) {
        if !env.reads_steps() {
            return;
        }
        for sender in from {
            let ppdu = self.air.sent_by(*sender).expect("a noticed PPDU is on the air");
            tell(env, now, Step::Recognised { initiator: ppdu.initiator, by: NodeId(view as u32) });
        }
    }

    fn tell_start<E: Environment<B>>(&mut self, at: Time, ppdu: &Ppdu, overlaps_missed: bool, env: &mut E) {
        let node = ppdu.from();
        let Ppdu { initiator, airtime, .. } = *ppdu;
        let payload = if self.brings_no_data(ppdu) { Payload::Control } else { payload_of(ppdu.kind) };
        let (at_best, padding) = match payload {
            Payload::Packets if ppdu.of_several => self.several_at_best(at, ppdu),
            Payload::Packets => (self.airtime_at_best(at, ppdu), Duration::ZERO),
            _ => (airtime, Duration::ZERO),
        };
        let start = Start {
            node,
            initiator,
            link: (payload != Payload::Beacon).then_some(ppdu.first.link),
            payload,
            channel: self.air.channel_of(node),
            to_all: self.air.is_uniform(),
            airtime,
            at_best,
            of_several: ppdu.of_several,
            padding,
            overlaps_missed,
        };
        tell(env, at, Step::Start(start));
        if node == initiator || ppdu.kind == PpduKind::Ampdu {
            self.tell_contents(at, ppdu, env);
        }
        if !self.air.is_uniform() {
            let views = self.layout.nodes.len();
            for first in (0..views).step_by(64) {
                let noticed = (first..views.min(first + 64)).filter(|view| self.air.notices(*view, node));
                let nodes = noticed.fold(0, |nodes, view| nodes | 1 << (view - first));
                tell(env, at, Step::Noticed { initiator, first: NodeId(first as u32), nodes });
            }
        }
    }

    /// Whether all parts of a PPDU of several users are QoS Nulls or BlockAckReqs.
    fn brings_no_data(&self, ppdu: &Ppdu) -> bool {
        let is_empty = |of: &User| of.psdu.lengths.is_empty();
        ppdu.of_several && ppdu.kind == PpduKind::Ampdu && self.exchanges[ppdu.exchange].users().all(is_empty)
    }

    /// Reports the flows of an exchange.
    fn tell_contents<E: Environment<B>>(&self, at: Time, ppdu: &Ppdu, env: &mut E) {
        let of = &self.exchanges[ppdu.exchange];
        match of.plan {
            _ if ppdu.kind == PpduKind::Beacon => {}
            Plan::Single => self.tell_contents_of(at, ppdu, &of.user, env),
            _ if ppdu.kind != PpduKind::Ampdu => {}
            _ => of.users().for_each(|user| self.tell_contents_of(at, ppdu, user, env)),
        }
    }

    /// Reports the flows of a user of an exchange.
    fn tell_contents_of<E: Environment<B>>(&self, at: Time, ppdu: &Ppdu, user: &User, env: &mut E) {
        let (sender, initiator) = (&self.senders[user.sender.index()], ppdu.initiator);
        if !sender.aggregates() {
            let meta = &sender.frame.as_ref().expect("the exchange is about a frame").meta;
            let [data_bytes, ack_bytes] = if meta.pure_ack { [0, meta.bytes] } else { [meta.bytes, 0] };
            return tell(env, at, Step::Carries { initiator, flow: meta.flow, data_bytes, ack_bytes });
        }
        let mut bytes: Vec<(FlowId, [u32; 2])> = Vec::new();
        let count = |meta: &PacketMeta| {
            let place = bytes.iter().position(|(flow, _)| *flow == meta.flow).unwrap_or_else(|| {
                bytes.push((meta.flow, [0; 2]));
                bytes.len() - 1
            });
            bytes[place].1[usize::from(meta.pure_ack)] += meta.bytes;
        };
        // A BlockAckReq is about all MPDUs that the agreement still holds.
        let asks = ppdu.kind == PpduKind::BlockAckReq;
        if user.psdu.lengths.is_empty() && !asks && ppdu.kind == PpduKind::Ampdu {
            return;
        }
        let window = &sender.agreements[user.psdu.agreement as usize].originator.window;
        let holder = HeldBy::Radio(user.psdu.part.from);
        let concerned = window.iter().filter(|m| m.in_flight == Some(holder) || asks);
        concerned.flat_map(|m| m.facts.iter()).for_each(count);
        for (flow, [data_bytes, ack_bytes]) in bytes {
            tell(env, at, Step::Carries { initiator, flow, data_bytes, ack_bytes });
        }
    }

    /// The mode of an ideal rate control for a part of a data PPDU; `None` for a link without one.
    fn best_mode(&mut self, at: Time, part: &Part) -> Option<ModeId> {
        let Part { from, to, link, mode, bytes, .. } = *part;
        let snr = to.one().and_then(|to| self.air.snr_of(at, from, to));
        let ideal = self.ideals.get_mut(link.index())?;
        if snr.is_some() {
            let (mpdus, acknowledged) = (1, 1);
            ideal.on_tx_status(&TxStatus { now: at, mode, success: true, mpdus, acknowledged, rts: false, snr });
        }
        let bytes = Bytes(u64::from(bytes));
        Some(ideal.rates_for(&FrameInfo { now: at, bytes, aggregates: false, retry: 0, packet: 0 }).first())
    }

    /// Time of a data PPDU of several users at the rates of ideal rate controls, and of its padding, each as the mean over its
    /// tones.
    fn several_at_best(&mut self, at: Time, ppdu: &Ppdu) -> (Duration, Duration) {
        let parts: Vec<Part> = self.air.parts(ppdu).copied().collect();
        let (mut best_sum, mut padding_sum, mut tones) = (0, 0, 0);
        for (place, part) in parts.iter().enumerate() {
            let Some(ru) = part.ru else { continue };
            let (data, padding) = self.data_and_padding(ppdu, place);
            let best = self.best_mode(at, part).unwrap_or(part.mode);
            let of = RuPart { mode: best, ru, psdu: Bytes(u64::from(part.bytes)) };
            let best = self.layout.phy_of(part.from).data_on_ru(&of, ppdu.from() != ppdu.initiator).min(data);
            let around = ppdu.airtime - data - padding;
            best_sum += (around + best).as_nanos() * u64::from(ru.tones());
            padding_sum += padding.as_nanos() * u64::from(ru.tones());
            tones += u64::from(ru.tones());
        }
        if tones == 0 {
            return (ppdu.airtime, Duration::ZERO);
        }
        (Duration::from_nanos(best_sum / tones), Duration::from_nanos(padding_sum / tones))
    }

    /// Airtime of a data PPDU at the rate of an ideal rate control.
    fn airtime_at_best(&mut self, at: Time, ppdu: &Ppdu) -> Duration {
        let Part { from, mode, bytes, .. } = ppdu.first;
        let Some(best) = self.best_mode(at, &ppdu.first) else { return Duration::ZERO };
        let bytes = Bytes(u64::from(bytes));
        if best == mode {
            debug_assert_eq!(
                ppdu.airtime,
                self.layout.phy_of(from).ppdu_duration(best, bytes),
                "sent at the best rate"
            );
            return ppdu.airtime;
        }
        self.layout.phy_of(from).ppdu_duration(best, bytes)
    }

    /// Reports that a function may not contend from now on, or may again.
    pub(crate) fn note_held<E: Environment<B>>(&self, now: Time, id: FunctionId, held: bool, env: &mut E) {
        if env.reads_steps() {
            let node = self.functions[id.index()].by;
            let function = id.0 - self.layout.node(node).functions.start;
            tell(env, now, Step::Held { node, function, held });
        }
    }

    /// Reports that a node is on another channel from now on.
    pub(crate) fn note_moved<E: Environment<B>>(&self, now: Time, node: NodeId, channel: u32, env: &mut E) {
        if env.reads_steps() {
            tell(env, now, Step::Moved { node, channel });
        }
    }

    /// Reports that a PPDU has ended, overlapped by others or not; `goes_on`: its exchange continues.
    #[inline(always)]
    pub(crate) fn note_end<E: Environment<B>>(
        &mut self,
        now: Time,
        ppdu: &Ppdu,
        is_disturbed: bool,
        reception: Option<Reception>,
        goes_on: bool,
        env: &mut E,
    ) {
        if !E::READS_STEPS && !E::READS_DETAILS {
            return;
        }
        // A beacon has no particular receiver: it is received if no other PPDU has disturbed it.
        let undisturbed = if !is_disturbed { Reception::Decoded } else { Reception::Collided };
        let reception = reception.unwrap_or(undisturbed);
        let (mpdus, decoded, lost_to) = if ppdu.kind == PpduKind::Ampdu {
            let (mut mpdus, mut decoded, mut lost_to) = (0, 0, None);
            for of in self.exchanges[ppdu.exchange].users().map(|user| &user.received) {
                mpdus += of.decoded.len() as u32;
                decoded += of.decoded.iter().filter(|d| **d).count() as u32;
                lost_to = lost_to.or(of.lost_to);
            }
            if let Some(nulls) = self.nulls.take() {
                (mpdus, decoded) = nulls;
            }
            (mpdus, decoded, lost_to.filter(|_| decoded > 0).map(Reception::outcome))
        } else {
            (1, u32::from(reception == Reception::Decoded), None)
        };
        let lost_to = if decoded == 0 { Some(reception.outcome()) } else { lost_to };
        let end = End { node: ppdu.from(), initiator: ppdu.initiator, mpdus, decoded, lost_to, goes_on };
        tell(env, now, Step::End(end));
        if !ppdu.of_several || !E::READS_DETAILS {
            return env.detail(now, Detail::PpduEnds(end));
        }
        for (part, of_part) in std::mem::take(&mut self.part_ends) {
            match (part, End { goes_on, ..of_part.unwrap_or(end) }) {
                (0, end) => env.detail(now, Detail::PpduEnds(end)),
                (part, end) => env.detail(now, Detail::PartEnds { part, end }),
            }
        }
    }

    /// Keeps how many QoS Nulls of a PPDU were sent and heard, before the exchange goes on: they are no MPDUs of a sender.
    #[inline(never)]
    pub(crate) fn keep_nulls(&mut self, ppdu: &Ppdu) {
        if self.brings_no_data(ppdu) {
            let sent = || self.exchanges[ppdu.exchange].users().filter(|user| user.heard.is_some());
            self.nulls = Some((sent().count() as u32, sent().filter(|user| user.has_heard()).count() as u32));
        }
    }

    /// Keeps the end of each part of a PPDU of several users, before the exchange goes on.
    #[inline(never)]
    pub(crate) fn keep_ends_of_parts(&mut self, ppdu: &Ppdu) {
        let whole =
            End { node: ppdu.from(), initiator: ppdu.initiator, mpdus: 1, decoded: 1, lost_to: None, goes_on: false };
        let mut ends = std::mem::take(&mut self.part_ends);
        ends.clear();
        for (place, part) in self.air.parts(ppdu).enumerate() {
            let user = self.user_of_part(ppdu, part);
            let end = match part.ru {
                // A frame for all, or for one: its end is the whole PPDU's.
                None => None,
                Some(_) if ppdu.kind == PpduKind::Ampdu && !user.psdu.lengths.is_empty() => {
                    let decoded = user.received.decoded.iter().filter(|decoded| **decoded).count() as u32;
                    let mpdus = user.psdu.lengths.len() as u32;
                    let lost_to = user.lost_to.filter(|_| decoded < mpdus);
                    Some(End { node: part.from, mpdus, decoded, lost_to, ..whole })
                }
                Some(_) => {
                    let lost_to = user.heard.filter(|_| !user.has_heard()).map(Reception::outcome);
                    Some(End { node: part.from, decoded: u32::from(user.has_heard()), lost_to, ..whole })
                }
            };
            ends.push((part_of_sender(ppdu, place), end));
        }
        self.part_ends = ends;
    }
}

/// The number of a part among those that its sender sends: an access point sends all, a station one.
pub(crate) fn part_of_sender(ppdu: &Ppdu, place: usize) -> u32 {
    if ppdu.from() == ppdu.initiator { place as u32 } else { 0 }
}
