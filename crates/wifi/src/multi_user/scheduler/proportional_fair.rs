//! Proportional fairness: the stations whose rates are highest in relation to the throughput that they have had.
//!
//! ```text
//! metric of a station: r / T                                                  [Viswanath, Tse, Laroia 2002 §II]
//! T(t) = T(t0) exp(-(t - t0) / average),    and at a grant of b bytes    T <- T + b / average
//!
//! r: rate of its mode on the whole channel;    T: its average throughput in bytes/s
//! t0: time of its last grant;    average: time constant, the paper's t_c; a longer one waits longer for a good rate
//! ```
//! Stations join in the order of the metric, as many as raise the sum of `b / T` over the time of the exchange: in the long
//! run that maximises the sum of the logarithms of throughputs. Bytes count when they are granted, whether they arrive or
//! not. The queue decides nothing but the packets of a station. Questions are those of `airtime`.

use lasthop_registry::params;
use lasthop_units::{Duration, Time};

use super::alternation::Alternation;
use super::fit::keep_best;
use super::{Offer, Scheduler, SchedulerContext, Turn, Waiting, Won};

/// Time constant of averages, unless the scenario has one.
pub const AVERAGE: Duration = Duration::from_millis(100);

params! {
    /// It has none of its own.
    pub struct Params {}
}

/// Average throughput of a station in bytes a second, at a time.
#[derive(Clone, Copy, Debug)]
struct Average {
    /// `T(t0)`
    rate: f64,
    /// `t0`
    at: Time,
}

/// The scheduler.
#[derive(Debug)]
pub(super) struct ProportionalFair {
    turns: Alternation,
    /// The time constant in seconds.
    average: f64,
    /// `T` of each station, by its place.
    stations: Vec<Average>,
}

impl ProportionalFair {
    pub(super) fn new(context: &SchedulerContext) -> ProportionalFair {
        let stations = vec![Average { rate: 0.0, at: Time::ZERO }; context.stations];
        let average = context.of.average.unwrap_or(AVERAGE).as_secs_f64();
        ProportionalFair { turns: Alternation::new(context.of), average, stations }
    }

    /// The average throughput of a station; never zero.
    fn throughput(&self, now: Time, place: usize) -> f64 {
        let of = self.stations[place];
        let decayed = of.rate * libm::exp(-now.since(of.at).as_secs_f64() / self.average);
        decayed.max(1.0)
    }

    fn choose(&self, offer: &Offer<'_>, may_be_one: bool) -> Vec<usize> {
        let weight = |user: &Waiting| 1.0 / self.throughput(offer.now, user.place);
        let metric = |user: usize| {
            let user = &offer.waiting[user];
            offer.phy.mode(user.mode).rate.as_bps() as f64 * weight(user)
        };
        let mut order: Vec<usize> = (0..offer.waiting.len()).collect();
        order.sort_by(|a, b| metric(*b).total_cmp(&metric(*a)));
        keep_best(offer, &mut order, weight, may_be_one);
        order
    }
}

impl Scheduler for ProportionalFair {
    fn turn(&mut self, won: &Won<'_>) -> Turn {
        self.turns.turn(won, self.turns.is_due(won.now))
    }
    fn downlink(&mut self, offer: &Offer<'_>) -> Vec<usize> {
        self.choose(offer, true)
    }
    fn uplink(&mut self, offer: &Offer<'_>) -> Vec<usize> {
        self.choose(offer, false)
    }
    fn on_turn(&mut self, now: Time, turn: Turn) {
        self.turns.note(now, turn);
    }
    fn on_grant(&mut self, now: Time, place: usize, bytes: u64) {
        let rate = self.throughput(now, place) + bytes as f64 / self.average;
        self.stations[place] = Average { rate, at: now };
    }
}
