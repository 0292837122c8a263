//! PPDUs come on the air and leave it: the nodes that sense them, receive them and defer, and for how long.

use lasthop_observe::{NodeId, Record};
use lasthop_units::{Bytes, Time};

use crate::air::carrier_sense::Begun;
use crate::air::on_air::Transmission;
use crate::air::received::{Missed, Reception};
use crate::environment::{Environment, MediumEvent};
use crate::ids::TxId;
use crate::medium::Medium;
use crate::ppdu::{CTS_BYTES, Part, Ppdu, PpduKind};

impl<B: Send + 'static> Medium<B> {
    /// Puts a PPDU on the air at `at`, which is now, or a SIFS later if no other PPDU can come between.
    #[inline(always)]
    pub(crate) fn launch(&mut self, at: Time, ppdu: Ppdu, env: &mut impl Environment<B>) {
        let from = ppdu.from();
        let (id, end) = self.air.begin(at, ppdu);
        if ppdu.first.ru.is_some() {
            self.report_parts_on(at, &ppdu, env);
        } else {
            env.observe(at, Record::TransmitterOn { node: from, link: ppdu.own_link() });
        }
        let overlaps_missed = self.overlaps_missed(at, &ppdu, env);
        if self.air.is_uniform() {
            self.access.ppdu_starts(at, self.access.view_of(from), from, env);
        } else if let Some(group) = self.air.hearing.group_of(from) {
            self.sense_start_in_group(at, &ppdu, group, env);
        } else {
            self.sense_start_by_each(at, &ppdu, env);
        }
        self.note_start(at, &ppdu, overlaps_missed, env);
        env.schedule(end, MediumEvent::PpduEnds(id.0));
        self.report_on_air(at, from, env);
        if self.air.energy.is_some() {
            self.give_up_unheard(at, &ppdu, env);
        }
    }

    /// Starts a PPDU in each node's own view, in which it is noticed or not.
    #[inline(always)]
    pub(crate) fn sense_start_by_each(&mut self, at: Time, ppdu: &Ppdu, env: &mut impl Environment<B>) {
        if ppdu.of_several {
            self.sense_start_as::<true>(at, ppdu, env);
        } else {
            self.sense_start_as::<false>(at, ppdu, env);
        }
    }

    /// The same for a PPDU of an exchange with several users, or with one.
    #[inline(never)]
    fn sense_start_as<const SEVERAL: bool>(&mut self, at: Time, ppdu: &Ppdu, env: &mut impl Environment<B>) {
        let from = ppdu.from();
        let begun = self.air.begun(at, ppdu);
        let several = SEVERAL && self.air.has_several_senders(ppdu);
        let hearers = if several { self.air.hearers_of_several(at, ppdu) } else { self.air.hearers(from) };
        for hearer in &*hearers {
            if self.air.hearing.shares(NodeId(hearer.view)) {
                continue;
            }
            let (view, node) = (hearer.view as usize, NodeId(hearer.view));
            let sends = if several { self.air.sends_part(node, ppdu) } else { node == from };
            let by_node = Begun { from: node, ..begun };
            let begun = if several && sends { &by_node } else { &begun };
            let noticed = self.air.notice(hearer, begun, several);
            if noticed.begins {
                if sends {
                    self.access.view_mut(view).end_eifs();
                }
                if noticed.as_energy {
                    self.access.energy_noticed(at, view, env);
                } else {
                    self.access.ppdu_starts(at, view, begun.from, env);
                }
            }
            self.access.ppdus_end(at, view, noticed.forgotten, env);
            if let Some(at) = noticed.ask_at {
                env.schedule(at, MediumEvent::Recognises { view: view as u32 });
            }
        }
    }

    /// Lets `view` notice PPDUs under way whose preambles it has missed.
    pub(crate) fn recognise(&mut self, now: Time, view: usize, env: &mut impl Environment<B>) {
        let mut known: Vec<NodeId> = Vec::new();
        let access = &mut self.access;
        let next = self.air.recognise(view, now, |from, was_energy| {
            if was_energy {
                access.view_mut(view).frame_joins(now);
            } else {
                access.ppdu_noticed(now, view, env);
                known.push(from);
            }
        });
        if let Some(at) = next {
            env.schedule(at, MediumEvent::Recognises { view: view as u32 });
        }
        self.note_recognised(now, view, &known, env);
    }

    #[inline(always)]
    fn report_end(&self, now: Time, ppdu: &Ppdu, env: &mut impl Environment<B>) {
        if ppdu.first.ru.is_some() {
            self.report_parts_off(now, ppdu, env);
        } else {
            env.observe(now, Record::Airtime { node: ppdu.from(), link: ppdu.own_link(), duration: ppdu.airtime });
        }
        self.report_on_air(now, ppdu.from(), env);
    }

    #[inline(always)]
    fn report_on_air(&self, at: Time, from: NodeId, env: &mut impl Environment<B>) {
        let channel = self.air.channel_of(from);
        env.observe(at, Record::OnAir { channel, count: self.air.count_on(channel) });
    }

    #[inline(always)]
    pub(crate) fn ppdu_ends(&mut self, now: Time, id: TxId, env: &mut impl Environment<B>) {
        let ended = self.air.end(id);
        let ppdu = &ended.ppdu;
        self.report_end(now, ppdu, env);
        let reception = self.receive(now, &ended);
        let uniform = self.air.is_uniform();
        if !uniform {
            self.note_lengths(ppdu);
        }
        self.note_contents(now, ppdu, reception, env);
        let outlived = self.air.energy.is_some() && self.is_outlived(ppdu);
        let next = self.step(now, &ended, reception, env);
        self.note_end(now, ppdu, ended.is_disturbed, reception, next.is_some() || outlived, env);
        if uniform {
            self.note_all_told(now, ppdu, !ended.is_disturbed, env);
            self.end_for_all(now, &ended, next, env);
        } else {
            self.note_received(now, &ended, reception, env);
            let goes_on = next.is_some();
            self.respond_after_sifs(now, next, env);
            match self.air.hearing.group_of(ended.ppdu.from()) {
                Some(group) => self.end_in_group(now, &ended, reception, goes_on, group, env),
                None => self.end_for_each(now, &ended, reception, None, env),
            }
            self.note_all_told(now, &ended.ppdu, false, env);
        }
        self.air.forget(ended);
    }

    /// Keeps the lengths of the MPDUs that bystanders overhear: any MPDU of an A-MPDU tells them the duration.
    fn note_lengths(&mut self, ppdu: &Ppdu) {
        self.overheard.clear();
        if ppdu.kind == PpduKind::Ampdu {
            self.overheard.extend_from_slice(&self.exchanges[ppdu.exchange].user.psdu.lengths);
        } else {
            self.overheard.push(ppdu.first.bytes);
        }
    }

    /// Ends a PPDU in the one view for all: either every node decoded it or none did.
    #[inline(always)]
    fn end_for_all(&mut self, now: Time, ended: &Transmission, next: Option<Ppdu>, env: &mut impl Environment<B>) {
        let Part { from, mode, .. } = ended.ppdu.first;
        let view = self.access.view_of(from);
        if !ended.is_disturbed {
            self.access.view_mut(view).end_eifs();
        } else if self.after_loss.bystanders_wait_eifs() && self.air.locks_on(ended, from) {
            let eifs = self.layout.phy_of(from).eifs(mode);
            self.access.view_mut(view).reception_failed(eifs);
        }
        self.follow(now, view, next, env);
    }

    /// Continues after a PPDU that has ended for all. A PPDU a SIFS later is put on the air at once, as no other can
    /// come between.
    #[inline(always)]
    fn follow(&mut self, now: Time, view: usize, next: Option<Ppdu>, env: &mut impl Environment<B>) {
        match next {
            Some(next) if self.access.view(view).is_last() => {
                let at = now + self.layout.phy_of(next.from()).sifs();
                if matches!(next.kind, PpduKind::Ack | PpduKind::BlockAck) && !next.of_several {
                    // The medium stays busy.
                    return self.answer(at, next, env);
                }
                self.launch(at, next, env);
            }
            next => self.respond_after_sifs(now, next, env),
        }
        self.access.ppdus_end(now, view, 1, env);
    }

    /// Sends an acknowledgement a SIFS after its frame, where all hear all and no other node sends: nothing can disturb
    /// it, so only its end is awaited.
    #[inline(always)]
    fn answer(&mut self, at: Time, answer: Ppdu, env: &mut impl Environment<B>) {
        let from = answer.from();
        self.air.switch_on(&answer);
        env.observe(at, Record::TransmitterOn { node: from, link: answer.own_link() });
        self.note_start(at, &answer, false, env);
        env.schedule(at + answer.airtime, MediumEvent::AnswerEnds(from));
        self.report_on_air(at, from, env);
        self.stations[from.index()].response = Some(answer);
    }

    /// Ends an acknowledgement of `from` that nothing has disturbed.
    #[inline(always)]
    pub(crate) fn answer_ends(&mut self, now: Time, from: NodeId, env: &mut impl Environment<B>) {
        let answer = self.stations[from.index()].response.take().expect("what ends has begun");
        self.air.switch_off(&answer);
        self.report_end(now, &answer, env);
        let next = self.exchange_succeeded(now, &answer, env);
        self.note_end(now, &answer, false, Some(Reception::Decoded), next.is_some(), env);
        self.note_told(now, from, true, env);
        let view = self.access.view_of(from);
        self.access.view_mut(view).end_eifs();
        self.follow(now, view, next, env);
    }

    /// Ends a PPDU in each node's own view: each decodes for itself, and sets its NAV or waits EIFS. Nodes that share a
    /// view are only added to `failed` if they do not decode it; without that list they are left out.
    #[inline(always)]
    pub(crate) fn end_for_each(
        &mut self,
        now: Time,
        ended: &Transmission,
        at_destination: Option<Reception>,
        failed: Option<&mut Vec<NodeId>>,
        env: &mut impl Environment<B>,
    ) {
        if ended.ppdu.of_several {
            self.end_for_each_as::<true>(now, ended, at_destination, failed, env);
        } else {
            self.end_for_each_as::<false>(now, ended, at_destination, failed, env);
        }
    }

    /// The same for a PPDU of an exchange with several users, or with one.
    #[inline(never)]
    fn end_for_each_as<const SEVERAL: bool>(
        &mut self,
        now: Time,
        ended: &Transmission,
        at_destination: Option<Reception>,
        mut failed: Option<&mut Vec<NodeId>>,
        env: &mut impl Environment<B>,
    ) {
        let part = &ended.ppdu.first;
        let lengths = std::mem::take(&mut self.overheard);
        let shortcut = self.air.shortcut(ended, part, lengths.len());
        if self.air.all_share_and_decode(part.from, shortcut, at_destination) {
            self.overheard = lengths;
            return;
        }
        let several = SEVERAL && self.air.has_several_senders(&ended.ppdu);
        let hearers = match several {
            true => self.air.hearers_of_several(ended.start, &ended.ppdu),
            false => self.air.hearers(part.from),
        };
        for hearer in &*hearers {
            let (view, node) = (hearer.view as usize, NodeId(hearer.view));
            let from = if several && self.air.sends_part(node, &ended.ppdu) { node } else { part.from };
            if self.air.hearing.shares(node) {
                let Some(failed) = failed.as_deref_mut().filter(|_| node != part.from) else { continue };
                let settled = || shortcut.settles_alone(hearer.power_mw);
                if self.fate_at::<SEVERAL>(now, ended, node, at_destination, settled, &lengths).is_err() {
                    failed.push(node);
                }
                continue;
            }
            let Some(heard) = self.air.heard(view, from) else { continue };
            if heard.received {
                let fate =
                    self.fate_at::<SEVERAL>(now, ended, node, at_destination, || shortcut.settles(&heard), &lengths);
                if fate.is_ok() && part.to.one() != Some(node) {
                    self.note_overheard(now, ended, node, env);
                }
                self.defer(now, ended, node, fate, env);
            }
            // PPDUs that the node notices no longer.
            let gone = self.air.lose(view, heard);
            self.access.ppdus_end(now, view, gone, env);
        }
        self.overheard = lengths;
    }

    /// The fate of a PPDU at a node: known already at its destination, or as `settled` finds, or found by the full computation.
    #[inline(always)]
    fn fate_at<const SEVERAL: bool>(
        &mut self,
        now: Time,
        ended: &Transmission,
        node: NodeId,
        at_destination: Option<Reception>,
        settled: impl FnOnce() -> Option<Result<(), Missed>>,
        lengths: &[u32],
    ) -> Result<(), Missed> {
        let part = &ended.ppdu.first;
        let known = if SEVERAL {
            self.heard_by_user(&ended.ppdu, node)
        } else {
            at_destination.filter(|_| part.to.one() == Some(node))
        };
        match known {
            Some(reception) => reception.in_short(),
            None if self.layout.widths_differ && self.layout.is_too_wide(part, node) => Err(Missed::TooWide),
            None => match settled() {
                Some(fate) => fate,
                None => self.air.overhears(now, ended, part, node, lengths),
            },
        }
    }

    /// Sets the time at which `node` may send after a frame that it has tried to receive
    /// [802.11-2020 §10.3.2.3.7, §10.3.2.4].
    fn defer(
        &mut self,
        now: Time,
        ended: &Transmission,
        node: NodeId,
        fate: Result<(), Missed>,
        env: &mut impl Environment<B>,
    ) {
        let (ppdu, view) = (&ended.ppdu, self.access.view_of(node));
        match fate {
            Ok(()) => {
                let of = self.access.view_mut(view);
                of.end_eifs();
                if ppdu.kind == PpduKind::CfEnd {
                    return of.end_nav(now);
                }
                let longer = ppdu.first.to.one() != Some(node) && of.set_nav(ppdu.reserves_until, ppdu.initiator);
                if longer && ppdu.kind == PpduKind::Rts {
                    self.expect_cts(now, node, ppdu, env);
                }
            }
            Err(Missed::Deaf) => {}
            // Each 20 MHz carry the preamble, of which 802.11ax has the duration [802.11ax-2021 §26.2.4].
            Err(Missed::TooWide) if self.reads_duration(ppdu, node) => {
                let of = self.access.view_mut(view);
                of.end_eifs();
                of.set_nav(ppdu.reserves_until, ppdu.initiator);
            }
            Err(_) => {
                if self.after_loss.bystanders_wait_eifs() {
                    let eifs = self.layout.phy_of(ppdu.from()).eifs(ppdu.first.mode);
                    let of = self.access.view_mut(view);
                    of.reception_failed(eifs);
                    of.end_apart();
                }
            }
        }
    }

    /// Whether `node` finds the duration of a PPDU in its preamble: both are of 802.11ax.
    fn reads_duration(&self, ppdu: &Ppdu, node: NodeId) -> bool {
        self.layout.phy_of(ppdu.from()).standard().has_he() && self.layout.phy_of(node).standard().has_he()
    }

    /// Takes back a NAV set by an RTS if nothing is heard for 2 SIFS + CTS + aRxPHYStartDelay + 2 slots
    /// [802.11-2020 §10.3.2.4].
    fn expect_cts(&mut self, now: Time, by: NodeId, rts: &Ppdu, env: &mut impl Environment<B>) {
        let phy = self.layout.phy_of(rts.from());
        let cts = phy.control_response_mode(rts.first.mode);
        let duration = phy.ppdu_duration(cts, Bytes(u64::from(CTS_BYTES)));
        let wait = phy.sifs() * 2 + duration + phy.rx_start_delay(cts) + phy.slot() * 2;
        env.schedule(now + wait, MediumEvent::NavTimeout { by, since: now });
    }
}
