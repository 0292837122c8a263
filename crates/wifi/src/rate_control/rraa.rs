//! Robust Rate Adaptation Algorithm: loss ratios over short windows, and RTS while it helps.
//! [Wong, Yang, Lu, Bharghavan 2006]
//!
//! Each mode has a window of attempts, and two loss ratios:
//! - `P_MTL(R) = alpha P*(R)`: above it the mode below is better. `P*(R) = 1 - T(R) / T(R-)` is the loss
//!   at which `R` carries no more than `R-` does without loss, `T` the time of an exchange;
//! - `P_ORI(R) = P_MTL(R+) / beta`: below it the mode above is worth a trial.
//!
//! At the end of a window, or as soon as its losses alone exceed `P_MTL`, the mode goes down; at the end below `P_ORI`,
//! up; then the next window begins.
//!
//! The adaptive RTS filter keeps collisions out of these ratios: a window of attempts behind RTS/CTS grows by one with
//! each loss without an RTS, and is halved by a success without one or a loss with one.
//!
//! `T` is data and Ack at the mode's rate, SIFS and DIFS, as in ns-3; a window is as many attempts as fit its time,
//! while the paper has a table of about twice as many above 9 Mbit/s. The paper is about 802.11a: if many modes lie
//! close together, as in 802.11n, thresholds are low, and it is timid. In an A-MPDU each MPDU counts for the ratios;
//! the filter takes it as one attempt, lost if less than half arrive.

use lasthop_registry::ParamError;
use lasthop_units::{Bytes, Duration};

use super::interface::{FrameInfo, PeerModes, RateControl, TxStatus};
use super::ladder::ladder;
use super::rate_chain::RateChain;
use crate::phy::{ModeId, frame_size};

lasthop_registry::params! {
    /// Parameters.
    pub struct Params {
        /// Ratio of P_MTL to the critical loss ratio.
        pub alpha: f64 = 1.25,
        /// Ratio of the P_MTL of the next higher mode to P_ORI.
        pub beta: f64 = 2.0,
        /// Time that the attempts of a window take; 12 ms as in ns-3.
        pub window: Duration = Duration::from_millis(12),
        /// Frame length for which exchange times are computed, at most 65535 B.
        pub frame_bytes: Bytes = Bytes(1420),
        /// Use the RTS filter; without it the algorithm is RRAA-BASIC.
        pub adaptive_rts: bool = true,
    }
    check |this, path| {
        if this.alpha < 1.0 {
            return Err(ParamError::new(format!("{path}.alpha"), "must be at least 1"));
        }
        if this.beta < 1.0 {
            return Err(ParamError::new(format!("{path}.beta"), "must be at least 1"));
        }
        if !(Bytes(1)..=Bytes(65_535)).contains(&this.frame_bytes) {
            return Err(ParamError::new(format!("{path}.frame_bytes"), "a frame has from 1 to 65535 B"));
        }
        Ok(())
    }
}

/// A mode and its thresholds.
#[derive(Clone, Copy, Debug)]
struct Rate {
    mode: ModeId,
    /// Attempts in a window.
    window: u32,
    /// P_MTL: above this loss ratio the mode goes down.
    tolerable: f64,
    /// P_ORI: below this loss ratio the mode goes up.
    opportune: f64,
}

/// The adaptive RTS filter.
#[derive(Clone, Copy, Debug, Default)]
struct RtsFilter {
    window: u32,
    /// Attempts behind RTS/CTS still to come.
    left: u32,
}

impl RtsFilter {
    fn on_attempt(&mut self, rts: bool, good: bool) {
        if rts == good && rts {
            // A shielded success needs no change.
        } else if !rts && !good {
            self.window += 1;
            self.left = self.window;
        } else {
            self.window /= 2;
            self.left = self.window;
        }
    }
    /// Returns whether the next attempt has an RTS.
    fn next(&mut self) -> bool {
        let rts = self.left > 0;
        self.left = self.left.saturating_sub(1);
        rts
    }
}

/// The rate control.
pub struct Rraa {
    /// The modes, strictly growing in rate.
    rates: Vec<Rate>,
    /// Index of the mode in use.
    at: usize,
    /// MPDUs sent and lost in this window.
    sent: u32,
    lost: u32,
    filter: Option<RtsFilter>,
}

impl Rraa {
    pub(super) fn new(params: &Params, peer: &PeerModes) -> Rraa {
        let rates = thresholds(params, peer);
        let filter = params.adaptive_rts.then(RtsFilter::default);
        Rraa { at: rates.len() - 1, rates, sent: 0, lost: 0, filter }
    }

    fn judge(&mut self) {
        let rate = self.rates[self.at];
        let ratio = f64::from(self.lost) / f64::from(rate.window.max(self.sent));
        let over = self.sent >= rate.window;
        if ratio > rate.tolerable && self.at > 0 {
            self.at -= 1;
        } else if over && ratio < rate.opportune && self.at + 1 < self.rates.len() {
            self.at += 1;
        } else if !over {
            return;
        }
        (self.sent, self.lost) = (0, 0);
    }
}

fn thresholds(params: &Params, peer: &PeerModes) -> Vec<Rate> {
    let phy = peer.phy;
    let exchange = |mode: ModeId| {
        let frames = phy.ppdu_duration(mode, params.frame_bytes) + phy.ppdu_duration(mode, frame_size::ACK);
        (frames + phy.sifs() + phy.difs()).as_secs_f64()
    };
    let mut modes = ladder(peer);
    // A mode that is no faster than the one below, as its symbols are rounded up, could never be climbed to.
    let mut fastest = f64::INFINITY;
    modes.retain(|&mode| {
        let is_faster = exchange(mode) < fastest;
        fastest = fastest.min(exchange(mode));
        is_faster
    });
    // P_MTL of the mode at index `i`; the lowest mode tolerates any loss, and there is none above the highest.
    let tolerable = |i: usize| match i {
        0 => 1.0,
        _ => params.alpha * (1.0 - exchange(modes[i]) / exchange(modes[i - 1])),
    };
    let rate = |(i, &mode): (usize, &ModeId)| Rate {
        mode,
        window: libm::ceil(params.window.as_secs_f64() / exchange(mode)).max(1.0) as u32,
        tolerable: tolerable(i),
        opportune: if i + 1 < modes.len() { tolerable(i + 1) / params.beta } else { 0.0 },
    };
    modes.iter().enumerate().map(rate).collect()
}

impl RateControl for Rraa {
    fn rates_for(&mut self, _frame: &FrameInfo) -> RateChain {
        let rts = self.filter.as_mut().is_some_and(RtsFilter::next);
        RateChain::single(self.rates[self.at].mode, 1).protected_if(rts)
    }

    fn on_tx_status(&mut self, status: &TxStatus) {
        if let Some(filter) = &mut self.filter {
            filter.on_attempt(status.rts, status.is_good());
        }
        self.sent += status.mpdus;
        self.lost += status.mpdus - status.acknowledged;
        self.judge();
    }
}

#[cfg(test)]
mod tests {
    use super::super::RateControlKind;
    use super::super::tests::{attempt, frame, peer, phy, rate};
    use super::*;

    fn rraa(params: Params) -> (crate::phy::Phy, Box<dyn RateControl>) {
        let phy = phy("802.11a");
        let control = RateControlKind::Rraa(params).build(&peer(&phy), "rate_control").unwrap();
        (phy, control)
    }
    fn basic() -> Params {
        Params { adaptive_rts: false, ..Params::default() }
    }

    #[test]
    fn thresholds_are_near_those_of_the_papers_table() {
        // Table 2 of the paper, in percent: P_MTL of 9 to 54 Mbit/s, P_ORI of 9 to 48. Its exchange times
        // are not given; ours differ by some overhead.
        let phy = phy("802.11a");
        let rates = thresholds(&Params::default(), &peer(&phy));
        let tolerable = [39.32, 28.68, 37.22, 26.50, 33.63, 23.00, 9.40];
        let opportune = [14.34, 18.61, 13.25, 16.81, 11.50, 4.70];
        for (rate, expected) in rates[1..].iter().zip(tolerable) {
            assert!((100.0 * rate.tolerable - expected).abs() < 2.0, "{rate:?}");
        }
        for (rate, expected) in rates[1..7].iter().zip(opportune) {
            assert!((100.0 * rate.opportune - expected).abs() < 1.0, "{rate:?}");
        }
        assert_eq!((rates[0].tolerable, rates[7].opportune), (1.0, 0.0));
        // 12 ms over (20 + 4 * 475) + (20 + 4 * 6) + 16 + 34 = 2014 us: six, as in the paper.
        assert_eq!(rates[0].window, 6);
    }

    #[test]
    fn it_begins_at_the_highest_rate_and_losses_of_a_window_lead_down_at_once() {
        let (phy, mut control) = rraa(basic());
        assert_eq!(rate(&mut *control, &phy), 54.0);
        // 12 ms / 306 us: a window of 40; P_MTL = 1.25 * (1 - 306/334) = 10.5 %: the fifth loss is too much.
        (0..4).for_each(|_| attempt(&mut *control, false));
        assert_eq!(rate(&mut *control, &phy), 54.0);
        attempt(&mut *control, false);
        assert_eq!(rate(&mut *control, &phy), 48.0);
    }

    #[test]
    fn a_window_without_loss_leads_up_and_one_between_the_thresholds_stays() {
        let (phy, mut control) = rraa(basic());
        (0..5).for_each(|_| attempt(&mut *control, false));
        // 48 Mbit/s: 12 ms / 334 us: 36 attempts; P_ORI = 5.2 %, P_MTL = 24 %. Three losses are 8 %.
        (0..36).for_each(|i| attempt(&mut *control, i >= 3));
        assert_eq!(rate(&mut *control, &phy), 48.0);
        (0..35).for_each(|_| attempt(&mut *control, true));
        assert_eq!(rate(&mut *control, &phy), 48.0);
        attempt(&mut *control, true);
        assert_eq!(rate(&mut *control, &phy), 54.0);
    }

    #[test]
    fn rts_window_grows_with_losses_and_halves_when_useless() {
        let (_, mut control) = rraa(Params::default());
        let mut attempts = |outcomes: &[bool]| -> Vec<bool> {
            let mut one = |&good: &bool| {
                let entry = control.rates_for(&frame(0)).entries()[0];
                let status = super::super::tests::status(lasthop_units::Time::ZERO, entry.mode, good, None);
                control.on_tx_status(&TxStatus { rts: entry.rts, ..status });
                entry.rts
            };
            outcomes.iter().map(&mut one).collect()
        };
        // A loss: one attempt with RTS. Another loss after it: two.
        assert_eq!(attempts(&[false, true, false, true, true, true]), [false, true, false, true, true, false]);
        // The success without RTS halved the window to one, so one RTS follows; another halves it to none.
        assert_eq!(attempts(&[true, true, true, true]), [true, false, false, false]);
        // A loss behind an RTS is not a collision: the window of one is halved to none.
        assert_eq!(attempts(&[false, false, true, true]), [false, true, false, false]);
    }
}
