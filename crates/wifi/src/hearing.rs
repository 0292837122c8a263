//! PPDUs as they are sensed by a group of nodes that all hear one another: one event serves those that share a view.
//!
//! The receptions make a difference only once the exchange is over, and then mostly none: see `air/hearing.rs`.

use lasthop_observe::NodeId;
use lasthop_units::{Duration, Time};

use crate::access::company::Leaver;
use crate::air::hearing::{Mark, Sensed};
use crate::air::on_air::Transmission;
use crate::air::received::Reception;
use crate::environment::Environment;
use crate::medium::Medium;
use crate::ppdu::{Ppdu, PpduKind};

/// Whether an observer reads what each node senses, or the order of events of one time, as recordings do: then none shares a
/// view.
fn reads_each<B, E: Environment<B>>(env: &E) -> bool {
    env.reads_order() || env.reads_steps() || env.reads_frames()
}

impl<B: Send + 'static> Medium<B> {
    /// Starts a PPDU in the views of a group.
    pub(crate) fn sense_start_in_group<E: Environment<B>>(&mut self, at: Time, ppdu: &Ppdu, group: usize, env: &mut E) {
        let (from, phy) = (ppdu.from(), self.layout.phy_of(ppdu.from()));
        let is_first = ppdu.initiator == from && self.exchanges[ppdu.exchange].began == at;
        let eifs = phy.eifs(ppdu.first.mode);
        let sensed = Sensed { begun: self.air.begun(at, ppdu), eifs, is_first, has_ended: false };
        let (slot, captures) = (phy.slot(), self.air.captures());
        let of = &self.air.hearing.groups[group];
        if of.sharing > 0 && (ppdu.of_several || !of.senses_alike(&sensed, slot, captures) || reads_each(env)) {
            self.part(group, env);
        }
        let of = &mut self.air.hearing.groups[group];
        of.on_air.push(sensed);
        let (view, sharing, members) = (of.view, of.sharing, of.members.len());
        if sharing > 0 {
            self.access.ppdu_starts(at, view, from, env);
        }
        if sharing < members {
            self.sense_start_by_each(at, ppdu, env);
        }
    }

    /// Ends a PPDU in the views of a group.
    pub(crate) fn end_in_group<E: Environment<B>>(
        &mut self,
        now: Time,
        ended: &Transmission,
        at_destination: Option<Reception>,
        goes_on: bool,
        group: usize,
        env: &mut E,
    ) {
        let (from, kind) = (ended.ppdu.from(), ended.ppdu.kind);
        let of = &self.air.hearing.groups[group];
        let alone = of.on_air.len() == 1;
        // A node that hears no frame after an RTS takes its NAV back; a CF-End ends the NAV of those who decode it.
        let by_each =
            alone && (kind == PpduKind::CfEnd || (kind == PpduKind::Rts && !(goes_on && of.marks.is_empty())));
        if of.sharing > 0 && (by_each || reads_each(env)) {
            self.part(group, env);
        }
        let of = &self.air.hearing.groups[group];
        let (view, sharing) = (of.view, of.sharing);
        if sharing > 0 && alone {
            self.end_alone(now, ended, at_destination, goes_on, group, env);
        } else {
            if sharing > 0 && self.after_loss.bystanders_wait_eifs() {
                let eifs = self.layout.phy_of(from).eifs(ended.ppdu.first.mode);
                self.access.view_mut(view).reception_failed(eifs);
            }
            self.end_for_each(now, ended, at_destination, None, env);
            self.air.hearing.groups[group].ends(from);
            self.access.ppdus_end(now, view, u32::from(sharing > 0), env);
        }
        if alone {
            self.join(now, group, env);
        }
    }

    /// Ends a PPDU that was alone on the air of a group in which nodes share a view.
    fn end_alone(
        &mut self,
        now: Time,
        ended: &Transmission,
        at_destination: Option<Reception>,
        goes_on: bool,
        group: usize,
        env: &mut impl Environment<B>,
    ) {
        let (part, of) = (ended.ppdu.first, &mut self.air.hearing.groups[group]);
        let (view, mut failed) = (of.view, of.list());
        self.end_for_each(now, ended, at_destination, Some(&mut failed), env);
        let waits = self.after_loss.bystanders_wait_eifs();
        let eifs = if waits { self.layout.phy_of(part.from).eifs(part.mode) } else { Duration::ZERO };
        let holder = ended.ppdu.initiator;
        let (from, to, reserves_until) = (part.from, part.to.one(), ended.ppdu.reserves_until);
        let of = &mut self.air.hearing.groups[group];
        of.ends(from);
        of.marks.push(Mark { from, to, failed, eifs, reserves_until, holder });
        let settled = of.marks.last().is_some_and(|last| last.failed.is_empty())
            && of.marks.iter().all(|mark| mark.reserves_until <= now);
        self.access.view_mut(view).end_eifs();
        if settled {
            self.air.hearing.groups[group].settle();
        } else if !goes_on {
            self.settle(now, group, env);
        }
        self.access.ppdus_end(now, view, 1, env);
    }

    /// Sets the NAV of a group's view as the PPDUs of an exchange demand, which ends now; nodes that wait for another time
    /// leave.
    fn settle(&mut self, now: Time, group: usize, env: &mut impl Environment<B>) {
        let of = &mut self.air.hearing.groups[group];
        let (view, mut found) = (of.view, of.exceptions());
        found.dedup();
        let before = self.access.deferral_in(view);
        let of = &self.air.hearing.groups[group];
        let common = of.after_all(before);
        let differs = |node: NodeId| of.after_marks(before, node).from(now) != common.from(now);
        found.retain(|node| self.air.hearing.shares(*node) && differs(*node));
        let leavers =
            found.iter().map(|node| Leaver { node: *node, on_air: 1, deferral: of.after_marks(before, *node) });
        let leavers: Vec<Leaver> = leavers.collect();
        self.access.leave(view, &leavers, env);
        for node in &found {
            self.air.hearing.set_sharing(group, *node, false);
            self.access.ppdus_end(now, node.index(), 1, env);
        }
        self.access.defer(view, common);
        let of = &mut self.air.hearing.groups[group];
        of.give_back(found);
        of.settle();
    }

    /// Lets all nodes of a group that share a view have one of their own.
    #[inline(never)]
    fn part(&mut self, group: usize, env: &mut impl Environment<B>) {
        let hearing = &self.air.hearing;
        let members = hearing.groups[group].members.iter().copied();
        let sharing: Vec<NodeId> = members.filter(|node| hearing.shares(*node)).collect();
        self.leave(group, &sharing, env);
        self.air.hearing.groups[group].settle();
    }

    /// Lets nodes of a group that share its view have their own again.
    fn leave(&mut self, group: usize, nodes: &[NodeId], env: &mut impl Environment<B>) {
        let view = self.air.hearing.groups[group].view;
        let before = self.access.deferral_in(view);
        let mut leavers = Vec::with_capacity(nodes.len());
        for &node in nodes {
            let on_air = self.air.sense_again(group, node);
            let of = &self.air.hearing.groups[group];
            let sends = of.on_air.iter().any(|one| one.begun.from == node);
            let mut deferral = of.after_marks(before, node);
            if sends {
                deferral.eifs = Duration::ZERO;
            }
            leavers.push(Leaver { node, on_air, deferral });
        }
        self.access.leave(view, &leavers, env);
        for &node in nodes {
            self.air.hearing.set_sharing(group, node, false);
        }
    }

    /// Lets a node leave its group that wants to send between two PPDUs of an exchange: it has to know which of them it
    /// has decoded.
    pub(crate) fn leave_unsettled(&mut self, node: NodeId, env: &mut impl Environment<B>) {
        let Some(group) = self.air.hearing.group_of(node).filter(|_| self.air.hearing.shares(node)) else { return };
        let of = &self.air.hearing.groups[group];
        if !of.marks.is_empty() && of.on_air.is_empty() {
            self.leave(group, &[node], env);
        }
    }

    /// Lets nodes share the view of their group that count alike from now on.
    fn join<E: Environment<B>>(&mut self, now: Time, group: usize, env: &mut E) {
        let of = &self.air.hearing.groups[group];
        let view = of.view;
        let waits = of.sharing == of.members.len() || !of.marks.is_empty() || reads_each(env);
        if waits || (of.sharing > 0 && !self.access.view(view).is_plain(now)) {
            return;
        }
        for place in 0..of.members.len() {
            let of = &self.air.hearing.groups[group];
            let (node, first) = (of.members[place], of.sharing == 0);
            let plain = !self.air.hearing.shares(node) && self.access.view(node.index()).is_plain(now);
            if plain && self.access.join(node, view, first, env) {
                self.air.hearing.set_sharing(group, node, true);
            }
        }
    }
}
