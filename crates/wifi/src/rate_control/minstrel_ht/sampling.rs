//! Rates to sample: three kinds, by the possible gain. [Linux 6.18, minstrel_ht_refill_sample_rates]
//!
//! ```text
//!   slower <-----------------------------------------------------------> faster
//!        slowest of best, second and most probable      fastest of these
//!   |                |        Slow: unless sure               |   Increment: a group's next above the best
//!   |  never         |        (slower picks of jumps)         |   Jump: any, at random
//! ```
//!
//! They take turns: increment, jump, increment, jump, increment, slow. Each kind holds at most five rates, which are
//! checked and filled up at every ranking, with the groups taking turns.

use lasthop_engine::Stream;

use super::group::{Group, Rate};
use super::statistics::Ranking;
use crate::rate_control::sample_table::{Cursor, SampleTable};

/// Rates held for each kind: MINSTREL_SAMPLE_RATES.
const HELD: usize = 5;
/// Above this probability a sample of a slower rate gains nothing.
const SURE: f64 = 0.95;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Increment,
    Jump,
    Slow,
}

/// Order of the turns.
const TURNS: [Kind; 6] = [Kind::Increment, Kind::Jump, Kind::Increment, Kind::Jump, Kind::Increment, Kind::Slow];

/// Rates of one kind, first in, first out.
#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    rates: [u16; HELD],
    count: usize,
    /// The group of the last rate added.
    group: usize,
}

impl Waiting {
    fn contains(&self, i: usize) -> bool {
        self.rates[..self.count].contains(&(i as u16))
    }
    fn is_full(&self) -> bool {
        self.count == HELD
    }
    fn push(&mut self, i: usize) {
        self.rates[self.count] = i as u16;
        self.count += 1;
    }
    fn pop(&mut self) -> Option<usize> {
        self.count = self.count.checked_sub(1)?;
        let first = self.rates[0];
        self.rates.rotate_left(1);
        Some(usize::from(first))
    }
    fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        let old = *self;
        self.count = 0;
        for &i in &old.rates[..old.count] {
            if keep(usize::from(i)) {
                self.push(usize::from(i));
            }
        }
    }
}

/// Rates that wait to be sampled.
pub(super) struct Sampling {
    increments: Waiting,
    jumps: Waiting,
    slow: Waiting,
    turn: usize,
    table: SampleTable,
    /// The cursor of each group.
    cursors: Vec<Cursor>,
}

/// Airtimes of a packet that bound those of the rates in use.
#[derive(Clone, Copy, Debug)]
struct Span {
    fast_ns: f64,
    slow_ns: f64,
}

impl Sampling {
    pub fn new(longest_group: usize, groups: usize, draws: &mut Stream) -> Sampling {
        let table = SampleTable::new(longest_group, draws);
        let none = Waiting::default();
        Sampling { increments: none, jumps: none, slow: none, turn: 0, table, cursors: vec![Cursor::default(); groups] }
    }

    /// The rate to sample next, if any of the kind whose turn it is waits.
    pub fn next(&mut self) -> Option<usize> {
        let kind = TURNS[self.turn];
        self.turn = (self.turn + 1) % TURNS.len();
        match kind {
            Kind::Increment => self.increments.pop(),
            Kind::Jump => self.jumps.pop(),
            Kind::Slow => self.slow.pop(),
        }
    }

    /// Removes rates that the new ranking makes useless, and fills up.
    pub fn refill(&mut self, rates: &[Rate], groups: &[Group], ranking: &Ranking) {
        let ns = |i: usize| rates[i].packet_ns;
        let used = [ranking.best[0], ranking.best[1], ranking.probable].map(ns);
        let span = Span {
            fast_ns: used.iter().copied().fold(f64::INFINITY, f64::min),
            slow_ns: used.iter().copied().fold(0.0, f64::max),
        };
        self.increments.retain(|i| ns(i) < span.fast_ns);
        self.jumps.retain(|i| ns(i) < span.fast_ns);
        self.slow.retain(|i| ns(i) > span.fast_ns && ns(i) < span.slow_ns);
        while !self.increments.is_full() && self.add_increment(rates, groups, used[0]) {}
        while !self.jumps.is_full() && self.add_jump(rates, groups, span) {}
    }

    /// Adds the first rate of the next group that is faster than the best.
    fn add_increment(&mut self, rates: &[Rate], groups: &[Group], best_ns: f64) -> bool {
        for _ in 0..groups.len() {
            self.increments.group = (self.increments.group + 1) % groups.len();
            let found = groups[self.increments.group].places().find(|&i| rates[i].packet_ns < best_ns);
            if let Some(i) = found.filter(|&i| !self.increments.contains(i)) {
                self.increments.push(i);
                return true;
            }
        }
        false
    }

    /// Adds a random rate of the next group that is faster than all in use; a random rate between these waits among the
    /// slow ones.
    fn add_jump(&mut self, rates: &[Rate], groups: &[Group], span: Span) -> bool {
        for _ in 0..groups.len() {
            self.jumps.group = (self.jumps.group + 1) % groups.len();
            let limit = if self.slow.is_full() { span.fast_ns } else { span.slow_ns };
            let Some(i) = self.pick(rates, &groups[self.jumps.group], self.jumps.group, limit) else { continue };
            let rate = &rates[i];
            if rate.packet_ns < span.fast_ns {
                if !self.jumps.contains(i) {
                    self.jumps.push(i);
                    return true;
                }
            } else if !self.slow.is_full() && !self.slow.contains(i) && rate.probability() <= SURE {
                // It is faster than the slowest in use, as all picked rates are.
                self.slow.push(i);
            }
        }
        false
    }

    /// The next of a group's rates in random order that takes less than `limit`; sometimes there is none.
    fn pick(&mut self, rates: &[Rate], group: &Group, which: usize, limit: f64) -> Option<usize> {
        let lowest = group.places().find(|&i| rates[i].packet_ns < limit)?;
        (0..self.table.rows())
            .map(|_| group.first + self.table.next(&mut self.cursors[which]))
            .find(|i| (lowest..group.end).contains(i))
    }
}
