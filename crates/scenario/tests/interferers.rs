//! `[[interferer]]`, from the file to goodput and losses, against arithmetic that uses none of the engine.

use lasthop_scenario::{resolve, run, run_with_account};
use serde_json::Value;

fn complaint(text: &str) -> String {
    resolve(text, "f.toml", &[]).err().map(|e| e.to_string()).unwrap_or_default()
}

fn result(text: &str) -> Value {
    let scenario = resolve(text, "f.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    serde_json::from_str(&run(&scenario, 1, None).unwrap().json()).unwrap()
}

/// One station of 802.11a at 6 Mbit/s, 2 m from its AP, that sends datagrams of 1472 B by UDP at `rate`.
///
/// 16 - 46.7 - 30 log10(2) = -39.7 dBm between the two. A data frame of 1536 B lasts 20 + 4 x 513 = 2072 us, its Ack 44 us.
fn upload(seconds: u32, rate: &str, bss: &str, interferer: &str) -> String {
    format!(
        "duration = \"{seconds} s\"\n[channel]\nerror_model = \"nist\"\n\
         path_loss = {{ kind = \"log_distance\", exponent = 3, reference_loss = \"46.7 dB\" }}\n\
         [bss]\nstandard = \"802.11a\"\nrate_control = {{ kind = \"fixed\", rate = \"6 Mbit/s\" }}\n{bss}\n\
         [[station]]\nname = \"sta\"\nposition = [\"2 m\", \"0 m\"]\n\
         [[flow]]\ndirection = \"up\"\ntransport = \"udp\"\nrate = {rate}\npacket_size = \"1500 B\"\n\
         [[interferer]]\n{interferer}\n"
    )
}

/// Time of an undisturbed cycle: DIFS 34, mean backoff 7.5 x 9, data, SIFS 16, Ack.
const CYCLE_US: f64 = 34.0 + 67.5 + 2072.0 + 16.0 + 44.0;

#[test]
fn saturated_sender_gets_the_time_that_a_duty_cycled_jammer_leaves() {
    // 16 - 46.7 - 0 = -30.7 dBm at 1 m from both: noticed, and louder than the signal.
    let jammer = "position = [\"1 m\", \"0 m\"]\nkind = \"periodic\"\non = \"300 ms\"\noff = \"700 ms\"";
    let found = result(&upload(60, "\"saturated\"", "", jammer));
    let goodput = found["totals"]["goodput_bps"].as_f64().unwrap();
    // In a break of 700 ms: it counts on from where it froze; the frame under way at the end, on average at its middle, is
    // lost, and is repeated after up to 31 slots instead of 15 in the next break: 72 us more.
    let usable_us = 700_000.0 - CYCLE_US / 2.0 - 72.0;
    let expected = 1472.0 * 8.0 * (usable_us / CYCLE_US);
    // The phase of 60 breaks is random only to one cycle of 313 each; the first and the last may be cut, by 0.3 of 60.
    assert!((goodput / expected - 1.0).abs() < 0.007, "{goodput} for {expected}");
    let node = found["nodes"].as_array().unwrap().iter().find(|node| node["name"] == "sta").unwrap();
    // A frame or its Ack at the end of each break of 313.4 cycles, unless it ends in a backoff.
    let lost = node["interferer_probability"].as_f64().unwrap() * 313.4 / ((2072.0 + 16.0 + 44.0) / CYCLE_US);
    assert!((lost - 1.0).abs() < 0.1 && node["interference_probability"] == 0.0, "{lost}");
    let on = found["medium"]["interferer_fraction"].as_f64().unwrap();
    assert!((on - 0.3).abs() < 0.006, "{on}");
}

#[test]
fn frames_are_lost_to_poisson_bursts_that_the_sender_does_not_hear() {
    // The station is 10 m away: -60.7 dBm at the AP. An interferer of 6 dBm, 1 m behind the AP, has -40.7 dBm there, 20 dB more
    // than the data, and 6 - 46.7 - 30 log10(11) = -71.9 dBm at the station: not sensed, and 11 dB below the Ack.
    let interferer = |on: &str, off: &str| {
        format!("position = [\"-1 m\", \"0 m\"]\npower = \"6 dBm\"\nkind = \"random\"\non = \"{on}\"\noff = \"{off}\"")
    };
    for (on, off, on_us, off_us) in [("50 us", "2 ms", 50.0, 2_000.0), ("300 us", "8 ms", 300.0, 8_000.0)] {
        let text =
            upload(400, "\"200 kbit/s\"", "retry_limit = 0", &interferer(on, off)).replace("[\"2 m\"", "[\"10 m\"");
        let found = result(&text);
        let node = found["nodes"].as_array().unwrap().iter().find(|node| node["name"] == "sta").unwrap();
        let (sent, lost) =
            (node["frames_sent"].as_u64().unwrap() as f64, node["interferer_probability"].as_f64().unwrap());
        // It arrives if no burst is on at its start, and none begins before its end.
        let arrives = off_us / (on_us + off_us) * libm::exp(-2072.0 / off_us);
        let deviation = libm::sqrt(arrives * (1.0 - arrives) / sent);
        assert!(sent > 6_000.0, "{sent}");
        assert!((lost - (1.0 - arrives)).abs() < 4.0 * deviation, "{lost} for {}, +- {deviation}", 1.0 - arrives);
    }
}

#[test]
fn a_band_beside_the_channel_disturbs_in_part_or_not_at_all() {
    // A quarter of the power of 80 MHz falls into 20 MHz: 6 dB less, which decides whether energy is noticed.
    let jammer = |power: &str, width: &str| {
        format!(
            "position = [\"1 m\", \"0 m\"]\npower = \"{power}\"\nchannel_width = \"{width}\"\nkind = \"periodic\"\n\
             on = \"500 ms\"\noff = \"500 ms\""
        )
    };
    // -62 dBm is reached with -15.3 dBm at 1 m; the signal is 20 dB stronger in any case.
    let goodput = |power, width| {
        let found = result(&upload(10, "\"saturated\"", "", &jammer(power, width)));
        found["totals"]["goodput_bps"].as_f64().unwrap() / 1e6
    };
    let whole = 1472.0 * 8.0 / CYCLE_US;
    assert!((goodput("-15.4 dBm", "20 MHz") / whole - 1.0).abs() < 0.01);
    assert!((goodput("-15.2 dBm", "20 MHz") / whole - 0.5).abs() < 0.01);
    assert!((goodput("-9.4 dBm", "80 MHz") / whole - 1.0).abs() < 0.01);
    assert!((goodput("-9.2 dBm", "80 MHz") / whole - 0.5).abs() < 0.01);
    let beside = upload(10, "\"saturated\"", "", "channel = 40\nkind = \"periodic\"\non = \"1 ms\"\noff = \"1 ms\"");
    let message = "interferer[0].channel: its band of 5190 to 5210 MHz lies beside the channels of all BSSs; choose another channel, or remove it";
    assert!(complaint(&beside).ends_with(message), "{}", complaint(&beside));
}

#[test]
fn account_has_the_time_of_interferers_and_of_what_they_destroy() {
    let jammer = "position = [\"1 m\", \"0 m\"]\nkind = \"periodic\"\non = \"30 ms\"\noff = \"70 ms\"";
    let text = upload(10, "\"saturated\"", "", jammer);
    let scenario = resolve(&text, "f.toml", &[]).unwrap();
    let found: Value = serde_json::from_str(&run_with_account(&scenario, 1).unwrap().json()).unwrap();
    let channel = &found["account"]["channels"][0];
    // Three tenths of the time, less the rest of the exchange under way when a burst begins, one in 100 ms.
    let alone = channel["interferers_s"].as_f64().unwrap() / 10.0;
    assert!((0.3 - (2072e-6 + 16e-6 + 44e-6) / 0.1..0.295).contains(&alone), "{alone}");
    let lost = channel["nodes"][1]["lost_to_interferers_s"].as_f64().unwrap();
    assert!((lost / (100.0 * 2072e-6) - 1.0).abs() < 0.25, "{lost}");
    let flow = &found["account"]["flows"][0]["terms"];
    assert!(flow["interferers_s"].as_f64().unwrap() > 0.1, "{flow}");
    // Without interferers there is no such row.
    let (text, _) = text.split_once("[[interferer]]").unwrap();
    let plain = run_with_account(&resolve(text, "f.toml", &[]).unwrap(), 1).unwrap().json();
    assert!(!plain.contains("interferer"), "{plain}");
}

#[test]
fn mistakes_have_a_place_and_a_remedy() {
    let with = |interferer: &str| complaint(&upload(1, "\"saturated\"", "", interferer));
    for (interferer, message) in [
        (
            "kind = \"periodic\"\noff = \"1 ms\"",
            "interferer[0].on: an interferer of kind = \"periodic\" needs on, e.g. \"8 ms\"",
        ),
        ("on = \"1 ns\"\noff = \"1 ms\"", "interferer[0].on: 1 ns is too short or too long; from 1 us to 1000 s"),
        ("kind = \"trace\"", "interferer[0].file: a trace needs a file of lines \"start in s, duration in s\""),
        (
            "kind = \"trace\"\nfile = \"x\"\non = \"1 s\"",
            "interferer[0].on: the bursts of kind = \"trace\" come from its file; remove this key",
        ),
        (
            "kind = \"random\"\nfile = \"x\"",
            "interferer[0].file: only kind = \"trace\" reads a file; say so, or remove this key",
        ),
        ("kind = \"trace\"\nfile = \"nowhere.csv\"", "cannot read nowhere.csv: No such file or directory"),
        (
            "channel = 37\non = \"1 s\"\noff = \"1 s\"",
            "interferer[0].channel: there is no channel 37; 1 to 14, or 36 to 177 in the 5 GHz band",
        ),
        ("on = \"1 s\"\noff = \"1 s\"\nchannel_width = \"0 Hz\"", "is not a width of a band; from 1 kHz to 1 GHz"),
        (
            "name = \"a\"\non = \"1 s\"\noff = \"1 s\"\n[[interferer]]\nname = \"a\"\non = \"1 s\"\noff = \"1 s\"",
            "interferer[1].name: \"a\" is also the name of interferer[0]",
        ),
    ] {
        let found = with(interferer);
        assert!(found.ends_with(message), "{interferer}: {found}");
    }
    let plain = upload(1, "\"saturated\"", "", "on = \"1 s\"\noff = \"1 s\"").replace("error_model = \"nist\"\n", "");
    let message = "interferer[0]: an interferer disturbs by the SINR, which channel.error_model = \"none\" does not use; set channel.error_model = \"nist\" or \"yans\"";
    assert!(complaint(&plain).ends_with(message), "{}", complaint(&plain));
}

#[test]
fn a_trace_is_the_periodic_interferer_that_it_lists() {
    let folder = std::env::temp_dir().join(format!("interferer-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("oven.csv");
    let lines: String = (0..600).map(|k| format!("{}, 0.003\n", f64::from(k) * 0.01 + 0.0005)).collect();
    std::fs::write(&file, format!("start_s, duration_s\n{lines}")).unwrap();
    let trace = format!("position = [\"1 m\", \"0 m\"]\nkind = \"trace\"\nfile = \"{}\"", file.display());
    let found = result(&upload(6, "\"saturated\"", "", &trace));
    std::fs::remove_dir_all(&folder).unwrap();
    let on = found["medium"]["interferer_fraction"].as_f64().unwrap();
    assert!((on - 0.3).abs() < 1e-9, "{on}");
    let goodput = found["totals"]["goodput_bps"].as_f64().unwrap();
    let periodic = "position = [\"1 m\", \"0 m\"]\nkind = \"periodic\"\non = \"3 ms\"\noff = \"7 ms\"";
    let other = result(&upload(6, "\"saturated\"", "", periodic))["totals"]["goodput_bps"].as_f64().unwrap();
    // Both send some 1200 frames in 6 s; backoffs make a difference of 1 %.
    assert!((goodput / other - 1.0).abs() < 0.04, "{goodput} for {other}");
}
