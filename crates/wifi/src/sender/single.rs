//! MSDUs that are acknowledged one by one: the frame at the head, and the results of its attempts.

use lasthop_link::Packet;
use lasthop_observe::{Outcome, Record};
use lasthop_units::{Bytes, Db, Duration, Time};

use super::Sender;
use super::frame::{Fate, Frame};
use super::links::Links;
use super::psdu::{Grant, Psdu};
use crate::books::Books;
use crate::environment::{Attempted, Environment};
use crate::layout::Layout;
use crate::phy::{Phy, frame_size};
use crate::ppdu::{Part, PpduKind, QOS_CONTROL, To};
use crate::rate_control::{FrameInfo, TxStatus};

impl<B> Sender<B> {
    /// Puts a packet into the frame slot.
    #[inline(always)]
    pub(super) fn load(&mut self, now: Time, packet: Packet<B>, layout: &Layout, env: &mut impl Environment<B>) {
        self.note_taken(now, &packet.meta, env);
        let (to, link) = layout.way(self.node, packet.meta.station);
        let is_legacy = self.category.is_some() && layout.node(to).legacy;
        let overhead = self.overhead - if is_legacy { QOS_CONTROL } else { 0 };
        self.frame = Some(Frame::new(now, packet, overhead, to, link));
    }

    /// Prepares the frame for a grant; false if there is none, or none that could end in time.
    #[inline(always)]
    pub(super) fn next_frame(
        &mut self,
        now: Time,
        grant: &Grant,
        phy: &Phy,
        links: &mut Links,
        psdu: &mut Psdu,
        env: &mut impl Environment<B>,
    ) -> bool {
        let Some(frame) = &mut self.frame else { return false };
        // The rate of the next attempt: the next of the chain, or the first of a new one.
        let mpdu = Bytes(u64::from(frame.meta.bytes + frame.overhead));
        let info = FrameInfo { now, bytes: mpdu, aggregates: false, retry: frame.attempts, packet: frame.meta.packet };
        let (link, control) = (frame.link, links.control(frame.link));
        let (entry, new) = frame.rates.next(|| control.rates_for(&info));
        (frame.mode, frame.rts) = (entry.mode, entry.rts);
        frame.attempts += 1;
        let mode = entry.mode;
        if let Some(chain) = new {
            links.note_rate(now, link, chain, phy, env);
        }
        let bytes = if phy.always_aggregates(mode) { frame_size::ampdu_subframe(mpdu) } else { mpdu };
        psdu.kind = PpduKind::Data;
        psdu.part = Part { from: grant.radio, to: To::One(frame.to), link, mode, bytes: bytes.0 as u32, ru: None };
        psdu.rts = entry.rts;
        (psdu.airtime, psdu.response) = self.airtimes.of(mode, bytes, phy);
        let ends = grant.at + psdu.airtime + phy.sifs() + psdu.response;
        if grant.by.is_some_and(|by| ends > by) {
            frame.rates.put_back();
            frame.attempts -= 1;
            return false;
        }
        true
    }

    /// The time of the exchange after `psdu`, if a packet waits: of another frame like this one, as the next may go to
    /// another receiver.
    pub(super) fn next_frame_takes(
        &self,
        at: Time,
        ends: Time,
        sifs: Duration,
        psdu: &Psdu,
        env: &impl Environment<B>,
    ) -> Option<Duration> {
        let exchange = psdu.airtime + sifs + psdu.response;
        let fits = at + exchange <= ends;
        (fits && (self.has_queued(at) || env.is_saturated(self.node, self.category))).then_some(exchange)
    }

    /// Delivers the packet of a frame that arrived, unless it had arrived before and its ACK was lost.
    #[inline(always)]
    pub(crate) fn receive_frame(&mut self, now: Time, books: &mut Books, env: &mut impl Environment<B>) {
        let frame = self.frame.as_mut().expect("data was sent from a frame");
        let Some(packet) = frame.packet.take() else { return };
        let (to, link) = (frame.to, frame.link);
        books.counts.delivered += 1;
        env.observe(now, Record::FrameDelivered { link, delay: now.since(frame.since) });
        env.deliver(now, to, packet);
    }

    /// Handles the acknowledgement of the frame.
    #[inline(always)]
    pub(crate) fn frame_acknowledged(
        &mut self,
        now: Time,
        began: Time,
        snr: Option<Db>,
        phy: &Phy,
        links: &mut Links,
        env: &mut impl Environment<B>,
    ) {
        self.report_attempt(now, Outcome::Success, phy, links, env);
        self.tell_rate_control(now, true, snr, links);
        self.charge_frame(now, now.since(began), phy);
        self.note_attempt(now, Attempted::Acknowledged, env);
        self.finish_frame(now, env);
        self.schedule_reports(env);
    }

    /// Handles a failed attempt at the frame; `sent`: the frame itself was on the air, not only its RTS or CTS.
    #[expect(clippy::too_many_arguments, reason = "an attempt has as many circumstances")]
    pub(crate) fn frame_lost(
        &mut self,
        now: Time,
        began: Time,
        (outcome, sent): (Outcome, bool),
        snr: Option<Db>,
        phy: &Phy,
        links: &mut Links,
        books: &mut Books,
        env: &mut impl Environment<B>,
    ) -> Fate {
        self.report_attempt(now, outcome, phy, links, env);
        if sent {
            self.tell_rate_control(now, false, snr, links);
        }
        self.charge_frame(now, now.since(began), phy);
        self.note_attempt(now, Attempted::Lost, env);
        let fate = self.give_up_if_due(now, books, env);
        self.schedule_reports(env);
        fate
    }

    /// Counts an attempt for a frame that lost to another frame of its station. [802.11-2020 §10.23.2.12.1] MPDUs of an
    /// A-MPDU have had none, as it is not made yet; the category has.
    pub(crate) fn frame_outdone(&mut self, now: Time, books: &mut Books, env: &mut impl Environment<B>) -> Fate {
        if self.aggregates() {
            return self.count_failure();
        }
        let Some(frame) = &mut self.frame else { return Fate::Tried };
        frame.attempts += 1;
        self.give_up_if_due(now, books, env)
    }

    /// Gives the frame up if it has had its last attempt.
    fn give_up_if_due(&mut self, now: Time, books: &mut Books, env: &mut impl Environment<B>) -> Fate {
        let frame = self.frame.as_ref().expect("an attempt is about a frame");
        if self.retry_limit.is_none_or(|limit| frame.attempts <= limit) {
            return Fate::Tried;
        }
        let arrived = !frame.is_under_way();
        books.give_up(1, arrived);
        env.observe(now, frame.meta.given_up(self.node, arrived));
        self.note_attempt(now, Attempted::GivenUp, env);
        self.finish_frame(now, env);
        Fate::GivenUp
    }

    #[inline(always)]
    fn report_attempt(
        &mut self,
        now: Time,
        outcome: Outcome,
        phy: &Phy,
        links: &mut Links,
        env: &mut impl Environment<B>,
    ) {
        let (node, frame) = (self.node, self.frame.as_ref().expect("an attempt is about a frame"));
        let (link, rate, retry) = (frame.link, phy.mode(frame.mode).rate, frame.attempts > 1);
        let acknowledged = u32::from(outcome == Outcome::Success);
        env.observe(now, Record::Attempt { link, node, rate, mpdus: 1, acknowledged, retry, outcome });
        links.last_outcome(link, outcome);
    }

    /// Reports the result of an attempt to the host.
    #[inline(always)]
    fn note_attempt(&self, now: Time, result: Attempted, env: &mut impl Environment<B>) {
        if let Some(frame) = &self.frame {
            env.attempted(now, self.node, &frame.meta, frame.mode, result);
        }
    }

    #[inline(always)]
    fn tell_rate_control(&mut self, now: Time, success: bool, snr: Option<Db>, links: &mut Links) {
        let frame = self.frame.as_ref().expect("an attempt is about a frame");
        let (mode, rts, acknowledged) = (frame.mode, frame.rts, u32::from(success));
        let status = TxStatus { now, mode, success, mpdus: 1, acknowledged, rts, snr };
        links.control(frame.link).on_tx_status(&status);
    }

    /// Charges an attempt at the frame if the queue counts airtime.
    #[inline(always)]
    fn charge_frame(&mut self, now: Time, airtime: Duration, phy: &Phy) {
        if !self.counts_airtime {
            return;
        }
        let frame = self.frame.as_ref().expect("an attempt is about a frame");
        let (station, rate) = (frame.meta.station, phy.mode(frame.mode).rate);
        self.charge_downlink(now, station, airtime, rate);
    }

    /// Finishes the frame, delivered or not.
    #[inline(always)]
    fn finish_frame(&mut self, now: Time, env: &mut impl Environment<B>) {
        if let Some(frame) = &self.frame {
            let meta = frame.meta;
            self.frame = None;
            self.release(now, &meta, env);
        }
    }
}
