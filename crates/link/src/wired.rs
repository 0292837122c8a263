//! One direction of a wired link: a queue, a transmitter with a rate, a constant delay.
//!
//! Two events a packet at most: the end of a transmission only while others wait, and the arrival.

use std::collections::VecDeque;

use lasthop_observe::Histogram;
use lasthop_units::{Bytes, DataRate, Duration, Present, Time};

use crate::{Drop, Marks, Packet, PacketMeta, QueueDiscipline, Wanted};

/// What a wired link asks to be told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WiredEvent {
    /// the transmitter is free for the next packet that waits
    TransmitterFree,
    /// the oldest packet on the way arrives
    Arrival,
}

/// What became of one direction of a link since it was last asked to begin anew.
#[derive(Clone, Debug, Default)]
pub struct WireUse {
    /// packets handed over
    pub offered: u64,
    /// for how long its transmitter was on; a packet counts where it begins
    pub busy: Duration,
    /// how long packets waited for the transmitter
    pub waits: Histogram,
    /// the longest of these waits
    pub longest_wait: Duration,
}

/// One direction of a wired link.
pub struct WiredLink<B> {
    rate: DataRate,
    delay: Duration,
    queue: Box<dyn QueueDiscipline<B>>,
    on_the_way: VecDeque<(Time, Packet<B>)>,
    busy_until: Time,
    waiting_for_transmitter: bool,
    marks: Marks,
    used: WireUse,
    present: Present,
}

impl<B> WiredLink<B> {
    /// An idle link.
    pub fn new(rate: DataRate, delay: Duration, queue: Box<dyn QueueDiscipline<B>>) -> Self {
        WiredLink {
            rate,
            delay,
            marks: Marks::of(&*queue),
            queue,
            on_the_way: VecDeque::new(),
            busy_until: Time::ZERO,
            waiting_for_transmitter: false,
            used: WireUse::default(),
            present: Present::default(),
        }
    }

    /// How it was used since [`start`](Self::start).
    pub fn used(&self) -> &WireUse {
        &self.used
    }

    /// Forgets how it was used so far.
    pub fn start(&mut self) {
        self.used = WireUse::default();
    }

    /// Whether a packet handed over now would go out at once.
    pub fn is_free(&self, now: Time) -> bool {
        self.busy_until <= now && self.queue.packets() == 0
    }

    /// When the transmitter has sent what it is sending.
    pub fn free_at(&self) -> Time {
        self.busy_until
    }

    /// Takes a packet; `schedule` is asked for events, drops are appended to `dropped`. Also what goes out at once
    /// passes the queue, since a law may average over all arrivals.
    pub fn send(
        &mut self,
        now: Time,
        mut packet: Packet<B>,
        dropped: &mut Vec<Drop<B>>,
        schedule: &mut impl FnMut(Time, WiredEvent),
    ) {
        self.present.advance(now);
        packet.meta.enqueued_at = now;
        self.used.offered += 1;
        let was_free = self.is_free(now);
        if was_free && self.queue.lets_pass(packet.meta.bytes) {
            return self.transmit(now, packet, schedule);
        }
        self.queue.enqueue(now, packet, dropped);
        if was_free && let Some(packet) = self.queue.dequeue(now, Wanted::ANY, dropped) {
            self.transmit(now, packet, schedule);
        }
        if !self.waiting_for_transmitter && self.queue.packets() > 0 {
            self.waiting_for_transmitter = true;
            schedule(self.busy_until, WiredEvent::TransmitterFree);
        }
    }

    #[inline(always)]
    fn transmit(&mut self, now: Time, packet: Packet<B>, schedule: &mut impl FnMut(Time, WiredEvent)) {
        let takes = self.rate.time_for(Bytes(u64::from(packet.meta.bytes)));
        let waited = now.since(packet.meta.enqueued_at);
        self.used.busy += takes;
        self.used.waits.add(waited);
        self.used.longest_wait = self.used.longest_wait.max(waited);
        self.busy_until = now + takes;
        let arrival = self.busy_until + self.delay;
        if self.on_the_way.is_empty() {
            schedule(arrival, WiredEvent::Arrival);
        }
        self.on_the_way.push_back((arrival, packet));
    }

    /// The transmitter is free for what waits.
    #[inline(never)]
    fn transmit_next(&mut self, now: Time, dropped: &mut Vec<Drop<B>>, schedule: &mut impl FnMut(Time, WiredEvent)) {
        self.waiting_for_transmitter = false;
        if let Some(packet) = self.queue.dequeue(now, Wanted::ANY, dropped) {
            self.transmit(now, packet, schedule);
        }
        if self.queue.packets() > 0 {
            self.waiting_for_transmitter = true;
            schedule(self.busy_until, WiredEvent::TransmitterFree);
        }
    }

    /// Handles an event that this link asked for; returns the packet that arrives, if one does.
    #[inline]
    pub fn handle(
        &mut self,
        now: Time,
        event: WiredEvent,
        dropped: &mut Vec<Drop<B>>,
        schedule: &mut impl FnMut(Time, WiredEvent),
    ) -> Option<Packet<B>> {
        self.present.advance(now);
        match event {
            WiredEvent::TransmitterFree => {
                self.transmit_next(now, dropped, schedule);
                None
            }
            WiredEvent::Arrival => {
                let (_, packet) = self.on_the_way.pop_front()?;
                if let Some((next, _)) = self.on_the_way.front() {
                    schedule(*next, WiredEvent::Arrival);
                }
                Some(packet)
            }
        }
    }

    /// Packets that its queue has marked with CE since it was last asked.
    #[inline]
    pub fn new_marks(&mut self) -> u64 {
        self.marks.new_of(&*self.queue)
    }

    /// How many packets are being transmitted or on the way, and the latest of them.
    pub fn under_way(&self) -> (usize, Option<&PacketMeta>) {
        (self.on_the_way.len(), self.on_the_way.back().map(|(_, packet)| &packet.meta))
    }

    /// Packets that wait or are on the way.
    pub fn held(&self) -> u64 {
        u64::from(self.queue.packets()) + self.on_the_way.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PacketMeta, QueueDisciplineKind, queue_discipline::fifo};
    use lasthop_engine::{Scheduler, Stream};
    use lasthop_observe::{FlowId, NodeId};
    use lasthop_registry::Amount;

    fn packet(bytes: u32, body: u32) -> Packet<u32> {
        Packet { meta: PacketMeta::plain(FlowId(0), NodeId(1), true, bytes), body }
    }

    /// Sends `count` packets of 1250 B at once over 10 Mbit/s (1 ms each) and 5 ms; arrival times in ms.
    fn arrivals(count: u32, limit: Amount) -> (Vec<f64>, usize) {
        let queue = QueueDisciplineKind::Fifo(fifo::Params { limit }).build(Stream::new(1, "queue", 0));
        let mut link = WiredLink::new(DataRate::from_bps(10_000_000), Duration::from_millis(5), queue);
        let mut events = Scheduler::new();
        let mut dropped = Vec::new();
        for body in 0..count {
            link.send(Time::ZERO, packet(1250, body), &mut dropped, &mut |at, e| events.at(at, e));
        }
        let mut times = Vec::new();
        while let Some((now, event)) = events.next_before(Time::NEVER) {
            if link.handle(now, event, &mut dropped, &mut |at, e| events.at(at, e)).is_some() {
                times.push(now.as_secs_f64() * 1e3);
            }
        }
        assert_eq!(link.held(), 0);
        (times, dropped.len())
    }

    #[test]
    #[should_panic(expected = "time went back: 0.001 s after 0.002 s")]
    fn a_packet_before_the_last_one_is_refused() {
        let queue = QueueDisciplineKind::all().remove(0).build(Stream::new(1, "queue", 0));
        let mut link = WiredLink::new(DataRate::from_bps(10_000_000), Duration::from_millis(5), queue);
        for (at_ms, body) in [(2, 0), (1, 1)] {
            let at = Time::ZERO + Duration::from_millis(at_ms);
            link.send(at, packet(1250, body), &mut Vec::new(), &mut |_, _| ());
        }
    }

    #[test]
    fn packets_arrive_one_transmission_time_apart_after_the_delay() {
        assert_eq!(arrivals(3, Amount::Unlimited), (vec![6.0, 7.0, 8.0], 0));
    }

    #[test]
    fn it_tells_how_long_packets_waited_and_its_transmitter_was_on() {
        let queue =
            QueueDisciplineKind::Fifo(fifo::Params { limit: Amount::Unlimited }).build(Stream::new(1, "queue", 0));
        let mut link = WiredLink::new(DataRate::from_bps(10_000_000), Duration::from_millis(5), queue);
        let mut events = Scheduler::new();
        let mut dropped = Vec::new();
        for body in 0..4 {
            link.send(Time::ZERO, packet(1250, body), &mut dropped, &mut |at, e| events.at(at, e));
        }
        while let Some((now, event)) = events.next_before(Time::NEVER) {
            link.handle(now, event, &mut dropped, &mut |at, e| events.at(at, e));
        }
        // A packet takes 1 ms: they wait 0, 1, 2 and 3 ms.
        let used = link.used();
        assert_eq!(
            (used.offered, used.busy, used.longest_wait),
            (4, Duration::from_millis(4), Duration::from_millis(3))
        );
        assert_eq!(used.waits.mean_s(), Some(0.0015));
        link.start();
        assert_eq!(link.used().offered, 0);
    }

    #[test]
    fn what_does_not_fit_into_the_queue_is_dropped() {
        // One is being sent, two wait.
        assert_eq!(arrivals(5, Amount::Packets(2)), (vec![6.0, 7.0, 8.0], 2));
    }
}
