//! The interface of queue disciplines: the trait, and its arguments.

use lasthop_observe::{DropReason, NodeId};
use lasthop_registry::Amount;
use lasthop_units::{DataRate, Duration, Time};

use super::below::AirtimeSource;
use super::by_class::ByClass;
use crate::{Packet, PacketMeta};

/// A packet that a discipline dropped, with the reason.
pub type Drop<B> = (Packet<B>, DropReason);

/// The packets that may be taken out: a MAC that fills an A-MPDU takes those of one receiver and TID, out of order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// only packets of this station
    pub station: Option<NodeId>,
    /// only packets of this TID
    pub tid: Option<u8>,
}

impl Wanted {
    /// Any packet.
    pub const ANY: Wanted = Wanted { station: None, tid: None };

    /// Returns whether this packet may be taken out.
    #[inline]
    pub fn includes(self, packet: &PacketMeta) -> bool {
        self.is_for(packet.station, packet.tid)
    }

    /// Returns whether packets of this station and TID may be taken out.
    #[inline]
    pub fn is_for(self, station: NodeId, tid: u8) -> bool {
        self.station.is_none_or(|s| s == station) && self.tid.is_none_or(|t| t == tid)
    }
}

/// Reports each mark of a queue once.
#[derive(Clone, Copy, Debug)]
pub struct Marks {
    /// False for queues that leave no trace, which never mark.
    possible: bool,
    told: u64,
}

impl Marks {
    /// The marks of `queue`, which is still empty.
    pub fn of<B>(queue: &dyn QueueDiscipline<B>) -> Marks {
        Marks { possible: !queue.lets_pass(1), told: 0 }
    }

    /// Number of packets that `queue` has marked since the last call.
    #[inline]
    pub fn new_of<B>(&mut self, queue: &dyn QueueDiscipline<B>) -> u64 {
        if !self.possible {
            return 0;
        }
        let marks = queue.marks();
        marks - std::mem::replace(&mut self.told, marks)
    }
}

/// Airtime of a station, in either direction.
#[derive(Clone, Copy, Debug)]
pub struct AirtimeUse {
    /// the station
    pub station: NodeId,
    /// true if it sent, false if it received
    pub up: bool,
    /// time on the air of one attempt: data, its response, and the spaces between
    pub airtime: Duration,
    /// PHY rate of the data
    pub rate: DataRate,
}

/// A queue of packets. Enqueueing or dequeueing may drop any packet; drops are appended to `dropped`.
pub trait QueueDiscipline<B>: Send {
    /// Accepts a packet, or drops it or another one.
    fn enqueue(&mut self, now: Time, packet: Packet<B>, dropped: &mut Vec<Drop<B>>);
    /// The next packet to send of those that are `wanted`, in the discipline's order.
    fn dequeue(&mut self, now: Time, wanted: Wanted, dropped: &mut Vec<Drop<B>>) -> Option<Packet<B>>;
    /// The number of packets waiting that are `wanted`, up to `most`. A discipline that does not know gives 0.
    fn waiting_for(&self, wanted: Wanted, most: usize) -> usize {
        if wanted == Wanted::ANY { most.min(self.packets() as usize) } else { 0 }
    }
    /// The time before which none of the packets that wait may leave, if a shaper holds them; [`dequeue`](Self::dequeue) gives none before it.
    fn ready_at(&self) -> Option<Time> {
        None
    }
    /// Returns whether it may ever hold packets until [`ready_at`](Self::ready_at).
    fn is_shaped(&self) -> bool {
        false
    }
    /// Packets waiting.
    fn packets(&self) -> u32;
    /// Pure TCP ACKs among them.
    fn tcp_acks(&self) -> u32;
    /// Both: [`packets`](Self::packets) and [`tcp_acks`](Self::tcp_acks).
    fn occupancy(&self) -> (u32, u32) {
        (self.packets(), self.tcp_acks())
    }
    /// Returns whether a packet of `bytes` would be accepted, apart from early drops.
    fn has_room(&self, bytes: u32) -> bool;
    /// Returns whether a packet of `bytes` would go in and out as if there were no queue, and leave no trace.
    fn lets_pass(&self, bytes: u32) -> bool {
        let _ = bytes;
        false
    }
    /// The limit of a plain FIFO that drops packets beyond it: packets leave in the order of arrival, so a caller that
    /// knows their time of departure need not enqueue them.
    fn plain_limit(&self) -> Option<Amount> {
        None
    }
    /// Packets marked with CE so far.
    fn marks(&self) -> u64 {
        0
    }
    /// Waits and marks by class since the last [`start`](Self::start), if it treats L4S packets unlike others.
    fn by_class(&self) -> Option<&ByClass> {
        None
    }
    /// Resets [`by_class`](Self::by_class).
    fn start(&mut self) {}
    /// Called once for each packet that was taken out, when it is acknowledged or given up: some disciplines count
    /// packets in flight.
    fn on_done(&mut self, now: Time, packet: &PacketMeta) {
        let _ = (now, packet);
    }
    /// Called when a station has used the air, if it [shares airtime](Self::shares_airtime).
    fn on_airtime(&mut self, now: Time, used: &AirtimeUse) {
        let _ = (now, used);
    }
    /// Gives a station `weight` parts of the airtime, with a default of 256, in a discipline that shares it.
    fn set_weight(&mut self, station: NodeId, weight: u32) {
        let _ = (station, weight);
    }
    /// Sets the delay that a law keeps, from now on; a discipline without such a law ignores it.
    fn set_target(&mut self, target: Duration) {
        let _ = target;
    }
    /// Returns whether [`next_station`](Self::next_station) orders stations by its own rule; if not, the MAC serves in
    /// turn the stations for which it holds packets, and with them that of the discipline's next packet.
    fn schedules_stations(&self) -> bool {
        false
    }
    /// Returns whether it schedules stations by their airtime and weights: only then are those reported to it.
    fn shares_airtime(&self) -> bool {
        self.schedules_stations()
    }
    /// Notes the airtime that the driver below makes known, and the most packets that a station may have with the MAC
    /// before its first rate is known.
    fn set_airtime(&mut self, source: AirtimeSource, unrated: u32) {
        let _ = (source, unrated);
    }
    /// Passes packets to the hardware as long as it has room; returns the number of those that the MAC may take now.
    fn pass_down(&mut self, now: Time, dropped: &mut Vec<Drop<B>>) -> u32 {
        let _ = (now, dropped);
        self.packets()
    }
    /// Returns whether the hardware below has room, and no packet waits for it: then a driver takes packets from sockets.
    fn asks_sockets(&self) -> bool {
        false
    }
    /// The reason why this queue cannot continue, if external code has failed and left the run.
    fn failure(&self) -> Option<&str> {
        None
    }
    /// The stations with packets that may be sent, in the order of their turns, if it orders them; their turns do not change.
    fn next_stations(&self, found: &mut Vec<NodeId>) {
        let _ = found;
    }
    /// The station whose turn it is, if the MAC holds packets of the stations `retrying` that need another attempt;
    /// `None`: the choice of [`dequeue`](Self::dequeue). By default such packets come first.
    fn next_station(&mut self, now: Time, retrying: &[NodeId]) -> Option<NodeId> {
        let _ = now;
        retrying.first().copied()
    }
}
