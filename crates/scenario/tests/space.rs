//! Walls, paths, fading and hidden nodes, from the file to the goodput of stations.

use lasthop_scenario::{ResolvedScenario, resolve, run};
use lasthop_units::Duration;

fn resolved(text: &str) -> ResolvedScenario {
    resolve(text, "f.toml", &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn complaint(text: &str) -> String {
    resolve(text, "f.toml", &[]).err().map(|e| e.to_string()).unwrap_or_default()
}

/// The sum of all goodputs, in Mbit/s.
fn goodput_mbps(text: &str) -> f64 {
    let run = run(&resolved(text), 1, None).unwrap();
    let result: serde_json::Value = serde_json::from_str(&run.json()).unwrap();
    result["totals"]["goodput_bps"].as_f64().unwrap() / 1e6
}

/// Two stations on opposite sides of the AP that always have something to send.
fn opposite(distance: &str, bss: &str) -> String {
    format!(
        "duration = \"10 s\"\n[channel]\npath_loss = {{ kind = \"log_distance\", reference_loss = \"46.7 dB\" }}\n\
         [bss]\nstandard = \"802.11a\"\nrate_control = {{ kind = \"fixed\", rate = \"6 Mbit/s\" }}\n{bss}\n\
         [[station]]\ncount = 2\ndistance = \"{distance}\"\n\
         [[flow]]\ntransport = \"udp\"\ndirection = \"up\"\nrate = \"saturated\"\npacket_size = \"1500 B\"\n"
    )
}

#[test]
fn stations_that_only_the_ap_hears_collide_and_rts_helps() {
    // At 40 m the received power is -78.8 dBm, at 80 m -87.8 dBm: the AP is received, the other
    // station is not.
    let near = goodput_mbps(&opposite("10 m", ""));
    let hidden = goodput_mbps(&opposite("40 m", ""));
    let with_rts = goodput_mbps(&opposite("40 m", "rts_threshold = \"0 B\""));
    // 12,000 bits in 2072 + 16 + 44 + 34 us and 3.5 slots of backoff on average.
    assert!((5.0..5.6).contains(&near), "{near}");
    assert!(hidden < 0.7 * near, "{hidden} of {near}");
    assert!(with_rts > 1.3 * hidden && with_rts < near, "{with_rts} {hidden}");
}

#[test]
fn wall_takes_its_loss() {
    let text = |wall: &str| {
        format!(
            "duration = \"2 s\"\n[channel]\npath_loss = {{ kind = \"multi_wall\", reference_loss = \"46.7 dB\" }}\n\
             [bss]\nstandard = \"802.11a\"\nrate_control = \"ideal\"\n[[station]]\nposition = [\"20 m\", \"0 m\"]\n{wall}\
             [[flow]]\ntransport = \"udp\"\ndirection = \"up\"\nrate = \"saturated\"\npacket_size = \"1500 B\"\n"
        )
    };
    // 16 - 46.7 - 26.02 = -56.7 dBm; after a wall of 8.2 dB -64.9, of 8.4 dB -65.1: 54 Mbit/s need
    // -65.
    let of = |loss: &str, x: &str| {
        goodput_mbps(&text(&format!(
            "[[wall]]\nfrom = [\"{x} m\", \"-5 m\"]\nto = [\"{x} m\", \"5 m\"]\nloss = \"{loss} dB\"\n"
        )))
    };
    let open = goodput_mbps(&text(""));
    assert_eq!((of("8.2", "10"), of("60", "30")), (open, open));
    assert!(of("8.4", "10") < 0.95 * open);
    assert_eq!(of("60", "10"), 0.0);
}

#[test]
fn a_station_that_walks_away_is_served_until_it_is_out_of_reach() {
    let text = "duration = \"12 s\"\n[channel]\npath_loss = { kind = \"log_distance\", reference_loss = \"46.7 dB\" }\n\
         [bss]\nstandard = \"802.11a\"\nrate_control = { kind = \"fixed\", rate = \"6 Mbit/s\" }\n\
         [[station]]\nwaypoints = [[\"2 s\", \"10 m\", \"0 m\"], [\"12 s\", \"110 m\", \"0 m\"]]\n\
         [[flow]]\ntransport = \"udp\"\ndirection = \"up\"\nrate = \"saturated\"\npacket_size = \"1500 B\"\n";
    let run = run(&resolved(text), 1, Some(Duration::from_secs(1))).unwrap();
    let goodput = run.series().iter().find(|block| block.quantity.name == "goodput_bps").unwrap();
    let served: Vec<bool> = goodput.values.iter().map(|bps| *bps > 5e6).collect();
    // -82 dBm are reached at 10^((16 - 46.7 + 82) / 30) = 51.3 m: after 2 + 4.13 s.
    let first_gap = served.iter().position(|s| !s).unwrap();
    assert_eq!((first_gap, served.len()), (6, 12), "{:?}", goodput.values);
    assert!(goodput.values[7..].iter().all(|bps| *bps == 0.0));
}

#[test]
fn fading_costs_a_station_at_the_edge_some_frames_and_repeats_itself() {
    let text = |fading: &str| {
        let text = opposite("40 m", "rts_threshold = \"0 B\"").replace("[bss]", &format!("fading = {fading}\n[bss]"));
        text.replace("count = 2\n", "")
    };
    let steady = goodput_mbps(&text("\"none\""));
    let rayleigh = goodput_mbps(&text("\"rayleigh\""));
    let mild = goodput_mbps(&text("{ kind = \"nakagami\", m = 20.0 }"));
    // 3.2 dB above the sensitivity: lost where the gain is below 0.48, with 1 - e^-0.48 = 38 %.
    assert!((0.5..0.72).contains(&(rayleigh / steady)), "{rayleigh} of {steady}");
    assert!(mild > 0.97 * steady, "{mild} of {steady}");
    assert_eq!(goodput_mbps(&text("\"rayleigh\"")), rayleigh);
}

#[test]
fn mistakes_of_walls_and_places_are_errors() {
    let base = "[bss]\nstandard = \"802.11a\"\n[[station]]\n";
    let wall = "[[wall]]\nfrom = [\"1 m\", \"2 m\"]\nto = [\"1 m\", \"2 m\"]\n";
    assert_eq!(
        complaint(&format!("[channel]\npath_loss = \"multi_wall\"\n{base}{wall}")),
        "f.toml:6: wall[0]: it begins and ends at (1 m, 2 m): a wall of zero length has no effect; give different places for from and to"
    );
    let wall = wall.replace("to = [\"1 m\"", "to = [\"9 m\"");
    assert_eq!(
        complaint(&format!("[channel]\npath_loss = \"friis\"\n{base}{wall}")),
        "f.toml:6: wall[0]: a wall has no effect unless channel.path_loss = \"multi_wall\"; say so, or remove them"
    );
    assert!(
        complaint(&format!("[channel]\npath_loss = \"multi_wall\"\n{base}{wall}loss = \"-3 dB\"\n"))
            .contains("no wall amplifies")
    );
    assert_eq!(
        complaint(&format!("[channel]\nposition_interval = \"1 s\"\n{base}")),
        "f.toml:2: channel.position_interval: it has no effect, as no station has waypoints; remove this key"
    );
    let way = |points: &str| complaint(&format!("{base}waypoints = {points}\n"));
    assert!(way("[[\"0 s\", \"3 m\", \"4 m\"]]").contains("a path has at least two points"));
    assert!(
        way("[[\"2 s\", \"3 m\", \"4 m\"], [\"2 s\", \"3 m\", \"5 m\"]]")
            .contains("waypoints[1]: 2 s is not after 2 s")
    );
    assert!(way("[[\"0 s\", \"3 m\"]]").contains("a time and two coordinates are needed"));
    assert!(way("[[\"0 s\", \"3 m\", \"4\"]]").contains("station[0].waypoints[0][2]: \"4\" has no unit"));
}

#[test]
fn a_station_that_no_rate_reaches_gets_nothing_and_a_warning() {
    for (path_loss, error_model, expected) in [
        ("log_distance", "none", "below the -82 dBm at which a preamble is received: nothing passes between them"),
        // Detected at -90 dBm, but 4 dB over the noise of -94 are not enough for 6 Mbit/s.
        ("log_distance", "nist", "too weak for every rate: nothing passes between them"),
    ] {
        let level = if error_model == "nist" { "cca_preamble = \"-120 dBm\"\n" } else { "" };
        let distance = if error_model == "nist" { "130 m" } else { "100 m" };
        let text = format!(
            "duration = \"2 s\"\n[channel]\npath_loss = {{ kind = \"{path_loss}\", reference_loss = \"46.7 dB\" }}\n\
             error_model = \"{error_model}\"\n{level}[bss]\nstandard = \"802.11a\"\n[[station]]\ndistance = \"{distance}\"\n\
             [[flow]]\ndirection = \"both\"\n"
        );
        let warnings: Vec<String> = resolved(&text).warnings().iter().map(ToString::to_string).collect();
        assert!(
            warnings.iter().any(|w| w.starts_with("station sta and its access point") && w.ends_with(expected)),
            "{warnings:?}"
        );
        assert_eq!(goodput_mbps(&text), 0.0);
    }
}

#[test]
fn geometry_without_path_loss_is_one_warning() {
    let warnings = |text: &str| -> Vec<String> {
        let scenario = resolve(text, "f.toml", &[]).map_err(|e| e.to_string()).unwrap();
        scenario.warnings().iter().map(ToString::to_string).collect()
    };
    let flow = "[[flow]]\n";
    let base = |keys: &str| format!("[bss]\nstandard = \"802.11g\"\n[[station]]\n{keys}{flow}");
    assert_eq!(warnings(&base("")), Vec::<String>::new());
    let one = warnings(&base("distance = \"1 km\"\n"));
    assert_eq!(one.len(), 1);
    assert!(
        one[0].starts_with(
            "station[0].distance has no effect because channel.path_loss = \"none\", the default with 802.11g:"
        ),
        "{one:?}"
    );
    let wall = "[[wall]]\nfrom = [\"1 m\", \"2 m\"]\nto = [\"9 m\", \"2 m\"]\n[channel]\ntx_power = \"20 dBm\"\n";
    let many = warnings(&format!("{}{wall}", base("distance = \"1 km\"\n")));
    assert_eq!(many.len(), 1);
    assert!(
        many[0].starts_with("station[0].distance, wall[0] and channel.tx_power each has no effect because"),
        "{many:?}"
    );
    // With capture the powers of the senders decide which frame survives; their places still have no
    // effect.
    let capture = warnings(&format!("{}{wall}capture = {{ threshold = \"10 dB\" }}\n", base("distance = \"1 km\"\n")));
    assert!(capture[0].starts_with("station[0].distance and wall[0] each has no effect because"), "{capture:?}");
    // There is no warning where signals weaken with distance.
    let loss = "[channel]\npath_loss = \"log_distance\"\n";
    assert_eq!(warnings(&format!("{}{loss}", base("distance = \"5 m\"\n"))), Vec::<String>::new());
    assert_eq!(warnings(&base("distance = \"5 m\"\n").replace("802.11g", "802.11ax")), Vec::<String>::new());
}

/// Stations around an AP, and the mean rates of their links to it in Mbit/s by an oracle.
fn rates_of(channel: &str, stations: &str, seed: u64) -> Vec<f64> {
    let text = format!(
        "duration = \"1 s\"\n[channel]\n{channel}\n[bss]\nstandard = \"802.11n\"\nrate_control = \"ideal\"\n{stations}\
         [[flow]]\ndirection = \"up\"\ntransport = \"udp\"\nrate = \"200 kbit/s\"\n"
    );
    let run = run(&resolved(&text), seed, None).unwrap();
    let result: serde_json::Value = serde_json::from_str(&run.json()).unwrap();
    let links = result["links"].as_array().unwrap();
    let rates = links.iter().filter(|link| link["peer"] == "ap").map(|link| &link["mean_data_rate_bps"]);
    rates.map(|rate| rate.as_f64().unwrap_or(0.0) / 1e6).collect()
}

#[test]
fn shadows_lie_on_places_and_differ_from_seed_to_seed() {
    let shadowing = "path_loss = \"log_distance\"\nshadowing = { deviation = \"8 dB\" }";
    // Two at one place, and one on the other side of the AP.
    let stations = "[[station]]\nname = \"one\"\nposition = [\"30 m\", \"0 m\"]\n\
                    [[station]]\nname = \"two\"\nposition = [\"30 m\", \"0 m\"]\n\
                    [[station]]\nname = \"far\"\nposition = [\"-30 m\", \"0 m\"]\n";
    let all: Vec<Vec<f64>> = (1..=12).map(|seed| rates_of(shadowing, stations, seed)).collect();
    assert!(all.iter().all(|rates| rates[0] == rates[1]), "{all:?}");
    assert!(all.iter().filter(|rates| rates[0] != rates[2]).count() > 6, "{all:?}");
    let mut levels: Vec<u64> = all.iter().map(|rates| rates[0] as u64).collect();
    levels.sort_unstable();
    levels.dedup();
    assert!(levels.len() > 3, "{levels:?}");
    let flat = rates_of("path_loss = \"log_distance\"\nshadowing = { deviation = \"0 dB\" }", stations, 1);
    assert_eq!(flat, rates_of("path_loss = \"log_distance\"", stations, 1));
}

#[test]
fn mistakes_of_shadowing_and_doppler_are_errors() {
    let base = "[bss]\nstandard = \"802.11n\"\n[[station]]\n";
    let say = |channel: &str| complaint(&format!("[channel]\n{channel}\n{base}"));
    assert_eq!(
        say("path_loss = \"none\"\nshadowing = { deviation = \"6 dB\" }"),
        "f.toml:3: channel.shadowing: shadowing has no effect without path loss, where nodes have no places; choose a path loss, e.g. \"log_distance\", or remove this key"
    );
    assert!(say("shadowing = { deviation = \"-6 dB\" }").contains("-6 dB is not a standard deviation of shadowing"));
    assert!(say("shadowing = { distance = \"0 m\" }").contains("at least 1 mm"));
    assert!(say("fading = { kind = \"jakes\", doppler = \"6 Hz\", speed = \"1 m/s\" }").contains("not both"));
    assert!(say("fading = { kind = \"gauss_markov\", doppler = \"-6 Hz\" }").contains("from 0 Hz to 20000 Hz"));
    assert!(say("fading = { kind = \"jakes\", speed = \"5000 km/h\" }").contains("from 0 m/s to 1000 m/s"));
    assert!(say("fading = { kind = \"jakes\", doppler = 6 }").contains("has no unit"));
}

#[test]
fn fast_fading_ends_within_a_burst_of_attempts_and_slow_fading_outlasts_it() {
    let given_up = |doppler: &str| {
        let text = opposite("30 m", "rts_threshold = \"0 B\"")
            .replace("[bss]", &format!("fading = {{ kind = \"jakes\", doppler = \"{doppler}\" }}\n[bss]"));
        let run = run(&resolved(&text.replace("count = 2\n", "")), 1, None).unwrap();
        let result: serde_json::Value = serde_json::from_str(&run.json()).unwrap();
        let sum = |key: &str| -> f64 {
            result["nodes"].as_array().unwrap().iter().map(|node| node[key].as_f64().unwrap_or(0.0)).sum()
        };
        sum("frames_dropped_retry_limit") / sum("frames_sent")
    };
    // Seven retries take some 10 ms: a tenth of a fade at 2 Hz, many fades at 2 kHz.
    let [slow, fast] = ["2 Hz", "2 kHz"].map(given_up);
    assert!(slow > 0.01 && fast < slow / 10.0, "{slow} {fast}");
}
