//! Carries bytes from a closure over an AP, a station and a wired link that are put together here: no TCP, no scenario file.
//!
//! `cargo run -p lasthop-network --example bytes_from_a_closure`

use std::sync::Arc;

use lasthop_engine::Stream;
use lasthop_link::queue_discipline::fifo;
use lasthop_link::{Packet, PacketMeta, QueueDisciplineKind, WiredLink};
use lasthop_network::{Arrival, Network, Topology, Wires};
use lasthop_observe::NodeId;
use lasthop_registry::{Amount, Switch};
use lasthop_units::{DataRate, Db, Dbm, Duration, Time};
use lasthop_wifi::phy::error_model::ErrorModelKind;
use lasthop_wifi::phy::{Phy, PhyOptions, Standard};
use lasthop_wifi::rate_control::{PeerModes, RateControl, RateControlKind, fixed};
use lasthop_wifi::{
    Access, AfterLoss, BssConfig, Channel, ChannelAccess, Countdown, MediumConfig, NodeConfig, Protection,
};

/// The AP comes first, then its station.
const STATION: NodeId = NodeId(1);
const SEED: u64 = 1;

fn fifo() -> QueueDisciplineKind {
    QueueDisciplineKind::Fifo(fifo::Params { limit: Amount::Packets(100) })
}

fn node(name: &str) -> NodeConfig {
    NodeConfig {
        name: name.to_string(),
        bss: 0,
        backpressured: false,
        retry_limit: Some(7),
        access: ChannelAccess::Dcf(Access::Difs),
        mid_packet_detection: None,
        airtime_weight: 256,
    }
}

fn bss(phy: Phy) -> BssConfig {
    BssConfig {
        phy: Arc::new(phy),
        channel: 0,
        ap: NodeId(0),
        aggregation: None,
        asks_after_loss: false,
        rts_threshold: None,
        txop_duration_rts_threshold: None,
        protection: Protection::None,
        beacons: None,
    }
}

/// The highest rate of the PHY, always.
fn highest_rate(phy: &Phy) -> Box<dyn RateControl> {
    let error_model = ErrorModelKind::all().remove(0);
    let peer = PeerModes {
        phy,
        modes: phy.allowed_modes(),
        received: Dbm(-50.0),
        noise_figure: Db(7.0),
        error_model: &error_model,
        seed: SEED,
    };
    RateControlKind::Fixed(fixed::Params::default())
        .build(&peer, "rate_control")
        .expect("every peer has a highest rate")
}

/// An AP and a station of 802.11a, on which nothing is lost.
fn medium(phy: Phy) -> MediumConfig<Vec<u8>> {
    MediumConfig {
        nodes: vec![node("ap"), node("sta")],
        queues: Box::new(|_, random| fifo().build(random)),
        // Up and down.
        rate_controls: (0..2).map(|_| highest_rate(&phy)).collect(),
        ideals: Vec::new(),
        channel: Channel::uniform(2),
        noise_mw_per_hz: 1e-17,
        error_model: ErrorModelKind::all().remove(0).build(SEED),
        capture: Switch::Off,
        countdown: Countdown::Frozen,
        after_loss: AfterLoss::Standard,
        seed: SEED,
        bss: vec![bss(phy)],
    }
}

fn wire(name: &str) -> WiredLink<Vec<u8>> {
    let queue = fifo().build(Stream::named(SEED, "queue", name));
    WiredLink::new(DataRate::from_bps(100_000_000), Duration::from_millis(5), queue)
}

fn topology() -> Topology<Vec<u8>> {
    let phy = PhyOptions::new(Standard::named("802.11a").expect("a standard")).resolve("bss").expect("its defaults");
    Topology { medium: medium(phy), wires: vec![Wires { up: wire("up"), down: wire("down") }] }
}

/// Carries what `source` gives from the station to the server until it gives no more: each time with its bytes, in the order
/// of time. What arrives goes to `sink` while the network runs.
fn carry(mut source: impl FnMut() -> Option<(Time, Vec<u8>)>, mut sink: impl FnMut(Arrival<Vec<u8>>)) {
    let mut network = Network::new(topology(), ());
    let flow = network.open_flow(Duration::ZERO);
    while let Some((at, body)) = source() {
        network.run_until(at);
        network.arrivals().for_each(&mut sink);
        let meta = PacketMeta::plain(flow, STATION, true, body.len() as u32);
        network.inject(at, STATION, Packet { meta, body }).expect("the present is not past");
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
    carry(words(text), |arrival| println!("{}: {}", arrival.at, String::from_utf8_lossy(&arrival.packet.body)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_arrive_as_they_were_sent() {
        let mut arrived = Vec::new();
        carry(words("one two three"), |arrival| arrived.push((arrival.at, arrival.packet.body)));
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
        // The first goes to the MAC at once, 100 wait.
        assert_eq!(arrived, 101);
    }
}
