//! Sends strings over a wired link with CoDel, in one burst: arrivals, their times, and drops of its queue.
//!
//! `cargo run -p lasthop-link --example wire`

use lasthop_engine::{Scheduler, Stream};
use lasthop_link::queue_discipline::codel;
use lasthop_link::{Packet, PacketMeta, QueueDisciplineKind, WiredEvent, WiredLink};
use lasthop_observe::{FlowId, NodeId};
use lasthop_units::{DataRate, Duration, Time};

/// A link of 10 Mbit/s and 5 ms.
fn link() -> WiredLink<String> {
    let queue = QueueDisciplineKind::Codel(codel::Params::default());
    WiredLink::new(DataRate::from_bps(10_000_000), Duration::from_millis(5), queue.build(Stream::new(1, "queue", 0)))
}

/// Hands `bodies` to a link at time zero, as packets of 1250 B; returns each arrival with its time, and the number of
/// drops.
fn send(bodies: impl Iterator<Item = String>) -> (Vec<(Time, String)>, usize) {
    let (mut link, mut events) = (link(), Scheduler::<WiredEvent>::new());
    let (mut arrived, mut dropped) = (Vec::new(), Vec::new());
    for body in bodies {
        let meta = PacketMeta::plain(FlowId(0), NodeId(1), true, 1250);
        link.send(Time::ZERO, Packet::new(meta, body), &mut dropped, &mut |at, event| events.at(at, event));
    }
    while let Some((now, event)) = events.next_before(Time::NEVER) {
        let packet = link.handle(now, event, &mut dropped, &mut |at, event| events.at(at, event));
        arrived.extend(packet.map(|packet| (now, packet.into_body())));
    }
    (arrived, dropped.len())
}

fn main() {
    let (arrived, dropped) = send((0..300).map(|n| format!("packet {n}")));
    for (at, body) in arrived.iter().step_by(50) {
        println!("{at}: {body}");
    }
    println!("{} arrived, {dropped} dropped", arrived.len());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_arrive_after_transmission_and_delay_in_order() {
        let (arrived, dropped) = send((0..3).map(|n| n.to_string()));
        // 10,000 bit take 1 ms on the wire.
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        assert_eq!(arrived, [(at(6), "0".to_string()), (at(7), "1".to_string()), (at(8), "2".to_string())]);
        assert_eq!(dropped, 0);
    }

    /// A burst of 300 ms stays above the target of 5 ms for longer than the interval of 100 ms. [RFC 8289 §4.2]
    #[test]
    fn codel_drops_from_a_standing_queue() {
        let (arrived, dropped) = send((0..300).map(|n| n.to_string()));
        assert!(dropped > 0 && arrived.len() + dropped == 300, "{} arrived, {dropped} dropped", arrived.len());
    }
}
