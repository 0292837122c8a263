//! Carries plain bytes over the network that a scenario describes: no TCP, no flows, no metrics.
//!
//! `cargo run -p lasthop-scenario --example bytes FILE` sends 1000 datagrams from the first station, one per
//! millisecond, and prints their delays.

use lasthop_link::{Packet, PacketMeta};
use lasthop_network::Network;
use lasthop_observe::NodeId;
use lasthop_scenario::resolve;
use lasthop_units::{Duration, Time};

fn main() {
    let file = std::env::args().nth(1).expect("usage: bytes FILE");
    let text = std::fs::read_to_string(&file).expect("the file can be read");
    let scenario = resolve(&text, &file, &[]).unwrap_or_else(|error| panic!("{error}"));
    let mut network: Network<Vec<u8>> = Network::new(scenario.topology(1), ());
    let flow = network.open_flow(Duration::ZERO);
    // The APs come first, then the stations.
    let station = NodeId(scenario.access_points() as u32);
    let make = |number: u16| {
        let mut body = vec![0; 1000];
        body[..2].copy_from_slice(&number.to_be_bytes());
        body
    };
    let sent_at = |number: u16| Time::ZERO + Duration::from_millis(u64::from(number));
    for number in 0..1000 {
        let body = make(number);
        let meta = PacketMeta::plain(flow, station, true, body.len() as u32);
        network.inject(sent_at(number), station, Packet::new(meta, body)).unwrap_or_else(|refusal| panic!("{refusal}"));
    }
    network.run_until(Time::ZERO + Duration::from_secs(5));
    let mut took: Vec<Duration> = network
        .arrivals()
        .map(|arrival| arrival.at.since(sent_at(u16::from_be_bytes([arrival.packet.body[0], arrival.packet.body[1]]))))
        .collect();
    took.sort_unstable();
    let median = took.get(took.len() / 2).map_or("none".to_string(), Duration::to_string);
    println!("{} of 1000 arrived; half of them within {median}", took.len());
}
