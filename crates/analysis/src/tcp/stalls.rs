//! Times in which a sender sends nothing, and the reasons, as far as one point of capture shows.
//!
//! A gap between two segments with data is a stall if it is longer than two smoothed RTTs and than the shortest that
//! counts, after the definition of [Zhou 2015], which takes the lesser of that and the RTO; a gap that the
//! retransmission timer ends always is one, however short it is against the RTT. The reason follows from the state at
//! its beginning and from the segment that ends it:
//!
//! ```text
//!   a closed window was advertised                         zero window
//!   the retransmission timer sent the segment at its end   timeout
//!   another retransmission, without an ACK to release it   loss probe
//!   all was acknowledged before its end
//!     and the MAC may have tried that segment since        medium access
//!     else                                                 sender idle
//!   ACKs were repeated in it                               recovery
//!   the advertised window was full when it began           receive window
//!   no ACK came in it except the last                      ACKs stopped
//!   else                                                   unknown
//! ```

use lasthop_units::{Duration, Time};

use super::timer::{Head, Timer};

/// The reason why nothing was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    ZeroWindow,
    MediumAccess,
    Idle,
    ReceiveWindow,
    Timeout,
    Probe,
    Recovery,
    AcksStopped,
    Unknown,
}

impl Reason {
    pub(crate) const ALL: [(Reason, &'static str); 9] = [
        (Reason::ZeroWindow, "zero_window"),
        (Reason::MediumAccess, "medium_access"),
        (Reason::Idle, "sender_idle"),
        (Reason::ReceiveWindow, "receive_window"),
        (Reason::Timeout, "timeout"),
        (Reason::Probe, "loss_probe"),
        (Reason::Recovery, "loss_recovery"),
        (Reason::AcksStopped, "acks_stopped"),
        (Reason::Unknown, "unknown"),
    ];
}

/// No shorter gap is a stall: an A-MPDU and transmissions of other stations take as long.
const SHORTEST: Duration = Duration::from_millis(50);
/// The limit before there is an RTT.
const LONGEST_WITHOUT_RTT: Duration = Duration::from_secs(1);

/// The state at the latest segment, and the events since.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gaps {
    since: Option<Time>,
    timer: Timer,
    /// ACKs of new data, and ACKs that report a hole
    moved: u64,
    repeated: u64,
    was_closed: bool,
    /// the advertised window had no room for another segment
    is_full: bool,
    /// time at which everything was acknowledged
    drained: Option<Time>,
    latest_move: Option<Time>,
    /// ACKs that report a hole since the last ACK of new data
    repeated_since_move: u64,
    latest_ack: Option<Time>,
}

/// The state at the end of a gap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub at: Time,
    pub is_retransmission: bool,
    /// for how long its frame may have been on the air in vain
    pub in_vain: Duration,
    /// for a retransmission of the first unacknowledged segment: the time it waited
    pub head_waited: Option<Duration>,
    /// bytes in flight, including it
    pub flight: u64,
    /// bytes that may be sent beyond it, if the window is known
    pub room: Option<u64>,
    pub mss: u64,
}

/// The reason of a stall, and its duration.
pub(crate) type Stall = (Reason, Duration);

/// The end of a stall or a timer, by a passing segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ended {
    pub stall: Option<Stall>,
    /// the retransmission timer, with the time it had run
    pub timeout: Option<Duration>,
}

/// Counts and total durations.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StallTally {
    pub by_reason: [(u64, Duration); Reason::ALL.len()],
    /// timeouts, including those of senders that sent other data meanwhile, and the time that their timers had run
    pub timeouts: (u64, Duration),
}

impl Gaps {
    /// Handles an ACK. `rtt` is its sample, `moves` whether it acknowledges new data.
    pub(crate) fn acknowledged(&mut self, at: Time, rtt: Option<Duration>, moves: bool, tells_hole: bool, flight: u64) {
        self.latest_ack = Some(at);
        if let Some(rtt) = rtt {
            self.timer.sample(rtt);
        }
        if moves {
            self.moved += 1;
            self.latest_move = Some(at);
            self.repeated_since_move = 0;
        }
        self.repeated += u64::from(tells_hole);
        self.repeated_since_move += u64::from(tells_hole);
        if flight == 0 {
            self.drained.get_or_insert(at);
        }
    }

    /// Notes that the receiver's window is closed.
    pub(crate) fn closed(&mut self) {
        self.was_closed = true;
    }

    /// Handles a segment with data. Returns the stall and the timer that it ends.
    pub(crate) fn sent(&mut self, end: &End) -> Ended {
        let limit = self.timer.srtt().map_or(LONGEST_WITHOUT_RTT, |srtt| (srtt * 2).max(SHORTEST));
        let gap = end.at.since(self.since.unwrap_or(end.at));
        let timeout = end.head_waited.filter(|&waited| {
            let (acks_repeat, is_alone) = (self.repeated_since_move > 0, end.flight <= end.mss);
            let since_ack = self.latest_ack.map_or(waited, |ack| end.at.since(ack));
            self.timer.has_expired(&Head { waited, acks_repeat, since_ack, is_alone })
        });
        let is_stall = gap > limit || (timeout.is_some() && gap > SHORTEST);
        let stall = is_stall.then(|| (self.reason(end, timeout.is_some(), limit), gap));
        let is_full = end.room.is_some_and(|room| room < end.mss);
        let Gaps { timer, repeated_since_move, latest_ack, .. } = *self;
        *self = Gaps { since: Some(end.at), timer, is_full, repeated_since_move, latest_ack, ..Gaps::default() };
        Ended { stall, timeout }
    }

    fn reason(&self, end: &End, is_timeout: bool, limit: Duration) -> Reason {
        // Within this time after an ACK, the ACK released the segment.
        let is_freed = |at: Time| end.at.since(at) * 2 <= limit;
        if self.was_closed {
            Reason::ZeroWindow
        } else if is_timeout {
            Reason::Timeout
        } else if end.is_retransmission {
            if self.repeated > 0 || self.latest_move.is_some_and(is_freed) { Reason::Recovery } else { Reason::Probe }
        } else if let Some(drained) = self.drained.filter(|&at| !is_freed(at)) {
            if end.at.since(drained) <= end.in_vain { Reason::MediumAccess } else { Reason::Idle }
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
    pub(crate) fn add(&mut self, ended: &Ended) {
        if let Some(ran) = ended.timeout {
            let (count, sum) = &mut self.timeouts;
            (*count, *sum) = (*count + 1, *sum + ran);
        }
        let Some((reason, lasted)) = ended.stall else { return };
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
        let head_waited = is_retransmission.then_some(Duration::from_millis(500));
        End {
            at,
            is_retransmission,
            in_vain: Duration::ZERO,
            head_waited,
            flight: 5000,
            room: Some(100_000),
            mss: 1448,
        }
    }
    /// Segments at 0 and at 500 ms; the RTT is 20 ms.
    fn between(is_retransmission: bool, happens: impl Fn(&mut Gaps)) -> Option<Reason> {
        let mut gaps = Gaps::default();
        gaps.acknowledged(ms(0), Some(Duration::from_millis(20)), true, false, 5000);
        assert_eq!(gaps.sent(&end(ms(0), false)), Ended::default());
        happens(&mut gaps);
        let (reason, lasted) = gaps.sent(&end(ms(500), is_retransmission)).stall?;
        assert_eq!(lasted, Duration::from_millis(500));
        Some(reason)
    }

    #[test]
    fn stall_reason_depends_on_its_start_and_its_end() {
        let ack = |gaps: &mut Gaps, at, moves, flight| gaps.acknowledged(ms(at), None, moves, !moves, flight);
        assert_eq!(between(true, |_| {}), Some(Reason::Timeout));
        let mut gaps = Gaps::default();
        gaps.acknowledged(ms(0), Some(Duration::from_millis(20)), true, false, 5000);
        gaps.sent(&end(ms(0), false));
        let sooner = |repeats: bool, gaps: &mut Gaps| {
            gaps.acknowledged(ms(50), None, false, repeats, 5000);
            gaps.sent(&End { head_waited: Some(Duration::from_millis(90)), ..end(ms(90), true) })
        };
        let lasted = Duration::from_millis(90);
        assert_eq!(sooner(false, &mut gaps.clone()), Ended { stall: Some((Reason::Probe, lasted)), timeout: None });
        assert_eq!(sooner(true, &mut gaps), Ended { stall: Some((Reason::Recovery, lasted)), timeout: None });
        assert_eq!(between(false, |gaps| ack(gaps, 20, true, 0)), Some(Reason::Idle));
        assert_eq!(between(false, |gaps| ack(gaps, 499, true, 0)), Some(Reason::AcksStopped));
        assert_eq!(between(false, Gaps::closed), Some(Reason::ZeroWindow));
        let mut gaps = Gaps::default();
        gaps.sent(&End { room: Some(100), ..end(ms(0), false) });
        let stall = gaps.sent(&end(ms(2000), false)).stall;
        assert_eq!(stall, Some((Reason::ReceiveWindow, Duration::from_secs(2))));
    }

    #[test]
    fn sender_with_segment_in_its_mac_is_not_idle() {
        let mut gaps = Gaps::default();
        gaps.acknowledged(ms(0), Some(Duration::from_millis(20)), true, false, 5000);
        gaps.sent(&end(ms(0), false));
        gaps.acknowledged(ms(20), None, true, false, 0);
        let in_vain = Duration::from_millis(300);
        // It pauses where the gap is longer than retries take.
        for (ends, reason) in [(300, Reason::MediumAccess), (400, Reason::Idle)] {
            let stall = gaps.clone().sent(&End { in_vain, ..end(ms(ends), false) }).stall;
            assert_eq!(stall, Some((reason, Duration::from_millis(ends))));
        }
    }

    #[test]
    fn pause_below_two_rtts_is_no_stall() {
        let mut gaps = Gaps::default();
        gaps.sent(&end(ms(0), false));
        gaps.acknowledged(ms(100), Some(Duration::from_millis(100)), true, false, 5000);
        assert_eq!(gaps.sent(&end(ms(199), false)).stall, None);
        assert!(gaps.sent(&end(ms(400), false)).stall.is_some());
    }

    #[test]
    fn a_timer_shorter_than_two_rtts_is_a_timeout_too() {
        let mut gaps = Gaps::default();
        // SRTT 250 ms: Linux's timer takes 450 ms.
        (0..100).for_each(|n| gaps.acknowledged(ms(n), Some(Duration::from_millis(250)), true, false, 5000));
        gaps.sent(&end(ms(100), false));
        let waited = Duration::from_millis(450);
        let ended = gaps.sent(&End { head_waited: Some(waited), ..end(ms(550), true) });
        assert_eq!(ended, Ended { stall: Some((Reason::Timeout, waited)), timeout: Some(waited) });
    }
}
