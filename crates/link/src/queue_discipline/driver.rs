//! The queue of a driver below a queue discipline: the two layers of older systems.
//!
//! ```text
//!  discipline ──► FIFO of N packets ──► MAC
//!                 with those that the MAC holds: N at most
//! ```
//!
//! It models a driver of Linux up to 4.9, which takes packets from the discipline, in its order, as long as it has
//! room, and stops it otherwise (ath9k: `ATH_TXBUF` and the limits in `ath_tx_start`). A law of the discipline does not
//! see the packets that wait here, which is why such drivers had long queues under any discipline. Packets that the MAC
//! has taken out count until they are acknowledged or given up. The driver uses the room of such a packet at the next
//! call, which is at the same instant wherever the MAC goes on.

use lasthop_observe::{DropReason, NodeId};
use lasthop_registry::Amount;
use lasthop_units::{Duration, Time};

use super::backlog::{Backlog, Slot};
use super::bounds::has_room;
use super::by_class::ByClass;
use super::interface::{AirtimeUse, Drop, QueueDiscipline, Wanted};
use crate::{Packet, PacketMeta};

/// The packets that wait above the driver if the discipline is a plain FIFO: the newest of one list.
#[derive(Clone, Copy)]
struct Above {
    limit: Amount,
    packets: u32,
    bytes: u64,
    /// the oldest of them
    first: Option<Slot>,
}

/// A queue discipline with the FIFO of a driver below it.
pub struct DriverQueue<B> {
    above: Box<dyn QueueDiscipline<B>>,
    /// replaces `above` if that is a plain FIFO: a packet that the driver takes stays in its place
    plain: Option<Above>,
    limit: u32,
    /// packets of the driver, and behind them those that wait above, if that is plain
    fifo: Backlog<B>,
    /// Number of packets that the MAC has taken out and not finished.
    with_mac: u32,
}

impl<B> DriverQueue<B> {
    /// An empty FIFO of `limit` packets below `above`.
    ///
    /// # Panics
    /// If `limit` is 0: no packet would ever pass.
    pub fn new(above: Box<dyn QueueDiscipline<B>>, limit: u32) -> Self {
        assert!(limit > 0, "a driver queue has room for a packet");
        let plain = above.plain_limit().map(|limit| Above { limit, packets: 0, bytes: 0, first: None });
        DriverQueue { above, plain, limit, fifo: Backlog::default(), with_mac: 0 }
    }

    fn is_full(&self) -> bool {
        self.fifo.packets() + self.with_mac >= self.limit
    }

    /// Does the same as [`refill`](Self::refill), from a plain FIFO.
    #[inline]
    fn advance(&mut self) {
        let Some(above) = &mut self.plain else { return };
        while self.fifo.packets() - above.packets + self.with_mac < self.limit
            && let Some(first) = above.first
        {
            above.packets -= 1;
            above.bytes -= u64::from(self.fifo.meta(first).bytes);
            above.first = self.fifo.after(first);
        }
    }

    /// Does the same as [`enqueue`](QueueDiscipline::enqueue), into a plain FIFO.
    #[inline]
    fn push(&mut self, packet: Packet<B>, dropped: &mut Vec<Drop<B>>) {
        self.advance();
        let Some(above) = &mut self.plain else { return };
        let bytes = packet.meta.bytes;
        if !has_room(above.limit, (above.packets, above.bytes), bytes) {
            return dropped.push((packet, DropReason::QueueFull));
        }
        (above.packets, above.bytes) = (above.packets + 1, above.bytes + u64::from(bytes));
        let place = self.fifo.push(packet);
        above.first.get_or_insert(place);
        self.advance();
    }

    /// Does the same as [`dequeue`](QueueDiscipline::dequeue), below a plain FIFO.
    #[inline]
    fn take(&mut self, wanted: Wanted) -> Option<Packet<B>> {
        self.advance();
        let above = self.plain?;
        let place = if wanted == Wanted::ANY {
            self.fifo.oldest().filter(|&oldest| above.first != Some(oldest))
        } else {
            self.fifo.find_before(wanted, above.first)
        };
        let packet = self.fifo.take(place?);
        self.with_mac += 1;
        Some(packet)
    }

    /// Takes packets from above as long as there is room.
    fn refill(&mut self, now: Time, dropped: &mut Vec<Drop<B>>) {
        while !self.is_full()
            && let Some(packet) = self.above.dequeue(now, Wanted::ANY, dropped)
        {
            self.fifo.push(packet);
        }
    }
}

impl<B: Send> QueueDiscipline<B> for DriverQueue<B> {
    fn enqueue(&mut self, now: Time, packet: Packet<B>, dropped: &mut Vec<Drop<B>>) {
        if self.plain.is_some() {
            return self.push(packet, dropped);
        }
        self.refill(now, dropped);
        self.above.enqueue(now, packet, dropped);
        self.refill(now, dropped);
    }

    fn dequeue(&mut self, now: Time, wanted: Wanted, dropped: &mut Vec<Drop<B>>) -> Option<Packet<B>> {
        if self.plain.is_some() {
            return self.take(wanted);
        }
        self.refill(now, dropped);
        let packet = self.fifo.pop(wanted)?;
        self.with_mac += 1;
        Some(packet)
    }

    fn failure(&self) -> Option<&str> {
        self.above.failure()
    }

    fn next_stations(&self, found: &mut Vec<NodeId>) {
        self.above.next_stations(found);
    }

    fn waiting_for(&self, wanted: Wanted, most: usize) -> usize {
        let own = self.fifo.count(wanted, most);
        if self.plain.is_some() { own } else { own + self.above.waiting_for(wanted, most - own) }
    }

    fn packets(&self) -> u32 {
        self.occupancy().0
    }

    fn tcp_acks(&self) -> u32 {
        self.occupancy().1
    }

    fn occupancy(&self) -> (u32, u32) {
        let (packets, tcp_acks) = if self.plain.is_some() { (0, 0) } else { self.above.occupancy() };
        (packets + self.fifo.packets(), tcp_acks + self.fifo.tcp_acks())
    }

    fn has_room(&self, bytes: u32) -> bool {
        match &self.plain {
            Some(above) => has_room(above.limit, (above.packets, above.bytes), bytes),
            None => self.above.has_room(bytes),
        }
    }

    fn marks(&self) -> u64 {
        self.above.marks()
    }

    fn ready_at(&self) -> Option<Time> {
        self.above.ready_at().filter(|_| self.fifo.packets() == 0)
    }

    fn is_shaped(&self) -> bool {
        self.above.is_shaped()
    }

    fn by_class(&self) -> Option<&ByClass> {
        self.above.by_class()
    }

    fn start(&mut self) {
        self.above.start();
    }

    fn on_done(&mut self, now: Time, packet: &PacketMeta) {
        self.with_mac = self.with_mac.saturating_sub(1);
        if self.plain.is_none() {
            self.above.on_done(now, packet);
        }
    }

    fn on_airtime(&mut self, now: Time, used: &AirtimeUse) {
        if self.plain.is_none() {
            self.above.on_airtime(now, used);
        }
    }

    fn set_target(&mut self, target: Duration) {
        self.above.set_target(target);
    }

    fn set_weight(&mut self, station: NodeId, weight: u32) {
        self.above.set_weight(station, weight);
    }

    fn shares_airtime(&self) -> bool {
        self.above.shares_airtime()
    }

    fn pass_down(&mut self, now: Time, dropped: &mut Vec<Drop<B>>) -> u32 {
        self.advance();
        if self.plain.is_none() {
            self.refill(now, dropped);
        }
        self.fifo.packets() - self.plain.map_or(0, |above| above.packets)
    }

    fn asks_sockets(&self) -> bool {
        let above = self.plain.map_or_else(|| self.above.packets(), |above| above.packets);
        above == 0 && !self.is_full()
    }

    /// The FIFO knows no stations: a packet that needs another attempt comes first.
    fn next_station(&mut self, _: Time, retrying: &[NodeId]) -> Option<NodeId> {
        retrying.first().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fifo::Fifo;
    use super::super::samples::{Reserved, data};
    use super::super::{Below, Held, QueueDisciplineKind, Serving, codel, fifo, split_ack};
    use super::*;
    use lasthop_engine::Stream;
    use lasthop_units::Duration;

    fn below(kind: QueueDisciplineKind, packets: u32) -> Box<dyn QueueDiscipline<u32>> {
        let held = Some(Held { packets, serving: Serving::Fifo });
        kind.build_above(Below { held, ..Below::IDEAL }, Stream::new(1, "queue", 0))
    }

    fn fifo(packets: u64) -> QueueDisciplineKind {
        QueueDisciplineKind::Fifo(fifo::Params::limited(Amount::Packets(packets)))
    }

    fn to(station: u32, body: u32) -> Packet<u32> {
        Packet::new(PacketMeta { station: NodeId(station), ..data(0, 1500) }, body)
    }

    #[test]
    fn both_layers_hold_packets_and_the_upper_one_drops_them() {
        let mut queue = below(fifo(3), 2);
        let mut dropped = Vec::new();
        for body in 0..7 {
            queue.enqueue(Time::ZERO, to(1, body), &mut dropped);
        }
        assert_eq!((queue.packets(), queue.has_room(40)), (5, false));
        assert_eq!(
            dropped.iter().map(|(p, r)| (p.body, *r)).collect::<Vec<_>>(),
            [(5, DropReason::QueueFull), (6, DropReason::QueueFull)]
        );
    }

    #[test]
    fn packets_in_the_mac_count_until_done() {
        let mut queue = below(fifo(10), 2);
        let mut dropped = Vec::new();
        for body in 0..5 {
            queue.enqueue(Time::ZERO, to(1, body), &mut dropped);
        }
        let mut take = |queue: &mut Box<dyn QueueDiscipline<u32>>| queue.dequeue(Time::ZERO, Wanted::ANY, &mut dropped);
        let first = take(&mut queue).map(|p| p.meta);
        assert!(first.is_some() && take(&mut queue).is_some());
        assert!(take(&mut queue).is_none() && queue.packets() == 3);
        queue.on_done(Time::ZERO, &first.expect("it was there"));
        assert_eq!(take(&mut queue).map(|p| p.body), Some(2));
        assert!(take(&mut queue).is_none());
    }

    #[test]
    fn mac_chooses_among_the_drivers_packets() {
        let mut queue = below(fifo(10), 2);
        for (station, body) in [(1, 0), (1, 1), (2, 2)] {
            queue.enqueue(Time::ZERO, to(station, body), &mut Vec::new());
        }
        let wanted = Wanted { station: Some(NodeId(2)), tid: None };
        assert!(queue.dequeue(Time::ZERO, wanted, &mut Vec::new()).is_none());
        let wanted = Wanted { station: Some(NodeId(1)), tid: Some(0) };
        assert_eq!(queue.dequeue(Time::ZERO, wanted, &mut Vec::new()).map(|p| p.body), Some(0));
    }

    #[test]
    fn below_a_plain_fifo_all_goes_as_below_any_other() {
        let mut drops = 0;
        for seed in 0..40 {
            let mut random = Stream::new(seed, "driver", 0);
            let limit = [Amount::Packets(4), Amount::Bytes(9_000), Amount::Unlimited][seed as usize % 3];
            let (room, fifo) = (1 + random.up_to(5), || Fifo::new(&fifo::Params::limited(limit)));
            let above: [Box<dyn QueueDiscipline<u32>>; 2] = [Box::new(fifo()), Box::new(Reserved(fifo()))];
            let mut queues = above.map(|above| DriverQueue::new(above, room));
            let mut with_mac = Vec::new();
            for body in 0..2_000 {
                let (choice, station) = (random.up_to(9), 1 + random.up_to(2));
                let mut packet = Packet::new(data(0, 40 + random.up_to(3_000)), body);
                (packet.meta.station, packet.meta.pure_ack) = (NodeId(station), random.chance(0.3));
                let wanted = Wanted { station: random.chance(0.6).then_some(NodeId(station)), tid: None };
                let done = if choice == 9 { with_mac.pop() } else { None };
                let seen = queues.each_mut().map(|queue| {
                    let (mut dropped, mut out) = (Vec::new(), None);
                    match choice {
                        0..=4 => queue.enqueue(Time::ZERO, packet.clone(), &mut dropped),
                        5..=8 => out = queue.dequeue(Time::ZERO, wanted, &mut dropped),
                        _ => done.iter().for_each(|meta| queue.on_done(Time::ZERO, meta)),
                    }
                    let dropped: Vec<_> = dropped.iter().map(|(packet, reason)| (packet.body, *reason)).collect();
                    (out.map(|packet| packet.body), dropped, queue.occupancy(), queue.has_room(1_500))
                });
                assert_eq!(seen[0], seen[1], "seed {seed}, step {body}");
                with_mac.extend(seen[0].0.map(|_| packet.meta));
                drops += seen[0].1.len();
            }
        }
        assert!(drops > 1_000, "{drops} dropped");
    }

    #[test]
    fn packets_come_in_the_order_of_the_discipline() {
        let mut queue = below(QueueDisciplineKind::SplitAck(split_ack::Params::default()), 1);
        let mut out = Vec::new();
        for (body, pure_ack) in [(0, false), (1, false), (2, false), (3, true)] {
            let mut packet = to(1, body);
            packet.meta.pure_ack = pure_ack;
            queue.enqueue(Time::ZERO, packet, &mut Vec::new());
        }
        while let Some(packet) = queue.dequeue(Time::ZERO, Wanted::ANY, &mut Vec::new()) {
            queue.on_done(Time::ZERO, &packet.meta);
            out.push(packet.body);
        }
        assert_eq!(out, [0, 3, 1, 2]);
    }

    #[test]
    fn drops_above_keep_their_reason() {
        let mut queue = below(QueueDisciplineKind::Codel(codel::Params::default()), 1);
        let mut dropped = Vec::new();
        for body in 0..20 {
            queue.enqueue(Time::ZERO, to(1, body), &mut dropped);
        }
        for at_ms in [10, 120] {
            let now = Time::ZERO + Duration::from_millis(at_ms);
            let packet = queue.dequeue(now, Wanted::ANY, &mut dropped).expect("packets wait");
            queue.on_done(now, &packet.meta);
        }
        queue.dequeue(Time::ZERO + Duration::from_millis(230), Wanted::ANY, &mut dropped);
        assert!(!dropped.is_empty() && dropped.iter().all(|(_, reason)| *reason == DropReason::Early));
    }
}
