//! Channel access [802.11-2020 §10.3, §10.23.2]: who counts down, and who wins. Knows no packets.
//!
//! `view`: what nodes with the same hearing sense, and their countdown; `lane`: its access classes; `apart`: who does not wait
//! with them. `function`: the state of one channel access function. `edca`: access categories. This file: the functions of
//! all radios, each in the view that its radio has.

mod apart;
pub(crate) mod edca;
pub(crate) mod function;
pub(crate) mod lane;
pub(crate) mod view;

use std::ops::Range;

use lasthop_engine::Turn;
use lasthop_observe::NodeId;
use lasthop_units::Time;

use crate::environment::{Agenda, MediumEvent};
use crate::ids::FunctionId;
use function::{Function, State};
use lane::{LaneId, LaneKind, Spaces, Unanswered};
use view::View;

/// A radio, as far as its functions have it in common.
struct Radio {
    view: u32,
    /// Its functions, the one with the highest priority first.
    functions: Range<u32>,
    /// Its last frame that was not answered.
    unanswered: Option<Unanswered>,
}

/// The classes of access of a medium, and the place of each.
#[derive(Default)]
pub(crate) struct Lanes(Vec<LaneKind>);

impl Lanes {
    pub(crate) fn place(&mut self, kind: LaneKind) -> LaneId {
        let known = self.0.iter().position(|k| *k == kind);
        LaneId(known.unwrap_or_else(|| {
            self.0.push(kind);
            self.0.len() - 1
        }))
    }
}

/// What comes of a request for access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Requested {
    /// the function may send now
    Wins,
    /// it counts, waits for a boundary, or did so before
    Waits,
}

/// All channel access functions of a medium.
pub(crate) struct Contention {
    views: Vec<View>,
    /// of each view
    spaces: Vec<Spaces>,
    functions: Vec<Function>,
    radios: Vec<Radio>,
    /// The event that has been asked for: no later than any that a view awaits. Where its view no longer waits, it only
    /// leads to the next.
    armed: Option<(Time, Turn)>,
}

impl Contention {
    /// `spaces` are those of each view; `functions` stand radio by radio, each radio with its view.
    pub(crate) fn new(
        lanes: &Lanes,
        spaces: Vec<Spaces>,
        functions: Vec<Function>,
        radios: impl Iterator<Item = (usize, Range<u32>)>,
    ) -> Contention {
        let radio = |(view, functions)| Radio { view: view as u32, functions, unanswered: None };
        Contention {
            views: spaces.iter().map(|spaces| View::new(spaces, &lanes.0)).collect(),
            spaces,
            functions,
            radios: radios.map(radio).collect(),
            armed: None,
        }
    }

    /// The view of a radio.
    #[inline(always)]
    pub(crate) fn view_of(&self, node: NodeId) -> usize {
        self.radios[node.index()].view as usize
    }

    /// How many views there are.
    pub(crate) fn views(&self) -> usize {
        self.views.len()
    }

    #[inline(always)]
    pub(crate) fn view(&self, view: usize) -> &View {
        &self.views[view]
    }

    #[inline(always)]
    pub(crate) fn view_mut(&mut self, view: usize) -> &mut View {
        &mut self.views[view]
    }

    pub(crate) fn state(&self, id: FunctionId) -> State {
        self.functions[id.index()].state
    }

    /// Whether a function of this radio has won, and its exchange goes on.
    pub(crate) fn is_exchanging(&self, node: NodeId) -> bool {
        let own = self.radios[node.index()].functions.clone();
        self.functions[own.start as usize..own.end as usize].iter().any(|f| f.state == State::Exchanging)
    }

    /// A function has something to send: it sends at once, counts on, or draws a backoff [802.11-2020 §10.3.4.2].
    /// `occupied`: its radio is sending, or about to.
    pub(crate) fn request(
        &mut self,
        now: Time,
        id: FunctionId,
        ready_at: u64,
        occupied: bool,
        agenda: &mut impl Agenda,
    ) -> Requested {
        let function = &self.functions[id.index()];
        let radio = &self.radios[function.node.index()];
        if radio.functions.len() > 1 {
            self.request_with_category(now, id, ready_at, occupied, agenda);
            return Requested::Waits;
        }
        let (at, lane) = (radio.view as usize, function.lane);
        let (view, spaces) = (&self.views[at], &self.spaces[at]);
        let left = view.left_of(now, spaces, lane, ready_at);
        match view.sends_at(now, spaces, lane).filter(|_| left == 0) {
            Some(at) if at == now => Requested::Wins,
            Some(boundary) => {
                self.functions[id.index()].state = State::Committed { at: boundary };
                agenda.schedule(boundary, MediumEvent::Start { function: id.0 });
                Requested::Waits
            }
            None => {
                self.contend_with(now, id, at, left);
                self.functions[id.index()].state = State::Contending;
                self.await_backoff(at, agenda);
                Requested::Waits
            }
        }
    }

    /// A function of EDCA that has counted without anything to send, and has nothing left to count, is idle.
    pub(crate) fn withdraw(&mut self, now: Time, id: FunctionId) {
        let function = &mut self.functions[id.index()];
        let radio = &self.radios[function.node.index()];
        if radio.functions.len() == 1 || function.state != State::Contending {
            return;
        }
        let at = radio.view as usize;
        if let Some(ready_at) = self.views[at].withdraw(now, &self.spaces[at], id, function.lane) {
            function.state = State::Idle { ready_at };
        }
    }

    /// A function of EDCA has something to send: with nothing left to count it waits for the next boundary of slots, or draws
    /// a backoff where the medium is busy; if it turns busy before the boundary, it draws none
    /// [802.11-2020 §10.23.2.2, §10.23.2.4].
    #[inline(never)]
    fn request_with_category(
        &mut self,
        now: Time,
        id: FunctionId,
        ready_at: u64,
        occupied: bool,
        agenda: &mut impl Agenda,
    ) {
        let function = &mut self.functions[id.index()];
        let Radio { view: at, unanswered, .. } = self.radios[function.node.index()];
        let at = at as usize;
        let (spaces, view, lane) = (&self.spaces[at], &mut self.views[at], function.lane);
        let next = view.next_boundary(now, spaces, lane);
        // What comes before the timeout of the frame before it has come in time for the backoff drawn after that.
        let in_time = unanswered.is_some_and(|u| u.by == id && now < u.timeout);
        let earliest = unanswered.map_or(Time::ZERO, |u| view.not_before(spaces, id, lane, &u));
        let unanswered = unanswered.filter(|u| view.is_undisturbed_since(u.ended));
        let waits = unanswered.is_some_and(|u| now < u.timeout);
        let busy = occupied || waits || view.is_noticed(now, spaces);
        let boundary = view.last_boundary(now, spaces, lane, ready_at).filter(|at| !busy && *at >= earliest);
        if let Some(at) = boundary {
            function.state = State::Committed { at };
            return agenda.schedule(at, MediumEvent::Start { function: id.0 });
        }
        let key =
            if busy && ready_at <= next && !in_time { next + function.draw_backoff() } else { ready_at.max(next) };
        function.state = State::Contending;
        let held = unanswered.is_some_and(|u| view.hold_back_newcomer(now, spaces, id, lane, key - next, &u));
        if !held {
            view.contend_until(id, lane, key);
        }
        self.await_backoff(at, agenda);
    }

    /// A function contends with what is left of its post-backoff; if nothing is, it draws a backoff where the
    /// medium is busy, and waits for the end of the inter-frame space where it is not.
    #[inline(always)]
    fn contend_with(&mut self, now: Time, id: FunctionId, view: usize, left: u64) {
        let function = &mut self.functions[id.index()];
        let (lane, spaces, view) = (function.lane, &self.spaces[view], &mut self.views[view]);
        if left > 0 {
            view.contend(now, spaces, id, lane, left);
        } else if view.is_busy(now) {
            view.contend(now, spaces, id, lane, function.draw_backoff());
        } else {
            view.contend_without_backoff(spaces, id, lane, function.draw_backoff());
        }
    }

    /// A function whose countdown ends while its own radio sends: it knows that, and goes on when the medium is idle.
    pub(crate) fn wait_for_own_radio(&mut self, now: Time, id: FunctionId) {
        let function = &mut self.functions[id.index()];
        let at = self.radios[function.node.index()].view as usize;
        function.state = State::Contending;
        self.views[at].contend(now, &self.spaces[at], id, function.lane, 0);
    }

    /// Of the functions of a radio that start now, `id` and those committed to this instant, the first.
    pub(crate) fn first_of(&self, now: Time, id: FunctionId) -> FunctionId {
        let mut own = self.radios[self.functions[id.index()].node.index()].functions.clone().map(FunctionId);
        own.find(|f| *f == id || self.state(*f) == State::Committed { at: now }).unwrap_or(id)
    }

    /// The backoff that a function has drawn since this was last asked, and the window from which it was.
    pub(crate) fn take_drawn(&mut self, id: FunctionId) -> Option<(u32, u32)> {
        let function = &mut self.functions[id.index()];
        function.drawn.take().map(|slots| (slots, function.cw))
    }

    /// `id` has won, and its exchange begins.
    #[inline(always)]
    pub(crate) fn begin_exchange(&mut self, id: FunctionId) {
        self.functions[id.index()].state = State::Exchanging;
    }

    /// `id` has nothing to send and nothing left to count.
    pub(crate) fn rest(&mut self, id: FunctionId) {
        self.functions[id.index()].state = State::Idle { ready_at: 0 };
    }

    /// As [`rest`](Self::rest); the others of its view go on.
    pub(crate) fn pass(&mut self, id: FunctionId, agenda: &mut impl Agenda) {
        self.rest(id);
        self.await_backoff(self.view_of(self.functions[id.index()].node), agenda);
    }

    /// `id` lost to another function of its radio: it contends as after a collision. [802.11-2020 §10.23.2.4]
    pub(crate) fn contend_after_internal_collision(&mut self, now: Time, id: FunctionId) {
        let function = &mut self.functions[id.index()];
        let at = self.radios[function.node.index()].view as usize;
        let backoff = function.draw_backoff();
        function.state = State::Contending;
        self.views[at].contend(now, &self.spaces[at], id, function.lane, backoff);
    }

    /// What was sent has arrived, or was given up: the window is the smallest again.
    #[inline(always)]
    pub(crate) fn succeeded(&mut self, id: FunctionId) {
        let function = &mut self.functions[id.index()];
        function.cw = function.cw_min;
    }

    /// What was sent has not arrived.
    pub(crate) fn failed(&mut self, id: FunctionId) {
        self.functions[id.index()].widen();
    }

    /// After an exchange, whatever came of it, a backoff is drawn; without anything to send it is a post-backoff.
    /// `apart`: it is not counted before then, nor only after the EIFS of others.
    #[inline(always)]
    pub(crate) fn contend_again(
        &mut self,
        now: Time,
        id: FunctionId,
        apart: Option<Time>,
        has_work: bool,
        agenda: &mut impl Agenda,
    ) {
        let function = &mut self.functions[id.index()];
        let radio = &self.radios[function.node.index()];
        let (backoff, lane, at) = (function.draw_backoff(), function.lane, radio.view as usize);
        let (spaces, view) = (&self.spaces[at], &mut self.views[at]);
        match apart {
            Some(not_before) => view.contend_apart(id, lane, backoff, not_before),
            None if has_work => view.start_backoff(now, spaces, id, lane, backoff),
            None => {
                function.state = State::Idle { ready_at: view.post_backoff(now, spaces, lane, backoff) };
                return;
            }
        }
        function.state = State::Contending;
        if let Some(timeout) = apart.filter(|_| radio.functions.len() > 1) {
            self.hold_back_others(now, id, timeout);
        }
        self.await_backoff(at, agenda);
    }

    /// After a frame without response the other functions of its radio wait for an AIFS after the timeout, too.
    /// [802.11-2020 §10.23.2.4 c]
    #[inline(never)]
    fn hold_back_others(&mut self, now: Time, id: FunctionId, timeout: Time) {
        let radio = &mut self.radios[self.functions[id.index()].node.index()];
        radio.unanswered = Some(Unanswered { by: id, ended: now, timeout });
        let (own, at) = (radio.functions.clone(), radio.view as usize);
        let (spaces, view) = (&self.spaces[at], &mut self.views[at]);
        for other in own.clone().filter(|f| *f != id.0) {
            let function = &mut self.functions[other as usize];
            let State::Idle { ready_at } = function.state else { continue };
            // What is left of a post-backoff is counted like a backoff.
            if view.left_of(now, spaces, function.lane, ready_at) > 0 {
                function.state = State::Contending;
                view.contend_until(FunctionId(other), function.lane, ready_at);
            }
        }
        view.hold_back(spaces, own, timeout);
    }

    /// The end of the inter-frame space of a function, counted from `at`.
    pub(crate) fn after_inter_frame_space(&self, at: Time, id: FunctionId) -> Time {
        let function = &self.functions[id.index()];
        let view = self.view_of(function.node);
        self.views[view].after_inter_frame_space(at, &self.spaces[view], function.lane)
    }

    /// A PPDU of `from` begins, as `view` senses it. Functions that cannot sense it in time are committed to their
    /// boundaries.
    #[inline(always)]
    pub(crate) fn ppdu_starts(&mut self, at: Time, view: usize, from: NodeId, agenda: &mut impl Agenda) {
        let own = self.radios[from.index()].functions.clone();
        let commit = commits(&mut self.functions, own.clone(), agenda);
        self.views[view].ppdu_starts(at, &self.spaces[view], own, commit);
    }

    /// As [`ppdu_starts`](Self::ppdu_starts) for a PPDU that has begun before and is noticed only now.
    pub(crate) fn ppdu_noticed(&mut self, now: Time, view: usize, agenda: &mut impl Agenda) {
        let commit = commits(&mut self.functions, 0..0, agenda);
        self.views[view].ppdu_noticed(now, &self.spaces[view], 0..0, commit);
    }

    /// `gone` PPDUs that `view` has sensed end, or are not sensed any more.
    #[inline(always)]
    pub(crate) fn ppdus_end(&mut self, now: Time, view: usize, gone: u32, agenda: &mut impl Agenda) {
        if gone > 0 && self.views[view].ppdus_end(gone) {
            self.views[view].turns_idle(now, &self.spaces[view]);
            self.await_backoff(view, agenda);
        }
    }

    /// The NAV that an RTS set is taken back, if nothing was heard `since`. [802.11-2020 §10.3.2.4]
    pub(crate) fn nav_timeout(&mut self, now: Time, view: usize, since: Time, agenda: &mut impl Agenda) {
        let of = &mut self.views[view];
        if !of.heard_since(now, since) && of.nav_is_set(now) {
            of.reset_nav(now, &self.spaces[view]);
            self.await_backoff(view, agenda);
        }
    }

    /// Asks for the event at which the next backoff of `view` ends. One event serves all views: the first that any of
    /// them waits for; it comes in the turn in which that view asked.
    #[inline(always)]
    fn await_backoff(&mut self, view: usize, agenda: &mut impl Agenda) {
        if let Some(awaited) = self.views[view].await_next(&self.spaces[view], || agenda.turn())
            && self.armed.is_none_or(|armed| awaited < armed)
        {
            self.arm(awaited, agenda);
        }
    }

    fn arm(&mut self, awaited: (Time, Turn), agenda: &mut impl Agenda) {
        self.armed = Some(awaited);
        let (at, turn) = awaited;
        agenda.schedule_in_turn(at, turn, MediumEvent::Backoff { turn });
    }

    /// The event of a `turn` has come: the function whose backoff ends with it, if its view still waits for that.
    #[inline(always)]
    pub(crate) fn backoff_ends(&mut self, now: Time, turn: Turn, agenda: &mut impl Agenda) -> Option<FunctionId> {
        if self.armed != Some((now, turn)) {
            return None;
        }
        let (mut due, mut next) = (None, None);
        for (at, view) in self.views.iter().enumerate() {
            match view.awaited() {
                Some(awaited) if awaited == (now, turn) => due = Some(at),
                Some(awaited) if next.is_none_or(|next| awaited < next) => next = Some(awaited),
                _ => {}
            }
        }
        self.armed = None;
        if let Some(next) = next {
            self.arm(next, agenda);
        }
        let due = due?;
        self.views[due].stop_waiting();
        self.views[due].take_ended(now, &self.spaces[due])
    }
}

/// Commits a function to the boundary at which it is told to start. Those of `own` start at this very instant and need no
/// event: the radio that sends settles between them.
#[inline(always)]
fn commits(functions: &mut [Function], own: Range<u32>, agenda: &mut impl Agenda) -> impl FnMut(FunctionId, Time) {
    move |id, boundary| {
        functions[id.index()].state = State::Committed { at: boundary };
        if !own.contains(&id.0) {
            agenda.schedule(boundary, MediumEvent::Start { function: id.0 });
        }
    }
}
