//! Times in which a sender sends nothing, and why, as far as one point of capture tells.
//!
//! A gap between two segments with data is a stall if it is longer than two smoothed RTTs and the shortest that counts, after
//! the definition of [Zhou 2015], which takes the lesser of that and the RTO. Why is decided by what stands when it begins
//! and what ends it:
//!
//! ```text
//!   a closed window was told                              zero window
//!   a retransmission ends it, and no ACK let it go on     timeout
//!   all was acknowledged before its end                   sender idle
//!   ACKs repeated themselves in it                        recovery
//!   the advertised window was full when it began          receive window
//!   no ACK came in it but the last                        ACKs stopped
//!   else                                                  unknown
//! ```

use lasthop_units::{Duration, Time};

/// Why nothing was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    ZeroWindow,
    Idle,
    ReceiveWindow,
    Timeout,
    Recovery,
    AcksStopped,
    Unknown,
}

impl Reason {
    pub(crate) const ALL: [(Reason, &'static str); 7] = [
        (Reason::ZeroWindow, "zero_window"),
        (Reason::Idle, "sender_idle"),
        (Reason::ReceiveWindow, "receive_window"),
        (Reason::Timeout, "timeout"),
        (Reason::Recovery, "loss_recovery"),
        (Reason::AcksStopped, "acks_stopped"),
        (Reason::Unknown, "unknown"),
    ];
}

/// No gap that is shorter is a stall: an A-MPDU and the turns of other stations take as long.
const SHORTEST: Duration = Duration::from_millis(50);
/// Before there is an RTT. [RFC 6298 §2.1]
const INITIAL_RTO: Duration = Duration::from_secs(1);

/// What stood when a segment passed, and what has come since.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gaps {
    since: Option<Time>,
    srtt: Option<Duration>,
    /// ACKs that acknowledged something new, and ACKs that told of a hole
    moved: u64,
    repeated: u64,
    was_closed: bool,
    /// the advertised window had no room for a segment more
    is_full: bool,
    /// when all was acknowledged
    drained: Option<Time>,
    latest_move: Option<Time>,
}

/// What stands when a gap ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub at: Time,
    pub is_retransmission: bool,
    /// bytes that may be sent beyond it, where the window is known
    pub room: Option<u64>,
    pub mss: u64,
}

/// Why nothing was sent, and for how long.
pub(crate) type Stall = (Reason, Duration);

/// How often, and for how long.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StallTally {
    pub by_reason: [(u64, Duration); Reason::ALL.len()],
}

impl Gaps {
    /// An ACK passes. `rtt` is a sample of it, `moves` whether it acknowledges something new.
    pub(crate) fn acknowledged(&mut self, at: Time, rtt: Option<Duration>, moves: bool, tells_hole: bool, flight: u64) {
        if let Some(rtt) = rtt {
            // [RFC 6298 §2.3]
            self.srtt = Some(self.srtt.map_or(rtt, |srtt| (srtt * 7 + rtt) / 8));
        }
        if moves {
            self.moved += 1;
            self.latest_move = Some(at);
        }
        self.repeated += u64::from(tells_hole);
        if flight == 0 {
            self.drained.get_or_insert(at);
        }
    }

    /// The receiver's window is closed.
    pub(crate) fn closed(&mut self) {
        self.was_closed = true;
    }

    /// A segment with data passes: the stall that it ends, if it does.
    pub(crate) fn sent(&mut self, end: &End) -> Option<Stall> {
        let limit = self.srtt.map_or(INITIAL_RTO, |srtt| (srtt * 2).max(SHORTEST));
        let gap = end.at.since(self.since.unwrap_or(end.at));
        let stall = (gap > limit).then(|| (self.reason(end, limit), gap));
        let is_full = end.room.is_some_and(|room| room < end.mss);
        *self = Gaps { since: Some(end.at), srtt: self.srtt, is_full, ..Gaps::default() };
        stall
    }

    fn reason(&self, end: &End, limit: Duration) -> Reason {
        // Within this time of an ACK, it is what let the sender go on.
        let is_freed = |at: Time| end.at.since(at) * 2 <= limit;
        if self.was_closed {
            Reason::ZeroWindow
        } else if end.is_retransmission {
            if self.repeated > 0 || self.latest_move.is_some_and(is_freed) { Reason::Recovery } else { Reason::Timeout }
        } else if self.drained.is_some_and(|at| !is_freed(at)) {
            Reason::Idle
        } else if self.repeated > 0 {
            Reason::Recovery
        } else if self.is_full {
            Reason::ReceiveWindow
        } else if self.moved <= 1 {
            Reason::AcksStopped
        } else {
            Reason::Unknown
        }
    }
}

impl StallTally {
    pub(crate) fn add(&mut self, (reason, lasted): Stall) {
        let place = Reason::ALL.iter().position(|(known, _)| *known == reason).unwrap_or(Reason::ALL.len() - 1);
        let (count, sum) = &mut self.by_reason[place];
        (*count, *sum) = (*count + 1, *sum + lasted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Time {
        Time::from_nanos(n * 1_000_000)
    }
    fn end(at: Time, is_retransmission: bool) -> End {
        End { at, is_retransmission, room: Some(100_000), mss: 1448 }
    }
    /// Segments at 0 and at 500 ms; the RTT is 20 ms.
    fn between(is_retransmission: bool, happens: impl Fn(&mut Gaps)) -> Option<Reason> {
        let mut gaps = Gaps::default();
        gaps.acknowledged(ms(0), Some(Duration::from_millis(20)), true, false, 5000);
        assert_eq!(gaps.sent(&end(ms(0), false)), None);
        happens(&mut gaps);
        let (reason, lasted) = gaps.sent(&end(ms(500), is_retransmission))?;
        assert_eq!(lasted, Duration::from_millis(500));
        Some(reason)
    }

    #[test]
    fn a_stall_is_put_down_to_what_stood_when_it_began_and_what_ended_it() {
        let ack = |gaps: &mut Gaps, at, moves, flight| gaps.acknowledged(ms(at), None, moves, !moves, flight);
        assert_eq!(between(true, |_| {}), Some(Reason::Timeout));
        assert_eq!(between(true, |gaps| ack(gaps, 20, false, 5000)), Some(Reason::Recovery));
        assert_eq!(between(false, |gaps| ack(gaps, 20, true, 0)), Some(Reason::Idle));
        assert_eq!(between(false, |gaps| ack(gaps, 499, true, 0)), Some(Reason::AcksStopped));
        assert_eq!(between(false, Gaps::closed), Some(Reason::ZeroWindow));
        let mut gaps = Gaps::default();
        gaps.sent(&End { room: Some(100), ..end(ms(0), false) });
        assert_eq!(gaps.sent(&end(ms(2000), false)), Some((Reason::ReceiveWindow, Duration::from_secs(2))));
    }

    #[test]
    fn what_is_shorter_than_two_rtts_is_none() {
        let mut gaps = Gaps::default();
        gaps.sent(&end(ms(0), false));
        gaps.acknowledged(ms(100), Some(Duration::from_millis(100)), true, false, 5000);
        assert_eq!(gaps.sent(&end(ms(199), false)), None);
        assert!(gaps.sent(&end(ms(400), false)).is_some());
    }
}
