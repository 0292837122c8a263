//! The law that ARF and AARF share: up after successes in a row, down after failures in a row.
//!
//! ```text
//!            threshold successes, or the timer: one mode up
//!   Steady ---------------------------------------------------> Probing
//!   Steady <---------------------------------------------------
//!            success: stay; failure: one mode down at once
//!   Steady: failure_threshold failures in a row: one mode down
//! ```
//!
//! An A-MPDU is one attempt, which succeeds if at least half of its MPDUs arrive.

use lasthop_registry::{ParamError, Parameter, Shape, Value, words};
use lasthop_units::{Duration, Time};

use super::interface::{FrameInfo, PeerModes, RateControl, TxStatus};
use super::ladder::ladder;
use super::rate_chain::RateChain;
use crate::phy::ModeId;

words! {
    /// Mode in which a new link begins.
    pub enum Start {
        /// in the lowest mode
        Lowest = "lowest",
        /// in the highest mode
        Highest = "highest",
    }
}

/// Time at which to go up although the successes in a row do not suffice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// never
    Off,
    /// at the first success after this many attempts since the last change of mode
    Attempts(u32),
    /// at the first success this long after the last change of mode
    After(Duration),
}

impl Timer {
    /// Returns whether it has run out, `attempts` attempts after the change at `changed`.
    pub(super) fn is_over(self, attempts: u32, changed: Time, now: Time) -> bool {
        match self {
            Timer::Off => false,
            Timer::Attempts(n) => attempts >= n,
            Timer::After(t) => now.since(changed) >= t,
        }
    }
    fn scaled(self, factor: u32) -> Timer {
        match self {
            Timer::Off => Timer::Off,
            Timer::Attempts(n) => Timer::Attempts(n.saturating_mul(factor)),
            Timer::After(t) => Timer::After(t.saturating_mul(u64::from(factor))),
        }
    }
}

impl Parameter for Timer {
    fn shape() -> Shape {
        Shape::AnyOf(vec![Shape::Words(vec!["off".into()]), u32::shape(), Duration::shape()])
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        let read = match value {
            Value::Text(word) if word == "off" => Ok(Timer::Off),
            Value::Integer(_) => u32::parse(value, path).map(Timer::Attempts),
            _ => Duration::parse(value, path).map(Timer::After),
        };
        read.map_err(|error| error.or(", a number of attempts, or \"off\""))
    }
    fn to_value(&self) -> Option<Value> {
        match self {
            Timer::Off => Some(Value::text("off")),
            Timer::Attempts(n) => n.to_value(),
            Timer::After(t) => t.to_value(),
        }
    }
}

/// The thresholds, and the factor by which failed probes raise them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Law {
    /// Successes in a row before a step up.
    pub success_threshold: u32,
    /// Failures in a row before a step down.
    pub failure_threshold: u32,
    pub timer: Timer,
    /// Factor on the success threshold and the timer after a failed probe; 1 leaves them unchanged.
    pub multiplier: u32,
    /// Upper bound of the success threshold.
    pub max_success_threshold: u32,
}

impl Law {
    /// Rejects thresholds of zero.
    pub fn check(&self, path: &str) -> Result<(), ParamError> {
        let at_least_one = [
            ("success_threshold", self.success_threshold),
            ("failure_threshold", self.failure_threshold),
            ("multiplier", self.multiplier),
        ];
        if let Some((key, _)) = at_least_one.iter().find(|(_, value)| *value == 0) {
            return Err(ParamError::new(format!("{path}.{key}"), "must be at least 1"));
        }
        if self.max_success_threshold < self.success_threshold {
            let message =
                format!("{} is below success_threshold = {}", self.max_success_threshold, self.success_threshold);
            return Err(ParamError::new(format!("{path}.max_success_threshold"), message));
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The mode has carried a frame, or was reached from above.
    Steady,
    /// The next attempt is the first after a step up.
    Probing,
}

/// A rate control under [`Law`].
pub struct Fallback {
    law: Law,
    /// The modes, strictly growing in rate.
    modes: Vec<ModeId>,
    /// Index of the mode in use.
    at: usize,
    state: State,
    successes: u32,
    failures: u32,
    /// Success threshold and timer now in force.
    threshold: u32,
    timer: Timer,
    /// Time of the last change of mode, and attempts since then.
    changed: Time,
    attempts: u32,
}

impl Fallback {
    pub(super) fn new(law: Law, start: Start, peer: &PeerModes) -> Fallback {
        let modes = ladder(peer);
        Fallback {
            law,
            at: if start == Start::Lowest { 0 } else { modes.len() - 1 },
            modes,
            state: State::Steady,
            successes: 0,
            failures: 0,
            threshold: law.success_threshold,
            timer: law.timer,
            changed: Time::ZERO,
            attempts: 0,
        }
    }

    fn on_success(&mut self, now: Time) {
        self.state = State::Steady;
        self.failures = 0;
        self.successes += 1;
        let due = self.successes >= self.threshold || self.timer.is_over(self.attempts, self.changed, now);
        if due && self.at + 1 < self.modes.len() {
            self.change(self.at + 1, State::Probing, now);
        }
    }

    fn on_failure(&mut self, now: Time) {
        self.successes = 0;
        self.failures += 1;
        if self.state == State::Probing {
            self.threshold = self.threshold.saturating_mul(self.law.multiplier).min(self.law.max_success_threshold);
            self.timer = self.timer.scaled(self.law.multiplier);
            self.change(self.at - 1, State::Steady, now);
        } else if self.failures >= self.law.failure_threshold {
            self.threshold = self.law.success_threshold;
            self.timer = self.law.timer;
            self.change(self.at.saturating_sub(1), State::Steady, now);
        }
    }

    fn change(&mut self, at: usize, state: State, now: Time) {
        self.at = at;
        self.state = state;
        self.successes = 0;
        self.failures = 0;
        self.changed = now;
        self.attempts = 0;
    }
}

impl RateControl for Fallback {
    fn rates_for(&mut self, _frame: &FrameInfo) -> RateChain {
        // One attempt: the next one may need another mode, even for a retry.
        RateChain::single(self.modes[self.at], 1)
    }

    fn on_tx_status(&mut self, status: &TxStatus) {
        self.attempts = self.attempts.saturating_add(1);
        if status.is_good() { self.on_success(status.now) } else { self.on_failure(status.now) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_is_a_count_of_attempts_a_time_or_off() {
        let parse = |value| Timer::parse(&value, "t");
        assert_eq!(parse(Value::Integer(15)), Ok(Timer::Attempts(15)));
        assert_eq!(parse(Value::text("60 ms")), Ok(Timer::After(Duration::from_millis(60))));
        assert_eq!(parse(Value::text("off")), Ok(Timer::Off));
        assert!(parse(Value::text("60")).unwrap_err().to_string().ends_with("a number of attempts, or \"off\""));
    }
}
