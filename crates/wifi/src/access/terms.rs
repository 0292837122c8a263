//! Changes of the parameters of functions, and times in which they may not count.

use lasthop_observe::NodeId;
use lasthop_units::Time;

use super::Contention;
use super::function::{State, Terms};
use super::lane::LaneKind;
use super::view::View;
use super::view::company::Moved;
use crate::environment::{Agenda, MediumEvent};
use crate::ids::FunctionId;
use crate::multi_user::MuEdca;

impl Contention {
    /// The radio of a function.
    fn radio_of(&self, id: FunctionId) -> NodeId {
        self.functions[id.index()].node
    }

    /// Gives a function other parameters from now on. A backoff in progress keeps the slots still to count; a window
    /// outside the new bounds moves to the nearer one. A function that is committed or sends is not stopped.
    pub(crate) fn set(&mut self, now: Time, id: FunctionId, terms: &Terms, agenda: &mut impl Agenda) {
        let lane = self.lanes.place(terms.kind);
        if lane.0 == self.views[0].lanes() {
            self.views.iter_mut().for_each(|view| view.add_lane(terms.kind));
        }
        let at = self.view_of(self.radio_of(id));
        let (view, spaces, function) = (&mut self.views[at], &self.spaces[at], &mut self.functions[id.index()]);
        (function.cw_min, function.cw_max) = (terms.cw_min, terms.cw_max);
        function.cw = function.cw.clamp(terms.cw_min, terms.cw_max);
        let before = std::mem::replace(&mut function.lane, lane);
        if before == lane {
            return;
        }
        if let State::Idle { ready_at } = &mut function.state {
            let left = view.left_on_leaving(now, spaces, before, *ready_at);
            *ready_at = if left > 0 { view.key_on_joining(now, spaces, lane, left) } else { 0 };
        }
        if function.state == State::Contending {
            match take_out(view, spaces, id) {
                Moved::InLane(_, key) => {
                    // The boundary at which it would have sent may lie back in this class.
                    let left = view.left_on_leaving(now, spaces, before, key);
                    view.join(now, spaces, id, lane, left);
                }
                Moved::Apart(one) => view.take_in(spaces, id, Moved::Apart(one.in_lane(lane))),
            }
        }
        self.views[at].stop_waiting();
        self.await_backoff(at, agenda);
    }

    /// Gives a function other parameters of its own. While it has those of MU EDCA, they wait for the end of these.
    pub(crate) fn set_own(&mut self, now: Time, id: FunctionId, terms: &Terms, agenda: &mut impl Agenda) {
        match self.usual.get_mut(&id.0) {
            Some(own) => *own = *terms,
            None => self.set(now, id, terms, agenda),
        }
    }

    /// The parameters of a function of its own, whether or not it has those of MU EDCA now.
    pub(crate) fn own(&self, id: FunctionId) -> Terms {
        self.usual.get(&id.0).copied().unwrap_or_else(|| self.terms_of(id))
    }

    /// Gives a function the parameters of MU EDCA until [`end_mu_edca`](Self::end_mu_edca).
    pub(crate) fn set_mu_edca(&mut self, now: Time, id: FunctionId, of: &MuEdca, agenda: &mut impl Agenda) {
        let own = self.terms_of(id);
        self.usual.entry(id.0).or_insert(own);
        let terms = Terms { kind: LaneKind::of_edca(of.aifsn), cw_min: of.cw_min, cw_max: of.cw_max };
        self.set(now, id, &terms, agenda);
    }

    /// Gives a function its own parameters again.
    pub(crate) fn end_mu_edca(&mut self, now: Time, id: FunctionId, agenda: &mut impl Agenda) {
        if let Some(own) = self.usual.remove(&id.0) {
            self.set(now, id, &own, agenda);
        }
    }

    fn terms_of(&self, id: FunctionId) -> Terms {
        let function = &self.functions[id.index()];
        Terms { kind: self.lanes.kind(function.lane), cw_min: function.cw_min, cw_max: function.cw_max }
    }

    /// Makes a function that contends one with nothing to send: what is left of its backoff is a post-backoff.
    pub(crate) fn stand_down(&mut self, id: FunctionId) {
        let at = self.view_of(self.radio_of(id));
        let (view, spaces, function) = (&mut self.views[at], &self.spaces[at], &mut self.functions[id.index()]);
        if function.state != State::Contending {
            return;
        }
        match take_out(view, spaces, id) {
            Moved::InLane(_, ready_at) => function.state = State::Idle { ready_at },
            Moved::Apart(one) => view.take_in(spaces, id, Moved::Apart(one)),
        }
    }

    /// Lets a function neither count nor begin an exchange before `until`; it keeps the slots still to count. An exchange
    /// that it has begun, or is committed to, goes on.
    pub(crate) fn hold(&mut self, now: Time, id: FunctionId, until: Time, agenda: &mut impl Agenda) {
        let at = self.view_of(self.radio_of(id));
        let (view, spaces, function) = (&mut self.views[at], &self.spaces[at], &mut self.functions[id.index()]);
        if until <= function.held_until.max(now) {
            return;
        }
        function.held_until = until;
        agenda.schedule(until, MediumEvent::Release { function: id.0 });
        let lane = function.lane;
        let left = match function.state {
            State::Idle { ready_at } => view.left_of(now, spaces, lane, ready_at),
            State::Contending => match take_out(view, spaces, id) {
                Moved::InLane(_, key) => view.left_of(now, spaces, lane, key),
                Moved::Apart(one) => one.left(now, spaces.slot),
            },
            State::Committed { .. } | State::Exchanging | State::Held { .. } => return,
        };
        function.state = State::Held { left };
        self.views[at].stop_waiting();
        self.await_backoff(at, agenda);
    }

    /// Lets a function count again, from the next boundary on, whose hold ends now; without work the rest of its backoff is a post-backoff.
    pub(crate) fn release(&mut self, now: Time, id: FunctionId, has_work: bool, agenda: &mut impl Agenda) {
        let at = self.view_of(self.radio_of(id));
        let (view, spaces, function) = (&mut self.views[at], &self.spaces[at], &mut self.functions[id.index()]);
        let State::Held { left } = function.state else { return };
        if function.held_until > now {
            return;
        }
        if has_work {
            function.state = State::Contending;
            view.start_backoff(now, spaces, id, function.lane, left);
            self.await_backoff(at, agenda);
        } else {
            function.state = State::Idle { ready_at: view.key_of(now, spaces, function.lane, left) };
        }
    }
}

/// Takes a contender out of its view.
fn take_out(view: &mut View, spaces: &super::lane::Spaces, id: FunctionId) -> Moved {
    let mut taken = None;
    view.take_out(spaces, |one| one == id, |_, one| taken = Some(one));
    taken.expect("a contender is in its view")
}

#[cfg(test)]
mod tests {
    use lasthop_engine::{Scheduler, Stream, Turn};
    use lasthop_units::Duration;

    use super::super::function::Function;
    use super::super::lane::Spaces;
    use super::super::{Lanes, Requested};
    use super::*;

    const SPACES: Spaces = Spaces { slot: Duration::from_micros(9), difs: Duration::from_micros(34) };
    const DCF: LaneKind = LaneKind { offset: 0, counts_busy_slot: false };
    const ID: FunctionId = FunctionId(0);
    const NODE: NodeId = NodeId(0);

    #[derive(Default)]
    struct Clock(Scheduler<MediumEvent>);

    impl Agenda for Clock {
        fn schedule(&mut self, at: Time, event: MediumEvent) {
            self.0.at(at, event);
        }
        fn turn(&mut self) -> Turn {
            self.0.turn()
        }
        fn schedule_in_turn(&mut self, at: Time, turn: Turn, event: MediumEvent) {
            self.0.at_turn(at, turn, event);
        }
    }

    fn us(us: u64) -> Time {
        Time::ZERO + Duration::from_micros(us)
    }

    /// A radio with one function on a medium that turned idle at 1000 us, with a backoff of five slots.
    fn contending() -> (Contention, Clock) {
        let (mut lanes, mut clock) = (Lanes::default(), Clock::default());
        let (lane, state, backoff) = (lanes.place(DCF), State::Idle { ready_at: 5 }, Stream::new(1, "backoff", 0));
        let (cw, cw_min, cw_max, drawn, held_until) = (15, 15, 1023, None, Time::ZERO);
        let function = Function { node: NODE, state, lane, cw, cw_min, cw_max, backoff, drawn, held_until };
        let mut access = Contention::new(lanes, vec![SPACES], vec![function], [(0, 0..1)].into_iter());
        access.ppdu_starts(us(0), 0, NODE, &mut clock);
        assert_eq!(access.request(us(500), ID, 5, false, &mut clock), Requested::Waits);
        access.ppdus_end(us(1000), 0, 1, &mut clock);
        (access, clock)
    }

    fn due(access: &Contention) -> Option<Time> {
        access.view(0).awaited().map(|(at, _)| at)
    }

    #[test]
    fn another_aifs_keeps_the_slots_still_to_count() {
        let (mut access, mut clock) = contending();
        assert_eq!(due(&access), Some(us(1034 + 5 * 9)));
        // After two slots and a half, three are left, the one in progress included; with AIFSN 7 the count starts five
        // slots later, so three slots follow that.
        let terms = Terms { kind: LaneKind { offset: 5, counts_busy_slot: true }, cw_min: 31, cw_max: 255 };
        access.set(us(1056), ID, &terms, &mut clock);
        assert_eq!(due(&access), Some(us(1034 + 5 * 9 + 3 * 9)));
        // With AIFSN 2 again they follow the present boundary.
        access.set(us(1056), ID, &Terms { kind: DCF, ..terms }, &mut clock);
        assert_eq!(due(&access), Some(us(1034 + 2 * 9 + 3 * 9)));
        assert_eq!(access.functions[0].cw, 31);
    }

    #[test]
    fn a_window_moves_into_new_bounds() {
        let (mut access, mut clock) = contending();
        access.failed(ID);
        access.failed(ID);
        assert_eq!(access.functions[0].cw, 63);
        access.set(us(1040), ID, &Terms { kind: DCF, cw_min: 3, cw_max: 7 }, &mut clock);
        assert_eq!(access.functions[0].cw, 7);
        assert_eq!(due(&access), Some(us(1034 + 5 * 9)), "a backoff in progress goes on");
    }

    #[test]
    fn own_parameters_wait_for_the_end_of_mu_edca() {
        let (mut access, mut clock) = contending();
        let of = MuEdca { aifsn: 2, cw_min: 7, cw_max: 7, timer: Duration::from_millis(8) };
        access.set_mu_edca(us(1040), ID, &of, &mut clock);
        let own = Terms { kind: DCF, cw_min: 63, cw_max: 127 };
        access.set_own(us(1041), ID, &own, &mut clock);
        assert_eq!((access.functions[0].cw_min, access.own(ID)), (7, own));
        access.end_mu_edca(us(1042), ID, &mut clock);
        assert_eq!((access.functions[0].cw_min, access.functions[0].cw), (63, 63));
    }

    #[test]
    fn a_hold_keeps_the_backoff() {
        let (mut access, mut clock) = contending();
        access.hold(us(1056), ID, us(3000), &mut clock);
        access.hold(us(1057), ID, us(2000), &mut clock);
        assert_eq!((access.state(ID), due(&access)), (State::Held { left: 3 }, None));
        access.release(us(2000), ID, true, &mut clock);
        assert_eq!(access.state(ID), State::Held { left: 3 }, "the longer hold counts");
        access.release(us(3000), ID, true, &mut clock);
        // 3000 us lies in a slot that ends at 3005 us.
        assert_eq!((access.state(ID), due(&access)), (State::Contending, Some(us(3005 + 3 * 9))));
    }

    #[test]
    fn an_exchange_in_progress_is_held_at_its_end() {
        let (mut access, mut clock) = contending();
        access.begin_exchange(ID);
        access.hold(us(1100), ID, us(2000), &mut clock);
        assert_eq!(access.state(ID), State::Exchanging);
        access.contend_again(us(1500), ID, None, true, &mut clock);
        assert!(matches!(access.state(ID), State::Held { .. }));
        access.release(us(2000), ID, false, &mut clock);
        assert!(matches!(access.state(ID), State::Idle { .. }));
    }
}
