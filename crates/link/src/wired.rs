//! One direction of a wired link: a queue, a transmitter with a rate, a constant delay.
//!
//! A packet needs at most two events: the end of a transmission, only while others wait, and the arrival.
//!
//! Behind a plain FIFO the clock alone decides when a packet is sent: it joins the line of those on the way when it
//! comes, with its time of arrival, and the end of a transmission only moves it from waiting to sent. Where nothing
//! depends on how many wait, not even that is an event ([`WiredLink::count_later`]).
//!
//! Behind a shaper the transmitter takes a packet when both are free.
//!
//! Instead of a rate, a link may have a [`Trace`] of opportunities.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use lasthop_observe::DropReason;
use lasthop_registry::Amount;
use lasthop_units::{Bytes, DataRate, Duration, Present, Time};

use crate::queue_discipline::has_room;
use crate::replay::Replay;
use crate::wire_use::WireUse;
use crate::wired_rate::trace::Trace;
use crate::{ByClass, Drop, Marks, Packet, PacketMeta, QueueDiscipline, Wanted};

/// Events that a wired link schedules for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WiredEvent {
    /// the transmitter, and the shaper if the queue has one, are free for the next packet that waits
    TransmitterFree,
    /// the oldest packet on the way arrives
    Arrival,
}

/// Transmission time of packets at one rate: most have the size of the one before.
#[derive(Clone, Copy, Debug)]
struct Pace {
    rate: DataRate,
    bytes: u32,
    takes: Duration,
}

impl Pace {
    fn new(rate: DataRate) -> Pace {
        Pace { rate, bytes: 0, takes: Duration::ZERO }
    }

    #[inline(always)]
    fn time_for(&mut self, bytes: u32) -> Duration {
        if bytes != self.bytes {
            (self.bytes, self.takes) = (bytes, self.rate.time_for(Bytes(u64::from(bytes))));
        }
        self.takes
    }
}

/// The packets at the end of the line that wait for the transmitter, behind a plain FIFO.
#[derive(Clone, Copy, Debug)]
struct Line {
    limit: Amount,
    packets: u32,
    bytes: u64,
    /// end of the last of their transmissions
    ends: Time,
}

impl Line {
    fn has_room(&self, bytes: u32) -> bool {
        has_room(self.limit, (self.packets, self.bytes), bytes)
    }
}

/// How packets reach the transmitter.
enum Service<B> {
    /// in a line that replaces the queue, which is a plain FIFO
    Line(Line),
    /// in a line without limit: none of its packets is counted before it arrives, or somebody asks; the number of those that
    /// are not
    CountedLater(usize),
    /// from the queue, one after another
    Queue,
    /// from the queue, at the opportunities of a trace
    Replay(Box<Replay<B>>),
}

/// Events to schedule, in this order. Code for traces returns them, since a reference to a caller's `schedule` would keep
/// that of links without a trace in memory.
type Due<const N: usize> = [Option<(Time, WiredEvent)>; N];

/// One direction of a wired link.
pub struct WiredLink<B> {
    pace: Pace,
    delay: Duration,
    queue: Box<dyn QueueDiscipline<B>>,
    service: Service<B>,
    /// packets with their times of arrival; behind a plain FIFO those that wait are at the end
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
        let line = |limit| Service::Line(Line { limit, packets: 0, bytes: 0, ends: Time::ZERO });
        let service = queue.plain_limit().map_or(Service::Queue, line);
        WiredLink::served(service, rate, delay, queue)
    }

    /// An idle link that delivers at the opportunities of a trace.
    pub fn replaying(trace: Arc<Trace>, delay: Duration, queue: Box<dyn QueueDiscipline<B>>) -> Self {
        let unused = DataRate::from_bps(1);
        WiredLink::served(Service::Replay(Box::new(Replay::new(trace))), unused, delay, queue)
    }

    fn served(service: Service<B>, rate: DataRate, delay: Duration, queue: Box<dyn QueueDiscipline<B>>) -> Self {
        WiredLink {
            pace: Pace::new(rate),
            delay,
            marks: Marks::of(&*queue),
            service,
            queue,
            on_the_way: VecDeque::new(),
            busy_until: Time::ZERO,
            waiting_for_transmitter: false,
            used: WireUse::default(),
            present: Present::default(),
        }
    }

    /// From now on the end of a transmission is no event, if nothing here depends on the number of packets that wait: behind
    /// a plain FIFO without limit, with a delay, so that a packet is sent before the one in front of it arrives. No caller
    /// then asks whether it is [free](Self::is_free), or which packets are [under way](Self::under_way).
    ///
    /// # Panics
    /// If it has carried packets.
    pub fn count_later(&mut self) {
        assert!(self.on_the_way.is_empty() && self.used.offered == 0, "the link is in use");
        if matches!(self.service, Service::Line(Line { limit: Amount::Unlimited, .. })) && self.delay > Duration::ZERO {
            self.service = Service::CountedLater(0);
        }
    }

    /// Transmissions that have begun and are not counted yet: how long each takes, and how long it waited. One that begins in
    /// the present instant has begun if its packet found the wire free; otherwise the end of the one before it is still to come.
    fn uncounted(&self, now: Time) -> impl Iterator<Item = (Duration, Duration)> {
        let count = if let Service::CountedLater(count) = self.service { count } else { 0 };
        let begun = self.on_the_way.range(self.on_the_way.len() - count..).map(|(arrival, packet)| {
            let takes = self.pace.rate.time_for(Bytes(u64::from(packet.meta.bytes)));
            (*arrival - self.delay - takes, takes, packet.meta.enqueued_at)
        });
        begun
            .take_while(move |(begins, _, since)| *begins < now || *begins == *since && *since == now)
            .map(|(begins, takes, since)| (takes, begins.since(since)))
    }

    /// Sends a packet that is counted later.
    #[inline(always)]
    fn send_uncounted(&mut self, now: Time, packet: Packet<B>, schedule: &mut impl FnMut(Time, WiredEvent)) {
        self.busy_until = self.busy_until.max(now) + self.pace.time_for(packet.meta.bytes);
        let arrival = self.busy_until + self.delay;
        if self.on_the_way.is_empty() {
            schedule(arrival, WiredEvent::Arrival);
        }
        self.on_the_way.push_back((arrival, packet));
        if let Service::CountedLater(uncounted) = &mut self.service {
            *uncounted += 1;
        }
    }

    /// Takes off a packet that arrives, which is counted if it was not yet.
    #[inline(always)]
    fn arrive_uncounted(
        &mut self,
        now: Time,
        uncounted: usize,
        schedule: &mut impl FnMut(Time, WiredEvent),
    ) -> Option<Packet<B>> {
        if let Some((next, _)) = self.on_the_way.get(1) {
            // It was sent before this one arrives, as there is a delay.
            schedule(*next, WiredEvent::Arrival);
        }
        let (_, packet) = self.on_the_way.pop_front()?;
        if uncounted > self.on_the_way.len() {
            let takes = self.pace.time_for(packet.meta.bytes);
            let begins = now - self.delay - takes;
            self.used.note(takes, begins.since(packet.meta.enqueued_at));
            if let Service::CountedLater(uncounted) = &mut self.service {
                *uncounted -= 1;
            }
        }
        Some(packet)
    }

    /// The use from [`start`](Self::start) until `now`, the present.
    pub fn used(&self, now: Time) -> Cow<'_, WireUse> {
        let mut used = Cow::Borrowed(&self.used);
        self.uncounted(now).for_each(|(takes, waited)| used.to_mut().note(takes, waited));
        used
    }

    /// Resets the record of its use.
    pub fn start(&mut self, now: Time) {
        let begun = self.uncounted(now).count();
        if let Service::CountedLater(uncounted) = &mut self.service {
            *uncounted -= begun;
        }
        self.used = WireUse::default();
        self.queue.start();
    }

    /// Waits and marks of its queue by class since [`start`](Self::start), if the queue has classes.
    pub fn by_class(&self) -> Option<&ByClass> {
        self.queue.by_class()
    }

    /// Returns whether a packet handed over now would be sent at once, or behind a trace at the next instant with an
    /// opportunity.
    pub fn is_free(&self, now: Time) -> bool {
        match &self.service {
            Service::Replay(replay) => replay.is_free(now),
            Service::Line(_) | Service::CountedLater(_) | Service::Queue => self.is_idle(now),
        }
    }

    #[inline(always)]
    fn is_idle(&self, now: Time) -> bool {
        self.busy_until <= now && self.waiting() == 0
    }

    /// Number of packets that wait for the transmitter.
    #[inline(always)]
    fn waiting(&self) -> u32 {
        match &self.service {
            Service::Line(line) => line.packets,
            Service::CountedLater(_) => 0,
            Service::Queue | Service::Replay(_) => self.queue.packets(),
        }
    }

    /// Number of packets that are being transmitted or have been, except one that has left in part.
    #[inline(always)]
    fn sent(&self) -> usize {
        match &self.service {
            Service::Line(line) => self.on_the_way.len() - line.packets as usize,
            Service::CountedLater(_) | Service::Queue | Service::Replay(_) => self.on_the_way.len(),
        }
    }

    /// The earliest time, from `now` on, at which it may be [free](Self::is_free).
    pub fn free_at(&self, now: Time) -> Time {
        match &self.service {
            Service::Replay(replay) => replay.free_at(now),
            Service::Line(_) | Service::CountedLater(_) | Service::Queue => self.next_start().max(now),
        }
    }

    /// The time from which the transmitter may take the next packet that waits.
    fn next_start(&self) -> Time {
        self.queue.ready_at().map_or(self.busy_until, |at| at.max(self.busy_until))
    }

    /// Takes a packet; schedules events with `schedule`, and appends drops to `dropped`. A packet that is sent at once
    /// also passes the queue, since a law may average over all arrivals.
    pub fn send(
        &mut self,
        now: Time,
        mut packet: Packet<B>,
        dropped: &mut Vec<Drop<B>>,
        schedule: &mut impl FnMut(Time, WiredEvent),
    ) {
        self.present.advance(now);
        self.used.offered += 1;
        if let Service::Replay(_) = self.service {
            let due = self.await_turn(now, packet, dropped);
            return due.into_iter().flatten().for_each(|(at, event)| schedule(at, event));
        }
        packet.meta.enqueued_at = now;
        if let Service::CountedLater(_) = self.service {
            return self.send_uncounted(now, packet, schedule);
        }
        let was_free = self.is_idle(now);
        if let Service::Line(line) = &mut self.service {
            if !line.has_room(packet.meta.bytes) {
                return dropped.push((packet, DropReason::QueueFull));
            }
            return if was_free { self.transmit(now, packet, schedule) } else { self.line_up(packet, schedule) };
        }
        if was_free && self.queue.lets_pass(packet.meta.bytes) {
            return self.transmit(now, packet, schedule);
        }
        self.queue.enqueue(now, packet, dropped);
        if was_free && let Some(packet) = self.queue.dequeue(now, Wanted::ANY, dropped) {
            self.transmit(now, packet, schedule);
        }
        if !self.waiting_for_transmitter && self.queue.packets() > 0 {
            self.waiting_for_transmitter = true;
            schedule(self.next_start(), WiredEvent::TransmitterFree);
        }
    }

    /// Adds a packet to those that wait, with the known end of its transmission.
    #[inline(always)]
    fn line_up(&mut self, packet: Packet<B>, schedule: &mut impl FnMut(Time, WiredEvent)) {
        let takes = self.pace.time_for(packet.meta.bytes);
        let Service::Line(line) = &mut self.service else { unreachable!("a plain FIFO has a line") };
        let begins = if line.packets > 0 { line.ends } else { self.busy_until };
        (line.packets, line.bytes, line.ends) =
            (line.packets + 1, line.bytes + u64::from(packet.meta.bytes), begins + takes);
        self.on_the_way.push_back((line.ends + self.delay, packet));
        if !self.waiting_for_transmitter {
            self.waiting_for_transmitter = true;
            schedule(self.busy_until, WiredEvent::TransmitterFree);
        }
    }

    /// Sends the first of those that wait.
    #[inline(always)]
    fn count_over(&mut self, now: Time, schedule: &mut impl FnMut(Time, WiredEvent)) {
        let first = self.sent();
        let Service::Line(line) = &mut self.service else { unreachable!("a plain FIFO has a line") };
        let Some((arrival, packet)) = self.on_the_way.get(first) else {
            unreachable!("an event is for each that waits")
        };
        line.packets -= 1;
        line.bytes -= u64::from(packet.meta.bytes);
        let (arrival, waited) = (*arrival, now.since(packet.meta.enqueued_at));
        self.waiting_for_transmitter = line.packets > 0;
        self.busy_until = arrival - self.delay;
        self.used.note(self.busy_until.since(now), waited);
        if first == 0 {
            schedule(arrival, WiredEvent::Arrival);
        }
        if self.waiting_for_transmitter {
            schedule(self.busy_until, WiredEvent::TransmitterFree);
        }
    }

    #[inline(always)]
    fn transmit(&mut self, now: Time, packet: Packet<B>, schedule: &mut impl FnMut(Time, WiredEvent)) {
        let takes = self.pace.time_for(packet.meta.bytes);
        self.used.note(takes, now.since(packet.meta.enqueued_at));
        self.busy_until = now + takes;
        let arrival = self.busy_until + self.delay;
        if self.on_the_way.is_empty() {
            schedule(arrival, WiredEvent::Arrival);
        }
        self.on_the_way.push_back((arrival, packet));
    }

    /// Sends the next packet of a queue with its own order.
    #[inline(never)]
    fn transmit_next(&mut self, now: Time, dropped: &mut Vec<Drop<B>>, schedule: &mut impl FnMut(Time, WiredEvent)) {
        self.waiting_for_transmitter = false;
        if let Some(packet) = self.queue.dequeue(now, Wanted::ANY, dropped) {
            self.transmit(now, packet, schedule);
        }
        if self.queue.packets() > 0 {
            self.waiting_for_transmitter = true;
            schedule(self.next_start(), WiredEvent::TransmitterFree);
        }
    }

    /// Queues a packet behind a trace. An opportunity of this instant is served first.
    #[inline(never)]
    fn await_turn(&mut self, now: Time, mut packet: Packet<B>, dropped: &mut Vec<Drop<B>>) -> Due<3> {
        packet.meta.enqueued_at = now;
        let [arrival, later] = self.take_turn(now, dropped);
        let Service::Replay(replay) = &mut self.service else { unreachable!("only a trace has turns") };
        let turn = replay.enqueue(now, packet, &mut *self.queue, dropped);
        [arrival, later, turn.map(|turn| (turn, WiredEvent::TransmitterFree))]
    }

    /// Sends what the opportunities of this instant can carry, if it has any that are not used yet.
    #[inline(never)]
    fn take_turn(&mut self, now: Time, dropped: &mut Vec<Drop<B>>) -> Due<2> {
        let Service::Replay(replay) = &mut self.service else { unreachable!("only a trace has turns") };
        if !replay.is_due(now) {
            return [None; 2];
        }
        let (arrival, was_empty) = (now + self.delay, self.on_the_way.is_empty());
        let leave = &mut |packet| self.on_the_way.push_back((arrival, packet));
        let turn = replay.take_turn(now, &mut *self.queue, dropped, &mut self.used, leave);
        let arrives = was_empty && !self.on_the_way.is_empty();
        [arrives.then_some((arrival, WiredEvent::Arrival)), turn.map(|turn| (turn, WiredEvent::TransmitterFree))]
    }

    /// Handles an event that this link scheduled; returns the packet that arrives, if one does.
    #[inline]
    pub fn handle(
        &mut self,
        now: Time,
        event: WiredEvent,
        dropped: &mut Vec<Drop<B>>,
        schedule: &mut impl FnMut(Time, WiredEvent),
    ) -> Option<Packet<B>> {
        match event {
            WiredEvent::TransmitterFree => {
                self.present.advance(now);
                match self.service {
                    Service::Line(_) => self.count_over(now, schedule),
                    Service::CountedLater(_) => unreachable!("it has no such event"),
                    Service::Queue => self.transmit_next(now, dropped, schedule),
                    Service::Replay(_) => {
                        self.take_turn(now, dropped).into_iter().flatten().for_each(|(at, event)| schedule(at, event));
                    }
                }
                None
            }
            WiredEvent::Arrival => self.arrive(now, schedule),
        }
    }

    /// Does the same as [`handle`](Self::handle) for an [arrival](WiredEvent::Arrival).
    #[inline(always)]
    pub fn arrive(&mut self, now: Time, schedule: &mut impl FnMut(Time, WiredEvent)) -> Option<Packet<B>> {
        self.present.advance(now);
        if let Service::CountedLater(uncounted) = self.service {
            return self.arrive_uncounted(now, uncounted, schedule);
        }
        if self.sent() > 1
            && let Some((next, _)) = self.on_the_way.get(1)
        {
            schedule(*next, WiredEvent::Arrival);
        }
        self.on_the_way.pop_front().map(|(_, packet)| packet)
    }

    /// Number of packets that its queue has marked with CE since the last call.
    #[inline]
    pub fn new_marks(&mut self) -> u64 {
        self.marks.new_of(&*self.queue)
    }

    /// The packet that has left in part.
    fn partial(&self) -> Option<&PacketMeta> {
        match &self.service {
            Service::Replay(replay) => replay.partial(),
            Service::Line(_) | Service::CountedLater(_) | Service::Queue => None,
        }
    }

    /// The number of packets being transmitted or on the way.
    pub fn under_way(&self) -> usize {
        self.sent() + usize::from(self.partial().is_some())
    }

    /// The packets being transmitted or on the way after the first `count`, in their order.
    pub fn under_way_after(&self, count: usize) -> impl Iterator<Item = &PacketMeta> {
        let sent = self.sent();
        let partial = self.partial().filter(|_| count <= sent);
        self.on_the_way.range(count.min(sent)..sent).map(|(_, packet)| &packet.meta).chain(partial)
    }

    /// The reason why its queue cannot go on, if it cannot; see [`QueueDiscipline::failure`].
    pub fn failure(&self) -> Option<&str> {
        self.queue.failure()
    }

    /// Number of packets that wait or are on the way.
    pub fn held(&self) -> u64 {
        u64::from(self.waiting()) + self.under_way() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue_discipline::fifo::{self, Fifo};
    use crate::queue_discipline::samples::Reserved;
    use crate::{PacketMeta, QueueDisciplineKind};
    use lasthop_engine::{Scheduler, Stream};
    use lasthop_observe::{FlowId, NodeId};
    use lasthop_registry::Amount;

    fn packet(bytes: u32, body: u32) -> Packet<u32> {
        Packet::new(PacketMeta::plain(FlowId(0), NodeId(1), true, bytes), body)
    }

    /// Sends `count` packets of 1250 B at once over 10 Mbit/s (1 ms each) and 5 ms; arrival times in ms.
    fn arrivals(count: u32, limit: Amount) -> (Vec<f64>, usize) {
        let queue = QueueDisciplineKind::Fifo(fifo::Params::limited(limit)).build(Stream::new(1, "queue", 0));
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
    fn waits_and_transmitter_time_are_reported() {
        let queue =
            QueueDisciplineKind::Fifo(fifo::Params::limited(Amount::Unlimited)).build(Stream::new(1, "queue", 0));
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
        let used = link.used(Time::NEVER);
        assert_eq!(
            (used.offered, used.busy, used.longest_wait),
            (4, Duration::from_millis(4), Duration::from_millis(3))
        );
        assert_eq!(used.waits.mean_s(), Some(0.0015));
        link.start(Time::NEVER);
        assert_eq!(link.used(Time::NEVER).offered, 0);
    }

    #[test]
    fn packet_beyond_the_limit_is_dropped() {
        // One packet is being sent, and two wait.
        assert_eq!(arrivals(5, Amount::Packets(2)), (vec![6.0, 7.0, 8.0], 2));
    }

    /// All observable behaviour of a link to which packets of random sizes come in bursts, many at the very instant at
    /// which another has been sent or arrives.
    fn seen(queue: Box<dyn QueueDiscipline<u32>>, delay: Duration, seed: u64) -> Vec<String> {
        let mut random = Stream::new(seed, "wire", 0);
        let mut link = WiredLink::new(DataRate::from_bps(10_000_000), delay, queue);
        let (mut events, mut dropped, mut seen) = (Scheduler::new(), Vec::new(), Vec::new());
        for body in 0..400 {
            // 500 B take 400 us.
            let at = Duration::from_micros(400) * u64::from(random.up_to(700));
            events.at(Time::ZERO + at, Err(packet(500 * (1 + random.up_to(2)), body)));
        }
        while let Some((now, event)) = events.next_before(Time::NEVER) {
            let line = match event {
                Err(packet) => {
                    link.send(now, packet, &mut dropped, &mut |at, e| events.at(at, Ok(e)));
                    String::from("sent")
                }
                Ok(event) => {
                    let arrived = link.handle(now, event, &mut dropped, &mut |at, e| events.at(at, Ok(e)));
                    format!("{event:?} {:?}", arrived.map(|packet| packet.body))
                }
            };
            let lost: Vec<u32> = dropped.drain(..).map(|(packet, _)| packet.body).collect();
            let (count, latest) = (link.under_way(), link.under_way_after(0).last());
            let (bytes, held) = (latest.map(|meta| meta.bytes), link.held());
            let free = (link.is_free(now), link.free_at(now));
            seen.push(format!("{now} {line} {lost:?} {count} {bytes:?} {held} {free:?} {:?}", link.used(now)));
        }
        seen
    }

    /// The events of a link, except for the ends of transmissions, and its use, read now and then.
    fn served(mut link: WiredLink<u32>, seed: u64) -> Vec<String> {
        let mut random = Stream::new(seed, "wire", 1);
        let (mut events, mut dropped, mut seen) = (Scheduler::new(), Vec::new(), Vec::new());
        // One at the beginning, which is not counted.
        events.at(Time::ZERO, Err(packet(500, 400)));
        for body in 0..400 {
            let at = Duration::from_micros(400) * u64::from(random.up_to(700));
            events.at(Time::ZERO + at, Err(packet(500 * (1 + random.up_to(2)), body)));
        }
        // After what happens first, between two instants of events, at one, and at the end.
        for until in [0, 40_100, 80_000, 120_300, 400_000].map(|us| Time::ZERO + Duration::from_micros(us)) {
            let last = if until == Time::ZERO { Time::from_nanos(1) } else { until };
            while let Some((now, event)) = events.next_before(last) {
                match event {
                    Err(packet) => {
                        seen.push(format!("{now} {} comes", packet.body));
                        link.send(now, packet, &mut dropped, &mut |at, e| events.at(at, Ok(e)));
                    }
                    Ok(event) => {
                        let arrived = link.handle(now, event, &mut dropped, &mut |at, e| events.at(at, Ok(e)));
                        seen.extend(arrived.map(|packet| format!("{now} {} arrives, {}", packet.body, link.held())));
                    }
                }
            }
            seen.push(format!("{until} {:?} {}", link.used(until), link.held()));
            link.start(until);
        }
        seen
    }

    #[test]
    fn transmissions_counted_later_change_nothing() {
        let mut waited = 0;
        for seed in 0..60 {
            let delay = Duration::from_micros([400, 1_000, 5_000][seed as usize % 3]);
            let link = || {
                let fifo = Box::new(Fifo::new(&fifo::Params::limited(Amount::Unlimited)));
                WiredLink::new(DataRate::from_bps(10_000_000), delay, fifo)
            };
            let (plain, mut later) = (served(link(), seed), link());
            later.count_later();
            let later = served(later, seed);
            for (step, (plain, later)) in plain.iter().zip(&later).enumerate() {
                assert_eq!(plain, later, "seed {seed}, step {step}");
            }
            assert_eq!(plain.len(), later.len());
            waited +=
                plain.iter().filter(|line| line.contains("longest_wait") && !line.contains("longest_wait: 0")).count();
        }
        assert!(waited > 100, "{waited}");
    }

    #[test]
    fn events_at_each_end_of_a_transmission_only_where_something_depends_on_them() {
        let sent = |limit, delay| {
            let mut link = WiredLink::new(
                DataRate::from_bps(10_000_000),
                delay,
                Box::new(Fifo::new(&fifo::Params::limited(limit))),
            );
            link.count_later();
            let mut scheduled = Vec::new();
            (0..3).for_each(|body| {
                link.send(Time::ZERO, packet(1250, body), &mut Vec::new(), &mut |_, e| scheduled.push(e))
            });
            scheduled
        };
        let (ms, both) = (Duration::from_millis(1), [WiredEvent::Arrival, WiredEvent::TransmitterFree]);
        assert_eq!(sent(Amount::Unlimited, ms), [WiredEvent::Arrival]);
        assert_eq!(sent(Amount::Unlimited, Duration::ZERO), both);
        assert_eq!(sent(Amount::Packets(9), ms), both);
    }

    #[test]
    fn behind_a_plain_fifo_all_goes_as_behind_any_other() {
        let mut drops = 0;
        for seed in 0..60 {
            let limit =
                [Amount::Packets(1), Amount::Packets(3), Amount::Bytes(2_400), Amount::Unlimited][seed as usize % 4];
            let delay = Duration::from_micros([0, 400, 1_000, 5_000][seed as usize / 4 % 4]);
            let fifo = || Fifo::new(&fifo::Params::limited(limit));
            let plain = seen(Box::new(fifo()), delay, seed);
            let reserved = seen(Box::new(Reserved(fifo())), delay, seed);
            for (step, (plain, reserved)) in plain.iter().zip(&reserved).enumerate() {
                assert_eq!(plain, reserved, "seed {seed}, step {step}");
            }
            assert_eq!(plain.len(), reserved.len());
            drops += plain.iter().filter(|line| !line.contains("[]")).count();
        }
        assert!(drops > 100, "{drops} dropped");
    }
}
