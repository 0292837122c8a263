//! Frame exchanges [802.11-2020 §10.3.2, §10.23.2]: (RTS, CTS,) data, acknowledgement, each a SIFS after the last; more
//! of them in a TXOP, if its limit leaves room.
//!
//! ```text
//! sender    |RTS|          | data or A-MPDU |              | A-MPDU |
//! receiver        |CTS|                       |Ack or BA|           |BA|
//!                SIFS     SIFS              SIFS         SIFS      SIFS   AIFS + backoff …
//! ```
//!
//! This file stands above the air, channel access and the senders. When a frame ends it is known whether a response
//! will come, so a sender learns of a loss at that instant; it still waits for its ACK timeout before its next step
//! [802.11-2020 §10.3.2.11].

use lasthop_link::AirtimeUse;
use lasthop_observe::{LinkId, NodeId, Outcome, Record};
use lasthop_units::{Bytes, Time};

use crate::access::function::State;
use crate::air::Air;
use crate::air::on_air::Transmission;
use crate::air::received::Reception;
use crate::config::{AfterLoss, Protection, TxopProtection};
use crate::environment::{Environment, MediumEvent};
use crate::exchange::{FunctionFacts, User};
use crate::ids::{ExchangeId, FunctionId};
use crate::medium::{Errand, Medium};
use crate::phy::ModeId;
use crate::ppdu::{ACK_BYTES, BEACON_BYTES, CF_END_BYTES, CTS_BYTES, Part, Ppdu, PpduKind, RTS_BYTES, To};
use crate::sender::frame::Fate;
use crate::sender::psdu::{Grant, Tried};

impl<B: Send + 'static> Medium<B> {
    /// Starts an exchange of `id`, which has won the medium, or believes so.
    pub(crate) fn win(&mut self, now: Time, id: FunctionId, env: &mut impl Environment<B>) {
        let FunctionFacts { by: node, has_siblings, .. } = self.functions[id.index()];
        if self.air.is_sending(node) {
            return self.access.wait_for_own_radio(now, id);
        }
        let winner = if has_siblings { self.access.first_of(now, id) } else { id };
        let Some(ppdu) = self.first_ppdu(now, winner, env) else {
            // It counted a post-backoff after a frame was given up, or its queue has dropped all its packets.
            self.access.pass(winner, env);
            if winner != id {
                self.win(now, id, env);
            }
            return;
        };
        self.access.begin_exchange(winner);
        self.launch(now, ppdu, env);
        if has_siblings {
            self.collide_internally(now, node, winner, id, env);
        }
    }

    /// Treats the functions of a node that were to start at the same instant as `winner` as after a collision.
    /// [802.11-2020 §10.23.2.4]
    #[inline(never)]
    fn collide_internally(
        &mut self,
        now: Time,
        node: NodeId,
        winner: FunctionId,
        tried: FunctionId,
        env: &mut impl Environment<B>,
    ) {
        for id in self.layout.node(node).functions.clone().map(FunctionId) {
            let meant_to = id == tried || self.access.state(id) == State::Committed { at: now };
            if id == winner || !meant_to {
                continue;
            }
            if !self.senders[id.index()].is_backlogged() {
                self.access.rest(id);
                continue;
            }
            env.observe(now, Record::InternalCollision { node });
            match self.senders[id.index()].frame_outdone(now, &mut self.books, env) {
                Fate::Tried => self.access.failed(id),
                Fate::GivenUp => {
                    self.access.succeeded(id);
                    self.refill(now, id, env);
                }
            }
            self.access.contend_after_internal_collision(now, id);
            self.note_backoff(now, id, env);
        }
    }

    /// The first PPDU of a function that has won the medium.
    #[inline(always)]
    fn first_ppdu(&mut self, now: Time, id: FunctionId, env: &mut impl Environment<B>) -> Option<Ppdu> {
        let facts = &self.functions[id.index()];
        let FunctionFacts { by, may_announce, serves_several, .. } = *facts;
        let exchange = self.exchanges.begin(now, id, facts);
        let mut asks = false;
        if self.has_errand(id) {
            match self.take_errand(by, id) {
                Errand::Beacon => return Some(self.beacon(now, by, exchange)),
                Errand::Group => return Some(self.group_frame(now, by, exchange)),
                Errand::Question => asks = true,
            }
        }
        if serves_several {
            return self.first_of_several(now, id, (exchange, asks), env);
        }
        let grant = Grant::first(by, now, self.exchanges[exchange].txop_ends);
        let data = self.first_data(now, exchange, may_announce, &grant, env);
        if data.is_none() {
            self.exchanges.end(exchange);
        }
        data
    }

    /// The first data PPDU of an exchange, or the PPDU that announces it.
    #[inline(always)]
    pub(crate) fn first_data(
        &mut self,
        now: Time,
        exchange: ExchangeId,
        may_announce: bool,
        grant: &Grant,
        env: &mut impl Environment<B>,
    ) -> Option<Ppdu> {
        let data = self.next_data(now, exchange, grant, env)?;
        let announces = may_announce || self.exchanges[exchange].user.psdu.rts;
        Some(if announces { self.announced(now, data) } else { data })
    }

    /// The next data PPDU of an exchange, for a grant.
    #[inline(always)]
    fn next_data(&mut self, now: Time, id: ExchangeId, grant: &Grant, env: &mut impl Environment<B>) -> Option<Ppdu> {
        let (exchange, with) = (&mut self.exchanges[id], (&self.layout, &mut self.links, &mut self.books));
        let (sender, psdu) = (&mut self.senders[exchange.user.sender.index()], &mut exchange.user.psdu);
        let made = sender.next_psdu(now, grant, with, psdu, env);
        if let Some(ends) = exchange.txop_ends
            && made
        {
            sender.reserve_next(grant.at, ends, self.layout.bss_of(exchange.by), psdu, env);
        }
        if sender.take_queue_to_report() {
            self.report_queue(now, grant.radio, env);
        }
        if !made {
            return None;
        }
        if self.functions[self.exchanges[id].won_by.index()].reports_queue {
            self.note_queued(now, id, 0, env);
        }
        let sifs = self.layout.phy_of(grant.radio).sifs();
        Some(self.exchanges[id].user.psdu.ppdu(grant.at, sifs, id))
    }

    /// `data`, or the PPDU that announces it.
    #[inline(never)]
    fn announced(&self, now: Time, data: Ppdu) -> Ppdu {
        let bss = self.layout.bss_of(data.from());
        let phy = &bss.phy;
        let protects = bss.protection != Protection::None && phy.needs_protection(data.first.mode);
        let long = bss.rts_threshold.is_some_and(|threshold| u64::from(data.first.bytes) > threshold.0);
        // An RTS or CTS covers one exchange, whose frames cover the next, or else the whole TXOP.
        let exchange = &self.exchanges[data.exchange];
        let lasts = data.reserves_until.since(now) - exchange.user.psdu.follows;
        let txop_ends = exchange.txop_ends.filter(|_| bss.txop_protection == TxopProtection::Multiple);
        let reserves = |until: Time| txop_ends.map_or(until, |ends| until.max(ends));
        let long = long || bss.txop_duration_rts_threshold.is_some_and(|threshold| lasts >= threshold);
        let rts = long || exchange.user.psdu.rts || (protects && bss.protection == Protection::RtsCts);
        if data.kind == PpduKind::BlockAckReq || (!rts && !protects) {
            return data;
        }
        let mode = if protects { phy.protection_mode() } else { phy.control_response_mode(data.first.mode) };
        let (sifs, rest) = (phy.sifs(), lasts);
        if rts {
            let cts = phy.ppdu_duration(phy.control_response_mode(mode), Bytes(u64::from(CTS_BYTES)));
            let airtime = phy.ppdu_duration(mode, Bytes(u64::from(RTS_BYTES)));
            let reserves_until = reserves(now + airtime + sifs + cts + sifs + rest);
            let first = Part { mode, bytes: RTS_BYTES, ..data.first };
            Ppdu { kind: PpduKind::Rts, first, more: None, airtime, reserves_until, ..data }
        } else {
            let airtime = phy.ppdu_duration(mode, Bytes(u64::from(CTS_BYTES)));
            let reserves_until = reserves(now + airtime + sifs + rest);
            let first = Part { to: To::Nobody, mode, bytes: CTS_BYTES, ..data.first };
            Ppdu { kind: PpduKind::CtsToSelf, first, more: None, airtime, reserves_until, ..data }
        }
    }

    /// The CTS, Ack or BlockAck with which `by` answers `ppdu`.
    #[inline(always)]
    pub(crate) fn response(&self, kind: PpduKind, ppdu: &Ppdu, by: NodeId) -> Ppdu {
        let Part { from, link, mode: asked_in, .. } = ppdu.first;
        let phy = self.layout.phy_of(from);
        let mode = phy.control_response_mode(asked_in);
        let (bytes, airtime) = match kind {
            PpduKind::Cts => (CTS_BYTES, phy.ppdu_duration(mode, Bytes(u64::from(CTS_BYTES)))),
            PpduKind::BlockAck => (phy.block_ack_bytes().0 as u32, phy.block_ack_duration(asked_in)),
            _ => (ACK_BYTES, phy.ack_duration(asked_in)),
        };
        // An ACK ends when the frame before it said, so it repeats that reservation.
        let first = Part { from: by, to: To::One(from), link, mode, bytes, ru: None };
        Ppdu { kind, first, more: None, airtime, ..*ppdu }
    }

    /// Takes the step of the exchange at the end of a PPDU; returns the PPDU that follows a SIFS later, if there is
    /// one.
    #[inline(always)]
    pub(crate) fn step(
        &mut self,
        now: Time,
        ended: &Transmission,
        reception: Option<Reception>,
        env: &mut impl Environment<B>,
    ) -> Option<Ppdu> {
        let ppdu = &ended.ppdu;
        let decoded = reception == Some(Reception::Decoded);
        match (ppdu.kind, ppdu.first.to) {
            (PpduKind::Data, To::One(to)) if decoded => {
                self.charge_uplink(now, ppdu, to);
                let sender = self.exchanges[ppdu.exchange].user.sender;
                self.senders[sender.index()].receive_frame(now, &mut self.books, env);
                Some(self.response(PpduKind::Ack, ppdu, to))
            }
            (PpduKind::Ack, _) if decoded => self.exchange_succeeded(now, ppdu, env),
            _ => self.rarer_step(now, ended, reception, env),
        }
    }

    #[inline(never)]
    fn rarer_step(
        &mut self,
        now: Time,
        ended: &Transmission,
        reception: Option<Reception>,
        env: &mut impl Environment<B>,
    ) -> Option<Ppdu> {
        let ppdu = &ended.ppdu;
        if ppdu.of_several {
            return self.step_of_several(now, ppdu, env);
        }
        if self.exchanges[ppdu.exchange].is_given_up {
            self.exchanges.end(ppdu.exchange);
            return None;
        }
        let decoded = reception == Some(Reception::Decoded);
        match (ppdu.kind, ppdu.first.to) {
            (PpduKind::Rts, To::One(to))
                if decoded && self.access.view(self.access.view_of(to)).answers_rts(now, ppdu.from()) =>
            {
                return Some(self.response(PpduKind::Cts, ppdu, to));
            }
            (PpduKind::Cts, _) if decoded => return Some(self.announced_data(now, ppdu, env)),
            (PpduKind::CtsToSelf, _) => return Some(self.announced_data(now, ppdu, env)),
            (PpduKind::Ampdu, To::One(to)) if decoded => {
                self.charge_uplink(now, ppdu, to);
                let User { sender: id, psdu, received, .. } = &self.exchanges[ppdu.exchange].user;
                let sender = &mut self.senders[id.index()];
                sender.receive_ampdu(now, *id, psdu, &received.decoded, &mut self.books, env);
                let answer = if psdu.is_legacy { PpduKind::Ack } else { PpduKind::BlockAck };
                self.note_backlog(now, ppdu, to);
                return Some(self.response(answer, ppdu, to));
            }
            (PpduKind::BlockAckReq, To::One(to)) if decoded => {
                let User { sender, psdu, .. } = &self.exchanges[ppdu.exchange].user;
                self.senders[sender.index()].receive_block_ack_req(now, psdu, &mut self.books, env);
                return Some(self.response(PpduKind::BlockAck, ppdu, to));
            }
            (PpduKind::BlockAck, _) if decoded => return self.exchange_succeeded(now, ppdu, env),
            (PpduKind::Beacon | PpduKind::CfEnd, _) => self.last_was_sent(now, ended, env),
            _ => self.exchange_failed(now, ppdu, reception, env),
        }
        None
    }

    /// The data announced by an RTS or CTS that has ended now.
    fn announced_data(&mut self, now: Time, announcement: &Ppdu, env: &mut impl Environment<B>) -> Ppdu {
        let exchange = &mut self.exchanges[announcement.exchange];
        let (bss, User { sender, psdu, .. }) = (self.layout.bss_of(exchange.by), &mut exchange.user);
        let (sifs, at) = (bss.phy.sifs(), now + bss.phy.sifs());
        if let Some(ends) = exchange.txop_ends {
            // The announcement has taken a part of the TXOP.
            self.senders[sender.index()].reserve_next(at, ends, bss, psdu, env);
        }
        psdu.ppdu(at, sifs, announcement.exchange)
    }

    /// Ends an acknowledged exchange: the next one of the TXOP follows, or the function contends again.
    #[inline(always)]
    pub(crate) fn exchange_succeeded(&mut self, now: Time, ppdu: &Ppdu, env: &mut impl Environment<B>) -> Option<Ppdu> {
        let exchange = &mut self.exchanges[ppdu.exchange];
        let (by, began, user) = (exchange.by, exchange.began, &mut exchange.user);
        let (sender, bss) = (&mut self.senders[user.sender.index()], self.layout.bss_of(by));
        let snr = user.psdu.part.to.one().and_then(|to| self.air.snr_of(now, to, by));
        if ppdu.kind == PpduKind::Ack && !sender.aggregates() {
            sender.frame_acknowledged(now, began, snr, &bss.phy, &mut self.links, env);
        } else {
            let tried = Tried { outcome: Outcome::Success, lost_to: user.lost_to, began, snr };
            let with = (bss, &mut self.links, &mut self.books);
            sender.ampdu_acknowledged(now, &mut user.psdu, &tried, with, env);
        }
        let (id, after_sifs) = (exchange.won_by, now + bss.phy.sifs());
        self.access.succeeded(id);
        let of = ppdu.exchange;
        let next = self.next_in_txop(now, after_sifs, (id, of), env).or_else(|| self.cf_end(after_sifs, of));
        if next.is_none() {
            self.txop_ends(now, of, env);
            self.contend_again(now, id, None, env);
        }
        next
    }

    /// Ends the last exchange of a TXOP.
    #[inline(always)]
    pub(crate) fn txop_ends(&mut self, now: Time, of: ExchangeId, env: &mut impl Environment<B>) {
        self.note_txop_end(now, of, env);
        self.exchanges.end(of);
    }

    #[inline(always)]
    fn note_txop_end(&self, now: Time, of: ExchangeId, env: &mut impl Environment<B>) {
        if env.awaits_txops() {
            env.observe(now, Record::TxopEnded { node: self.exchanges[of].by });
        }
    }

    /// The PPDU that follows a SIFS after an exchange that succeeded, if the TXOP has room for it; it is assembled now.
    #[inline(always)]
    fn next_in_txop(
        &mut self,
        now: Time,
        at: Time,
        (id, of): (FunctionId, ExchangeId),
        env: &mut impl Environment<B>,
    ) -> Option<Ppdu> {
        let ends = self.exchanges[of].txop_ends.filter(|ends| at < *ends)?;
        if !self.refill(now, id, env) {
            return None;
        }
        let exchange = &mut self.exchanges[of];
        exchange.began = at;
        let grant = Grant { by: Some(ends), ..Grant::first(exchange.by, at, Some(ends)) };
        self.next_data(now, of, &grant, env)
    }

    /// The CF-End that gives back the rest of a TXOP from `at` on, if all of it is reserved and a CF-End fits. The AP does
    /// not repeat it, as it may. [802.11-2020 §10.23.2.9]
    #[inline(always)]
    fn cf_end(&self, at: Time, id: ExchangeId) -> Option<Ppdu> {
        let exchange = &self.exchanges[id];
        let (ends, bss) = (exchange.txop_ends?, self.layout.bss_of(exchange.by));
        if bss.txop_protection == TxopProtection::Single {
            return None;
        }
        let mode = bss.phy.control_response_mode(exchange.user.psdu.part.mode);
        let airtime = bss.phy.ppdu_duration(mode, Bytes(u64::from(CF_END_BYTES)));
        let first = Part { to: To::Nobody, mode, bytes: CF_END_BYTES, ..exchange.user.psdu.part };
        let (kind, reserves_until, initiator) = (PpduKind::CfEnd, at + airtime, exchange.by);
        let (more, of_several) = (None, false);
        let ppdu = Ppdu { kind, first, more, airtime, reserves_until, exchange: id, initiator, of_several };
        (reserves_until <= ends).then_some(ppdu)
    }

    /// Ends an exchange whose `ppdu` did not get through, or was not answered.
    #[inline(never)]
    fn exchange_failed(&mut self, now: Time, ppdu: &Ppdu, reception: Option<Reception>, env: &mut impl Environment<B>) {
        // An RTS that was decoded but not answered met a NAV set by an exchange that its sender cannot hear.
        let outcome = reception.map_or(Outcome::Collision, Reception::outcome);
        let id = self.lose_exchange(now, ppdu, outcome, env);
        self.txop_ends(now, ppdu.exchange, env);
        // After its own frame the sender waits for the missing response.
        let by = self.functions[id.index()].by;
        let waits = self.after_loss.sender_waits_ack_timeout() && ppdu.from() == by;
        let apart = waits.then(|| self.counts_after_timeout(now, id, ppdu));
        self.contend_again(now, id, apart, env);
    }

    /// Gives up an exchange whose response begins now and is no frame to its receiver, which is busy with bursts of interferers
    /// or does not hear it: no PHY-RXSTART comes before the timeout [802.11-2020 §10.3.2.11].
    #[inline(never)]
    pub(crate) fn give_up_unheard(&mut self, at: Time, response: &Ppdu, env: &mut impl Environment<B>) {
        let is_response = matches!(response.kind, PpduKind::Cts | PpduKind::Ack | PpduKind::BlockAck);
        let by = response.initiator;
        if !is_response || response.of_several || self.air.notices_frame(self.access.view_of(by), response.from()) {
            return;
        }
        let phy = self.layout.phy_of(by);
        let (ended, timeout) = (at - phy.sifs(), phy.ack_timeout(response.first.mode));
        let id = self.lose_exchange(at, response, Outcome::Interferer, env);
        self.note_txop_end(at, response.exchange, env);
        self.exchanges[response.exchange].is_given_up = true;
        let apart = self.after_loss.sender_waits_ack_timeout().then(|| match self.after_loss {
            AfterLoss::NoEifs => self.access.after_inter_frame_space(ended + timeout, id),
            _ => ended + timeout,
        });
        let has_work = self.refill(at, id, env) || self.has_errand(id);
        self.access.contend_after_silence(at, ended, id, apart, has_work, env);
        self.note_backoff(at, id, env);
    }

    /// Returns whether the initiator of a response that ends has given up its exchange and begun another one.
    #[inline(never)]
    pub(crate) fn is_outlived(&self, ppdu: &Ppdu) -> bool {
        !ppdu.of_several && self.exchanges[ppdu.exchange].is_given_up && self.access.is_exchanging(ppdu.initiator)
    }

    /// Reports a lost exchange to its sender, and widens or resets the window of its function, which is returned.
    fn lose_exchange(&mut self, now: Time, ppdu: &Ppdu, outcome: Outcome, env: &mut impl Environment<B>) -> FunctionId {
        let exchange = &mut self.exchanges[ppdu.exchange];
        let (by, began, id, user) = (exchange.by, exchange.began, exchange.won_by, &mut exchange.user);
        let (sender, bss) = (&mut self.senders[user.sender.index()], self.layout.bss_of(by));
        let snr = user.psdu.part.to.one().and_then(|to| self.air.snr_of(now, to, by));
        let fate = if sender.aggregates() {
            let tried = Tried { outcome, lost_to: user.lost_to, began, snr };
            let with = (bss, &mut self.links, &mut self.books);
            sender.ampdu_lost(now, &mut user.psdu, &tried, with, env)
        } else {
            let sent = matches!(ppdu.kind, PpduKind::Data | PpduKind::Ack);
            let (links, books) = (&mut self.links, &mut self.books);
            sender.frame_lost(now, began, (outcome, sent), snr, &bss.phy, links, books, env)
        };
        match fate {
            Fate::Tried => self.access.failed(id),
            Fate::GivenUp => self.access.succeeded(id),
        }
        id
    }

    /// The time at which the sender of a frame that was not answered may count again, apart from the slot grid.
    pub(crate) fn counts_after_timeout(&self, now: Time, id: FunctionId, ppdu: &Ppdu) -> Time {
        let phy = self.layout.phy_of(ppdu.from());
        let timeout = now + phy.ack_timeout(phy.control_response_mode(ppdu.first.mode));
        if self.after_loss.sender_waits_inter_frame_space_too() {
            self.access.after_inter_frame_space(timeout, id)
        } else {
            timeout
        }
    }

    /// Lets a function contend again after an exchange, whatever its result, or count a post-backoff. With `apart` it
    /// counts from then on, without the EIFS of others.
    #[inline(always)]
    pub(crate) fn contend_again(
        &mut self,
        now: Time,
        id: FunctionId,
        apart: Option<Time>,
        env: &mut impl Environment<B>,
    ) {
        let has_work = self.refill(now, id, env) || self.has_errand(id);
        self.access.contend_again(now, id, apart, has_work, env);
        self.note_backoff(now, id, env);
    }

    /// Sends the response that is due a SIFS after the frame before it.
    pub(crate) fn respond(&mut self, now: Time, node: NodeId, env: &mut impl Environment<B>) {
        let response = self.stations[node.index()].response.take().expect("a response is due");
        self.launch(now, response, env);
    }

    /// Sends a PPDU a SIFS later.
    pub(crate) fn respond_after_sifs(&mut self, now: Time, response: Option<Ppdu>, env: &mut impl Environment<B>) {
        let Some(response) = response else { return };
        let from = response.from();
        let station = &mut self.stations[from.index()];
        assert!(station.response.is_none(), "node {} owes two responses at once", from.0);
        station.response = Some(response);
        let sifs = self.layout.phy_of(from).sifs();
        env.schedule(now + sifs, MediumEvent::Respond(from));
    }

    /// Charges a station's transmission to its share at the AP.
    #[inline(always)]
    fn charge_uplink(&mut self, now: Time, ppdu: &Ppdu, to: NodeId) {
        let receiver = self.layout.node(to);
        if receiver.ap == to && self.senders[receiver.functions.start as usize].counts_airtime() {
            self.charge_station(now, ppdu, to);
        }
    }

    #[inline(never)]
    fn charge_station(&mut self, now: Time, ppdu: &Ppdu, ap: NodeId) {
        let Part { from: station, mode, .. } = ppdu.first;
        let phy = self.layout.phy_of(station);
        let airtime = ppdu.airtime + phy.sifs() + phy.ack_duration(mode);
        let used = AirtimeUse { station, up: true, airtime, rate: phy.mode(mode).rate };
        // The function of the same category at the AP; frames without QoS are of best effort.
        let (own, of) = (self.layout.node(ap), self.layout.node(station));
        let place = match of.legacy {
            true => own.function_of(0).0,
            false => own.functions.start + self.exchanges[ppdu.exchange].user.sender.0 - of.functions.start,
        };
        self.senders[place as usize].on_airtime(now, &used);
    }

    /// Returns whether a node has something to send besides packets, for which its first function contends: a beacon.
    #[inline(always)]
    pub(crate) fn has_errand(&self, id: FunctionId) -> bool {
        if self.errands == 0 {
            return false;
        }
        let by = self.functions[id.index()].by;
        self.stations[by.index()].errands.iter().any(|errand| self.function_of_errand(by, *errand) == id)
    }

    /// Returns whether a function contends to ask stations.
    pub(crate) fn has_question(&self, id: FunctionId) -> bool {
        let by = self.functions[id.index()].by;
        let asks = self.errands > 0 && self.stations[by.index()].errands.contains(&Errand::Question);
        asks && self.function_of_errand(by, Errand::Question) == id
    }

    /// The function that contends for an errand of a node.
    fn function_of_errand(&self, by: NodeId, errand: Errand) -> FunctionId {
        match errand {
            Errand::Beacon | Errand::Group => self.layout.node(by).first_function(),
            Errand::Question => self.layout.node(by).function_of(0),
        }
    }

    /// Gives a node an errand, unless it has it.
    pub(crate) fn add_errand(&mut self, by: NodeId, errand: Errand) {
        let own = &mut self.stations[by.index()].errands;
        if !own.contains(&errand) {
            own.push(errand);
            self.errands += 1;
        }
    }

    /// Takes the first errand of a function.
    #[inline(never)]
    fn take_errand(&mut self, by: NodeId, id: FunctionId) -> Errand {
        let own = &self.stations[by.index()].errands;
        let place = own.iter().position(|errand| self.function_of_errand(by, *errand) == id);
        self.errands -= 1;
        self.stations[by.index()].errands.remove(place.expect("it has an errand"))
    }

    /// A beacon, which goes to all stations at the lowest basic rate and is never repeated [802.11-2020 §11.1.3.2].
    fn beacon(&self, now: Time, from: NodeId, exchange: ExchangeId) -> Ppdu {
        self.to_all(now, from, exchange, (self.layout.phy_of(from).lowest_basic_mode(), BEACON_BYTES))
    }

    /// A frame of this many bytes that nobody acknowledges.
    pub(crate) fn to_all(&self, now: Time, from: NodeId, exchange: ExchangeId, (mode, bytes): (ModeId, u32)) -> Ppdu {
        let phy = self.layout.phy_of(from);
        let airtime = phy.ppdu_duration(mode, Bytes(u64::from(bytes)));
        let first = Part { from, to: To::Nobody, link: LinkId(0), mode, bytes, ru: None };
        let (kind, reserves_until, initiator) = (PpduKind::Beacon, now, from);
        let (more, of_several) = (None, false);
        Ppdu { kind, first, more, airtime, reserves_until, exchange, initiator, of_several }
    }

    /// Contends again after a PPDU that nobody answers.
    fn last_was_sent(&mut self, now: Time, ended: &Transmission, env: &mut impl Environment<B>) {
        let id = self.exchanges[ended.ppdu.exchange].won_by;
        self.txop_ends(now, ended.ppdu.exchange, env);
        self.note_group_end(now, ended, env);
        // Others may wait EIFS after it; its sender heard nothing.
        let apart = (self.after_loss.bystanders_wait_eifs() && ended.is_disturbed).then_some(now);
        self.contend_again(now, id, apart, env);
    }

    pub(crate) fn beacon_is_due(&mut self, now: Time, bss: usize, env: &mut impl Environment<B>) {
        let ap = self.layout.bss[bss].ap;
        self.add_errand(ap, Errand::Beacon);
        if let Some(interval) = self.layout.bss[bss].beacons {
            env.schedule(now + interval, MediumEvent::Beacon(bss as u32));
        }
        self.request_access(now, self.layout.node(ap).first_function(), env);
    }

    /// The reception of a PPDU that ends now, at its receiver; of an A-MPDU, the reception of each MPDU.
    #[inline(always)]
    pub(crate) fn receive(&mut self, now: Time, ended: &Transmission) -> Option<Reception> {
        let part = &ended.ppdu.first;
        if ended.ppdu.of_several {
            return self.receive_parts(now, ended);
        }
        let to = part.to.one()?;
        if ended.ppdu.kind != PpduKind::Ampdu {
            return Some(self.air.reception(now, ended, part, to));
        }
        let (user, air): (_, &mut Air) = (&mut self.exchanges[ended.ppdu.exchange].user, &mut self.air);
        let User { psdu, received, lost_to, .. } = user;
        let reception = air.receive_mpdus(now, ended, part, to, &psdu.lengths, received);
        *lost_to = received.lost_to.map(Reception::outcome);
        Some(reception)
    }
}
