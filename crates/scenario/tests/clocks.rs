//! Sources of constant rate whose clocks differ, against arithmetic and a naive simulation of two of them.

use lasthop_scenario::{resolve, run};
use serde_json::Value;

/// Two sources of 8 Mbit/s, a packet of 1500 B every 1.5 ms each, through a wire of 10.13 Mbit/s.
const TWO: &str = r#"
duration = "40 s"
warmup = "5 s"
[bss]
standard = "802.11a"
[[station]]
count = 2
[wired]
rate = "10.13 Mbit/s"
queue = { kind = "fifo", limit = "20 packets" }
[[flow]]
station = "sta1"
direction = "down"
transport = "udp"
rate = "8 Mbit/s"
[[flow]]
station = "sta2"
direction = "down"
transport = "udp"
rate = "8 Mbit/s"
"#;

const INTERVAL_MS: f64 = 1.5;
/// Time of a packet on the wire: it divides the interval into parts of a thousandth.
const SERVICE_MS: f64 = 12.0 / 10.13;
/// Packets that the queue and the transmitter hold.
const ROOM: usize = 21;

fn result_of(text: &str, settings: &[(&str, &str)], seed: u64) -> Value {
    let settings: Vec<_> = settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let scenario = resolve(text, "two.toml", &settings).unwrap_or_else(|error| panic!("{error}"));
    serde_json::from_str(&run(&scenario, seed, None).unwrap().json()).unwrap()
}

fn complaint(text: &str, settings: &[(&str, &str)]) -> String {
    let settings: Vec<_> = settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    resolve(text, "two.toml", &settings).err().map(|error| error.to_string()).unwrap_or_default()
}

/// The first flow's part of the goodput.
fn share(settings: &[(&str, &str)], seed: u64) -> f64 {
    let result = result_of(TWO, settings, seed);
    let goodput = |flow: usize| result["flows"][flow]["goodput_bps"].as_f64().unwrap();
    assert!((goodput(0) + goodput(1) - 10.13e6 * 1472.0 / 1500.0).abs() < 0.02e6, "the wire is always busy");
    goodput(0) / (goodput(0) + goodput(1))
}

const EXACT: [(&str, &str); 2] = [("flow.0.clock_error", "0 ppm"), ("flow.1.clock_error", "0 ppm")];

fn exact(more: &[(&str, &str)]) -> f64 {
    share(&[&EXACT, more].concat(), 1)
}

/// The first source's part of the packets that a server takes in from 5 to 40 s, if the sources have these phases and errors.
fn naive_share(phases_ms: [f64; 2], errors_ppm: [f64; 2]) -> f64 {
    let step = errors_ppm.map(|error| INTERVAL_MS * (1.0 + error * 1e-6));
    let (mut number, mut taken) = ([0u32; 2], [0u32; 2]);
    // The times at which packets leave the server.
    let mut leaving: std::collections::VecDeque<f64> = std::collections::VecDeque::new();
    loop {
        let next = [0, 1].map(|source| phases_ms[source] + f64::from(number[source]) * step[source]);
        let source = usize::from(next[1] < next[0]);
        let now = next[source];
        if now > 40_000.0 {
            return f64::from(taken[0]) / f64::from(taken[0] + taken[1]);
        }
        number[source] += 1;
        while leaving.front().is_some_and(|&left| left <= now) {
            leaving.pop_front();
        }
        if leaving.len() < ROOM {
            leaving.push_back(leaving.back().map_or(now, |&last| last.max(now)) + SERVICE_MS);
            taken[source] += u32::from(now >= 5000.0);
        }
    }
}

#[test]
fn equal_clocks_keep_their_order_for_ever() {
    // A place becomes free at all parts of the interval of 1.5 ms alike, and whoever sends next takes it: a source that
    // sends 0.45 ms after the other takes the places that become free in these 0.45 ms. A source alone offers 0.79 of the
    // packets that the wire takes, and the other has at least the rest.
    let most = SERVICE_MS / INTERVAL_MS;
    for (phase, after_ms) in [("0.25 ms", 0.15), ("0.55 ms", 0.45), ("1.3 ms", 1.2)] {
        let first = exact(&[("flow.0.phase", "0.1 ms"), ("flow.1.phase", phase)]);
        let expected = (1.0 - after_ms / INTERVAL_MS).clamp(1.0 - most, most);
        assert!((first - expected).abs() < 0.005, "{phase}: {first} and {expected}");
    }
}

#[test]
fn clocks_that_differ_share_as_a_naive_simulation_has_it() {
    for (errors, words) in [([40.0, -10.0], ["40 ppm", "-10 ppm"]), ([0.0, 5.0], ["0 ppm", "5 ppm"])] {
        let settings = [
            ("flow.0.phase", "0.2 ms"),
            ("flow.1.phase", "0.9 ms"),
            ("flow.0.clock_error", words[0]),
            ("flow.1.clock_error", words[1]),
        ];
        let naive = naive_share([0.2, 0.9], errors);
        let ours = share(&settings, 1);
        assert!((ours - naive).abs() < 0.01, "{ours} and {naive}");
    }
}

#[test]
fn shares_of_drawn_clocks_are_equal_over_many_seeds() {
    let shares: Vec<f64> = (0..60).map(|seed| share(&[("duration", "15 s")], seed)).collect();
    let mean = shares.iter().sum::<f64>() / 60.0;
    let deviation = (shares.iter().map(|share| (share - mean) * (share - mean)).sum::<f64>() / 60.0).sqrt();
    // A phase is uniform, so a share deviates by at most 1/sqrt(12) = 0.29, the mean of 60 by 0.037: three deviations.
    assert!((mean - 0.5).abs() < 0.11, "{mean}");
    assert!(deviation > 0.1, "each seed has clocks of its own: {deviation}");
}

#[test]
fn first_packet_comes_at_the_phase() {
    let text = TWO.replace("rate = \"8 Mbit/s\"", "traffic = { kind = \"ping\", interval = \"1 s\" }");
    let sent = |phase: &str| {
        let settings =
            [("flow.0.phase", phase), ("warmup", "0 s"), ("duration", "10.5 s"), ("flow.0.clock_error", "0 ppm")];
        result_of(&text, &settings, 1)["flows"][0]["segments_sent"].as_u64().unwrap()
    };
    // At 0.1, 1.1, … 10.1 s; at 0.6, 1.6, … 9.6 s; at 7, 8, 9 and 10 s.
    assert_eq!(["0.1 s", "0.6 s", "7 s"].map(sent), [11, 10, 4]);
}

#[test]
fn tcp_writes_follow_the_clock_too() {
    let text = TWO.replace("transport = \"udp\"\nrate = \"8 Mbit/s\"", "rate = \"100 kbit/s\"");
    // A segment of 1448 B every 115.84 ms; clocks that are slow and fast by 1000 ppm differ by 3.5 of 1727 in 200 s.
    let delivered = |error: &str| {
        let settings =
            [("duration", "200 s"), ("warmup", "0 s"), ("flow.0.phase", "0 s"), ("flow.0.clock_error", error)];
        result_of(&text, &settings, 1)["flows"][0]["goodput_bps"].as_f64().unwrap() * 200.0 / 8.0 / 1448.0
    };
    let segments = ["1000 ppm", "0 ppm", "-1000 ppm"].map(|error| delivered(error).round());
    assert_eq!(segments, [1725.0, 1727.0, 1729.0]);
}

#[test]
fn clocks_of_ns3_are_exact() {
    let ns3 = [("bss.compat", "ns3"), ("duration", "6 s")];
    let given = [("flow.0.phase", "0 s"), ("flow.1.phase", "0 s")];
    let explicit = result_of(TWO, &[&ns3[..], &given, &EXACT].concat(), 3);
    assert_eq!(result_of(TWO, &ns3, 3)["flows"], explicit["flows"]);
}

#[test]
fn clock_without_intervals_is_refused() {
    let of = |key, value| complaint(TWO, &[("flow.0.rate", "saturated"), (key, value)]);
    assert!(of("flow.0.phase", "1 ms").contains("flow[0].phase: `phase` has no effect on a flow that does not send"));
    assert!(of("flow.0.clock_error", "1 ppm").contains("flow[0].clock_error: `clock_error` has no effect"));
    assert!(complaint(TWO, &[("flow.0.clock_error", "2000 ppm")]).contains("from -1000 ppm to 1000 ppm"));
    assert!(complaint(TWO, &[("flow.0.phase", "40 s")]).contains("after the end of the run"));
    assert!(complaint(TWO, &[("flow.0.clock_error", "3")]).contains("has no unit"));
}
