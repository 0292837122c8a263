//! The coupled dual queue: when L4S packets and classic ones are served, marked and dropped.
//!
//! Source: RFC 9332 appendix A. The base controller is [PI²](super::pi2). L4S packets are marked by their own queueing
//! delay, a step or a ramp, or by the coupled probability, whichever is greater; the law here sees no packets. Its
//! scheduler is the weighted round robin that the RFC recommends and describes for Linux: credit changes only while both
//! queues have packets, and is forgotten when both are empty.

use lasthop_registry::{ParamError, words};
use lasthop_units::{Duration, Time};

use super::Verdict;
use super::pi2::{self, Overload, Pi2, Recurrence};

words! {
    /// The point at which the base controller drops and marks.
    pub enum Early {
        /// As packets leave.
        Dequeue = "dequeue",
        /// As packets come; the marks by the delay of the L4S queue stay where packets leave. [tc-dualpi2(8), drop_enqueue]
        Enqueue = "enqueue",
    }
}

/// The queue of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// low latency: ECT(1) and CE [RFC 9331 §5]
    L4s,
    /// not ECN-capable, and ECT(0)
    Classic,
}

/// The marks of L4S packets by their own queueing delay: `laqm()`. [RFC 9332 §A.1, Figure 5]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ramp {
    /// `minTh`: delay above which marking begins, far below the target of the classic queue
    pub from: Duration,
    /// `range`: delay in which the probability rises to 1; 0 is a step
    pub range: Duration,
    /// `Th_len`: packets in the queue up to which none is marked
    pub packets: u32,
}

impl Ramp {
    /// The probability of a mark after this delay, as one of `packets`.
    #[inline]
    pub fn probability(&self, delay: Duration, packets: u32) -> f64 {
        if packets <= self.packets || delay <= self.from {
            0.0
        } else if delay >= self.from + self.range {
            1.0
        } else {
            (delay - self.from).as_secs_f64() / self.range.as_secs_f64()
        }
    }
}

/// Settings of a dual queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// of the base controller
    pub pi2: pi2::Settings,
    /// marks by the L4S queue's own delay
    pub ramp: Ramp,
    /// the classic queue's part of the bytes while both queues have packets: the scheduler's weight, enough that it never starves
    /// behind L4S packets that do not answer their marks [RFC 9332 §4.2.2]
    pub classic_share: f64,
    /// backlog of both queues below which the base controller neither drops nor marks, in bytes
    pub least_bytes: u64,
    /// the point at which the base controller drops and marks
    pub early: Early,
}

impl Settings {
    /// Refuses settings that the law cannot work with; `path` is the place of the table.
    ///
    /// # Errors
    /// A setting that [PI²](pi2::Settings::check) refuses, or a queue that is never served.
    pub fn check(&self, path: &str) -> Result<(), ParamError> {
        if !(0.0 < self.classic_share && self.classic_share < 1.0) {
            let message = ("a queue that has no turn is never served", "above 0 and below 1");
            return Err(ParamError::new(format!("{path}.classic_share"), message));
        }
        self.pi2.check(path)
    }
}

/// Facts about both queues, before a packet comes or leaves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Backlogs {
    /// arrival times of the packets at their heads
    pub heads: [Option<Time>; 2],
    /// bytes in both
    pub bytes: u64,
}

/// A packet that comes or leaves.
#[derive(Clone, Copy, Debug)]
pub struct Passing {
    /// its queue
    pub class: Class,
    /// time that it has waited
    pub sojourn: Duration,
    /// packets in its queue, itself included as it leaves
    pub packets: u32,
    /// whether it may be marked
    pub is_capable: bool,
}

/// State of a dual queue.
#[derive(Clone, Copy, Debug)]
pub struct Dual {
    base: Pi2,
    /// `recur()` of the L4S queue and of the classic one
    recurrences: [Recurrence; 2],
    /// bytes that the L4S queue may send before the classic one, weighted by the shares
    credit: f64,
}

impl Dual {
    /// Two queues in their initial state.
    pub fn new(settings: &Settings) -> Self {
        Dual { base: Pi2::new(&settings.pi2), recurrences: [Recurrence::default(); 2], credit: 0.0 }
    }

    /// Makes the updates that were due up to `now`.
    #[inline]
    pub fn catch_up(&mut self, settings: &Settings, now: Time, backlogs: &Backlogs) {
        let [l4s, classic] = backlogs.heads;
        self.base.catch_up(&settings.pi2, now, l4s.into_iter().chain(classic).min());
        if l4s.or(classic).is_none() {
            self.credit = 0.0;
        }
    }

    /// The queue to serve next, if both have packets to choose from.
    #[inline]
    pub fn turn(&self) -> Class {
        if self.credit >= 0.0 { Class::L4s } else { Class::Classic }
    }

    /// Called when a packet of so many bytes has left its queue while the other one had packets to choose from.
    #[inline]
    pub fn served(&mut self, settings: &Settings, class: Class, bytes: u32) {
        let bytes = f64::from(bytes);
        self.credit += match class {
            Class::L4s => -settings.classic_share * bytes,
            Class::Classic => (1.0 - settings.classic_share) * bytes,
        };
    }

    /// The verdict on a packet that comes.
    pub fn on_arrival(&mut self, settings: &Settings, packet: Passing, backlogs: &Backlogs) -> Verdict {
        match settings.early {
            Early::Dequeue => Verdict::Forward,
            Early::Enqueue => self.judge(settings, packet, backlogs, 0.0),
        }
    }

    /// The verdict on a packet that has just left its queue; `backlogs` as they were with it.
    #[inline]
    pub fn on_departure(&mut self, settings: &Settings, packet: Passing, backlogs: &Backlogs) -> Verdict {
        let native = match packet.class {
            Class::L4s => settings.ramp.probability(packet.sojourn, packet.packets),
            Class::Classic => 0.0,
        };
        let saturated =
            settings.pi2.overload == Overload::Drop && self.base.probabilities(&settings.pi2).coupled >= 1.0;
        if settings.ramp.range == Duration::ZERO && native == 1.0 && !saturated {
            // Beyond a step every packet is marked, the first one too.
            return Verdict::Mark;
        }
        match settings.early {
            Early::Dequeue => self.judge(settings, packet, backlogs, native),
            Early::Enqueue if self.recurrences[Class::L4s as usize].recurs(native) => Verdict::Mark,
            Early::Enqueue => Verdict::Forward,
        }
    }

    /// `dualpi2_dequeue()`, with the probability `native` of the L4S queue itself. [RFC 9332 §A.2, Figure 7]
    fn judge(&mut self, settings: &Settings, packet: Passing, backlogs: &Backlogs, native: f64) -> Verdict {
        let mut now = self.base.probabilities(&settings.pi2);
        if backlogs.bytes < settings.least_bytes {
            (now.classic, now.coupled) = (0.0, 0.0);
        }
        let drops = settings.pi2.overload == Overload::Drop;
        let recurrence = &mut self.recurrences[packet.class as usize];
        match packet.class {
            // Lines 8c to 8i.
            Class::L4s if drops && now.coupled >= 1.0 => {
                if recurrence.recurs(now.classic) {
                    Verdict::Drop
                } else if recurrence.recurs(now.coupled) {
                    Verdict::Mark
                } else {
                    Verdict::Forward
                }
            }
            // Lines 6 to 8a.
            Class::L4s if recurrence.recurs(native.max(now.coupled)) => Verdict::Mark,
            // Lines 11 to 16.
            Class::Classic if recurrence.recurs(now.classic) => {
                let overloaded = drops && now.classic >= settings.pi2.classic_max();
                if packet.is_capable && !overloaded { Verdict::Mark } else { Verdict::Drop }
            }
            _ => Verdict::Forward,
        }
    }
}
