//! PPDUs of several users on the air: who receives which part, and answers that are sent together.

use lasthop_observe::{NodeId, Outcome, Record};
use lasthop_units::{Duration, Time};

use crate::air::on_air::Transmission;
use crate::air::received::Reception;
use crate::environment::Environment;
use crate::exchange::User;
use crate::medium::Medium;
use crate::multi_user::{Plan, Users, shares};
use crate::phy::{ModeId, Phy, Ru, RuPart};
use crate::ppdu::{Part, Ppdu, PpduKind, To};

/// The answer to the data of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Came,
    /// none came, for this reason
    Lost(Outcome),
}

impl User {
    /// The station of a user: the end of its link that is not an access point.
    pub(super) fn station(&self) -> Option<NodeId> {
        // Link 2k leads to the AP, 2k + 1 back.
        if self.psdu.part.link.0.is_multiple_of(2) { Some(self.psdu.part.from) } else { self.psdu.part.to.one() }
    }
}

impl<B: Send + 'static> Medium<B> {
    /// Changes what an access point knows of its stations.
    pub(super) fn note_users(&mut self, ap: NodeId, note: impl FnOnce(&mut Users)) {
        note(&mut self.users[self.layout.node(ap).bss as usize]);
    }

    /// Handles the end of a PPDU of an exchange of several users; returns the one that follows.
    #[inline(never)]
    pub(crate) fn step_of_several(
        &mut self,
        now: Time,
        ended: &Transmission,
        env: &mut impl Environment<B>,
    ) -> Option<Ppdu> {
        match self.exchanges[ended.ppdu.exchange].plan {
            Plan::Downlink { acknowledge, asked } => self.step_of_downlink(now, ended, acknowledge, asked, env),
            plan => self.step_of_uplink(now, ended, plan, env),
        }
    }

    /// The receptions of the parts of a PPDU that ends now, each at its receiver: decoded if any is.
    #[inline(never)]
    pub(crate) fn receive_parts(&mut self, now: Time, ended: &Transmission) -> Option<Reception> {
        let ppdu = &ended.ppdu;
        let parts: Vec<Part> = self.air.parts(ppdu).copied().collect();
        let mut all = None;
        for part in &parts {
            let Some(to) = part.to.one() else { continue };
            let station = if part.from == ppdu.initiator { to } else { part.from };
            let of = &mut self.exchanges[ppdu.exchange];
            let Some(user) = of.users_mut().find(|user| user.station() == Some(station)) else { continue };
            let heard = if ppdu.kind == PpduKind::Ampdu && !user.psdu.lengths.is_empty() {
                let heard = self.air.receive_mpdus(now, ended, part, to, &user.psdu.lengths, &mut user.received);
                user.lost_to = user.received.lost_to.map(Reception::outcome);
                heard
            } else {
                self.air.reception(now, ended, part, to)
            };
            user.heard = Some(heard);
            all = if all == Some(Reception::Decoded) { all } else { Some(heard) };
        }
        all
    }

    /// Receives a trigger at each user, or an acknowledgement to all.
    pub(super) fn hear_trigger(&mut self, now: Time, ended: &Transmission) {
        for user in self.exchanges[ended.ppdu.exchange].users_mut() {
            let station = user.station();
            user.heard = station.map(|station| self.air.reception(now, ended, &ended.ppdu.first, station));
        }
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

    /// Time on the air of BlockAcks of users of these modes that are sent together.
    pub(super) fn block_acks_last(&self, by: NodeId, ru: Ru, modes: &[ModeId]) -> Duration {
        let phy = self.layout.phy_of(by);
        let mode = Self::answer_mode(phy, modes.iter().copied());
        let part = RuPart { mode, ru, psdu: phy.block_ack_bytes() };
        phy.he_tb_duration(&vec![part; modes.len()])
    }

    /// The BlockAcks of those users that answer, in one PPDU; `None` if there are none.
    pub(super) fn block_acks(&mut self, now: Time, asks: &Ppdu, answers: impl Fn(&User) -> bool) -> Option<Ppdu> {
        let of = &self.exchanges[asks.exchange];
        let (by, ru) = (of.by, of.user.ru);
        let phy = self.layout.phy_of(by);
        let modes: Vec<ModeId> = of.users().map(|user| user.psdu.part.mode).collect();
        let (mode, bytes) = (Self::answer_mode(phy, modes.iter().copied()), phy.block_ack_bytes().0 as u32);
        let part = |user: &User| {
            let Part { to, link, .. } = user.psdu.part;
            Some(Part { from: to.one()?, to: To::One(by), link, mode, bytes, ru: Some(ru) })
        };
        let parts: Vec<Part> = of.users().filter(|user| answers(user)).filter_map(part).collect();
        let first = *parts.first()?;
        let airtime = self.block_acks_last(by, ru, &modes);
        for user in self.exchanges[asks.exchange].users_mut() {
            if !parts.iter().any(|part| user.station() == Some(part.from)) {
                user.heard = None;
            }
        }
        let more = (parts.len() > 1).then(|| self.air.keep_parts(&parts[1..]));
        let reserves_until = asks.reserves_until.max(now);
        Some(Ppdu { kind: PpduKind::BlockAck, first, more, airtime, reserves_until, ..*asks })
    }

    /// Reports the airtime of a PPDU of several users: each part has its share, by tones.
    #[inline(never)]
    pub(crate) fn report_shares(&self, now: Time, ppdu: &Ppdu, env: &mut impl Environment<B>) {
        let tones = self.air.parts(ppdu).map(|part| part.ru.map_or(1, Ru::tones));
        for (part, duration) in self.air.parts(ppdu).zip(shares(ppdu.airtime, tones)) {
            let link = ppdu.own_link_of(part);
            env.observe(now, Record::Airtime { node: part.from, link, duration });
        }
    }
}
