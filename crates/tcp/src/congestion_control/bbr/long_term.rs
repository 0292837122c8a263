//! A rate over many round trips, for paths that a policer limits.
//!
//! Source: the authors' code (`NOTICE`); Flach et al. 2016 on policers. An interval begins and ends with a loss and
//! lasts 4 to 16 round trips; if at least a fifth was lost in it, it gives a rate. Two such rates in a row that are
//! alike show a policer: their mean is used for 48 round trips of ProbeBW, without probing.

use super::rate::RATE_SHIFT;

/// Least and most round trips of an interval.
const LEAST_ROUNDS: u32 = 4;
const MOST_ROUNDS: u32 = 4 * LEAST_ROUNDS;
/// Share of segments lost that counts as policed, in 1/256.
const LOSSY: u64 = 50;
/// Rates are alike if they differ by an eighth, in 1/256, or by 4 kbit/s.
pub(super) const ALIKE: u32 = 32;
pub(super) const ALIKE_BYTES_PER_S: u64 = 500;
/// Round trips for which the rate is used.
const SERVES: u32 = 48;

/// A point in the life of the connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Here {
    pub at_us: u64,
    /// in segments
    pub delivered: u64,
    pub lost: u64,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Waiting,
    Sampling,
    InUse,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LongTerm {
    state: State,
    /// 0: none yet
    rate: u32,
    start: Here,
    rounds: u32,
}

impl LongTerm {
    /// The rate of a policed path.
    pub fn in_use(&self) -> Option<u32> {
        matches!(self.state, State::InUse).then_some(self.rate)
    }

    /// Counts a round trip at that rate; true if it was the last.
    pub fn has_served(&mut self) -> bool {
        self.rounds += 1;
        self.rounds >= SERVES
    }

    fn begin_interval(&mut self, here: &Here) {
        self.start = *here;
        self.rounds = 0;
    }

    /// Takes in an ACK while no policed rate is in use; true if one is in use now.
    pub fn sample(
        &mut self,
        here: &Here,
        lost: u32,
        is_app_limited: bool,
        round_begins: bool,
        alike: impl Fn(u32, u32) -> bool,
    ) -> bool {
        if matches!(self.state, State::Waiting) {
            if lost == 0 {
                return false;
            }
            self.begin_interval(here);
            self.state = State::Sampling;
        }
        self.rounds += u32::from(round_begins && !is_app_limited);
        if is_app_limited || self.rounds > MOST_ROUNDS {
            *self = LongTerm::default();
            return false;
        }
        if self.rounds < LEAST_ROUNDS || lost == 0 {
            return false;
        }
        self.rate_of_interval(here).is_some_and(|rate| self.end_interval(here, rate, alike))
    }

    /// Segments delivered per time, in whole ms, if enough were lost.
    fn rate_of_interval(&self, here: &Here) -> Option<u32> {
        let (lost, delivered) = (here.lost - self.start.lost, here.delivered - self.start.delivered);
        let ms = (here.at_us / 1000).saturating_sub(self.start.at_us / 1000);
        if delivered == 0 || (lost << 8) < LOSSY * delivered || ms == 0 {
            return None;
        }
        Some(((delivered << RATE_SHIFT) / (ms * 1000)).min(u64::from(u32::MAX)) as u32)
    }

    fn end_interval(&mut self, here: &Here, rate: u32, alike: impl Fn(u32, u32) -> bool) -> bool {
        if self.rate > 0 && alike(rate, self.rate) {
            self.rate = ((u64::from(rate) + u64::from(self.rate)) / 2) as u32;
            self.state = State::InUse;
            self.rounds = 0;
            return true;
        }
        self.rate = rate;
        self.begin_interval(here);
        false
    }
}
