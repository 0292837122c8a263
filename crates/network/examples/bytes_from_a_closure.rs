//! Carries bytes from a closure over an AP, a station and a wired link that this example builds: no TCP, no scenario
//! file.
//!
//! `cargo run -p lasthop-network --example bytes_from_a_closure`

use lasthop_engine::Stream;
use lasthop_link::queue_discipline::fifo;
use lasthop_link::{Packet, PacketMeta, QueueDisciplineKind, WiredLink};
use lasthop_network::{Arrival, Network, Topology, Wires};
use lasthop_observe::NodeId;
use lasthop_registry::Amount;
use lasthop_units::{DataRate, Duration, Time};
use lasthop_wifi::MediumConfig;
use lasthop_wifi::phy::{PhyOptions, Standard};

/// The AP comes first, then its station.
const STATION: NodeId = NodeId(1);
const SEED: u64 = 1;

fn fifo() -> QueueDisciplineKind {
    QueueDisciplineKind::Fifo(fifo::Params::limited(Amount::Packets(100)))
}

fn wire(name: &str) -> WiredLink<Vec<u8>> {
    let queue = fifo().build(Stream::named(SEED, "queue", name));
    WiredLink::new(DataRate::from_bps(100_000_000), Duration::from_millis(5), queue)
}

fn topology() -> Topology<Vec<u8>> {
    let phy = PhyOptions::new(Standard::named("802.11a").expect("a standard")).resolve("bss").expect("its defaults");
    let queues = Box::new(|_, random| fifo().build(random));
    // An AP and a station, without losses.
    let medium = MediumConfig::plain(phy, 1, SEED, queues);
    Topology { medium, wires: vec![Wires::new(wire("up"), wire("down"))] }
}

/// Carries the items of `source` from the station to the server until there are no more: each is a time and its bytes,
/// in the order of time. Arrivals go to `sink` while the network runs.
fn carry(mut source: impl FnMut() -> Option<(Time, Vec<u8>)>, mut sink: impl FnMut(Arrival<Vec<u8>>)) {
    let mut network = Network::new(topology(), ());
    let flow = network.open_flow(Duration::ZERO);
    while let Some((at, body)) = source() {
        network.run_until(at);
        network.arrivals().for_each(&mut sink);
        let meta = PacketMeta::plain(flow, STATION, true, body.len() as u32);
        network.inject(at, STATION, Packet::new(meta, body)).expect("the present is not past");
    }
    while network.held() > 0 || network.now() == Time::ZERO {
        let Some(next) = network.next_at() else { break };
        network.run_until(next + Duration::from_nanos(1));
        network.arrivals().for_each(&mut sink);
    }
    network.check_conservation().expect("no packet is lost or made");
}

/// Words, one each 2 ms.
fn words(text: &str) -> impl FnMut() -> Option<(Time, Vec<u8>)> {
    let mut words = text.split(' ').map(|word| word.as_bytes().to_vec()).enumerate();
    move || words.next().map(|(n, word)| (Time::ZERO + Duration::from_millis(2 * n as u64), word))
}

fn main() {
    let text = "frames contend for the air and bytes arrive in order";
    carry(words(text), |arrival| println!("{}: {}", arrival.at, String::from_utf8_lossy(&arrival.packet.into_body())));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_arrive_as_they_were_sent() {
        let mut arrived = Vec::new();
        carry(words("one two three"), |arrival| arrived.push((arrival.at, arrival.packet.into_body())));
        let bodies: Vec<&[u8]> = arrived.iter().map(|(_, body)| &body[..]).collect();
        assert_eq!(bodies, [&b"one"[..], b"two", b"three"]);
        // 5 ms of wire, and less than 1 ms of an idle medium at 54 Mbit/s
        for (n, (at, _)) in arrived.iter().enumerate() {
            let took = at.since(Time::ZERO + Duration::from_millis(2 * n as u64));
            assert!(took > Duration::from_millis(5) && took < Duration::from_millis(6), "{took}");
        }
    }

    #[test]
    fn a_burst_beyond_the_queue_is_dropped_at_its_tail() {
        let mut left = 0..200;
        let mut arrived = 0;
        carry(|| left.next().map(|n: u8| (Time::ZERO, vec![n; 1000])), |_| arrived += 1);
        // The first packet goes to the MAC at once, and 100 wait.
        assert_eq!(arrived, 101);
    }
}
