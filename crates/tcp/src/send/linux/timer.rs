//! The one timer of a sender: its purpose. [RFC 6298 §5, RFC 8985 §8]

use lasthop_units::{Duration, Time};

/// Least wait for a probe or for reordering (recorded). Where an ACK may be delayed, a probe waits longer.
pub(super) const LEAST: Duration = Duration::from_millis(2);

/// The purpose of the timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Purpose {
    #[default]
    None,
    Retransmission,
    Probe,
    Reordering,
}

/// The sender's one timer: its purpose and its deadline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timer {
    pub purpose: Purpose,
    pub deadline: Time,
}

impl Default for Timer {
    fn default() -> Self {
        Timer { purpose: Purpose::None, deadline: Time::NEVER }
    }
}

/// The events that set the timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occasion {
    /// an ACK has brought something, or RACK waits
    Delivered,
    /// new data was sent
    NewData { alone: bool },
    /// the oldest segment was retransmitted
    OldestAgain,
    /// a tail probe was sent
    Probed,
    /// a timer for a probe or for reordering has expired
    Interlude,
    /// the retransmission timer has expired
    TimedOut,
}

/// The wait for each purpose.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waits {
    /// present purpose of the timer
    pub purpose: Purpose,
    /// data is in flight
    pub is_out: bool,
    pub rto: Duration,
    /// its remaining part for the oldest segment
    pub rto_left: Duration,
    /// time until RACK would find the next segment lost, if it waits
    pub reordering: Option<Duration>,
    /// time until a probe, if one is allowed [RFC 8985 §7.2]
    pub probe: Option<Duration>,
}

/// The change of the timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Keep,
    Stop,
    Set(Purpose, Duration),
}

/// The first case that applies: nothing is in flight; RACK waits; a probe is allowed; retransmission. After a probe
/// or a wait for reordering the RTO counts from the sending of the oldest segment, since these stood in between; else
/// from now [RFC 8985 §8, RFC 6298 §5.3].
pub(super) fn next_timer(occasion: Occasion, waits: &Waits) -> Change {
    if !waits.is_out {
        return Change::Stop;
    }
    if let Some(wait) = waits.reordering {
        return Change::Set(Purpose::Reordering, (wait + LEAST).min(waits.rto));
    }
    let from_now = Change::Set(Purpose::Retransmission, waits.rto);
    let from_oldest = Change::Set(Purpose::Retransmission, waits.rto_left.max(Duration::from_micros(1)));
    let stood_between = matches!(waits.purpose, Purpose::Probe | Purpose::Reordering);
    let resumed = if stood_between { from_oldest } else { from_now };
    match (occasion, waits.probe) {
        (Occasion::Delivered, Some(wait)) => Change::Set(Purpose::Probe, wait.min(waits.rto)),
        (Occasion::Delivered, None) => resumed,
        (Occasion::NewData { .. }, Some(wait)) => Change::Set(Purpose::Probe, wait.min(unless_past(waits.rto_left))),
        (Occasion::NewData { alone }, None) if alone || waits.purpose == Purpose::Probe => resumed,
        (Occasion::NewData { .. }, None) => Change::Keep,
        (Occasion::OldestAgain, _) if waits.purpose == Purpose::Reordering => Change::Keep,
        (Occasion::OldestAgain | Occasion::Probed | Occasion::TimedOut, _) => from_now,
        (Occasion::Interlude, _) => from_oldest,
    }
}

/// The bound of an RTO for a probe; an expired RTO is none.
fn unless_past(left: Duration) -> Duration {
    if left > Duration::ZERO { left } else { Duration::MAX }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    /// The oldest segment was sent 100 ms ago, with an RTO of 300 ms.
    fn waits(purpose: Purpose) -> Waits {
        Waits { purpose, is_out: true, rto: ms(300), rto_left: ms(200), reordering: None, probe: None }
    }

    fn retransmission(wait: Duration) -> Change {
        Change::Set(Purpose::Retransmission, wait)
    }

    #[test]
    fn delivery_restarts_the_rto_from_now_unless_a_probe_or_reordering_stood_between() {
        assert_eq!(next_timer(Occasion::Delivered, &waits(Purpose::Retransmission)), retransmission(ms(300)));
        assert_eq!(next_timer(Occasion::Delivered, &waits(Purpose::Probe)), retransmission(ms(200)));
        assert_eq!(next_timer(Occasion::Delivered, &waits(Purpose::Reordering)), retransmission(ms(200)));
        let overdue = Waits { rto_left: Duration::ZERO, ..waits(Purpose::Probe) };
        assert_eq!(next_timer(Occasion::Delivered, &overdue), retransmission(Duration::from_micros(1)));
        let nothing = Waits { is_out: false, ..overdue };
        assert_eq!(next_timer(Occasion::Delivered, &nothing), Change::Stop);
    }

    #[test]
    fn waiting_for_reordering_goes_before_a_probe_and_a_probe_before_retransmission() {
        let probing = Waits { probe: Some(ms(250)), ..waits(Purpose::None) };
        assert_eq!(next_timer(Occasion::Delivered, &probing), Change::Set(Purpose::Probe, ms(250)));
        let waiting = Waits { reordering: Some(ms(40)), ..probing };
        assert_eq!(next_timer(Occasion::Delivered, &waiting), Change::Set(Purpose::Reordering, ms(42)));
        let long = Waits { reordering: Some(ms(299)), ..probing };
        assert_eq!(next_timer(Occasion::Delivered, &long), Change::Set(Purpose::Reordering, ms(300)));
    }

    #[test]
    fn a_probe_after_new_data_comes_before_the_rto_of_the_oldest() {
        let new = Occasion::NewData { alone: false };
        let probing = Waits { probe: Some(ms(250)), ..waits(Purpose::Probe) };
        assert_eq!(next_timer(new, &probing), Change::Set(Purpose::Probe, ms(200)));
        let overdue = Waits { rto_left: Duration::ZERO, ..probing };
        assert_eq!(next_timer(new, &overdue), Change::Set(Purpose::Probe, ms(250)));
    }

    #[test]
    fn new_data_starts_the_timer_only_where_it_is_alone_or_a_probe_was_to_come() {
        let set = |alone, purpose| next_timer(Occasion::NewData { alone }, &waits(purpose));
        assert_eq!(set(false, Purpose::Retransmission), Change::Keep);
        assert_eq!(set(true, Purpose::None), retransmission(ms(300)));
        assert_eq!(set(false, Purpose::Probe), retransmission(ms(200)));
    }

    #[test]
    fn the_oldest_sent_again_has_the_whole_rto_unless_reordering_is_waited_for() {
        assert_eq!(next_timer(Occasion::OldestAgain, &waits(Purpose::Retransmission)), retransmission(ms(300)));
        assert_eq!(next_timer(Occasion::OldestAgain, &waits(Purpose::Reordering)), Change::Keep);
        assert_eq!(next_timer(Occasion::Probed, &waits(Purpose::None)), retransmission(ms(300)));
        assert_eq!(next_timer(Occasion::Interlude, &waits(Purpose::None)), retransmission(ms(200)));
    }
}
