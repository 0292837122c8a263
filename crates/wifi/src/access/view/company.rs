//! Contenders that move from one view to another, which senses the same.

use std::cmp::Reverse;

use lasthop_units::{Duration, Time};

use super::super::lane::{LaneId, Spaces};
use super::View;
use crate::deferral::Deferral;
use crate::ids::FunctionId;

impl View {
    /// Returns whether the medium has just turned idle, with neither EIFS nor NAV: all such views count alike.
    pub(crate) fn is_plain(&self, now: Time) -> bool {
        self.on_air == 0 && self.idle_since == now && self.eifs == Duration::ZERO && self.nav_until <= now
    }

    /// EIFS and NAV.
    pub(crate) fn deferral(&self) -> Deferral {
        Deferral { eifs: self.eifs, nav_until: self.nav_until, nav_holder: self.nav_holder }
    }

    /// Takes over what `other` senses and has counted, with `on_air` PPDUs, but no contenders.
    pub(crate) fn sense_as(&mut self, other: &View, on_air: u32) {
        let View { on_air: own, busy_since, frames_since, exchange_since, last_starts, idle_since, .. } = self;
        (*own, *busy_since, *exchange_since) = (on_air, other.busy_since, other.exchange_since);
        *frames_since = other.frames_since;
        (*last_starts, *idle_since) = (other.last_starts, other.idle_since);
        (self.nav_until, self.nav_holder, self.eifs) = (other.nav_until, other.nav_holder, other.eifs);
        (self.counts_from, self.passed) = (other.counts_from, other.passed);
        for (own, of) in self.lanes.iter_mut().zip(&other.lanes) {
            own.slots = of.slots;
        }
        self.awaited = None;
    }

    /// Sets EIFS and NAV; if the medium is idle, counting starts accordingly.
    pub(crate) fn defer(&mut self, spaces: &Spaces, deferral: Deferral) {
        if self.deferral() == deferral {
            return;
        }
        Deferral { eifs: self.eifs, nav_until: self.nav_until, nav_holder: self.nav_holder } = deferral;
        if self.on_air == 0 {
            self.start_counting(spaces);
        }
    }

    /// Returns whether the counts of this view can be told in those of `other`: those that lie back are before its own.
    pub(crate) fn can_count_in(&self, other: &View) -> bool {
        self.lanes.iter().zip(&other.lanes).all(|(own, of)| of.slots > 0 || own.slots == 0)
    }

    /// The count in `other` that is `key` here, in a lane.
    pub(crate) fn count_in(&self, other: &View, lane: LaneId, key: u64) -> u64 {
        (key + other.lanes[lane.0].slots).saturating_sub(self.lanes[lane.0].slots)
    }

    /// Moves all contenders to `other`, whose medium has turned idle when this one's has.
    pub(crate) fn move_all(&mut self, spaces: &Spaces, other: &mut View) {
        for (own, of) in self.lanes.iter_mut().zip(&mut other.lanes) {
            let (before, after) = (own.slots, of.slots);
            let moved =
                own.contenders.drain().map(|Reverse((key, id))| Reverse(((key + after).saturating_sub(before), id)));
            of.contenders.extend(moved);
        }
        self.apart.drain().for_each(|one| other.apart.add(spaces.slot, one));
        self.awaited = None;
    }

    /// Takes out contenders, and hands them to `tell` as views that have counted as much take them.
    pub(in crate::access) fn take_out(
        &mut self,
        spaces: &Spaces,
        mut leaves: impl FnMut(FunctionId) -> bool,
        mut tell: impl FnMut(FunctionId, Moved),
    ) {
        for (place, lane) in self.lanes.iter_mut().enumerate() {
            let mut all = std::mem::take(&mut lane.contenders).into_vec();
            all.retain(|&Reverse((key, id))| {
                let stays = !leaves(id);
                if !stays {
                    tell(id, Moved::InLane(LaneId(place), key));
                }
                stays
            });
            lane.contenders = all.into();
        }
        self.apart.take_out(spaces.slot, |one| {
            let stays = !leaves(one.function);
            if !stays {
                tell(one.function, Moved::Apart(*one));
            }
            stays
        });
    }

    /// Takes in a contender that was taken out of another view.
    pub(in crate::access) fn take_in(&mut self, spaces: &Spaces, id: FunctionId, moved: Moved) {
        match moved {
            Moved::InLane(lane, key) => self.contend_until(id, lane, key),
            Moved::Apart(one) if self.on_air > 0 => self.apart.add_while_busy(one),
            Moved::Apart(one) => self.apart.add(spaces.slot, one),
        }
    }
}

/// A contender on its way.
pub(in crate::access) enum Moved {
    /// with the count at which its backoff ends
    InLane(LaneId, u64),
    Apart(super::Apart),
}
