//! The loop between a network and hosts, with a simulated clock and scripted hosts.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::Ipv4Addr;

use lasthop_emulation::driver::{Driven, HostIo, drive};
use lasthop_observe::{FlowId, NodeId};
use lasthop_scenario::emulation::{Emulation, KernelView, Site};
use lasthop_scenario::{ResolvedScenario, resolve};
use lasthop_units::{Duration, Ecn, Time};
use lasthop_wire::ip::{Ipv4, protocol};
use lasthop_wire::{Payload, Udp};

const AP: NodeId = NodeId(0);
const STATION: NodeId = NodeId(1);

fn scenario(more: &str) -> ResolvedScenario {
    let text = format!(
        r#"
duration = "1 s"
[channel]
path_loss = "none"
[bss]
standard = "802.11g"
rate_control = {{ kind = "fixed", rate = "54 Mbit/s" }}
[[station]]
name = "laptop"
[wired]
rate = "100 Mbit/s"
delay = "10 ms"
[[flow]]
station = "laptop"
direction = "up"
{more}"#
    );
    resolve(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// A datagram from the station to the server, or back, with this number in it.
fn datagram(up: bool, server: Ipv4Addr, port: u16, number: u8) -> Vec<u8> {
    let station = Site::address(STATION);
    let (source, destination) = if up { (station, server) } else { (server, station) };
    let (source_port, destination_port) = if up { (9, port) } else { (port, 9) };
    let body = [number; 100];
    let mut bytes = Vec::new();
    let ip = Ipv4 {
        protocol: protocol::UDP,
        source,
        destination,
        ecn: Ecn::Ect0,
        payload_length: 8 + body.len() as u16,
        ..Ipv4::default()
    };
    ip.append(&mut bytes);
    let udp = Udp { source_port, destination_port, payload_length: body.len() as u16 };
    udp.append(&ip.addresses(), Payload::bytes(&body), &mut bytes);
    bytes
}

/// Hosts that send according to a script. Their clock moves only by waiting, and each waking is late.
#[derive(Default)]
struct Script {
    now: Time,
    late: Duration,
    sends: VecDeque<(Time, NodeId, Vec<u8>)>,
    got: Vec<(Time, NodeId, Vec<u8>)>,
    /// number of packets after which it has no room
    full_after: Option<usize>,
    over_at: Option<Time>,
    looks: u32,
}

impl HostIo for Script {
    type Error = Infallible;

    fn now(&mut self) -> Time {
        self.now
    }

    fn take(&mut self) -> Result<Option<(NodeId, Vec<u8>)>, Infallible> {
        let due = self.sends.front().is_some_and(|(at, ..)| *at <= self.now);
        Ok(if due { self.sends.pop_front().map(|(_, node, bytes)| (node, bytes)) } else { None })
    }

    fn give(&mut self, node: NodeId, packet: &[u8]) -> Result<bool, Infallible> {
        if self.full_after.is_some_and(|most| self.got.len() >= most) {
            return Ok(false);
        }
        self.got.push((self.now, node, packet.to_vec()));
        Ok(true)
    }

    fn wait(&mut self, until: Time) -> Result<(), Infallible> {
        let next = self.sends.front().map_or(until, |(at, ..)| until.min(*at));
        self.now = self.now.max(next) + self.late;
        Ok(())
    }

    fn look(&mut self, into: &mut Vec<(FlowId, KernelView)>) -> Result<(), Infallible> {
        self.looks += 1;
        into.push((FlowId(0), KernelView { cwnd: 10.0, ssthresh: f64::INFINITY, rtt: None, timeouts: Some(0) }));
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.over_at.is_some_and(|at| self.now >= at)
    }
}

fn run(scenario: &ResolvedScenario, script: &mut Script) -> (Driven, Emulation) {
    let plan = scenario.emulation_plan(1).unwrap();
    let mut emulation = Emulation::new(scenario, 1, &plan, ());
    let mut times = Vec::new();
    let driven = drive(&mut emulation, script, Duration::from_millis(100), &mut |now| times.push(now)).unwrap();
    assert!(times.is_sorted());
    (driven, emulation)
}

fn ups(port: u16, count: u8) -> VecDeque<(Time, NodeId, Vec<u8>)> {
    (0..count).map(|number| (Time::ZERO, STATION, datagram(true, Site::SERVER, port, number))).collect()
}

#[test]
fn packets_arrive_as_they_were_sent_after_the_delay_of_the_path() {
    let mut script = Script { sends: ups(50_000, 5), ..Script::default() };
    script.sends.push_back((Time::from_nanos(500_000_000), AP, datagram(false, Site::SERVER, 50_000, 9)));
    let (driven, _) = run(&scenario(""), &mut script);
    assert_eq!((driven.taken, driven.given, driven.refused), (6, 6, 0));
    let arrived: Vec<(NodeId, u8)> = script.got.iter().map(|(_, node, bytes)| (*node, bytes[40])).collect();
    assert_eq!(arrived, [(AP, 0), (AP, 1), (AP, 2), (AP, 3), (AP, 4), (STATION, 9)]);
    for (number, (at, _, bytes)) in script.got[..5].iter().enumerate() {
        assert_eq!(*bytes, datagram(true, Site::SERVER, 50_000, number as u8));
        // 10 ms of wire, and a frame takes some 60 us.
        assert!((10_000_000..12_000_000).contains(&at.as_nanos()), "{at}");
    }
}

#[test]
fn being_late_makes_nothing_later_and_is_measured() {
    let scenario = scenario("");
    let [on_time, late] = [Duration::ZERO, Duration::from_micros(300)].map(|late| {
        let mut script = Script { sends: ups(50_000, 20), late, ..Script::default() };
        run(&scenario, &mut script).0
    });
    assert_eq!((on_time.given, late.given), (20, 20));
    assert_eq!(on_time.digest, late.digest, "times, nodes and bytes of deliveries");
    assert_eq!(on_time.lateness.most(), Duration::ZERO);
    assert!(late.lateness.most() >= Duration::from_micros(300) && late.lateness.most() < Duration::from_micros(700));
    assert!(late.lateness.quantile(0.5) >= Duration::from_micros(150), "{:?}", late.lateness.quantile(0.5));
}

#[test]
fn a_digest_knows_times_nodes_and_bytes() {
    let scenario = scenario("");
    let digest = |sends: VecDeque<_>| run(&scenario, &mut Script { sends, ..Script::default() }).0.digest;
    let first = digest(ups(50_000, 3));
    assert_eq!(first, digest(ups(50_000, 3)));
    let mut other_bytes = ups(50_000, 3);
    *other_bytes[1].2.last_mut().unwrap() ^= 1;
    let mut later = ups(50_000, 3);
    later[2].0 = Time::from_nanos(40_000_000);
    let mut down = ups(50_000, 3);
    down[2] = (Time::ZERO, AP, datagram(false, Site::SERVER, 50_000, 2));
    for other in [other_bytes, later, down, ups(50_000, 2)] {
        assert_ne!(first, digest(other));
    }
}

#[test]
fn packet_of_no_flow_is_counted_and_does_not_enter() {
    let mut script = Script { sends: ups(7, 2), ..Script::default() };
    script.sends.push_back((Time::ZERO, STATION, datagram(true, Ipv4Addr::new(224, 0, 0, 251), 50_000, 0)));
    script.sends.push_back((Time::ZERO, STATION, vec![0x60; 60]));
    script.sends.push_back((Time::ZERO, STATION, Vec::new()));
    let (driven, emulation) = run(&scenario(""), &mut script);
    let strays: Vec<(String, u64)> = driven.strays.iter().map(|(stray, count)| (stray.to_string(), *count)).collect();
    let expected = [("not IPv4", 2), ("for no host of the scenario", 1), ("of no flow of the scenario", 2)];
    assert_eq!(strays, expected.map(|(why, count)| (why.to_string(), count)));
    assert_eq!((driven.taken, driven.given), (5, 0));
    assert_eq!(emulation.now(), emulation.end());
}

#[test]
fn station_with_an_application_takes_packets_of_other_ports() {
    let scenario = scenario("application = { kind = \"command\", client = \"true\" }");
    let mut script = Script { sends: ups(7, 2), ..Script::default() };
    assert_eq!(run(&scenario, &mut script).0.given, 2);
}

#[test]
fn packet_refused_by_a_full_host_is_counted() {
    let mut script = Script { sends: ups(50_000, 5), full_after: Some(3), ..Script::default() };
    let (driven, _) = run(&scenario(""), &mut script);
    assert_eq!((driven.given, driven.refused), (3, 2));
}

#[test]
fn kernels_are_asked_once_an_interval() {
    let mut script = Script::default();
    run(&scenario(""), &mut script);
    assert_eq!(script.looks, 9, "at 0.1 to 0.9 s");
}

#[test]
fn a_run_may_be_over_before_its_time() {
    let mut script = Script { over_at: Some(Time::from_nanos(250_000_000)), ..Script::default() };
    let (_, emulation) = run(&scenario(""), &mut script);
    assert_eq!(emulation.now(), emulation.end());
    assert!((250_000_000..=310_000_000).contains(&emulation.end().as_nanos()), "{}", emulation.end());
}
