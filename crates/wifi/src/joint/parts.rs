//! PPDUs of several users on the air: who receives which part, and answers that are sent together.

use lasthop_observe::{NodeId, Outcome, Record};
use lasthop_units::{Bytes, Duration, Time};

use crate::air::on_air::Transmission;
use crate::air::received::Reception;
use crate::environment::Environment;
use crate::exchange::User;
use crate::medium::Medium;
use crate::multi_user::{Plan, Users, shares};
use crate::phy::{ChannelWidth, ModeId, Phy, Ru, RuPart};
use crate::ppdu::{Part, Ppdu, PpduKind, To};
use crate::sender::psdu::Tried;

impl User {
    /// The station of a user: the end of its link that is not an access point.
    pub(crate) fn station(&self) -> Option<NodeId> {
        // Link 2k leads to the AP, 2k + 1 back.
        if self.psdu.part.link.0.is_multiple_of(2) { Some(self.psdu.part.from) } else { self.psdu.part.to.one() }
    }

    /// Returns whether the latest PPDU of this user was decoded.
    pub(crate) fn has_heard(&self) -> bool {
        self.heard == Some(Reception::Decoded)
    }

    /// Returns whether its latest PPDU was decoded and had data, which an acknowledgement answers.
    pub(crate) fn is_acknowledged(&self) -> bool {
        self.has_heard() && !self.is_null()
    }

    /// Returns whether it answers a trigger with a BlockAckReq.
    pub(crate) fn is_request(&self) -> bool {
        self.psdu.kind == PpduKind::BlockAckReq && self.psdu.lengths.is_empty()
    }

    /// Returns whether it has neither data nor a BlockAckReq.
    pub(crate) fn is_null(&self) -> bool {
        self.psdu.lengths.is_empty() && !self.is_request()
    }

    /// The cause of an acknowledgement that did not come: the loss of the data, or of the acknowledgement.
    fn cause(&self) -> Outcome {
        let arrived = self.received.decoded.contains(&true);
        let lost = if arrived { self.heard.map(Reception::outcome) } else { self.lost_to };
        lost.filter(|outcome| *outcome != Outcome::Success).unwrap_or(Outcome::Collision)
    }
}

impl<B: Send + 'static> Medium<B> {
    /// Changes what an access point knows of its stations.
    pub(super) fn note_users(&mut self, ap: NodeId, note: impl FnOnce(&mut Users)) {
        note(&mut self.users[self.layout.node(ap).bss as usize]);
    }

    /// Handles the end of a PPDU of an exchange of several users; returns the one that follows.
    #[inline(never)]
    pub(crate) fn step_of_several(&mut self, now: Time, ppdu: &Ppdu, env: &mut impl Environment<B>) -> Option<Ppdu> {
        match self.exchanges[ppdu.exchange].plan {
            Plan::Downlink { acknowledge, asked } => self.step_of_downlink(now, ppdu, acknowledge, asked, env),
            plan => self.step_of_uplink(now, ppdu, plan, env),
        }
    }

    /// The receptions of the parts of a PPDU that ends now, each at its receiver, or of a frame for several at each of them:
    /// decoded if any part is. Users without a part in a PPDU of stations have not answered.
    #[inline(never)]
    pub(crate) fn receive_parts(&mut self, now: Time, ended: &Transmission) -> Option<Reception> {
        let ppdu = &ended.ppdu;
        if ppdu.kind.is_for_several() {
            for user in self.exchanges[ppdu.exchange].users_mut() {
                let station = user.station();
                user.heard = station.map(|station| self.air.reception(now, ended, &ppdu.first, station));
            }
            return None;
        }
        let parts: Vec<Part> = self.air.parts(ppdu).copied().collect();
        let of = &mut self.exchanges[ppdu.exchange];
        of.users_mut().for_each(|user| user.heard = None);
        let mut all = None;
        for part in &parts {
            let Some(to) = part.to.one() else { continue };
            let station = if part.from == ppdu.initiator { to } else { part.from };
            let Some(user) = of.users_mut().find(|user| user.station() == Some(station)) else { continue };
            let heard = if ppdu.kind == PpduKind::Ampdu && !user.psdu.lengths.is_empty() {
                let heard = self.air.receive_mpdus(now, ended, part, to, &user.psdu.lengths, &mut user.received);
                let whole = (heard != Reception::Decoded).then_some(heard);
                user.lost_to = whole.or(user.received.lost_to).map(Reception::outcome);
                heard
            } else {
                self.air.reception(now, ended, part, to)
            };
            user.heard = Some(heard);
            all = if all == Some(Reception::Decoded) { all } else { Some(heard) };
        }
        if of.users().any(|user| user.is_random) {
            of.collide_in_units();
        }
        all
    }

    /// Passes data that have arrived to the recipients.
    pub(super) fn take_up_data(&mut self, now: Time, ppdu: &Ppdu, env: &mut impl Environment<B>) {
        let of = &self.exchanges[ppdu.exchange];
        for user in of.users().filter(|user| user.has_heard() && user.is_request()) {
            self.senders[user.sender.index()].receive_block_ack_req(now, &user.psdu, &mut self.books, env);
        }
        for user in of.users().filter(|user| user.has_heard() && !user.psdu.lengths.is_empty()) {
            let (id, decoded) = (user.sender, &user.received.decoded);
            self.senders[id.index()].receive_ampdu(now, id, &user.psdu, decoded, &mut self.books, env);
        }
    }

    /// Reports to a sender whether the acknowledgement of its data came. Time is shared by tones. A triggered station keeps its
    /// window and its counter, and an access point counts no failure for one lost acknowledgement of several.
    pub(super) fn settle_user(
        &mut self,
        now: Time,
        last: &Ppdu,
        place: usize,
        came: bool,
        env: &mut impl Environment<B>,
    ) {
        let of = &mut self.exchanges[last.exchange];
        let (by, spent) = (of.by, now.since(of.began));
        let share = shares(spent, of.users().map(|user| user.ru.tones())).nth(place).unwrap_or(spent);
        let user = of.user_mut(place);
        let Part { from, to, .. } = user.psdu.part;
        let outcome = if came { Outcome::Success } else { user.cause() };
        let snr = to.one().and_then(|to| self.air.snr_of(now, to, from));
        let began = Time::from_nanos(now.as_nanos() - share.as_nanos());
        let tried = Tried { outcome, lost_to: user.lost_to, began, snr };
        let with = (self.layout.bss_of(by), &mut self.links, &mut self.books);
        let (sender, psdu) = (&mut self.senders[user.sender.index()], &mut user.psdu);
        if from != by {
            env.observe(now, Record::Triggered { node: from, mpdus: psdu.lengths.len() as u32 });
        }
        match came {
            true if from == by => sender.ampdu_acknowledged(now, psdu, &tried, with, env),
            true => sender.keeping_failures(|sender| sender.ampdu_acknowledged(now, psdu, &tried, with, env)),
            false => drop(sender.keeping_failures(|sender| sender.ampdu_lost(now, psdu, &tried, with, env))),
        }
    }

    /// Ends an exchange with several users, and lets the function that has won it contend again.
    pub(super) fn end_of_several(&mut self, now: Time, last: &Ppdu, any: bool, env: &mut impl Environment<B>) {
        let id = self.exchanges[last.exchange].won_by;
        self.txop_ends(now, last.exchange, env);
        if any {
            self.access.succeeded(id);
        } else {
            self.access.failed(id);
        }
        let waits = !any && self.after_loss.sender_waits_ack_timeout() && last.from() == last.initiator;
        let apart = waits.then(|| self.counts_after_timeout(now, id, last));
        self.contend_again(now, id, apart, env);
    }

    /// A PPDU of these parts that follows another one of its exchange; `None` without parts.
    pub(super) fn ppdu_of(&mut self, kind: PpduKind, parts: &[Part], airtime: Duration, before: &Ppdu) -> Option<Ppdu> {
        let (first, others) = parts.split_first()?;
        let more = (!others.is_empty()).then(|| self.air.keep_parts(others));
        Some(Ppdu { kind, first: *first, more, airtime, ..*before })
    }

    /// A frame of the access point for all users that follows a PPDU of its exchange, in the mode of responses to `asked_in`.
    pub(super) fn for_all_users(&self, kind: PpduKind, bytes: Bytes, asked_in: ModeId, before: &Ppdu) -> Ppdu {
        let phy = self.layout.phy_of(before.initiator);
        let (from, mode) = (before.initiator, phy.control_response_mode(asked_in));
        let first = Part { from, to: To::Nobody, mode, bytes: bytes.0 as u32, ru: None, ..before.first };
        Ppdu { kind, first, more: None, airtime: phy.ppdu_duration(mode, bytes), ..*before }
    }

    /// The user of a part of a PPDU; of one for several, the first.
    pub(crate) fn user_of_part(&self, ppdu: &Ppdu, part: &Part) -> &User {
        let of = &self.exchanges[ppdu.exchange];
        let station = if part.from == ppdu.initiator { part.to.one() } else { Some(part.from) };
        of.users().find(|user| station.is_some() && user.station() == station).unwrap_or(&of.user)
    }

    /// How the station of a user has received a PPDU of several users, if it is one that the exchange concerns.
    pub(crate) fn heard_by_user(&self, ppdu: &Ppdu, node: NodeId) -> Option<Reception> {
        let of = &self.exchanges[ppdu.exchange];
        of.users().find(|user| ppdu.from() == ppdu.initiator && user.station() == Some(node))?.heard
    }

    /// The mode of BlockAcks that are sent together: the fastest of one stream that needs no more than the one in which the
    /// user with the slowest of these modes would send a BlockAck alone.
    fn answer_mode(phy: &Phy, modes: impl Iterator<Item = ModeId>) -> ModeId {
        let data = modes.min().unwrap_or_default();
        let reference = phy.mode(phy.control_response_mode(data)).rate;
        let fits = |id: &ModeId| {
            let mode = phy.mode(*id);
            mode.mcs.is_some() && mode.streams == 1 && mode.non_ht_reference_rate() <= reference
        };
        let mut ids = (0..phy.modes().len() as u16).map(ModeId).filter(fits);
        ids.next_back().unwrap_or(data)
    }

    /// The mode of the BlockAcks that a trigger asks for.
    pub(crate) fn mode_of_answers(&self, asks: &Ppdu) -> ModeId {
        let modes = self.exchanges[asks.exchange].users().map(|user| user.psdu.part.mode);
        Self::answer_mode(self.layout.phy_of(asks.initiator), modes)
    }

    /// Time on the air of BlockAcks of users of these modes that are sent together.
    pub(super) fn block_acks_last(&self, by: NodeId, ru: Ru, modes: &[ModeId]) -> Duration {
        let phy = self.layout.phy_of(by);
        let mode = Self::answer_mode(phy, modes.iter().copied());
        let part = RuPart { mode, ru, psdu: phy.block_ack_bytes() };
        phy.he_tb_duration(&vec![part; modes.len()])
    }

    /// The BlockAcks of those users that have decoded the PPDU that asks for them, in one; `None` if there are none.
    pub(super) fn block_acks(&mut self, asks: &Ppdu) -> Option<Ppdu> {
        let of = &self.exchanges[asks.exchange];
        let (by, ru) = (of.by, of.user.ru);
        let phy = self.layout.phy_of(by);
        let modes: Vec<ModeId> = of.users().map(|user| user.psdu.part.mode).collect();
        let (mode, bytes) = (Self::answer_mode(phy, modes.iter().copied()), phy.block_ack_bytes().0 as u32);
        let part = |user: &User| {
            let Part { to, link, .. } = user.psdu.part;
            Some(Part { from: to.one()?, to: To::One(by), link, mode, bytes, ru: Some(ru) })
        };
        let parts: Vec<Part> = of.users().filter(|user| user.has_heard()).filter_map(part).collect();
        let airtime = self.block_acks_last(by, ru, &modes);
        self.ppdu_of(PpduKind::BlockAck, &parts, airtime, asks)
    }

    /// Reports the senders of the parts of a PPDU that comes on the air: its time is shared by tones.
    #[inline(never)]
    pub(crate) fn report_parts_on(&self, at: Time, ppdu: &Ppdu, env: &mut impl Environment<B>) {
        let tones = |part: &Part| part.ru.map_or(0, Ru::tones);
        let all = self.air.parts(ppdu).map(tones).sum();
        let mut before = 0;
        for part in self.air.parts(ppdu) {
            let (node, link, tones) = (part.from, ppdu.own_link_of(part), tones(part));
            env.observe(at, Record::PartOn { node, link, before, tones, all });
            before += tones;
        }
    }

    /// Reports that the parts of a PPDU have ended.
    #[inline(never)]
    pub(crate) fn report_parts_off(&self, now: Time, ppdu: &Ppdu, env: &mut impl Environment<B>) {
        for part in self.air.parts(ppdu) {
            env.observe(now, Record::PartOff { node: part.from, link: ppdu.own_link_of(part) });
        }
        if ppdu.kind == PpduKind::Ampdu {
            self.report_parts(now, ppdu, env);
        }
    }

    /// Reports the parts of a PPDU with data.
    fn report_parts(&self, now: Time, ppdu: &Ppdu, env: &mut impl Environment<B>) {
        let (ap, airtime) = (ppdu.initiator, ppdu.airtime);
        let width = self.layout.phy_of(ap).channel_width().unwrap_or(ChannelWidth::Mhz20);
        let of_tones = Ru::whole(width).tones();
        for (place, part) in self.air.parts(ppdu).enumerate() {
            let Some(ru) = part.ru else { continue };
            let (_, padding) = self.data_and_padding(ppdu, place);
            let (node, first) = (part.from, place == 0);
            let unit = |part: &Part| self.user_of_part(ppdu, part).unit;
            // Stations that have drawn one unit use its tones once.
            let is_again = self.air.parts(ppdu).take(place).any(|before| unit(before) == unit(part));
            let tones = if is_again { 0 } else { ru.tones() };
            env.observe(now, Record::Part { node, ap, first, tones, of_tones, airtime, padding });
        }
    }

    fn mpdus_of_part(&self, ppdu: &Ppdu, part: &Part) -> u32 {
        self.user_of_part(ppdu, part).psdu.lengths.len() as u32
    }

    /// Time of the symbols of a part of a PPDU of several users: with its data, and after them.
    pub(crate) fn data_and_padding(&self, ppdu: &Ppdu, place: usize) -> (Duration, Duration) {
        let phy = self.layout.phy_of(ppdu.initiator);
        let triggered = ppdu.from() != ppdu.initiator;
        let data_of = |part: &Part| {
            let of = RuPart { mode: part.mode, ru: part.ru?, psdu: Bytes(u64::from(part.bytes)) };
            Some(phy.data_on_ru(&of, triggered))
        };
        let Some(part) = self.air.parts(ppdu).nth(place) else { return Default::default() };
        let Some((data, ru)) = data_of(part).zip(part.ru) else { return Default::default() };
        let symbols = if triggered {
            // As many as the trigger said.
            let modes: Vec<ModeId> = self.air.parts(ppdu).map(|part| part.mode).collect();
            ppdu.airtime - phy.ru_overhead(&modes, ru, true)
        } else {
            self.air.parts(ppdu).filter_map(data_of).max().unwrap_or(data)
        };
        let data = if self.mpdus_of_part(ppdu, part) == 0 { Duration::ZERO } else { data.min(symbols) };
        (data, symbols - data)
    }
}
