//! One server with a queue, Poisson arrivals and exponential service times: the mean time in the system against 1 / (mu
//! - lambda).
//!
//! `cargo run -p lasthop-engine --example queue`

use std::collections::VecDeque;

use lasthop_engine::{Scheduler, Stream};
use lasthop_units::{Duration, Time};

enum Event {
    Arrival,
    Departure,
}

struct Queue {
    events: Scheduler<Event>,
    arrivals: Stream,
    services: Stream,
    /// Arrivals and services a second.
    rates: (f64, f64),
    /// Arrival times of the customers in the system, the one in service first.
    waiting: VecDeque<Time>,
    served: u32,
    spent: Duration,
}

/// A time from the exponential distribution with this rate.
fn exponential(draws: &mut Stream, per_second: f64) -> Duration {
    Duration::from_secs_f64(-libm::log(1.0 - draws.unit()) / per_second)
}

impl Queue {
    fn new(seed: u64, rates: (f64, f64)) -> Queue {
        let (arrivals, services) = (Stream::new(seed, "arrivals", 0), Stream::new(seed, "services", 0));
        let mut events = Scheduler::new();
        events.at(Time::ZERO, Event::Arrival);
        Queue { events, arrivals, services, rates, waiting: VecDeque::new(), served: 0, spent: Duration::ZERO }
    }

    fn run_until(&mut self, end: Time) {
        while let Some((now, event)) = self.events.next_before(end) {
            match event {
                Event::Arrival => self.arrive(now),
                Event::Departure => self.depart(now),
            }
        }
    }

    fn arrive(&mut self, now: Time) {
        self.waiting.push_back(now);
        if self.waiting.len() == 1 {
            self.serve();
        }
        let gap = exponential(&mut self.arrivals, self.rates.0);
        self.events.after(gap, Event::Arrival);
    }

    fn serve(&mut self) {
        let time = exponential(&mut self.services, self.rates.1);
        self.events.after(time, Event::Departure);
    }

    fn depart(&mut self, now: Time) {
        let came = self.waiting.pop_front().expect("someone was served");
        self.served += 1;
        self.spent += now.since(came);
        if !self.waiting.is_empty() {
            self.serve();
        }
    }

    /// Mean time in the system in seconds, over all that have left.
    fn mean(&self) -> f64 {
        self.spent.as_secs_f64() / f64::from(self.served)
    }
}

fn mean_time_in_system(seed: u64) -> f64 {
    let mut queue = Queue::new(seed, (500.0, 1000.0));
    queue.run_until(Time::ZERO + Duration::from_secs(200));
    queue.mean()
}

fn main() {
    println!("simulated: {:.3} ms; 1 / (mu - lambda): 2 ms", 1e3 * mean_time_in_system(1));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100,000 customers. Their times are correlated over some 10 customers at half load, so their mean has a standard
    /// deviation of about 1 %; 5 % is far out.
    #[test]
    fn the_mean_is_that_of_the_formula() {
        assert!((mean_time_in_system(1) / 2e-3 - 1.0).abs() < 0.05);
    }

    #[test]
    fn a_seed_gives_the_same_again() {
        assert_eq!(mean_time_in_system(7), mean_time_in_system(7));
        assert_ne!(mean_time_in_system(7), mean_time_in_system(8));
    }
}
