//! How attempts end, and what the sender does next: retransmit, give up, contend again.
//!
//! Whether a response will come is known when a frame ends, so a sender learns of a loss at that
//! instant; what it does next still waits for its ACK timeout [802.11-2020 §10.3.2.11].

use lasthop_link::AirtimeUse;
use lasthop_observe::{LinkId, NodeId, Outcome, Record, Step};
use lasthop_units::{DataRate, Db, Duration, Time};

use super::contention::{FunctionId, Unanswered};
use super::node::State;
use super::ppdu::{Ppdu, PpduKind};
use super::received::Reception;
use crate::channel::Channel;
use crate::medium::{Environment, Medium};
use crate::rate_control::{RateChain, TxStatus};

/// What an attempt came to whose frame its receiver did not decode.
pub(crate) fn outcome_of(reception: Reception) -> Outcome {
    match reception {
        Reception::Noisy => Outcome::Noise,
        Reception::Interfered => Outcome::Interference,
        Reception::Decoded | Reception::Collided | Reception::Deaf => Outcome::Collision,
    }
}

impl<B: Send + 'static> Medium<B> {
    pub(crate) fn attempt_succeeded(&mut self, now: Time, id: FunctionId, env: &mut impl Environment<B>) {
        self.report_attempt(now, id, Outcome::Success, env);
        self.tell_rate_control(now, id, true);
        self.charge_frame(now, id);
        self.finish_frame(now, id, env);
    }

    /// `ppdu` did not get through, or was not answered.
    pub(crate) fn exchange_failed(
        &mut self,
        now: Time,
        ppdu: &Ppdu,
        reception: Option<Reception>,
        env: &mut impl Environment<B>,
    ) {
        let id = ppdu.function;
        // An RTS that was decoded but not answered met the NAV of an exchange that its sender cannot hear.
        let outcome = reception.map_or(Outcome::Collision, outcome_of);
        if self.functions[id.index()].aggregates {
            self.ampdu_failed(now, id, ppdu.session as usize, outcome, env);
        } else {
            self.attempt_failed(now, id, ppdu, outcome, env);
        }
        // After its own frame the sender waits for the response that does not come.
        let waits = self.after_loss.sender_waits_ack_timeout() && ppdu.from == self.functions[id.index()].node;
        let apart = waits.then(|| self.counts_after_timeout(now, id, ppdu));
        self.contend_again(now, id, apart, env);
    }

    /// When the sender of a frame that was not answered may count again, the grid apart.
    fn counts_after_timeout(&self, now: Time, id: FunctionId, ppdu: &Ppdu) -> Time {
        let phy = self.phy_of(ppdu.from);
        let timeout = now + phy.ack_timeout(phy.control_response_mode(ppdu.mode));
        if !self.after_loss.sender_waits_inter_frame_space_too() {
            return timeout;
        }
        let function = &self.functions[id.index()];
        let view = self.nodes[function.node.index()].view;
        self.views[view].after_inter_frame_space(timeout, &self.spaces[view], function.lane)
    }

    fn attempt_failed(
        &mut self,
        now: Time,
        id: FunctionId,
        ppdu: &Ppdu,
        outcome: Outcome,
        env: &mut impl Environment<B>,
    ) {
        self.report_attempt(now, id, outcome, env);
        if matches!(ppdu.kind, PpduKind::Data | PpduKind::Ack) {
            self.tell_rate_control(now, id, false);
        }
        self.charge_frame(now, id);
        let function = &mut self.functions[id.index()];
        let attempts = function.frame.as_ref().expect("an attempt is about a frame").attempts;
        if self.nodes[function.node.index()].retry_limit.is_some_and(|limit| attempts > limit) {
            self.give_up(now, id, env);
        } else {
            function.widen();
        }
    }

    #[inline(always)]
    fn report_attempt(&mut self, now: Time, id: FunctionId, outcome: Outcome, env: &mut impl Environment<B>) {
        let function = &self.functions[id.index()];
        let (node, frame) = (function.node, function.frame.as_ref().expect("an attempt is about a frame"));
        let (link, rate, retry) = (frame.link, self.phy_of(node).mode(frame.mode).rate, frame.attempts > 1);
        let acknowledged = u32::from(outcome == Outcome::Success);
        env.observe(now, Record::Attempt { link, node, rate, mpdus: 1, acknowledged, retry, outcome });
        self.last_outcome(link, outcome);
    }

    #[inline(always)]
    fn tell_rate_control(&mut self, now: Time, id: FunctionId, success: bool) {
        let frame = self.functions[id.index()].frame.as_ref().expect("an attempt is about a frame");
        let (mode, rts, acknowledged) = (frame.mode, frame.rts, u32::from(success));
        let snr = self.snr_of(now, frame.to, self.functions[id.index()].node);
        let status = TxStatus { now, mode, success, mpdus: 1, acknowledged, rts, snr };
        self.rate_controls[frame.link.index()].on_tx_status(&status);
    }

    /// Signal over noise at which a node hears its peer, or would, where that changes with time.
    pub(crate) fn snr_of(&self, now: Time, from: NodeId, at: NodeId) -> Option<Db> {
        let Channel::Matrix(matrix) = &self.channel else { return None };
        let noise_mw = self.noise_mw_per_hz * self.phy_of(at).bandwidth_hz();
        let ratio = || matrix.power_mw(now, from, at) / noise_mw;
        matrix.is_varying().then(|| Db(10.0 * libm::log10(ratio())))
    }

    /// Remembers what became of the latest attempt on a link.
    pub(crate) fn last_outcome(&mut self, link: LinkId, outcome: Outcome) {
        self.link_memory[link.index()].outcome = outcome;
    }

    /// The rate control of a link has chosen `chain`; tells of a change of its first rate, but for probes, and of what
    /// preceded it.
    pub(crate) fn note_rate(&mut self, now: Time, link: LinkId, chain: &RateChain, env: &mut impl Environment<B>) {
        if chain.is_probe() {
            return;
        }
        let (memory, first) = (&mut self.link_memory[link.index()], chain.first());
        if let Some(before) = memory.first.replace(first)
            && before != first
        {
            let phy = &self.bss[self.bss_of_link[link.index()]].phy;
            let down = phy.mode(first).rate < phy.mode(before).rate;
            env.observe(now, Record::RateChange { link, down, after: self.link_memory[link.index()].outcome });
        }
    }

    /// An attempt at the frame of a function, as its queue counts airtime.
    #[inline(always)]
    fn charge_frame(&mut self, now: Time, id: FunctionId) {
        let function = &self.functions[id.index()];
        if !function.counts_airtime {
            return;
        }
        let frame = function.frame.as_ref().expect("an attempt is about a frame");
        let rate = self.phy_of(function.node).mode(frame.mode).rate;
        let (station, began) = (frame.meta.station, function.began);
        self.charge_downlink(now, id, station, now.since(began), rate);
    }

    /// An AP's attempt at reaching a station counts against the station's share.
    pub(crate) fn charge_downlink(
        &mut self,
        now: Time,
        id: FunctionId,
        station: NodeId,
        airtime: Duration,
        rate: DataRate,
    ) {
        let function = &mut self.functions[id.index()];
        if function.counts_airtime && self.nodes[function.node.index()].ap == function.node {
            function.queue.on_airtime(now, &AirtimeUse { station, up: false, airtime, rate });
        }
    }

    /// The last attempt at a frame has failed.
    pub(crate) fn give_up(&mut self, now: Time, id: FunctionId, env: &mut impl Environment<B>) {
        let function = &self.functions[id.index()];
        let (node, frame) = (function.node, function.frame.as_ref().expect("an attempt is about a frame"));
        let arrived = frame.body.is_none();
        *if arrived { &mut self.counts.unacknowledged } else { &mut self.counts.dropped_by_mac } += 1;
        env.observe(now, frame.meta.given_up(node, arrived));
        self.finish_frame(now, id, env);
    }

    /// The frame is done with, one way or the other: the window is reset, the next frame comes up.
    #[inline(always)]
    fn finish_frame(&mut self, now: Time, id: FunctionId, env: &mut impl Environment<B>) {
        let function = &mut self.functions[id.index()];
        function.cw = function.cw_min;
        if let Some(frame) = function.frame.take() {
            function.queue.on_done(now, &frame.meta);
            env.released(now, function.node, &frame.meta, false);
            env.observe(now, Record::Step(Step::Leaves { node: function.node, flow: frame.meta.flow }));
        }
        self.refill(now, id, env);
    }

    /// After an exchange, whatever came of it, a backoff is drawn; without a frame it is a post-backoff.
    /// `apart`: it is not counted before then, nor only after the EIFS of others.
    #[inline(always)]
    pub(crate) fn contend_again(
        &mut self,
        now: Time,
        id: FunctionId,
        apart: Option<Time>,
        env: &mut impl Environment<B>,
    ) {
        let has_work = self.refill(now, id, env);
        let function = &mut self.functions[id.index()];
        let node = &self.nodes[function.node.index()];
        let has_work = has_work || (node.beacon_due && node.first_function() == id);
        let (backoff, lane, view) = (function.draw_backoff(), function.lane, node.view);
        let (spaces, view) = (&self.spaces[view], &mut self.views[view]);
        match apart {
            Some(not_before) => view.contend_apart(id, lane, backoff, not_before),
            None if has_work => view.start_backoff(now, spaces, id, lane, backoff),
            None => {
                function.state = State::Idle { ready_at: view.post_backoff(now, spaces, lane, backoff) };
                return;
            }
        }
        function.state = State::Contending;
        let view = node.view;
        if let Some(timeout) = apart.filter(|_| node.has_edca()) {
            self.hold_back_others(now, id, timeout);
        }
        self.schedule_backoff(view, env);
    }

    /// After a frame without response the other functions of its node wait for an AIFS after the timeout, too.
    /// [802.11-2020 §10.23.2.4 c]
    fn hold_back_others(&mut self, now: Time, id: FunctionId, timeout: Time) {
        let node = &mut self.nodes[self.functions[id.index()].node.index()];
        node.unanswered = Some(Unanswered { by: id, ended: now, timeout });
        let (own, view) = (node.functions.clone(), node.view);
        for other in own.clone().filter(|f| *f != id.0) {
            let function = &mut self.functions[other as usize];
            let State::Idle { ready_at } = function.state else { continue };
            // What is left of a post-backoff is counted like a backoff.
            if self.views[view].left_of(now, &self.spaces[view], function.lane, ready_at) > 0 {
                function.state = State::Contending;
                self.views[view].contend_until(FunctionId(other), function.lane, ready_at);
            }
        }
        self.views[view].hold_back(&self.spaces[view], own, timeout);
    }
}
