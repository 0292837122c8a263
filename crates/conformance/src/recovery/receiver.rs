//! The receiver of the recordings: it acknowledges whole segments, at times given here.
//!
//! SACK blocks come newest first, at most four, or three beside timestamps; a duplicate is reported first [RFC 2883].
//! The echoed timestamp is not frozen when an ACK is made: it is that of the newest segment in order by the time the
//! ACK reaches the sender. The recordings show this: RTTs measured by timestamps fit nothing else.

use lasthop_units::{Duration, Time};

use crate::recovery::row::Ack;
use crate::recovery::scenario::Scenario;

/// Time for which an ACK is withheld.
const DELAY: Duration = Duration::from_millis(40);

/// A segment that arrives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub segment: u64,
    pub timestamp: Option<u32>,
    pub marked: bool,
    pub window_reduced: bool,
}

/// An ACK.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub ack: Ack,
    pub window: u64,
}

#[derive(Debug)]
pub(crate) struct Receiver {
    cumulative: u64,
    /// runs of segments above a hole, newest first
    runs: Vec<(u64, u64)>,
    most_blocks: usize,
    reports: bool,
    every: u64,
    withheld: u64,
    deadline: Time,
    window: u64,
    full_window: u64,
    echoes_mark: bool,
    /// timestamp of the newest segment in order
    recent: Option<u32>,
    acks: u64,
}

impl Receiver {
    pub fn new(scenario: &Scenario) -> Receiver {
        Receiver {
            cumulative: 0,
            runs: Vec::new(),
            most_blocks: if scenario.timestamps { 3 } else { 4 },
            reports: scenario.sack,
            every: scenario.delack,
            withheld: 0,
            deadline: Time::NEVER,
            window: scenario.window,
            full_window: scenario.window,
            echoes_mark: false,
            recent: None,
            acks: 0,
        }
    }

    /// The timestamp to echo.
    pub fn recent_timestamp(&self) -> Option<u32> {
        self.recent
    }

    /// The time at which a withheld ACK is due.
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// Takes in a segment; the ACK, if it causes one at once.
    pub fn receive(&mut self, now: Time, arrival: Arrival) -> Option<Answer> {
        self.echoes_mark = (self.echoes_mark && !arrival.window_reduced) || arrival.marked;
        let segment = arrival.segment;
        let is_duplicate = segment < self.cumulative || self.holds(segment);
        if segment != self.cumulative {
            let duplicate = is_duplicate.then_some((segment, segment + 1));
            if !is_duplicate {
                self.insert(segment);
            }
            return Some(self.answer(duplicate));
        }
        let had_gap = !self.runs.is_empty();
        self.advance();
        self.withheld += 1;
        self.recent = arrival.timestamp;
        if self.withheld >= self.every || had_gap {
            return Some(self.answer(None));
        }
        self.deadline = self.deadline.min(now + DELAY);
        None
    }

    /// The withheld ACK, or a requested one.
    pub fn answer_now(&mut self) -> Answer {
        self.answer(None)
    }

    /// Changes the window; the ACK that reports it.
    pub fn change_window(&mut self, window: u64) -> Answer {
        self.window = window;
        self.answer(None)
    }

    fn holds(&self, segment: u64) -> bool {
        self.runs.iter().any(|(left, right)| (*left..*right).contains(&segment))
    }

    /// Adds a segment above a hole: its run, joined with its neighbours, is the newest.
    fn insert(&mut self, segment: u64) {
        let mut run = (segment, segment + 1);
        self.runs.retain(|(left, right)| {
            let touches = *right == segment || *left == segment + 1;
            if touches {
                run = (run.0.min(*left), run.1.max(*right));
            }
            !touches
        });
        self.runs.insert(0, run);
    }

    fn advance(&mut self) {
        self.cumulative += 1;
        if let Some(at) = self.runs.iter().position(|(left, _)| *left == self.cumulative) {
            self.cumulative = self.runs.remove(at).1;
        }
    }

    fn answer(&mut self, duplicate: Option<(u64, u64)>) -> Answer {
        self.acks += 1;
        self.withheld = 0;
        self.deadline = Time::NEVER;
        let mut blocks: Vec<(u64, u64)> = duplicate.into_iter().chain(self.runs.iter().copied()).collect();
        blocks.truncate(if self.reports { self.most_blocks } else { 0 });
        let mut flags = Vec::new();
        if self.echoes_mark {
            flags.push("ece".to_string());
        }
        if self.window != self.full_window {
            flags.push(format!("win{}", self.window));
        }
        let ack = Ack { number: self.acks, cumulative: self.cumulative, blocks, flags };
        Answer { ack, window: self.window }
    }
}
