//! A driver that prepares A-MPDUs before the medium is won, and learns their results later.
//!
//! ```text
//!                 built                    wins the medium        BlockAck, or none       completion
//!  queue, retries ────► ready, up to N ──────────────────► on the air ────────► ended ─────────────► driver
//!                        └──────────────── all of these hold a place of the N ───────────────┘
//! ```
//!
//! - Packets leave the queue when an A-MPDU is built. It keeps the rate and the MPDUs that were chosen then, and is
//!   sent in its turn. TXOPs add another one if it is ready, for the same receiver, and fits.
//! - Until its completion is reported, the driver knows nothing of an A-MPDU: its packets count as waiting for TCP small
//!   queues and AQL, the rate control learns nothing, and its place is taken.
//! - MPDUs that were lost go first into the next A-MPDU that is built for their receiver.
//! - A BlockAckReq is made when the medium is won, as hardware does it, before the A-MPDUs that are ready.
//!
//! A receiver whose window is full holds up the building until one of its A-MPDUs is completed. `firmware` is the other
//! kind of driver, whose firmware chooses MPDUs when the medium is won.

use lasthop_units::{Duration, Time};

use super::Sender;
use super::agreement::{Agreement, HeldBy, Mpdu};
use super::frame::Fate;
use super::hardware::{Ended, Prepared};
use super::links::Links;
use super::psdu::{Grant, Psdu, Tried};
use crate::books::Books;
use crate::config::BssConfig;
use crate::environment::{Environment, MediumEvent};
use crate::layout::Layout;

impl<B> Sender<B> {
    /// Returns whether there is a driver below its queue.
    #[inline(always)]
    pub(crate) fn has_driver(&self) -> bool {
        self.prepares() || self.has_firmware()
    }

    /// Returns whether its A-MPDUs are prepared by a driver.
    #[inline(always)]
    pub(super) fn prepares(&self) -> bool {
        self.hardware.is_some()
    }

    /// Returns whether the hardware has something to send.
    pub(super) fn has_prepared(&self) -> bool {
        let is_ready = self.hardware.as_ref().is_some_and(|hardware| !hardware.ready.is_empty());
        is_ready || self.agreements.iter().any(|of| of.originator.request_due.is_some())
    }

    /// Builds A-MPDUs until the hardware is full, or nothing is left to send, or passes packets down. The limit of TXOPs
    /// limits each A-MPDU.
    #[inline(never)]
    pub(crate) fn prepare(
        &mut self,
        now: Time,
        txop_limit: Duration,
        (layout, links, books): (&Layout, &mut Links, &mut Books),
        env: &mut impl Environment<B>,
    ) {
        if self.has_firmware() {
            return self.pass_down(now, books, env);
        }
        let bss = layout.bss_of(self.node);
        let txop_ends = (txop_limit > Duration::ZERO).then(|| now + txop_limit);
        let grant = Grant::first(self.node, now, txop_ends);
        while self.hardware.as_ref().is_some_and(|hardware| hardware.has_place()) {
            let Some(place) = self.choose_agreement(now, layout, books, env) else { return };
            let psdu = self.build(now, place, &grant, bss, (links, books), env);
            let rates = std::mem::take(&mut self.agreements[place].rates);
            self.settle(place);
            let Some(hardware) = &mut self.hardware else { return };
            hardware.ready.push_back(Prepared { batch: hardware.batches, psdu, rates });
            hardware.batches += 1;
        }
    }

    /// Builds the next A-MPDU of an agreement.
    fn build(
        &mut self,
        now: Time,
        place: usize,
        grant: &Grant,
        bss: &BssConfig,
        (links, books): (&mut Links, &mut Books),
        env: &mut impl Environment<B>,
    ) -> Psdu {
        let mut psdu = Psdu::new(grant.radio);
        psdu.agreement = place as u32;
        let of = &self.agreements[place];
        psdu.part = of.part(grant.radio);
        self.choose_mode(now, place, bss, links, &mut psdu, env);
        self.fill(now, grant, bss, books, &mut psdu, env);
        assert!(!psdu.lengths.is_empty(), "the first MPDU fits whatever the limits");
        self.finish(place, &bss.phy, &mut psdu);
        psdu
    }

    /// Lines an agreement up for another A-MPDU, or removes it from the line if the hardware holds all its MPDUs.
    pub(super) fn settle(&mut self, place: usize) {
        let window = &self.agreements[place].originator.window;
        let waits = window.iter().any(|mpdu| !mpdu.done && mpdu.in_flight.is_none());
        self.put_in_line(place, waits);
    }

    /// Sends from the hardware for a grant: a BlockAckReq that is due, or the first A-MPDU that is ready.
    pub(super) fn next_prepared(&mut self, grant: &Grant, bss: &BssConfig, psdu: &mut Psdu) -> bool {
        let (only, radio) = (grant.by.map(|_| psdu.agreement as usize), grant.radio);
        let is_due = |(place, of): &(usize, &Agreement<B>)| {
            of.originator.request_due.is_some() && only.is_none_or(|only| only == *place)
        };
        if let Some((place, of)) = self.agreements.iter().enumerate().find(is_due) {
            psdu.lengths.clear();
            psdu.agreement = place as u32;
            psdu.part = of.part(radio);
            return Self::block_ack_req(grant, bss, psdu);
        }
        let Some(hardware) = &mut self.hardware else { return false };
        let Some(next) = hardware.ready.front() else { return false };
        let ends = grant.at + next.psdu.airtime + bss.phy.sifs() + next.psdu.response;
        if grant.by.is_some_and(|by| ends > by || next.psdu.agreement != psdu.agreement) {
            return false;
        }
        let Some(next) = hardware.ready.pop_front() else { return false };
        *psdu = next.psdu.clone();
        psdu.part.from = radio;
        self.pass_on(psdu.agreement, HeldBy::Hardware(next.batch), HeldBy::Radio(radio));
        if let Some(hardware) = &mut self.hardware {
            hardware.on_air = Some(next);
        }
        true
    }

    /// Gives the MPDUs of one holder to another.
    fn pass_on(&mut self, agreement: u32, from: HeldBy, to: HeldBy) {
        let window = self.agreements[agreement as usize].originator.window.iter_mut();
        window.filter(|mpdu| mpdu.in_flight == Some(from)).for_each(|mpdu| mpdu.in_flight = Some(to));
    }

    /// Ends the exchange of a prepared A-MPDU: the radio knows the result now, the driver after its completion.
    pub(super) fn leave_air(
        &mut self,
        now: Time,
        psdu: &mut Psdu,
        tried: &Tried,
        is_answered: bool,
        (bss, links, books): (&BssConfig, &mut Links, &mut Books),
        env: &mut impl Environment<B>,
    ) -> Fate {
        let acknowledged = self.arrived(psdu.agreement, HeldBy::Radio(psdu.part.from));
        self.observe_ampdu(now, psdu, tried, if is_answered { acknowledged } else { 0 }, (bss, links), env);
        let Some(hardware) = &mut self.hardware else { return Fate::Tried };
        let Some(of) = hardware.on_air.take() else { return Fate::Tried };
        let (sender, at) = (hardware.sender.0, hardware.completes_at(now));
        self.pass_on(psdu.agreement, HeldBy::Radio(psdu.part.from), HeldBy::Hardware(of.batch));
        psdu.lengths.clear();
        if let Some(hardware) = &mut self.hardware {
            hardware.ended.push_back(Ended { of, tried: *tried, at: now, is_answered });
        }
        if at > now {
            env.schedule(at, MediumEvent::Completion { sender });
        } else {
            self.complete(now, (bss, links, books), env);
        }
        if is_answered {
            self.failures = 0;
            Fate::Tried
        } else {
            self.count_failure()
        }
    }

    /// Number of MPDUs of a holder whose content the recipient has.
    fn arrived(&self, agreement: u32, holder: HeldBy) -> u32 {
        let window = &self.agreements[agreement as usize].originator.window;
        let arrived = |mpdu: &&Mpdu<B>| mpdu.in_flight == Some(holder) && mpdu.content.is_none();
        window.iter().filter(arrived).count() as u32
    }

    /// Reports the completion of the A-MPDU that ended first: to the rate control, to the queue, to those whose packets
    /// it held. Firmware reports all that is due.
    pub(crate) fn complete(
        &mut self,
        now: Time,
        (bss, links, books): (&BssConfig, &mut Links, &mut Books),
        env: &mut impl Environment<B>,
    ) {
        let Some(hardware) = &mut self.hardware else { return self.take_reports(now, env) };
        let Some(Ended { of, tried, at, is_answered }) = hardware.ended.pop_front() else { return };
        let Prepared { batch, mut psdu, rates } = of;
        let holder = HeldBy::Hardware(batch);
        let acknowledged = if is_answered { self.arrived(psdu.agreement, holder) } else { 0 };
        self.report_status(now, &psdu, &tried, acknowledged, at.since(tried.began), (bss, links));
        let agreement = &mut self.agreements[psdu.agreement as usize];
        if is_answered {
            // A BlockAck covers the whole window, but the hardware's other A-MPDUs stay as they are.
            let covered = |mpdu: &&mut Mpdu<B>| mpdu.in_flight.is_none() || mpdu.in_flight == Some(holder);
            let window = agreement.originator.window.iter_mut();
            window.filter(covered).for_each(|mpdu| mpdu.done |= mpdu.content.is_none());
        } else {
            agreement.rates = rates;
        }
        if self.give_up_mpdus(now, psdu.agreement, holder, books, env) || (!is_answered && bss.asks_after_loss) {
            self.ask(now, &psdu);
        }
        self.advance(now, &mut psdu, env);
    }
}
