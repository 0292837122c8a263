//! Channel access [802.11-2020 §10.3, §10.23.2]: countdowns and winners. This module knows no packets.
//!
//! `view`: the medium as sensed by nodes with the same hearing, and their countdown; `lane`: its access classes;
//! `apart`: contenders kept apart from them; `company`: radios that share a view for a time. `function`: the state of one
//! channel access function; `terms`: changes of its parameters. This file: the functions of all radios, each in the view of
//! its radio.

mod apart;
pub(crate) mod company;
pub(crate) mod function;
pub(crate) mod lane;
pub(crate) mod terms;
pub(crate) mod view;

use std::collections::BTreeMap;
use std::ops::Range;

use lasthop_engine::Turn;
use lasthop_observe::NodeId;
use lasthop_units::Time;

use crate::environment::{Agenda, MediumEvent};
use crate::ids::FunctionId;
use function::{Function, State, Terms};
use lane::{LaneId, LaneKind, Spaces, Unanswered};
use view::View;

/// The part of a radio that its functions share.
struct Radio {
    view: u32,
    /// Its functions, in order of falling priority.
    functions: Range<u32>,
    /// The last of its frames that was not answered.
    unanswered: Option<Unanswered>,
}

/// The access classes of a medium, and the index of each.
#[derive(Clone, Default)]
pub(crate) struct Lanes(Vec<LaneKind>);

impl Lanes {
    fn kind(&self, lane: LaneId) -> LaneKind {
        self.0[lane.0]
    }

    pub(crate) fn place(&mut self, kind: LaneKind) -> LaneId {
        let known = self.0.iter().position(|k| *k == kind);
        LaneId(known.unwrap_or_else(|| {
            self.0.push(kind);
            self.0.len() - 1
        }))
    }
}

/// Result of a request for access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Requested {
    /// the function may send now
    Wins,
    /// the function counts or waits for a boundary, or did so before
    Waits,
}

/// All channel access functions of a medium.
pub(crate) struct Contention {
    lanes: Lanes,
    /// Own parameters of functions that use MU EDCA now.
    usual: BTreeMap<u32, Terms>,
    views: Vec<View>,
    /// Views that wait for a backoff to end, and some that have done so.
    waiting: Vec<u32>,
    /// inter-frame spaces of each view
    spaces: Vec<Spaces>,
    functions: Vec<Function>,
    radios: Vec<Radio>,
    /// The event that has been scheduled: no later than any that a view awaits. If its view no longer waits, it only
    /// leads to the next one.
    armed: Option<(Time, Turn)>,
}

impl Contention {
    /// `spaces` are those of each view; `functions` are listed radio by radio, each radio with its view.
    pub(crate) fn new(
        lanes: Lanes,
        spaces: Vec<Spaces>,
        functions: Vec<Function>,
        radios: impl Iterator<Item = (usize, Range<u32>)>,
    ) -> Contention {
        let radio = |(view, functions)| Radio { view: view as u32, functions, unanswered: None };
        Contention {
            views: spaces.iter().map(|spaces| View::new(spaces, &lanes.0)).collect(),
            lanes,
            usual: BTreeMap::new(),
            waiting: Vec::new(),
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

    /// Returns whether a function of this radio has won and its exchange goes on.
    pub(crate) fn is_exchanging(&self, node: NodeId) -> bool {
        let own = self.radios[node.index()].functions.clone();
        self.functions[own.start as usize..own.end as usize].iter().any(|f| f.state == State::Exchanging)
    }

    /// Returns whether a function of this radio has won, or will send at the next boundary.
    pub(crate) fn is_engaged(&self, node: NodeId) -> bool {
        let own = self.radios[node.index()].functions.clone();
        let engaged = |f: &Function| matches!(f.state, State::Exchanging | State::Committed { .. });
        self.functions[own.start as usize..own.end as usize].iter().any(engaged)
    }

    /// Requests access for a function with something to send: it sends at once, counts on, or draws a backoff
    /// [802.11-2020 §10.3.4.2]. `occupied`: its radio is sending, or about to.
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

    /// Makes a function of EDCA idle if it has counted without anything to send, and has nothing left to count.
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

    /// Requests access for a function of EDCA. With nothing left to count it waits for the next slot boundary, or draws
    /// a backoff if the medium is busy; if the medium turns busy before the boundary, it draws none
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
        // A packet that arrives before the timeout of the frame before it is in time for the backoff drawn after that
        // timeout.
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

    /// Lets a function contend with the rest of its post-backoff. If nothing is left, it draws a backoff on a busy
    /// medium, and waits for the end of the inter-frame space on an idle one.
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

    /// Handles a countdown that ends while the function's own radio sends: it knows that, and goes on when the medium
    /// is idle.
    pub(crate) fn wait_for_own_radio(&mut self, now: Time, id: FunctionId) {
        let function = &mut self.functions[id.index()];
        let at = self.radios[function.node.index()].view as usize;
        function.state = State::Contending;
        self.views[at].contend(now, &self.spaces[at], id, function.lane, 0);
    }

    /// The first of the functions of a radio that start now: `id` and those committed to this instant.
    pub(crate) fn first_of(&self, now: Time, id: FunctionId) -> FunctionId {
        let mut own = self.radios[self.functions[id.index()].node.index()].functions.clone().map(FunctionId);
        own.find(|f| *f == id || self.state(*f) == State::Committed { at: now }).unwrap_or(id)
    }

    /// The backoff that a function has drawn since the last call, and the window from which it was drawn.
    pub(crate) fn take_drawn(&mut self, id: FunctionId) -> Option<(u32, u32)> {
        let function = &mut self.functions[id.index()];
        function.drawn.take().map(|slots| (slots, function.cw))
    }

    /// Starts the exchange of `id`, which has won.
    #[inline(always)]
    pub(crate) fn begin_exchange(&mut self, id: FunctionId) {
        self.functions[id.index()].state = State::Exchanging;
    }

    /// Makes `id` idle, with nothing to send and nothing left to count.
    pub(crate) fn rest(&mut self, id: FunctionId) {
        self.functions[id.index()].state = State::Idle { ready_at: 0 };
    }

    /// Makes `id` idle as [`rest`](Self::rest) does; the others of its view go on.
    pub(crate) fn pass(&mut self, id: FunctionId, agenda: &mut impl Agenda) {
        self.rest(id);
        self.await_backoff(self.view_of(self.functions[id.index()].node), agenda);
    }

    /// Lets `id` contend as after a collision: it lost to another function of its radio. [802.11-2020 §10.23.2.4]
    pub(crate) fn contend_after_internal_collision(&mut self, now: Time, id: FunctionId) {
        let function = &mut self.functions[id.index()];
        let at = self.radios[function.node.index()].view as usize;
        let backoff = function.draw_backoff();
        if function.is_held(now, backoff) {
            return;
        }
        function.state = State::Contending;
        self.views[at].contend(now, &self.spaces[at], id, function.lane, backoff);
    }

    /// Resets the window to its minimum: the frames have arrived, or were given up.
    #[inline(always)]
    pub(crate) fn succeeded(&mut self, id: FunctionId) {
        let function = &mut self.functions[id.index()];
        function.cw = function.cw_min;
    }

    /// Widens the window: the frames have not arrived.
    pub(crate) fn failed(&mut self, id: FunctionId) {
        self.functions[id.index()].widen();
    }

    /// Draws a backoff after an exchange, whatever its result; without anything to send it is a post-backoff. With
    /// `apart` the function counts from then on, without the EIFS of others.
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
        if function.is_held(now, backoff) {
            return;
        }
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

    /// Does the same as [`contend_again`](Self::contend_again) a SIFS after the last PPDU of the exchange has `ended`, on a medium
    /// that may be idle since then.
    #[cold]
    pub(crate) fn contend_after_silence(
        &mut self,
        now: Time,
        ended: Time,
        id: FunctionId,
        apart: Option<Time>,
        has_work: bool,
        agenda: &mut impl Agenda,
    ) {
        let at = self.view_of(self.functions[id.index()].node);
        let Some(timeout) = apart else { return self.contend_again(now, id, None, has_work, agenda) };
        let function = &mut self.functions[id.index()];
        let (backoff, lane, node) = (function.draw_backoff(), function.lane, function.node);
        if function.is_held(now, backoff) {
            return;
        }
        function.state = State::Contending;
        self.views[at].contend_apart_after_silence(id, lane, backoff, timeout);
        if self.radios[node.index()].functions.len() > 1 {
            self.hold_back_others(ended, id, timeout);
        }
        self.views[at].count_apart(&self.spaces[at]);
        self.await_backoff(at, agenda);
    }

    /// Holds back the other functions of a radio for an AIFS after the timeout of a frame without response.
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
            // The rest of a post-backoff is counted like a backoff.
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

    /// Starts a PPDU of `from` as `view` senses it. Functions that cannot sense it in time are committed to their
    /// boundaries.
    #[inline(always)]
    pub(crate) fn ppdu_starts(&mut self, at: Time, view: usize, from: NodeId, agenda: &mut impl Agenda) {
        let own = self.radios[from.index()].functions.clone();
        let commit = commits(&mut self.functions, own.clone(), agenda);
        self.views[view].ppdu_starts(at, &self.spaces[view], own, commit);
    }

    /// Does the same as [`ppdu_starts`](Self::ppdu_starts) for a PPDU that began earlier and is noticed only now.
    pub(crate) fn ppdu_noticed(&mut self, now: Time, view: usize, agenda: &mut impl Agenda) {
        let commit = commits(&mut self.functions, 0..0, agenda);
        self.views[view].ppdu_noticed(now, &self.spaces[view], 0..0, commit);
    }

    /// Does the same for a burst of an interferer.
    pub(crate) fn energy_noticed(&mut self, now: Time, view: usize, agenda: &mut impl Agenda) {
        let commit = commits(&mut self.functions, 0..0, agenda);
        self.views[view].energy_noticed(now, &self.spaces[view], commit);
    }

    /// Ends `gone` PPDUs that `view` has sensed, or that it senses no longer.
    #[inline(always)]
    pub(crate) fn ppdus_end(&mut self, now: Time, view: usize, gone: u32, agenda: &mut impl Agenda) {
        if gone > 0 && self.views[view].ppdus_end(gone) {
            self.views[view].turns_idle(now, &self.spaces[view]);
            self.await_backoff(view, agenda);
        }
    }

    /// Takes back a NAV that an RTS set, if nothing was heard `since`. [802.11-2020 §10.3.2.4]
    pub(crate) fn nav_timeout(&mut self, now: Time, view: usize, since: Time, agenda: &mut impl Agenda) {
        let of = &mut self.views[view];
        if !of.heard_since(now, since) && of.nav_is_set(now) {
            of.reset_nav(now, &self.spaces[view]);
            self.await_backoff(view, agenda);
        }
    }

    /// Schedules the event at which the next backoff of `view` ends. One event serves all views: the first that any of
    /// them awaits; it comes in the turn that this view obtained.
    #[inline(always)]
    fn await_backoff(&mut self, view: usize, agenda: &mut impl Agenda) {
        let of = &mut self.views[view];
        if let Some(awaited) = of.await_next(&self.spaces[view], || agenda.turn()) {
            if !std::mem::replace(&mut of.is_listed, true) {
                self.waiting.push(view as u32);
            }
            if self.armed.is_none_or(|armed| awaited < armed) {
                self.arm(awaited, agenda);
            }
        }
    }

    fn arm(&mut self, awaited: (Time, Turn), agenda: &mut impl Agenda) {
        self.armed = Some(awaited);
        let (at, turn) = awaited;
        agenda.schedule_in_turn(at, turn, MediumEvent::Backoff { turn });
    }

    /// Handles the event of a `turn`: returns the function whose backoff ends with it, if its view still waits for
    /// that.
    #[inline(always)]
    pub(crate) fn backoff_ends(&mut self, now: Time, turn: Turn, agenda: &mut impl Agenda) -> Option<FunctionId> {
        if self.armed != Some((now, turn)) {
            return None;
        }
        let (mut due, mut next) = (None, None);
        let views = &mut self.views;
        self.waiting.retain(|&at| {
            let view = &mut views[at as usize];
            match view.awaited() {
                Some(awaited) if awaited == (now, turn) => due = Some(at as usize),
                Some(awaited) if next.is_none_or(|next| awaited < next) => next = Some(awaited),
                Some(_) => {}
                None => view.is_listed = false,
            }
            view.is_listed
        });
        self.armed = None;
        if let Some(next) = next {
            self.arm(next, agenda);
        }
        let due = due?;
        self.views[due].stop_waiting();
        self.views[due].take_ended(now, &self.spaces[due])
    }
}

/// Commits a function to the boundary at which it must start. Those of `own` start at this very instant and need no
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
