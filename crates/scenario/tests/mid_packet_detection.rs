//! `channel.mid_packet_detection`, from the file to transmissions that begin during others.

use lasthop_scenario::{ResolvedScenario, resolve, run_with_account};

fn resolved(text: &str) -> ResolvedScenario {
    resolve(text, "f.toml", &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn complaint(text: &str) -> String {
    resolve(text, "f.toml", &[]).err().map(|e| e.to_string()).unwrap_or_default()
}

/// An AP of 802.11ax on 80 MHz with a long download nearby, and stations around it that send. A station at 12 m and the
/// AP receive each other at 16 - 46.7 - 30 log10(12) = -63.1 dBm, stations 24 m apart at -72.1 dBm: no node at 12 m or
/// more detects the -62 dBm of energy.
fn crowd(channel: &str, bss: &str) -> String {
    format!(
        "duration = \"3 s\"\nwarmup = \"1 s\"\n[channel]\nerror_model = \"nist\"\ncapture = {{ threshold = \"10 dB\" }}\n\
         path_loss = {{ kind = \"log_distance\", reference_loss = \"46.7 dB\" }}\n{channel}\n\
         [bss]\nstandard = \"802.11ax\"\nchannel_width = \"80 MHz\"\nspatial_streams = 2\n{bss}\n\
         [[station]]\nname = \"near\"\ndistance = \"8 m\"\n[[station]]\nname = \"far\"\ncount = 8\ndistance = \"12 m\"\n\
         [[flow]]\nstation = \"near\"\ndirection = \"down\"\ntransport = \"udp\"\nrate = \"saturated\"\n\
         [[flow]]\nstation = \"far*\"\ndirection = \"up\"\ntransport = \"udp\"\nrate = \"2 Mbit/s\"\n"
    )
}

/// PPDUs of a run that began during others.
struct MissedPreambles {
    /// their number
    begun: u64,
    /// the time of the AP's PPDUs that they spoiled
    of_ap_s: f64,
}

fn missed_preambles(text: &str) -> MissedPreambles {
    let run = run_with_account(&resolved(text), 1).unwrap();
    let result: serde_json::Value = serde_json::from_str(&run.json()).unwrap();
    let channel = &result["account"]["channels"][0];
    let nodes = channel["nodes"].as_array().unwrap();
    let of_ap = nodes.iter().find(|node| node["name"] == "ap").expect("the AP has sent");
    MissedPreambles {
        begun: channel["begun_after_missed_preamble"].as_u64().unwrap(),
        of_ap_s: of_ap["missed_preamble_s"].as_f64().unwrap(),
    }
}

#[test]
fn node_that_notices_a_ppdu_under_way_does_not_start_over_it() {
    let off = missed_preambles(&crowd("mid_packet_detection = \"off\"", ""));
    assert!(off.begun > 0 && off.of_ap_s > 0.0, "{} {}", off.begun, off.of_ap_s);
    // All detect the AP at -69 dBm. Those of 8 stations on a circle that are 19 m apart or more do not detect each
    // other.
    let standard = missed_preambles(&crowd("", ""));
    assert_eq!(standard.of_ap_s, 0.0);
    assert!(standard.begun < off.begun, "{} of {}", standard.begun, off.begun);
    // All detect one another at -82 dBm, and no node contends sooner than 25 us after it has sent or received.
    assert_eq!(missed_preambles(&crowd("mid_packet_detection = \"-82 dBm\"", "")).begun, 0);
}

#[test]
fn announced_ppdu_is_not_started_over() {
    // An A-MPDU is sent only after a CTS answered its RTS; the CTS of the near station reaches all, 20 m away at -69.7
    // dBm.
    let announced = "txop_duration_rts_threshold = \"320 us\"";
    let long = missed_preambles(&crowd("mid_packet_detection = \"off\"", announced));
    let open = missed_preambles(&crowd("mid_packet_detection = \"off\"", ""));
    assert!(long.of_ap_s < open.of_ap_s / 10.0, "{} of {}", long.of_ap_s, open.of_ap_s);
}

/// The level in the resolved scenario.
fn level(channel: &str, bss: &str) -> String {
    let text = format!("[channel]\n{channel}\n[bss]\n{bss}\n[[station]]\n[[flow]]\n");
    let json: serde_json::Value = serde_json::from_str(&resolved(&text).to_json()).unwrap();
    json["channel"]["mid_packet_detection"].as_str().unwrap().to_string()
}

fn ax(width: &str) -> String {
    format!("standard = \"802.11ax\"\nchannel_width = \"{width} MHz\"")
}

/// -72 dBm on secondary channels of 20 and 40 MHz, -69 dBm on one of 80 MHz, each with half the power of a PPDU that fills
/// the channel: 3 dB more. A channel of 20 MHz has no secondary one. [802.11-2020 §21.3.18.5.4]
#[test]
fn the_default_is_that_of_the_widest_secondary_channel() {
    for (width, found) in [("20", "off"), ("40", "-69 dBm"), ("80", "-69 dBm"), ("160", "-66 dBm")] {
        assert_eq!(level("", &ax(width)), found, "{width}");
    }
    assert_eq!(level("", "standard = \"802.11a\""), "off");
    assert_eq!(level("", "standard = \"802.11n\"\nchannel_width = \"40 MHz\""), "off");
    assert_eq!(level("mid_packet_detection = \"off\"", &ax("80")), "off");
    assert_eq!(level("mid_packet_detection = \"-75 dBm\"", "standard = \"802.11a\""), "-75 dBm");
    // Energy detection has a lower level: there is nothing left to detect.
    assert_eq!(level("cca_energy = \"-70 dBm\"", &ax("80")), "off");
}

#[test]
fn a_level_that_could_have_no_effect_is_refused() {
    let refused = |key: &str, bss: &str| complaint(&format!("[channel]\n{key}\n[bss]\n{bss}\n[[station]]\n[[flow]]\n"));
    for wrong in ["-62 dBm", "-82.1 dBm"] {
        let message = refused(&format!("mid_packet_detection = \"{wrong}\""), &ax("80"));
        let said = "is not from -82 dBm to below -62 dBm";
        assert!(message.contains("channel.mid_packet_detection") && message.contains(said), "{message}");
    }
    let message = refused("mid_packet_detection = \"-72 dBm\"", "standard = \"802.11b\"");
    assert!(message.contains("802.11b have no guard intervals"), "{message}");
}
