//! Contention: the next sender and its time, without an event per slot.
//!
//! Stations that hear the same transmissions share a [`View`] of the medium: it is busy and idle at the same instants
//! for all of them. While it is idle all their backoff counters fall together. A view therefore keeps one count of idle
//! slots per access class (a [`Lane`]: DIFS, PIFS one slot earlier, or the AIFS of an access category), and for each
//! contender only the count at which its own counter reaches zero. The next transmission is the smallest of these;
//! freezing and resuming costs nothing per station. A contender is a channel access function: a station has one (DCF)
//! or four (EDCA).
//!
//! Rules [802.11-2020 §10.3.3, §10.3.4]:
//! - Slots are counted from the end of the inter-frame space. The slot in which the medium is found busy
//!   is not counted, so a station that froze has at least one slot left, and only a station that
//!   has just drawn zero sends at the first boundary [Bianchi, Tinnirello 2005]. Under EDCA a counter falls
//!   at the boundary at which a slot begins, so the slot in which the medium is found busy has been counted
//!   [802.11-2020 §10.23.2.4].
//! - Carrier sense takes one slot (aSlotTime is CCA time, turn-around and propagation): at a boundary less
//!   than a slot after another station began, a contender cannot know of that transmission. It counts the slot
//!   that ends there, and sends if it was the last.
//! - A wait that is not a whole number of slots longer than DIFS (EIFS, ACK timeout) ends at the next
//!   boundary: all stations with one view share one grid of slots.
//! - A contender with nothing left to count that finds the medium idle, but not for long enough yet, sends at
//!   the end of the inter-frame space; if the medium turns busy before that, it draws a backoff.

pub(in crate::access) mod company;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use lasthop_engine::Turn;
use lasthop_observe::NodeId;
use lasthop_registry::words;
use lasthop_units::{Duration, Time};

use super::apart::{AllApart, Apart};
use super::lane::{Lane, LaneId, LaneKind, Spaces, Unanswered, boundaries, on_grid, shifted};
use crate::ids::FunctionId;

words! {
    /// Effect of a transmission on the counters of others.
    pub enum Countdown {
        /// the standard: they stand still
        Frozen = "frozen",
        /// Bianchi's chain: a busy period counts as one slot, for comparison with closed forms
        Bianchi = "bianchi",
    }
}

/// The medium as sensed by a group of stations with the same hearing.
pub(crate) struct View {
    /// Signals on the air that the stations sense: physical carrier sense is busy if there is any. [802.11-2020 §17.3.10.6]
    on_air: u32,
    /// Start of the present busy time, or of the last.
    busy_since: Time,
    /// The same if a PPDU made the medium busy; if a burst of an interferer did, the start of the first PPDU after that.
    frames_since: Time,
    /// True if nothing but bursts of interferers has been on the air since the medium turned busy.
    is_energy: bool,
    /// Start of the busy time, in which a PPDU that begins at most a SIFS after the end of another continues it.
    exchange_since: Time,
    /// The last two instants at which PPDUs began.
    last_starts: [Time; 2],
    /// End of the last signal.
    idle_since: Time,
    /// The NAV, virtual carrier sense: the latest end of an exchange among the Duration fields heard. [802.11-2020 §10.3.2.4]
    nav_until: Time,
    /// the initiator of the exchange that has set the NAV: the TXOP holder, whose RTS is answered nevertheless
    /// [802.11-2020 §10.23.2.4]
    nav_holder: NodeId,
    /// Idle time before counting after a frame that was not received correctly, EIFS instead of DIFS; zero for DIFS.
    /// [802.11-2020 §10.3.2.3.7]
    eifs: Duration,
    /// The time at which a lane without offset starts to count, or started, in this idle period or the last:
    /// `max(idle_since, nav_until) + DIFS`, or the first boundary at or after `idle_since + EIFS`. [802.11-2020 §10.3.3]
    counts_from: Time,
    /// Number of its boundaries `counts_from + k slot` passed before the medium was found busy; negative if it was busy before
    /// the first.
    passed: i64,
    /// Slots before that time in which no lane counts yet.
    lead: u64,
    /// The access classes, each with its count of idle slots and its contenders: the backoff counter of one is
    /// `key - slots`, where `key` is the count at which it ends. [802.11-2020 §10.3.3, §10.23.2.2]
    lanes: Vec<Lane>,
    /// Contenders that start to count at times of their own, such as after an ACK timeout. [802.11-2020 §10.3.2.11]
    apart: AllApart,
    /// The time at which the next backoff ends, if a contender waits for that, and its turn among the events of that
    /// time.
    awaited: Option<(Time, Turn)>,
    /// True if it is listed among the views that wait.
    pub(crate) is_listed: bool,
}

impl View {
    pub(crate) fn new(spaces: &Spaces, lanes: &[LaneKind]) -> Self {
        let lane = |&kind: &LaneKind| Lane { kind, slots: 0, contenders: BinaryHeap::new() };
        let mut view = View {
            on_air: 0,
            busy_since: Time::ZERO,
            frames_since: Time::ZERO,
            is_energy: false,
            exchange_since: Time::ZERO,
            last_starts: [Time::ZERO; 2],
            idle_since: Time::ZERO,
            nav_until: Time::ZERO,
            nav_holder: NodeId(u32::MAX),
            eifs: Duration::ZERO,
            counts_from: Time::ZERO,
            passed: 0,
            lead: lanes.iter().map(|kind| 1 - kind.offset.min(0)).max().unwrap_or(1) as u64,
            lanes: lanes.iter().map(lane).collect(),
            apart: AllApart::default(),
            awaited: None,
            is_listed: false,
        };
        view.start_counting(spaces);
        view
    }

    /// Returns whether physical or virtual carrier sense is busy.
    pub(crate) fn is_busy(&self, now: Time) -> bool {
        self.on_air > 0 || self.nav_until > now
    }

    /// Returns whether an RTS of `by` may be answered: the NAV is not set, or by this very holder of a TXOP
    /// [802.11-2020 §10.3.2.9, §10.23.2.4].
    pub(crate) fn answers_rts(&self, now: Time, by: NodeId) -> bool {
        !self.nav_is_set(now) || self.nav_holder == by
    }

    /// Returns whether virtual carrier sense alone is busy.
    pub(crate) fn nav_is_set(&self, now: Time) -> bool {
        self.nav_until > now
    }

    /// Returns whether a PPDU has begun from `since` on and before `now`.
    pub(crate) fn heard_since(&self, now: Time, since: Time) -> bool {
        self.last_starts.into_iter().any(|start| (since..now).contains(&start))
    }

    /// Notes a reception that failed: EIFS applies from the end of the busy period, unless a good frame follows.
    pub(crate) fn reception_failed(&mut self, eifs: Duration) {
        self.eifs = eifs;
    }

    /// Restores DIFS after a good reception or a transmission of the node's own.
    pub(crate) fn end_eifs(&mut self) {
        self.eifs = Duration::ZERO;
    }

    /// Reserves the medium for a frame of an exchange of `holder` to another node; false if the NAV already lasts as long.
    pub(crate) fn set_nav(&mut self, until: Time, holder: NodeId) -> bool {
        let longer = until > self.nav_until;
        if longer {
            self.nav_holder = holder;
        }
        self.nav_until = self.nav_until.max(until);
        longer
    }

    /// Takes back the NAV at the end of a CF-End, which is still sensed. [802.11-2020 §10.23.2.9]
    pub(crate) fn end_nav(&mut self, now: Time) {
        self.nav_until = self.nav_until.min(now);
    }

    /// Takes back the NAV that an RTS set, as nothing has followed it [802.11-2020 §10.3.2.4].
    pub(crate) fn reset_nav(&mut self, now: Time, spaces: &Spaces) {
        assert!(self.nav_is_set(now), "only what is set is taken back");
        self.nav_until = now;
        if self.on_air == 0 {
            self.start_counting(spaces);
        }
    }

    /// Starts a PPDU. `own` are the functions of the node that sends it. `commit` receives contenders that cannot sense
    /// it in time, with their boundaries; of `own` only those whose boundary is this very instant.
    pub(crate) fn ppdu_starts(
        &mut self,
        now: Time,
        spaces: &Spaces,
        own: Range<u32>,
        commit: impl FnMut(FunctionId, Time),
    ) {
        if self.last_starts[0] < now {
            self.last_starts = [now, self.last_starts[0]];
        }
        self.ppdu_noticed(now, spaces, own, commit);
    }

    /// Does the same as [`View::ppdu_starts`] for a PPDU that began earlier and is noticed only now.
    #[inline(always)]
    pub(crate) fn ppdu_noticed(
        &mut self,
        now: Time,
        spaces: &Spaces,
        own: Range<u32>,
        commit: impl FnMut(FunctionId, Time),
    ) {
        self.on_air += 1;
        if self.on_air == 1 {
            self.frames_since = now;
            self.turns_busy(now, spaces, own, commit);
        } else if self.is_energy {
            self.frame_joins(now);
        }
    }

    /// Does the same for a burst of an interferer, which is not a frame: who waits for a response goes on to wait for it.
    pub(crate) fn energy_noticed(&mut self, now: Time, spaces: &Spaces, commit: impl FnMut(FunctionId, Time)) {
        self.on_air += 1;
        if self.on_air == 1 {
            self.is_energy = true;
            self.turns_busy(now, spaces, 0..0, commit);
        }
    }

    /// Handles a PPDU that was energy, together with bursts, and is a frame from now on: the separate waits end, as when
    /// a PPDU makes the medium busy.
    #[cold]
    pub(crate) fn frame_joins(&mut self, now: Time) {
        (self.is_energy, self.frames_since) = (false, now);
        self.end_apart();
    }

    fn turns_busy(&mut self, now: Time, spaces: &Spaces, own: Range<u32>, commit: impl FnMut(FunctionId, Time)) {
        self.busy_since = now;
        if self.idle_since == Time::ZERO || now > self.idle_since + spaces.difs - spaces.slot * 2 {
            self.exchange_since = now;
        }
        self.freeze(now, spaces, own, commit);
    }

    /// Returns whether the PPDU that ends now is the only one.
    pub(crate) fn is_last(&self) -> bool {
        self.on_air == 1
    }

    /// Ends this many PPDUs; true if the medium is idle now.
    #[inline(always)]
    pub(crate) fn ppdus_end(&mut self, ended: u32) -> bool {
        assert!(self.on_air >= ended, "a PPDU ended that never began");
        self.on_air -= ended;
        self.on_air == 0
    }

    /// Handles a medium that has turned idle: counting starts after the inter-frame space.
    pub(crate) fn turns_idle(&mut self, now: Time, spaces: &Spaces) {
        self.idle_since = now;
        self.is_energy = false;
        self.start_counting(spaces);
    }

    fn start_counting(&mut self, spaces: &Spaces) {
        let difs_ends = self.idle_since.max(self.nav_until) + spaces.difs;
        let ends = if self.eifs > spaces.difs {
            on_grid(difs_ends, spaces.slot, self.idle_since + self.eifs)
        } else {
            difs_ends
        };
        self.counts_from = ends;
        if !self.apart.is_empty() {
            let lanes = &self.lanes;
            self.apart.start_counting(spaces.slot, |lane| shifted(difs_ends, spaces.slot, lanes[lane.0].kind.offset));
        }
    }

    /// The time at which a lane starts to count, or started, in this idle period; in a busy one, the time at which it
    /// found the medium busy, or would have started.
    fn lane_counts_from(&self, slot: Duration, lane: LaneId) -> Time {
        let from = shifted(self.counts_from, slot, self.lanes[lane.0].kind.offset);
        if self.on_air > 0 { from.max(self.busy_since) } else { from }
    }

    fn freeze(&mut self, now: Time, spaces: &Spaces, own: Range<u32>, mut commit: impl FnMut(FunctionId, Time)) {
        let slot = spaces.slot;
        self.awaited = None;
        if now + slot * self.lead <= self.counts_from {
            // As after a SIFS: no lane has counted, and no backoff ends so soon.
            self.passed = -(self.lead as i64);
        } else {
            self.passed = boundaries(self.counts_from, now, slot);
            self.freeze_lanes(now, slot, &own, &mut commit);
        }
        if !self.apart.is_empty() {
            self.freeze_apart(now, slot, &own, commit);
        }
    }

    fn freeze_lanes(&mut self, now: Time, slot: Duration, own: &Range<u32>, commit: &mut impl FnMut(FunctionId, Time)) {
        for lane in &mut self.lanes {
            let counted = lane.kind.counted_of(self.passed);
            debug_assert_eq!(
                counted,
                lane.kind.counted(shifted(self.counts_from, slot, lane.kind.offset), now, slot),
                "all lanes share one grid"
            );
            if let Some(&Reverse((key, _))) = lane.contenders.peek()
                && lane.ends_at(self.counts_from, key, slot) < now + slot
            {
                lane.commit_ended(now, self.counts_from, slot, counted, own, commit);
            }
            lane.slots += counted;
        }
    }

    /// Freezes contenders kept apart as [`freeze`](Self::freeze) does for lanes; from now on they wait with their
    /// lanes.
    #[cold]
    fn freeze_apart(&mut self, now: Time, slot: Duration, own: &Range<u32>, mut commit: impl FnMut(FunctionId, Time)) {
        let mut still_apart = Vec::new();
        for one in self.apart.drain() {
            let end = one.ends_at(slot);
            if end < now + slot && !(end > now && own.contains(&one.function.0)) {
                commit(one.function, end.max(now));
                continue;
            }
            let lane = &mut self.lanes[one.lane.0];
            let counted = lane.kind.counted(one.from, now, slot);
            let left = one.if_interrupted.unwrap_or(one.remaining.saturating_sub(counted));
            if self.is_energy && one.not_before > now {
                still_apart.push(Apart { remaining: left, if_interrupted: None, from: Time::NEVER, ..one });
                continue;
            }
            lane.contenders.push(Reverse((lane.slots + left, one.function)));
        }
        still_apart.into_iter().for_each(|one| self.apart.add_while_busy(one));
    }

    /// Starts the countdown of `backoff` slots for `function`: from the end of the inter-frame space, or, if its own
    /// view has been idle for longer (it did not hear the last frame of its exchange), from the next boundary.
    pub(crate) fn start_backoff(
        &mut self,
        now: Time,
        spaces: &Spaces,
        function: FunctionId,
        lane: LaneId,
        backoff: u64,
    ) {
        let key = self.post_backoff(now, spaces, lane, backoff);
        self.lanes[lane.0].contenders.push(Reverse((key, function)));
    }

    /// Lets `function` contend in another lane with `left` slots to go.
    pub(crate) fn join(&mut self, now: Time, spaces: &Spaces, function: FunctionId, lane: LaneId, left: u64) {
        let key = self.key_on_joining(now, spaces, lane, left);
        self.lanes[lane.0].contenders.push(Reverse((key, function)));
    }

    /// Lets `function` contend with `backoff` slots to go, of which the one in progress is the first.
    pub(crate) fn contend(&mut self, now: Time, spaces: &Spaces, function: FunctionId, lane: LaneId, backoff: u64) {
        let key = self.key_of(now, spaces, lane, backoff);
        self.lanes[lane.0].contenders.push(Reverse((key, function)));
    }

    /// Does the same as [`View::contend`] while the medium is busy, for a sender that does not count before its ACK
    /// timeout, and then does not wait for the EIFS of the others.
    pub(crate) fn contend_apart(&mut self, function: FunctionId, lane: LaneId, backoff: u64, not_before: Time) {
        assert!(self.on_air > 0, "when counting starts is known when the medium turns idle");
        let one = Apart { function, lane, remaining: backoff, if_interrupted: None, not_before, from: Time::NEVER };
        self.apart.add_while_busy(one);
    }

    /// Does the same whether the medium is busy or idle; [`count_apart`](Self::count_apart) follows.
    pub(crate) fn contend_apart_after_silence(
        &mut self,
        function: FunctionId,
        lane: LaneId,
        backoff: u64,
        not_before: Time,
    ) {
        let one = Apart { function, lane, remaining: backoff, if_interrupted: None, not_before, from: Time::NEVER };
        self.apart.add_while_busy(one);
    }

    /// Lets contenders that were set apart on an idle medium count.
    pub(crate) fn count_apart(&mut self, spaces: &Spaces) {
        if self.on_air == 0 {
            let difs_ends = self.idle_since.max(self.nav_until) + spaces.difs;
            let lanes = &self.lanes;
            self.apart.start_new(spaces.slot, |lane| shifted(difs_ends, spaces.slot, lanes[lane.0].kind.offset));
        }
    }

    /// The end of the inter-frame space of a lane, counted from `at`.
    pub(crate) fn after_inter_frame_space(&self, at: Time, spaces: &Spaces, lane: LaneId) -> Time {
        shifted(at + spaces.difs, spaces.slot, self.lanes[lane.0].kind.offset)
    }

    /// Ends the separate waits in a view of one node, which has tried to receive something since it sent: it waits as
    /// others do.
    pub(crate) fn end_apart(&mut self) {
        for one in self.apart.drain() {
            let lane = &mut self.lanes[one.lane.0];
            lane.contenders.push(Reverse((lane.slots + one.remaining, one.function)));
        }
    }

    /// Does the same as [`View::contend_apart`] for those of `own` that wait in lanes: each counts once the medium has
    /// been idle for its inter-frame space after `timeout`.
    pub(crate) fn hold_back(&mut self, spaces: &Spaces, own: Range<u32>, timeout: Time) {
        for (place, lane) in self.lanes.iter_mut().enumerate() {
            let (slots, not_before) = (lane.slots, shifted(timeout + spaces.difs, spaces.slot, lane.kind.offset));
            lane.contenders.retain(|&Reverse((key, function))| {
                let held = own.contains(&function.0);
                if held {
                    let (remaining, lane) = (key - slots, LaneId(place));
                    let one = Apart { function, lane, remaining, if_interrupted: None, not_before, from: Time::NEVER };
                    self.apart.add_while_busy(one);
                }
                !held
            });
        }
    }

    /// Does the same as [`View::hold_back`] for a function that has something to send only `now`; false if it need not
    /// be held back, nor waits less than the others of its lane.
    pub(crate) fn hold_back_newcomer(
        &mut self,
        now: Time,
        spaces: &Spaces,
        function: FunctionId,
        lane: LaneId,
        backoff: u64,
        unanswered: &Unanswered,
    ) -> bool {
        let of = &self.lanes[lane.0];
        let not_before = self.not_before(spaces, function, lane, unanswered);
        // The rest of the collision may make its lane wait EIFS, from which the node that has sent is exempt.
        let is_busy = self.on_air > 0;
        if !is_busy && now >= not_before.max(self.lane_counts_from(spaces.slot, lane)) {
            return false;
        }
        let difs_ends = self.idle_since.max(self.nav_until) + spaces.difs;
        let not_before = not_before.max(now);
        let from = on_grid(shifted(difs_ends, spaces.slot, of.kind.offset), spaces.slot, not_before);
        let one = Apart { function, lane, remaining: backoff, if_interrupted: None, not_before, from };
        if is_busy {
            self.apart.add_while_busy(one);
        } else {
            self.apart.add(spaces.slot, one);
        }
        true
    }

    /// The earliest time at which `function` may count after a frame of its node that was not answered.
    pub(crate) fn not_before(
        &self,
        spaces: &Spaces,
        function: FunctionId,
        lane: LaneId,
        unanswered: &Unanswered,
    ) -> Time {
        let after_space = self.after_inter_frame_space(unanswered.timeout, spaces, lane);
        if unanswered.by == function { unanswered.timeout } else { after_space }
    }

    /// Returns whether no PPDU has begun since `at` besides those on the air at that time.
    pub(crate) fn is_undisturbed_since(&self, at: Time) -> bool {
        self.frames_since <= at
    }

    /// Returns whether a node takes the medium to be busy: carrier sense takes a slot, and an exchange whose last PPDU
    /// ended less than a SIFS ago may go on.
    pub(crate) fn is_noticed(&self, now: Time, spaces: &Spaces) -> bool {
        let sifs_ends = self.idle_since + spaces.difs - spaces.slot * 2;
        let busy = match self.on_air {
            0 => self.idle_since > Time::ZERO && now < sifs_ends,
            _ => now >= self.exchange_since + spaces.slot,
        };
        busy || self.nav_is_set(now)
    }

    /// The count at which a function with nothing left to count sends at the next boundary. [802.11-2020 §10.23.2.4]
    pub(crate) fn next_boundary(&self, now: Time, spaces: &Spaces, lane: LaneId) -> u64 {
        self.post_backoff(now, spaces, lane, 0)
    }

    /// The boundary still to come, among those passed before the medium is noticed to be busy, if nothing was left to
    /// count at `key` before it.
    pub(crate) fn last_boundary(&self, now: Time, spaces: &Spaces, lane: LaneId, key: u64) -> Option<Time> {
        let lane = &self.lanes[lane.0];
        let counted = lane.kind.counted_of(self.passed);
        if self.on_air == 0 || counted == 0 || key >= lane.slots {
            return None;
        }
        let last = shifted(self.counts_from, spaces.slot, lane.kind.offset) + spaces.slot * (counted - 1);
        Some(last).filter(|last| now <= *last)
    }

    /// Removes `function` from the contenders; returns the count at which it has or had nothing left to count.
    pub(crate) fn withdraw(&mut self, now: Time, spaces: &Spaces, function: FunctionId, lane: LaneId) -> Option<u64> {
        let next = self.next_boundary(now, spaces, lane);
        if let Some((place, one)) = self.apart.find(function) {
            let passed = if self.on_air > 0 { 0 } else { now.since(one.from).div_ceil(spaces.slot) };
            let done = one.remaining <= passed;
            if done {
                self.apart.remove(place, spaces.slot);
            }
            return done.then_some(next);
        }
        let contenders = &mut self.lanes[lane.0].contenders;
        let key = contenders.iter().find(|c| c.0.1 == function && c.0.0 <= next)?.0.0;
        contenders.retain(|c| c.0.1 != function);
        Some(key)
    }

    /// Lets `function` contend up to a count of slots.
    pub(crate) fn contend_until(&mut self, function: FunctionId, lane: LaneId, key: u64) {
        self.lanes[lane.0].contenders.push(Reverse((key, function)));
    }

    /// Lets a newcomer wait for the end of the inter-frame space; `backoff` applies if that is interrupted.
    pub(crate) fn contend_without_backoff(
        &mut self,
        spaces: &Spaces,
        function: FunctionId,
        lane: LaneId,
        backoff: u64,
    ) {
        let from = self.lane_counts_from(spaces.slot, lane);
        let one = Apart { function, lane, remaining: 0, if_interrupted: Some(backoff), not_before: Time::ZERO, from };
        self.apart.add(spaces.slot, one);
    }

    /// The count of slots at which a backoff of `backoff` slots ends that starts now: the post-backoff of a node with
    /// nothing to send.
    pub(crate) fn post_backoff(&self, now: Time, spaces: &Spaces, lane: LaneId, backoff: u64) -> u64 {
        let begun = match self.on_air {
            0 => now.since(self.lane_counts_from(spaces.slot, lane)).div_ceil(spaces.slot),
            _ => 0,
        };
        self.lanes[lane.0].slots + begun + backoff
    }

    /// The count at which `left` slots are over.
    pub(crate) fn key_of(&self, now: Time, spaces: &Spaces, lane: LaneId, left: u64) -> u64 {
        left + self.counted_by(now, spaces, lane)
    }

    /// Number of access classes.
    pub(crate) fn lanes(&self) -> usize {
        self.lanes.len()
    }

    /// Adds an access class, in which nobody contends yet.
    pub(crate) fn add_lane(&mut self, kind: LaneKind) {
        self.lead = self.lead.max((1 - kind.offset.min(0)) as u64);
        self.lanes.push(Lane { kind, slots: 0, contenders: BinaryHeap::new() });
    }

    /// Slots that are left of a post-backoff that ends at `key`.
    pub(crate) fn left_of(&self, now: Time, spaces: &Spaces, lane: LaneId, key: u64) -> u64 {
        key.saturating_sub(self.counted_by(now, spaces, lane))
    }

    /// Slots that are left of a backoff that ends at `key`, for one that moves to another lane. An EDCA function has counted the
    /// slot in progress at its beginning. [802.11-2020 §10.23.2.4]
    pub(crate) fn left_on_leaving(&self, now: Time, spaces: &Spaces, lane: LaneId, key: u64) -> u64 {
        if self.lanes[lane.0].kind.counts_busy_slot {
            key.saturating_sub(self.post_backoff(now, spaces, lane, 0))
        } else {
            self.left_of(now, spaces, lane, key)
        }
    }

    /// The count at which `left` slots are over, for one that comes from another lane. An EDCA function counts from the next
    /// boundary on, another one the slot in progress too.
    pub(crate) fn key_on_joining(&self, now: Time, spaces: &Spaces, lane: LaneId, left: u64) -> u64 {
        if self.lanes[lane.0].kind.counts_busy_slot || left == 0 {
            self.post_backoff(now, spaces, lane, left)
        } else {
            self.key_of(now, spaces, lane, left)
        }
    }

    /// Slots that a lane has counted; while the medium is busy none are added.
    fn counted_by(&self, now: Time, spaces: &Spaces, lane: LaneId) -> u64 {
        let counted = match self.on_air {
            0 => now.since(self.lane_counts_from(spaces.slot, lane)).div_floor(spaces.slot),
            _ => 0,
        };
        self.lanes[lane.0].slots + counted
    }

    /// The time at which a node with nothing left to count sends, if that is settled: now, or at the end of the
    /// inter-frame space if the PPDU on the air began less than a slot before that, unnoticed. (The backoff slot in
    /// which it began counts as over.)
    pub(crate) fn sends_at(&self, now: Time, spaces: &Spaces, lane: LaneId) -> Option<Time> {
        let from = self.lane_counts_from(spaces.slot, lane);
        let sensed_at = if self.on_air > 0 { self.exchange_since + spaces.slot } else { Time::NEVER };
        let settled = if self.on_air > 0 { from < sensed_at } else { from <= now };
        (settled && now < sensed_at && !self.nav_is_set(now)).then_some(from.max(now))
    }

    /// The time at which the next contender's backoff ends, if the medium stays idle.
    pub(crate) fn next_end(&self, spaces: &Spaces) -> Option<Time> {
        if self.on_air > 0 {
            return None;
        }
        let mut next = self.apart.next_end().unwrap_or(Time::NEVER);
        for lane in &self.lanes {
            if let Some(Reverse((key, _))) = lane.contenders.peek() {
                next = next.min(lane.ends_at(self.counts_from, *key, spaces.slot));
            }
        }
        (next < Time::NEVER).then_some(next)
    }

    /// Removes a contender whose backoff ends now: of those of one node, the one with the highest priority.
    #[inline(always)]
    pub(crate) fn take_ended(&mut self, now: Time, spaces: &Spaces) -> Option<FunctionId> {
        let ended = |lane: &Lane| {
            let Reverse((key, function)) = *lane.contenders.peek()?;
            (lane.ends_at(self.counts_from, key, spaces.slot) <= now).then_some(function)
        };
        let in_lanes = self.lanes.iter().enumerate().filter_map(|(i, lane)| Some((ended(lane)?, i))).min();
        match (in_lanes, self.apart.ended(now, spaces.slot)) {
            (Some((function, lane)), other) if other.is_none_or(|(o, _)| function < o) => {
                self.lanes[lane].contenders.pop();
                Some(function)
            }
            (_, Some((function, place))) => {
                self.apart.remove(place, spaces.slot);
                Some(function)
            }
            _ => None,
        }
    }

    /// Waits for the next backoff to end; returns the time, unless it is awaited already. `turn` supplies the turn of
    /// the new wait.
    pub(crate) fn await_next(&mut self, spaces: &Spaces, turn: impl FnOnce() -> Turn) -> Option<(Time, Turn)> {
        let next = self.next_end(spaces)?;
        if self.awaited.is_some_and(|(at, _)| at == next) {
            return None;
        }
        self.awaited = Some((next, turn()));
        self.awaited
    }

    /// The end of a backoff for which it waits.
    #[inline(always)]
    pub(crate) fn awaited(&self) -> Option<(Time, Turn)> {
        self.awaited
    }

    /// Ends its wait.
    pub(crate) fn stop_waiting(&mut self) {
        self.awaited = None;
    }
}

#[cfg(test)]
mod tests;
