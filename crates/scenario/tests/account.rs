//! Accounts of time, in cases with known shares.
//!
//! 802.11b with long preambles at 11 Mbit/s: a packet of 1500 B is an MPDU of 1536 B and lasts 192 + 1117.1 us; a TCP ACK
//! of 40 B is 76 B and lasts 192 + 55.3 us; an Ack of 14 B 192 + 10.2 us. SIFS is 10 us, DIFS 50 us, a slot 20 us, the
//! mean backoff 15.5 slots.

use lasthop_scenario::{resolve, run, run_with_account};
use serde_json::Value;

const DATA_US: f64 = 192.0 + 1536.0 * 8.0 / 11.0;
const TCP_ACK_US: f64 = 192.0 + 76.0 * 8.0 / 11.0;
const RESPONSE_US: f64 = 10.0 + 192.0 + 14.0 * 8.0 / 11.0;
const DIFS_US: f64 = 50.0;
const BACKOFF_US: f64 = 15.5 * 20.0;

const FLOW: &str = "[[flow]]\nstation = \"*\"\n";
const SATURATED: &str = "transport = \"udp\"\nrate = \"saturated\"\n";

/// 802.11b at 11 Mbit/s, with these additional sections.
fn text(head: &str, tail: &str) -> String {
    format!(
        "duration = \"22 s\"\nwarmup = \"2 s\"\n{head}\n[bss]\nstandard = \"802.11b\"\n\
         rate_control = {{ kind = \"fixed\", rate = \"11 Mbit/s\" }}\n{tail}"
    )
}

/// A run and the shares of its account.
struct Shares(Value);

impl Shares {
    fn of(text: &str) -> Shares {
        let scenario = resolve(text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
        Shares(serde_json::from_str(&run_with_account(&scenario, 1).unwrap().json()).unwrap())
    }
    fn covered_s(&self) -> f64 {
        self.0["account"]["covered_s"].as_f64().unwrap()
    }
    fn term(&self, flow: usize, term: &str) -> f64 {
        self.0["account"]["flows"][flow]["terms"][format!("{term}_s")].as_f64().unwrap() / self.covered_s()
    }
    fn waiting_for(&self, flow: usize, name: &str) -> f64 {
        self.named(&self.0["account"]["flows"][flow]["waiting_for"], name)
    }
    fn named(&self, list: &Value, name: &str) -> f64 {
        let found = list.as_array().unwrap().iter().find(|item| item["name"] == name);
        found.map_or(0.0, |item| item["time_s"].as_f64().unwrap() / self.covered_s())
    }
    fn channel(&self, term: &str) -> f64 {
        self.0["account"]["channels"][0][format!("{term}_s")].as_f64().unwrap() / self.covered_s()
    }
    fn flow(&self, flow: usize, metric: &str) -> f64 {
        self.0["flows"][flow][metric].as_f64().unwrap()
    }
    fn node(&self, node: usize, metric: &str) -> f64 {
        self.0["nodes"][node][metric].as_f64().unwrap()
    }
}

#[track_caller]
fn assert_near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected} within {tolerance}");
}

#[test]
fn a_saturated_station_alone_spends_its_time_on_data_on_control_and_on_backoff() {
    let shares = Shares::of(&text("", &format!("[[station]]\n{FLOW}{SATURATED}")));
    let cycle = DIFS_US + BACKOFF_US + DATA_US + RESPONSE_US;
    // The mean of 10,600 backoffs has an error of 1.8 us: 0.1 % of the cycle.
    assert_near(shares.term(0, "own_data"), DATA_US / cycle, 3e-3);
    assert_near(shares.term(0, "own_control"), RESPONSE_US / cycle, 3e-3);
    assert_near(shares.term(0, "backoff_and_spaces"), (DIFS_US + BACKOFF_US) / cycle, 3e-3);
    // The channel agrees: 10 us of each exchange are its SIFS.
    assert_near(shares.channel("within_exchanges"), 10.0 / cycle, 1e-4);
    assert_near(shares.channel("contending"), (DIFS_US + BACKOFF_US) / cycle, 3e-3);
    assert_eq!(shares.channel("idle"), 0.0);
}

#[test]
fn an_upload_has_as_many_tcp_acks_on_the_air_as_data() {
    let shares = Shares::of(&text("", &format!("[[station]]\n{FLOW}[tcp]\nprofile = \"ns2\"\n")));
    assert_near(shares.term(0, "own_tcp_acks") / shares.term(0, "own_data"), TCP_ACK_US / DATA_US, 2e-3);
    // Its own data and its own ACKs collide with one another; there is no other loss.
    let rest = ["own_data", "own_tcp_acks", "own_control", "collisions", "backoff_and_spaces"];
    assert_near(rest.iter().map(|term| shares.term(0, term)).sum(), 1.0, 1e-3);
    assert!(shares.term(0, "collisions") > 0.01);
}

#[test]
fn losses_of_two_saturated_stations_are_their_collisions() {
    let shares = Shares::of(&text("", &format!("[[station]]\ncount = 2\n{FLOW}{SATURATED}")));
    let attempts = shares.node(1, "frames_sent") + shares.node(2, "frames_sent");
    let collided = attempts * shares.0["medium"]["collision_probability"].as_f64().unwrap();
    assert!(collided > 500.0);
    // Both begin in the same slot, and each loses its whole PPDU.
    let lost = collided * DATA_US * 1e-6 / shares.covered_s();
    assert_near(shares.term(0, "collisions") + shares.term(1, "collisions"), lost, 2e-4);
    // Each waits for the other's successful exchanges, listed by name.
    let arrived = shares.flow(1, "goodput_bps") / 8.0 / 1472.0;
    assert_near(shares.waiting_for(0, "sta2"), arrived * (DATA_US + RESPONSE_US) * 1e-6, 2e-4);
    assert_eq!(shares.waiting_for(0, "sta1"), 0.0);
}

#[test]
fn noise_counts_by_spoiled_mpdus() {
    let channel = "[channel]\nerror_model = { kind = \"fixed\", frame_error_rate = 0.1 }\n";
    let shares = Shares::of(&text(channel, &format!("[[station]]\n{FLOW}{SATURATED}")));
    // 100 attempts: 10 lose their data, 9 their Ack after it, 81 succeed.
    let lost = 0.1 * DATA_US + 0.09 * (DATA_US + RESPONSE_US);
    assert_near(shares.term(0, "noise") / shares.term(0, "own_data"), lost / (0.81 * DATA_US), 0.012);
    assert_eq!(shares.term(0, "collisions"), 0.0);
}

#[test]
fn a_small_receive_window_over_a_long_path_is_most_of_the_time() {
    let tail = format!(
        "[[station]]\n{FLOW}[wired]\ndelay = \"100 ms\"\n[tcp]\nprofile = \"ns2\"\nreceive_window = \"4 packets\"\n"
    );
    let shares = Shares::of(&text("", &tail));
    // In each RTT four packets and their ACKs take the air, each after a DIFS if the medium was idle; a backoff
    // precedes at most every second one.
    let busy = 4.0 * (DATA_US + TCP_ACK_US + 2.0 * (RESPONSE_US + DIFS_US));
    let rtt_us = 1e6 * shares.flow(0, "rtt_mean_s");
    assert!(rtt_us > 200e3);
    assert_near(shares.term(0, "receive_window"), 1.0 - (busy + 2.0 * BACKOFF_US) / rtt_us, 2.0 * BACKOFF_US / rtt_us);
    assert_near(shares.term(0, "own_data"), 4.0 * DATA_US / rtt_us, 5e-4);
    assert_eq!(shares.term(0, "congestion_window"), 0.0);
}

#[test]
fn without_a_receive_window_it_is_the_congestion_window() {
    let tail = format!(
        "[[station]]\n{FLOW}size = \"14600 B\"\nrepeat = 1000\n[wired]\ndelay = \"100 ms\"\n[tcp]\nprofile = \"ns2\"\n"
    );
    let shares = Shares::of(&text("", &tail));
    // Each transfer of ten segments opens, and sends 2, 4 and 4 of them: one of four round trips is the handshake, two
    // see a full window; the last has no data left.
    assert_near(shares.term(0, "opening"), 0.25, 0.02);
    assert_near(shares.term(0, "congestion_window"), 0.5, 0.04);
    assert_near(shares.term(0, "on_the_wire"), 0.25, 0.04);
}

#[test]
fn between_the_packets_of_a_slow_source_the_application_is_idle() {
    let shares = Shares::of(&text("", &format!("[[station]]\n{FLOW}transport = \"udp\"\nrate = \"1 Mbit/s\"\n")));
    // A packet of 1500 B every 12 ms finds the medium idle for more than a DIFS and is sent at once; the wire of 1
    // Gbit/s takes another 12 us.
    let packet = DATA_US + RESPONSE_US;
    assert_near(shares.term(0, "application_idle"), 1.0 - packet / 12e3, 2e-3);
    assert_near(shares.channel("idle"), 1.0 - packet / 12e3, 2e-3);
}

#[test]
fn a_flow_whose_packets_never_arrive_is_silent() {
    let text = text("", &format!("[[station]]\n{FLOW}[tcp]\nprofile = \"ns2\"\n"));
    let text = format!("{text}[channel]\nhidden = [[\"sta\", \"ap\"]]\n");
    let shares = Shares::of(&text);
    // A SYN is transmitted eight times at most, each time for less than 30 ms with its backoffs, and retransmitted
    // after 3, 9 and 21 s or so: from 2 s to 22 s there is silence except for two or three of them.
    assert!(shares.term(0, "rto_silence") > 1.0 - 3.0 * 8.0 * 0.03 / 20.0);
    assert_eq!(shares.term(0, "unattributed"), 0.0);
}

#[test]
fn one_mbit_per_second_instead_of_eleven_costs_the_difference() {
    let tail = format!(
        "[[station]]\nname = \"near\"\n[[station]]\nname = \"far\"\n\
         rate_control = {{ kind = \"fixed\", rate = \"1 Mbit/s\" }}\n{FLOW}{SATURATED}"
    );
    let shares = Shares::of(&text("", &tail));
    // 1536 B at 1 Mbit/s: 192 + 12288 us.
    assert_near(shares.term(1, "rate_below_best") / shares.term(1, "own_data"), (12480.0 - DATA_US) / DATA_US, 1e-3);
    assert_eq!(shares.term(0, "rate_below_best"), 0.0);
    // The near station waits for the far one's successful exchanges: its Ack of 14 B takes 192 + 112 us.
    let arrived = shares.flow(1, "goodput_bps") / 8.0 / 1472.0;
    assert_near(shares.waiting_for(0, "far"), arrived * (12480.0 + 10.0 + 304.0) * 1e-6, 1e-3);
    assert!(shares.waiting_for(0, "far") > 0.7);
}

#[test]
fn best_rate_equals_ideal_rate_control() {
    // 802.11a at 35 m, where the signal carries less than 54 Mbit/s and more than 6.
    let share_a_packet = |rate_control: &str| {
        let text = format!(
            "duration = \"6 s\"\nwarmup = \"1 s\"\n[channel]\npath_loss = \"log_distance\"\nerror_model = \"nist\"\n[bss]\n\
             standard = \"802.11a\"\nrate_control = {rate_control}\n[[station]]\ndistance = \"35 m\"\n{FLOW}{SATURATED}"
        );
        let shares = Shares::of(&text);
        let arrived = shares.flow(0, "goodput_bps") / 8.0 / 1472.0;
        [shares.term(0, "own_data") / arrived, shares.term(0, "rate_below_best") / arrived]
    };
    let [ideal, nothing] = share_a_packet("\"ideal\"");
    let [best, below] = share_a_packet("{ kind = \"fixed\", rate = \"6 Mbit/s\" }");
    assert_eq!(nothing, 0.0);
    // 16 + 6 bits and 1536 B are 513 symbols of 24 bits, 4 us each, after 20 us.
    assert_near(best + below, (20.0 + 513.0 * 4.0) * 1e-6, 2e-6);
    assert_near(best, ideal, 1e-3 * ideal);
    assert!(below > best);
    // 54 Mbit/s would take 20 + 57 * 4 us.
    assert!(best > 260e-6);
}

#[test]
fn two_downloads_wait_for_one_another_in_the_queue_of_the_ap() {
    let tail = format!("[[station]]\ncount = 2\n{FLOW}{SATURATED}direction = \"down\"\n");
    let shares = Shares::of(&text("", &tail));
    // The queue is always full and packets alternate: half of the time at the head, the other half behind the other's
    // packet.
    let cycle = DIFS_US + BACKOFF_US + DATA_US + RESPONSE_US;
    for (flow, other) in [(0, "ap to sta2"), (1, "ap to sta1")] {
        assert_near(shares.term(flow, "queues"), 0.5, 0.02);
        let queue = &shares.0["account"]["flows"][flow]["queues"][0];
        assert_eq!(queue["queue"], "ap");
        assert_near(shares.named(&queue["meanwhile"], other), 0.5 * (DATA_US + RESPONSE_US) / cycle, 0.02);
        assert_near(shares.named(&queue["meanwhile"], "nobody"), 0.5 * (DIFS_US + BACKOFF_US) / cycle, 0.01);
    }
}

#[test]
fn between_paced_segments_it_is_pacing() {
    let tail = format!(
        "[[station]]\n{FLOW}size = \"57920 B\"\nrepeat = 1000\n[wired]\ndelay = \"500 ms\"\n[tcp]\nprofile = \"linux-6.12\"\n\
         pacing = \"on\"\ninitial_window = 40\n"
    );
    let shares = Shares::of(&text("", &tail).replace("22 s", "202 s"));
    // A handshake of one RTT, eleven segments at once, 29 more at twice the window per round trip, 12.5 ms apart, and a
    // round trip until the last is acknowledged: 1 + 0.3625 + 1 s, and some ms on the air. The eleven contend for the
    // medium within the first two gaps, the others are each sent after a DIFS.
    let (cycle, packet) = (2.37, (DIFS_US + DATA_US + RESPONSE_US) * 1e-6);
    let on_air = 11.0 * (packet + BACKOFF_US * 1e-6) + 28.0 * packet;
    assert_near(shares.term(0, "pacing"), (0.3625 - on_air) / cycle, 3e-3);
    assert_near(shares.term(0, "opening"), 1.0 / cycle, 0.02);
    assert_near(shares.term(0, "on_the_wire"), 1.0 / cycle, 0.04);
    assert_eq!(shares.term(0, "congestion_window"), 0.0);
}

#[test]
fn a_station_that_makes_a_mpdus_alone_has_no_queue_to_blame() {
    let text = "duration = \"4 s\"\nwarmup = \"1 s\"\n[channel]\npath_loss = \"none\"\n[bss]\nstandard = \"802.11n\"\n\
                rate_control = { kind = \"fixed\", mcs = 7 }\n[[station]]\n";
    let shares = Shares::of(&format!("{text}{FLOW}{SATURATED}"));
    assert_eq!(shares.term(0, "queues"), 0.0);
    assert!(shares.term(0, "backoff_and_spaces") > 0.02);
    let rest = ["own_data", "own_control", "backoff_and_spaces"];
    assert_near(rest.iter().map(|term| shares.term(0, term)).sum(), 1.0, 1e-9);
}

#[test]
fn hidden_station_loses_to_the_other() {
    let tail = format!("[[station]]\ncount = 2\n{FLOW}{SATURATED}[channel]\nhidden = [[\"sta1\", \"sta2\"]]\n");
    let shares = Shares::of(&text("", &tail));
    for (flow, node) in [(0, 1), (1, 2)] {
        let interfered = shares.node(node, "frames_sent") * shares.node(node, "interference_probability");
        assert!(interfered > 500.0);
        let lost = interfered * DATA_US * 1e-6 / shares.covered_s();
        assert_near(shares.term(flow, "interference"), lost, 2e-4);
    }
    // It receives only the AP's acknowledgements for the other station: that alone is waiting.
    let arrived = shares.flow(1, "goodput_bps") / 8.0 / 1472.0;
    assert_near(shares.waiting_for(0, "sta2"), arrived * (RESPONSE_US - 10.0) * 1e-6, 2e-3);
}

#[test]
fn keeping_an_account_changes_nothing() {
    let tail = format!("[[station]]\ncount = 3\n{FLOW}direction = \"both\"\n[wired]\ndelay = \"5 ms\"\n");
    for head in ["", "[channel]\npath_loss = \"log_distance\"\nerror_model = \"nist\"\n"] {
        let scenario = resolve(&text(head, &tail), "test.toml", &[("duration".into(), "4 s".into())]).unwrap();
        let strip = |json: &str| {
            let mut run: Value = serde_json::from_str(json).unwrap();
            // Nodes of a run with an account share no views, so that it has more events.
            for apart in ["account", "simulator"] {
                run.as_object_mut().unwrap().remove(apart);
            }
            run
        };
        let (with, without) = (run_with_account(&scenario, 1).unwrap(), run(&scenario, 1, None).unwrap());
        assert!(with.json().contains("\"account\""));
        assert!(!without.json().contains("\"account\""));
        assert_eq!(strip(&with.json()), strip(&without.json()));
    }
}

#[test]
fn wait_for_the_device_before_the_handshake_is_reported() {
    // Two uploads that begin together: the second SYN waits in its socket until the interface pulls it.
    let flow = "[[flow]]\nname = \"a\"\nsize = \"6 MB\"\nrepeat = 6\n[[flow]]\nname = \"b\"\n";
    for profile in ["linux-2.6", "linux", "ns2"] {
        let tail = format!("[[station]]\ncount = 3\nqueue = \"backpressure\"\n[tcp]\nprofile = \"{profile}\"\n{flow}");
        let text = text("", &tail).replace("22 s", "2 s").replace("warmup = \"2 s\"", "");
        let shares = Shares::of(&text);
        for flow in 0..6 {
            let unattributed = shares.term(flow, "unattributed");
            assert!(unattributed < 1e-3, "{profile}, flow {flow}: {unattributed} of 2 s");
            let terms = shares.0["account"]["flows"][flow]["terms"].as_object().unwrap().values();
            assert_near(terms.map(|s| s.as_f64().unwrap()).sum(), shares.covered_s(), 1e-9);
        }
    }
}
