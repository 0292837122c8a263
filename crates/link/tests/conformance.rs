//! What every queue discipline promises, tested on each that is registered.

use lasthop_engine::Stream;
use lasthop_link::{Packet, PacketMeta, QueueDisciplineKind, Wanted};
use lasthop_observe::{DropReason, FlowId, NodeId};
use lasthop_units::{Duration, Ecn, Time};

fn packet(number: u64, random: &mut Stream) -> Packet<u64> {
    let pure_ack = random.chance(0.3);
    let flow = random.up_to(4);
    let meta = PacketMeta {
        bytes: if pure_ack { 40 } else { 40 + random.up_to(1460) },
        flow: FlowId(flow),
        station: NodeId(1 + flow),
        up: false,
        tid: 0,
        pure_ack,
        ecn: Ecn::NotEct,
        enqueued_at: Time::ZERO,
    };
    Packet { meta, body: number }
}

/// What happened to one packet: its number, its flow, and whether it was dropped.
type Fate = (u64, FlowId, bool);

/// Random arrivals and departures; checks the counts at every step and returns every packet's fate, in order.
fn exercise(kind: &QueueDisciplineKind, seed: u64) -> Vec<Fate> {
    let mut random = Stream::named(seed, "conformance", kind.name());
    let mut queue = kind.build::<u64>(Stream::new(seed, "queue", 0));
    let (mut now, mut fates, mut dropped) = (Time::ZERO, Vec::new(), Vec::new());
    let (mut offered, mut acks_offered, mut acks_gone) = (0, 0, 0);
    for step in 0..20_000 {
        now += Duration::from_micros(u64::from(random.up_to(2_000)));
        // Arrivals outweigh departures at first, so that the queue fills, and then the other way round.
        if random.chance(if step < 12_000 { 0.6 } else { 0.3 }) {
            let mut packet = packet(offered, &mut random);
            packet.meta.enqueued_at = now;
            offered += 1;
            acks_offered += u32::from(packet.meta.pure_ack);
            let had_room = queue.has_room(packet.meta.bytes);
            queue.enqueue(now, packet, &mut dropped);
            let is_full = dropped.iter().any(|(_, reason)| *reason == DropReason::QueueFull);
            assert!(!(had_room && is_full), "{}: it dropped although it had room", kind.name());
        } else if let Some(packet) = queue.dequeue(now, Wanted::ANY, &mut dropped) {
            acks_gone += u32::from(packet.meta.pure_ack);
            fates.push((packet.body, packet.meta.flow, false));
        }
        for (packet, _) in dropped.drain(..) {
            acks_gone += u32::from(packet.meta.pure_ack);
            fates.push((packet.body, packet.meta.flow, true));
        }
        let held = u64::from(queue.packets());
        assert_eq!(offered, held + fates.len() as u64, "{}: packets are conserved", kind.name());
        assert_eq!(queue.tcp_acks(), acks_offered - acks_gone, "{}: it knows its ACKs", kind.name());
    }
    fates
}

#[test]
fn packets_are_conserved_and_counted() {
    for kind in QueueDisciplineKind::all() {
        let fates = exercise(&kind, 1);
        assert!(fates.iter().any(|(_, _, dropped)| *dropped), "{}: the test fills it", kind.name());
    }
}

#[test]
fn packets_of_a_flow_leave_in_the_order_in_which_they_came() {
    for kind in QueueDisciplineKind::all() {
        let fates = exercise(&kind, 2);
        for flow in 0..=4 {
            let sent: Vec<u64> = fates.iter().filter(|f| f.1 == FlowId(flow) && !f.2).map(|f| f.0).collect();
            assert!(sent.is_sorted(), "{}", kind.name());
        }
    }
}

#[test]
fn the_same_packets_have_the_same_fate() {
    for kind in QueueDisciplineKind::all() {
        assert_eq!(exercise(&kind, 3), exercise(&kind, 3), "{}", kind.name());
    }
}

#[test]
fn an_empty_queue_gives_nothing() {
    for kind in QueueDisciplineKind::all() {
        let mut dropped = Vec::new();
        assert!(
            kind.build::<u64>(Stream::new(1, "queue", 0)).dequeue(Time::ZERO, Wanted::ANY, &mut dropped).is_none()
                && dropped.is_empty()
        );
    }
}
