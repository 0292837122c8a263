//! The round robin of ns-3: as many stations as there are, one after another, and questions after each downlink exchange.

use lasthop_registry::params;
use lasthop_units::Time;

use super::alternation::Alternation;
use super::fit::as_many_as_fit;
use super::{Offer, Scheduler, SchedulerContext, Turn, Won};

params! {
    /// It has none of its own.
    pub struct Params {}
}

/// The scheduler.
#[derive(Debug)]
pub(super) struct Ns3Rr(Alternation);

impl Ns3Rr {
    pub(super) fn new(context: &SchedulerContext) -> Ns3Rr {
        Ns3Rr(Alternation::new(context.of))
    }
}

impl Scheduler for Ns3Rr {
    fn turn(&mut self, won: &Won<'_>) -> Turn {
        // A station may have sent the reported data by itself since.
        self.0.turn(won, self.0.last() != Turn::Question || !won.has_reports())
    }
    fn downlink(&mut self, offer: &Offer<'_>) -> Vec<usize> {
        as_many_as_fit(offer)
    }
    fn uplink(&mut self, offer: &Offer<'_>) -> Vec<usize> {
        as_many_as_fit(offer)
    }
    fn on_turn(&mut self, now: Time, turn: Turn) {
        self.0.note(now, turn);
    }
    fn serves_in_turn(&self) -> bool {
        true
    }
    fn asks_on(&self) -> bool {
        false
    }
}
