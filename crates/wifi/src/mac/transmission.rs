//! PPDUs come on the air and leave it: who senses them, who receives them, who defers for how long.

use lasthop_observe::{NodeId, Record};
use lasthop_units::{Bytes, Duration, Time};

use super::carrier_sense::Begun;
use super::node::State;
use super::ppdu::{CTS_BYTES, Overlap, Ppdu, PpduKind, Transmission};
use super::received::Reception;
use crate::medium::{Environment, Medium, MediumEvent};
use crate::phy::{ModeId, ModulationClass};

impl<B: Send + 'static> Medium<B> {
    /// Time on the air of what `from` sends in one of its modes.
    pub(crate) fn airtime(&self, from: NodeId, mode: ModeId, bytes: u32) -> Duration {
        self.phy_of(from).ppdu_duration(mode, Bytes(u64::from(bytes)))
    }

    /// Puts a PPDU on the air at `at`, which is now, or a SIFS later where nobody can come between.
    pub(crate) fn launch(&mut self, at: Time, ppdu: Ppdu, env: &mut impl Environment<B>) {
        let from = ppdu.from;
        let node = &mut self.nodes[from.index()];
        assert!(!node.transmitting, "node {} began to send while it was sending", from.0);
        node.transmitting = true;
        let id = self.next_id;
        self.next_id = self.next_id.wrapping_add(1);
        let end = at + ppdu.airtime;
        let mut overlaps = Vec::new();
        let (nodes, bss) = (&self.nodes, &self.bss);
        let channel = |node: NodeId| bss[nodes[node.index()].bss].channel;
        let own_channel = channel(from);
        let single = bss.len() == 1;
        let there = |o: &&mut Transmission| o.end > at && (single || channel(o.ppdu.from) == own_channel);
        for other in self.on_air.iter_mut().filter(there) {
            overlaps.push(Overlap { node: other.ppdu.from, start: other.start, end: other.end });
            other.overlaps.push(Overlap { node: from, start: at, end });
        }
        self.on_air.push(Transmission { id, ppdu, start: at, end, overlaps });
        env.observe(at, Record::TransmitterOn { node: from, link: ppdu.own_link() });
        let tramples = self.tramples(at, &ppdu, env);
        if self.channel.is_uniform() {
            self.sense_start(at, self.view_of(from), from, env);
        } else {
            self.sense_start_by_each(at, &ppdu, end, env);
        }
        self.note_start(at, &ppdu, tramples, env);
        env.schedule(end, MediumEvent::PpduEnds(id));
        self.report_on_air(at, own_channel, env);
    }

    /// Each node has a view of its own, and notices a PPDU or not.
    fn sense_start_by_each(&mut self, at: Time, ppdu: &Ppdu, end: Time, env: &mut impl Environment<B>) {
        let from = ppdu.from;
        let phy = self.phy_of(from);
        let header_ends = at + phy.rx_start_delay(ppdu.mode);
        let is_ofdm = phy.mode(ppdu.mode).class != ModulationClass::Dsss;
        let begun = Begun { from, start: at, header_ends, end, is_ofdm };
        for view in 0..self.views.len() {
            let noticed = self.carrier_sense.begins(&self.channel, view, &begun);
            if noticed.begins {
                self.sense_start(at, view, from, env);
            }
            for _ in 0..noticed.forgotten {
                self.views[view].ppdu_ends();
            }
            if let Some(at) = noticed.ask_at {
                env.schedule(at, MediumEvent::Recognises { view: view as u32 });
            }
        }
    }

    /// `view` notices PPDUs under way whose preambles it has missed.
    pub(crate) fn recognise(&mut self, now: Time, view: usize, env: &mut impl Environment<B>) {
        let (functions, spaces, sensed) = (&mut self.functions, &self.spaces[view], &mut self.views[view]);
        let mut known: Vec<NodeId> = Vec::new();
        let next = self.carrier_sense.recognises(view, now, |from| {
            sensed.ppdu_noticed(now, spaces, 0..0, |id, boundary| {
                functions[id.index()].state = State::Committed { at: boundary };
                env.schedule(boundary, MediumEvent::Start { function: id.0 });
            });
            known.push(from);
        });
        if let Some(at) = next {
            env.schedule(at, MediumEvent::Recognises { view: view as u32 });
        }
        self.note_recognised(now, view, &known, env);
    }

    #[inline(always)]
    fn report_on_air(&self, at: Time, channel: u32, env: &mut impl Environment<B>) {
        let there = |t: &&Transmission| self.bss[self.nodes[t.ppdu.from.index()].bss].channel == channel;
        let count = if self.bss.len() == 1 { self.on_air.len() } else { self.on_air.iter().filter(there).count() };
        env.observe(at, Record::OnAir { channel, count: count as u32 });
    }

    #[inline(always)]
    fn sense_start(&mut self, at: Time, view: usize, from: NodeId, env: &mut impl Environment<B>) {
        if !self.channel.is_uniform() && view == from.index() {
            self.views[view].end_eifs();
        }
        let (functions, own) = (&mut self.functions, self.nodes[from.index()].functions.clone());
        self.views[view].ppdu_starts(at, &self.spaces[view], own.clone(), |id, boundary| {
            functions[id.index()].state = State::Committed { at: boundary };
            if !own.contains(&id.0) {
                env.schedule(boundary, MediumEvent::Start { function: id.0 });
            }
        });
    }

    pub(crate) fn ppdu_ends(&mut self, now: Time, id: u32, env: &mut impl Environment<B>) {
        let index = self.on_air.iter().position(|t| t.id == id).expect("a PPDU that ends is on the air");
        let ended = self.on_air.swap_remove(index);
        let ppdu = &ended.ppdu;
        self.nodes[ppdu.from.index()].transmitting = false;
        env.observe(now, Record::Airtime { node: ppdu.from, link: ppdu.own_link(), duration: ppdu.airtime });
        self.report_on_air(now, self.bss[self.nodes[ppdu.from.index()].bss].channel, env);
        let reception = ppdu.to.map(|to| match ppdu.kind {
            PpduKind::Ampdu => self.ampdu_reception(now, &ended, to),
            _ => self.reception(now, &ended, to),
        });
        if !self.channel.is_uniform() {
            self.note_lengths(ppdu);
        }
        let next = self.step(now, &ended, reception, env);
        self.note_end(now, &ended, reception, next.is_some(), env);
        if self.channel.is_uniform() {
            self.end_for_all(now, &ended, next, env);
        } else {
            self.respond_after_sifs(now, next, env);
            self.end_for_each(now, &ended, reception, env);
        }
    }

    /// Keeps the lengths of what bystanders overhear: any MPDU of an A-MPDU tells them the duration.
    fn note_lengths(&mut self, ppdu: &Ppdu) {
        self.overheard.clear();
        if ppdu.kind == PpduKind::Ampdu {
            self.overheard.extend_from_slice(&self.functions[ppdu.function.index()].lengths);
        } else {
            self.overheard.push(ppdu.bytes);
        }
    }

    fn respond_after_sifs(&mut self, now: Time, response: Option<Ppdu>, env: &mut impl Environment<B>) {
        let Some(response) = response else { return };
        let node = &mut self.nodes[response.from.index()];
        assert!(node.response.is_none(), "node {} owes two responses at once", response.from.0);
        node.response = Some(response);
        let sifs = self.phy_of(response.from).sifs();
        env.schedule(now + sifs, MediumEvent::Respond(response.from));
    }

    /// One view for all: either everybody decoded the PPDU or nobody did. What follows after a SIFS is put
    /// on the air at once, as nobody can come between.
    #[inline(always)]
    fn end_for_all(&mut self, now: Time, ended: &Transmission, next: Option<Ppdu>, env: &mut impl Environment<B>) {
        let view = self.view_of(ended.ppdu.from);
        if ended.overlaps.is_empty() {
            self.views[view].end_eifs();
        } else if self.after_loss.bystanders_wait_eifs() && self.locks_on(ended, ended.ppdu.from) {
            let eifs = self.phy_of(ended.ppdu.from).eifs(ended.ppdu.mode);
            self.views[view].reception_failed(eifs);
        }
        match next {
            Some(next) if self.views[view].is_last() => self.launch(now + self.phy_of(next.from).sifs(), next, env),
            next => self.respond_after_sifs(now, next, env),
        }
        if self.views[view].ppdu_ends() {
            self.views[view].turns_idle(now, &self.spaces[view]);
            self.schedule_backoff(view, env);
        }
    }

    /// A view for each node: each decodes for itself, and sets its NAV or waits EIFS.
    fn end_for_each(
        &mut self,
        now: Time,
        ended: &Transmission,
        at_destination: Option<Reception>,
        env: &mut impl Environment<B>,
    ) {
        let ppdu = &ended.ppdu;
        let lengths = std::mem::take(&mut self.overheard);
        for view in 0..self.views.len() {
            let node = NodeId(view as u32);
            if node != ppdu.from && self.carrier_sense.notices(&self.channel, view, ppdu.from) {
                let known = at_destination.filter(|_| ppdu.to == Some(node));
                let reception = known.unwrap_or_else(|| self.overhears(now, ended, node, &lengths));
                self.defer(now, ended, node, reception, env);
            }
            self.sense_end(now, view, ppdu.from, env);
        }
        self.overheard = lengths;
    }

    /// What `view` does not notice any more when a PPDU of `from` has ended.
    fn sense_end(&mut self, now: Time, view: usize, from: NodeId, env: &mut impl Environment<B>) {
        let gone = self.carrier_sense.ends(&self.channel, view, from);
        let idle = (0..gone).map(|_| self.views[view].ppdu_ends()).last();
        if idle == Some(true) {
            self.views[view].turns_idle(now, &self.spaces[view]);
            self.schedule_backoff(view, env);
        }
    }

    /// What a received frame means for the time at which `node` may send [802.11-2020 §10.3.2.3.7, §10.3.2.4].
    fn defer(
        &mut self,
        now: Time,
        ended: &Transmission,
        node: NodeId,
        reception: Reception,
        env: &mut impl Environment<B>,
    ) {
        let ppdu = &ended.ppdu;
        let view = self.view_of(node);
        match reception {
            Reception::Decoded => {
                self.views[view].end_eifs();
                let longer = ppdu.to != Some(node) && self.views[view].set_nav(ppdu.reserves_until);
                if longer && ppdu.kind == PpduKind::Rts {
                    self.expect_cts(now, view, ppdu, env);
                }
            }
            Reception::Deaf => {}
            Reception::Collided | Reception::Interfered | Reception::Noisy => {
                if self.after_loss.bystanders_wait_eifs() && self.locks_on(ended, node) {
                    let eifs = self.phy_of(ppdu.from).eifs(ppdu.mode);
                    self.views[view].reception_failed(eifs);
                    self.views[view].end_apart();
                }
            }
        }
    }

    /// A NAV set by an RTS may be taken back if nothing is heard for
    /// 2 SIFS + CTS + aRxPHYStartDelay + 2 slots [802.11-2020 §10.3.2.4].
    fn expect_cts(&mut self, now: Time, view: usize, rts: &Ppdu, env: &mut impl Environment<B>) {
        let phy = self.phy_of(rts.from);
        let cts = phy.control_response_mode(rts.mode);
        let duration = phy.ppdu_duration(cts, Bytes(u64::from(CTS_BYTES)));
        let wait = phy.sifs() * 2 + duration + phy.rx_start_delay(cts) + phy.slot() * 2;
        env.schedule(now + wait, MediumEvent::NavTimeout { view: view as u32, since: now });
    }

    pub(crate) fn nav_timeout(&mut self, now: Time, view: usize, since: Time, env: &mut impl Environment<B>) {
        if !self.views[view].heard_since(now, since) && self.views[view].nav_is_set(now) {
            self.views[view].reset_nav(now, &self.spaces[view]);
            self.schedule_backoff(view, env);
        }
    }
}
