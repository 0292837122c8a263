//! PI², the base controller of a coupled dual queue: one probability for two queues.
//!
//! Source: RFC 9332 appendix A, with the edge cases of A.2. There is no timer: updates that are due are made at the next
//! packet, on a grid of `t_update` from the start of the run, by the packets that were at the heads of the queues at
//! the time of the update.
//!
//! ```text
//!  curq: delay of the queues at this update; prevq: at the one before; target: delay to keep
//!  p'   = p' + alpha * (curq - target) + beta * (curq - prevq)     every t_update, kept in [0, 1]
//!  p_CL = k * p'                                                   marks of L4S packets, coupled
//!  p_C  = p'^2                                                     drops, or marks, of classic packets
//! ```
//! The square is the coupling: the rate of a classic sender goes with 1/sqrt(p_C) = 1/p', the rate of a scalable one with
//! 1/p_CL = 1/(k p'), so both get about the same rate at one bottleneck. [RFC 9332 §2.1]

use lasthop_registry::{ParamError, words};
use lasthop_units::{Duration, Time};

words! {
    /// The behaviour while the coupled probability is at its top.
    pub enum Overload {
        /// Packets of both queues are dropped with the classic probability, whatever their ECN field. [RFC 9332 §A.2]
        Drop = "drop",
        /// The probability stops where all L4S packets are marked: the queue then grows to its limit. [tc-dualpi2(8), overflow]
        Mark = "mark",
    }
}

/// Settings of the law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// `target`: queueing delay to keep in the classic queue [RFC 9332 §A.1]
    pub target: Duration,
    /// `Tupdate`: time between updates of the probability [RFC 9332 §A.1]
    pub t_update: Duration,
    /// `alpha`: integral gain in Hz, what an update adds to p' for each second of delay beyond the target: in the long
    /// run it removes the difference [RFC 9332 §A.1]
    pub alpha: f64,
    /// `beta`: proportional gain in Hz, what an update adds for each second by which the delay has grown since the last one: it
    /// answers a queue that builds up before it is long [RFC 9332 §A.1]
    pub beta: f64,
    /// `k`: coupling factor, p_CL over p'; 2 for rates that are about equal at RTTs that are about equal [RFC 9332 §2.1]
    pub coupling: f64,
    /// behaviour while the coupled probability is at its top
    pub overload: Overload,
}

impl Settings {
    /// Refuses settings that the law cannot work with; `path` is the place of the table.
    ///
    /// # Errors
    /// A target of no time, updates without end, a negative gain, or a coupling that is not at least 1.
    pub fn check(&self, path: &str) -> Result<(), ParamError> {
        super::check_pi(path, self.target, self.t_update, [self.alpha, self.beta])?;
        if !(1.0..=64.0).contains(&self.coupling) {
            return Err(ParamError::new(format!("{path}.coupling"), "from 1 to 64"));
        }
        Ok(())
    }

    /// `p_Cmax`: the classic probability from which the queue is overloaded. [RFC 9332 §A.1, line 11]
    pub fn classic_max(&self) -> f64 {
        1.0 / (self.coupling * self.coupling)
    }
}

/// The probabilities that follow from the base probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probabilities {
    /// `p_C`: of a drop, or a mark, in the classic queue
    pub classic: f64,
    /// `p_CL`: of a mark in the L4S queue
    pub coupled: f64,
}

/// State of the controller.
#[derive(Clone, Copy, Debug)]
pub struct Pi2 {
    /// `p'`: the base probability, from 0 to 1; its square and its `k`-fold are those that act [RFC 9332 §2.1, §A.1]
    base: f64,
    /// `prevq`: the queueing delay at the last update, in seconds [RFC 9332 §A.1]
    delay_old_s: f64,
    /// when the next update is due, a multiple of `Tupdate`
    next_update: Time,
}

impl Pi2 {
    /// A controller in its initial state.
    pub fn new(settings: &Settings) -> Self {
        Pi2 { base: 0.0, delay_old_s: 0.0, next_update: Time::ZERO + settings.t_update }
    }

    /// The base probability, `p'`.
    pub fn base(&self) -> f64 {
        self.base
    }

    /// The probabilities at present. [RFC 9332 §A.1, Figure 8]
    pub fn probabilities(&self, settings: &Settings) -> Probabilities {
        Probabilities { classic: self.base * self.base, coupled: settings.coupling * self.base }
    }

    /// Makes the updates that were due up to `now`; meanwhile the older of the packets at the heads of the queues, if
    /// there is one, has waited since `head`.
    #[inline]
    pub fn catch_up(&mut self, settings: &Settings, now: Time, head: Option<Time>) {
        while now >= self.next_update {
            let at = self.next_update;
            self.update(settings, head.map_or(0.0, |since| at.since(since).as_secs_f64()));
            self.next_update += settings.t_update;
            if head.is_none() && self.base == 0.0 && self.delay_old_s == 0.0 && now >= self.next_update {
                // An empty queue with a probability of 0 stays as it is.
                let missed = now.since(self.next_update).div_floor(settings.t_update) + 1;
                self.next_update += settings.t_update * missed;
            }
        }
    }

    /// `dualpi2_update()`. [RFC 9332 §A.2, Figure 8]
    fn update(&mut self, settings: &Settings, delay_s: f64) {
        let from_target = settings.alpha * (delay_s - settings.target.as_secs_f64());
        let since_last = settings.beta * (delay_s - self.delay_old_s);
        let most = if settings.overload == Overload::Drop { 1.0 } else { 1.0 / settings.coupling };
        self.base = (self.base + from_target + since_last).clamp(0.0, most);
        self.delay_old_s = delay_s;
    }
}

/// Spreads the events of a probability evenly: `recur()`. [RFC 9332 §A.1, Figure 4]
#[derive(Clone, Copy, Debug, Default)]
pub struct Recurrence {
    /// `count`: the sum of likelihoods since the last event, which one above 1 makes; less random than draws, with the same mean
    count: f64,
}

impl Recurrence {
    /// Returns true with a `likelihood`, counted over all calls.
    #[inline]
    pub fn recurs(&mut self, likelihood: f64) -> bool {
        self.count += likelihood;
        let recurs = self.count > 1.0;
        if recurs {
            self.count -= 1.0;
        }
        recurs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        let (target, t_update) = (Duration::from_millis(15), Duration::from_millis(16));
        Settings { target, t_update, alpha: 0.16, beta: 3.2, coupling: 2.0, overload: Overload::Drop }
    }

    fn ms(x: u64) -> Time {
        Time::ZERO + Duration::from_millis(x)
    }

    #[test]
    fn the_probability_follows_the_pseudo_code() {
        // The packet at the head came at 1 ms: 15 ms at the first update, 31 ms at the second.
        // 0.16*0 + 3.2*15 ms = 0.048; then 0.16*16 ms + 3.2*16 ms = 0.05376 more.
        let mut law = Pi2::new(&settings());
        law.catch_up(&settings(), ms(16), Some(ms(1)));
        assert!((law.base() - 0.048).abs() < 1e-15);
        law.catch_up(&settings(), ms(47), Some(ms(1)));
        assert!((law.base() - 0.10176).abs() < 1e-15);
        let Probabilities { classic, coupled } = law.probabilities(&settings());
        assert_eq!((classic, coupled), (law.base() * law.base(), 2.0 * law.base()));
    }

    #[test]
    fn it_is_kept_between_none_and_all() {
        let mut law = Pi2::new(&settings());
        law.catch_up(&settings(), ms(160), None);
        assert_eq!(law.base(), 0.0);
        law.catch_up(&settings(), ms(2_000), Some(ms(160)));
        assert_eq!(law.base(), 1.0);
        // Where overload only marks, it stops where all L4S packets are marked.
        let marks = Settings { overload: Overload::Mark, ..settings() };
        law = Pi2::new(&marks);
        law.catch_up(&marks, ms(2_000), Some(ms(0)));
        assert_eq!(law.probabilities(&marks), Probabilities { classic: 0.25, coupled: 1.0 });
    }

    #[test]
    fn updates_missed_are_the_updates_made() {
        let (mut stepped, mut late) = (Pi2::new(&settings()), Pi2::new(&settings()));
        for law in [&mut stepped, &mut late] {
            law.catch_up(&settings(), ms(100), Some(ms(2)));
        }
        for step in 1..=50_000 {
            stepped.catch_up(&settings(), ms(100 + step), None);
        }
        late.catch_up(&settings(), ms(50_100), None);
        assert_eq!(format!("{stepped:?}"), format!("{late:?}"));
    }

    #[test]
    fn events_of_a_probability_are_spread_evenly() {
        let mut recurrence = Recurrence::default();
        let at: Vec<u32> = (1..=20).filter(|_| recurrence.recurs(0.25)).collect();
        // It must exceed 1: the first one comes with the fifth call.
        assert_eq!(at, [5, 9, 13, 17]);
    }
}
