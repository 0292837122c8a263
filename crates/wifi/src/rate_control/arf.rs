//! Automatic Rate Fallback. [Kamerman, Monteban 1997]
//!
//! Ten successes in a row, or a timer, lead one mode up. The first frame there is a probe: if it fails, the mode falls
//! back at once. Two failures in a row lead one mode down. Every attempt counts, retries included, and TCP ACKs as much
//! as data. A failed probe restarts the count in the mode below it.

use super::fallback::{Fallback, Law, Start, Timer};
use super::interface::PeerModes;

lasthop_registry::params! {
    /// Parameters.
    pub struct Params {
        /// Successes in a row before a step up.
        pub success_threshold: u32 = 10,
        /// Failures in a row before a step down.
        pub failure_threshold: u32 = 2,
        /// Attempts since the last change of mode, or a time such as "60 ms", after which one success is enough to step
        /// up; 15 attempts as in ns-3. Or "off".
        pub timer: Timer = Timer::Attempts(15),
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
            multiplier: 1,
            max_success_threshold: self.success_threshold,
        }
    }
}

pub(super) fn new(params: &Params, peer: &PeerModes) -> Fallback {
    Fallback::new(params.law(), params.start, peer)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{attempt, peer, phy, rate, status};
    use super::super::{RateControl, RateControlKind};
    use super::*;
    use lasthop_units::{Duration, Time};

    fn arf(params: Params) -> (crate::phy::Phy, Box<dyn RateControl>) {
        let phy = phy("802.11b");
        let control = RateControlKind::Arf(params).build(&peer(&phy), "rate_control").unwrap();
        (phy, control)
    }
    fn repeat(control: &mut dyn RateControl, success: bool, times: u32) {
        (0..times).for_each(|_| attempt(control, success));
    }

    #[test]
    fn ten_successes_in_a_row_lead_one_mode_up() {
        let (phy, mut control) = arf(Params::default());
        repeat(&mut *control, true, 9);
        assert_eq!(rate(&mut *control, &phy), 1.0);
        repeat(&mut *control, true, 1);
        assert_eq!(rate(&mut *control, &phy), 2.0);
        repeat(&mut *control, true, 20);
        assert_eq!(rate(&mut *control, &phy), 11.0);
    }

    #[test]
    fn two_failures_in_a_row_lead_one_mode_down_and_two_apart_do_not() {
        let (phy, mut control) = arf(Params { start: Start::Highest, ..Params::default() });
        for _ in 0..5 {
            repeat(&mut *control, false, 1);
            repeat(&mut *control, true, 1);
        }
        assert_eq!(rate(&mut *control, &phy), 11.0);
        repeat(&mut *control, false, 2);
        assert_eq!(rate(&mut *control, &phy), 5.5);
        repeat(&mut *control, false, 100);
        assert_eq!(rate(&mut *control, &phy), 1.0);
    }

    #[test]
    fn a_failed_probe_falls_back_at_once_and_a_good_one_stays() {
        let (phy, mut control) = arf(Params::default());
        repeat(&mut *control, true, 10);
        repeat(&mut *control, false, 1);
        assert_eq!(rate(&mut *control, &phy), 1.0);
        // The threshold is as before: ten more lead up again.
        repeat(&mut *control, true, 10);
        assert_eq!(rate(&mut *control, &phy), 2.0);
        repeat(&mut *control, true, 1);
        repeat(&mut *control, false, 1);
        assert_eq!(rate(&mut *control, &phy), 2.0);
    }

    #[test]
    fn the_failure_of_a_probe_is_not_the_first_of_two_in_the_mode_below() {
        let (phy, mut control) = arf(Params::default());
        repeat(&mut *control, true, 11);
        repeat(&mut *control, true, 9);
        assert_eq!(rate(&mut *control, &phy), 5.5);
        repeat(&mut *control, false, 2);
        assert_eq!(rate(&mut *control, &phy), 2.0);
        repeat(&mut *control, false, 1);
        assert_eq!(rate(&mut *control, &phy), 1.0);
    }

    #[test]
    fn the_timer_leads_up_though_the_successes_never_come_ten_in_a_row() {
        let alternate = |timer| {
            let (phy, mut control) = arf(Params { timer, ..Params::default() });
            for _ in 0..7 {
                repeat(&mut *control, true, 1);
                repeat(&mut *control, false, 1);
            }
            let before = rate(&mut *control, &phy);
            repeat(&mut *control, true, 1);
            (before, rate(&mut *control, &phy))
        };
        assert_eq!(alternate(Timer::Attempts(15)), (1.0, 2.0));
        assert_eq!(alternate(Timer::Off), (1.0, 1.0));
    }

    #[test]
    fn the_timer_may_be_a_time() {
        let (phy, mut control) = arf(Params { timer: Timer::After(Duration::from_millis(60)), ..Params::default() });
        let mut succeed_at = |ms: u64| {
            let now = Time::ZERO + Duration::from_millis(ms);
            control.on_tx_status(&status(now, crate::phy::ModeId(0), true, None));
            rate(&mut *control, &phy)
        };
        assert_eq!([59, 60, 119, 120].map(&mut succeed_at), [1.0, 2.0, 2.0, 5.5]);
    }

    #[test]
    fn thresholds_of_nothing_are_errors() {
        use lasthop_registry::{Parameter, Value};
        let table = vec![("kind".into(), Value::text("arf")), ("failure_threshold".into(), Value::Integer(0))];
        let error = RateControlKind::parse(&Value::Table(table), "bss.rate_control").unwrap_err();
        assert_eq!(error.to_string(), "bss.rate_control.failure_threshold: must be at least 1");
    }
}
