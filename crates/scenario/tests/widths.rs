//! BSSs of different widths round one primary channel, against Bianchi's closed form and arithmetic of powers.
//! `tests/validation/networks.py` compares them with ns-3.

use lasthop_scenario::{resolve, run};
use serde_json::Value;

/// Two BSSs of 802.11ac at MCS 0, with one upload of datagrams each; a station is 2 m from its AP, and the APs are `apart` metres apart.
fn two(apart: u32, widths: [u32; 2], channels: [u32; 2], seconds: u32) -> String {
    let mut text = format!(
        "duration = \"{seconds} s\"\nwarmup = \"500 ms\"\n[channel]\nerror_model = \"nist\"\n\
         path_loss = {{ kind = \"log_distance\", exponent = 3, reference_loss = \"46.7 dB\" }}\n"
    );
    for (which, (x, width, channel)) in
        [(0, widths[0], channels[0]), (apart, widths[1], channels[1])].into_iter().enumerate()
    {
        text += &format!(
            "[[bss]]\nname = \"b{which}\"\nstandard = \"802.11ac\"\nchannel = {channel}\nchannel_width = \"{width} MHz\"\n\
             rate_control = {{ kind = \"fixed\", mcs = 0 }}\nap = {{ position = [\"{x} m\", \"0 m\"] }}\n\
             [[station]]\nname = \"s{which}\"\nbss = \"b{which}\"\nposition = [\"{x} m\", \"2 m\"]\n\
             [[flow]]\nstation = \"s{which}\"\ntransport = \"udp\"\nrate = \"saturated\"\n"
        );
    }
    text
}

fn result(text: &str) -> Value {
    let scenario = resolve(text, "f.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    serde_json::from_str(&run(&scenario, 1, None).unwrap().json()).unwrap()
}

fn goodput_mbps(found: &Value, flow: usize) -> f64 {
    found["flows"][flow]["goodput_bps"].as_f64().unwrap() / 1e6
}

#[test]
fn bsss_of_different_widths_contend_for_their_primary_channel() {
    let found = result(&two(4, [80, 20], [36, 36], 30));
    // Two saturated stations with CWmin 15: Bianchi's collision probability of 0.1046, whatever their widths and durations.
    let collided = found["medium"]["collision_probability"].as_f64().unwrap();
    assert!((collided - 0.1046).abs() < 0.012, "{collided}");
    let alone = |width| result(&two(4, [width, 20], [36, 149], 3));
    for (flow, whole) in [goodput_mbps(&alone(80), 0), goodput_mbps(&alone(20), 0)].into_iter().enumerate() {
        let share = goodput_mbps(&found, flow) / whole;
        assert!((0.35..0.6).contains(&share), "flow {flow} has {share} of what it has alone");
    }
}

#[test]
fn a_narrow_receiver_has_its_part_of_the_power_of_a_wide_signal() {
    // 16.02 - 46.7 - 30 log10(42) = -79.4 dBm arrive, 2.6 dB above the threshold of -82 dBm; of 80 MHz a channel of 20 MHz has
    // a quarter, 6.02 dB less. The other way all of it falls into the 80 MHz, so the wide BSS defers to the narrow one alone.
    let found = result(&two(42, [80, 20], [36, 36], 4));
    let apart = result(&two(42, [80, 20], [36, 149], 4));
    assert!(goodput_mbps(&found, 1) > 0.98 * goodput_mbps(&apart, 1), "the narrow BSS hears nothing of the wide one");
    assert!(goodput_mbps(&found, 0) < 0.2 * goodput_mbps(&apart, 0), "the wide one starves");
    let alike = result(&two(42, [20, 20], [36, 36], 4));
    assert!(goodput_mbps(&alike, 1) < 0.7 * goodput_mbps(&apart, 1), "two narrow ones share");
}

#[test]
fn channels_that_overlap_round_another_primary_channel_are_refused_with_the_one_to_take() {
    let refused = |text: &str| resolve(text, "f.toml", &[]).err().map(|e| e.to_string()).unwrap_or_default();
    let error = refused(&two(4, [80, 20], [36, 40], 1));
    assert!(error.contains("has another primary channel") && error.contains("channel = 36"), "{error}");
    assert_eq!(refused(&two(4, [80, 80], [36, 40], 1)), "", "the same 80 MHz");
    let moving = two(4, [80, 20], [36, 36], 1) + "[[change]]\nat = \"600 ms\"\nset = { \"channel:b1.ap\" = 40 }\n";
    assert!(refused(&moving).contains("keep their channels"), "{}", refused(&moving));
}
