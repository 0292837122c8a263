//! The effect of active queue management on responsive sources: the delay in a bottleneck of 10 Mbit/s.
//!
//! The sources are as plain as possible: a window, one more packet a round trip, half the window on a drop or a mark,
//! once a round trip. They learn of a drop or mark a round trip later.

use lasthop_engine::{Scheduler, Stream};
use lasthop_link::{Packet, PacketMeta, QueueDisciplineKind, WiredEvent, WiredLink};
use lasthop_observe::{DropReason, FlowId, NodeId};
use lasthop_registry::{Parameter, Value};
use lasthop_units::{DataRate, Duration, Ecn, Time};

/// A packet takes 1 ms.
const RATE: DataRate = DataRate::from_bps(10_000_000);
const PACKET_BYTES: u32 = 1250;
const PACKET_TIME: Duration = Duration::from_millis(1);

#[derive(Clone, Copy)]
enum Event {
    Wire(WiredEvent),
    Acknowledged { source: usize },
    Congested { source: usize, number: u64 },
}

/// A source with a window.
struct Source {
    window: f64,
    slow_start: bool,
    in_flight: u32,
    next: u64,
    /// Number of the packet below which congestion has been answered.
    answered: u64,
}

impl Source {
    fn acknowledged(&mut self) {
        self.in_flight -= 1;
        self.window += if self.slow_start { 1.0 } else { 1.0 / self.window };
    }

    fn congested(&mut self, number: u64) {
        if number >= self.answered {
            self.window = (self.window / 2.0).max(2.0);
            self.slow_start = false;
            self.answered = self.next;
        }
    }
}

/// Results of a run, after its first fifth.
struct Outcome {
    /// waiting times in ms, sorted
    waits_ms: Vec<f64>,
    /// least waiting time of each 100 packets, which take 100 ms
    least_ms: Vec<f64>,
    drops: Vec<DropReason>,
    marks: u64,
    utilisation: f64,
}

impl Outcome {
    fn median_ms(&self) -> f64 {
        self.waits_ms[self.waits_ms.len() / 2]
    }
    fn standing_ms(&self) -> f64 {
        self.least_ms.iter().sum::<f64>() / self.least_ms.len() as f64
    }
    fn mean_ms(&self) -> f64 {
        self.waits_ms.iter().sum::<f64>() / self.waits_ms.len() as f64
    }
}

/// A discipline by its name and entries in a scenario file.
fn discipline(kind: &str, entries: &[(&str, Value)]) -> QueueDisciplineKind {
    let kind = [("kind", Value::text(kind))];
    let table = kind.iter().chain(entries).map(|(name, value)| (name.to_string(), value.clone())).collect();
    QueueDisciplineKind::parse(&Value::Table(table), "queue").unwrap_or_else(|e| panic!("{e}"))
}

/// Runs this many sources through the bottleneck, with this round trip without a queue.
fn run(kind: &QueueDisciplineKind, sources: usize, rtt: Duration, ecn: Ecn, seconds: u64) -> Outcome {
    let mut link = WiredLink::new(RATE, rtt / 2, kind.build::<u64>(Stream::new(1, "queue", 0)));
    let mut events: Scheduler<Event> = Scheduler::new();
    let source = || Source { window: 2.0, slow_start: true, in_flight: 0, next: 0, answered: 0 };
    let mut sources: Vec<Source> = (0..sources).map(|_| source()).collect();
    let end = Time::ZERO + Duration::from_secs(seconds);
    let start = Time::ZERO + Duration::from_secs(seconds) / 5;
    let mut outcome =
        Outcome { waits_ms: Vec::new(), least_ms: Vec::new(), drops: Vec::new(), marks: 0, utilisation: 0.0 };
    let mut dropped = Vec::new();
    let mut now = Time::ZERO;
    loop {
        for (index, source) in sources.iter_mut().enumerate() {
            while f64::from(source.in_flight) < source.window.floor() {
                source.in_flight += 1;
                let plain = PacketMeta::plain(FlowId(index as u32), NodeId(1), true, PACKET_BYTES);
                let packet = Packet::new(PacketMeta { ecn, enqueued_at: now, ..plain }, source.next);
                source.next += 1;
                link.send(now, packet, &mut dropped, &mut |at, e| events.at(at, Event::Wire(e)));
            }
        }
        for (packet, reason) in dropped.drain(..) {
            let source = packet.meta.flow.index();
            events.at(now + rtt, Event::Congested { source, number: packet.body });
            events.at(now + rtt, Event::Acknowledged { source });
            if now >= start {
                outcome.drops.push(reason);
            }
        }
        let Some((time, event)) = events.next_before(end) else { break };
        now = time;
        match event {
            Event::Wire(event) => {
                let arrived = link.handle(now, event, &mut dropped, &mut |at, e| events.at(at, Event::Wire(e)));
                if let Some(packet) = arrived {
                    let source = packet.meta.flow.index();
                    if packet.meta.ecn == Ecn::Ce {
                        events.at(now + rtt / 2, Event::Congested { source, number: packet.body });
                    }
                    events.at(now + rtt / 2, Event::Acknowledged { source });
                    let waited = now.since(packet.meta.enqueued_at) - rtt / 2 - PACKET_TIME;
                    if now >= start {
                        outcome.waits_ms.push(waited.as_secs_f64() * 1e3);
                    }
                }
            }
            Event::Acknowledged { source } => sources[source].acknowledged(),
            Event::Congested { source, number } => sources[source].congested(number),
        }
    }
    outcome.least_ms = outcome.waits_ms.chunks(100).map(|c| c.iter().copied().fold(f64::MAX, f64::min)).collect();
    outcome.waits_ms.sort_by(f64::total_cmp);
    outcome.marks = link.new_marks();
    let sent = outcome.waits_ms.len() as f64 * PACKET_TIME.as_secs_f64();
    outcome.utilisation = sent / end.since(start).as_secs_f64();
    outcome
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn a_plain_queue_stands_near_its_limit() {
    let plain = run(&discipline("fifo", &[("limit", Value::text("200 packets"))]), 10, ms(50), Ecn::NotEct, 60);
    assert!(plain.median_ms() > 100.0 && plain.utilisation > 0.999, "{}", plain.median_ms());
}

#[test]
fn codel_keeps_a_standing_queue_at_its_target() {
    // The standing queue is the least wait of an interval: CoDel allows 5 ms. There are just enough sources to keep the
    // bottleneck busy with their halved windows: with fewer the queue empties between drops, with more the law, which
    // does not know the number of sources, settles higher.
    for (sources, rtt) in [(4, 50), (5, 50), (8, 80), (10, 100)] {
        let outcome = run(&discipline("codel", &[]), sources, ms(rtt), Ecn::NotEct, 100);
        assert!((outcome.standing_ms() - 5.0).abs() < 1.0, "{sources}, {rtt} ms: {}", outcome.standing_ms());
        assert!(outcome.utilisation > 0.98, "{sources}, {rtt} ms: {}", outcome.utilisation);
    }
}

#[test]
fn codel_marks_instead_of_dropping() {
    let outcome = run(&discipline("codel", &[("ecn", Value::Bool(true))]), 5, ms(50), Ecn::Ect0, 100);
    assert!(outcome.drops.is_empty() && outcome.marks > 500, "{} marks", outcome.marks);
    assert!((outcome.standing_ms() - 5.0).abs() < 1.5, "{}", outcome.standing_ms());
}

#[test]
fn pie_keeps_the_mean_delay_at_its_target() {
    for rtt in [20, 50, 100] {
        for target in [15, 30] {
            let pie = discipline("pie", &[("target", Value::text(format!("{target} ms")))]);
            let outcome = run(&pie, 10, ms(rtt), Ecn::NotEct, 60);
            let error_ms = outcome.mean_ms() - target as f64;
            assert!(error_ms.abs() < 1.5, "{target} ms of {rtt} ms: {}", outcome.mean_ms());
            assert!(outcome.utilisation > 0.99, "{}", outcome.utilisation);
        }
    }
}

#[test]
fn pie_by_the_departure_rate_keeps_it_too() {
    let pie = discipline("pie", &[("estimate", Value::text("departure_rate"))]);
    let outcome = run(&pie, 10, ms(50), Ecn::NotEct, 60);
    assert!((outcome.mean_ms() - 15.0).abs() < 1.5, "{}", outcome.mean_ms());
}

#[test]
fn pie_marks_below_its_threshold_and_drops_nothing() {
    // Four sources need a probability of about a hundredth, far below the threshold of a tenth.
    let outcome = run(&discipline("pie", &[("ecn", Value::Bool(true))]), 4, ms(50), Ecn::Ect0, 60);
    assert!(outcome.drops.is_empty() && outcome.marks > 100, "{:?}, {} marks", outcome.drops, outcome.marks);
}

#[test]
fn red_keeps_the_average_between_its_thresholds() {
    // A packet takes a millisecond: 5 to 15 packets are 5 to 15 ms.
    for (sources, rtt) in [(10, 20), (10, 50), (20, 50)] {
        let outcome = run(&discipline("red", &[]), sources, ms(rtt), Ecn::NotEct, 60);
        assert!((5.0..15.0).contains(&outcome.mean_ms()), "{sources}, {rtt} ms: {}", outcome.mean_ms());
        assert!(outcome.drops.iter().all(|reason| *reason == DropReason::Early) && outcome.utilisation > 0.99);
    }
}

#[test]
fn red_marks_instead_of_dropping() {
    let outcome = run(&discipline("red", &[("ecn", Value::Bool(true))]), 10, ms(50), Ecn::Ect0, 60);
    assert!(outcome.drops.is_empty() && outcome.marks > 1_000, "{:?}, {} marks", outcome.drops.len(), outcome.marks);
}
