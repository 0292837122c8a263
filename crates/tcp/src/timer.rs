//! The timers of a connection: a table of deadlines.

use lasthop_units::Time;

/// The purpose of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    /// Retransmission. [RFC 6298]
    Retransmit,
    /// Acknowledgement withheld. [RFC 1122 §4.2.3.2]
    DelayedAck,
    /// Probe of a zero window. [RFC 9293 §3.8.6.1]
    Persist,
    /// End of TIME-WAIT. [RFC 9293 §3.6.1]
    TimeWait,
    /// Release of the next segment by pacing.
    Pacing,
}

/// One deadline for each [`Timer`]; [`Time::NEVER`] where it is not set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timers([Time; 5]);

impl Timers {
    pub fn new() -> Self {
        Timers([Time::NEVER; 5])
    }
    pub fn set(&mut self, timer: Timer, deadline: Time) {
        self.0[timer as usize] = deadline;
    }
    pub fn stop(&mut self, timer: Timer) {
        self.0[timer as usize] = Time::NEVER;
    }
    pub fn stop_all(&mut self) {
        self.0 = [Time::NEVER; 5];
    }
    pub fn is_set(&self, timer: Timer) -> bool {
        !self.0[timer as usize].is_never()
    }
    /// The earliest deadline.
    pub fn earliest(&self) -> Time {
        let [a, b, c, d, e] = self.0;
        a.min(b).min(c.min(d)).min(e)
    }
    /// Stops the timer and returns true if it is due at `now`.
    pub fn take_due(&mut self, timer: Timer, now: Time) -> bool {
        let due = self.0[timer as usize] <= now && self.is_set(timer);
        if due {
            self.stop(timer);
        }
        due
    }
}
