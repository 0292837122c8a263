//! Turns of an access point's queue and of its stations, and the times of questions.

use lasthop_units::{Duration, Time};

use super::{Turn, Won};
use crate::multi_user::settings::MultiUser;

/// The interval of questions to stations, if `access_request` is off.
const ASKED_AGAIN: Duration = Duration::from_millis(10);

/// The latest exchange and the latest question.
#[derive(Debug)]
pub(super) struct Alternation {
    of: MultiUser,
    /// The latest use of the medium.
    last: Turn,
    /// Time of the latest BSRP; `None` before the first. [802.11ax-2021 §26.5.2]
    asked: Option<Time>,
}

impl Alternation {
    pub(super) fn new(of: MultiUser) -> Alternation {
        Alternation { of, last: Turn::Queue, asked: None }
    }

    /// Queue and stations alternate if both have data. With `asks` stations are asked for their queues rather than
    /// for data, if it is their turn.
    pub(super) fn turn(&self, won: &Won<'_>, asks: bool) -> Turn {
        if won.has_data && (self.last == Turn::Data || !(won.has_reports() || asks)) {
            return Turn::Queue;
        }
        if self.of.bsrp && asks { Turn::Question } else { Turn::Data }
    }

    /// Queue, question and data one after another if there are packets in the queue, otherwise questions; without questions, data in
    /// their place.
    pub(super) fn in_order(&self, won: &Won<'_>) -> Turn {
        match self.last {
            _ if !won.has_data && self.of.bsrp => Turn::Question,
            _ if !won.has_data => Turn::Data,
            Turn::Data => Turn::Queue,
            Turn::Queue if self.of.bsrp => Turn::Question,
            Turn::Queue | Turn::Question => Turn::Data,
        }
    }

    /// Returns whether stations are asked for the lengths of their queues now: by the interval, and after each downlink
    /// exchange if MU EDCA keeps them from contending, since their answers to downlink data wait for a trigger.
    pub(super) fn is_due(&self, now: Time) -> bool {
        if self.of.holds_stations && self.last == Turn::Queue {
            return true;
        }
        let interval = self.of.access_request.unwrap_or(ASKED_AGAIN);
        self.asked.is_none_or(|at| now.since(at) >= interval)
    }

    pub(super) fn note(&mut self, now: Time, turn: Turn) {
        self.last = turn;
        if turn == Turn::Question {
            self.asked = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_REPORTS: &[u64] = &[0, 0, 0];
    fn turn(of: &Alternation, ms: u64, has_data: bool, reported: &[u64]) -> Turn {
        let now = Time::ZERO + Duration::from_millis(ms);
        of.turn(&Won { now, has_data, reported }, of.is_due(now))
    }

    #[test]
    fn uplink_and_downlink_alternate_if_both_have_data() {
        let mut of = Alternation::new(MultiUser::default());
        assert_eq!(turn(&of, 0, true, NO_REPORTS), Turn::Question, "no station was asked yet");
        of.note(Time::ZERO, Turn::Question);
        of.note(Time::ZERO, Turn::Data);
        assert_eq!(turn(&of, 1, true, NO_REPORTS), Turn::Queue);
        of.note(Time::ZERO, Turn::Queue);
        assert_eq!(turn(&of, 2, true, NO_REPORTS), Turn::Queue, "it is early to ask again");
        assert_eq!(turn(&of, 2, true, &[0, 256, 0]), Turn::Data);
    }

    #[test]
    fn stations_without_reports_are_asked_again_after_the_interval() {
        let mut of = Alternation::new(MultiUser::default());
        of.note(Time::ZERO, Turn::Question);
        of.note(Time::ZERO, Turn::Queue);
        assert_eq!([9, 10].map(|at| turn(&of, at, true, NO_REPORTS)), [Turn::Queue, Turn::Question]);
    }
}
