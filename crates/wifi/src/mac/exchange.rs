//! Frame exchanges [802.11-2020 §10.3.2]: (RTS, CTS,) data, ACK, each a SIFS after the last.
//!
//! ```text
//! sender    |RTS|          |  data  |
//! receiver        |CTS|                |ACK|
//!                SIFS     SIFS       SIFS    DIFS + backoff …
//! ```

use lasthop_link::Packet;
use lasthop_observe::{LinkId, NodeId, Record};
use lasthop_units::{Bytes, Time};

use super::node::State;
use super::ppdu::{ACK_BYTES, BEACON_BYTES, CTS_BYTES, DATA_OVERHEAD, Ppdu, PpduKind, RTS_BYTES, Transmission};
use super::reception::Reception;
use crate::medium::{Environment, Event, Medium, Protection};
use crate::phy::ModeId;
use crate::rate_control::FrameInfo;

impl<B: Send + 'static> Medium<B> {
    /// `node` has won the medium, or believes so.
    pub(crate) fn win(&mut self, now: Time, node: NodeId, env: &mut impl Environment<B>) {
        let ppdu = if std::mem::take(&mut self.nodes[node.index()].beacon_due) {
            self.beacon(now, node)
        } else if self.nodes[node.index()].frame.is_some() {
            self.choose_mode(now, node);
            self.first_ppdu(now, node)
        } else {
            // A post-backoff after a frame was given up.
            self.nodes[node.index()].state = State::Idle { ready_at: 0 };
            self.schedule_backoff(self.view_of(node), env);
            return;
        };
        self.nodes[node.index()].state = State::Exchanging;
        self.launch(now, ppdu, env);
    }

    /// The rate of the next attempt: the next of the chain, or the first of a new one.
    fn choose_mode(&mut self, now: Time, node: NodeId) {
        let frame = self.nodes[node.index()].frame.as_mut().expect("an attempt is about a frame");
        let info = FrameInfo {
            now,
            bytes: Bytes(u64::from(frame.meta.bytes + DATA_OVERHEAD)),
            aggregates: false,
            retry: frame.attempts,
        };
        let control = &mut self.rate_controls[frame.link.index()];
        frame.mode = frame.rates.next(|| control.rates_for(&info));
        frame.attempts += 1;
    }

    /// The first PPDU of an exchange: the data frame, or what announces it.
    fn first_ppdu(&self, now: Time, node: NodeId) -> Ppdu {
        let data = self.data(now, node);
        let protects = self.protection != Protection::None && self.phy.needs_protection(data.mode);
        let long = self.rts_threshold.is_some_and(|threshold| u64::from(data.bytes) > threshold.0);
        let rts = long || (protects && self.protection == Protection::RtsCts);
        if !rts && !protects {
            return data;
        }
        let mode = if protects { self.phy.protection_mode() } else { self.phy.control_response_mode(data.mode) };
        let (sifs, rest) = (self.phy.sifs(), data.reserves_until.since(now));
        if rts {
            let cts = self.airtime(self.phy.control_response_mode(mode), CTS_BYTES);
            let reserves_until = now + self.airtime(mode, RTS_BYTES) + sifs + cts + sifs + rest;
            Ppdu { kind: PpduKind::Rts, mode, bytes: RTS_BYTES, reserves_until, ..data }
        } else {
            let reserves_until = now + self.airtime(mode, CTS_BYTES) + sifs + rest;
            Ppdu { kind: PpduKind::CtsToSelf, to: None, mode, bytes: CTS_BYTES, reserves_until, ..data }
        }
    }

    /// The data frame of `node`, sent at `at`.
    fn data(&self, at: Time, node: NodeId) -> Ppdu {
        let frame = self.nodes[node.index()].frame.as_ref().expect("the exchange is about a frame");
        let (mode, bytes) = (frame.mode, frame.meta.bytes + DATA_OVERHEAD);
        let reserves_until = at + self.airtime(mode, bytes) + self.phy.sifs() + self.phy.ack_duration(mode);
        let (to, link) = (Some(frame.to), frame.link);
        Ppdu { kind: PpduKind::Data, from: node, to, link, mode, bytes, reserves_until }
    }

    /// The CTS or ACK that answers `ppdu`.
    fn response(&self, kind: PpduKind, ppdu: &Ppdu) -> Ppdu {
        let from = ppdu.to.expect("what is answered has a receiver");
        let mode = self.phy.control_response_mode(ppdu.mode);
        let bytes = if kind == PpduKind::Cts { CTS_BYTES } else { ACK_BYTES };
        // An ACK ends where the frame before it said, so it repeats what that reserved.
        Ppdu { kind, from, to: Some(ppdu.from), mode, bytes, ..*ppdu }
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
        let after_sifs = now + self.phy.sifs();
        match (ppdu.kind, reception) {
            (PpduKind::Rts, Some(Reception::Decoded)) if self.may_answer_rts(now, ppdu) => {
                return Some(self.response(PpduKind::Cts, ppdu));
            }
            (PpduKind::Cts, Some(Reception::Decoded)) => return Some(self.data(after_sifs, ppdu.initiator())),
            (PpduKind::CtsToSelf, _) => return Some(self.data(after_sifs, ppdu.from)),
            (PpduKind::Data, Some(Reception::Decoded)) => {
                self.receive_data(now, ppdu, env);
                return Some(self.response(PpduKind::Ack, ppdu));
            }
            (PpduKind::Ack, Some(Reception::Decoded)) => self.attempt_succeeded(now, ppdu.initiator(), env),
            (PpduKind::Beacon, _) => self.beacon_was_sent(now, ended, env),
            (PpduKind::Rts | PpduKind::Cts | PpduKind::Data | PpduKind::Ack, _) => {
                self.attempt_failed(now, ppdu, reception, env);
            }
        }
        None
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

    fn receive_data(&mut self, now: Time, ppdu: &Ppdu, env: &mut impl Environment<B>) {
        let frame = self.nodes[ppdu.from.index()].frame.as_mut().expect("data was sent from a frame");
        // A frame that arrives again, because its ACK was lost, is acknowledged and discarded.
        let Some(body) = frame.body.take() else { return };
        let (meta, to, delay) = (frame.meta, frame.to, now.since(frame.since));
        self.counts.delivered += 1;
        env.observe(now, Record::FrameDelivered { link: ppdu.link, delay });
        env.deliver(now, to, Packet { meta, body });
    }

    /// A beacon goes to everybody at the lowest basic rate, and is never repeated [802.11-2020 §11.1.3.2].
    fn beacon(&self, now: Time, node: NodeId) -> Ppdu {
        let mode: ModeId = self.phy.lowest_basic_mode();
        let (bytes, link) = (BEACON_BYTES, LinkId(0));
        Ppdu { kind: PpduKind::Beacon, from: node, to: None, link, mode, bytes, reserves_until: now }
    }

    fn beacon_was_sent(&mut self, now: Time, ended: &Transmission, env: &mut impl Environment<B>) {
        // Others may wait EIFS after it; its sender heard nothing.
        let apart = (self.after_loss.bystanders_wait_eifs() && !ended.overlaps.is_empty()).then_some(now);
        self.contend_again(now, ended.ppdu.from, apart, env);
    }

    pub(crate) fn beacon_is_due(&mut self, now: Time, env: &mut impl Environment<B>) {
        let ap = NodeId(0);
        self.nodes[ap.index()].beacon_due = true;
        if let Some(interval) = self.beacons {
            env.schedule(now + interval, Event::Beacon);
        }
        self.request_access(now, ap, env);
    }
}
