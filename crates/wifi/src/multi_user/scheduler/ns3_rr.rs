//! The round robin of ns-3: as many stations as there are, by credits.
//!
//! While its queue has data, an access point that wins the medium sends some of them, then asks stations for the lengths of their
//! queues, then for data. Without data of its own it asks for lengths each time, and never for data. Credits are in time
//! [ns-3.44, `MaxCredits` of `RrMultiUserScheduler`]:
//!
//! ```text
//! after a downlink PPDU of airtime T for n stations of N    c <- min(c + T / N, 1 s)    of each station
//!                                                           c <- c - T / n              of those that it serves
//! ```
//! The stations with the most credits are asked and served first.

use lasthop_registry::params;
use lasthop_units::{Duration, Time};

use super::alternation::Alternation;
use super::fit::as_many_as_fit;
use super::{Offer, Scheduler, SchedulerContext, Turn, Won};

params! {
    /// It has none of its own.
    pub struct Params {}
}

/// The most credits of a station, in nanoseconds; all begin with them.
const MOST: i64 = 1_000_000_000;

/// The scheduler.
#[derive(Debug)]
pub(super) struct Ns3Rr {
    turns: Alternation,
    /// Credits of each station in nanoseconds, by its place.
    credits: Vec<i64>,
}

impl Ns3Rr {
    pub(super) fn new(context: &SchedulerContext) -> Ns3Rr {
        Ns3Rr { turns: Alternation::new(context.of), credits: vec![MOST; context.stations] }
    }

    /// As many stations of an offer as fit, those with the most credits.
    fn richest(&self, offer: &Offer<'_>) -> Vec<usize> {
        let mut order: Vec<usize> = (0..offer.waiting.len()).collect();
        order.sort_by_key(|user| std::cmp::Reverse(self.credits[offer.waiting[*user].place]));
        order.truncate(as_many_as_fit(offer).len());
        order
    }
}

impl Scheduler for Ns3Rr {
    fn turn(&mut self, won: &Won<'_>) -> Turn {
        self.turns.in_order(won)
    }
    fn downlink(&mut self, offer: &Offer<'_>) -> Vec<usize> {
        self.richest(offer)
    }
    fn uplink(&mut self, offer: &Offer<'_>) -> Vec<usize> {
        self.richest(offer)
    }
    fn on_turn(&mut self, now: Time, turn: Turn) {
        self.turns.note(now, turn);
    }
    fn on_downlink(&mut self, airtime: Duration, places: &[usize]) {
        let nanos = airtime.as_nanos() as i64;
        let all = self.credits.len() as i64;
        self.credits.iter_mut().for_each(|credits| *credits = (*credits + nanos / all).min(MOST));
        places.iter().for_each(|place| self.credits[*place] -= nanos / places.len() as i64);
    }
    fn order(&self) -> Option<Vec<usize>> {
        let mut order: Vec<usize> = (0..self.credits.len()).collect();
        order.sort_by_key(|place| std::cmp::Reverse(self.credits[*place]));
        Some(order)
    }
    fn asks_on(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use lasthop_engine::Stream;

    use super::*;
    use crate::multi_user::settings::MultiUser;

    #[test]
    fn stations_that_were_served_come_last() {
        let context = SchedulerContext { stations: 4, of: MultiUser::default(), random: Stream::new(1, "test", 0) };
        let mut scheduler = Ns3Rr::new(&context);
        let us = Duration::from_micros;
        scheduler.on_downlink(us(400), &[0, 1]);
        assert_eq!(scheduler.order().unwrap(), [2, 3, 0, 1]);
        // 200 us less, and 100 of both PPDUs more; 400 less.
        scheduler.on_downlink(us(400), &[2]);
        assert_eq!(scheduler.credits, [MOST - 100_000, MOST - 100_000, MOST - 400_000, MOST]);
        assert_eq!(scheduler.order().unwrap(), [3, 0, 1, 2]);
    }

    #[test]
    fn without_data_of_its_own_an_access_point_asks_for_lengths_alone() {
        let context = SchedulerContext { stations: 2, of: MultiUser::default(), random: Stream::new(1, "test", 0) };
        let mut scheduler = Ns3Rr::new(&context);
        let mut turns = |has_data| {
            let mut next = || {
                let turn = scheduler.turn(&Won { now: Time::ZERO, has_data, reported: &[9000, 0] });
                scheduler.on_turn(Time::ZERO, turn);
                turn
            };
            [next(), next(), next()]
        };
        assert_eq!(turns(false), [Turn::Question; 3]);
        assert_eq!(turns(true), [Turn::Data, Turn::Queue, Turn::Question]);
    }
}
