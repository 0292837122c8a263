//! A network that carries bytes of its driver, without hosts, flows or TCP.

use lasthop_link::{Packet, PacketMeta};
use lasthop_network::{Network, Refusal};
use lasthop_observe::{FlowId, NodeId};
use lasthop_scenario::resolve;
use lasthop_units::{Duration, Time};

const AP: NodeId = NodeId(0);
const STATION: NodeId = NodeId(1);

const TWO_STATIONS: &str = r#"
duration = "1 s"
[bss]
standard = "802.11n"
rate_control = { kind = "fixed", mcs = 7 }
[[station]]
count = 2
[wired]
rate = "100 Mbit/s"
delay = "5 ms"
[[flow]]
station = "*"
"#;

fn network() -> Network<Vec<u8>> {
    let scenario = resolve(TWO_STATIONS, "two", &[]).unwrap_or_else(|error| panic!("{error}"));
    Network::new(scenario.topology(1), ())
}

fn packet(flow: FlowId, station: NodeId, body: Vec<u8>) -> Packet<Vec<u8>> {
    Packet::new(PacketMeta::plain(flow, station, true, body.len() as u32), body)
}

fn at_ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

#[test]
fn bytes_arrive_as_they_were_and_after_wire_air_and_detour() {
    let mut network = network();
    let near = network.open_flow(Duration::ZERO);
    let far = network.open_flow(Duration::from_millis(20));
    for number in 0..100u8 {
        let flow = if number < 50 { near } else { far };
        let at = at_ms(2 * u64::from(number) + 1);
        network.inject(at, STATION, packet(flow, AP, vec![number; 1000])).expect("it is offered in time");
    }
    network.run_until(at_ms(900));
    let arrivals: Vec<_> = network.arrivals().collect();
    assert_eq!(arrivals.iter().map(|a| a.packet.body[0]).collect::<Vec<_>>(), (0..100).collect::<Vec<_>>());
    for arrival in &arrivals {
        let number = arrival.packet.body[0];
        let took = arrival.at.since(at_ms(2 * u64::from(number) + 1));
        // 5 ms and 80 us of wire; some 200 us of air; 20 ms of detour.
        let expected = 5_080 + if number < 50 { 0 } else { 20_000 };
        let air = took.as_nanos() / 1000 - expected;
        assert!((150..1_000).contains(&air), "packet {number} took {took}");
        assert!(arrival.packet.meta.up && arrival.packet.meta.station == STATION);
    }
    assert_eq!((network.held(), network.now()), (0, at_ms(900)));
    network.check_conservation().expect("nothing is lost");
}

#[test]
fn packets_from_behind_the_ap_reach_their_station() {
    let mut network = network();
    let flow = network.open_flow(Duration::ZERO);
    network.inject(at_ms(1), AP, packet(flow, NodeId(2), vec![7; 100])).expect("it is offered in time");
    network.run_until(at_ms(50));
    let arrived: Vec<_> =
        network.arrivals().map(|a| (a.packet.meta.up, a.packet.meta.station, a.packet.into_body())).collect();
    assert_eq!(arrived, [(false, NodeId(2), vec![7; 100])]);
}

#[test]
fn packet_offered_in_the_past_is_refused() {
    let mut network = network();
    let flow = network.open_flow(Duration::ZERO);
    network.run_until(at_ms(10));
    assert_eq!(network.now(), at_ms(10));
    let late = network.inject(at_ms(9), STATION, packet(flow, AP, vec![0; 10]));
    assert_eq!(late, Err(Refusal::Past { at: at_ms(9), now: at_ms(10) }));
    network.inject(at_ms(10), STATION, packet(flow, AP, vec![0; 10])).expect("the present is not past");
    assert!(network.next_at() <= Some(at_ms(10)));
}

#[test]
fn flows_come_and_go() {
    let mut network = network();
    let offer =
        |network: &mut Network<Vec<u8>>, flow| network.inject(at_ms(1), STATION, packet(flow, AP, vec![1; 500]));
    assert_eq!(offer(&mut network, FlowId(0)), Err(Refusal::NoSuchFlow(FlowId(0))));
    let first = network.open_flow(Duration::from_millis(3));
    assert_eq!(offer(&mut network, first), Ok(()));
    network.close_flow(first);
    assert_eq!(offer(&mut network, first), Err(Refusal::NoSuchFlow(first)));
    let second = network.open_flow(Duration::ZERO);
    assert_eq!(offer(&mut network, second), Ok(()));
    network.run_until(at_ms(100));
    // Packets in flight when their flow was closed still arrive.
    let flows: Vec<FlowId> = network.arrivals().map(|arrival| arrival.packet.meta.flow).collect();
    assert_eq!(flows, [second, first]);
}

#[test]
fn nodes_that_are_not_there_and_stations_of_nobody_are_refused() {
    let mut network = network();
    let flow = network.open_flow(Duration::ZERO);
    let offer = |network: &mut Network<Vec<u8>>, node, station| {
        network.inject(at_ms(1), node, packet(flow, station, vec![1; 500])).unwrap_err()
    };
    assert_eq!(offer(&mut network, NodeId(9), AP), Refusal::NoSuchNode(NodeId(9)));
    assert_eq!(offer(&mut network, AP, NodeId(9)), Refusal::NotOfThisBss { ap: AP, station: NodeId(9) });
    assert_eq!(offer(&mut network, AP, AP).to_string(), "node 0 is not a station of the AP 0");
}
