//! Validation of the window: an unused one is kept for a time, and does not measure the path. [RFC 7661]
//!
//! ```text
//!              pipeACK < cwnd / 2
//!   validated ───────────────────► non-validated ──► after five minutes, and each five again:
//!       ▲                            │        │       ssthresh = max(ssthresh, 3/4 cwnd)
//!       │      pipeACK >= cwnd / 2   │        │       cwnd = max(cwnd / 2, initial window)
//!       ├────────────────────────────┘        │
//!       └───── recovery ends ◄─── loss: from max(pipeACK, LossFlightSize),
//!              cwnd less R/2                        R: retransmitted data
//! ```
//! Source: RFC 7661 §4.2 to §4.4. Controllers take their own share where it says a half. Leaves out: the limit on
//! bursts of §4.4.2; `pacing` and `max_burst` limit them.

use lasthop_units::{Duration, Time};

use super::Sender;
use super::pipe_ack::{Loss, Round};
use crate::config::WindowValidation;

/// Time for which an unused window is kept. [RFC 7661 §4.4.3]
const NON_VALIDATED_PERIOD: Duration = Duration::from_secs(300);

impl Sender {
    /// True if the window is unused, so that growth would be useless. `by_use` is the result of Linux's rule.
    pub(super) fn is_unused(&self, by_use: bool) -> bool {
        match self.config.window_validation {
            WindowValidation::Off => false,
            WindowValidation::Linux => by_use,
            WindowValidation::Rfc7661 => self.validation.since.is_some(),
        }
    }

    fn has_validation(&self) -> bool {
        self.config.window_validation == WindowValidation::Rfc7661
    }

    /// Takes in an ACK of so many bytes.
    pub(super) fn validate_on_ack(&mut self, now: Time, bytes: u64, in_recovery: bool) {
        if !self.has_validation() {
            return;
        }
        let Some(rtt) = self.rtt.srtt().filter(|_| !in_recovery && bytes > 0) else { return };
        let round = Round { now, una: self.board.una(), nxt: self.board.nxt() };
        self.validation.on_ack(round, bytes, rtt);
        self.validate(now);
    }

    /// Checks the window before new data is sent.
    pub(super) fn validate_on_send(&mut self, now: Time) {
        if self.has_validation() {
            self.validate(now);
        }
    }

    /// [RFC 7661 §4.3, §4.4.3]
    fn validate(&mut self, now: Time) {
        let Some(rtt) = self.rtt.srtt() else { return };
        self.validation.judge(now, rtt, self.cwnd_bytes());
        while let Some(since) = self.validation.since.filter(|&since| since + NON_VALIDATED_PERIOD <= now) {
            self.validation.since = Some(since + NON_VALIDATED_PERIOD);
            let cwnd = self.control.cwnd();
            let least = f64::from(self.config.initial_window);
            if cwnd <= least {
                continue;
            }
            let ssthresh = self.control.ssthresh();
            self.control.set_ssthresh(ssthresh.max(0.75 * cwnd));
            self.control.set_window((cwnd / 2.0).max(least));
        }
    }

    /// The window from which a reduction starts, in segments: in the non-validated phase, the used part. [RFC
    /// 7661 §4.4.1]
    pub(super) fn window_in_use(&self, now: Time, window: f64) -> f64 {
        let (Some(_), Some(rtt)) = (self.validation.since, self.rtt.srtt()) else { return window };
        let pipe_ack = self.validation.pipe_ack(now, rtt).unwrap_or(0);
        let used = pipe_ack.max(self.board.outstanding_bytes()) as f64 / f64::from(self.mss);
        window.min(used)
    }

    /// Notes a loss to be repaired, with `window` from [`Self::window_in_use`].
    pub(super) fn note_validated_loss(&mut self, window: f64) {
        if self.validation.since.is_some() {
            self.validation.loss = Some(Loss { window, retransmissions: self.retransmissions });
        }
    }

    /// The window after recovery, in segments: ssthresh, less the share of retransmitted data; then all is
    /// measured again. [RFC 7661 §4.4.1]
    pub(super) fn window_after_recovery(&mut self) -> Option<f64> {
        let loss = self.validation.loss.take()?;
        self.validation.reset();
        let again = (self.retransmissions - loss.retransmissions) as f64;
        Some((self.control.ssthresh() * (1.0 - again / loss.window)).max(1.0))
    }

    /// Forgets the measurements at a timeout.
    pub(super) fn forget_validation(&mut self) {
        self.validation.reset();
    }
}
