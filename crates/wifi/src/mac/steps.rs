//! What an account of time is told: where packets are, what is on the air and what it is about. A run without an
//! account skips all of it.

use lasthop_link::PacketMeta;
use lasthop_observe::{End, FlowId, NodeId, Payload, Record, Start, Step};
use lasthop_units::{Bytes, Duration, Time};

use super::contention::FunctionId;
use super::outcome::outcome_of;
use super::ppdu::{Ppdu, PpduKind, Transmission};
use super::received::Reception;
use crate::medium::{Environment, Medium};
use crate::rate_control::{FrameInfo, TxStatus};

impl PpduKind {
    fn payload(self) -> Payload {
        match self {
            PpduKind::Data | PpduKind::Ampdu => Payload::Packets,
            PpduKind::Ack | PpduKind::BlockAck => Payload::Acknowledgement,
            PpduKind::Rts | PpduKind::Cts | PpduKind::CtsToSelf | PpduKind::BlockAckReq => Payload::Control,
            PpduKind::Beacon => Payload::Beacon,
        }
    }
}

fn tell<B, E: Environment<B>>(env: &mut E, at: Time, step: Step) {
    env.observe(at, Record::Step(step));
}

impl<B: Send + 'static> Medium<B> {
    /// A packet comes to the interface of `node`.
    #[inline(always)]
    pub(crate) fn note_entry(&self, now: Time, node: NodeId, meta: &PacketMeta, env: &mut impl Environment<B>) {
        tell(env, now, Step::Enters { node, flow: meta.flow, tcp_ack: meta.pure_ack });
    }

    /// A packet goes into the MAC.
    #[inline(always)]
    pub(crate) fn note_taken(&self, now: Time, id: FunctionId, meta: &PacketMeta, env: &mut impl Environment<B>) {
        tell(env, now, Step::Taken { node: self.functions[id.index()].node, flow: meta.flow });
    }

    /// Whether the sender of a PPDU that comes on the air at `at` has won the medium over something whose preamble it has
    /// missed; to be asked before anybody senses it. What follows a SIFS after the PPDU before has not been contended for.
    #[inline(always)]
    pub(crate) fn tramples<E: Environment<B>>(&self, at: Time, ppdu: &Ppdu, _: &E) -> bool {
        let function = &self.functions[ppdu.function.index()];
        let contended = || function.node == ppdu.from && function.began == at;
        E::READS_STEPS
            && contended()
            && self.carrier_sense.misses(&self.channel, ppdu.from, at, self.phy_of(ppdu.from).slot())
    }

    /// A PPDU comes on the air at `at`.
    #[inline(always)]
    pub(crate) fn note_start<E: Environment<B>>(&mut self, at: Time, ppdu: &Ppdu, tramples: bool, env: &mut E) {
        if E::READS_STEPS {
            self.tell_start(at, ppdu, tramples, env);
        }
    }

    /// The node of `view` notices from now on what these are sending.
    #[inline(always)]
    pub(crate) fn note_recognised<E: Environment<B>>(&self, now: Time, view: usize, from: &[NodeId], env: &mut E) {
        if !E::READS_STEPS {
            return;
        }
        for sender in from {
            let ppdu = self.on_air.iter().find(|t| t.ppdu.from == *sender).expect("what is noticed is on the air").ppdu;
            let initiator = self.functions[ppdu.function.index()].node;
            tell(env, now, Step::Recognised { initiator, by: NodeId(view as u32) });
        }
    }

    fn tell_start<E: Environment<B>>(&mut self, at: Time, ppdu: &Ppdu, tramples: bool, env: &mut E) {
        let node = ppdu.from;
        let initiator = self.functions[ppdu.function.index()].node;
        let airtime = ppdu.airtime;
        let payload = ppdu.kind.payload();
        let start = Start {
            node,
            initiator,
            link: (payload != Payload::Beacon).then_some(ppdu.link),
            payload,
            channel: self.bss[self.nodes[node.index()].bss].channel,
            to_all: self.channel.is_uniform(),
            airtime,
            at_best: if payload == Payload::Packets { self.airtime_at_best(at, ppdu) } else { airtime },
            tramples,
        };
        tell(env, at, Step::Start(start));
        if node == initiator {
            self.tell_contents(at, ppdu, env);
        }
        if !self.channel.is_uniform() {
            let nodes = (0..self.views.len()).map(|view| NodeId(view as u32));
            for by in nodes.filter(|by| self.carrier_sense.notices(&self.channel, by.index(), node)) {
                tell(env, at, Step::Noticed { initiator, by });
            }
        }
    }

    /// The flows that an exchange is about.
    fn tell_contents<E: Environment<B>>(&self, at: Time, ppdu: &Ppdu, env: &mut E) {
        let (function, initiator) = (&self.functions[ppdu.function.index()], ppdu.from);
        let mut bytes: Vec<(FlowId, [u32; 2])> = Vec::new();
        let mut count = |meta: &PacketMeta| {
            let place = bytes.iter().position(|(flow, _)| *flow == meta.flow).unwrap_or_else(|| {
                bytes.push((meta.flow, [0; 2]));
                bytes.len() - 1
            });
            bytes[place].1[usize::from(meta.pure_ack)] += meta.bytes;
        };
        match ppdu.kind {
            PpduKind::Beacon => {}
            _ if !function.aggregates => count(&function.frame.as_ref().expect("the exchange is about a frame").meta),
            kind => {
                // A request is about all that the agreement still holds.
                let window = &function.sessions[ppdu.session as usize].originator.window;
                let asks = kind == PpduKind::BlockAckReq;
                window.iter().filter(|m| m.in_flight || asks).flat_map(|m| m.facts.iter()).for_each(count);
            }
        }
        for (flow, [data_bytes, ack_bytes]) in bytes {
            tell(env, at, Step::Carries { initiator, flow, data_bytes, ack_bytes });
        }
    }

    /// Airtime of a data PPDU at the rate that an ideal rate control would send it at.
    fn airtime_at_best(&mut self, at: Time, ppdu: &Ppdu) -> Duration {
        let snr = ppdu.to.and_then(|to| self.snr_of(at, ppdu.from, to));
        let Some(ideal) = self.ideals.get_mut(ppdu.link.index()) else { return Duration::ZERO };
        if snr.is_some() {
            let (mpdus, acknowledged) = (1, 1);
            let (now, mode) = (at, ppdu.mode);
            ideal.on_tx_status(&TxStatus { now, mode, success: true, mpdus, acknowledged, rts: false, snr });
        }
        let bytes = Bytes(u64::from(ppdu.bytes));
        let best = ideal.rates_for(&FrameInfo { now: at, bytes, aggregates: false, retry: 0 }).first();
        self.airtime(ppdu.from, best, ppdu.bytes)
    }

    /// A PPDU has ended; `goes_on`: its exchange has not.
    #[inline(always)]
    pub(crate) fn note_end<E: Environment<B>>(
        &self,
        now: Time,
        ended: &Transmission,
        reception: Option<Reception>,
        goes_on: bool,
        env: &mut E,
    ) {
        if !E::READS_STEPS {
            return;
        }
        let ppdu = &ended.ppdu;
        // Nobody in particular receives a beacon: whom others have not disturbed has.
        let undisturbed = if ended.overlaps.is_empty() { Reception::Decoded } else { Reception::Collided };
        let reception = reception.unwrap_or(undisturbed);
        let (mpdus, decoded, lost_to) = if ppdu.kind == PpduKind::Ampdu {
            let decoded = self.decoded.iter().filter(|d| **d).count() as u32;
            let of_some = if decoded > 0 { self.lost_to.map(outcome_of) } else { None };
            (self.decoded.len() as u32, decoded, of_some)
        } else {
            (1, u32::from(reception == Reception::Decoded), None)
        };
        let lost_to = if decoded == 0 { Some(outcome_of(reception)) } else { lost_to };
        let initiator = self.functions[ppdu.function.index()].node;
        tell(env, now, Step::End(End { node: ppdu.from, initiator, mpdus, decoded, lost_to, goes_on }));
    }
}
