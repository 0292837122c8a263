//! A wired link behind a Mahimahi trace: instants of delivery by hand, and against a naive twin.

use std::sync::Arc;

use lasthop_engine::{Scheduler, Stream};
use lasthop_link::queue_discipline::fifo;
use lasthop_link::wired_rate::trace::Trace;
use lasthop_link::{Drop, Packet, PacketMeta, QueueDisciplineKind, WiredEvent, WiredLink};
use lasthop_observe::{FlowId, NodeId};
use lasthop_registry::Amount;
use lasthop_units::{Duration, Time};

const DELAY: Duration = Duration::from_millis(3);

/// An arrival: its time in microseconds, and bytes.
type Arrival = (u64, u32);

enum Event {
    Comes(u32, u32),
    Wired(WiredEvent),
}

/// A link with its events and what came of its packets.
struct World {
    link: WiredLink<u32>,
    events: Scheduler<Event>,
    /// numbers of packets that arrived, with the microsecond
    arrived: Vec<(u32, u64)>,
    dropped: Vec<Drop<u32>>,
    most_events_at_once: usize,
}

impl World {
    fn new(trace: &str, queue: &QueueDisciplineKind) -> World {
        let trace = Arc::new(Trace::parse(trace.as_bytes()).unwrap());
        World {
            link: WiredLink::replaying(trace, DELAY, queue.build(Stream::new(1, "queue", 0))),
            events: Scheduler::new(),
            arrived: Vec::new(),
            dropped: Vec::new(),
            most_events_at_once: 0,
        }
    }

    fn run(mut self, arrivals: &[Arrival]) -> World {
        for (number, &(us, bytes)) in (0..).zip(arrivals) {
            self.events.at(Time::ZERO + Duration::from_micros(us), Event::Comes(number, bytes));
        }
        while let Some((now, event)) = self.events.next_before(Time::NEVER) {
            self.step(now, event);
        }
        self
    }

    fn step(&mut self, now: Time, event: Event) {
        let (events, dropped, before) = (&mut self.events, &mut self.dropped, self.link.under_way());
        let schedule = &mut |at, event| events.at(at, Event::Wired(event));
        match event {
            Event::Comes(body, bytes) => {
                let meta = PacketMeta::plain(FlowId(body % 3), NodeId(1), false, bytes);
                self.link.send(now, Packet::new(meta, body), dropped, schedule);
            }
            Event::Wired(event) => {
                let packet = self.link.handle(now, event, dropped, schedule);
                self.arrived.extend(packet.map(|packet| (packet.body, now.as_nanos() / 1000)));
            }
        }
        let begun = self.link.under_way_after(before).count();
        assert_eq!(begun, self.link.under_way().saturating_sub(before));
        self.most_events_at_once = self.most_events_at_once.max(begun);
    }

    /// Times of arrival in milliseconds.
    fn arrivals_ms(&self) -> Vec<u64> {
        self.arrived.iter().map(|(_, us)| us / 1000).collect()
    }
}

fn unlimited() -> QueueDisciplineKind {
    QueueDisciplineKind::Fifo(fifo::Params::limited(Amount::Unlimited))
}

#[test]
fn packets_leave_at_the_opportunities_and_arrive_after_the_delay() {
    // Opportunities at 2, 2, 5, 10, then 12, 12, 15, 20, … ms.
    let arrivals = [
        (500, 1500),   // leaves at 2 ms; 4 B of this opportunity and all of the second find no packet
        (2000, 752),   // comes at the instant of an opportunity, and waits for 5 ms
        (2000, 752),   // 752 + 752 = 1504 B leave together
        (6000, 2000),  // 1504 B at 10 ms, 496 B at 12 ms
        (11000, 100),  // 496 + 100 B at 12 ms
        (12500, 1504), // 15 ms
        (12500, 1),    // 20 ms
    ];
    let world = World::new("2\n2\n5\n10\n", &unlimited()).run(&arrivals);
    assert_eq!(world.arrivals_ms(), [5, 8, 8, 15, 15, 18, 23]);
    assert_eq!(world.link.held(), 0);
}

#[test]
fn wait_and_use_are_counted_from_arrival_to_opportunity() {
    let mut world = World::new("4\n", &unlimited()).run(&[(1000, 1504), (9000, 1504), (9500, 1504)]);
    // They wait for 4, 12 and 16 ms: 3, 3 and 6.5 ms. Packets are in the link from 1 to 4 and from 9 to 16 ms.
    let used = world.link.used(Time::NEVER);
    assert_eq!(
        (used.offered, used.busy, used.longest_wait),
        (3, Duration::from_millis(10), Duration::from_micros(6500))
    );
    assert_eq!(used.waits.mean_s(), Some(0.0125 / 3.0));
    world.link.start(Time::NEVER);
    assert_eq!(world.link.used(Time::NEVER).busy, Duration::ZERO);
}

#[test]
fn packet_in_transmission_counts_as_under_way_and_not_against_the_limit() {
    let queue = QueueDisciplineKind::Fifo(fifo::Params::limited(Amount::Packets(1)));
    // The first leaves in part at 1 ms, so that the second finds the queue empty; the third is dropped.
    let mut world = World::new("1\n5\n", &queue);
    for (us, bytes) in [(0, 1600), (2000, 200), (3000, 200)] {
        world.events.at(Time::ZERO + Duration::from_micros(us), Event::Comes(us as u32, bytes));
    }
    while let Some((now, event)) = world.events.next_before(Time::ZERO + Duration::from_millis(4)) {
        world.step(now, event);
    }
    assert_eq!((world.link.under_way(), world.link.held(), world.dropped.len()), (1, 2, 1));
    // 96 + 200 B leave at 5 ms.
    assert_eq!(world.run(&[]).arrivals_ms(), [8, 8]);
}

#[test]
fn link_is_free_while_the_next_instant_can_carry_more() {
    // Two opportunities at 4 ms: 3008 B.
    let mut world = World::new("4\n4\n", &unlimited());
    let at = |ms| Time::ZERO + Duration::from_millis(ms);
    for expected in [true, true, true, false] {
        assert_eq!(world.link.is_free(at(1)), expected);
        assert_eq!(world.link.free_at(at(1)), if expected { at(1) } else { at(4) });
        world.step(at(1), Event::Comes(0, 1500));
    }
    // Two have left, with 8 B of the third; the fourth waits.
    world.step(at(4), Event::Wired(WiredEvent::TransmitterFree));
    assert_eq!((world.link.is_free(at(4)), world.link.held()), (true, 4));
}

#[test]
fn queue_without_room_makes_a_source_wait_for_the_next_instant() {
    let queue = QueueDisciplineKind::Fifo(fifo::Params::limited(Amount::Packets(1)));
    let mut world = World::new("4\n4\n", &queue);
    let at = |ms| Time::ZERO + Duration::from_millis(ms);
    world.step(at(1), Event::Comes(0, 1500));
    world.step(at(1), Event::Comes(1, 1500));
    assert_eq!((world.dropped.len(), world.link.is_free(at(1)), world.link.free_at(at(1))), (1, false, at(4)));
    world.step(at(4), Event::Wired(WiredEvent::TransmitterFree));
    assert!(world.link.is_free(at(4)));
}

/// Millisecond at which each packet of a FIFO leaves: every opportunity in turn, byte by byte.
fn naive(times_ms: &[u64], arrivals: &[Arrival]) -> Vec<u64> {
    let period = *times_ms.last().unwrap();
    let (mut left, mut next) = (Vec::new(), 0);
    let mut unsent = arrivals.first().map_or(0, |(_, bytes)| *bytes);
    for cycle in 0.. {
        for time in times_ms.iter().map(|time| cycle * period + time) {
            for _byte in 0..1504 {
                match arrivals.get(next) {
                    None => return left,
                    Some((us, _)) if *us >= time * 1000 => break,
                    Some(_) => unsent -= 1,
                }
                if unsent == 0 {
                    left.push(time);
                    next += 1;
                    unsent = arrivals.get(next).map_or(0, |(_, bytes)| *bytes);
                }
            }
        }
    }
    unreachable!("a trace repeats")
}

#[test]
fn random_arrivals_leave_as_in_a_naive_twin() {
    let mut most_events_at_once = 0;
    for seed in 0..200 {
        let mut random = Stream::new(seed, "replay", 0);
        let mut times_ms: Vec<u64> = (0..1 + random.up_to(30)).map(|_| u64::from(random.up_to(40))).collect();
        times_ms.push(1 + u64::from(random.up_to(40)));
        times_ms.sort_unstable();
        let mut arrivals: Vec<Arrival> = (0..200)
            // Many at the very millisecond of an opportunity.
            .map(|_| (u64::from(random.up_to(4000)) * 250, [40, 52, 500, 1500, 1504, 2304][random.up_to(5) as usize]))
            .collect();
        arrivals.sort_unstable();
        let text: String = times_ms.iter().map(|time| format!("{time}\n")).collect();
        let world = World::new(&text, &unlimited()).run(&arrivals);
        let expected: Vec<u64> = naive(&times_ms, &arrivals).iter().map(|time| time + 3).collect();
        assert_eq!(world.arrivals_ms(), expected, "seed {seed}: {text:?}");
        most_events_at_once = most_events_at_once.max(world.most_events_at_once);
    }
    assert!(most_events_at_once > 5, "{most_events_at_once}");
}

#[test]
fn every_queue_discipline_can_stand_before_a_trace() {
    for queue in QueueDisciplineKind::all() {
        // 12 packets of 1000 B each 10 ms, for which there are 3 opportunities: a standing queue of seconds.
        let arrivals: Vec<Arrival> = (0..6000).map(|n| (n / 12 * 10_000 + n % 12, 1000)).collect();
        let world = World::new("3\n7\n10\n", &queue).run(&arrivals);
        let (arrived, dropped) = (world.arrived.len(), world.dropped.len());
        assert_eq!((arrived + dropped, world.link.held()), (6000, 0), "{}", queue.name());
        // The queue is never empty in 5 s of 300 opportunities each.
        assert!(world.arrived.iter().filter(|(_, us)| *us < 5_003_000).count() >= 2200, "{} {arrived}", queue.name());
        assert!(world.arrived.iter().all(|(_, us)| [0, 3, 6].contains(&(us / 1000 % 10))), "{}", queue.name());
    }
}
