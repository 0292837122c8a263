//! The station whose turn it is, with those whose data take about as long.
//!
//! The queue decides whose turn it is: `airtime_fq_codel` by deficits of airtime, which uplink exchanges charge too. As many
//! stations join as bring the most bytes a second. Stations are asked for their queues in intervals, and again as long as
//! they report data.

use lasthop_registry::params;
use lasthop_units::Time;

use super::alternation::Alternation;
use super::fit::{alike_first, as_many_as_fit, keep_best};
use super::{Offer, Scheduler, SchedulerContext, Turn, Won};

params! {
    /// It has none of its own.
    pub struct Params {}
}

/// The scheduler.
#[derive(Debug)]
pub(super) struct Airtime(Alternation);

impl Airtime {
    pub(super) fn new(context: &SchedulerContext) -> Airtime {
        Airtime(Alternation::new(context.of))
    }
}

impl Scheduler for Airtime {
    fn turn(&mut self, won: &Won<'_>) -> Turn {
        self.0.turn(won, self.0.is_due(won.now))
    }

    fn downlink(&mut self, offer: &Offer<'_>) -> Vec<usize> {
        let mut order = alike_first(offer.phy, offer.waiting);
        order.truncate(offer.most as usize);
        keep_best(offer, &mut order, |_| 1.0, true);
        order
    }

    fn uplink(&mut self, offer: &Offer<'_>) -> Vec<usize> {
        if !offer.is_known {
            return as_many_as_fit(offer);
        }
        let mut order = alike_first(offer.phy, offer.waiting);
        keep_best(offer, &mut order, |_| 1.0, false);
        order
    }

    fn on_turn(&mut self, now: Time, turn: Turn) {
        self.0.note(now, turn);
    }
}
