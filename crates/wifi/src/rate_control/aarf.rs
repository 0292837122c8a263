//! Adaptive ARF. [Lacage, Manshaei, Turletti 2004]
//!
//! ARF with one change: a failed probe multiplies the success threshold, and the timer with it, so a link already at
//! its best mode probes less often; a step down after failures in a row resets both.

use super::fallback::{Fallback, Law, Start, Timer};
use super::interface::PeerModes;

lasthop_registry::params! {
    /// Parameters.
    pub struct Params {
        /// Successes in a row before a step up, until a probe fails.
        pub success_threshold: u32 = 10,
        /// Failures in a row before a step down.
        pub failure_threshold: u32 = 2,
        /// Attempts since the last change of mode, or a time such as "60 ms", after which one success is enough to step
        /// up; 15 attempts as in ns-3. Or "off".
        pub timer: Timer = Timer::Attempts(15),
        /// Factor on the success threshold and the timer after a failed probe.
        pub multiplier: u32 = 2,
        /// Upper bound of the success threshold; 60 as in ns-3.
        pub max_success_threshold: u32 = 60,
        /// Rate at which a new link begins: "lowest" or "highest".
        pub start: Start = Start::Lowest,
    }
    check |this, path| { this.law().check(path) }
}

impl Params {
    fn law(&self) -> Law {
        Law {
            success_threshold: self.success_threshold,
            failure_threshold: self.failure_threshold,
            timer: self.timer,
            multiplier: self.multiplier,
            max_success_threshold: self.max_success_threshold,
        }
    }
}

pub(super) fn new(params: &Params, peer: &PeerModes) -> Fallback {
    Fallback::new(params.law(), params.start, peer)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{attempt, peer, phy, rate};
    use super::super::{RateControl, RateControlKind};
    use super::*;

    fn aarf(params: Params) -> (crate::phy::Phy, Box<dyn RateControl>) {
        let phy = phy("802.11b");
        let control = RateControlKind::Aarf(params).build(&peer(&phy), "rate_control").unwrap();
        (phy, control)
    }
    /// Successes until the next step up.
    fn successes_to_step_up(control: &mut dyn RateControl, phy: &crate::phy::Phy) -> u32 {
        let before = rate(control, phy);
        let mut count = 0;
        while rate(control, phy) == before {
            attempt(control, true);
            count += 1;
        }
        count
    }

    #[test]
    fn aarf_doubles_its_threshold_after_a_failed_probe() {
        let (phy, mut control) = aarf(Params::default());
        let mut probe = || {
            let count = successes_to_step_up(&mut *control, &phy);
            attempt(&mut *control, false);
            count
        };
        // 10 doubled twice, then 80 cut to the bound; the timer, 15 doubled in the same way, never comes first.
        assert_eq!([probe(), probe(), probe(), probe(), probe()], [10, 20, 40, 60, 60]);
    }

    #[test]
    fn two_failures_in_a_row_reset_the_threshold() {
        let (phy, mut control) = aarf(Params::default());
        assert_eq!(successes_to_step_up(&mut *control, &phy), 10);
        attempt(&mut *control, false);
        assert_eq!(successes_to_step_up(&mut *control, &phy), 20);
        attempt(&mut *control, true);
        attempt(&mut *control, false);
        attempt(&mut *control, false);
        assert_eq!(rate(&mut *control, &phy), 1.0);
        assert_eq!(successes_to_step_up(&mut *control, &phy), 10);
    }

    #[test]
    fn the_timer_is_doubled_with_the_threshold() {
        let (phy, mut control) = aarf(Params::default());
        successes_to_step_up(&mut *control, &phy);
        attempt(&mut *control, false);
        let mut attempts = 0;
        while rate(&mut *control, &phy) == 1.0 {
            // There are never two failures in a row, and never twenty successes.
            attempt(&mut *control, attempts % 4 != 0);
            attempts += 1;
        }
        // The 30th attempt is the first success (29 % 4 = 1) once 30 have been made.
        assert_eq!(attempts, 30);
    }

    #[test]
    fn failed_probes_leave_a_threshold_without_multiplier_alone() {
        let (phy, mut control) = aarf(Params { multiplier: 1, ..Params::default() });
        for _ in 0..3 {
            assert_eq!(successes_to_step_up(&mut *control, &phy), 10);
            attempt(&mut *control, false);
        }
    }
}
