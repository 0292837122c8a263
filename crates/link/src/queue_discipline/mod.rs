//! Queue disciplines, one file each.

mod backlog;
mod below;
mod bounds;
mod by_class;
mod driver;
mod flow_queue;
mod foreign;
mod hardware;
mod interface;
mod l4s;
pub mod law;
mod one_backlog;
#[cfg(test)]
pub(crate) mod samples;
mod txqs;

use lasthop_engine::Stream;
use lasthop_registry::registry;

pub use backlog::{Backlog, Slot};
pub use below::{AirtimeSource, Below, Held, Serving};
pub(crate) use bounds::has_room;
pub use by_class::{ByClass, ClassUse, Service};
pub use driver::DriverQueue;
pub use foreign::{ForeignQueue, QueueMaker, Ticket};
pub use hardware::HardwareQueues;
pub use interface::{AirtimeUse, Drop, Marks, QueueDiscipline, Wanted};
pub use l4s::L4s;

registry! {
    /// The queue discipline that a scenario chose, with its parameters.
    pub enum QueueDisciplineKind as "queue_discipline" {
        /// First in, first out, with drops at the tail.
        fifo => Fifo: source "the default of every system without a better one", status "unit tests";
        /// Drops or marks while the least sojourn time of an interval stays above a target.
        codel => Codel: source "RFC 8289", status "unit tests against the RFC's steps";
        /// Drops or marks arrivals at random to keep the queueing delay at a target.
        pie => Pie: source "RFC 8033", status "unit tests against the RFC's pseudo-code";
        /// Drops or marks arrivals at random, more often as the average queue grows.
        red => Red: source "Floyd, Jacobson 1993; gentle: Floyd 2000", status "unit tests against the paper's formulas";
        /// A queue for L4S packets with marks at a shallow threshold, and one for the others, coupled by PI².
        dualpi2 => DualPi2: source "RFC 9332", status "against a naive twin of the RFC's pseudo-code";
        /// Two buffers, for data and for pure TCP ACKs, served in turn.
        split_ack => SplitAck: source "Ha, Choi 2006; hashimoto2008 §III-B", status "unit tests";
        /// First in, first out; drops queued pure TCP ACKs that a later one makes redundant.
        ack_filter => AckFilter: source "Linux sch_cake.c; RFC 3449 §5.2", status "unit tests";
        /// Hashes flows to queues served in turn; drops from the longest when full.
        sfq => Sfq: source "sch_sfq of Linux 6.18", status "against a naive twin";
        /// One queue with CoDel for each flow; sparse flows go first.
        fq_codel => FqCodel: source "RFC 8290", status "against a naive twin";
        /// A shaper with classes by DSCP, fairness between hosts and flows, and COBALT.
        cake => Cake: source "Høiland-Jørgensen 2018; tc-cake(8)", status "against a naive twin and sch_cake of Linux 6.1";
        /// One queue with PIE for each flow; sparse flows go first.
        fq_pie => FqPie: source "sch_fq_pie of Linux 6.18", status "unit tests";
        /// FQ-CoDel for each station, with stations served in turn, as in mac80211 without airtime.
        fq_mac => FqMac: source "Høiland-Jørgensen 2017; mac80211 of Linux 4.10", status "against the paper's model";
        /// FQ-CoDel for each station, with stations scheduled by airtime, as in mac80211.
        airtime_fq_codel => AirtimeFqCodel: source "mac80211 of Linux 6.18", status "unit tests";
    }
    foreign: QueueMaker, plain_fifo;
    code: Python;
    planned:
}

fn plain_fifo(random: Stream) -> Box<dyn QueueDiscipline<Ticket>> {
    QueueDisciplineKind::Fifo(fifo::Params::default()).build(random)
}

impl QueueDisciplineKind {
    /// Returns whether it treats pure TCP ACKs unlike other packets.
    pub fn treats_acks_apart(&self) -> bool {
        match self {
            QueueDisciplineKind::SplitAck(_) | QueueDisciplineKind::AckFilter(_) => true,
            QueueDisciplineKind::Cake(params) => params.ack_filter != cake::AckFilter::Off,
            _ => false,
        }
    }

    /// Returns whether it hashes the numbers of hosts, which are others in a run of a part of a scenario.
    pub fn hashes_hosts(&self) -> bool {
        use cake::Isolation::{Dsthost, Hosts, Srchost};
        matches!(self, QueueDisciplineKind::Cake(params) if matches!(params.isolation, Srchost | Dsthost | Hosts))
    }

    /// Returns whether it chooses the next station; see [`QueueDiscipline::schedules_stations`].
    pub fn schedules_stations(&self) -> bool {
        self.build::<()>(Stream::new(0, "queue", 0)).schedules_stations()
    }

    /// Returns whether it shares airtime; see [`QueueDiscipline::shares_airtime`].
    pub fn shares_airtime(&self) -> bool {
        self.build::<()>(Stream::new(0, "queue", 0)).shares_airtime()
    }

    /// A queue of this kind above a driver.
    pub fn build_above<B: Send + 'static>(&self, below: Below, random: Stream) -> Box<dyn QueueDiscipline<B>> {
        let mut above = self.build(random);
        let Below { held, airtime } = below;
        // mt76: `MT_MAX_NON_AQL_PKT`.
        let has_firmware = held.is_some_and(|held| held.serving != Serving::Fifo);
        above.set_airtime(airtime, if has_firmware { 16 } else { u32::MAX });
        match held {
            None => above,
            Some(Held { packets, serving: Serving::Fifo }) => Box::new(DriverQueue::new(above, packets)),
            Some(Held { packets, serving }) => {
                Box::new(HardwareQueues::new(above, packets, serving == Serving::EachInTurn))
            }
        }
    }

    /// An empty queue of this kind; its random numbers come from `random`.
    pub fn build<B: Send + 'static>(&self, random: Stream) -> Box<dyn QueueDiscipline<B>> {
        match self {
            QueueDisciplineKind::Fifo(params) => Box::new(fifo::Fifo::new(params)),
            QueueDisciplineKind::Codel(params) => Box::new(codel::Codel::new(params)),
            QueueDisciplineKind::SplitAck(params) => Box::new(split_ack::SplitAck::new(params)),
            QueueDisciplineKind::AckFilter(params) => Box::new(ack_filter::AckFilter::new(params)),
            QueueDisciplineKind::Red(params) => Box::new(red::Red::new(params, random)),
            QueueDisciplineKind::Pie(params) => Box::new(pie::Pie::new(params, random)),
            QueueDisciplineKind::DualPi2(params) => Box::new(dualpi2::DualPi2::new(params)),
            QueueDisciplineKind::Sfq(params) => Box::new(sfq::Sfq::new(params, random)),
            QueueDisciplineKind::FqCodel(params) => Box::new(fq_codel::FqCodel::new(params, random)),
            QueueDisciplineKind::Cake(params) => Box::new(cake::Cake::new(params, random)),
            QueueDisciplineKind::FqPie(params) => Box::new(fq_pie::FqPie::new(params, random)),
            QueueDisciplineKind::FqMac(params) => Box::new(fq_mac::FqMac::new(params, random)),
            QueueDisciplineKind::AirtimeFqCodel(params) => {
                Box::new(airtime_fq_codel::AirtimeFqCodel::new(params, random))
            }
            QueueDisciplineKind::Foreign(it) => Box::new(ForeignQueue::new(it.maker()(random))),
        }
    }
}
