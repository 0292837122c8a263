//! Frame exchanges [802.11-2020 §10.3.2, §10.23.2]: (RTS, CTS,) data, acknowledgement, each a SIFS after the last; more
//! of them in a TXOP, where its limit leaves room.
//!
//! ```text
//! sender    |RTS|          | data or A-MPDU |              | A-MPDU |
//! receiver        |CTS|                       |Ack or BA|           |BA|
//!                SIFS     SIFS              SIFS         SIFS      SIFS   AIFS + backoff …
//! ```

use lasthop_link::{AirtimeUse, Packet};
use lasthop_observe::{LinkId, NodeId, Record};
use lasthop_units::{Bytes, Duration, Time};

use super::contention::FunctionId;
use super::node::State;
use super::ppdu::{ACK_BYTES, BEACON_BYTES, CTS_BYTES, Ppdu, PpduKind, RTS_BYTES, Transmission};
use super::received::Reception;
use crate::config::Protection;
use crate::medium::{Environment, Medium, MediumEvent};
use crate::phy::{ModeId, frame_size};
use crate::rate_control::FrameInfo;

impl<B: Send + 'static> Medium<B> {
    /// `id` has won the medium, or believes so.
    pub(crate) fn win(&mut self, now: Time, id: FunctionId, env: &mut impl Environment<B>) {
        let node = self.functions[id.index()].node;
        if self.nodes[node.index()].transmitting {
            // It knows that it is sending; its countdown is over, and it goes on when the medium is idle.
            return self.wait_for_itself(now, id);
        }
        let winner = self.first_of(now, id);
        let Some(ppdu) = self.first_ppdu(now, winner, env) else {
            // A post-backoff after a frame was given up, or a queue that dropped all it had.
            self.functions[winner.index()].state = State::Idle { ready_at: 0 };
            self.schedule_backoff(self.view_of(node), env);
            if winner != id {
                self.win(now, id, env);
            }
            return;
        };
        self.functions[winner.index()].state = State::Exchanging;
        self.launch(now, ppdu, env);
        self.collide_internally(now, node, winner, id, env);
    }

    /// Of the functions of a node that start now, `id` and those committed to this instant, the first.
    #[inline(always)]
    fn first_of(&self, now: Time, id: FunctionId) -> FunctionId {
        let node = &self.nodes[self.functions[id.index()].node.index()];
        if !node.has_edca() {
            return id;
        }
        let committed = |f: &u32| self.functions[*f as usize].state == State::Committed { at: now };
        node.functions.clone().find(|f| *f == id.0 || committed(f)).map_or(id, FunctionId)
    }

    /// Those of a node that wanted to start at the same instant as `winner` do as after a collision.
    /// [802.11-2020 §10.23.2.4]
    fn collide_internally(
        &mut self,
        now: Time,
        node: NodeId,
        winner: FunctionId,
        tried: FunctionId,
        env: &mut impl Environment<B>,
    ) {
        if !self.nodes[node.index()].has_edca() {
            return;
        }
        for place in self.nodes[node.index()].functions.clone() {
            let id = FunctionId(place);
            let meant_to = id == tried || self.functions[id.index()].state == State::Committed { at: now };
            if id == winner || !meant_to {
                continue;
            }
            if !self.functions[id.index()].backlogged {
                self.functions[place as usize].state = State::Idle { ready_at: 0 };
                continue;
            }
            env.observe(now, Record::InternalCollision { node });
            self.count_internal_collision(now, id, env);
            let (view, function) = (self.nodes[node.index()].view, &mut self.functions[id.index()]);
            let backoff = function.draw_backoff();
            function.state = State::Contending;
            self.views[view].contend(now, &self.spaces[view], id, function.lane, backoff);
        }
    }

    /// A frame that lost to another of its node has had an attempt. [802.11-2020 §10.23.2.12.1] Those of an A-MPDU, which
    /// is not made yet, have not.
    fn count_internal_collision(&mut self, now: Time, id: FunctionId, env: &mut impl Environment<B>) {
        let function = &mut self.functions[id.index()];
        let limit = self.nodes[function.node.index()].retry_limit;
        let Some(frame) = &mut function.frame else { return function.widen() };
        frame.attempts += 1;
        if limit.is_some_and(|limit| frame.attempts > limit) {
            self.give_up(now, id, env);
        } else {
            function.widen();
        }
    }

    /// A function whose countdown ends while its own node sends.
    fn wait_for_itself(&mut self, now: Time, id: FunctionId) {
        let view = self.view_of(self.functions[id.index()].node);
        let function = &mut self.functions[id.index()];
        function.state = State::Contending;
        self.views[view].contend(now, &self.spaces[view], id, function.lane, 0);
    }

    /// What a function that has won the medium sends first.
    #[inline(always)]
    fn first_ppdu(&mut self, now: Time, id: FunctionId, env: &mut impl Environment<B>) -> Option<Ppdu> {
        let node = self.functions[id.index()].node;
        self.start_txop(now, id);
        if self.nodes[node.index()].first_function() == id && std::mem::take(&mut self.nodes[node.index()].beacon_due) {
            return Some(self.beacon(now, id));
        }
        let data = self.next_data(now, now, id, None, env)?;
        Some(self.announced(now, data))
    }

    #[inline(always)]
    fn start_txop(&mut self, now: Time, id: FunctionId) {
        let function = &mut self.functions[id.index()];
        function.began = now;
        let limit = function.txop_limit;
        function.txop_ends = (limit > Duration::ZERO).then(|| now + limit);
    }

    /// The next data PPDU of a function, to be sent at `at`: its frame, or an A-MPDU that is made now. `by`: with its
    /// response it must end by then, or is not sent.
    #[inline(always)]
    fn next_data(
        &mut self,
        now: Time,
        at: Time,
        id: FunctionId,
        by: Option<Time>,
        env: &mut impl Environment<B>,
    ) -> Option<Ppdu> {
        if self.functions[id.index()].aggregates {
            return self.next_ampdu(now, at, id, by, env);
        }
        self.functions[id.index()].frame.as_ref()?;
        self.choose_mode(now, id, env);
        let data = self.data(at, id);
        if by.is_some_and(|by| data.reserves_until > by) {
            let frame = self.functions[id.index()].frame.as_mut()?;
            frame.rates.put_back();
            frame.attempts -= 1;
            return None;
        }
        Some(data)
    }

    /// The rate of the next attempt: the next of the chain, or the first of a new one.
    #[inline(always)]
    fn choose_mode(&mut self, now: Time, id: FunctionId, env: &mut impl Environment<B>) {
        let overhead = self.functions[id.index()].overhead;
        let frame = self.functions[id.index()].frame.as_mut().expect("an attempt is about a frame");
        let bytes = Bytes(u64::from(frame.meta.bytes + overhead));
        let info = FrameInfo { now, bytes, aggregates: false, retry: frame.attempts };
        let (control, link) = (&mut self.rate_controls[frame.link.index()], frame.link);
        let (entry, new) = frame.rates.next(|| control.rates_for(&info));
        (frame.mode, frame.rts) = (entry.mode, entry.rts);
        frame.attempts += 1;
        if let Some(chain) = new {
            self.note_rate(now, link, &chain, env);
        }
    }

    /// `data`, or what announces it.
    #[inline(always)]
    fn announced(&self, now: Time, data: Ppdu) -> Ppdu {
        let bss = &self.bss[self.nodes[data.from.index()].bss];
        let phy = &bss.phy;
        let protects = bss.protection != Protection::None && phy.needs_protection(data.mode);
        let long = bss.rts_threshold.is_some_and(|threshold| u64::from(data.bytes) > threshold.0);
        let lasts = data.reserves_until.since(now);
        let long = long || bss.txop_duration_rts_threshold.is_some_and(|threshold| lasts >= threshold);
        let rts = long || self.asks_for_rts(&data) || (protects && bss.protection == Protection::RtsCts);
        if data.kind == PpduKind::BlockAckReq || (!rts && !protects) {
            return data;
        }
        let mode = if protects { phy.protection_mode() } else { phy.control_response_mode(data.mode) };
        let (sifs, rest) = (phy.sifs(), lasts);
        if rts {
            let cts = phy.ppdu_duration(phy.control_response_mode(mode), Bytes(u64::from(CTS_BYTES)));
            let own = phy.ppdu_duration(mode, Bytes(u64::from(RTS_BYTES)));
            let reserves_until = now + own + sifs + cts + sifs + rest;
            Ppdu { kind: PpduKind::Rts, mode, bytes: RTS_BYTES, airtime: own, reserves_until, ..data }
        } else {
            let own = phy.ppdu_duration(mode, Bytes(u64::from(CTS_BYTES)));
            let reserves_until = now + own + sifs + rest;
            Ppdu { kind: PpduKind::CtsToSelf, to: None, mode, bytes: CTS_BYTES, airtime: own, reserves_until, ..data }
        }
    }

    /// Whether the rate control wants RTS/CTS before this.
    fn asks_for_rts(&self, data: &Ppdu) -> bool {
        let function = &self.functions[data.function.index()];
        match data.kind {
            PpduKind::Ampdu => function.sessions[data.session as usize].rts,
            _ => function.frame.as_ref().is_some_and(|frame| frame.rts),
        }
    }

    /// The data frame of a function, sent at `at`.
    #[inline(always)]
    fn data(&self, at: Time, id: FunctionId) -> Ppdu {
        let function = &self.functions[id.index()];
        let frame = function.frame.as_ref().expect("the exchange is about a frame");
        let (mode, phy) = (frame.mode, self.phy_of(function.node));
        let mpdu = Bytes(u64::from(frame.meta.bytes + function.overhead));
        let psdu = if phy.always_aggregates(mode) { frame_size::ampdu_subframe(mpdu) } else { mpdu };
        let bytes = psdu.0 as u32;
        let airtime = phy.ppdu_duration(mode, psdu);
        let reserves_until = at + airtime + phy.sifs() + phy.ack_duration(mode);
        let (from, to, link) = (function.node, Some(frame.to), frame.link);
        Ppdu { kind: PpduKind::Data, from, to, link, mode, bytes, airtime, reserves_until, function: id, session: 0 }
    }

    /// What was announced by an RTS or CTS, sent at `at`.
    fn announced_data(&self, at: Time, announcement: &Ppdu) -> Ppdu {
        let id = announcement.function;
        if self.functions[id.index()].lengths.is_empty() {
            self.data(at, id)
        } else {
            self.ampdu(at, id, announcement.session as usize)
        }
    }

    /// The CTS, Ack or BlockAck that answers `ppdu`.
    fn response(&self, kind: PpduKind, ppdu: &Ppdu) -> Ppdu {
        let from = ppdu.to.expect("what is answered has a receiver");
        let phy = self.phy_of(ppdu.from);
        let mode = phy.control_response_mode(ppdu.mode);
        let (bytes, airtime) = match kind {
            PpduKind::Cts => (CTS_BYTES, phy.ppdu_duration(mode, Bytes(u64::from(CTS_BYTES)))),
            PpduKind::BlockAck => (phy.block_ack_bytes().0 as u32, phy.block_ack_duration(ppdu.mode)),
            _ => (ACK_BYTES, phy.ack_duration(ppdu.mode)),
        };
        // An ACK ends where the frame before it said, so it repeats what that reserved.
        Ppdu { kind, from, to: Some(ppdu.from), mode, bytes, airtime, ..*ppdu }
    }

    /// The step of the exchange after the end of a PPDU; what follows a SIFS later, if anything does.
    pub(crate) fn step(
        &mut self,
        now: Time,
        ended: &Transmission,
        reception: Option<Reception>,
        env: &mut impl Environment<B>,
    ) -> Option<Ppdu> {
        let ppdu = &ended.ppdu;
        let after_sifs = now + self.phy_of(ppdu.from).sifs();
        let decoded = reception == Some(Reception::Decoded);
        match ppdu.kind {
            PpduKind::Rts if decoded && self.may_answer_rts(now, ppdu) => {
                return Some(self.response(PpduKind::Cts, ppdu));
            }
            PpduKind::Cts if decoded => return Some(self.announced_data(after_sifs, ppdu)),
            PpduKind::CtsToSelf => return Some(self.announced_data(after_sifs, ppdu)),
            PpduKind::Data if decoded => {
                self.receive_data(now, ended, env);
                return Some(self.response(PpduKind::Ack, ppdu));
            }
            PpduKind::Ampdu if decoded => {
                self.receive_ampdu(now, ended, env);
                return Some(self.response(PpduKind::BlockAck, ppdu));
            }
            PpduKind::BlockAckReq if decoded => {
                self.receive_block_ack_req(now, ppdu, env);
                return Some(self.response(PpduKind::BlockAck, ppdu));
            }
            PpduKind::Ack | PpduKind::BlockAck if decoded => {
                return self.exchange_succeeded(now, ppdu, after_sifs, env);
            }
            PpduKind::Beacon => self.beacon_was_sent(now, ended, env),
            _ => self.exchange_failed(now, ppdu, reception, env),
        }
        None
    }

    /// The data is acknowledged: the next of the TXOP follows, or the function contends again.
    #[inline(always)]
    fn exchange_succeeded(
        &mut self,
        now: Time,
        ppdu: &Ppdu,
        after_sifs: Time,
        env: &mut impl Environment<B>,
    ) -> Option<Ppdu> {
        let id = ppdu.function;
        if ppdu.kind == PpduKind::Ack {
            self.attempt_succeeded(now, id, env);
        } else {
            self.block_ack_arrived(now, id, ppdu.session as usize, env);
        }
        let next = self.next_in_txop(now, after_sifs, id, env);
        if next.is_none() {
            self.contend_again(now, id, None, env);
        }
        next
    }

    /// What goes out at `at` without contending again, if the TXOP has room for it; it is put together now.
    #[inline(always)]
    fn next_in_txop(&mut self, now: Time, at: Time, id: FunctionId, env: &mut impl Environment<B>) -> Option<Ppdu> {
        let ends = self.functions[id.index()].txop_ends.filter(|ends| at < *ends)?;
        if !self.refill(now, id, env) {
            return None;
        }
        self.functions[id.index()].began = at;
        self.next_data(now, at, id, Some(ends), env)
    }

    /// A node whose NAV is set does not answer an RTS [802.11-2020 §10.3.2.9].
    fn may_answer_rts(&self, now: Time, rts: &Ppdu) -> bool {
        rts.to.is_some_and(|to| !self.views[self.view_of(to)].nav_is_set(now))
    }

    /// A SIFS after the frame before it.
    pub(crate) fn respond(&mut self, now: Time, node: NodeId, env: &mut impl Environment<B>) {
        let response = self.nodes[node.index()].response.take().expect("a response is due");
        self.launch(now, response, env);
    }

    fn receive_data(&mut self, now: Time, ended: &Transmission, env: &mut impl Environment<B>) {
        let ppdu = &ended.ppdu;
        self.charge_uplink(now, ended);
        let frame = self.functions[ppdu.function.index()].frame.as_mut().expect("data was sent from a frame");
        // A frame that arrives again, because its ACK was lost, is acknowledged and discarded.
        let Some(body) = frame.body.take() else { return };
        let (meta, to, delay) = (frame.meta, frame.to, now.since(frame.since));
        self.counts.delivered += 1;
        env.observe(now, Record::FrameDelivered { link: ppdu.link, delay });
        env.deliver(now, to, Packet { meta, body });
    }

    /// What a station sends counts against its share at the AP.
    pub(crate) fn charge_uplink(&mut self, now: Time, ended: &Transmission) {
        let ppdu = &ended.ppdu;
        let Some(to) = ppdu.to else { return };
        let receiver = &self.nodes[to.index()];
        if receiver.ap != to || !self.functions[receiver.functions.start as usize].counts_airtime {
            return;
        }
        let phy = self.phy_of(ppdu.from);
        let airtime = ppdu.airtime + phy.sifs() + phy.ack_duration(ppdu.mode);
        let used = AirtimeUse { station: ppdu.from, up: true, airtime, rate: phy.mode(ppdu.mode).rate };
        // The same category at the AP.
        let place = ppdu.function.0 - self.nodes[ppdu.from.index()].functions.start;
        let own = self.nodes[to.index()].functions.start + place;
        self.functions[own as usize].queue.on_airtime(now, &used);
    }

    /// A beacon goes to everybody at the lowest basic rate, and is never repeated [802.11-2020 §11.1.3.2].
    fn beacon(&self, now: Time, id: FunctionId) -> Ppdu {
        let from = self.functions[id.index()].node;
        let mode: ModeId = self.phy_of(from).lowest_basic_mode();
        let (bytes, link) = (BEACON_BYTES, LinkId(0));
        let airtime = self.airtime(from, mode, bytes);
        let (kind, to, reserves_until) = (PpduKind::Beacon, None, now);
        Ppdu { kind, from, to, link, mode, bytes, airtime, reserves_until, function: id, session: 0 }
    }

    fn beacon_was_sent(&mut self, now: Time, ended: &Transmission, env: &mut impl Environment<B>) {
        // Others may wait EIFS after it; its sender heard nothing.
        let apart = (self.after_loss.bystanders_wait_eifs() && !ended.overlaps.is_empty()).then_some(now);
        self.contend_again(now, ended.ppdu.function, apart, env);
    }

    pub(crate) fn beacon_is_due(&mut self, now: Time, bss: usize, env: &mut impl Environment<B>) {
        let ap = self.bss[bss].ap;
        self.nodes[ap.index()].beacon_due = true;
        if let Some(interval) = self.bss[bss].beacons {
            env.schedule(now + interval, MediumEvent::Beacon(bss as u32));
        }
        self.request_access(now, self.nodes[ap.index()].first_function(), env);
    }
}
