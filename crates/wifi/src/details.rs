//! Events for recordings and captures: each PPDU as it is sent, the packets it holds, and the backoffs that are drawn;
//! for captures also each MPDU and the nodes that have heard it. A run without either skips all of it.

use lasthop_link::PacketMeta;
use lasthop_observe::NodeId;
use lasthop_observe::detail::{Detail, Mpdu, PpduStart, Run, Unit};
use lasthop_units::Time;

use crate::air::on_air::Transmission;
use crate::air::received::Reception;
use crate::environment::Environment;
use crate::exchange::User;
use crate::ids::{ExchangeId, FunctionId, SenderId};
use crate::medium::Medium;
use crate::phy::{Mode, Phy};
use crate::ppdu::{Part, Ppdu, PpduKind};
use crate::sender::agreement::HeldBy;
use crate::steps::part_of_sender;

/// Width of the channel that a PPDU fills, in MHz; a PPDU without an MCS is sent in the primary 20 MHz.
fn width_mhz(phy: &Phy, mode: &Mode) -> u16 {
    phy.channel_width().filter(|_| mode.mcs.is_some()).map_or(20, |width| u16::from(width.mhz()))
}

/// Reports a packet of the MPDU that was reported last.
fn tell_held<B, E: Environment<B>>(now: Time, (node, part): (NodeId, u32), meta: &PacketMeta, env: &mut E) {
    let PacketMeta { flow, up, packet, ecn, .. } = *meta;
    env.detail(now, Detail::Holds { node, part, flow, up, packet, ecn });
}

/// A run of consecutive packets of a flow with the same fate, as far as it has come.
#[derive(Default)]
struct Runs(Option<Run>);

impl Runs {
    /// Adds the next packet; returns the run before it, if that one is over.
    fn add(&mut self, meta: &PacketMeta, decoded: bool) -> Option<Run> {
        let PacketMeta { flow, up, packet, bytes, pure_ack, .. } = *meta;
        let [data_bytes, ack_bytes] = if pure_ack { [0, bytes] } else { [bytes, 0] };
        if let Some(run) = &mut self.0
            && (run.flow, run.up, run.packet + run.packets, run.decoded) == (flow, up, packet, decoded)
        {
            run.packets += 1;
            run.data_bytes += data_bytes;
            run.ack_bytes += ack_bytes;
            return None;
        }
        self.0.replace(Run { flow, up, packet, packets: 1, data_bytes, ack_bytes, decoded })
    }
}

impl<B: Send + 'static> Medium<B> {
    /// Reports a PPDU that comes on the air at `at`.
    #[inline(never)]
    pub(crate) fn detail_start<E: Environment<B>>(&self, at: Time, ppdu: &Ppdu, env: &mut E) {
        if !ppdu.of_several {
            let user = &self.exchanges[ppdu.exchange].user;
            self.detail_part(at, ppdu, &ppdu.first, user, env);
            if let (PpduKind::Ampdu, Some(to)) = (ppdu.kind, ppdu.first.to.one()) {
                self.detail_queue(at, (ppdu.from(), to), user, env);
            }
            return;
        }
        for part in self.air.parts(ppdu) {
            let user = self.user_of_part(ppdu, part);
            let Some(ru) = part.ru else {
                self.detail_part(at, ppdu, part, user, env);
                continue;
            };
            let start = self.start_of_part(ppdu, part, user);
            let phy = self.layout.phy_of(part.from);
            let triggered = ppdu.from() != ppdu.initiator;
            let kind = match start.kind {
                PpduKind::Ampdu if triggered && user.is_request() => PpduKind::BlockAckReq,
                PpduKind::Ampdu if user.psdu.lengths.is_empty() => PpduKind::QosNull,
                kind => kind,
            };
            let start = PpduStart {
                kind,
                mpdus: start.mpdus.max(1),
                unit: Some(Unit { tones: ru.tones(), place: user.unit, users: self.exchanges[ppdu.exchange].units }),
                rate: phy.rate_on_ru(part.mode, ru, triggered),
                guard_interval: phy.guard_interval_of_ru(part.mode, triggered),
                ..start
            };
            env.detail(at, Detail::PpduStarts(start));
            if triggered && ppdu.kind == PpduKind::Ampdu {
                self.detail_queue(at, (part.from, ppdu.initiator), user, env);
            }
        }
        if ppdu.kind.is_for_several() && env.reads_frames() {
            self.detail_named(at, ppdu, env);
        }
    }

    /// Reports the length of its queue that a station's data or QoS Null bring to an access point that asks for it.
    fn detail_queue<E: Environment<B>>(&self, at: Time, (from, to): (NodeId, NodeId), user: &User, env: &mut E) {
        let users = &self.users[self.layout.node(to).bss as usize];
        if env.reads_frames() && users.place_of(from).is_some() {
            let queue_size = users.queue_size.field(user.queued);
            env.detail(at, Detail::Reports { node: from, queue_size });
        }
    }

    /// Reports the stations that a frame of an access point names.
    fn detail_named<E: Environment<B>>(&self, at: Time, ppdu: &Ppdu, env: &mut E) {
        let (node, phy) = (ppdu.from(), self.layout.phy_of(ppdu.from()));
        let acknowledges = ppdu.kind == PpduKind::MultiStaBlockAck;
        let of = &self.exchanges[ppdu.exchange];
        let answer = ppdu.reserves_until.since(at + ppdu.airtime);
        let unit =
            |user: &User| (!acknowledges).then(|| Unit { tones: user.ru.tones(), place: user.unit, users: of.units });
        for user in of.users().filter(|user| acknowledges || !user.is_random) {
            let Some(station) = user.station().filter(|_| !acknowledges || user.is_acknowledged()) else { continue };
            let agreement = self.senders[user.sender.index()].agreements.get(user.psdu.agreement as usize);
            let mode = if ppdu.kind == PpduKind::MuBar { self.mode_of_answers(ppdu) } else { user.psdu.part.mode };
            let mode = phy.mode(mode);
            let named = Detail::Names {
                node,
                station: Some(station),
                unit: unit(user),
                mcs: mode.mcs.unwrap_or(0),
                streams: mode.streams,
                tid: agreement.map_or(0, |of| of.tid),
                start: agreement.map_or(0, |of| of.originator.start),
                answer,
            };
            env.detail(at, named);
        }
        let named = of.users().filter(|user| !user.is_random).count() as u32;
        if !acknowledges && of.units > named {
            let tones = of.user.ru.tones();
            let unit = Some(Unit { tones, place: named, users: of.units });
            env.detail(at, Detail::Names { node, station: None, unit, mcs: 0, streams: 1, tid: 0, start: 0, answer });
        }
    }

    /// Reports a part of a PPDU that comes on the air.
    fn detail_part<E: Environment<B>>(&self, at: Time, ppdu: &Ppdu, part: &Part, user: &User, env: &mut E) {
        env.detail(at, Detail::PpduStarts(self.start_of_part(ppdu, part, user)));
    }

    fn start_of_part(&self, ppdu: &Ppdu, part: &Part, user: &User) -> PpduStart {
        let node = part.from;
        let phy = self.layout.phy_of(node);
        let mode = phy.mode(part.mode);
        let is_ampdu = ppdu.kind == PpduKind::Ampdu && !user.psdu.is_legacy;
        PpduStart {
            node,
            to: part.to.one(),
            initiator: ppdu.initiator,
            link: (ppdu.kind != PpduKind::Beacon).then_some(part.link),
            channel: self.air.channel_of(node),
            kind: if ppdu.kind == PpduKind::Ampdu && !is_ampdu { PpduKind::Data } else { ppdu.kind },
            unit: None,
            airtime: ppdu.airtime,
            reserves_until: ppdu.reserves_until,
            rate: mode.rate,
            mcs: mode.mcs_index(),
            streams: mode.streams,
            guard_interval: mode.guard_interval,
            width_mhz: width_mhz(phy, mode),
            bytes: part.bytes,
            mpdus: if is_ampdu { user.psdu.lengths.len() as u32 } else { 1 },
            retried: if node == ppdu.initiator || ppdu.kind == PpduKind::Ampdu { self.retried(ppdu, user) } else { 0 },
        }
    }

    /// Number of MPDUs that the exchange sends or announces and that were sent before.
    fn retried(&self, ppdu: &Ppdu, user: &User) -> u32 {
        let sender = &self.senders[user.sender.index()];
        match ppdu.kind {
            PpduKind::Beacon | PpduKind::BlockAckReq => 0,
            kind if kind.is_for_several() => 0,
            _ if sender.aggregates() => {
                let Some(of) = sender.agreements.get(user.psdu.agreement as usize) else { return 0 };
                let holder = HeldBy::Radio(user.psdu.part.from);
                of.originator.window.iter().filter(|m| m.in_flight == Some(holder) && m.was_sent).count() as u32
            }
            _ => u32::from(sender.frame.as_ref().is_some_and(|frame| frame.was_sent)),
        }
    }

    /// Reports a PPDU that ends with `reception` at its receiver, before anything follows from that.
    #[inline(always)]
    pub(crate) fn note_contents<E: Environment<B>>(
        &mut self,
        now: Time,
        ppdu: &Ppdu,
        reception: Option<Reception>,
        env: &mut E,
    ) {
        if ppdu.of_several && (E::READS_STEPS || E::READS_DETAILS) {
            self.keep_nulls(ppdu);
        }
        if E::READS_DETAILS && ppdu.of_several {
            self.keep_ends_of_parts(ppdu);
        }
        if env.reads_frames() {
            self.detail_frames(now, ppdu, reception == Some(Reception::Decoded), env);
        }
        if E::READS_DETAILS && matches!(ppdu.kind, PpduKind::Data | PpduKind::Ampdu) {
            let id = ppdu.exchange;
            if ppdu.of_several {
                // Data of a user are in a part; stations that were asked and have not heard it have none.
                for place in 0..self.air.parts(ppdu).count() {
                    let part = self.air.parts(ppdu).nth(place).expect("it is one of those");
                    let user = self.user_of_part(ppdu, part);
                    let (node, sender) = (user.psdu.part.from, user.sender);
                    let of = self.exchanges[id].users().position(|of| std::ptr::eq(of, user)).unwrap_or(place);
                    let by = (node, part_of_sender(ppdu, place));
                    self.detail_contents(now, by, sender, (id, of), reception, env);
                }
            } else {
                let by = (ppdu.from(), 0);
                self.detail_contents(now, by, self.exchanges[id].user.sender, (id, 0), reception, env);
            }
        }
    }

    /// Reports the MPDUs in a PPDU that ends, with their packets, or the subject of a BlockAckReq.
    #[inline(never)]
    fn detail_frames<E: Environment<B>>(&self, now: Time, ppdu: &Ppdu, decoded: bool, env: &mut E) {
        if !ppdu.of_several {
            return self.detail_frames_of(now, ppdu, (&self.exchanges[ppdu.exchange].user, 0), decoded, env);
        }
        for (place, part) in self.air.parts(ppdu).enumerate() {
            let of = (self.user_of_part(ppdu, part), part_of_sender(ppdu, place));
            self.detail_frames_of(now, ppdu, of, decoded, env);
        }
    }

    fn detail_frames_of<E: Environment<B>>(
        &self,
        now: Time,
        ppdu: &Ppdu,
        (user, part): (&User, u32),
        decoded: bool,
        env: &mut E,
    ) {
        let (node, sender) = (ppdu.from(), &self.senders[user.sender.index()]);
        let agreement = || &sender.agreements[user.psdu.agreement as usize];
        match ppdu.kind {
            PpduKind::Ampdu if user.is_request() => {
                let (node, tid, start) = (user.psdu.part.from, agreement().tid, agreement().originator.start);
                env.detail(now, Detail::Requests { node, tid, start });
            }
            PpduKind::Ampdu if user.psdu.lengths.is_empty() => {}
            PpduKind::Ampdu => {
                let node = user.psdu.part.from;
                let (tid, originator) = (agreement().tid, &agreement().originator);
                let sent = (originator.start..)
                    .zip(&originator.window)
                    .filter(|(_, m)| m.in_flight == Some(HeldBy::Radio(node)));
                for ((sequence, mpdu), decoded) in sent.zip(&user.received.decoded) {
                    let (bytes, packets) = (mpdu.bytes, mpdu.facts.len() as u32);
                    let (sequence, again, decoded) = (Some(sequence), mpdu.was_sent, *decoded);
                    env.detail(now, Detail::Mpdu(Mpdu { node, part, sequence, tid, again, bytes, packets, decoded }));
                    mpdu.facts.iter().for_each(|meta| tell_held(now, (node, part), meta, env));
                }
            }
            PpduKind::Data => {
                let frame = sender.frame.as_ref().expect("data is sent from a frame");
                let (tid, bytes, again) = (frame.meta.tid, frame.meta.bytes + frame.overhead, frame.was_sent);
                let (sequence, packets) = (None, 1);
                env.detail(now, Detail::Mpdu(Mpdu { node, part, sequence, tid, again, bytes, packets, decoded }));
                tell_held(now, (node, part), &frame.meta, env);
            }
            PpduKind::BlockAckReq => {
                let (tid, start) = (agreement().tid, agreement().originator.start);
                env.detail(now, Detail::Requests { node, tid, start });
            }
            _ => {}
        }
    }

    /// Where nodes hear differently, reports the PPDU that ends as its receiver has heard it, whatever the result.
    #[inline(always)]
    pub(crate) fn note_received<E: Environment<B>>(
        &self,
        now: Time,
        ended: &Transmission,
        reception: Option<Reception>,
        env: &mut E,
    ) {
        if !env.reads_frames() {
            return;
        }
        let ppdu = &ended.ppdu;
        for (place, part) in self.air.parts(ppdu).enumerate() {
            let reception = if part.ru.is_some() { self.user_of_part(ppdu, part).heard } else { reception };
            if let (Some(by), Some(reception)) = (part.to.one(), reception)
                && let Some(power) = self.air.power_of(ended, part.from, by)
            {
                let (node, part) = (part.from, part_of_sender(ppdu, place));
                env.detail(now, Detail::Heard { node, part, by, power, decoded: reception == Reception::Decoded });
            }
        }
    }

    /// Where nodes hear differently, reports that `by`, which is not the receiver, has decoded the PPDU that ends.
    #[inline(always)]
    pub(crate) fn note_overheard<E: Environment<B>>(&self, now: Time, ended: &Transmission, by: NodeId, env: &mut E) {
        let (node, is_part) = (ended.ppdu.from(), ended.ppdu.first.ru.is_some());
        // A part is received by its own user only.
        if env.reads_frames()
            && !is_part
            && by != node
            && let Some(power) = self.air.power_of(ended, node, by)
        {
            env.detail(now, Detail::Heard { node, part: 0, by, power, decoded: true });
        }
    }

    /// Reports that the account of a PPDU that has ended is complete, for each of its senders.
    #[inline(always)]
    pub(crate) fn note_all_told<E: Environment<B>>(&self, now: Time, ppdu: &Ppdu, by_all: bool, env: &mut E) {
        self.note_told(now, ppdu.from(), by_all, env);
        if ppdu.more.is_some() && env.reads_frames() {
            let others = self.air.parts(ppdu).map(|part| part.from).filter(|from| *from != ppdu.from());
            others.for_each(|from| self.note_told(now, from, by_all, env));
        }
    }

    /// Reports that the account of a PPDU that has ended is complete.
    #[inline(always)]
    pub(crate) fn note_told<E: Environment<B>>(&self, now: Time, node: NodeId, by_all: bool, env: &mut E) {
        if env.reads_frames() {
            env.detail(now, Detail::Told { node, by_all });
        }
    }

    /// Reports the packets of a user of a data PPDU that ends.
    #[inline(never)]
    fn detail_contents<E: Environment<B>>(
        &mut self,
        now: Time,
        (node, part): (NodeId, u32),
        id: SenderId,
        (exchange, place): (ExchangeId, usize),
        reception: Option<Reception>,
        env: &mut E,
    ) {
        let (user, sender) = (self.exchanges[exchange].user_mut(place), &mut self.senders[id.index()]);
        let mut runs = Runs::default();
        let mut add = |meta: &PacketMeta, decoded: bool| {
            if let Some(run) = runs.add(meta, decoded) {
                env.detail(now, Detail::Carries { node, part, run });
            }
        };
        if !sender.aggregates() {
            let frame = sender.frame.as_mut().expect("data is sent from a frame");
            frame.was_sent = true;
            add(&frame.meta, reception == Some(Reception::Decoded));
        } else if !user.psdu.lengths.is_empty() {
            let window = &mut sender.agreements[user.psdu.agreement as usize].originator.window;
            let holder = HeldBy::Radio(user.psdu.part.from);
            let sent = window.iter_mut().filter(|m| m.in_flight == Some(holder));
            for (mpdu, decoded) in sent.zip(&user.received.decoded) {
                mpdu.was_sent = true;
                mpdu.facts.iter().for_each(|meta| add(meta, *decoded));
            }
        }
        if let Some(run) = runs.0 {
            env.detail(now, Detail::Carries { node, part, run });
        }
    }

    /// Reports the backoff that a function has drawn, if it drew one.
    #[inline(always)]
    pub(crate) fn note_backoff<E: Environment<B>>(&mut self, now: Time, id: FunctionId, env: &mut E) {
        if !E::READS_DETAILS {
            return;
        }
        let Some((slots, cw)) = self.access.take_drawn(id) else { return };
        let node = self.functions[id.index()].by;
        let function = id.0 - self.layout.node(node).functions.start;
        env.detail(now, Detail::Backoff { node, function, slots, cw });
    }
}

#[cfg(test)]
mod tests {
    use lasthop_observe::FlowId;

    use super::*;

    #[test]
    fn a_run_ends_with_its_flow_its_numbers_and_its_fate() {
        let mut runs = Runs::default();
        let mut told = Vec::new();
        let packets = [(0, 7, true), (0, 8, true), (0, 9, false), (0, 11, false), (1, 12, false), (1, 13, false)];
        for (flow, packet, decoded) in packets {
            let meta = PacketMeta { packet, ..PacketMeta::plain(FlowId(flow), NodeId(1), false, 100) };
            told.extend(runs.add(&meta, decoded));
        }
        told.extend(runs.0);
        let seen: Vec<_> = told.iter().map(|run| (run.flow.0, run.packet, run.packets, run.data_bytes)).collect();
        assert_eq!(seen, [(0, 7, 2, 200), (0, 9, 1, 100), (0, 11, 1, 100), (1, 12, 2, 200)]);
        assert_eq!(told.iter().map(|run| run.decoded).collect::<Vec<_>>(), [true, false, false, false]);
    }

    #[test]
    fn acks_and_data_of_a_run_are_counted_apart() {
        let mut runs = Runs::default();
        let data = PacketMeta { packet: 1, ..PacketMeta::plain(FlowId(0), NodeId(1), true, 1500) };
        assert_eq!(runs.add(&data, true), None);
        assert_eq!(runs.add(&PacketMeta { packet: 2, bytes: 40, pure_ack: true, ..data }, true), None);
        assert_eq!(runs.0.map(|run| (run.packets, run.data_bytes, run.ack_bytes)), Some((2, 1500, 40)));
    }
}
