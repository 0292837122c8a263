//! Values with which a run would stop or hardly proceed are refused by a sentence with the minimum or the
//! maximum.

use lasthop_scenario::resolve;

const TEXT: &str = "[bss]\nstandard = \"802.11n\"\n[[station]]\n[[flow]]\ndirection = \"down\"\n";

#[track_caller]
fn refused(settings: &[(&str, &str)], sentence: &str) {
    let settings: Vec<_> = settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let said = resolve(TEXT, "f.toml", &settings).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(said.ends_with(sentence), "{said}");
}

#[track_caller]
fn taken(key: &str, value: &str) {
    let settings = [(key.to_string(), value.to_string())];
    assert!(resolve(TEXT, "f.toml", &settings).is_ok(), "{key} = {value}");
}

#[test]
fn clocks_tick() {
    for key in ["tcp.rto_granularity", "tcp.timestamp_clock"] {
        for value in ["0 s", "1001 ms"] {
            refused(&[(key, value)], &format!("{key}: a clock needs a tick above 0, and of 1 s at most"));
        }
    }
    taken("tcp.rto_granularity", "1 ns");
}

#[test]
fn intervals_have_a_lower_bound() {
    for kind in ["pie", "fq_pie"] {
        let queue = format!("{{ kind = \"{kind}\", t_update = \"999 ns\" }}");
        let sentence = "t_update: at least 1 us: each update costs time, also of a queue that stands still";
        refused(&[("bss.ap.queue", &queue)], sentence);
        taken("bss.ap.queue", &queue.replace("999 ns", "1 us"));
    }
    let model = "{ kind = \"gilbert_elliott\", bad_duration = \"999 ns\" }";
    refused(&[("channel.error_model", model)], "bad_duration: a state lasts 1 us at least");
    let moving = [("station.0.waypoints", "[[\"0 s\", \"0 m\", \"0 m\"], [\"1 s\", \"1 m\", \"0 m\"]]")];
    let often = [moving[0], ("channel.position_interval", "999 us")];
    refused(&often, "channel.position_interval: at least 1 ms must pass between two updates");
}

#[test]
fn so_many_packets_and_transfers_are_not_written() {
    let fast = [("flow.0.mss", "1 B"), ("flow.0.rate", "80 Mbit/s")];
    refused(&fast, "80 Mbit/s in packets of 1 B are too many to simulate; at most 10000000 each second");
    taken("flow.0.rate", "100 Gbit/s");
    let transfers = [("flow.0.traffic", "poisson"), ("flow.0.size", "1 B"), ("flow.0.rate", "80 kbit/s")];
    refused(&transfers, "80 kbit/s in transfers of 1 B are too many to simulate; at most 10000 each second");
}

#[test]
fn sizes_can_be_counted() {
    for traffic in ["{ kind = \"web\", request = \"2e15 B\" }", "{ kind = \"video\", request = \"2e15 B\" }"] {
        refused(&[("flow.0.traffic", traffic)], "1000000 GB");
    }
    let frame = "{ kind = \"rraa\", frame_bytes = \"64 KiB\" }";
    refused(&[("bss.rate_control", frame)], "frame_bytes: a frame has from 1 to 65535 B");
    let trace = "{ kind = \"trace\", file = \"/dev/zero\" }";
    refused(&[("flow.0.traffic", trace)], "cannot read /dev/zero: a trace is a file of at most 1 GiB");
}
