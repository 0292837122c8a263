//! A-MPDUs: their contents, their receiver, and the effect of the BlockAck. [802.11-2020 §10.12, §10.25]
//!
//! The MPDUs of one PSDU have one receiver and one TID. Retransmissions come first, in the order of their sequence
//! numbers, within the limits; new MPDUs follow while the queue has packets of the kind and the window has room. MPDUs
//! that another radio of the station is sending are left to that radio.

use lasthop_link::{Packet, Wanted};
use lasthop_observe::{DropReason, NodeId, Outcome, QueueLayer, Record};
use lasthop_units::{Bytes, Duration, Time};

use super::agreement::{Agreement, HeldBy, Mpdu, Msdus, REQUEST_LIFETIME};
use super::frame::Fate;
use super::links::Links;
use super::psdu::{Grant, Psdu, Tried};
use super::{Sender, release};
use crate::aggregation::{PsduLength, left_of_txop};
use crate::books::Books;
use crate::config::{BssConfig, Protection};
use crate::environment::{Attempted, Environment, MediumEvent};
use crate::ids::SenderId;
use crate::layout::Layout;
use crate::phy::{Phy, frame_size};
use crate::ppdu::{PpduKind, QOS_CONTROL};
use crate::rate_control::{FrameInfo, TxStatus};

/// Bytes of a subframe of an A-MSDU besides the IP packet.
const AMSDU_SUBFRAME_OVERHEAD: u32 = frame_size::amsdu_subframe(Bytes(0)).0 as u32;

/// Bytes of a subframe of an A-MSDU, without padding.
fn amsdu_subframe<B>(packet: &Packet<B>) -> u32 {
    frame_size::amsdu_subframe(Bytes(u64::from(packet.meta.bytes))).0 as u32
}

impl<B> Sender<B> {
    /// Prepares the next PSDU for a grant; false if there is nothing to send, or nothing that could end in time.
    #[inline(always)]
    pub(crate) fn next_psdu(
        &mut self,
        now: Time,
        grant: &Grant,
        (layout, links, books): (&Layout, &mut Links, &mut Books),
        psdu: &mut Psdu,
        env: &mut impl Environment<B>,
    ) -> bool {
        let bss = layout.bss_of(self.node);
        if self.aggregates() {
            self.next_ampdu(now, grant, (layout, bss), (links, books), psdu, env)
        } else {
            self.next_frame(now, grant, &bss.phy, links, psdu, env)
        }
    }

    /// Prepares the next A-MPDU, or a BlockAckReq.
    fn next_ampdu(
        &mut self,
        now: Time,
        grant: &Grant,
        (layout, bss): (&Layout, &BssConfig),
        (links, books): (&mut Links, &mut Books),
        psdu: &mut Psdu,
        env: &mut impl Environment<B>,
    ) -> bool {
        if self.prepares() {
            return self.next_prepared(grant, bss, psdu);
        }
        let place = match grant.by {
            None if grant.agreement.is_some() => grant.agreement,
            None => self.choose_agreement(now, layout, books, env),
            Some(by) => self.same_agreement(now, grant.at, psdu.agreement as usize, by, bss, books, env),
        };
        let Some(place) = place else { return false };
        psdu.lengths.clear();
        psdu.agreement = place as u32;
        let of = &self.agreements[place];
        psdu.part = of.part(grant.radio);
        if of.originator.request_due.is_some() {
            return Self::block_ack_req(grant, bss, psdu);
        }
        self.choose_mode(now, place, bss, links, psdu, env);
        self.fill(now, grant, bss, books, psdu, env);
        if psdu.lengths.is_empty() {
            self.agreements[place].rates.put_back();
            return false;
        }
        self.finish(place, &bss.phy, psdu);
        true
    }

    /// Ends an A-MPDU that has its MPDUs and its mode.
    #[inline(always)]
    pub(super) fn finish(&self, place: usize, phy: &Phy, psdu: &mut Psdu) {
        let of = &self.agreements[place];
        psdu.kind = PpduKind::Ampdu;
        psdu.is_legacy = of.is_legacy;
        if psdu.is_legacy {
            // No delimiter.
            psdu.part.bytes = psdu.lengths[0];
        }
        psdu.airtime = phy.ppdu_duration(psdu.part.mode, Bytes(u64::from(psdu.part.bytes)));
        psdu.response = of.answer(phy);
    }

    /// Sends the start of the window to the recipient, after an MPDU was given up. [802.11-2020 §10.25.5]
    pub(super) fn block_ack_req(grant: &Grant, bss: &BssConfig, psdu: &mut Psdu) -> bool {
        let phy = &bss.phy;
        let mode = phy.control_response_mode(psdu.part.mode);
        psdu.kind = PpduKind::BlockAckReq;
        (psdu.part.mode, psdu.part.bytes, psdu.rts) = (mode, frame_size::BLOCK_ACK_REQ.0 as u32, false);
        psdu.airtime = phy.ppdu_duration(mode, frame_size::BLOCK_ACK_REQ);
        psdu.response = phy.block_ack_duration(mode);
        let ends = grant.at + psdu.airtime + phy.sifs() + psdu.response;
        grant.by.is_none_or(|by| ends <= by)
    }

    /// The agreement whose turn it is: one with retransmissions, or the one of the next packet of the queue.
    pub(crate) fn choose_agreement(
        &mut self,
        now: Time,
        layout: &Layout,
        books: &mut Books,
        env: &mut impl Environment<B>,
    ) -> Option<usize> {
        self.bring_next_into_line(now, layout, books, env);
        self.retrying.clear();
        self.retrying.extend(self.line.iter().map(|&place| self.agreements[place].station));
        self.retrying.extend(self.staged.iter().map(|packet| packet.meta.station));
        let turn = self.queue.next_station(now, &self.retrying);
        let of = |station| self.line.iter().copied().find(|&place| self.agreements[place].station == station);
        if let Some(place) = turn.and_then(of) {
            return Some(place);
        }
        match self.take_packet(now, Wanted { station: turn, tid: None }, books, env) {
            Some(packet) => {
                let place = self.agreement_for(layout, &packet);
                if self.prepares() && !self.agreements[place].has_room() {
                    self.staged.push_front(packet);
                    return None;
                }
                self.take_in(now, place, packet, books, env);
                Some(place)
            }
            // An active queue management may have dropped all its packets.
            None => self.line.front().copied(),
        }
    }

    /// The agreement of the exchange before, if it has more to send that could end `by` then: a TXOP serves one
    /// receiver.
    #[expect(clippy::too_many_arguments, reason = "what may be sent next depends on as many things")]
    fn same_agreement(
        &mut self,
        now: Time,
        at: Time,
        place: usize,
        by: Time,
        bss: &BssConfig,
        books: &mut Books,
        env: &mut impl Environment<B>,
    ) -> Option<usize> {
        let (of, phy) = (&self.agreements[place], &bss.phy);
        let psdu = frame_size::ampdu_subframe(Bytes(u64::from(of.largest_mpdu)));
        let shortest = phy.ppdu_duration(of.mode, psdu) + phy.sifs() + of.answer(phy);
        if at + shortest > by {
            return None;
        }
        if !of.in_line {
            let packet = self.take_packet(now, of.wanted(), books, env)?;
            self.take_in(now, place, packet, books, env);
        }
        Some(place)
    }

    /// If the queue discipline leaves the turns of stations to the MAC, turns follow the line, and the agreement of the
    /// next packet of the queue joins it.
    fn bring_next_into_line(&mut self, now: Time, layout: &Layout, books: &mut Books, env: &mut impl Environment<B>) {
        let has_order = self.queue.schedules_stations() || self.line.is_empty();
        if has_order || !self.staged.is_empty() || self.queue.packets() == 0 {
            return;
        }
        let Some(packet) = self.take_packet(now, Wanted::ANY, books, env) else { return };
        let place = self.agreement_for(layout, &packet);
        if self.agreements[place].has_room() {
            self.take_in(now, place, packet, books, env);
        } else {
            self.staged.push_back(packet);
        }
    }

    /// Takes a packet that is `wanted`: one taken out earlier, one of the queue, or one of a socket that waits to be
    /// pulled.
    #[inline(always)]
    pub(super) fn take_packet(
        &mut self,
        now: Time,
        wanted: Wanted,
        books: &mut Books,
        env: &mut impl Environment<B>,
    ) -> Option<Packet<B>> {
        if !self.staged.is_empty()
            && let Some(place) = self.staged.iter().position(|p| wanted.includes(&p.meta))
        {
            return self.staged.remove(place);
        }
        if self.queue.packets() > 0 {
            let packet = self.queue.dequeue(now, wanted, &mut self.dropped);
            self.report_drops(now, None, books, env);
            if let Some(taken) = &packet {
                self.note_taken(now, &taken.meta, env);
                return packet;
            }
        }
        self.pull_wanted(now, wanted, env)
    }

    /// Pulls a packet that is `wanted` from a socket that waits for this; another packet is kept.
    #[inline(never)]
    fn pull_wanted(&mut self, now: Time, wanted: Wanted, env: &mut impl Environment<B>) -> Option<Packet<B>> {
        if !self.staged.is_empty() {
            return None;
        }
        let packet = self.pull(now, env)?;
        if wanted.includes(&packet.meta) {
            return Some(packet);
        }
        self.staged.push_back(packet);
        None
    }

    /// The agreement under which `packet` is sent.
    pub(super) fn agreement_for(&mut self, layout: &Layout, packet: &Packet<B>) -> usize {
        let (station, tid) = (packet.meta.station, packet.meta.tid);
        let next = self.agreements.len();
        let place = *self.agreement_of.entry((station, tid)).or_insert(next);
        if place == next {
            let (to, link) = layout.way(self.node, station);
            let size = u32::from(layout.phy_of(self.node).block_ack_window());
            self.agreements.push(if layout.node(to).legacy {
                Agreement::legacy(to, station, link, tid)
            } else {
                Agreement::new(to, station, link, tid, size)
            });
        }
        place
    }

    /// Makes a packet an MPDU of the window, with those that fit into an A-MSDU with it; returns the length of the
    /// MPDU.
    #[inline(always)]
    pub(super) fn take_in(
        &mut self,
        now: Time,
        place: usize,
        packet: Packet<B>,
        books: &mut Books,
        env: &mut impl Environment<B>,
    ) -> u32 {
        let is_legacy = self.agreements[place].is_legacy;
        let mut bytes = packet.meta.bytes + self.overhead - if is_legacy { QOS_CONTROL } else { 0 };
        let mut msdus = Msdus::alone(packet);
        if let Some(longest) = self.aggregation.and_then(|a| a.max_amsdu).filter(|_| !is_legacy) {
            let body = self.companions(now, place, &mut msdus, longest, books, env);
            if msdus.len() > 1 {
                bytes = self.overhead - 8 + body;
            }
        }
        let of = &mut self.agreements[place];
        msdus.for_each(|packet| of.largest_packet = of.largest_packet.max(packet.meta.bytes));
        of.largest_mpdu = of.largest_mpdu.max(bytes);
        of.originator.push(now, msdus, bytes);
        self.line_up(place);
        bytes
    }

    /// Adds the packets that join a first one in an A-MSDU of at most `longest` bytes; returns the length of the A-MSDU.
    #[inline(never)]
    fn companions(
        &mut self,
        now: Time,
        place: usize,
        msdus: &mut Msdus<Packet<B>>,
        longest: u32,
        books: &mut Books,
        env: &mut impl Environment<B>,
    ) -> u32 {
        let packet = &msdus.first;
        let (mut more, mut body) = (Vec::new(), amsdu_subframe(packet));
        let wanted = self.agreements[place].wanted();
        let largest = self.agreements[place].largest_packet.max(packet.meta.bytes);
        while body.next_multiple_of(4) + largest + AMSDU_SUBFRAME_OVERHEAD <= longest {
            let Some(next) = self.take_packet(now, wanted, books, env) else { break };
            let grown = body.next_multiple_of(4) + amsdu_subframe(&next);
            if grown > longest {
                // It opens the next MPDU.
                self.staged.push_back(next);
                break;
            }
            body = grown;
            more.push(next);
        }
        msdus.join(more);
        body
    }

    /// Puts an agreement at the end of the line, unless it is in the line.
    pub(super) fn line_up(&mut self, place: usize) {
        if !std::mem::replace(&mut self.agreements[place].in_line, true) {
            self.line.push_back(place);
        }
    }

    /// Puts an agreement at the end of the line if it `waits`, else removes it.
    pub(super) fn put_in_line(&mut self, place: usize, waits: bool) {
        if std::mem::replace(&mut self.agreements[place].in_line, false) {
            self.line.retain(|other| *other != place);
        }
        if waits {
            self.line_up(place);
        }
    }

    pub(crate) fn choose_mode(
        &mut self,
        now: Time,
        place: usize,
        bss: &BssConfig,
        links: &mut Links,
        psdu: &mut Psdu,
        env: &mut impl Environment<B>,
    ) {
        let of = &mut self.agreements[place];
        let first = of
            .originator
            .window
            .iter()
            .find(|m| !m.done && m.in_flight.is_none())
            .expect("what is in line has something to send");
        let (bytes, packet) = (Bytes(u64::from(first.bytes)), first.facts.first.packet);
        let info = FrameInfo { now, bytes, aggregates: !of.is_legacy, retry: first.attempts, packet };
        let control = links.control(of.link);
        let (entry, new) = of.rates.next(|| control.rates_for(&info));
        (of.mode, of.rts) = (entry.mode, entry.rts);
        (psdu.part.mode, psdu.rts) = (entry.mode, entry.rts);
        if let Some(chain) = new {
            links.note_rate(now, of.link, chain, &bss.phy, env);
        }
    }

    /// Chooses the MPDUs of the next A-MPDU: those of the window, then new ones. The first fits whatever the limits, if
    /// the grant is the first of its TXOP.
    pub(super) fn fill(
        &mut self,
        now: Time,
        grant: &Grant,
        bss: &BssConfig,
        books: &mut Books,
        psdu: &mut Psdu,
        env: &mut impl Environment<B>,
    ) {
        let (place, mode, phy) = (psdu.agreement as usize, psdu.part.mode, &bss.phy);
        let mut limits = self.aggregation.expect("the sender makes A-MPDUs");
        let holder = self.hardware.as_ref().map_or(HeldBy::Radio(grant.radio), |hardware| hardware.builder());
        let of = &mut self.agreements[place];
        // Without an MCS a PPDU holds no A-MPDU [802.11-2020 §10.12.1].
        if !phy.supports_aggregation(mode) || of.rates.is_probe() {
            limits.max_mpdus = 1;
        }
        let mut length = match grant.most {
            Some(most) => PsduLength::within(phy, limits, mode, most),
            None => PsduLength::new(phy, limits, mode, longest(grant, of, bss), grant.by.is_none()),
        };
        for mpdu in of.originator.window.iter_mut().filter(|m| !m.done && m.in_flight.is_none()) {
            if !length.add(mpdu.bytes) {
                psdu.part.bytes = length.bytes();
                return;
            }
            mpdu.in_flight = Some(holder);
            psdu.lengths.push(mpdu.bytes);
        }
        let wanted = of.wanted();
        while self.agreements[place].has_room() && length.has_room(self.agreements[place].largest_mpdu) {
            let Some(packet) = self.take_packet(now, wanted, books, env) else { break };
            if packet.meta.begins_ppdu {
                self.staged.push_front(packet);
                break;
            }
            let expected = self.agreements[place].largest_mpdu;
            let bytes = self.take_in(now, place, packet, books, env);
            if bytes <= expected {
                length.push(bytes);
            } else if !length.add(bytes) {
                break;
            }
            let newest = self.agreements[place].originator.window.back_mut().expect("it was just taken in");
            newest.in_flight = Some(holder);
            psdu.lengths.push(bytes);
        }
        psdu.part.bytes = length.bytes();
        self.queue_to_report = true;
    }

    /// Passes the MPDUs that were `decoded` to the recipient's buffer; packets in order are delivered.
    pub(crate) fn receive_ampdu(
        &mut self,
        now: Time,
        id: SenderId,
        psdu: &Psdu,
        decoded: &[bool],
        books: &mut Books,
        env: &mut impl Environment<B>,
    ) {
        let Agreement { originator, recipient, size, to, link, .. } = &mut self.agreements[psdu.agreement as usize];
        let mut decoded = decoded.iter();
        let sent = |m: &Mpdu<B>| m.in_flight == Some(HeldBy::Radio(psdu.part.from));
        for (place, mpdu) in originator.window.iter_mut().enumerate().filter(|(_, m)| sent(m)) {
            // An MPDU that arrives again, because its BlockAck was lost, is acknowledged and discarded.
            if !decoded.next().is_some_and(|d| *d) {
                continue;
            }
            let Some(content) = mpdu.content.take() else { continue };
            env.observe(now, Record::FrameDelivered { link: *link, delay: now.since(mpdu.since) });
            let sequence = originator.start + place as u64;
            let up = &mut |packet| hand_up(now, *to, packet, books, env);
            if let Some(late) = recipient.receive(now, sequence, content, *size, up) {
                for packet in late.iter() {
                    books.counts.dropped_by_mac += 1;
                    env.observe(now, packet.meta.dropped(self.node, QueueLayer::Mac, DropReason::ReorderTimeout));
                }
            }
        }
        if let Some(at) = recipient.start_timer() {
            env.schedule(at, MediumEvent::Reorder { sender: id.0, agreement: psdu.agreement });
        }
    }

    /// Handles the timeout of a recipient that has waited long enough for a missing MPDU.
    pub(crate) fn reorder_timeout(
        &mut self,
        now: Time,
        id: SenderId,
        agreement: u32,
        books: &mut Books,
        env: &mut impl Environment<B>,
    ) {
        let of = &mut self.agreements[agreement as usize];
        let to = of.to;
        let again = of.recipient.timeout(now, &mut |packet| hand_up(now, to, packet, books, env));
        if let Some(at) = again {
            env.schedule(at, MediumEvent::Reorder { sender: id.0, agreement });
        }
    }

    /// Gives the recipient the start of the originator's window.
    pub(crate) fn receive_block_ack_req(
        &mut self,
        now: Time,
        psdu: &Psdu,
        books: &mut Books,
        env: &mut impl Environment<B>,
    ) {
        let of = &mut self.agreements[psdu.agreement as usize];
        let to = of.to;
        of.recipient.move_to(of.originator.start, &mut |packet| hand_up(now, to, packet, books, env));
    }

    /// Handles a BlockAck, which says which MPDUs have arrived.
    pub(crate) fn ampdu_acknowledged(
        &mut self,
        now: Time,
        psdu: &mut Psdu,
        tried: &Tried,
        (bss, links, books): (&BssConfig, &mut Links, &mut Books),
        env: &mut impl Environment<B>,
    ) {
        if self.prepares() && !psdu.lengths.is_empty() {
            self.leave_air(now, psdu, tried, true, (bss, links, books), env);
            return;
        }
        let of = &mut self.agreements[psdu.agreement as usize];
        if psdu.lengths.is_empty() {
            of.originator.request_due = None;
            self.charge_request(now, tried.began, psdu, bss);
        } else {
            let holder = HeldBy::Radio(psdu.part.from);
            let arrived = |m: &&Mpdu<B>| m.in_flight == Some(holder) && m.content.is_none();
            let acknowledged = of.originator.window.iter().filter(arrived).count() as u32;
            of.rates = Default::default();
            self.report_ampdu(now, psdu, tried, acknowledged, (bss, links), env);
        }
        if !self.prepares() {
            // A driver learns of the whole window from the next A-MPDU that is completed.
            let (node, Agreement { originator, mode, .. }) = (self.node, &mut self.agreements[psdu.agreement as usize]);
            for mpdu in originator.window.iter_mut() {
                let arrived = mpdu.content.is_none();
                if arrived && !mpdu.done && mpdu.in_flight.is_none() {
                    mpdu.facts.for_each(|meta| env.attempted(now, node, meta, *mode, Attempted::Confirmed));
                }
                mpdu.done |= arrived;
            }
        }
        self.failures = 0;
        if self.give_up_mpdus(now, psdu.agreement, HeldBy::Radio(psdu.part.from), books, env) {
            self.ask(now, psdu);
        }
        self.advance(now, psdu, env);
    }

    /// Handles a PSDU of which nothing was acknowledged. BlockAckReqs have no retry limit, since they hold no MSDU: one is
    /// repeated until its MSDUs would have ended their lifetime.
    pub(crate) fn ampdu_lost(
        &mut self,
        now: Time,
        psdu: &mut Psdu,
        tried: &Tried,
        (bss, links, books): (&BssConfig, &mut Links, &mut Books),
        env: &mut impl Environment<B>,
    ) -> Fate {
        if self.prepares() && !psdu.lengths.is_empty() {
            return self.leave_air(now, psdu, tried, false, (bss, links, books), env);
        }
        if psdu.lengths.is_empty() {
            let due = &mut self.agreements[psdu.agreement as usize].originator.request_due;
            // Afterwards the recipient's timeout, or the next MPDU, moves its window.
            *due = due.filter(|since| self.retry_limit.is_none() || now.since(*since) < REQUEST_LIFETIME);
            // Its backoff counts too: the window doubles, so that each attempt keeps the others from the medium for longer.
            self.charge_request(now, self.exchange_ended, psdu, bss);
        } else {
            self.report_ampdu(now, psdu, tried, 0, (bss, links), env);
            let holder = HeldBy::Radio(psdu.part.from);
            if self.give_up_mpdus(now, psdu.agreement, holder, books, env) || bss.asks_after_loss {
                self.ask(now, psdu);
            }
        }
        self.advance(now, psdu, env);
        self.count_failure()
    }

    /// Counts the time `since` then for the station of a BlockAckReq: one that never answers would keep its turn.
    #[inline(never)]
    fn charge_request(&mut self, now: Time, since: Time, psdu: &Psdu, bss: &BssConfig) {
        let station = self.agreements[psdu.agreement as usize].station;
        self.charge_downlink(now, station, now.since(since), bss.phy.mode(psdu.part.mode).rate);
    }

    /// Asks a recipient with Block Ack for its window.
    pub(super) fn ask(&mut self, now: Time, psdu: &Psdu) {
        let of = &mut self.agreements[psdu.agreement as usize];
        if !of.is_legacy {
            of.originator.ask(now);
        }
    }

    /// Counts an exchange of A-MPDUs that failed. At the limit the window returns to its minimum, whatever becomes of the
    /// MPDUs: QSRC[AC] counts the exchanges of a category [802.11-2020 §10.23.2.2].
    pub(super) fn count_failure(&mut self) -> Fate {
        self.failures += 1;
        if self.retry_limit.is_none_or(|limit| self.failures <= limit) {
            return Fate::Tried;
        }
        self.failures = 0;
        Fate::GivenUp
    }

    /// Reports the result of an A-MPDU to observers, the rate control and the queue.
    fn report_ampdu(
        &mut self,
        now: Time,
        psdu: &Psdu,
        tried: &Tried,
        acknowledged: u32,
        (bss, links): (&BssConfig, &mut Links),
        env: &mut impl Environment<B>,
    ) {
        self.observe_ampdu(now, psdu, tried, acknowledged, (bss, links), env);
        self.report_status(now, psdu, tried, acknowledged, now.since(tried.began), (bss, links));
    }

    /// Reports the result of an A-MPDU to the rate control, and its airtime to the queue.
    #[inline(always)]
    pub(super) fn report_status(
        &mut self,
        now: Time,
        psdu: &Psdu,
        tried: &Tried,
        acknowledged: u32,
        airtime: Duration,
        (bss, links): (&BssConfig, &mut Links),
    ) {
        let (link, mode, rts, mpdus) = (psdu.part.link, psdu.part.mode, psdu.rts, psdu.lengths.len() as u32);
        let (success, snr) = (acknowledged > 0, tried.snr);
        links.control(link).on_tx_status(&TxStatus { now, mode, success, mpdus, acknowledged, rts, snr });
        let station = self.agreements[psdu.agreement as usize].station;
        self.charge_downlink(now, station, airtime, bss.phy.mode(mode).rate);
    }

    /// Reports the result of an A-MPDU to observers.
    #[inline(always)]
    pub(super) fn observe_ampdu(
        &self,
        now: Time,
        psdu: &Psdu,
        tried: &Tried,
        acknowledged: u32,
        (bss, links): (&BssConfig, &mut Links),
        env: &mut impl Environment<B>,
    ) {
        let Tried { outcome, lost_to, .. } = *tried;
        let of = &self.agreements[psdu.agreement as usize];
        let (node, mpdus) = (self.node, psdu.lengths.len() as u32);
        let sent = |m: &Mpdu<B>| m.in_flight == Some(HeldBy::Radio(psdu.part.from));
        let retry = of.originator.window.iter().any(|m| sent(m) && m.attempts > 0);
        let (link, rate) = (psdu.part.link, bss.phy.mode(psdu.part.mode).rate);
        env.observe(now, Record::Attempt { link, node, rate, mpdus, acknowledged, retry, outcome });
        // If a part was lost, the rate control uses the reason for that.
        let lost = lost_to.filter(|_| outcome == Outcome::Success && acknowledged < mpdus);
        links.last_outcome(link, lost.unwrap_or(outcome));
    }

    /// Counts the attempt for each MPDU of `holder`; those that did not arrive in their last one are given up.
    pub(super) fn give_up_mpdus(
        &mut self,
        now: Time,
        agreement: u32,
        holder: HeldBy,
        books: &mut Books,
        env: &mut impl Environment<B>,
    ) -> bool {
        let (node, limit) = (self.node, self.retry_limit);
        let mut gave_up = false;
        let Agreement { originator, mode, .. } = &mut self.agreements[agreement as usize];
        for mpdu in originator.window.iter_mut().filter(|m| m.in_flight == Some(holder)) {
            mpdu.in_flight = None;
            mpdu.attempts += 1;
            let result = if mpdu.done { Attempted::Acknowledged } else { Attempted::Lost };
            mpdu.facts.for_each(|meta| env.attempted(now, node, meta, *mode, result));
            if mpdu.done || limit.is_none_or(|limit| mpdu.attempts <= limit) {
                continue;
            }
            let arrived = mpdu.content.is_none();
            books.give_up(mpdu.facts.len(), arrived);
            (mpdu.done, mpdu.content, gave_up) = (true, None, true);
            for meta in mpdu.facts.iter() {
                env.observe(now, meta.given_up(node, arrived));
                env.attempted(now, node, meta, *mode, Attempted::GivenUp);
            }
        }
        gave_up
    }

    /// Moves the window past MPDUs that are done, and updates the agreement's place in the line.
    pub(super) fn advance(&mut self, now: Time, psdu: &mut Psdu, env: &mut impl Environment<B>) {
        self.exchange_ended = now;
        let place = psdu.agreement as usize;
        let of = &mut self.agreements[place];
        let mut done = 0;
        for mpdu in of.originator.done() {
            done += 1;
            mpdu.facts.for_each(|meta| {
                release(now, (self.node, &mut *self.queue, self.reports.as_deref_mut()), meta, env);
            });
        }
        of.originator.leave(done);
        psdu.lengths.clear();
        self.schedule_reports(env);
        if self.prepares() {
            return self.settle(place);
        }
        let waits = self.agreements[place].originator.wants_to_send();
        self.put_in_line(place, waits);
    }
}

/// Delivers a packet that a recipient released to the node above.
#[inline(always)]
fn hand_up<B>(now: Time, to: NodeId, packet: Packet<B>, books: &mut Books, env: &mut impl Environment<B>) {
    books.counts.delivered += 1;
    env.deliver(now, to, packet);
}

/// The longest duration of the PPDU of an A-MPDU.
fn longest<B>(grant: &Grant, of: &Agreement<B>, bss: &BssConfig) -> Duration {
    let Some(ends) = grant.txop_ends else { return Duration::from_secs(1) };
    let phy = &bss.phy;
    // Only the first PPDU of a TXOP is announced.
    let announced = if grant.by.is_none() { announcement(of, bss) } else { Duration::ZERO };
    left_of_txop(grant.at + announced, ends, phy.sifs() + of.answer(phy))
}

/// Time that an RTS/CTS exchange takes before an A-MPDU, if there may be one.
fn announcement<B>(of: &Agreement<B>, bss: &BssConfig) -> Duration {
    let phy = &bss.phy;
    if !of.rts && !bss.announces() {
        return Duration::ZERO;
    }
    let protects = bss.protection != Protection::None && phy.has_dsss() && phy.needs_protection(of.mode);
    let mode = if protects { phy.protection_mode() } else { phy.control_response_mode(of.mode) };
    let cts = phy.control_response_mode(mode);
    phy.ppdu_duration(mode, frame_size::RTS) + phy.ppdu_duration(cts, frame_size::CTS) + phy.sifs() * 2
}
