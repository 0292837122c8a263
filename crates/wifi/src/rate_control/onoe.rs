//! Onoe: a credit for each period with few retries, a step up for ten of them.
//! [MadWifi, ath_rate/onoe/onoe.c, ath_rate_ctl]
//!
//! Once a period (a second) the frames since then are judged:
//! - none arrived though some were given up: one mode down;
//! - at least ten frames, and more retries than frames that arrived: one mode down;
//! - at least ten frames, none given up, and retries below a tenth of them: a credit, ten of which
//!   lead one mode up;
//! - otherwise, after at least ten frames, a credit is lost.
//!
//! It is slow and favours robustness. Each frame has four tries in the mode, then two in each of the three below, as
//! the driver sets the hardware's chain. In an A-MPDU each MPDU is a frame, and one not acknowledged is a retry. A
//! frame that was given up is detected at the next one, which is new although the last attempt failed. Left out: a mode
//! barred while a frame is under way (the chain sees to that). Departures: the chain ends in the third mode below, the
//! driver's in the lowest; a tenth of the frames is not rounded down.

use lasthop_registry::ParamError;
use lasthop_units::{DataRate, Duration, Time};

use super::interface::{FrameInfo, PeerModes, RateControl, TxStatus};
use super::ladder::ladder;
use super::rate_chain::RateChain;
use crate::phy::ModeId;

lasthop_registry::params! {
    /// Parameters.
    pub struct Params {
        /// Time between decisions: ath_rateinterval.
        pub period: Duration = Duration::from_secs(1),
        /// Retries in a hundred frames below which a credit is earned: ath_rate_raise.
        pub raise_percent: u32 = 10,
        /// Credits for a step up: ath_rate_raise_threshold.
        pub credits: u32 = 10,
        /// A new link begins at the highest rate not above this.
        pub start_rate: DataRate = DataRate::from_100kbps(360),
    }
    check |this, path| {
        if this.period == Duration::ZERO {
            return Err(ParamError::new(format!("{path}.period"), "must be longer than 0 s"));
        }
        if this.credits == 0 {
            return Err(ParamError::new(format!("{path}.credits"), "must be at least 1"));
        }
        Ok(())
    }
}

/// With fewer frames than this, a period says little.
const ENOUGH: u32 = 10;

/// Frames since the last decision that counted them.
#[derive(Clone, Copy, Debug, Default)]
struct Frames {
    arrived: u32,
    given_up: u32,
    retries: u32,
}

/// Decision at the end of a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Down,
    Stay,
    Credit,
}

/// The rate control.
pub struct Onoe {
    params: Params,
    /// The modes, strictly growing in rate.
    modes: Vec<ModeId>,
    /// Index of the mode in use.
    at: usize,
    frames: Frames,
    credits: u32,
    next_decision: Time,
    /// True if the last reported attempt failed.
    failed_last: bool,
}

impl Onoe {
    pub(super) fn new(params: &Params, peer: &PeerModes) -> Onoe {
        let modes = ladder(peer);
        let at = modes.iter().rposition(|m| peer.phy.mode(*m).rate <= params.start_rate).unwrap_or(0);
        let next_decision = Time::ZERO + params.period;
        Onoe {
            params: params.clone(),
            modes,
            at,
            frames: Frames::default(),
            credits: 0,
            next_decision,
            failed_last: false,
        }
    }

    fn verdict(&self, enough: bool) -> Verdict {
        let Frames { arrived, given_up, retries } = self.frames;
        if enough
            && given_up == 0
            && 100 * u64::from(retries) < u64::from(arrived) * u64::from(self.params.raise_percent)
        {
            Verdict::Credit
        } else if (given_up > 0 && arrived == 0) || (enough && arrived < retries) {
            Verdict::Down
        } else {
            Verdict::Stay
        }
    }

    fn decide(&mut self) {
        let enough = self.frames.arrived + self.frames.given_up >= ENOUGH;
        let before = self.at;
        match self.verdict(enough) {
            Verdict::Down => {
                self.at = self.at.saturating_sub(1);
                self.credits = 0;
            }
            Verdict::Stay if enough => self.credits = self.credits.saturating_sub(1),
            Verdict::Stay => {}
            Verdict::Credit if self.credits + 1 < self.params.credits => self.credits += 1,
            Verdict::Credit => {
                self.at = (self.at + 1).min(self.modes.len() - 1);
                self.credits = 0;
            }
        }
        if enough || self.at != before {
            self.frames = Frames::default();
        }
    }
}

impl RateControl for Onoe {
    fn rates_for(&mut self, frame: &FrameInfo) -> RateChain {
        if frame.retry == 0 && std::mem::take(&mut self.failed_last) {
            self.frames.given_up += 1;
        }
        if frame.is_new() && frame.now >= self.next_decision {
            self.next_decision = frame.now + self.params.period;
            self.decide();
        }
        let below = |steps: usize| self.modes[self.at.saturating_sub(steps)];
        RateChain::single(below(0), 4).then(below(1), 2).then(below(2), 2).then(below(3), 2)
    }

    fn on_tx_status(&mut self, status: &TxStatus) {
        self.frames.arrived += status.acknowledged;
        self.frames.retries += status.mpdus - status.acknowledged;
        self.failed_last = !status.success;
    }
}

#[cfg(test)]
mod tests {
    use super::super::RateControlKind;
    use super::super::tests::{frame, peer, phy, status};
    use super::*;

    fn onoe(standard: &str) -> (crate::phy::Phy, Box<dyn RateControl>) {
        let phy = phy(standard);
        let control = RateControlKind::Onoe(Params::default()).build(&peer(&phy), "rate_control").unwrap();
        (phy, control)
    }
    fn first_rate(control: &mut dyn RateControl, phy: &crate::phy::Phy, at: Time) -> f64 {
        phy.mode(control.rates_for(&FrameInfo { now: at, ..frame(0) }).first()).rate.as_mbps_f64()
    }
    /// The rates at the end of each of `seconds`, in which 20 frames each arrive after `failures` of all attempts.
    fn run(
        control: &mut dyn RateControl,
        phy: &crate::phy::Phy,
        seconds: std::ops::Range<u64>,
        retries: u32,
    ) -> Vec<f64> {
        let second = |s: u64| {
            let at = Time::ZERO + Duration::from_secs(s);
            for i in 0..20 {
                let mode = control.rates_for(&FrameInfo { now: at, ..frame(0) }).first();
                for _ in 0..(retries * (i + 1)) / 20 - (retries * i) / 20 {
                    control.on_tx_status(&status(at, mode, false, None));
                }
                control.on_tx_status(&status(at, mode, true, None));
            }
            first_rate(control, phy, at + Duration::from_secs(1))
        };
        seconds.map(second).collect()
    }

    #[test]
    fn it_begins_at_36_megabits_or_the_highest_below() {
        for (standard, expected) in [("802.11a", 36.0), ("802.11b", 11.0)] {
            let (phy, mut control) = onoe(standard);
            assert_eq!(first_rate(&mut *control, &phy, Time::ZERO), expected);
        }
    }

    #[test]
    fn ten_good_seconds_lead_one_rate_up() {
        let (phy, mut control) = onoe("802.11a");
        let rates = run(&mut *control, &phy, 0..20, 1);
        assert_eq!((rates[8], rates[9], rates[18], rates[19]), (36.0, 48.0, 48.0, 54.0));
    }

    #[test]
    fn a_tenth_of_retries_earns_nothing_and_one_a_frame_is_borne() {
        // 2 of 20 is not below a tenth; 20 of 20 is not more than the frames.
        for retries in [2, 20] {
            let (phy, mut control) = onoe("802.11a");
            assert_eq!(run(&mut *control, &phy, 0..30, retries)[29], 36.0);
        }
    }

    #[test]
    fn more_retries_than_frames_lead_down_each_second() {
        let (phy, mut control) = onoe("802.11a");
        assert_eq!(run(&mut *control, &phy, 0..3, 21), [24.0, 18.0, 12.0]);
    }

    #[test]
    fn a_bad_second_takes_all_credits_a_middling_one_takes_one() {
        let (phy, mut control) = onoe("802.11a");
        run(&mut *control, &phy, 0..9, 1);
        run(&mut *control, &phy, 9..10, 5);
        assert_eq!(run(&mut *control, &phy, 10..12, 1), [36.0, 48.0]);
        run(&mut *control, &phy, 12..21, 1);
        assert_eq!(run(&mut *control, &phy, 21..22, 21), [36.0]);
        assert_eq!(run(&mut *control, &phy, 22..32, 1)[8..], [36.0, 48.0]);
    }

    #[test]
    fn frames_given_up_while_none_arrives_lead_down() {
        let (phy, mut control) = onoe("802.11a");
        let mode = control.rates_for(&frame(0)).first();
        (0..8).for_each(|_| control.on_tx_status(&status(Time::ZERO, mode, false, None)));
        assert_eq!(first_rate(&mut *control, &phy, Time::ZERO + Duration::from_secs(1)), 24.0);
    }

    #[test]
    fn retries_of_a_frame_descend_the_ladder() {
        let (phy, mut control) = onoe("802.11a");
        let chain = control.rates_for(&frame(0));
        let rates: Vec<_> = (0..11).map(|n| chain.mode_of_attempt(n).map(|m| phy.mode(m).rate.as_mbps_f64())).collect();
        let (a, b, c, d) = (Some(36.0), Some(24.0), Some(18.0), Some(12.0));
        assert_eq!(rates, [a, a, a, a, b, b, c, c, d, d, None]);
    }
}
