//! The packets that hardware holds for each receiver, below a queue discipline.
//!
//! ```text
//!  discipline ──► packets of receiver 1 ──┐
//!             ──► packets of receiver 2 ──┼──► the receiver whose turn it is ──► MAC
//!             ──► …                     ──┘
//!                 with those that the MAC holds: N at most, for each or in all
//! ```
//!
//! It models drivers whose firmware makes the A-MPDU when it wins the medium. The driver passes packets down as long as
//! there is room; the firmware serves receivers in turn, each with one A-MPDU, or one frame where none are made. A
//! receiver is a station and a TID. A packet counts until its completion is reported.

use std::collections::{BTreeMap, VecDeque};

use lasthop_observe::NodeId;
use lasthop_units::{Duration, Time};

use super::by_class::ByClass;
use super::interface::{AirtimeUse, Drop, QueueDiscipline, Wanted};
use crate::{Packet, PacketMeta};

/// The packets for a station and TID.
struct Receiver<B> {
    station: NodeId,
    tid: u8,
    packets: VecDeque<Packet<B>>,
    /// Number of packets that the MAC has taken out and not reported.
    with_mac: u32,
    /// True if it waits for its turn.
    in_round: bool,
    /// True if it may have room for packets that wait above.
    is_due: bool,
}

/// A queue discipline with the queues of hardware below it.
pub struct HardwareQueues<B> {
    above: Box<dyn QueueDiscipline<B>>,
    limit: u32,
    /// True if the limit is for each receiver, not for all.
    for_each: bool,
    receivers: Vec<Receiver<B>>,
    place_of: BTreeMap<(NodeId, u8), u32>,
    /// receivers that wait for their turn
    round: VecDeque<u32>,
    /// receivers that may have room
    due: Vec<u32>,
    packets: u32,
    tcp_acks: u32,
    with_mac: u32,
    /// True if the discipline above may hold packets back.
    is_shaped: bool,
}

impl<B> HardwareQueues<B> {
    /// Empty queues of `limit` packets in all, or for each receiver, below `above`.
    ///
    /// # Panics
    /// If `limit` is 0: no packet would ever pass.
    pub fn new(above: Box<dyn QueueDiscipline<B>>, limit: u32, for_each: bool) -> Self {
        assert!(limit > 0, "hardware has room for a packet");
        HardwareQueues {
            is_shaped: above.is_shaped(),
            above,
            limit,
            for_each,
            receivers: Vec::new(),
            place_of: BTreeMap::new(),
            round: VecDeque::new(),
            due: Vec::new(),
            packets: 0,
            tcp_acks: 0,
            with_mac: 0,
        }
    }

    /// The place of the receiver of a packet.
    fn place(&mut self, packet: &PacketMeta) -> u32 {
        let (station, tid) = (packet.station, packet.tid);
        let next = self.receivers.len() as u32;
        let place = *self.place_of.entry((station, tid)).or_insert(next);
        if place == next {
            let packets = VecDeque::new();
            self.receivers.push(Receiver { station, tid, packets, with_mac: 0, in_round: false, is_due: false });
        }
        place
    }

    fn is_full(&self, place: u32) -> bool {
        let of = &self.receivers[place as usize];
        let held = if self.for_each { of.packets.len() as u32 + of.with_mac } else { self.packets + self.with_mac };
        held >= self.limit
    }

    /// Lets a receiver take packets from above at the next call.
    fn make_due(&mut self, place: u32) {
        if !std::mem::replace(&mut self.receivers[place as usize].is_due, true) {
            self.due.push(place);
        }
    }

    /// Puts a receiver at the end of the round, unless it is in the round.
    fn line_up(&mut self, place: u32) {
        if !std::mem::replace(&mut self.receivers[place as usize].in_round, true) {
            self.round.push_back(place);
        }
    }

    /// Holds a packet that came from above.
    fn hold(&mut self, packet: Packet<B>) {
        let place = self.place(&packet.meta);
        self.packets += 1;
        self.tcp_acks += u32::from(packet.meta.pure_ack);
        self.receivers[place as usize].packets.push_back(packet);
        self.line_up(place);
    }

    /// Takes packets from above as long as there is room.
    fn refill(&mut self, now: Time, dropped: &mut Vec<Drop<B>>) {
        if self.is_shaped && self.for_each {
            // The order of those that the shaper lets go is the discipline's: they wait for a full receiver.
            while !self.any_full()
                && let Some(packet) = self.above.dequeue(now, Wanted::ANY, dropped)
            {
                self.hold(packet);
            }
            return;
        }
        if self.for_each {
            while let Some(place) = self.due.pop() {
                self.refill_receiver(now, place, dropped);
            }
            return;
        }
        while self.packets + self.with_mac < self.limit
            && let Some(packet) = self.above.dequeue(now, Wanted::ANY, dropped)
        {
            self.hold(packet);
        }
    }

    fn refill_receiver(&mut self, now: Time, place: u32, dropped: &mut Vec<Drop<B>>) {
        let of = &mut self.receivers[place as usize];
        of.is_due = false;
        let wanted = Wanted { station: Some(of.station), tid: Some(of.tid) };
        while !self.is_full(place)
            && let Some(packet) = self.above.dequeue(now, wanted, dropped)
        {
            self.hold(packet);
        }
    }

    /// Returns whether a receiver has no room.
    fn any_full(&self) -> bool {
        (0..self.receivers.len() as u32).any(|place| self.is_full(place))
    }

    /// The receivers that are `wanted`.
    fn wanted(&self, wanted: Wanted) -> impl Iterator<Item = u32> {
        let (first, last) = match wanted.station {
            Some(station) => (station, station),
            None => (NodeId(0), NodeId(u32::MAX)),
        };
        let of = self.place_of.range((first, 0)..=(last, u8::MAX));
        of.filter(move |((_, tid), _)| wanted.tid.is_none_or(|only| only == *tid)).map(|(_, place)| *place)
    }

    /// The receiver whose turn it is, of those with packets or a station that `retries`; it goes to the end of the round.
    fn turn(&mut self, wanted: Wanted, retries: &[NodeId]) -> Option<u32> {
        for _ in 0..self.round.len() {
            let place = self.round.pop_front()?;
            let of = &mut self.receivers[place as usize];
            if of.packets.is_empty() && !retries.contains(&of.station) {
                of.in_round = false;
                continue;
            }
            self.round.push_back(place);
            if wanted.is_for(self.receivers[place as usize].station, self.receivers[place as usize].tid) {
                return Some(place);
            }
        }
        None
    }

    fn take(&mut self, place: u32) -> Option<Packet<B>> {
        let of = &mut self.receivers[place as usize];
        let packet = of.packets.pop_front()?;
        of.with_mac += 1;
        self.with_mac += 1;
        self.packets -= 1;
        self.tcp_acks -= u32::from(packet.meta.pure_ack);
        Some(packet)
    }
}

impl<B: Send> QueueDiscipline<B> for HardwareQueues<B> {
    fn enqueue(&mut self, now: Time, packet: Packet<B>, dropped: &mut Vec<Drop<B>>) {
        self.refill(now, dropped);
        let place = self.place(&packet.meta);
        self.above.enqueue(now, packet, dropped);
        if self.for_each {
            self.make_due(place);
        }
        self.refill(now, dropped);
    }

    fn dequeue(&mut self, now: Time, wanted: Wanted, dropped: &mut Vec<Drop<B>>) -> Option<Packet<B>> {
        self.refill(now, dropped);
        let place = match wanted.station {
            // An A-MPDU takes packets of the receiver that had its turn.
            Some(_) => self.wanted(wanted).find(|place| !self.receivers[*place as usize].packets.is_empty()),
            None => self.turn(wanted, &[]),
        };
        self.take(place?)
    }

    fn failure(&self) -> Option<&str> {
        self.above.failure()
    }

    fn next_stations(&self, found: &mut Vec<NodeId>) {
        self.above.next_stations(found);
    }

    fn waiting_for(&self, wanted: Wanted, most: usize) -> usize {
        let own: usize = self.wanted(wanted).map(|place| self.receivers[place as usize].packets.len()).sum();
        own.min(most) + self.above.waiting_for(wanted, most - own.min(most))
    }

    fn packets(&self) -> u32 {
        self.packets + self.above.packets()
    }

    fn tcp_acks(&self) -> u32 {
        self.tcp_acks + self.above.tcp_acks()
    }

    fn has_room(&self, bytes: u32) -> bool {
        self.above.has_room(bytes)
    }

    fn marks(&self) -> u64 {
        self.above.marks()
    }

    fn ready_at(&self) -> Option<Time> {
        self.above.ready_at().filter(|_| self.packets == 0)
    }

    fn is_shaped(&self) -> bool {
        self.is_shaped
    }

    fn by_class(&self) -> Option<&ByClass> {
        self.above.by_class()
    }

    fn start(&mut self) {
        self.above.start();
    }

    fn on_done(&mut self, now: Time, packet: &PacketMeta) {
        let place = self.place(packet);
        let of = &mut self.receivers[place as usize];
        of.with_mac = of.with_mac.saturating_sub(1);
        self.with_mac = self.with_mac.saturating_sub(1);
        if self.for_each {
            self.make_due(place);
        }
        self.above.on_done(now, packet);
    }

    fn on_airtime(&mut self, now: Time, used: &AirtimeUse) {
        self.above.on_airtime(now, used);
    }

    fn set_target(&mut self, target: Duration) {
        self.above.set_target(target);
    }

    fn set_weight(&mut self, station: NodeId, weight: u32) {
        self.above.set_weight(station, weight);
    }

    fn schedules_stations(&self) -> bool {
        true
    }

    fn shares_airtime(&self) -> bool {
        self.above.shares_airtime()
    }

    fn next_station(&mut self, _: Time, retrying: &[NodeId]) -> Option<NodeId> {
        for station in retrying {
            let first = self.wanted(Wanted { station: Some(*station), tid: None }).next();
            first.into_iter().for_each(|place| self.line_up(place));
        }
        let turn = self.turn(Wanted::ANY, retrying);
        turn.map(|place| self.receivers[place as usize].station).or_else(|| retrying.first().copied())
    }

    fn pass_down(&mut self, now: Time, dropped: &mut Vec<Drop<B>>) -> u32 {
        self.refill(now, dropped);
        self.packets
    }

    fn asks_sockets(&self) -> bool {
        let is_full = !self.for_each && self.packets + self.with_mac >= self.limit;
        self.above.packets() == 0 && !is_full && !(self.for_each && self.any_full())
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::data;
    use super::super::{Below, Held, QueueDisciplineKind, Serving, fifo};
    use super::*;
    use lasthop_engine::Stream;
    use lasthop_registry::Amount;

    fn below(packets: u32, serving: Serving) -> Box<dyn QueueDiscipline<u32>> {
        let kind = QueueDisciplineKind::Fifo(fifo::Params::limited(Amount::Packets(10)));
        let below = Below { held: Some(Held { packets, serving }), ..Below::IDEAL };
        kind.build_above(below, Stream::new(1, "queue", 0))
    }

    fn to(station: u32, body: u32) -> Packet<u32> {
        Packet::new(PacketMeta { station: NodeId(station), ..data(0, 1500) }, body)
    }

    fn only(station: u32) -> Wanted {
        Wanted { station: Some(NodeId(station)), tid: None }
    }

    /// Puts in packets for these stations, numbered as they come.
    fn fill(queue: &mut Box<dyn QueueDiscipline<u32>>, stations: &[u32]) {
        let mut dropped = Vec::new();
        for (body, station) in (0..).zip(stations) {
            queue.enqueue(Time::ZERO, to(*station, body), &mut dropped);
        }
        assert!(dropped.is_empty());
    }

    fn take(queue: &mut Box<dyn QueueDiscipline<u32>>, wanted: Wanted) -> Option<u32> {
        queue.dequeue(Time::ZERO, wanted, &mut Vec::new()).map(|packet| packet.body)
    }

    #[test]
    fn receivers_take_turns_whatever_the_order_of_their_packets() {
        for serving in [Serving::Turns, Serving::EachInTurn] {
            let mut queue = below(8, serving);
            fill(&mut queue, &[1, 1, 1, 2, 3]);
            let turns: Vec<_> = std::iter::from_fn(|| take(&mut queue, Wanted::ANY)).collect();
            assert_eq!(turns, [0, 3, 4, 1, 2], "{serving:?}");
        }
    }

    #[test]
    fn a_full_receiver_is_no_obstacle_to_others_if_each_has_a_limit() {
        let given = |serving| {
            let mut queue = below(2, serving);
            fill(&mut queue, &[1, 1, 1, 2]);
            let mut out = |station| take(&mut queue, only(station));
            [out(1), out(1), out(1), out(2)]
        };
        assert_eq!(given(Serving::EachInTurn), [Some(0), Some(1), None, Some(3)]);
        assert_eq!(given(Serving::Turns), [Some(0), Some(1), None, None]);
    }

    #[test]
    fn packets_in_the_mac_count_until_their_completion() {
        for serving in [Serving::Turns, Serving::EachInTurn] {
            let mut queue = below(2, serving);
            fill(&mut queue, &[1, 1, 1, 1]);
            assert_eq!((take(&mut queue, only(1)), take(&mut queue, only(1))), (Some(0), Some(1)));
            assert_eq!((take(&mut queue, only(1)), queue.pass_down(Time::ZERO, &mut Vec::new())), (None, 0));
            queue.on_done(Time::ZERO, &to(1, 0).meta);
            assert_eq!(queue.pass_down(Time::ZERO, &mut Vec::new()), 1);
            assert_eq!((take(&mut queue, only(1)), take(&mut queue, only(1))), (Some(2), None));
            assert_eq!(queue.packets(), 1, "{serving:?}");
        }
    }

    #[test]
    fn a_receiver_with_retries_waits_for_its_turn() {
        let mut queue = below(8, Serving::EachInTurn);
        fill(&mut queue, &[1, 2, 3]);
        assert_eq!(take(&mut queue, only(2)), Some(1));
        let mut turn = |retrying: &[u32]| {
            let retrying: Vec<_> = retrying.iter().map(|node| NodeId(*node)).collect();
            queue.next_station(Time::ZERO, &retrying).map(|node| node.0)
        };
        assert_eq!([turn(&[2]), turn(&[2]), turn(&[2]), turn(&[2])], [1, 2, 3, 1].map(Some));
        assert_eq!([turn(&[]), turn(&[]), turn(&[])], [3, 1, 3].map(Some));
    }

    #[test]
    fn sockets_are_asked_while_there_is_room_and_no_packet_waits_above() {
        let mut queue = below(2, Serving::Turns);
        assert!(queue.asks_sockets());
        fill(&mut queue, &[1]);
        assert!(queue.asks_sockets());
        fill(&mut queue, &[1]);
        assert!(!queue.asks_sockets());
    }
}
