//! A-MPDUs: what goes into one, who gets it, what the BlockAck says of it. [802.11-2020 §10.12, §10.25]
//!
//! Those of one PPDU have one receiver and one TID. MPDUs to be sent again come first, in the order of their sequence
//! numbers, as far as the limits let them; new ones follow while the queue has packets of the kind and the window
//! room.

use lasthop_link::{Packet, Wanted};
use lasthop_observe::{DropReason, NodeId, Outcome, QueueLayer, Record, Step};
use lasthop_units::{Bytes, Duration, Time};

use super::aggregation::{Aggregation, Psdu, left_of_txop};
use super::block_ack::{Mpdu, Msdus, Session};
use super::contention::FunctionId;
use super::outcome::outcome_of;
use super::ppdu::{Ppdu, PpduKind, QOS_DATA_OVERHEAD, Transmission};
use super::received::Reception;
use crate::config::Protection;
use crate::medium::{Environment, Medium, MediumEvent};
use crate::phy::frame_size;
use crate::rate_control::{FrameInfo, TxStatus};

/// What a subframe of an A-MSDU has besides the IP packet.
const AMSDU_SUBFRAME_OVERHEAD: u32 = frame_size::amsdu_subframe(Bytes(0)).0 as u32;

/// Bytes of a subframe of an A-MSDU, without padding.
fn amsdu_subframe<B>(packet: &Packet<B>) -> u32 {
    frame_size::amsdu_subframe(Bytes(u64::from(packet.meta.bytes))).0 as u32
}

impl<B: Send + 'static> Medium<B> {
    /// The limits of A-MPDUs that this function makes; `None`: it makes none.
    pub(crate) fn aggregation_of(&self, id: FunctionId) -> Option<Aggregation> {
        self.bss[self.nodes[self.functions[id.index()].node.index()].bss].aggregation
    }

    /// The next A-MPDU of a function, or a BlockAckReq, to be sent at `at`; `None` if there is nothing to send, or
    /// nothing that could end `by` then.
    pub(crate) fn next_ampdu(
        &mut self,
        now: Time,
        at: Time,
        id: FunctionId,
        by: Option<Time>,
        env: &mut impl Environment<B>,
    ) -> Option<Ppdu> {
        let session = match by {
            None => self.choose_session(now, id, env)?,
            Some(by) => self.same_session(now, at, id, by, env)?,
        };
        self.functions[id.index()].lengths.clear();
        self.functions[id.index()].latest = session;
        if self.functions[id.index()].sessions[session].originator.request_due {
            return Some(self.block_ack_req(at, id, session))
                .filter(|req| by.is_none_or(|by| req.reserves_until <= by));
        }
        self.choose_ampdu_mode(now, id, session, env);
        self.fill((now, at), id, session, by.is_none(), env);
        if self.functions[id.index()].lengths.is_empty() {
            self.functions[id.index()].sessions[session].rates.put_back();
            return None;
        }
        Some(self.ampdu(at, id, session))
    }

    /// Whose turn it is: a session that has something to send again, or that of the next packet of the queue.
    fn choose_session(&mut self, now: Time, id: FunctionId, env: &mut impl Environment<B>) -> Option<usize> {
        self.bring_next_into_line(now, id, env);
        let function = &mut self.functions[id.index()];
        self.retrying.clear();
        self.retrying.extend(function.line.iter().map(|&s| function.sessions[s].station));
        self.retrying.extend(function.staged.iter().map(|packet| packet.meta.station));
        let turn = function.queue.next_station(now, &self.retrying);
        let of = |station| function.line.iter().copied().find(|&s| function.sessions[s].station == station);
        if let Some(session) = turn.and_then(of) {
            return Some(session);
        }
        match self.take_packet(now, id, Wanted { station: turn, tid: None }, env) {
            Some(packet) => {
                let session = self.session_for(id, &packet);
                self.take_in(now, id, session, packet, env);
                Some(session)
            }
            // An active queue management may have dropped all that it had.
            None => self.functions[id.index()].line.front().copied(),
        }
    }

    /// The session of the exchange before, if it has more and that could end `by` then: a TXOP is spent on one receiver.
    fn same_session(
        &mut self,
        now: Time,
        at: Time,
        id: FunctionId,
        by: Time,
        env: &mut impl Environment<B>,
    ) -> Option<usize> {
        let function = &self.functions[id.index()];
        let session = function.latest;
        let (of, phy) = (&function.sessions[session], self.phy_of(function.node));
        let psdu = frame_size::ampdu_subframe(Bytes(u64::from(of.largest_mpdu)));
        let shortest = phy.ppdu_duration(of.mode, psdu) + phy.sifs() + phy.block_ack_duration(of.mode);
        if at + shortest > by {
            return None;
        }
        if !of.in_line {
            let packet = self.take_packet(now, id, self.wanted_by(id, session), env)?;
            self.take_in(now, id, session, packet, env);
        }
        Some(session)
    }

    /// Where the queue discipline leaves the turns of stations to the MAC, they come in the order of the line, and the
    /// session of the next packet of the queue joins it.
    fn bring_next_into_line(&mut self, now: Time, id: FunctionId, env: &mut impl Environment<B>) {
        let function = &self.functions[id.index()];
        let has_order = function.queue.schedules_stations() || function.line.is_empty();
        if has_order || !function.staged.is_empty() || function.queue.packets() == 0 {
            return;
        }
        let Some(packet) = self.take_packet(now, id, Wanted::ANY, env) else { return };
        let session = self.session_for(id, &packet);
        let window = u32::from(self.phy_of(self.functions[id.index()].node).block_ack_window());
        if self.functions[id.index()].sessions[session].originator.has_room(window) {
            self.take_in(now, id, session, packet, env);
        } else {
            self.functions[id.index()].staged.push_back(packet);
        }
    }

    /// A packet that is `wanted`: one that was looked at already, of the queue, or of a socket that waits to be asked.
    fn take_packet(
        &mut self,
        now: Time,
        id: FunctionId,
        wanted: Wanted,
        env: &mut impl Environment<B>,
    ) -> Option<Packet<B>> {
        let function = &mut self.functions[id.index()];
        if let Some(place) = function.staged.iter().position(|p| wanted.includes(&p.meta)) {
            return function.staged.remove(place);
        }
        if function.queue.packets() > 0 {
            let packet = function.queue.dequeue(now, wanted, &mut self.dropped);
            self.report_drops(now, id, None, env);
            if let Some(packet) = packet {
                self.note_taken(now, id, &packet.meta, env);
                return Some(packet);
            }
        }
        if !self.functions[id.index()].staged.is_empty() {
            return None;
        }
        let packet = self.pull(now, id, env)?;
        if wanted.includes(&packet.meta) {
            return Some(packet);
        }
        self.functions[id.index()].staged.push_back(packet);
        None
    }

    /// The agreement under which `packet` goes.
    fn session_for(&mut self, id: FunctionId, packet: &Packet<B>) -> usize {
        let (station, tid) = (packet.meta.station, packet.meta.tid);
        let (to, link) = self.way(self.functions[id.index()].node, station);
        let function = &mut self.functions[id.index()];
        let next = function.sessions.len();
        let session = *function.session_of.entry((station, tid)).or_insert(next);
        if session == next {
            function.sessions.push(Session::new(to, station, link, tid));
        }
        session
    }

    /// A packet becomes an MPDU of the window, with those that fit into an A-MSDU with it.
    fn take_in(
        &mut self,
        now: Time,
        id: FunctionId,
        session: usize,
        packet: Packet<B>,
        env: &mut impl Environment<B>,
    ) -> u32 {
        let mut bytes = packet.meta.bytes + QOS_DATA_OVERHEAD;
        let mut more = Vec::new();
        if let Some(longest) = self.aggregation_of(id).and_then(|a| a.max_amsdu) {
            let mut body = amsdu_subframe(&packet);
            let wanted = self.wanted_by(id, session);
            let largest = self.functions[id.index()].sessions[session].largest_packet.max(packet.meta.bytes);
            while body.next_multiple_of(4) + largest + AMSDU_SUBFRAME_OVERHEAD <= longest {
                let Some(next) = self.take_packet(now, id, wanted, env) else { break };
                let grown = body.next_multiple_of(4) + amsdu_subframe(&next);
                if grown > longest {
                    // It opens the next MPDU.
                    self.functions[id.index()].staged.push_back(next);
                    break;
                }
                body = grown;
                more.push(next);
            }
            if !more.is_empty() {
                bytes = QOS_DATA_OVERHEAD - 8 + body;
            }
        }
        let function = &mut self.functions[id.index()];
        let of = &mut function.sessions[session];
        let packets = std::iter::once(&packet).chain(&more).map(|p| p.meta.bytes);
        of.largest_packet = packets.fold(of.largest_packet, u32::max);
        of.largest_mpdu = of.largest_mpdu.max(bytes);
        of.originator.push(now, Msdus { first: packet, more }, bytes);
        function.line_up(session);
        bytes
    }

    fn wanted_by(&self, id: FunctionId, session: usize) -> Wanted {
        let session = &self.functions[id.index()].sessions[session];
        Wanted { station: Some(session.station), tid: Some(session.tid) }
    }

    fn choose_ampdu_mode(&mut self, now: Time, id: FunctionId, session: usize, env: &mut impl Environment<B>) {
        let session = &mut self.functions[id.index()].sessions[session];
        let first = session.originator.window.iter().find(|m| !m.done).expect("what is in line has something to send");
        let info = FrameInfo { now, bytes: Bytes(u64::from(first.bytes)), aggregates: true, retry: first.attempts };
        let (control, link) = (&mut self.rate_controls[session.link.index()], session.link);
        let (entry, new) = session.rates.next(|| control.rates_for(&info));
        (session.mode, session.rts) = (entry.mode, entry.rts);
        if let Some(chain) = new {
            self.note_rate(now, link, &chain, env);
        }
    }

    /// Chooses the MPDUs of the next A-MPDU, to be sent at `at`: those of the window, then new ones; the first whatever the
    /// limits say, where `at_least_one`.
    fn fill(
        &mut self,
        (now, at): (Time, Time),
        id: FunctionId,
        session: usize,
        at_least_one: bool,
        env: &mut impl Environment<B>,
    ) {
        let node = self.functions[id.index()].node;
        let mut limits = self.aggregation_of(id).expect("the function makes A-MPDUs");
        let mode = self.functions[id.index()].sessions[session].mode;
        // Without an MCS a PPDU holds no A-MPDU [802.11-2020 §10.12.1].
        let aggregates = self.phy_of(node).supports_aggregation(mode);
        if !aggregates || self.functions[id.index()].sessions[session].rates.is_probe() {
            limits.max_mpdus = 1;
        }
        let longest = self.longest(at, id, session);
        let phy = self.bss[self.nodes[node.index()].bss].phy.clone();
        let mut psdu = Psdu::new(&phy, limits, mode, longest, at_least_one);
        let function = &mut self.functions[id.index()];
        for mpdu in function.sessions[session].originator.window.iter_mut().filter(|m| !m.done) {
            if !psdu.add(mpdu.bytes) {
                function.psdu_bytes = psdu.bytes();
                return;
            }
            mpdu.in_flight = true;
            function.lengths.push(mpdu.bytes);
        }
        let (window, wanted) = (u32::from(phy.block_ack_window()), self.wanted_by(id, session));
        while self.functions[id.index()].sessions[session].originator.has_room(window)
            && psdu.has_room(self.functions[id.index()].sessions[session].largest_mpdu)
        {
            let Some(packet) = self.take_packet(now, id, wanted, env) else { break };
            let expected = self.functions[id.index()].sessions[session].largest_mpdu;
            let bytes = self.take_in(now, id, session, packet, env);
            if bytes <= expected {
                psdu.push(bytes);
            } else if !psdu.add(bytes) {
                break;
            }
            let function = &mut self.functions[id.index()];
            function.sessions[session].originator.window.back_mut().expect("it was just taken in").in_flight = true;
            function.lengths.push(bytes);
        }
        self.functions[id.index()].psdu_bytes = psdu.bytes();
        self.report_queue(now, node, env);
    }

    /// How long a PPDU that starts at `at` may last.
    fn longest(&self, at: Time, id: FunctionId, session: usize) -> Duration {
        let function = &self.functions[id.index()];
        let Some(ends) = function.txop_ends else { return Duration::from_secs(1) };
        let (phy, of) = (self.phy_of(function.node), &function.sessions[session]);
        left_of_txop(at + self.announcement(id, of), ends, phy.sifs() + phy.block_ack_duration(of.mode))
    }

    /// Time that an RTS/CTS exchange takes before an A-MPDU, if there may be one.
    fn announcement(&self, id: FunctionId, of: &Session<B>) -> Duration {
        let bss = &self.bss[self.nodes[self.functions[id.index()].node.index()].bss];
        let phy = &bss.phy;
        let by_length = bss.rts_threshold.is_some() || bss.txop_duration_rts_threshold.is_some();
        if !of.rts && !by_length && bss.protection == Protection::None {
            return Duration::ZERO;
        }
        let mode = phy.control_response_mode(of.mode);
        let cts = phy.control_response_mode(mode);
        phy.ppdu_duration(mode, frame_size::RTS) + phy.ppdu_duration(cts, frame_size::CTS) + phy.sifs() * 2
    }

    /// The A-MPDU that was filled, sent at `at`.
    pub(crate) fn ampdu(&self, at: Time, id: FunctionId, session: usize) -> Ppdu {
        let function = &self.functions[id.index()];
        let (of, phy) = (&function.sessions[session], self.phy_of(function.node));
        let bytes = function.psdu_bytes;
        let own = phy.ppdu_duration(of.mode, Bytes(u64::from(bytes)));
        let reserves_until = at + own + phy.sifs() + phy.block_ack_duration(of.mode);
        Ppdu {
            kind: PpduKind::Ampdu,
            from: function.node,
            to: Some(of.to),
            link: of.link,
            mode: of.mode,
            bytes,
            airtime: own,
            reserves_until,
            function: id,
            session: session as u32,
        }
    }

    /// Tells the recipient where the window starts, after an MPDU was given up. [802.11-2020 §10.25.5]
    fn block_ack_req(&mut self, at: Time, id: FunctionId, session: usize) -> Ppdu {
        let function = &self.functions[id.index()];
        let (of, phy) = (&function.sessions[session], self.phy_of(function.node));
        let mode = phy.control_response_mode(of.mode);
        let own = phy.ppdu_duration(mode, frame_size::BLOCK_ACK_REQ);
        let reserves_until = at + own + phy.sifs() + phy.block_ack_duration(mode);
        Ppdu {
            kind: PpduKind::BlockAckReq,
            from: function.node,
            to: Some(of.to),
            link: of.link,
            mode,
            bytes: frame_size::BLOCK_ACK_REQ.0 as u32,
            airtime: own,
            reserves_until,
            function: id,
            session: session as u32,
        }
    }

    /// What `to` makes of an A-MPDU that ends now: each MPDU for itself.
    pub(crate) fn ampdu_reception(&mut self, now: Time, ended: &Transmission, to: NodeId) -> Reception {
        let lengths = std::mem::take(&mut self.functions[ended.ppdu.function.index()].lengths);
        let mut decoded = std::mem::take(&mut self.decoded);
        decoded.clear();
        let reception = self.receive_mpdus(now, ended, to, &lengths, &mut decoded);
        self.decoded = decoded;
        let function = &mut self.functions[ended.ppdu.function.index()];
        (function.lengths, function.lost_to) = (lengths, self.lost_to.map(outcome_of));
        reception
    }

    /// The MPDUs that were decoded go to the recipient's buffer, and what is in order up.
    pub(crate) fn receive_ampdu(&mut self, now: Time, ended: &Transmission, env: &mut impl Environment<B>) {
        let ppdu = &ended.ppdu;
        self.charge_uplink(now, ended);
        let size = u32::from(self.phy_of(ppdu.from).block_ack_window());
        let Session { originator, recipient, .. } =
            &mut self.functions[ppdu.function.index()].sessions[ppdu.session as usize];
        let mut decoded = self.decoded.iter();
        for (place, mpdu) in originator.window.iter_mut().enumerate().filter(|(_, m)| m.in_flight) {
            // What arrives again, because its BlockAck was lost, is acknowledged and discarded.
            if !decoded.next().is_some_and(|d| *d) {
                continue;
            }
            let Some(content) = mpdu.content.take() else { continue };
            env.observe(now, Record::FrameDelivered { link: ppdu.link, delay: now.since(mpdu.since) });
            let sequence = originator.start + place as u64;
            if let Some(late) = recipient.receive(now, sequence, content, size, &mut self.arrived) {
                for packet in late.iter() {
                    self.counts.dropped_by_mac += 1;
                    env.observe(now, packet.meta.dropped(ppdu.from, QueueLayer::Mac, DropReason::ReorderTimeout));
                }
            }
        }
        if let Some(at) = recipient.start_timer() {
            env.schedule(at, MediumEvent::Reorder { function: ppdu.function.0, session: ppdu.session });
        }
        self.hand_up(now, ppdu.to.expect("data has a receiver"), env);
    }

    /// Gives what a recipient let go to the node above.
    fn hand_up(&mut self, now: Time, to: NodeId, env: &mut impl Environment<B>) {
        for packet in self.arrived.drain(..) {
            self.counts.delivered += 1;
            env.deliver(now, to, packet);
        }
    }

    /// A recipient has waited long enough for an MPDU that is missing.
    pub(crate) fn reorder_timeout(&mut self, now: Time, function: u32, session: u32, env: &mut impl Environment<B>) {
        let of = &mut self.functions[function as usize].sessions[session as usize];
        let to = of.to;
        if let Some(at) = of.recipient.timeout(now, &mut self.arrived) {
            env.schedule(at, MediumEvent::Reorder { function, session });
        }
        self.hand_up(now, to, env);
    }

    /// The recipient learns where the originator's window starts.
    pub(crate) fn receive_block_ack_req(&mut self, now: Time, ppdu: &Ppdu, env: &mut impl Environment<B>) {
        let of = &mut self.functions[ppdu.function.index()].sessions[ppdu.session as usize];
        of.recipient.move_to(of.originator.start, &mut self.arrived);
        self.hand_up(now, ppdu.to.expect("a request has a receiver"), env);
    }

    /// A BlockAck says what has arrived.
    pub(crate) fn block_ack_arrived(
        &mut self,
        now: Time,
        id: FunctionId,
        session: usize,
        env: &mut impl Environment<B>,
    ) {
        let sent = self.functions[id.index()].lengths.len() as u32;
        let of = &mut self.functions[id.index()].sessions[session];
        if sent == 0 {
            (of.originator.request_due, of.originator.requests) = (false, 0);
        } else {
            let arrived = |m: &&Mpdu<B>| m.in_flight && m.content.is_none();
            let acknowledged = of.originator.window.iter().filter(arrived).count() as u32;
            of.rates = Default::default();
            self.report_ampdu(now, id, session, Outcome::Success, acknowledged, env);
        }
        for mpdu in self.functions[id.index()].sessions[session].originator.window.iter_mut() {
            mpdu.done |= mpdu.content.is_none();
        }
        let gave_up = self.give_up_mpdus(now, id, session, env);
        let function = &mut self.functions[id.index()];
        function.cw = function.cw_min;
        function.sessions[session].originator.request_due |= gave_up;
        self.advance(now, id, session, env);
    }

    /// Nothing was acknowledged of what a function sent.
    pub(crate) fn ampdu_failed(
        &mut self,
        now: Time,
        id: FunctionId,
        session: usize,
        outcome: Outcome,
        env: &mut impl Environment<B>,
    ) {
        let node = self.functions[id.index()].node;
        let limit = self.nodes[node.index()].retry_limit;
        let function = &mut self.functions[id.index()];
        function.widen();
        if function.lengths.is_empty() {
            let originator = &mut function.sessions[session].originator;
            originator.requests += 1;
            if limit.is_some_and(|limit| originator.requests > limit) {
                // The recipient's timeout, or the next MPDU, moves its window.
                (originator.request_due, originator.requests) = (false, 0);
                function.cw = function.cw_min;
            }
        } else {
            self.report_ampdu(now, id, session, outcome, 0, env);
            let asks = self.bss[self.nodes[node.index()].bss].asks_after_loss;
            let gave_up = self.give_up_mpdus(now, id, session, env);
            let function = &mut self.functions[id.index()];
            function.sessions[session].originator.request_due |= gave_up || asks;
            if gave_up {
                function.cw = function.cw_min;
            }
        }
        self.advance(now, id, session, env);
    }

    /// Tells observers, the rate control and the queue what became of an A-MPDU.
    fn report_ampdu(
        &mut self,
        now: Time,
        id: FunctionId,
        session: usize,
        outcome: Outcome,
        acknowledged: u32,
        env: &mut impl Environment<B>,
    ) {
        let function = &mut self.functions[id.index()];
        let (node, began, mpdus) = (function.node, function.began, function.lengths.len() as u32);
        let of = &mut function.sessions[session];
        let retry = of.originator.window.iter().any(|m| m.in_flight && m.attempts > 0);
        let (to, link, mode, rts, station) = (of.to, of.link, of.mode, of.rts, of.station);
        let rate = self.phy_of(node).mode(mode).rate;
        env.observe(now, Record::Attempt { link, node, rate, mpdus, acknowledged, retry, outcome });
        // Where a part was lost, the rate control goes by that.
        let lost = self.functions[id.index()].lost_to.filter(|_| outcome == Outcome::Success && acknowledged < mpdus);
        self.last_outcome(link, lost.unwrap_or(outcome));
        let success = acknowledged > 0;
        let snr = self.snr_of(now, to, node);
        self.rate_controls[link.index()].on_tx_status(&TxStatus { now, mode, success, mpdus, acknowledged, rts, snr });
        self.charge_downlink(now, id, station, now.since(began), rate);
    }

    /// Counts the attempt for each MPDU in flight; those that had their last one are given up, if they did not arrive.
    fn give_up_mpdus(&mut self, now: Time, id: FunctionId, session: usize, env: &mut impl Environment<B>) -> bool {
        let function = &mut self.functions[id.index()];
        let node = function.node;
        let limit = self.nodes[node.index()].retry_limit;
        let mut gave_up = false;
        let in_flight = function.sessions[session].originator.window.iter_mut().filter(|m| m.in_flight);
        for mpdu in in_flight {
            mpdu.in_flight = false;
            mpdu.attempts += 1;
            if mpdu.done || limit.is_none_or(|limit| mpdu.attempts <= limit) {
                continue;
            }
            let arrived = mpdu.content.is_none();
            *if arrived { &mut self.counts.unacknowledged } else { &mut self.counts.dropped_by_mac } +=
                mpdu.facts.len();
            (mpdu.done, mpdu.content, gave_up) = (true, None, true);
            for meta in mpdu.facts.iter() {
                env.observe(now, meta.given_up(node, arrived));
            }
        }
        gave_up
    }

    /// Moves the window past what is done, and the session in the line.
    fn advance(&mut self, now: Time, id: FunctionId, session: usize, env: &mut impl Environment<B>) {
        let function = &mut self.functions[id.index()];
        let (node, queue) = (function.node, &mut function.queue);
        function.sessions[session].originator.advance(|mpdu| {
            for meta in mpdu.facts.iter() {
                queue.on_done(now, meta);
                env.released(now, node, meta, false);
                env.observe(now, Record::Step(Step::Leaves { node, flow: meta.flow }));
            }
        });
        let of = &mut function.sessions[session];
        if std::mem::replace(&mut of.in_line, false) {
            function.line.retain(|s| *s != session);
        }
        if of.originator.wants_to_send() {
            function.line_up(session);
        }
        function.lengths.clear();
    }
}
