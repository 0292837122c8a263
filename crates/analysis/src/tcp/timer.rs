//! The retransmission timer of a sender, as an observer on the path can compute it. [RFC 6298 §2]
//!
//! The sender's stack is unknown. A timer lies between two:
//!
//! ```text
//!   least    max(200 ms, SRTT + 4 RTTVAR)    the formula of the RFC, with the minimum of Linux and ns-2
//!   Linux    SRTT + max(200 ms, 4 RTTVAR)
//! ```
//!
//! An earlier retransmission was caused by ACKs, or by a tail loss probe, after 2 SRTT [RFC 8985 §7.2].

use lasthop_units::Duration;

/// TCP_RTO_MIN of Linux. RFC 6298 has 1 s, which no stack follows.
const LEAST: Duration = Duration::from_millis(200);
/// A segment released by an ACK follows it within this time, if both pass near the sender.
const AT_ONCE: Duration = Duration::from_millis(1);
/// Timer before there is an RTT. [RFC 6298 §2.1]
const INITIAL: Duration = Duration::from_secs(1);

/// The state of the timer: smoothed RTT and its variation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timer {
    srtt: Option<Duration>,
    rttvar: Duration,
}

/// The state when the first unacknowledged segment is retransmitted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    /// time since its latest transmission, or since the latest ACK of new data if that was later
    pub waited: Duration,
    /// whether ACKs have reported a hole since then
    pub acks_repeat: bool,
    /// time since the latest ACK
    pub since_ack: Duration,
    /// whether nothing else is in flight: then a tail loss probe would be this segment too
    pub is_alone: bool,
}

impl Timer {
    /// Adds an RTT sample. [RFC 6298 §2.2, §2.3]
    pub(crate) fn sample(&mut self, rtt: Duration) {
        match self.srtt {
            None => (self.srtt, self.rttvar) = (Some(rtt), rtt / 2),
            Some(srtt) => {
                let apart = srtt.max(rtt) - srtt.min(rtt);
                self.rttvar = (self.rttvar * 3 + apart) / 4;
                self.srtt = Some((srtt * 7 + rtt) / 8);
            }
        }
    }

    /// The smoothed RTT.
    pub(crate) fn srtt(&self) -> Option<Duration> {
        self.srtt
    }

    /// The lowest possible value, and that of Linux.
    fn range(&self) -> (Duration, Duration) {
        let spread = self.rttvar * 4;
        self.srtt.map_or((INITIAL, INITIAL), |srtt| ((srtt + spread).max(LEAST), srtt + spread.max(LEAST)))
    }

    /// Whether the timer caused this retransmission.
    pub(crate) fn has_expired(&self, head: &Head) -> bool {
        let (least, linux) = self.range();
        // The sender's RTT differs slightly from that of the point of capture, and Linux reduces its RTTVAR slowly.
        let is_long = head.waited * 10 >= linux * 9;
        if head.acks_repeat && head.since_ack < AT_ONCE {
            return false;
        }
        is_long || (head.waited >= least && !head.acks_repeat && !head.is_alone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn a_steady_rtt_leaves_the_least_timer_of_each_stack() {
        let mut timer = Timer::default();
        assert_eq!(timer.range(), (ms(1000), ms(1000)));
        timer.sample(ms(100));
        // SRTT 100, RTTVAR 50.
        assert_eq!(timer.range(), (ms(300), ms(300)));
        (0..100).for_each(|_| timer.sample(ms(100)));
        assert_eq!(timer.range(), (ms(200), ms(300)));
    }

    #[test]
    fn retransmission_by_acks_or_probe_is_no_timeout() {
        let mut timer = Timer::default();
        (0..100).for_each(|_| timer.sample(ms(120)));
        let since_ack = ms(50);
        let head = |waited, acks_repeat, is_alone| Head { waited: ms(waited), acks_repeat, since_ack, is_alone };
        // Linux waits for 320 ms, another stack for 200; a tail loss probe comes after 240.
        assert!(timer.has_expired(&head(320, true, true)));
        assert!(timer.has_expired(&head(240, false, false)));
        assert!(!timer.has_expired(&head(240, true, false)));
        assert!(!timer.has_expired(&head(240, false, true)));
        assert!(!timer.has_expired(&head(130, false, false)));
        let called_forth = Head { since_ack: Duration::ZERO, ..head(400, true, false) };
        assert!(!timer.has_expired(&called_forth) && timer.has_expired(&Head { acks_repeat: false, ..called_forth }));
    }
}
