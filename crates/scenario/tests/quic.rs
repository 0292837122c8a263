//! Flows over QUIC: against arithmetic on an idle network, next to TCP, and their refusals.

use lasthop_scenario::{resolve, run, run_with_account};
use serde_json::Value;

use crate::applications::{between, number};

/// Round trips of 100 ms, whose airtime is short.
const IDLE: &str = r#"
duration = "20 s"
[bss]
standard = "802.11a"
rate_control = { kind = "fixed", rate = "54 Mbit/s" }
[[station]]
[wired]
rate = "1 Gbit/s"
delay = "50 ms"
[[flow]]
transport = "quic"
direction = "down"
"#;

fn settings(of: &[(&str, &str)]) -> Vec<(String, String)> {
    of.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
}

fn complaint(of: &[(&str, &str)]) -> String {
    resolve(IDLE, "idle.toml", &settings(of)).err().map(|error| error.to_string()).unwrap_or_default()
}

fn result_of(of: &[(&str, &str)], seed: u64) -> Value {
    let scenario = resolve(IDLE, "idle.toml", &settings(of)).unwrap_or_else(|error| panic!("{error}"));
    serde_json::from_str(&run(&scenario, seed, None).unwrap_or_else(|error| panic!("{error}")).json()).unwrap()
}

fn flow(of: &[(&str, &str)]) -> Value {
    result_of(of, 1)["flows"][0].clone()
}

#[test]
fn transfer_takes_a_round_trip_for_the_handshake_and_one_for_its_data() {
    // 8 datagrams of 1400 B fit the initial window of 10. The last ACK may be 25 ms late; the airtime of 20 packets is
    // less than 10 ms.
    let sized = flow(&[("flow.0.size", "11 kB")]);
    between(number(&sized, "completion_time_s"), 0.200, 0.235);
    assert_eq!((number(&sized, "transfers_completed"), number(&sized, "bytes_delivered")), (1.0, 11_000.0));
    // A larger certificate fills the window that the server has before it knows the client: another round trip.
    let heavy = flow(&[("flow.0.size", "11 kB"), ("quic.handshake.server", "9 kB")]);
    between(number(&heavy, "completion_time_s"), 0.300, 0.345);
}

#[test]
fn repeated_transfers_have_a_connection_each() {
    let repeated = flow(&[("flow.0.size", "11 kB"), ("flow.0.repeat", "5")]);
    assert_eq!((number(&repeated, "transfers_completed"), number(&repeated, "bytes_delivered")), (5.0, 55_000.0));
    between(number(&repeated, "completion_time_s"), 0.200, 0.235);
}

#[test]
fn page_takes_two_round_trips_and_one_over_an_open_connection() {
    // 10 kB are 8 datagrams, within the initial window: handshake, then request and answer.
    let page = |more: &str| {
        let traffic =
            format!("{{ kind = \"web\", think_time = \"1 s\", page = \"fixed\", main_size = \"10 kB\"{more} }}");
        flow(&[("flow.0.traffic", &traffic)])
    };
    let closed = page("");
    assert!(number(&closed, "pages") > 10.0);
    between(number(&closed, "page_load_time_mean_s"), 0.200, 0.210);
    let open = page(", keep_alive = true");
    between(number(&open, "page_load_time_p50_s"), 0.094, 0.107);
    assert_eq!(number(&open, "pages_abandoned"), 0.0);
}

#[test]
fn objects_of_a_page_come_at_once_each_on_its_stream() {
    // The main object arrives after two round trips. 20 objects of 5 kB are some 75 datagrams with their headers: the window
    // of 10, which the main object left unused, takes the rounds 10, 20, 40 and the rest. Over HTTP/1.1 the first
    // connection has an object in each of four rounds, the five others, after a handshake, in three, and one is left.
    let traffic = "{ kind = \"web\", think_time = \"1 s\", page = \"fixed\", main_size = \"10 kB\", objects = 20, object_size = \"5 kB\" }";
    let load = |transport| {
        let page = flow(&[("flow.0.traffic", traffic), ("flow.0.transport", transport)]);
        number(&page, "page_load_time_mean_s")
    };
    between(load("quic"), 0.600, 0.630);
    between(load("tcp"), 0.700, 0.730);
}

#[test]
fn page_takes_as_many_requests_as_the_stack_allows_streams_and_more_wait() {
    // 250 objects, of which 100 streams at a time carry one each.
    let traffic = "{ kind = \"web\", think_time = \"1 s\", page = \"fixed\", main_size = \"1 kB\", objects = 250, object_size = \"200 B\" }";
    let page = flow(&[("flow.0.traffic", traffic)]);
    assert!(number(&page, "pages") > 5.0 && number(&page, "page_load_time_mean_s") < 1.0, "{page}");
    // Pages are whole: 1 kB and 250 times 200 B each, the one under way apart.
    let whole = number(&page, "pages") * 51_000.0;
    between(number(&page, "bytes_delivered"), whole, whole + 51_000.0);
}

#[test]
fn film_over_quic_plays_without_a_stall() {
    let traffic = "{ kind = \"video\", ladder = [\"1 Mbit/s\", \"4 Mbit/s\"], segment = \"2 s\", startup = \"2 s\" }";
    let film = flow(&[("flow.0.traffic", traffic), ("wired.delay", "10 ms")]);
    assert_eq!(number(&film, "stalls"), 0.0);
    assert!(number(&film, "video_bitrate_mean_bps") > 2e6, "{film}");
}

#[test]
fn offered_rates_arrive() {
    let on = "{ kind = \"on_off\", on = \"100 ms\", off = \"100 ms\", periods = \"constant\" }";
    for (traffic, expected) in [("bulk", 2e6), ("poisson", 2e6), (on, 1e6)] {
        let of = [("flow.0.traffic", traffic), ("flow.0.rate", "2 Mbit/s"), ("warmup", "1 s"), ("duration", "61 s")];
        let goodput = number(&flow(&of), "goodput_bps");
        // Poisson: 60 s of 179 writes a second, three standard deviations of 1 %.
        between(goodput, 0.97 * expected, 1.03 * expected);
    }
}

#[test]
fn bulk_data_fills_the_air_as_over_tcp_in_both_directions() {
    for direction in ["up", "down"] {
        let goodput = |transport| {
            let of = [
                ("flow.0.direction", direction),
                ("flow.0.transport", transport),
                ("wired.delay", "5 ms"),
                ("warmup", "5 s"),
            ];
            number(&flow(&of), "goodput_bps")
        };
        // 1 to 3 % of headers more than TCP's, and ACKs of 60 instead of 64 B; TCP acknowledges the ends of sends besides. Three
        // seeds have 1.027 to 1.036 up, and 0.988 to 0.990 down.
        let (quic, tcp) = (goodput("quic"), goodput("tcp"));
        between(quic / tcp, 0.93, 1.04);
    }
}

#[test]
fn marks_of_a_queue_reduce_the_window_without_losses() {
    let marking = "{ kind = \"codel\", ecn = true }";
    let of = [("wired.rate", "10 Mbit/s"), ("wired.delay", "10 ms"), ("wired.queue", marking), ("warmup", "2 s")];
    let result = result_of(&of, 1);
    let flow = &result["flows"][0];
    assert!(number(&result["nodes"][0], "wired_queue_marks") > 10.0, "{}", result["nodes"][0]);
    assert_eq!(number(flow, "packets_declared_lost"), 0.0);
    // CoDel keeps the delay near its target of 5 ms, and the link busy.
    between(number(flow, "rtt_p50_s"), 0.020, 0.045);
    between(number(flow, "goodput_bps"), 8.5e6, 9.7e6);
}

#[test]
fn lost_datagrams_are_declared_lost_and_their_data_arrives() {
    let loss = "{ kind = \"random\", share = 0.02, direction = \"down\" }";
    let of = [("flow.0.size", "1 MB"), ("wired.loss", loss), ("flow.0.repeat", "3")];
    let lossy = flow(&of);
    assert_eq!((number(&lossy, "transfers_completed"), number(&lossy, "bytes_delivered")), (3.0, 3e6));
    // 2 % of about 2150 datagrams, with five standard deviations of Poisson.
    between(number(&lossy, "packets_declared_lost"), 43.0 - 33.0, 43.0 + 33.0);
    assert!(lossy["segments_retransmitted"].is_null() && lossy["timeouts"].is_null());
}

#[test]
fn windows_of_the_metrics_are_those_of_its_controller() {
    let of = [("flow.0.congestion_control", "newreno"), ("quic.initial_window", "4"), ("flow.0.size", "3 kB")];
    let flow = flow(&of);
    assert_eq!(flow["congestion_control"], "newreno");
    // 4 datagrams, and what slow start adds for three of data and the handshake's.
    between(number(&flow, "cwnd_max_segments"), 4.0, 10.0);
}

#[test]
fn data_over_several_streams_is_complete_with_the_last() {
    let over = |streams| flow(&[("flow.0.size", "100003 B"), ("flow.0.streams", streams), ("flow.0.repeat", "2")]);
    let (one, seven) = (over("1"), over("7"));
    for of in [&one, &seven] {
        assert_eq!((number(of, "transfers_completed"), number(of, "bytes_delivered")), (2.0, 200_006.0));
    }
    // Seven streams have 4 B more of headers in each datagram, and an end each.
    between(number(&seven, "completion_time_s") / number(&one, "completion_time_s"), 0.99, 1.1);
    let writes =
        flow(&[("flow.0.traffic", "poisson"), ("flow.0.rate", "2 Mbit/s"), ("flow.0.streams", "7"), ("warmup", "1 s")]);
    between(number(&writes, "goodput_bps"), 1.9e6, 2.1e6);
}

#[test]
fn page_over_one_stream_at_a_time_takes_a_round_trip_for_each_object() {
    let traffic = "{ kind = \"web\", think_time = \"1 s\", page = \"fixed\", main_size = \"1 kB\", objects = 6, object_size = \"1 kB\" }";
    let load =
        |streams| number(&flow(&[("flow.0.traffic", traffic), ("flow.0.streams", streams)]), "page_load_time_mean_s");
    // The handshake and the main object take two round trips; then one for every object, or for three, or for all.
    between(load("1"), 0.8, 0.82);
    between(load("3"), 0.4, 0.42);
    between(load("100"), 0.3, 0.32);
}

/// Bulk data over a path with 1 Gbit/s and 54 Mbit/s, whose hosts take a millisecond for a datagram or a batch.
fn costly(more: &[(&str, &str)]) -> Value {
    let of = [("flow.0.cost", "1 ms"), ("wired.delay", "5 ms"), ("warmup", "5 s")];
    result_of(&[&of[..], more].concat(), 1)
}

#[test]
fn host_that_takes_time_sends_two_datagrams_and_reads_an_ack_in_three_times() {
    // With turns of two: two datagrams and their ACK in 3 ms at either host. With turns of twenty the receiver has one ACK for
    // them, or two where it was not busy in between. A datagram has 1420 B of data: 1452 less tag, headers and frames.
    for (turns, datagrams, acks) in [("2", 2.0, 1.0), ("20", 20.0, 2.0)] {
        let expected = |acks: f64| datagrams * 1420.0 * 8.0 / ((datagrams + acks) * 1e-3);
        for direction in ["up", "down"] {
            let result = costly(&[("flow.0.direction", direction), ("flow.0.max_datagrams", turns)]);
            between(number(&result["flows"][0], "goodput_bps"), 0.99 * expected(acks), 1.01 * expected(1.0));
        }
    }
}

#[test]
fn flows_of_a_host_share_its_time() {
    // The server has both flows, each station one.
    let result = costly(&[("station.0.count", "2")]);
    let rates: Vec<f64> = (0..2).map(|flow| number(&result["flows"][flow], "goodput_bps")).collect();
    // The stations, with half of the datagrams each, send an ACK for two: the server has three things to do for them.
    let expected = 2.0 * 1420.0 * 8.0 / 3e-3;
    between(rates.iter().sum(), 0.95 * expected, 1.01 * expected);
}

#[test]
fn batch_leaves_at_the_cost_of_one_datagram() {
    // The server sends to two stations. Alone it has three things to do for two datagrams; in batches of ten, the stations
    // are the limit, which read a datagram in 1 ms and send an ACK for twenty.
    let sum = |batch| {
        let result = costly(&[("station.0.count", "2"), ("flow.0.batch", batch)]);
        (0..2).map(|flow| number(&result["flows"][flow], "goodput_bps")).sum::<f64>()
    };
    let expected = 2.0 * 20.0 * 1420.0 * 8.0 / 21e-3;
    between(sum("10"), 0.9 * expected, 1.01 * expected);
}

#[test]
fn time_at_hosts_lengthens_an_exchange_by_its_datagrams() {
    // A page of one object on an open connection: the request is sent and read, the answer is sent and read.
    let traffic = "{ kind = \"web\", think_time = \"1 s\", page = \"fixed\", main_size = \"1 kB\", keep_alive = true }";
    let load = |cost| number(&flow(&[("flow.0.traffic", traffic), ("flow.0.cost", cost)]), "page_load_time_p50_s");
    between(load("5 ms") - load("0 s"), 0.0199, 0.0251);
}

#[test]
fn window_does_not_grow_while_the_device_is_full() {
    let of = [("flow.0.direction", "up"), ("wired.delay", "5 ms"), ("station.0.queue", "backpressure")];
    for control in ["cubic", "newreno"] {
        let flow = flow(&[&of[..], &[("flow.0.congestion_control", control)]].concat());
        assert_eq!(number(&flow, "packets_declared_lost"), 0.0);
        // 30 Mbit/s in 10 ms are 26 datagrams, and the device holds a few: the window passes its use once.
        assert!(number(&flow, "cwnd_max_segments") < 120.0, "{control}: {}", flow["cwnd_max_segments"]);
        assert!(number(&flow, "goodput_bps") > 20e6, "{control}: {flow}");
    }
}

#[test]
fn controllers_of_the_stack_itself_run() {
    let of = [
        ("wired.rate", "10 Mbit/s"),
        ("wired.queue", "{ kind = \"fifo\", limit = \"30 packets\" }"),
        ("warmup", "2 s"),
    ];
    for name in ["quinn_cubic", "quinn_newreno"] {
        let flow = flow(&[&of[..], &[("quic.congestion_control", name)]].concat());
        assert_eq!(flow["congestion_control"], name);
        assert!(number(&flow, "packets_declared_lost") > 1.0 && number(&flow, "goodput_bps") > 6e6, "{flow}");
        assert!(number(&flow, "cwnd_max_segments") > number(&flow, "cwnd_mean_segments"), "{flow}");
    }
}

#[test]
fn probes_of_the_path_find_the_size_of_a_datagram() {
    let share = |probes| {
        let of = [("flow.0.path_mtu_probes", probes), ("flow.0.size", "30 kB"), ("flow.0.repeat", "3")];
        number(&flow(&of), "segments_sent")
    };
    // 3 x 30 kB in datagrams of 1452 or of 1200 B, and the client's share of three handshakes; probes come in addition.
    between(share("off"), 66.0, 90.0);
    between(share("on"), 78.0, 110.0);
}

#[test]
fn time_of_a_flow_is_accounted_for() {
    let scenario = resolve(IDLE, "idle.toml", &settings(&[("flow.0.size", "11 kB")])).unwrap();
    let result: Value = serde_json::from_str(&run_with_account(&scenario, 1).unwrap().json()).unwrap();
    let terms = &result["account"]["flows"][0]["terms"];
    let total: f64 = terms.as_object().expect("a flow has terms").values().filter_map(Value::as_f64).sum();
    assert!((total - 20.0).abs() < 1e-6, "{total} s of {terms}");
    assert!(number(terms, "unattributed_s") < 0.01, "{terms}");
}

#[test]
fn the_same_seed_gives_the_same_result_and_another_one_another() {
    let of = [("wired.rate", "10 Mbit/s"), ("duration", "3 s"), ("bss.rate_control", "minstrel")];
    let json = |seed| {
        let mut result = result_of(&of, seed);
        result["simulator"]["wall_s"] = Value::Null;
        result.to_string()
    };
    assert_eq!(json(1), json(1));
    assert_ne!(json(1), json(2));
}

#[test]
fn a_scenario_without_quic_has_no_key_of_it() {
    let tcp = resolve(IDLE, "idle.toml", &settings(&[("flow.0.transport", "tcp"), ("duration", "1 s")])).unwrap();
    let json = run(&tcp, 1, None).unwrap().json();
    assert!(!tcp.to_json().contains("\"quic\"") && !json.contains("packets_declared_lost"));
}

#[test]
fn resolved_flow_has_the_keys_of_its_transport() {
    let of = [("quic.datagram", "1300 B"), ("flow.0.congestion_control", "vegas"), ("flow.0.ack_every", "4")];
    let json: Value = serde_json::from_str(&resolve(IDLE, "idle.toml", &settings(&of)).unwrap().to_json()).unwrap();
    let flow = &json["flow"][0];
    assert_eq!((&flow["datagram"], &flow["ack_every"]), (&json["quic"]["datagram"], &Value::from(4)));
    assert_eq!((&flow["stack"], &json["quic"]["ack_every"]), (&"quinn".into(), &2.into()));
    assert!(flow.get("sack").is_none() && flow["congestion_control"].to_string().contains("vegas"));
}

#[test]
fn what_is_not_there_yet_is_refused_with_a_sentence() {
    for (of, expected) in [
        (("flow.0.traffic", "voip"), "\"voip\" goes over udp"),
        (("flow.0.traffic", "{ kind = \"web\", http = \"2\" }"), "`http` has no effect over QUIC"),
        (("flow.0.traffic", "{ kind = \"web\", connections = 2 }"), "`connections` has no effect over QUIC"),
        (("flow.0.rate", "saturated"), "\"saturated\" is for UDP"),
        (("flow.0.application", "iperf3"), "\"iperf3\" is there over TCP only"),
        (("flow.0.sack", "true"), "`sack` is a key of [tcp] and has no effect on a flow over quic"),
        (("flow.0.profile", "linux"), "`profile` is a key of [tcp]"),
        (("quic.congestion_control", "bbr"), "\"bbr\" does not work over QUIC: it works with delivery rates"),
        (("flow.0.congestion_control", "prague"), "\"prague\" does not work over QUIC: it needs ECT(1)"),
        (("flow.0.congestion_control", "dctcp"), "it needs the number of marked packets"),
        (("quic.datagram", "1000 B"), "from 1200 B to 2268 B"),
        (("quic.handshake.server", "0 B"), "from 200 B to 16 kB"),
        (("quic.datagramm", "1400 B"), "did you mean \"datagram\"?"),
        (("quic.streams", "0"), "from 1 to 100"),
        (("quic.batch", "65"), "from 1 to 64 datagrams"),
        (("quic.max_datagrams", "5"), "has no effect on a host that takes no time"),
        (("quic.congestion_control", "quinn_bbr"), "draws from the machine's entropy"),
        (("quic.congestion_control", "quinn_cubik"), "quinn_cubic, quinn_newreno"),
        (("tcp.congestion_control", "quinn_cubic"), "is a part of the QUIC stack, which TCP does not have"),
    ] {
        let said = complaint(&[of]);
        assert!(said.contains(expected), "{of:?}: {said}");
    }
    let paced = complaint(&[("flow.0.size", "1 MB"), ("flow.0.rate", "1 Mbit/s")]);
    assert!(paced.contains("a transfer over QUIC goes as fast as it can"), "{paced}");
    let transfers = complaint(&[("flow.0.traffic", "poisson"), ("flow.0.size", "1 MB"), ("flow.0.rate", "1 Mbit/s")]);
    assert!(transfers.contains("`size` has no effect on \"poisson\" over quic"), "{transfers}");
    let on_tcp = complaint(&[("flow.0.transport", "tcp"), ("flow.0.datagram", "1300 B")]);
    assert!(on_tcp.contains("`datagram` is a key of [quic] and has no effect on a flow over tcp"), "{on_tcp}");
}

#[test]
fn emulation_refuses_flows_over_quic() {
    let scenario = resolve(IDLE, "idle.toml", &[]).unwrap();
    let said = scenario.emulation_plan(1).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(said.contains("flow sta.down") && said.contains("not emulated yet"), "{said}");
}

#[test]
fn queue_that_treats_acks_apart_is_a_caution() {
    let warned = |queue: &str, transport: &str| {
        let of = settings(&[("bss.ap.queue", queue), ("flow.0.transport", transport)]);
        let warnings = resolve(IDLE, "idle.toml", &of).unwrap().warnings();
        warnings.iter().map(ToString::to_string).filter(|text| text.contains("over QUIC are datagrams")).count()
    };
    let queues = ["ack_filter", "split_ack", "fq_codel"];
    assert_eq!(queues.map(|queue| warned(queue, "quic")), [1, 1, 0]);
    assert_eq!(queues.map(|queue| warned(queue, "tcp")), [0, 0, 0]);
}
