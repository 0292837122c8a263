//! Radios that share the view of their group for a time.

use super::Contention;
use super::function::State;
use crate::deferral::Deferral;
use crate::environment::Agenda;
use crate::ids::FunctionId;
use lasthop_observe::NodeId;

/// The state of a radio that leaves a view.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaver {
    pub node: NodeId,
    /// PPDUs that it notices.
    pub on_air: u32,
    pub deferral: Deferral,
}

impl Contention {
    /// Moves a radio from its own view to `to`, which has to sense the same from now on; false if their counts cannot be
    /// compared. `first`: no other radio is there.
    pub(crate) fn join(&mut self, node: NodeId, to: usize, first: bool, agenda: &mut impl Agenda) -> bool {
        let (from, spaces) = (node.index(), &self.spaces[to]);
        let [own, of] = self.views.get_disjoint_mut([from, to]).expect("a group has a view of its own");
        if first {
            of.sense_as(own, 0);
        } else if !own.can_count_in(of) {
            return false;
        }
        for id in self.radios[from].functions.clone().map(FunctionId) {
            let function = &mut self.functions[id.index()];
            if let State::Idle { ready_at } = &mut function.state {
                *ready_at = own.count_in(of, function.lane, *ready_at);
            }
        }
        own.move_all(spaces, of);
        self.radios[from].view = to as u32;
        self.await_backoff(to, agenda);
        true
    }

    /// EIFS and NAV in a view.
    pub(crate) fn deferral_in(&self, view: usize) -> Deferral {
        self.views[view].deferral()
    }

    /// Sets EIFS and NAV in a view.
    pub(crate) fn defer(&mut self, view: usize, deferral: Deferral) {
        self.views[view].defer(&self.spaces[view], deferral);
    }

    /// Moves radios from the view that they share to their own.
    pub(crate) fn leave(&mut self, from: usize, leavers: &[Leaver], agenda: &mut impl Agenda) {
        for leaver in leavers {
            let home = leaver.node.index();
            self.radios[home].view = home as u32;
            let [own, of] = self.views.get_disjoint_mut([home, from]).expect("a group has a view of its own");
            own.sense_as(of, leaver.on_air);
        }
        let (functions, radios) = (&self.functions, &self.radios);
        let home = |id: FunctionId| radios[functions[id.index()].node.index()].view as usize;
        let (spaces, mut moved) = (&self.spaces[from], Vec::new());
        self.views[from].take_out(spaces, |id| home(id) != from, |id, one| moved.push((id, one)));
        for (id, one) in moved {
            self.views[home(id)].take_in(spaces, id, one);
        }
        for leaver in leavers {
            let own = leaver.node.index();
            self.defer(own, leaver.deferral);
            self.await_backoff(own, agenda);
        }
    }
}
