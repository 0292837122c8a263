//! Stations of 802.11b, g and a in BSSs of later standards: air times, access, protection and shares, by arithmetic.

use lasthop_scenario::{resolve, run};
use serde_json::Value;

fn result_of(text: &str) -> Value {
    let scenario = resolve(text, "f.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    serde_json::from_str(&run(&scenario, 1, None).unwrap().json()).unwrap()
}

fn complaint(text: &str) -> String {
    resolve(text, "f.toml", &[]).err().map(|error| error.to_string()).unwrap_or_default()
}

const SATURATED: &str = "transport = \"udp\"\nrate = \"saturated\"\npacket_size = \"1500 B\"\n";

/// A saturated flow of one station, which is alone.
fn alone(bss: &str, station: &str, direction: &str) -> String {
    format!(
        "duration = \"61 s\"\nwarmup = \"1 s\"\n[bss]\nstandard = \"802.11n\"\nchannel = 1\n{bss}\n[[station]]\n\
         distance = \"1 m\"\n{station}\n[[flow]]\ndirection = \"{direction}\"\n{SATURATED}"
    )
}

/// Goodput of packets of 1472 B in cycles of `us`.
#[track_caller]
fn agrees(text: &str, us: f64) {
    let (measured, expected) = (result_of(text)["totals"]["goodput_bps"].as_f64().unwrap(), 1472.0 * 8.0 / us * 1e6);
    // A mean backoff of 310 us deviates by 185 us, over at least 4500 cycles of 13,000 us by 0.02 %; over 30,000 of 1881 us
    // by 0.06 %.
    assert!((measured / expected - 1.0).abs() < 0.002, "{measured} and {expected}");
}

fn at(standard: &str, mbps: &str) -> String {
    format!("standard = \"{standard}\"\nrate_control = {{ kind = \"fixed\", rate = \"{mbps} Mbit/s\" }}")
}

#[test]
fn station_of_80211b_has_its_preambles_responses_slots_and_window() {
    // DIFS 10 + 2 x 20, mean backoff 15.5 x 20, SIFS 10; 24 + 8 + 1500 + 4 = 1536 B at 1 and at 11 Mbit/s; Ack of 14 B.
    let access = 50.0 + 310.0 + 10.0;
    agrees(&alone("", &at("802.11b", "1"), "up"), access + 192.0 + 12_288.0 + 192.0 + 112.0);
    agrees(&alone("", &at("802.11b", "11"), "up"), access + 192.0 + 12_288.0 / 11.0 + 192.0 + 112.0 / 11.0);
    let short = alone("preamble = \"short\"", &at("802.11b", "11"), "up");
    agrees(&short, access + 96.0 + 12_288.0 / 11.0 + 96.0 + 112.0 / 11.0);
    // Response at the highest basic rate of DSSS.
    let basic = alone("basic_rates = [\"1 Mbit/s\", \"2 Mbit/s\"]", &at("802.11b", "11"), "up");
    agrees(&basic, access + 192.0 + 12_288.0 / 11.0 + 192.0 + 112.0 / 2.0);
    let short_slot = alone("short_slot = true", &at("802.11b", "11"), "up");
    agrees(&short_slot, 28.0 + 15.5 * 9.0 + 10.0 + 192.0 + 12_288.0 / 11.0 + 192.0 + 112.0 / 11.0);
}

#[test]
fn access_point_sends_to_it_frame_by_frame_with_its_own_edca() {
    // AIFS 10 + 3 x 20, mean backoff 7.5 x 20: the AP is a QoS station. No QoS Control, no delimiter, an Ack.
    let access = 70.0 + 150.0 + 10.0;
    for bss in ["", "aggregation = \"off\"", "ap = { driver = \"ath9k\" }"] {
        let slow = alone(bss, &at("802.11b", "1"), "down");
        agrees(&slow, access + 192.0 + 12_288.0 + 192.0 + 112.0);
    }
    // Two exchanges of 1309 and 202 us do not fit the TXOP limit of 2528 us.
    let fast = alone("", &at("802.11b", "11"), "down");
    agrees(&fast, access + 192.0 + 12_288.0 / 11.0 + 192.0 + 112.0 / 11.0);
}

#[test]
fn station_of_80211g_or_a_keeps_short_slots_and_ofdm_responses() {
    // 54 Mbit/s: 57 symbols; Ack at 24 Mbit/s: 2 symbols. 2.4 GHz: DIFS 28, 6 us of signal extension.
    agrees(&alone("", &at("802.11g", "54"), "up"), 28.0 + 67.5 + 254.0 + 10.0 + 34.0);
    let five = alone("", &at("802.11a", "54"), "up").replace("channel = 1", "channel = 36");
    agrees(&five, 34.0 + 67.5 + 248.0 + 16.0 + 28.0);
    for standard in ["802.11ac", "802.11ax"] {
        agrees(&five.replace("802.11n", standard), 34.0 + 67.5 + 248.0 + 16.0 + 28.0);
    }
}

/// Downloads to a station of 802.11n at 65 Mbit/s and to one of 802.11b at 1 Mbit/s.
fn mixed(bss: &str, queue: &str) -> Value {
    result_of(&format!(
        "duration = \"101 s\"\nwarmup = \"1 s\"\n[bss]\nstandard = \"802.11n\"\nchannel = 1\n{bss}\n[bss.ap]\n\
         queue = \"{queue}\"\n\
         [[station]]\nname = \"fast\"\ndistance = \"1 m\"\nrate_control = {{ kind = \"fixed\", mcs = 7 }}\n\
         [[station]]\nname = \"slow\"\ndistance = \"1 m\"\n{}\n\
         [[flow]]\nstation = \"fast\"\ndirection = \"down\"\n{SATURATED}\
         [[flow]]\nstation = \"slow\"\ndirection = \"down\"\n{SATURATED}",
        at("802.11b", "1")
    ))
}

/// Packets a second to the fast and to the slow station.
fn rates(result: &Value) -> [f64; 2] {
    [0, 1].map(|flow: usize| result["flows"][flow]["goodput_bps"].as_f64().unwrap() / (1472.0 * 8.0))
}

#[test]
fn slow_station_takes_the_time_of_the_fast_one() {
    // [Heusse 2003]: equal numbers of packets, so the slow one's exchanges take nearly all of the time.
    // Slow: AIFS 70, mean backoff 150, 12480, SIFS 10, Ack 304. Fast, 1538 B in 48 symbols: 36 + 192 + 6, Ack 34 at
    // 24 Mbit/s; before it a CTS to itself at 11 Mbit/s and a SIFS.
    let slow_us = 70.0 + 150.0 + 12_480.0 + 10.0 + 304.0;
    let plain_us = 70.0 + 150.0 + 234.0 + 10.0 + 34.0;
    let one = "aggregation = \"off\"\nedca.be = { txop_limit = \"0 us\" }";
    for (protection, fast_us) in [("", plain_us + 192.0 + 112.0 / 11.0 + 10.0), ("protection = \"none\"", plain_us)] {
        let [fast, slow] = rates(&mixed(&format!("{one}\n{protection}"), "fifo"));
        let busy = (fast * fast_us + slow * slow_us) / 1e6;
        assert!((busy - 1.0).abs() < 0.003, "{protection}: {busy} of the time at {fast} and {slow} packets a second");
        // A place in the queue goes to one or the other by chance: 14,000 packets deviate by 1 %.
        assert!((fast / slow - 1.0).abs() < 0.05, "{fast} and {slow}");
    }
}

#[test]
fn airtime_fairness_frees_the_fast_station_from_the_slow_one() {
    let [fifo, airtime] = ["fifo", "airtime_fq_codel"].map(|queue| rates(&mixed("", queue)));
    // Half of the time each: half of 895 kbit/s; and half of the time at 65 Mbit/s is worth 25 Mbit/s and more.
    assert!(airtime[0] > 20.0 * fifo[0], "{} and {} packets a second", airtime[0], fifo[0]);
    let slow_share = airtime[1] * 13_014.0 / 1e6;
    assert!((slow_share - 0.5).abs() < 0.05, "{slow_share}");
}

#[test]
fn losses_and_tcp_in_both_directions_keep_every_packet_accounted() {
    for (retries, queue) in [(0, "fifo"), (7, "fq_codel"), (7, "airtime_fq_codel")] {
        let text = format!(
            "duration = \"10 s\"\n[bss]\nstandard = \"802.11ax\"\nchannel = 6\nretry_limit = {retries}\n[bss.ap]\nqueue = \"{queue}\"\n\
             [channel]\nerror_model = {{ kind = \"fixed\", frame_error_rate = 0.2 }}\n\
             [[station]]\nname = \"b\"\nstandard = \"802.11b\"\n[[station]]\nname = \"g\"\nstandard = \"802.11g\"\n\
             [[station]]\nname = \"ax\"\n[[flow]]\nstation = \"*\"\ndirection = \"both\"\n\
             [[flow]]\nstation = \"b\"\ntraffic = \"voip\"\ndirection = \"both\"\ndscp = \"EF\"\n"
        );
        let result = result_of(&text);
        let flows = result["flows"].as_array().unwrap();
        let idle: Vec<&Value> = flows.iter().filter(|flow| flow["goodput_bps"].as_f64().unwrap() <= 0.0).collect();
        assert!(idle.is_empty(), "{retries} {queue}: {idle:?}");
    }
}

#[test]
fn standard_that_its_bss_cannot_serve_is_refused() {
    let of = |bss: &str, standard: &str| {
        complaint(&format!("[bss]\nstandard = \"{bss}\"\n[[station]]\nstandard = \"{standard}\"\n"))
    };
    let ac = of("802.11ac", "802.11b");
    assert!(
        ac.contains("station[0].standard: 802.11b has no rates in the 5 GHz band, in which its BSS of 802.11ac is")
    );
    assert!(of("802.11n", "802.11g").contains("choose a channel of the 2.4 GHz band"));
    assert!(of("802.11ax", "802.11n").contains("a station of 802.11n in a BSS of 802.11ax is not modelled"));
    assert!(of("802.11b", "802.11g").contains("not modelled"));
    assert!(of("802.11a", "802.11b").contains("not modelled"));
    assert_eq!((of("802.11n", "802.11a").as_str(), of("802.11g", "802.11b").as_str()), ("", ""));
    let basic = "[bss]\nstandard = \"802.11n\"\nchannel = 1\nbasic_rates = [\"1 Mbit/s\", \"6 Mbit/s\"]\n[[station]]\n\
                 standard = \"802.11b\"\n";
    assert!(complaint(basic).contains("bss.basic_rates: stations of 802.11b lack the basic rate of 6 Mbit/s"));
    let rate = alone("", &at("802.11b", "6"), "up");
    assert!(complaint(&rate).contains("it has 1, 2, 5.5, 11 Mbit/s"), "{}", complaint(&rate));
}
