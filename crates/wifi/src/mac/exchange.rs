//! Frame exchanges [802.11-2020 §10.3.2]: (RTS, CTS,) data, ACK, each a SIFS after the last; and what
//! follows when one of them is lost.
//!
//! ```text
//! sender    |RTS|          |  data  |
//! receiver        |CTS|                |ACK|
//!                SIFS     SIFS       SIFS    DIFS + backoff …
//! ```
//!
//! Whether a response will come is known when the frame ends, so a sender learns of a loss at that
//! instant; what it does next still waits for its ACK timeout.

use lasthop_observe::{DropReason, LinkId, NodeId, Outcome, QueueLayer, Record};
use lasthop_units::{Bytes, Duration, Time};

use super::Reception;
use super::node::State;
use crate::channel::Channel;
use crate::medium::{Environment, Event, Medium, Overlap, Pending, Ppdu, PpduKind, Protection};
use crate::phy::{ModeId, frame_size};

const ACK_BYTES: u32 = frame_size::ACK.0 as u32;
const CTS_BYTES: u32 = frame_size::CTS.0 as u32;
const RTS_BYTES: u32 = frame_size::RTS.0 as u32;
/// What an MPDU has besides the IP packet.
const DATA_OVERHEAD: u32 = frame_size::data_mpdu(Bytes(0)).0 as u32;
/// A beacon with the elements that a plain BSS sends: an assumption, real ones have 100 to 300 bytes.
const BEACON_BYTES: u32 = 120;

use crate::rate_control::{FrameInfo, TxStatus};

/// A PPDU about to start.
struct Launch {
    kind: PpduKind,
    from: NodeId,
    to: Option<NodeId>,
    link: LinkId,
    mode: ModeId,
    bytes: u32,
    reserves_until: Time,
}

/// The link that leads the other way.
fn reverse(link: LinkId) -> LinkId {
    LinkId(link.0 ^ 1)
}

impl<B: Send + 'static> Medium<B> {
    fn airtime(&self, mode: ModeId, bytes: u32) -> Duration {
        self.phy.ppdu_duration(mode, Bytes(u64::from(bytes)))
    }

    /// `node` has won the medium, or believes so.
    pub(crate) fn win(&mut self, now: Time, node: NodeId, env: &mut impl Environment<B>) {
        self.nodes[node.index()].state = State::Exchanging;
        if std::mem::take(&mut self.nodes[node.index()].beacon_due) {
            let mode = self.phy.lowest_basic_mode();
            let bytes = BEACON_BYTES;
            let launch =
                Launch { kind: PpduKind::Beacon, from: node, to: None, link: LinkId(0), mode, bytes, reserves_until: now };
            self.launch(now, launch, env);
            return;
        }
        let frame = self.nodes[node.index()].frame.as_mut().expect("a contender has a frame to send");
        let (to, link) = (frame.to, frame.link);
        let bytes = frame.meta.bytes + DATA_OVERHEAD;
        let info = FrameInfo { now, bytes: Bytes(u64::from(bytes)), retry: frame.attempts };
        frame.attempts += 1;
        let mode = self.rate_controls[link.index()].rates_for(&info).first();
        frame.mode = mode;
        let protects = self.protection != Protection::None && self.phy.needs_protection(mode);
        let long = self.rts_threshold.is_some_and(|limit| u64::from(bytes) > limit.0);
        let response = self.phy.control_response_mode(mode);
        let data_and_ack = self.airtime(mode, bytes) + self.phy.sifs() + self.airtime(response, ACK_BYTES);
        if long || (protects && self.protection == Protection::RtsCts) {
            let mode = if protects { self.phy.protection_mode() } else { response };
            let cts = self.airtime(self.phy.control_response_mode(mode), CTS_BYTES);
            let end = now + self.airtime(mode, RTS_BYTES);
            let reserves_until = end + self.phy.sifs() + cts + self.phy.sifs() + data_and_ack;
            let bytes = RTS_BYTES;
            self.launch(now, Launch { kind: PpduKind::Rts, from: node, to: Some(to), link, mode, bytes, reserves_until }, env);
        } else if protects {
            let mode = self.phy.protection_mode();
            let end = now + self.airtime(mode, CTS_BYTES);
            let (bytes, reserves_until) = (CTS_BYTES, end + self.phy.sifs() + data_and_ack);
            self.launch(now, Launch { kind: PpduKind::CtsToSelf, from: node, to: None, link, mode, bytes, reserves_until }, env);
        } else {
            self.launch_data(now, node, env);
        }
    }

    fn launch_data(&mut self, now: Time, node: NodeId, env: &mut impl Environment<B>) {
        let frame = self.nodes[node.index()].frame.as_ref().expect("the exchange is about a frame");
        let (to, link, mode) = (frame.to, frame.link, frame.mode);
        let bytes = frame.meta.bytes + DATA_OVERHEAD;
        let ack = self.airtime(self.phy.control_response_mode(mode), ACK_BYTES);
        let reserves_until = now + self.airtime(mode, bytes) + self.phy.sifs() + ack;
        self.launch(now, Launch { kind: PpduKind::Data, from: node, to: Some(to), link, mode, bytes, reserves_until }, env);
    }

    /// Puts a PPDU on the air at `at`, which is now, or a SIFS later where nobody can come between.
    fn launch(&mut self, at: Time, launch: Launch, env: &mut impl Environment<B>) {
        let Launch { kind, from, to, link, mode, bytes, reserves_until } = launch;
        let node = &mut self.nodes[from.index()];
        assert!(!node.transmitting, "node {} began to send while it was sending", from.0);
        node.transmitting = true;
        let id = self.next_id;
        self.next_id = self.next_id.wrapping_add(1);
        let end = at + self.airtime(mode, bytes);
        let mut overlaps = Vec::new();
        for other in &mut self.on_air {
            if other.end > at {
                overlaps.push(Overlap { node: other.from, start: other.start, end: other.end });
                other.overlaps.push(Overlap { node: from, start: at, end });
            }
        }
        self.on_air.push(Ppdu { id, kind, from, to, link, mode, bytes, start: at, end, reserves_until, overlaps });
        for view in 0..self.views.len() {
            if !self.senses(view, from) {
                continue;
            }
            if self.views[view].on_air() == 0 && !self.is_own(view, from) {
                self.locked[view] = Some(id);
            }
            if self.is_own(view, from) {
                self.views[view].reception_succeeded(None);
            }
            let (nodes, spaces) = (&mut self.nodes, &self.spaces);
            self.views[view].ppdu_starts(at, spaces, |node, boundary| {
                nodes[node.index()].state = State::Committed;
                env.schedule(boundary, Event::Start(node));
            });
        }
        env.schedule(end, Event::PpduEnds(id));
        env.observe(at, Record::OnAir { count: self.on_air.len() as u32 });
    }

    /// Whether the view belongs to this node alone.
    fn is_own(&self, view: usize, node: NodeId) -> bool {
        self.views.len() > 1 && view == node.index()
    }

    /// Whether nodes of `view` notice that `from` sends.
    fn senses(&self, view: usize, from: NodeId) -> bool {
        match &self.channel {
            Channel::Uniform => true,
            Channel::Matrix(matrix) => matrix.hears(NodeId(view as u32), from),
        }
    }

    pub(crate) fn ppdu_ends(&mut self, now: Time, id: u32, env: &mut impl Environment<B>) {
        let index = self.on_air.iter().position(|p| p.id == id).expect("a PPDU that ends is on the air");
        let ppdu = self.on_air.swap_remove(index);
        self.nodes[ppdu.from.index()].transmitting = false;
        let link = match ppdu.kind {
            PpduKind::Beacon => None,
            PpduKind::Cts | PpduKind::Ack => Some(reverse(ppdu.link)),
            _ => Some(ppdu.link),
        };
        let duration = ppdu.end.since(ppdu.start);
        env.observe(now, Record::Airtime { node: ppdu.from, link, duration });
        env.observe(now, Record::OnAir { count: self.on_air.len() as u32 });
        let reception = ppdu.to.map(|to| self.reception(now, &ppdu, to));
        let follows = self.step(now, &ppdu, reception, env);
        if self.views.len() == 1 {
            self.end_for_all(now, &ppdu, follows, env);
        } else {
            if let Some(pending) = follows {
                env.schedule(now + self.phy.sifs(), Event::Respond(pending.id));
                self.pending.push(pending);
            }
            self.end_for_each(now, &ppdu, reception, env);
        }
    }

    /// One view for all: either everybody decoded the PPDU or nobody did. What follows after a SIFS
    /// starts at once, as nobody can come between.
    fn end_for_all(&mut self, now: Time, ppdu: &Ppdu, follows: Option<Pending>, env: &mut impl Environment<B>) {
        if ppdu.overlaps.is_empty() {
            self.views[0].reception_succeeded(None);
        } else if self.eifs && self.locked[0] == Some(ppdu.id) {
            self.views[0].reception_failed(self.phy.eifs(ppdu.mode));
        }
        if let Some(pending) = follows {
            self.begin(now + self.phy.sifs(), pending, env);
        }
        if self.views[0].ppdu_ends() {
            self.views[0].turns_idle(now, &self.spaces);
            self.schedule_backoff(0, env);
        }
    }

    /// A view for each node: each decodes for itself, and sets its NAV or waits EIFS.
    fn end_for_each(&mut self, now: Time, ppdu: &Ppdu, reception: Option<Reception>, env: &mut impl Environment<B>) {
        for view in 0..self.views.len() {
            if !self.senses(view, ppdu.from) {
                continue;
            }
            let node = NodeId(view as u32);
            if node != ppdu.from {
                let addressed = ppdu.to == Some(node);
                let decoded = match reception {
                    Some(reception) if addressed => reception,
                    _ => self.reception(now, ppdu, node),
                };
                if decoded == Reception::Decoded {
                    let reserved = (!addressed && ppdu.reserves_until > now).then_some(ppdu.reserves_until);
                    self.views[view].reception_succeeded(reserved);
                    if ppdu.kind == PpduKind::Rts && reserved.is_some() {
                        self.expect_data_after_rts(now, view, ppdu, env);
                    }
                } else if self.eifs && self.locked[view] == Some(ppdu.id) && decoded != Reception::Deaf {
                    self.views[view].reception_failed(self.phy.eifs(ppdu.mode));
                }
            }
            if self.locked[view] == Some(ppdu.id) {
                self.locked[view] = None;
            }
            if self.views[view].ppdu_ends() {
                self.views[view].turns_idle(now, &self.spaces);
            }
            self.schedule_backoff(view, env);
        }
    }

    /// A NAV set by an RTS may be taken back if nothing is heard for
    /// 2 SIFS + CTS + aRxPHYStartDelay + 2 slots [802.11-2020 §10.3.2.4].
    fn expect_data_after_rts(&mut self, now: Time, view: usize, rts: &Ppdu, env: &mut impl Environment<B>) {
        let cts = self.phy.control_response_mode(rts.mode);
        let wait = self.phy.sifs() * 2
            + self.airtime(cts, CTS_BYTES)
            + self.phy.rx_start_delay(cts)
            + self.phy.slot() * 2;
        env.schedule(now + wait, Event::NavTimeout { view: view as u32, since: now });
    }

    /// The step of the exchange after `ppdu`; what follows a SIFS later, if anything does.
    fn step(
        &mut self,
        now: Time,
        ppdu: &Ppdu,
        reception: Option<Reception>,
        env: &mut impl Environment<B>,
    ) -> Option<Pending> {
        let decoded = reception == Some(Reception::Decoded);
        match ppdu.kind {
            PpduKind::Rts => {
                let to = ppdu.to.expect("an RTS has a receiver");
                let nav = self.views.len() > 1 && self.views[self.view_of(to)].nav_is_set(now);
                if decoded && !nav {
                    return Some(self.response(PpduKind::Cts, ppdu, to));
                }
                self.attempt_failed(now, ppdu, reception, env);
                None
            }
            PpduKind::Cts if decoded => {
                let to = ppdu.from;
                let sender = ppdu.to.expect("a CTS has a receiver");
                Some(self.data_after(ppdu, sender, to))
            }
            PpduKind::CtsToSelf => {
                let frame = self.nodes[ppdu.from.index()].frame.as_ref().expect("the exchange is about a frame");
                let to = frame.to;
                Some(self.data_after(ppdu, ppdu.from, to))
            }
            PpduKind::Data if decoded => {
                let to = ppdu.to.expect("a data frame has a receiver");
                self.receive_data(now, ppdu, to, env);
                Some(self.response(PpduKind::Ack, ppdu, to))
            }
            PpduKind::Ack if decoded => {
                self.attempt_succeeded(now, ppdu.to.expect("an ACK has a receiver"), env);
                None
            }
            PpduKind::Cts | PpduKind::Data | PpduKind::Ack => {
                self.attempt_failed(now, ppdu, reception, env);
                None
            }
            PpduKind::Beacon => {
                self.contend_again(now, ppdu.from, None, env);
                None
            }
        }
    }

    fn pending_id(&mut self) -> u32 {
        self.next_id = self.next_id.wrapping_add(1);
        self.next_id
    }

    fn response(&mut self, kind: PpduKind, to_what: &Ppdu, from: NodeId) -> Pending {
        let mode = self.phy.control_response_mode(to_what.mode);
        let reserves_until = if kind == PpduKind::Cts { to_what.reserves_until } else { Time::ZERO };
        Pending { id: self.pending_id(), kind, from, to: to_what.from, link: to_what.link, mode, reserves_until }
    }

    fn data_after(&mut self, cts: &Ppdu, from: NodeId, to: NodeId) -> Pending {
        let (link, mode) = (cts.link, cts.mode);
        Pending { id: self.pending_id(), kind: PpduKind::Data, from, to, link, mode, reserves_until: Time::ZERO }
    }

    /// A SIFS after the frame before it.
    pub(crate) fn respond(&mut self, now: Time, id: u32, env: &mut impl Environment<B>) {
        let index = self.pending.iter().position(|p| p.id == id).expect("a response is pending");
        let pending = self.pending.swap_remove(index);
        self.begin(now, pending, env);
    }

    fn begin(&mut self, at: Time, pending: Pending, env: &mut impl Environment<B>) {
        let Pending { kind, from, to, link, mode, reserves_until, .. } = pending;
        let bytes = match kind {
            PpduKind::Data => return self.launch_data(at, from, env),
            PpduKind::Cts => CTS_BYTES,
            _ => ACK_BYTES,
        };
        self.launch(at, Launch { kind, from, to: Some(to), link, mode, bytes, reserves_until }, env);
    }

    fn receive_data(&mut self, now: Time, ppdu: &Ppdu, to: NodeId, env: &mut impl Environment<B>) {
        let frame = self.nodes[ppdu.from.index()].frame.as_mut().expect("data was sent from a frame");
        let (meta, since) = (frame.meta, frame.since);
        // A frame that arrives again, because its ACK was lost, is acknowledged and discarded.
        if let Some(body) = frame.body.take() {
            self.counts.delivered += 1;
            env.observe(now, Record::FrameDelivered { link: ppdu.link, delay: now.since(since) });
            env.deliver(now, to, lasthop_link::Packet { meta, body });
        }
    }

    /// The node that waits for what `ppdu` was to bring: its sender, or the receiver of a response.
    fn initiator(ppdu: &Ppdu) -> NodeId {
        match ppdu.kind {
            PpduKind::Cts | PpduKind::Ack => ppdu.to.expect("a response has a receiver"),
            _ => ppdu.from,
        }
    }

    fn report_attempt(&mut self, now: Time, node: NodeId, outcome: Outcome, env: &mut impl Environment<B>) {
        let frame = self.nodes[node.index()].frame.as_ref().expect("an attempt is about a frame");
        let (link, rate, retry) = (frame.link, self.rate(frame.mode), frame.attempts > 1);
        env.observe(now, Record::Attempt { link, node, rate, mpdus: 1, retry, outcome });
    }

    fn attempt_succeeded(&mut self, now: Time, node: NodeId, env: &mut impl Environment<B>) {
        self.report_attempt(now, node, Outcome::Success, env);
        let frame = self.nodes[node.index()].frame.as_ref().expect("an attempt is about a frame");
        let status = TxStatus { now, mode: frame.mode, success: true, snr: None };
        self.rate_controls[frame.link.index()].on_tx_status(&status);
        self.nodes[node.index()].cw = self.phy.cw_min();
        self.unload(now, node, env);
        self.next_frame(now, node, env);
        self.contend_again(now, node, None, env);
    }

    fn attempt_failed(
        &mut self,
        now: Time,
        ppdu: &Ppdu,
        reception: Option<Reception>,
        env: &mut impl Environment<B>,
    ) {
        let node = Self::initiator(ppdu);
        let outcome = match reception {
            Some(Reception::Collided | Reception::Deaf) => Outcome::Collision,
            // An RTS that was decoded but not answered met a NAV.
            Some(Reception::Decoded) => Outcome::Collision,
            _ => Outcome::Noise,
        };
        self.report_attempt(now, node, outcome, env);
        let limit = self.nodes[node.index()].retry_limit;
        let (cw_min, cw_max) = (self.phy.cw_min(), self.phy.cw_max());
        let frame = self.nodes[node.index()].frame.as_ref().expect("an attempt is about a frame");
        if matches!(ppdu.kind, PpduKind::Data | PpduKind::Ack) {
            let status = TxStatus { now, mode: frame.mode, success: false, snr: None };
            self.rate_controls[frame.link.index()].on_tx_status(&status);
        }
        if limit.is_some_and(|limit| frame.attempts > limit) {
            let (flow, tcp_ack) = (frame.meta.flow, frame.meta.pure_ack);
            *if frame.body.is_some() { &mut self.counts.dropped_by_mac } else { &mut self.counts.unacknowledged } += 1;
            let (layer, reason) = (QueueLayer::Mac, DropReason::RetryLimit);
            env.observe(now, Record::Dropped { node, flow, layer, reason, tcp_ack });
            self.nodes[node.index()].cw = cw_min;
            self.unload(now, node, env);
            self.next_frame(now, node, env);
        } else {
            let node = &mut self.nodes[node.index()];
            node.cw = (2 * node.cw + 1).min(cw_max);
        }
        // After its own frame the sender waits for the response that does not come.
        let waits = ppdu.from == node && self.eifs;
        let response = self.phy.control_response_mode(ppdu.mode);
        let not_before = waits.then(|| now + self.phy.ack_timeout(response));
        self.contend_again(now, node, not_before, env);
    }

    /// After an exchange, whatever came of it, a backoff is drawn; without a frame it is a post-backoff.
    fn contend_again(&mut self, now: Time, node: NodeId, not_before: Option<Time>, env: &mut impl Environment<B>) {
        let (view, lane) = (self.view_of(node), self.nodes[node.index()].lane);
        let backoff = self.nodes[node.index()].draw_backoff();
        if self.nodes[node.index()].frame.is_none() && !self.nodes[node.index()].beacon_due {
            let ready_at = self.views[view].post_backoff(now, &self.spaces, lane, backoff);
            self.nodes[node.index()].state = State::Idle { ready_at };
            return;
        }
        self.nodes[node.index()].state = State::Contending;
        match not_before {
            Some(at) => self.views[view].contend_after(&self.spaces, node, lane, backoff, at),
            None => self.views[view].contend(now, &self.spaces, node, lane, backoff),
        }
        self.schedule_backoff(view, env);
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
