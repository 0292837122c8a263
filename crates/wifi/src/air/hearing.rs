//! Groups of radios that all hear one another and no other radio, and those among them that share a view of the medium.
//!
//! ```text
//!  view of its own ──── the medium has just turned idle, no EIFS, no NAV ────► the view of the group
//!        ▲                                                                             │
//!        └── something begins or ends that not all of the group sense alike ───────────┘
//! ```
//!
//! The members of a group lock on a PPDU that is alone on the air, all of them, whatever their powers. Some decode it and
//! others do not; a [`Mark`] keeps that until it makes a difference, which is rarely: mostly another PPDU, which all
//! of them decode, follows after a SIFS, and none has counted by then. Without capture all members lose PPDUs that begin
//! within a slot, and sense them alike if these end together. A radio that leaves its group gets the state
//! that it would have, from the PPDUs that are on the air.

use lasthop_observe::NodeId;
use lasthop_units::{Duration, Time};

use super::carrier_sense::Begun;
use crate::channel::{Channel, Hearer};
use crate::deferral::Deferral;

/// The least group that is worth a view.
const FEWEST: usize = 3;

/// A PPDU on the air, as a group senses it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sensed {
    pub begun: Begun,
    /// EIFS after it.
    pub eifs: Duration,
    /// True if its sender contended for it.
    pub is_first: bool,
    pub has_ended: bool,
}

/// The result of a PPDU that was alone on the air, at the members of a group.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    pub from: NodeId,
    pub to: Option<NodeId>,
    /// Members that did not decode it, in their order.
    pub failed: Vec<NodeId>,
    /// EIFS after it; zero if it is not waited for.
    pub eifs: Duration,
    pub reserves_until: Time,
    /// The initiator of its exchange.
    pub holder: NodeId,
}

impl Mark {
    /// The state of a member after this PPDU.
    fn after(&self, mut before: Deferral, node: NodeId) -> Deferral {
        if self.from == node {
            before.eifs = Duration::ZERO;
        } else if self.failed.binary_search(&node).is_ok() {
            before.eifs = self.eifs;
        } else {
            return self.decoded(before, self.to != Some(node));
        }
        before
    }

    /// The state of a member that has decoded this PPDU, which reserves the medium against it or not.
    fn decoded(&self, mut before: Deferral, reserves: bool) -> Deferral {
        before.eifs = Duration::ZERO;
        if reserves && self.reserves_until > before.nav_until {
            (before.nav_until, before.nav_holder) = (self.reserves_until, self.holder);
        }
        before
    }
}

/// Radios that hear one another and no others.
#[derive(Debug)]
pub(crate) struct Group {
    pub members: Vec<NodeId>,
    /// The view of those that share one.
    pub view: usize,
    /// Number of members that share it.
    pub sharing: usize,
    /// PPDUs of members on the air, and those that have ended since one of them began.
    pub on_air: Vec<Sensed>,
    /// Receptions of the last PPDUs of an exchange that goes on.
    pub marks: Vec<Mark>,
    /// Lists for reuse.
    spare: Vec<Vec<NodeId>>,
}

impl Group {
    /// Returns whether all members sense the start of a PPDU and its end alike.
    pub(crate) fn senses_alike(&self, new: &Sensed, slot: Duration, captures: bool) -> bool {
        let Some(first) = self.on_air.first() else { return true };
        let alike =
            |old: &Sensed| old.is_first && !old.has_ended && old.begun.end == new.begun.end && old.eifs == new.eifs;
        let soon = new.begun.start < first.begun.start + slot;
        !captures && soon && new.is_first && self.marks.is_empty() && self.on_air.iter().all(alike)
    }

    /// Ends a PPDU. Once all have ended, they are forgotten.
    pub(crate) fn ends(&mut self, from: NodeId) {
        let one = self.on_air.iter_mut().find(|one| one.begun.from == from && !one.has_ended);
        one.expect("a PPDU that ends has begun").has_ended = true;
        if self.on_air.iter().all(|one| one.has_ended) {
            self.on_air.clear();
        }
    }

    /// An empty list.
    pub(crate) fn list(&mut self) -> Vec<NodeId> {
        self.spare.pop().unwrap_or_default()
    }

    /// The state of `node` after PPDUs of an exchange, before which it was `before`.
    pub(crate) fn after_marks(&self, before: Deferral, node: NodeId) -> Deferral {
        self.marks.iter().fold(before, |state, mark| mark.after(state, node))
    }

    /// The state of a member that has decoded all of these PPDUs, none of which was for it.
    pub(crate) fn after_all(&self, before: Deferral) -> Deferral {
        self.marks.iter().fold(before, |state, mark| mark.decoded(state, true))
    }

    /// Members that may be in another state than a member that has decoded all PPDUs, in their order; some more than once.
    pub(crate) fn exceptions(&mut self) -> Vec<NodeId> {
        let mut found = self.list();
        for mark in &self.marks {
            found.push(mark.from);
            found.extend(mark.to);
            found.extend_from_slice(&mark.failed);
        }
        found.sort_unstable();
        found
    }

    /// Gives a list back.
    pub(crate) fn give_back(&mut self, mut list: Vec<NodeId>) {
        list.clear();
        self.spare.push(list);
    }

    /// Forgets the receptions of the last PPDUs.
    pub(crate) fn settle(&mut self) {
        while let Some(mark) = self.marks.pop() {
            self.give_back(mark.failed);
        }
    }
}

/// The group of each radio.
pub(crate) struct Hearing {
    pub groups: Vec<Group>,
    of: Vec<Option<u32>>,
    shares: Vec<bool>,
    /// The least power with which a member of its group hears each radio.
    weakest_mw: Vec<f64>,
}

impl Hearing {
    /// The groups of a channel whose powers do not change; their views follow the `radios`' own. `alike` says whether two
    /// radios have the same slot and inter-frame spaces.
    pub(crate) fn new(channel: &Channel, hearers: &[Hearers], alike: impl Fn(NodeId, NodeId) -> bool) -> Hearing {
        let nodes = hearers.len();
        let mut all = Hearing {
            groups: Vec::new(),
            of: vec![None; nodes],
            shares: vec![false; nodes],
            weakest_mw: vec![0.0; nodes],
        };
        let Channel::Matrix(matrix) = channel else { return all };
        if matrix.is_varying() {
            return all;
        }
        for first in 0..nodes {
            let members: Vec<NodeId> = hearers[first].iter().map(|hearer| NodeId(hearer.view)).collect();
            if members.len() < FEWEST || members[0].index() != first {
                continue;
            }
            let strong = |tx: NodeId| move |h: &Hearer| h.view == tx.0 || h.power_mw >= matrix.preamble_mw;
            let belongs = |tx: &NodeId| {
                let of = &hearers[tx.index()];
                let same = of.len() == members.len() && of.iter().zip(&members).all(|(h, m)| h.view == m.0);
                same && of.iter().all(strong(*tx)) && alike(members[0], *tx)
            };
            if members.iter().all(belongs) {
                all.add(members, hearers);
            }
        }
        all
    }

    fn add(&mut self, members: Vec<NodeId>, hearers: &[Hearers]) {
        for tx in &members {
            let others = hearers[tx.index()].iter().filter(|h| h.view != tx.0);
            self.weakest_mw[tx.index()] = others.map(|h| h.power_mw).fold(f64::INFINITY, f64::min);
            self.of[tx.index()] = Some(self.groups.len() as u32);
        }
        let view = hearers.len() + self.groups.len();
        let (on_air, marks, spare) = (Vec::new(), Vec::new(), Vec::new());
        self.groups.push(Group { members, view, sharing: 0, on_air, marks, spare });
    }

    /// The group of a radio.
    #[inline(always)]
    pub(crate) fn group_of(&self, node: NodeId) -> Option<usize> {
        self.of.get(node.index()).copied().flatten().map(|group| group as usize)
    }

    /// Returns whether a radio shares the view of its group.
    #[inline(always)]
    pub(crate) fn shares(&self, node: NodeId) -> bool {
        self.shares[node.index()]
    }

    /// Returns whether a PPDU of a radio that ends is alone on the air of its group, and has been.
    pub(crate) fn is_alone(&self, from: NodeId) -> bool {
        self.group_of(from).is_some_and(|group| self.groups[group].on_air.len() == 1)
    }

    /// The least power with which a member of its group hears a radio.
    pub(crate) fn weakest_mw(&self, node: NodeId) -> f64 {
        self.weakest_mw[node.index()]
    }

    /// Notes that a member shares the view of its group from now on, or no longer.
    pub(crate) fn set_sharing(&mut self, group: usize, node: NodeId, shares: bool) {
        let was = std::mem::replace(&mut self.shares[node.index()], shares);
        assert!(was != shares, "node {} joins or leaves its group once", node.0);
        let sharing = &mut self.groups[group].sharing;
        *sharing = if shares { *sharing + 1 } else { *sharing - 1 };
    }
}

/// The views that may hear a radio.
type Hearers = std::sync::Arc<[Hearer]>;
