//! How attempts end, and what the sender does next: retransmit, give up, contend again.
//!
//! Whether a response will come is known when a frame ends, so a sender learns of a loss at that
//! instant; what it does next still waits for its ACK timeout [802.11-2020 §10.3.2.11].

use lasthop_observe::{DropReason, NodeId, Outcome, QueueLayer, Record};
use lasthop_units::Time;

use super::node::State;
use super::ppdu::{Ppdu, PpduKind};
use super::reception::Reception;
use crate::medium::{Environment, Medium};
use crate::rate_control::TxStatus;

impl<B: Send + 'static> Medium<B> {
    pub(crate) fn attempt_succeeded(&mut self, now: Time, node: NodeId, env: &mut impl Environment<B>) {
        self.report_attempt(now, node, Outcome::Success, env);
        self.tell_rate_control(now, node, true);
        self.finish_frame(now, node, env);
        self.contend_again(now, node, None, env);
    }

    /// `ppdu` did not get through, or was not answered.
    pub(crate) fn attempt_failed(
        &mut self,
        now: Time,
        ppdu: &Ppdu,
        reception: Option<Reception>,
        env: &mut impl Environment<B>,
    ) {
        let node = ppdu.initiator();
        let outcome = match reception {
            Some(Reception::Noisy) => Outcome::Noise,
            Some(Reception::Interfered) => Outcome::Interference,
            // An RTS that was decoded but not answered met the NAV of an exchange that its sender cannot hear.
            _ => Outcome::Collision,
        };
        self.report_attempt(now, node, outcome, env);
        if matches!(ppdu.kind, PpduKind::Data | PpduKind::Ack) {
            self.tell_rate_control(now, node, false);
        }
        let frame = self.nodes[node.index()].frame.as_ref().expect("an attempt is about a frame");
        if self.nodes[node.index()].retry_limit.is_some_and(|limit| frame.attempts > limit) {
            self.give_up(now, node, env);
        } else {
            let cw_max = self.phy.cw_max();
            let node = &mut self.nodes[node.index()];
            node.cw = (2 * node.cw + 1).min(cw_max);
        }
        // After its own frame the sender waits for the response that does not come.
        let waits = self.after_loss.sender_waits_ack_timeout() && ppdu.from == node;
        let timeout = self.phy.ack_timeout(self.phy.control_response_mode(ppdu.mode));
        self.contend_again(now, node, waits.then(|| now + timeout), env);
    }

    fn report_attempt(&self, now: Time, node: NodeId, outcome: Outcome, env: &mut impl Environment<B>) {
        let frame = self.nodes[node.index()].frame.as_ref().expect("an attempt is about a frame");
        let (link, rate, retry) = (frame.link, self.phy.mode(frame.mode).rate, frame.attempts > 1);
        env.observe(now, Record::Attempt { link, node, rate, mpdus: 1, retry, outcome });
    }

    fn tell_rate_control(&mut self, now: Time, node: NodeId, success: bool) {
        let frame = self.nodes[node.index()].frame.as_ref().expect("an attempt is about a frame");
        let status = TxStatus {
            now,
            mode: frame.mode,
            success,
            mpdus: 1,
            acknowledged: u32::from(success),
            rts: false,
            snr: None,
        };
        self.rate_controls[frame.link.index()].on_tx_status(&status);
    }

    /// The last attempt at a frame has failed.
    fn give_up(&mut self, now: Time, node: NodeId, env: &mut impl Environment<B>) {
        let frame = self.nodes[node.index()].frame.as_ref().expect("an attempt is about a frame");
        let (flow, tcp_ack) = (frame.meta.flow, frame.meta.pure_ack);
        let arrived = frame.body.is_none();
        *if arrived { &mut self.counts.unacknowledged } else { &mut self.counts.dropped_by_mac } += 1;
        let (layer, reason) = (QueueLayer::Mac, DropReason::RetryLimit);
        env.observe(now, Record::Dropped { node, flow, layer, reason, tcp_ack });
        self.finish_frame(now, node, env);
    }

    /// The frame is done with, one way or the other: the window is reset, the next frame comes up.
    fn finish_frame(&mut self, now: Time, node: NodeId, env: &mut impl Environment<B>) {
        self.nodes[node.index()].cw = self.phy.cw_min();
        if let Some(frame) = &self.nodes[node.index()].frame {
            env.released(now, node, &frame.meta, false);
        }
        self.unload(now, node, env);
        self.next_frame(now, node, env);
    }

    /// After an exchange, whatever came of it, a backoff is drawn; without a frame it is a post-backoff.
    /// `apart`: it is not counted before then, nor only after the EIFS of others.
    pub(crate) fn contend_again(&mut self, now: Time, id: NodeId, apart: Option<Time>, env: &mut impl Environment<B>) {
        let node = &mut self.nodes[id.index()];
        let backoff = node.draw_backoff();
        let (lane, view) = (node.lane, &mut self.views[node.view]);
        let has_frame = node.frame.is_some() || node.beacon_due;
        match apart {
            Some(not_before) => view.contend_apart(id, lane, backoff, not_before),
            None if has_frame => view.start_backoff(now, &self.spaces, id, lane, backoff),
            None => {
                let ready_at = view.post_backoff(now, &self.spaces, lane, backoff);
                node.state = State::Idle { ready_at };
                return;
            }
        }
        node.state = State::Contending;
        self.schedule_backoff(self.view_of(id), env);
    }
}
