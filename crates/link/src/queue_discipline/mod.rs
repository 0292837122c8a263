//! Queue disciplines, one file each.

mod backlog;
mod driver;
mod flow_queue;
mod foreign;
pub mod law;
#[cfg(test)]
mod samples;

use lasthop_engine::Stream;
use lasthop_observe::{DropReason, NodeId};
use lasthop_registry::{Amount, ParamError, registry};
use lasthop_units::{Bytes, DataRate, Duration, Time};

use crate::{Packet, PacketMeta};
pub use backlog::{Backlog, Place};
pub use driver::DriverQueue;
pub use foreign::{ForeignQueue, QueueMaker, Ticket};

registry! {
    /// The queue discipline that a scenario chose, with its parameters.
    pub enum QueueDisciplineKind as "queue_discipline" {
        /// First in, first out; drops at the tail.
        fifo => Fifo: source "the default of every system without a better one", status "unit tests";
        /// Drops or marks while the least sojourn time of an interval stays above a target.
        codel => Codel: source "RFC 8289", status "unit tests against the RFC's steps";
        /// Drops or marks arrivals by chance, so that the queueing delay stays at a target.
        pie => Pie: source "RFC 8033", status "unit tests against the RFC's pseudo-code";
        /// Drops or marks arrivals by chance as the average queue grows.
        red => Red: source "Floyd, Jacobson 1993; gentle: Floyd 2000", status "unit tests against the paper's formulas";
        /// Two buffers, for data and for pure TCP ACKs, served in turn.
        split_ack => SplitAck: source "Ha, Choi 2006; hashimoto2008 §III-B", status "unit tests";
        /// First in, first out; of the pure TCP ACKs that wait, drops those that a later one makes superfluous.
        ack_filter => AckFilter: source "Linux sch_cake.c; RFC 3449 §5.2", status "unit tests";
        /// Hashes flows to queues that are served in turn; a full queue drops from the longest.
        sfq => Sfq: source "sch_sfq of Linux 6.18", status "against a naive twin";
        /// A queue with CoDel for each flow, those of sparse flows first.
        fq_codel => FqCodel: source "RFC 8290", status "against a naive twin";
        /// A queue with PIE for each flow, those of sparse flows first.
        fq_pie => FqPie: source "sch_fq_pie of Linux 6.18", status "unit tests";
        /// mac80211's: FQ-CoDel for each station, the stations served by the airtime that they use.
        airtime_fq_codel => AirtimeFqCodel: source "mac80211 of Linux 6.18", status "unit tests";
    }
    foreign: QueueMaker;
    planned:
}

/// A packet that a discipline threw away, and why.
pub type Drop<B> = (Packet<B>, DropReason);

/// Which packets may be taken out: a MAC that fills an A-MPDU takes those of one receiver and TID, out of turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// of this station alone
    pub station: Option<NodeId>,
    /// of this TID alone
    pub tid: Option<u8>,
}

impl Wanted {
    /// Any packet.
    pub const ANY: Wanted = Wanted { station: None, tid: None };

    /// Whether this packet may be taken out.
    #[inline]
    pub fn includes(self, packet: &PacketMeta) -> bool {
        self.is_for(packet.station, packet.tid)
    }

    /// Whether packets of this station and TID may be taken out.
    #[inline]
    pub fn is_for(self, station: NodeId, tid: u8) -> bool {
        self.station.is_none_or(|s| s == station) && self.tid.is_none_or(|t| t == tid)
    }
}

/// What a queue has marked, told once.
#[derive(Clone, Copy, Debug)]
pub struct Marks {
    /// Queues that leave no trace are not asked.
    possible: bool,
    told: u64,
}

impl Marks {
    /// Of `queue`, which is empty yet.
    pub fn of<B>(queue: &dyn QueueDiscipline<B>) -> Marks {
        Marks { possible: !queue.lets_pass(1), told: 0 }
    }

    /// Packets that `queue` has marked since it was last asked.
    #[inline]
    pub fn new_of<B>(&mut self, queue: &dyn QueueDiscipline<B>) -> u64 {
        if !self.possible {
            return 0;
        }
        let marks = queue.marks();
        marks - std::mem::replace(&mut self.told, marks)
    }
}

/// How long a station has used the air, sending or being sent to.
#[derive(Clone, Copy, Debug)]
pub struct AirtimeUse {
    /// whose
    pub station: NodeId,
    /// true where it sent, false where it was sent to
    pub up: bool,
    /// time on the air of one attempt: data, its response, and the spaces between
    pub airtime: Duration,
    /// PHY rate of the data
    pub rate: DataRate,
}

/// Where packets wait. Enqueueing or dequeueing may drop any packet; drops are appended to `dropped`.
pub trait QueueDiscipline<B>: Send {
    /// Takes a packet in, or drops it or another.
    fn enqueue(&mut self, now: Time, packet: Packet<B>, dropped: &mut Vec<Drop<B>>);
    /// The next packet to send of those that are `wanted`, in the discipline's own order among them.
    fn dequeue(&mut self, now: Time, wanted: Wanted, dropped: &mut Vec<Drop<B>>) -> Option<Packet<B>>;
    /// Packets waiting.
    fn packets(&self) -> u32;
    /// Pure TCP ACKs among them.
    fn tcp_acks(&self) -> u32;
    /// Whether a packet of `bytes` would be taken in, unless a law drops it early.
    fn has_room(&self, bytes: u32) -> bool;
    /// Whether a packet of `bytes` would go in and out again as if there were no queue, and leave no trace.
    fn lets_pass(&self, bytes: u32) -> bool {
        let _ = bytes;
        false
    }
    /// Packets marked with CE so far.
    fn marks(&self) -> u64 {
        0
    }
    /// A packet that was taken out is acknowledged or given up. Owed for each: some count what is in flight.
    fn on_done(&mut self, now: Time, packet: &PacketMeta) {
        let _ = (now, packet);
    }
    /// A station has used the air.
    fn on_airtime(&mut self, now: Time, used: &AirtimeUse) {
        let _ = (now, used);
    }
    /// Gives a station `weight` parts of the airtime where others have 256, in a discipline that shares it.
    fn set_weight(&mut self, station: NodeId, weight: u32) {
        let _ = (station, weight);
    }
    /// Whether [`next_station`](Self::next_station) orders stations by a rule of its own; if not, the MAC serves those for
    /// which it holds packets in turn, and that of the discipline's next packet with them.
    fn schedules_stations(&self) -> bool {
        false
    }
    /// Whose turn it is, where the MAC holds packets of the stations `retrying` that want another attempt;
    /// `None`: whoever [`dequeue`](Self::dequeue) chooses. Such packets come first unless a discipline says
    /// otherwise.
    fn next_station(&mut self, now: Time, retrying: &[NodeId]) -> Option<NodeId> {
        let _ = now;
        retrying.first().copied()
    }
}

/// Refuses what the queues of single flows cannot work with.
fn check_flows(flows: u32, quantum: Bytes, path: &str) -> Result<(), ParamError> {
    if flows == 0 || flows > 65_536 {
        return Err(ParamError::new(format!("{path}.flows"), "from 1 to 65536 queues"));
    }
    if quantum.0 == 0 || quantum.0 > 1 << 20 {
        return Err(ParamError::new(format!("{path}.quantum"), "from 1 B to 1 MiB; a full-size frame has 1514 B"));
    }
    Ok(())
}

/// Refuses a limit that lets nothing in.
fn check_limit(limit: Amount, path: &str) -> Result<(), ParamError> {
    if matches!(limit, Amount::Packets(0) | Amount::Bytes(0)) {
        return Err(ParamError::new(
            format!("{path}.limit"),
            "a queue without room drops everything; at least 1 packet",
        ));
    }
    Ok(())
}

impl QueueDisciplineKind {
    /// Whether it says which station is next; see [`QueueDiscipline::schedules_stations`].
    pub fn schedules_stations(&self) -> bool {
        self.build::<()>(Stream::new(0, "queue", 0)).schedules_stations()
    }

    /// A queue of this kind above a driver that takes `driver_packets` packets, what the MAC holds included; 0: none.
    pub fn build_above<B: Send + 'static>(&self, driver_packets: u32, random: Stream) -> Box<dyn QueueDiscipline<B>> {
        match driver_packets {
            0 => self.build(random),
            packets => Box::new(DriverQueue::new(self.build(random), packets)),
        }
    }

    /// An empty queue of this kind; what it draws comes from `random`.
    pub fn build<B: Send + 'static>(&self, random: Stream) -> Box<dyn QueueDiscipline<B>> {
        match self {
            QueueDisciplineKind::Fifo(params) => Box::new(fifo::Fifo::new(params)),
            QueueDisciplineKind::Codel(params) => Box::new(codel::Codel::new(params)),
            QueueDisciplineKind::SplitAck(params) => Box::new(split_ack::SplitAck::new(params)),
            QueueDisciplineKind::AckFilter(params) => Box::new(ack_filter::AckFilter::new(params)),
            QueueDisciplineKind::Red(params) => Box::new(red::Red::new(params, random)),
            QueueDisciplineKind::Pie(params) => Box::new(pie::Pie::new(params, random)),
            QueueDisciplineKind::Sfq(params) => Box::new(sfq::Sfq::new(params, random)),
            QueueDisciplineKind::FqCodel(params) => Box::new(fq_codel::FqCodel::new(params, random)),
            QueueDisciplineKind::FqPie(params) => Box::new(fq_pie::FqPie::new(params, random)),
            QueueDisciplineKind::AirtimeFqCodel(params) => {
                Box::new(airtime_fq_codel::AirtimeFqCodel::new(params, random))
            }
            QueueDisciplineKind::Foreign(it) => Box::new(ForeignQueue::new(it.maker()(random))),
        }
    }
}
