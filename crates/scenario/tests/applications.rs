//! Applications on a network that is otherwise idle, against arithmetic.

use lasthop_scenario::{resolve, run};
use serde_json::Value;

const IDLE: &str = r#"
duration = "60 s"
[bss]
standard = "802.11a"
rate_control = { kind = "fixed", rate = "54 Mbit/s" }
[[station]]
[wired]
rate = "1 Gbit/s"
delay = "50 ms"
[tcp]
profile = "linux"
[[flow]]
direction = "down"
"#;

fn complaint(settings: &[(&str, &str)]) -> String {
    let settings: Vec<_> = settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    resolve(IDLE, "idle.toml", &settings).err().map(|error| error.to_string()).unwrap_or_default()
}

fn result_of(text: &str, settings: &[(&str, &str)], seed: u64) -> Value {
    let settings: Vec<_> = settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let scenario = resolve(text, "idle.toml", &settings).unwrap_or_else(|error| panic!("{error}"));
    serde_json::from_str(&run(&scenario, seed, None).unwrap().json()).unwrap()
}

/// The flow on the idle network.
fn flow(settings: &[(&str, &str)]) -> Value {
    result_of(IDLE, settings, 1)["flows"][0].clone()
}

/// A number of a flow.
pub(crate) fn number(row: &Value, metric: &str) -> f64 {
    row[metric].as_f64().unwrap_or_else(|| panic!("{metric} in {row}"))
}

#[track_caller]
pub(crate) fn between(value: f64, least: f64, most: f64) {
    assert!((least..=most).contains(&value), "{value} is not from {least} to {most}");
}

#[test]
fn a_page_of_one_object_takes_two_round_trips_and_one_over_an_open_connection() {
    // 10 kB are 7 segments, within the initial window of 10: handshake, then request and answer. The airtime of 10 kB
    // and the packets before them is less than 5 ms.
    let page = |more: &str| {
        let traffic =
            format!("{{ kind = \"web\", think_time = \"1 s\", page = \"fixed\", main_size = \"10 kB\"{more} }}");
        flow(&[("flow.0.traffic", &traffic)])
    };
    let closed = page("");
    assert!(number(&closed, "pages") > 30.0);
    between(number(&closed, "page_load_time_mean_s"), 0.200, 0.205);
    between(number(&closed, "page_load_time_p95_s"), 0.190, 0.215);
    // All pages except the first.
    let open = page(", keep_alive = true");
    let first_more = 0.1 / number(&open, "pages");
    between(number(&open, "page_load_time_mean_s") - first_more, 0.100, 0.105);
    // Each time, the whole page is fetched.
    let bytes = number(&closed, "bytes_delivered");
    assert!(bytes >= 10_000.0 * number(&closed, "pages") && bytes <= 10_000.0 * (number(&closed, "pages") + 1.0));
}

#[test]
fn embedded_objects_wait_for_the_main_one_and_share_connections() {
    let page = |more: &str| {
        let traffic = format!(
            "{{ kind = \"web\", page = \"fixed\", main_size = \"10 kB\", objects = 6, object_size = \"2 kB\"{more} }}"
        );
        number(&flow(&[("duration", "600 s"), ("flow.0.traffic", &traffic)]), "page_load_time_mean_s")
    };
    // Two round trips for the main object. One embedded object over the open connection, five over new ones: two
    // more.
    between(page(""), 0.400, 0.410);
    // Over two connections: four objects over the first, one round trip each; two over the second, which takes three.
    between(page(", connections = 2"), 0.600, 0.615);
    // Over one, one after the other: six.
    between(page(", connections = 1"), 0.800, 0.815);
    // All at once over one connection: 12 kB, 9 segments, in one round trip.
    between(page(", http = \"2\""), 0.300, 0.310);
}

#[test]
fn video_stalls_where_the_link_is_slower_than_the_film_and_nowhere_else() {
    let film = |rate: &str| {
        flow(&[
            ("duration", "120 s"),
            ("wired.rate", rate),
            ("flow.0.traffic", "{ kind = \"video\", bitrate = \"4 Mbit/s\" }"),
        ])
    };
    let fast = film("8 Mbit/s");
    assert_eq!((number(&fast, "stalls"), number(&fast, "stall_time_s")), (0.0, 0.0));
    // 16 Mbit at 8 Mbit/s minus headers, after two round trips and slow start.
    between(number(&fast, "startup_delay_s"), 2.2, 2.8);
    assert_eq!(number(&fast, "video_bitrate_mean_bps"), 4e6);
    // At 3 Mbit/s minus headers (1448 of 1500 B) a segment of 4 s takes 5.52 s and a round trip: 1.6 s of stall each.
    let slow = film("3 Mbit/s");
    assert!(number(&slow, "stalls") > 15.0);
    let share = number(&slow, "stall_time_s") / (120.0 - number(&slow, "startup_delay_s"));
    between(share, 1.0 - 4.0 / 5.5, 1.0 - 4.0 / 5.9);
}

#[test]
fn adaptive_video_takes_the_capacity_of_the_link() {
    let ladder = "{ kind = \"video\", ladder = [\"1 Mbit/s\", \"2 Mbit/s\", \"4 Mbit/s\", \"8 Mbit/s\"] }";
    let film = flow(&[("duration", "200 s"), ("wired.rate", "3 Mbit/s"), ("flow.0.traffic", ladder)]);
    assert_eq!(number(&film, "stalls"), 0.0);
    between(number(&film, "video_bitrate_mean_bps"), 1.9e6, 2.0e6);
}

#[test]
fn a_call_is_rated_by_its_delay() {
    // 20 ms of speech, 150 ms of wire, 10 ms of buffer, and 0.1 ms on the air.
    let call = flow(&[
        ("wired.delay", "150 ms"),
        ("flow.0.traffic", "{ kind = \"voip\", codec = \"g711\", jitter_buffer = \"10 ms\" }"),
    ]);
    between(number(&call, "mouth_to_ear_s"), 0.180, 0.181);
    assert_eq!(number(&call, "loss_fraction") + number(&call, "late_fraction"), 0.0);
    // At 180 ms: Idd = 25 (1.05410 - 3.00026 + 2) = 1.346; Idte with TERV 27.547, Re 113.867: 3.278; Idle with Rle
    // 281.84: 0.899. R = 94.769 - 1.414 - 5.523 = 87.832.
    between(number(&call, "r_factor"), 87.832 - 0.05, 87.832);
    // 1 + 0.035 R + R (R - 60) (100 - R) 7e-6.
    let r = number(&call, "r_factor");
    assert!((number(&call, "mos") - (1.0 + 0.035 * r + r * (r - 60.0) * (100.0 - r) * 7e-6)).abs() < 1e-9);
    // 172 B of RTP every 20 ms, except in the first 150 ms of 60 s: 68,800 x 0.9975 bit/s.
    between(number(&call, "goodput_bps"), 68_600.0, 68_650.0);
}

#[test]
fn a_call_without_values_of_g_113_has_no_score_until_they_are_given() {
    let opus = |more: &str| flow(&[("flow.0.traffic", &format!("{{ kind = \"voip\", codec = \"opus\"{more} }}"))]);
    assert!(opus("")["mos"].is_null() && opus("")["r_factor"].is_null());
    between(number(&opus(", ie = 0.0, bpl = 20.0"), "mos"), 4.2, 4.5);
}

#[test]
fn frames_lost_on_the_air_lower_the_score_as_in_the_e_model() {
    let call = flow(&[
        ("duration", "200 s"),
        ("channel.error_model", "{ kind = \"fixed\", frame_error_rate = 0.05 }"),
        ("bss.retry_limit", "0"),
        ("wired.delay", "0 s"),
        ("flow.0.traffic", "{ kind = \"voip\", jitter_buffer = \"30 ms\" }"),
    ]);
    // 10,000 packets: 5 % with a deviation of 0.22 %.
    let loss = number(&call, "loss_fraction");
    between(loss, 0.042, 0.058);
    // At 50 ms Idd is 0, and Idte + Idle are 0.98 + 0.47. Losses are independent, so that BurstR is near 1.
    let ie = 95.0 * 100.0 * loss / (100.0 * loss + 25.1);
    between(number(&call, "r_factor"), 93.355 - 1.9 - ie - 0.3, 93.355 - 1.0 - ie);
}

#[test]
fn a_ping_takes_both_ways_and_its_own_wire() {
    let ping = flow(&[("flow.0.traffic", "ping"), ("flow.0.wired_delay", "25 ms"), ("warmup", "1 s")]);
    // 2 (50 + 25) ms; the airtime of two frames of 84 B is less than 1 ms.
    between(number(&ping, "rtt_min_s"), 0.150, 0.151);
    between(number(&ping, "rtt_mean_s"), 0.150, 0.151);
    // Five a second, for 59 s.
    assert_eq!(number(&ping, "segments_sent"), 295.0);
    assert_eq!(number(&ping, "loss_fraction"), 0.0);
    assert!(ping["goodput_bps"].is_null());
}

#[test]
fn a_trace_is_replayed_packet_by_packet() {
    let folder = std::env::temp_dir().join(format!("lasthop-trace-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("three.csv"), "time_s,bytes\n0.5,100\n0.5,200\n1.25,1472\n").unwrap();
    let text =
        IDLE.replace("[[flow]]", "[[flow]]\ntransport = \"udp\"\ntraffic = { kind = \"trace\", file = \"three.csv\" }");
    let resolved = resolve(&text, folder.join("scenario.toml").to_str().unwrap(), &[]).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let interval = Some(lasthop_units::Duration::from_millis(100));
    let result = run(&resolved, 1, interval).unwrap();
    let json: Value = serde_json::from_str(&result.json()).unwrap();
    assert_eq!(number(&json["flows"][0], "bytes_delivered"), 1772.0);
    let goodput = result.series().iter().find(|block| block.quantity.name == "goodput_bps").unwrap();
    let arrived: Vec<(usize, f64)> =
        (0..).zip(goodput.values.iter().map(|bps| bps / 80.0)).filter(|(_, b)| *b > 0.0).collect();
    // 0.5 s and 1.25 s plus 50 ms of wire: in the intervals from 0.5 s and from 1.3 s, numbered from 0.
    assert_eq!(arrived.len(), 2);
    assert_eq!((arrived[0].0, arrived[1].0), (5, 13));
    between(arrived[0].1, 299.99, 300.01);
}

#[test]
fn offered_rates_arrive_whole_below_capacity() {
    let goodput = |transport: &str, traffic: &str| {
        let settings = [
            ("duration", "400 s"),
            ("flow.0.transport", transport),
            ("flow.0.rate", "2 Mbit/s"),
            ("flow.0.traffic", traffic),
        ];
        number(&flow(&settings), "goodput_bps")
    };
    // UDP: 1472 of 1500 B. 67,000 packets deviate by 0.4 %.
    between(goodput("udp", "poisson"), 1.94e6, 1.985e6);
    between(goodput("tcp", "poisson"), 1.975e6, 2.025e6);
    // On for half of the time: 0.98 Mbit/s; 200 periods deviate by sqrt(1/2)/sqrt(200) = 5 %.
    between(goodput("udp", "on_off"), 0.85e6, 1.12e6);
    between(goodput("udp", "{ kind = \"on_off\", periods = \"constant\" }"), 0.98e6, 0.985e6);
}

#[test]
fn transfers_by_chance_come_at_their_load_and_each_is_complete() {
    let transfers = flow(&[
        ("duration", "400 s"),
        ("flow.0.size", "10 kB"),
        ("flow.0.rate", "80 kbit/s"),
        ("flow.0.traffic", "poisson"),
    ]);
    // One a second: 400, with a deviation of 20. Handshake, then 7 segments and their ACK: two round trips.
    let completed = number(&transfers, "transfers_completed");
    between(completed, 320.0, 480.0);
    between(number(&transfers, "completion_time_s"), 0.200, 0.206);
    assert!(number(&transfers, "bytes_delivered") >= 10_000.0 * completed);
}

#[test]
fn sized_transfers_are_repeated() {
    let repeated = flow(&[("flow.0.size", "100 kB"), ("flow.0.repeat", "5")]);
    assert_eq!(number(&repeated, "transfers_completed"), 5.0);
    assert_eq!(number(&repeated, "bytes_delivered"), 500_000.0);
}

#[test]
fn latency_of_a_station_is_its_way_and_the_queues_on_it() {
    let latency = |rate: &str| {
        let text = IDLE.replace("[[flow]]", "[[flow]]\ntransport = \"udp\"");
        let node = result_of(&text, &[("flow.0.rate", rate)], 1)["nodes"][1].clone();
        (number(&node, "latency_down_min_s"), number(&node, "latency_down_p50_s"), node["latency_up_p50_s"].is_null())
    };
    let (least, median, nothing_up) = latency("1 Mbit/s");
    between(least, 0.050, 0.051);
    between(median, 0.049, 0.053);
    assert!(nothing_up);
    // Above capacity, the queue of the AP is full: some dozens of packets of 1500 B at about 30 Mbit/s.
    let (least, median, _) = latency("60 Mbit/s");
    between(least, 0.050, 0.051);
    assert!(median > 0.055, "{median}");
}

#[test]
fn every_application_is_repeated_by_its_seed_and_changed_by_another() {
    let kinds = [
        "traffic = \"on_off\"\nrate = \"1 Mbit/s\"",
        "traffic = \"poisson\"\nrate = \"1 Mbit/s\"",
        "traffic = \"poisson\"\nsize = \"50 kB\"\nrate = \"1 Mbit/s\"",
        "traffic = { kind = \"voip\", speech = \"p59\" }",
        "traffic = { kind = \"web\", think_time = \"1 s\" }",
    ];
    let text = format!("{IDLE}{}\n", kinds.map(|kind| format!("{kind}\n[[flow]]\ndirection = \"down\"")).join("\n"));
    let bytes = |seed| {
        let result = result_of(&text, &[], seed);
        let rows = result["flows"].as_array().unwrap();
        rows[..kinds.len()].iter().map(|row| number(row, "bytes_delivered") as u64).collect::<Vec<_>>()
    };
    let (first, again, other) = (bytes(1), bytes(1), bytes(2));
    assert_eq!(first, again);
    for (kind, (a, b)) in kinds.iter().zip(first.iter().zip(&other)) {
        assert_ne!(a, b, "{kind}");
    }
}

#[test]
fn a_flow_draws_for_itself() {
    // A second flow does not change the traffic of the first one.
    let text = format!("{IDLE}transport = \"udp\"\ntraffic = \"poisson\"\nrate = \"1 Mbit/s\"\n");
    let sent = |text: &str| number(&result_of(text, &[], 3)["flows"][0], "segments_sent");
    let beside =
        format!("{text}[[flow]]\ndirection = \"down\"\ntraffic = {{ kind = \"web\", think_time = \"1 s\" }}\n");
    assert_eq!(sent(&text), sent(&beside));
}

#[test]
fn mistakes_have_a_sentence() {
    let traffic = |value: &'static str| [("flow.0.traffic", value)];
    let of = |value| complaint(&traffic(value));
    assert!(of("{ kind = \"voip\", codec = \"g722\" }").contains("one of: g711, g729, opus"));
    assert!(of("{ kind = \"voip\", packet_time = \"30 ms\" }").contains("whole frames: 20, 40"));
    assert!(of("{ kind = \"voip\", ie = 5.0 }").contains("belong together"));
    assert!(of("{ kind = \"voip\", jitter_buffer = \"some\" }").contains("or \"adaptive\""));
    assert!(of("{ kind = \"web\", objects = 3 }").contains("set page = \"fixed\""));
    assert!(of("{ kind = \"web\", page = \"fixed\" }").contains("size of its main object"));
    assert!(
        of("{ kind = \"video\", bitrate = \"1 Mbit/s\", ladder = [\"2 Mbit/s\"] }").contains("keep one of the two")
    );
    assert!(of("{ kind = \"video\", ladder = [\"2 Mbit/s\", \"1 Mbit/s\"] }").contains("ascend"));
    assert!(of("{ kind = \"video\", startup = \"31 s\" }").contains("never begin"));
    assert!(of("{ kind = \"trace\" }").contains("needs a file"));
    assert!(
        of("{ kind = \"trace\", file = \"no such file\" }").contains("flow[0].traffic.file: cannot read no such file")
    );
    assert!(of("on_off").contains("needs the rate while it is on"));
    assert!(of("poisson").contains("needs its mean rate"));
    assert!(of("vioce").contains("one of: bulk, on_off, poisson"));
    let with = |value, key, other| complaint(&[("flow.0.traffic", value), (key, other)]);
    assert!(with("web", "flow.0.direction", "both").contains("set \"down\""));
    assert!(with("web", "flow.0.transport", "udp").contains("\"web\" goes over tcp"));
    assert!(with("voip", "flow.0.transport", "tcp").contains("\"voip\" goes over udp"));
    assert!(with("voip", "flow.0.rate", "64 kbit/s").contains("has its own; remove it"));
    assert!(with("voip", "flow.0.packet_size", "200 B").contains("no effect on \"voip\""));
    assert!(with("ping", "flow.0.sack", "true").contains("no effect on a UDP flow"));
    assert!(with("video", "flow.0.repeat", "2").contains("`repeat` has no effect"));
    assert!(complaint(&[("flow.0.dscp", "voice")]).contains("unknown code point \"voice\""));
    assert!(complaint(&[("flow.0.dscp", "64")]).contains("from 0 to 63"));
    assert!(complaint(&[("flow.0.wired_delay", "200 s")]).contains("at most 100 s"));
    let saturated = [("flow.0.transport", "udp"), ("flow.0.rate", "saturated"), ("flow.0.wired_delay", "1 ms")];
    assert!(complaint(&saturated).contains("is next to it"));
}

#[test]
fn a_saturated_source_gets_its_turns_on_a_wire_that_was_busy_when_it_began() {
    let two = IDLE.replace("60 s", "3 s").replace("[[station]]\n", "[[station]]\ncount = 2\n");
    let saturated =
        format!("{two}[[flow]]\nstation = \"sta2\"\ndirection = \"down\"\ntransport = \"udp\"\nrate = \"saturated\"\n");
    let begun_together = saturated.replacen("[[flow]]\ndirection", "[[flow]]\nstation = \"sta1\"\ndirection", 1);
    let result = result_of(&begun_together, &[], 1);
    // The connection's first packet is on the wire; the AP's queue later drops packets of both at random.
    assert!(number(&result["flows"][1], "goodput_bps") > 10e6, "{}", result["flows"][1]);
}
