//! The cost of a queue discipline: nanoseconds for one arrival and one departure at a constant backlog.
//!
//! `cargo run --release -p lasthop-link --example queue_cost [-- PART OF A NAME]`. The result is the fastest of several
//! pieces: other load on the machine only adds to the elapsed time.
#![allow(clippy::disallowed_methods)]

use std::time::Instant;

use lasthop_engine::Stream;
use lasthop_link::{AckFacts, AirtimeUse, Packet, PacketMeta, QueueDiscipline, QueueDisciplineKind, Wanted};
use lasthop_observe::{FlowId, NodeId};
use lasthop_units::{DataRate, Duration, Ecn, Time};

const PIECE: u64 = 500_000;
const PIECES: u32 = 8;
/// Packets that wait, below CoDel's target at one in 100 us.
const BACKLOG: u64 = 40;

/// A packet to one of eight stations, a flow each; its body is as large as a segment.
fn packet(number: u64, now: Time) -> Packet<[u64; 12]> {
    let flow = (number % 8) as u32;
    let meta = PacketMeta {
        bytes: if number.is_multiple_of(3) { 40 } else { 1500 },
        flow: FlowId(flow),
        tuple: flow,
        station: NodeId(flow),
        up: false,
        tid: 0,
        dscp: 0,
        pure_ack: number.is_multiple_of(3),
        ack: AckFacts::default(),
        ecn: Ecn::NotEct,
        packet: 0,
        begins_ppdu: false,
        enqueued_at: now,
    };
    Packet::new(meta, [number; 12])
}

/// Whole packets, or those of one station and TID as taken by a MAC that fills A-MPDUs of 16.
#[derive(Clone, Copy)]
enum Taking {
    Any,
    Aggregates,
}

fn piece(queue: &mut dyn QueueDiscipline<[u64; 12]>, now: &mut Time, taking: Taking) -> f64 {
    let (mut dropped, mut station) = (Vec::with_capacity(64), None);
    let began = Instant::now();
    for number in 0..PIECE {
        *now += Duration::from_micros(100);
        queue.enqueue(*now, packet(number, *now), &mut dropped);
        if matches!(taking, Taking::Aggregates) && number.is_multiple_of(16) {
            station = queue.next_station(*now, &[]);
        }
        let wanted = Wanted { station, tid: None };
        let taken = queue.dequeue(*now, wanted, &mut dropped).or_else(|| {
            station = queue.next_station(*now, &[]);
            queue.dequeue(*now, Wanted { station, tid: None }, &mut dropped)
        });
        if let Some(packet) = taken {
            let (station, airtime) = (packet.meta.station, Duration::from_micros(100));
            queue.on_done(*now, &packet.meta);
            let rate = DataRate::from_bps(130_000_000);
            queue.on_airtime(*now, &AirtimeUse { station, up: false, airtime, rate });
        }
        dropped.clear();
    }
    began.elapsed().as_nanos() as f64 / PIECE as f64
}

fn main() {
    let part = std::env::args().nth(1).unwrap_or_default();
    println!("{:<18} {:>8} {:>14}", "", "any, ns", "by station, ns");
    for kind in QueueDisciplineKind::all().iter().filter(|kind| kind.name().contains(&part)) {
        let costs = [Taking::Any, Taking::Aggregates].map(|taking| {
            let (mut queue, mut now) = (kind.build(Stream::new(1, "queue", 0)), Time::ZERO);
            (0..BACKLOG).for_each(|number| queue.enqueue(now, packet(number, now), &mut Vec::new()));
            (0..PIECES).map(|_| piece(&mut *queue, &mut now, taking)).fold(f64::INFINITY, f64::min)
        });
        println!("{:<18} {:>8.1} {:>14.1}", kind.name(), costs[0], costs[1]);
    }
}
