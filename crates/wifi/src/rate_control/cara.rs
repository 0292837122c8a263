//! Collision-Aware Rate Adaptation: ARF that sends an RTS to tell collisions from noise.
//! [Kim, Kim, Choi, Qiao 2006]
//!
//! A data frame that fails without an RTS may have collided: it is retried behind RTS/CTS, which shields it. Only if it
//! then fails again was the channel at fault, and the mode goes down. An RTS without CTS does not count. Upwards it
//! works like ARF: successes in a row, or a timer.
//!
//! ```text
//!   failures in a row   0            1 = probe_threshold       2 = failure_threshold
//!   next attempt        plain        behind RTS/CTS            one mode down, plain
//! ```
//!
//! An A-MPDU is one attempt, which succeeds if at least half of its MPDUs arrive. Left out: CARA-2, which takes a
//! medium that is busy a SIFS after the frame as the sign of a collision. A step up is not a probe as in ARF: its first
//! loss, too, leads to an RTS before a step down, as ns-3 reads the paper.

use lasthop_registry::ParamError;
use lasthop_units::Time;

use super::fallback::Timer;
use super::interface::{FrameInfo, PeerModes, RateControl, TxStatus};
use super::ladder::ladder;
use super::rate_chain::RateChain;
use crate::phy::ModeId;

lasthop_registry::params! {
    /// Parameters.
    pub struct Params {
        /// Failures in a row from which RTS/CTS precedes the data: P_th of the paper.
        pub probe_threshold: u32 = 1,
        /// Failures in a row before a step down: N_th of the paper.
        pub failure_threshold: u32 = 2,
        /// Successes in a row before a step up: M_th of the paper.
        pub success_threshold: u32 = 10,
        /// Attempts since the last change of mode, or a time such as "60 ms", after which one success is enough to step
        /// up; 15 attempts as in ns-3. Or "off".
        pub timer: Timer = Timer::Attempts(15),
    }
    check |this, path| {
        let at_least_one =
            [("failure_threshold", this.failure_threshold), ("success_threshold", this.success_threshold)];
        if let Some((key, _)) = at_least_one.iter().find(|(_, value)| *value == 0) {
            return Err(ParamError::new(format!("{path}.{key}"), "must be at least 1"));
        }
        if this.probe_threshold >= this.failure_threshold {
            let message =
                format!("must be below failure_threshold = {}, or no RTS is ever sent", this.failure_threshold);
            return Err(ParamError::new(format!("{path}.probe_threshold"), message));
        }
        Ok(())
    }
}

/// The rate control.
pub struct Cara {
    params: Params,
    /// The modes, strictly growing in rate.
    modes: Vec<ModeId>,
    /// Index of the mode in use.
    at: usize,
    /// Successes in a row, and failures in a row.
    successes: u32,
    failures: u32,
    /// Time of the last change of mode, and attempts since then.
    changed: Time,
    attempts: u32,
}

impl Cara {
    pub(super) fn new(params: &Params, peer: &PeerModes) -> Cara {
        let (params, modes) = (params.clone(), ladder(peer));
        Cara { params, modes, at: 0, successes: 0, failures: 0, changed: Time::ZERO, attempts: 0 }
    }

    fn on_success(&mut self, now: Time) {
        self.failures = 0;
        self.successes += 1;
        let due = self.successes >= self.params.success_threshold
            || self.params.timer.is_over(self.attempts, self.changed, now);
        if due && self.at + 1 < self.modes.len() {
            self.change(self.at + 1, now);
        }
    }

    fn on_failure(&mut self, now: Time) {
        self.successes = 0;
        self.failures += 1;
        if self.failures >= self.params.failure_threshold {
            self.change(self.at.saturating_sub(1), now);
        }
    }

    fn change(&mut self, at: usize, now: Time) {
        (self.at, self.successes, self.failures, self.attempts, self.changed) = (at, 0, 0, 0, now);
    }
}

impl RateControl for Cara {
    fn rates_for(&mut self, _frame: &FrameInfo) -> RateChain {
        RateChain::single(self.modes[self.at], 1).protected_if(self.failures >= self.params.probe_threshold)
    }

    fn on_tx_status(&mut self, status: &TxStatus) {
        self.attempts = self.attempts.saturating_add(1);
        if status.is_good() { self.on_success(status.now) } else { self.on_failure(status.now) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{attempt, peer, phy, rate};
    use super::super::{RateControlKind, tests};
    use super::*;
    use lasthop_registry::{Parameter, Value};

    fn cara() -> (crate::phy::Phy, Box<dyn RateControl>) {
        let phy = phy("802.11b");
        let control = RateControlKind::Cara(Params::default()).build(&peer(&phy), "rate_control").unwrap();
        (phy, control)
    }
    fn asks_for_rts(control: &mut dyn RateControl) -> bool {
        control.rates_for(&tests::frame(0)).entries()[0].rts
    }
    fn climb(control: &mut dyn RateControl) {
        (0..30).for_each(|_| attempt(control, true));
    }

    #[test]
    fn a_loss_is_questioned_by_an_rts_before_the_rate_falls() {
        let (phy, mut control) = cara();
        climb(&mut *control);
        assert_eq!((rate(&mut *control, &phy), asks_for_rts(&mut *control)), (11.0, false));
        attempt(&mut *control, false);
        assert_eq!((rate(&mut *control, &phy), asks_for_rts(&mut *control)), (11.0, true));
        attempt(&mut *control, false);
        assert_eq!((rate(&mut *control, &phy), asks_for_rts(&mut *control)), (5.5, false));
    }

    #[test]
    fn a_retry_that_the_rts_shields_clears_the_rate() {
        let (phy, mut control) = cara();
        climb(&mut *control);
        for _ in 0..50 {
            attempt(&mut *control, false);
            attempt(&mut *control, true);
        }
        assert_eq!((rate(&mut *control, &phy), asks_for_rts(&mut *control)), (11.0, false));
    }

    #[test]
    fn ten_successes_or_the_timer_lead_up() {
        let (phy, mut control) = cara();
        (0..9).for_each(|_| attempt(&mut *control, true));
        assert_eq!(rate(&mut *control, &phy), 1.0);
        attempt(&mut *control, true);
        assert_eq!(rate(&mut *control, &phy), 2.0);
        // There are never ten in a row; the 15th attempt is a success (even ones are).
        (0..15).for_each(|i| attempt(&mut *control, i % 2 == 0));
        assert_eq!(rate(&mut *control, &phy), 5.5);
    }

    #[test]
    fn an_rts_that_would_never_come_is_an_error() {
        let table = vec![("kind".into(), Value::text("cara")), ("probe_threshold".into(), Value::Integer(2))];
        let error = RateControlKind::parse(&Value::Table(table), "bss.rate_control").unwrap_err();
        assert_eq!(
            error.to_string(),
            "bss.rate_control.probe_threshold: must be below failure_threshold = 2, or no RTS is ever sent"
        );
    }
}
