//! Knobs that a scenario or an agent turns while a simulation runs.

use std::sync::Arc;

use lasthop_observe::metric::{frames, goodput, rtt, window};
use lasthop_scenario::{ResolvedScenario, Simulation, Task, World, list_json, resolve, run, show_json};
use lasthop_theory::bianchi::Backoff;
use lasthop_units::{Duration, Time};

const SATURATED: &str = "duration = \"10 s\"\nwarmup = \"2 s\"\n[bss]\nstandard = \"802.11a\"\ncountdown = \"bianchi\"\n\
    eifs = false\nretry_limit = \"unlimited\"\nrate_control = { kind = \"fixed\", rate = \"54 Mbit/s\" }\n\
    [[station]]\ncount = 10\n[[flow]]\ntransport = \"udp\"\nrate = \"saturated\"\n";
const AX: &str = "duration = \"2 s\"\n[bss]\nstandard = \"802.11ax\"\n[[station]]\ncount = 3\n[[flow]]\n";

fn scenario(base: &str, changes: &str) -> Result<Arc<ResolvedScenario>, String> {
    resolve(&format!("{base}{changes}"), "f.toml", &[]).map(Arc::new).map_err(|error| error.to_string())
}

fn plain(base: &str) -> Arc<ResolvedScenario> {
    scenario(base, "").unwrap()
}

/// The result of a run without what differs by design: the scenario is not in it.
fn result(scenario: &Arc<ResolvedScenario>) -> String {
    without_wall_clock(&run(scenario, 3, None).expect("it runs").json())
}

fn without_wall_clock(json: &str) -> String {
    let mut document: serde_json::Value = serde_json::from_str(json).expect("a result is JSON");
    document["simulator"]["wall_s"] = serde_json::Value::Null;
    document.to_string()
}

#[test]
fn a_new_window_gives_the_collisions_of_bianchis_closed_form() {
    for window in [7, 63, 255] {
        let change = format!(
            "[[change]]\nat = \"1 s\"\nset = {{ \"edca.cw_max:*\" = {window}, \"edca.cw_min:sta*\" = {window} }}\n"
        );
        let mut simulation = Simulation::new(scenario(SATURATED, &change).unwrap(), 1);
        simulation.run_until(Time::NEVER);
        let report = simulation.finish().expect("it runs").report;
        let found = report.medium.get(frames::COLLISIONS_OF_ALL).expect("frames were sent");
        let expected = Backoff { window: window + 1, doublings: 0, attempts: None }.solve(10).p;
        // As in tests/saturation.rs of lasthop-wifi.
        assert!((found - expected).abs() < 0.01, "CW {window}: {found:.4} of the attempts collided, for {expected:.4}");
    }
}

#[test]
fn a_change_counts_from_its_time_on() {
    let change = "[[change]]\nat = \"1 s\"\nset = { \"edca.be.cw_min:sta1\" = 255, \"edca.aifsn:ap\" = 1 }\n";
    let (with, without) = (scenario(AX, change).unwrap(), plain(AX));
    let delivered = |scenario: &Arc<ResolvedScenario>, until| {
        let mut simulation = Simulation::new(Arc::clone(scenario), 1);
        simulation.run_until(until);
        let metrics = simulation.metrics().expect("there is no warm-up");
        metrics.flows.iter().map(|flow| flow.get(goodput::BYTES_DELIVERED)).collect::<Vec<_>>()
    };
    let at = Time::ZERO + Duration::from_secs(1);
    assert_eq!(delivered(&with, at), delivered(&without, at));
    let later = at + Duration::from_millis(500);
    assert_ne!(delivered(&with, later), delivered(&without, later));
}

#[test]
fn a_change_to_the_value_in_force_changes_nothing() {
    let change =
        "[[change]]\nat = \"500 ms\"\nset = { \"edca.cw_min:*\" = 15, \"edca.be.txop_limit:*\" = \"2.528 ms\" }\n";
    assert_eq!(result(&scenario(AX, change).unwrap()), result(&plain(AX)));
    let change = "[[change]]\nat = \"500 ms\"\nset = { \"edca.cw_min:*\" = 15, \"edca.cw_max:*\" = 1023 }\n";
    assert_eq!(result(&scenario(SATURATED, change).unwrap()), result(&plain(SATURATED)));
}

#[test]
fn an_agent_and_a_script_that_set_the_same_give_the_same_bytes() {
    let change = "[[change]]\nat = \"2.5 s\"\nset = { \"edca.cw_min:*\" = 127 }\n";
    let scripted = result(&scenario(SATURATED, change).unwrap());
    let (control, observe) = (["edca.cw_min:*".to_string()], ["totals.goodput_bps".to_string()]);
    let task = Task::new(plain(SATURATED), &control, &observe, &["1".into()], "500 ms").unwrap();
    let mut world = World::new(Arc::new(task), 3);
    world.step(None);
    world.step(Some(&[127.0]));
    let goodput = world.observation()[0];
    assert!((20e6..40e6).contains(&goodput), "{goodput} of some 30 Mbit/s");
    assert_eq!(without_wall_clock(&world.finish().result.unwrap().json()), scripted);
}

/// Checks that a change at the start gives the result of a scenario that has the value from the start.
fn same_from_the_start(base: &str, change: &str, settings: &[(&str, &str)]) {
    let changed = scenario(base, &format!("[[change]]\nat = \"0 s\"\nset = {{ {change} }}\n")).unwrap();
    let settings: Vec<_> = settings.iter().map(|(path, value)| (path.to_string(), value.to_string())).collect();
    let set = Arc::new(resolve(base, "f.toml", &settings).unwrap_or_else(|error| panic!("{error}")));
    assert_eq!(result(&changed), result(&set), "{change}");
    assert_ne!(result(&changed), result(&plain(base)), "{change} has an effect");
}

#[test]
fn a_change_at_the_start_equals_the_key_of_the_file() {
    let down = "duration = \"2 s\"\n[bss]\nstandard = \"802.11n\"\n[bss.ap]\nqueue = \"airtime_fq_codel\"\n[[station]]\ncount = 3\n\
        [[flow]]\ndirection = \"down\"\n";
    let be = "{ cw_min = 63, cw_max = 255, aifsn = 5, txop_limit = \"0 us\" }";
    let set =
        "\"edca.cw_min:*\" = 63, \"edca.cw_max:*\" = 255, \"edca.be.aifsn:*\" = 5, \"edca.be.txop_limit:*\" = \"0 us\"";
    same_from_the_start(down, set, &[("bss.edca.be", be)]);
    same_from_the_start(down, "\"queue.target:ap\" = \"2 ms\"", &[("bss.ap.queue.target", "2 ms")]);
    same_from_the_start(down, "\"airtime_weight:sta*\" = 100", &[("station.0.airtime_weight", "100")]);
    same_from_the_start(
        down,
        "\"rate:*\" = \"13 Mbit/s\"",
        &[("bss.rate_control", "{ kind = \"fixed\", rate = \"13 Mbit/s\" }")],
    );
    let mpdus = [("bss.aggregation", "{ max_mpdus = 4 }")];
    same_from_the_start(down, "\"aggregation.max_mpdus:*\" = 4", &mpdus);
    let duration = [("bss.aggregation", "{ max_duration = \"1 ms\" }")];
    same_from_the_start(down, "\"aggregation.max_duration:*\" = \"1 ms\"", &duration);
    same_from_the_start(down, "\"rts_threshold:ap\" = \"500 B\"", &[("bss.rts_threshold", "500 B")]);
    let far = down.replace("[[station]]\n", "[[station]]\ndistance = \"25 m\"\n");
    same_from_the_start(&far, "\"tx_power:*\" = \"6 dBm\"", &[("channel.tx_power", "6 dBm")]);
    let ax = down
        .replace("802.11n", "802.11ax")
        .replace("count = 3", "count = 8")
        .replace("[bss.ap]\n", "[bss.ap]\nmulti_user = { kind = \"airtime\" }\n");
    same_from_the_start(&ax, "\"multi_user.max_users:ap\" = 2", &[("bss.ap.multi_user.max_users", "2")]);
    same_from_the_start(
        &ax,
        "\"multi_user.least_bytes:ap\" = \"20 kB\"",
        &[("bss.ap.multi_user.least_bytes", "20 kB")],
    );
    for kind in ["codel", "pie", "dualpi2", "fq_codel", "fq_pie", "fq_mac"] {
        let base = down.replace("airtime_fq_codel", kind);
        same_from_the_start(
            &base,
            "\"queue.target:ap\" = \"2 ms\"",
            &[("bss.ap.queue", &format!("{{ kind = \"{kind}\", target = \"2 ms\" }}"))],
        );
    }
}

/// A NewReno upload alone, with a path of 40 ms.
const ALONE: &str = "duration = \"12 s\"\nwarmup = \"2 s\"\n[bss]\nstandard = \"802.11a\"\n[[station]]\n[wired]\ndelay = \"20 ms\"\n\
    [tcp]\ncongestion_control = \"newreno\"\n[[flow]]\n";

fn flow_of(scenario: Arc<ResolvedScenario>) -> (f64, f64) {
    let mut simulation = Simulation::new(scenario, 1);
    simulation.run_until(Time::NEVER);
    let report = simulation.finish().expect("it runs").report;
    (report.flows[0].get(goodput::GOODPUT).unwrap(), report.flows[0].get(rtt::RTT_MEAN).unwrap())
}

#[test]
fn a_window_from_outside_keeps_that_many_segments_in_flight() {
    for window in [4.0, 20.0] {
        let change = format!("[[change]]\nat = \"1 s\"\nset = {{ \"window:sta.up\" = {window} }}\n");
        let (goodput, rtt) = flow_of(scenario(ALONE, &change).unwrap());
        // Little's law: 1448 B of payload in each segment. Delayed ACKs leave up to a segment unsent for a part of the RTT.
        let in_flight = goodput * rtt / (8.0 * 1448.0);
        assert!((window - 0.5..window + 0.1).contains(&in_flight), "{in_flight} segments for {window}");
    }
}

#[test]
fn a_window_from_outside_holds_for_each_connection_of_a_flow() {
    let base = format!("{ALONE}size = \"100 kB\"\nrepeat = 50\n");
    let change = "[[change]]\nat = \"1 s\"\nset = { \"window:sta.up\" = 4 }\n";
    let widest = |scenario| {
        let mut simulation = Simulation::new(scenario, 1);
        simulation.run_until(Time::NEVER);
        let report = simulation.finish().expect("it runs").report;
        assert!(report.flows[0].get(goodput::TRANSFERS_COMPLETED).unwrap() > 5);
        report.flows[0].get(window::CWND_MAX).unwrap()
    };
    assert_eq!(widest(scenario(&base, change).unwrap()), 4.0);
    assert!(widest(plain(&base)) > 20.0);
}

#[test]
fn a_window_from_outside_holds_over_quic_too() {
    let over_quic = |control: &str, more: &str| {
        let base = ALONE
            .replace("[tcp]\ncongestion_control = \"newreno\"\n", "")
            .replace("[[flow]]\n", "[[flow]]\ntransport = \"quic\"\n");
        format!("{base}congestion_control = \"{control}\"\n{more}")
    };
    for (control, window) in [("newreno", 4.0), ("cubic", 20.0), ("quinn_cubic", 8.0)] {
        let change = format!("[[change]]\nat = \"1 s\"\nset = {{ \"window:sta.up\" = {window} }}\n");
        let (goodput, rtt) =
            flow_of(scenario(&over_quic(control, ""), &change).unwrap_or_else(|error| panic!("{error}")));
        // Little's law, as above, in datagrams of 1452 B, whose payload is a little smaller. The stack keeps room for one more below the
        // window, and its receiver withholds an ACK for one.
        let in_flight = goodput * rtt / (8.0 * 1420.0);
        assert!((window - 2.0..window).contains(&in_flight), "{control}: {in_flight} datagrams for {window}");
    }
    let pacing = "[[change]]\nat = \"1 s\"\nset = { \"pacing:sta.up\" = \"2 Mbit/s\" }\n";
    let error = scenario(&over_quic("newreno", ""), pacing).err().unwrap();
    assert!(error.contains("paces by its window"), "{error}");
}

#[test]
fn a_pacing_rate_from_outside_is_the_goodput() {
    let change = "[[change]]\nat = \"1 s\"\nset = { \"pacing:sta.up\" = \"2 Mbit/s\" }\n";
    let base = ALONE.replace("[tcp]\n", "[tcp]\npacing = \"on\"\n");
    let (goodput, _) = flow_of(scenario(&base, change).unwrap());
    assert!((goodput / 2e6 - 1.0).abs() < 0.01, "{goodput}");
    let error = scenario(ALONE, change).err().unwrap();
    assert!(error.contains("the segments of sta.up are not paced; set pacing = \"on\""), "{error}");
}

/// One station whose attempts fail half of the time, and are repeated until they succeed.
const FAILING: &str = "duration = \"60 s\"\n[channel]\nerror_model = { kind = \"fixed\", frame_error_rate = 0.5 }\n[bss]\nstandard = \"802.11a\"\n\
    retry_limit = \"unlimited\"\n[[station]]\n[[flow]]\ntransport = \"udp\"\nrate = \"saturated\"\n";

#[test]
fn a_retry_chain_from_outside_has_its_attempts_at_each_rate() {
    let rates =
        "\"rate:sta->ap\" = \"54 Mbit/s\", \"rate.tries:sta->ap\" = 2, \"rate.fallback:sta->ap\" = \"6 Mbit/s\"";
    let mean_rate = |rates: &str| {
        let change = format!("[[change]]\nat = \"0 s\"\nset = {{ {rates} }}\n");
        let mut simulation = Simulation::new(scenario(FAILING, &change).unwrap(), 1);
        simulation.run_until(Time::NEVER);
        simulation.finish().expect("it runs").report.nodes[1].get(frames::DATA_RATE_MEAN).unwrap()
    };
    let two = mean_rate(rates);
    // Data and ACK both arrive with 1/4: an MSDU takes 4 attempts on average, of which 1 + 3/4 are at 54 Mbit/s.
    let expected = (54e6 * 1.75 + 6e6 * 2.25) / 4.0;
    assert!((two / expected - 1.0).abs() < 0.03, "{two} for {expected}");
    // Four rates with one, two, one and all further attempts. Attempt k is made with (3/4)^(k-1).
    let rates = "\"rate:sta->ap\" = \"54 Mbit/s\", \"rate.fallback:sta->ap\" = \"24 Mbit/s\", \"rate.fallback.tries:sta->ap\" = 2, \
        \"rate.third:sta->ap\" = \"12 Mbit/s\", \"rate.fourth:sta->ap\" = \"6 Mbit/s\"";
    let q: f64 = 0.75;
    let expected = (54e6 + 24e6 * (q + q.powi(2)) + 12e6 * q.powi(3) + 6e6 * q.powi(4) / (1.0 - q)) * (1.0 - q);
    let rate = mean_rate(rates);
    assert!((rate / expected - 1.0).abs() < 0.03, "{rate} for {expected}");
    // An entry without a rate is left out.
    let skips = "\"rate:sta->ap\" = \"54 Mbit/s\", \"rate.tries:sta->ap\" = 2, \"rate.fallback.tries:sta->ap\" = 9, \
        \"rate.fourth:sta->ap\" = \"6 Mbit/s\"";
    assert_eq!(mean_rate(skips), two);
    // After the attempts of a last entry rates are chosen again: the chain begins anew.
    let again = "\"rate:sta->ap\" = \"54 Mbit/s\", \"rate.fallback:sta->ap\" = \"6 Mbit/s\", \"rate.fallback.tries:sta->ap\" = 1";
    let (rate, expected) = (mean_rate(again), (54e6 + 6e6 * q) / (1.0 + q));
    assert!((rate / expected - 1.0).abs() < 0.03, "{rate} for {expected}");
    // Rates without a first one hold nothing.
    let change = "[[change]]\nat = \"0 s\"\nset = { \"rate.fallback:sta->ap\" = \"6 Mbit/s\" }\n";
    assert_eq!(result(&scenario(FAILING, change).unwrap()), result(&plain(FAILING)));
}

#[test]
fn a_signal_of_less_power_fails_beyond_the_distance_of_its_path_loss() {
    // Of log-distance with exponent 3 and 46.6777 dB at 1 m: 16 dBm arrive at 10 m with -60.7 dBm. 24 dB less are below -82 dBm,
    // the sensitivity of 6 Mbit/s [802.11-2020 Table 17-18].
    let base = "duration = \"4 s\"\n[channel]\npath_loss = { kind = \"log_distance\", exponent = 3, reference_loss = \"46.6777 dB\" }\n\
        [bss]\nstandard = \"802.11a\"\nrate_control = { kind = \"fixed\", rate = \"6 Mbit/s\" }\n[[station]]\n\
        position = [\"10 m\", \"0 m\"]\n[[flow]]\ntransport = \"udp\"\nrate = \"saturated\"\n";
    for (power, arrives) in [("-5 dBm", true), ("-6 dBm", false)] {
        let change = format!("[[change]]\nat = \"2 s\"\nset = {{ \"tx_power:sta\" = \"{power}\" }}\n");
        let mut simulation = Simulation::new(scenario(base, &change).unwrap(), 1);
        let delivered = |simulation: &Simulation, ms| {
            let metrics = simulation.metrics().expect("there is no warm-up");
            let _: u64 = ms;
            metrics.flows[0].get(goodput::BYTES_DELIVERED).unwrap()
        };
        simulation.run_until(Time::ZERO + Duration::from_millis(2010));
        let before = delivered(&simulation, 2010);
        simulation.run_until(Time::ZERO + Duration::from_millis(3990));
        let after = delivered(&simulation, 3990) - before;
        assert_eq!(after > 0, arrives, "{power}: {after} bytes after {before}");
        assert!(before > 1_000_000);
    }
}

#[test]
fn an_agent_without_a_policy_changes_nothing() {
    for when in ["every = \"7 ms\"", "at = \"attempt:sta1->ap\"", "at = \"ack:sta1.up\"", "at = \"txop:ap\""] {
        let base = AX;
        let agent =
            format!("[[agent]]\ncontrol = [\"edca.cw_min:*\"]\nobserve = [\"nodes.ap.queue_packets\"]\n{when}\n");
        assert_eq!(result(&scenario(base, &agent).unwrap()), result(&plain(base)), "{when}");
    }
}

#[test]
fn an_agent_decides_after_each_txop() {
    let base = "duration = \"2 s\"\n[bss]\nstandard = \"802.11a\"\n[[station]]\n[[flow]]\ndirection = \"down\"\ntransport = \"udp\"\n\
        rate = \"saturated\"\n";
    let observe = ["nodes.ap.frames_sent".to_string()];
    let task = Task::new(plain(base), &["edca.cw_min:ap".to_string()], &observe, &["1".into()], "txop:ap").unwrap();
    let mut world = World::new(Arc::new(task), 1);
    let mut steps = 0;
    while !world.has_ended() {
        world.step(None);
        steps += 1;
        // With the DCF a TXOP is one frame.
        assert!(world.has_ended() || world.observation()[0] == 1.0, "{}", world.observation()[0]);
    }
    assert!(steps > 1000, "{steps}");
}

#[test]
fn mistakes_of_an_agent_name_the_line_and_the_remedy() {
    for (agent, part) in [
        ("control = []", "the agent turns no knob"),
        ("control = [\"edca.cwmin:ap\"]", "agent[0].control: unknown knob"),
        ("control = [\"edca.cw_min:ap\"]\nobserve = [\"medium.idle\"]", "agent[0].observe: unknown quantity"),
        ("control = [\"edca.cw_min:ap\"]\nat = \"txop:sta1\"", "agent[0].at: there is no ap \"sta1\""),
        ("control = [\"edca.cw_min:ap\"]\nat = \"txop:ap\"\nevery = \"1 s\"", "remove one of them"),
        ("control = [\"edca.cw_min:ap\"]\npolicy = \"nobody\"", "unknown policy \"nobody\""),
        ("control = [\"tx_power:ap\"]", "no path loss weakens a signal"),
        ("control = [\"multi_user.max_users:ap\"]", "ap sends no PPDUs of several users"),
    ] {
        let found = scenario(SATURATED, &format!("[[agent]]\n{agent}\n")).err().unwrap_or_default();
        assert!(found.starts_with("f.toml:") && found.contains(part), "{agent}: {found}");
    }
}

#[test]
fn a_warning_names_what_no_device_with_these_knobs_could_see() {
    let seen = |observe: &str| {
        let agent = format!("[[agent]]\ncontrol = [\"edca.cw_min:sta1\"]\nobserve = [\"{observe}\"]\n");
        let warnings =
            scenario(SATURATED, &agent).unwrap().warnings().iter().map(|one| one.to_string()).collect::<Vec<_>>();
        warnings.into_iter().find(|one| one.contains("a device could not run this policy"))
    };
    for (observe, why) in [
        ("nodes.sta2.queue_packets", "of another node"),
        ("medium.collision_fraction", "the truth of the simulator"),
        ("flows.sta2.up.goodput_bps", "of other nodes"),
        ("totals.goodput_bps", "of all flows"),
    ] {
        assert!(seen(observe).is_some_and(|told| told.contains(why)), "{observe}");
    }
    for observe in
        ["nodes.sta1.queue_packets", "medium.idle_fraction", "links.ap.sta1.frames_sent", "flows.sta1.up.goodput_bps"]
    {
        assert_eq!(seen(observe), None, "{observe}");
    }
}

#[test]
fn mistakes_name_the_line_and_the_remedy() {
    let mistake = |base, set: &str| {
        scenario(base, &format!("[[change]]\nat = \"1 s\"\nset = {{ {set} }}\n")).err().unwrap_or_default()
    };
    for (base, set, part) in [
        (AX, "\"edca.cw_min\" = 7", "\"edca.cw_min\" has no target"),
        (AX, "\"edca.cwmin:ap\" = 7", "did you mean \"edca.cw_min\"?"),
        (AX, "\"edca.cw_min:sta9\" = 7", "there is no node \"sta9\""),
        (AX, "\"edca.xx.cw_min:ap\" = 7", "unknown access category \"xx\""),
        (AX, "\"edca.cw_min:ap\" = 7.5", "expected a whole number, found 7.5"),
        (AX, "\"edca.cw_min:ap\" = 40000", "a whole number from 0 to 32767 slots"),
        (AX, "\"edca.txop_limit:ap\" = 1", "expected a quantity with its unit"),
        (AX, "\"edca.txop_limit:ap\" = \"3 h\"", "from 0 to 2.09712 s"),
        (AX, "\"edca.aifsn:*\" = 1", "from 2 at a station"),
        (SATURATED, "\"edca.be.cw_min:sta1\" = 7", "\"edca.cw_min:sta1\" is the knob of its DCF"),
        (SATURATED, "\"edca.aifsn:ap\" = 2", "has no access categories"),
        (AX, "", "it changes no knob"),
        (AX, "\"rate:sta1->ap\" = \"7 Mbit/s\"", "one of "),
        (AX, "\"rate:sta1->sta2\" = \"6 Mbit/s\"", "there is no link \"sta1->sta2\""),
        (AX, "\"queue.target:sta1\" = \"6 ms\"", "the queue of sta1 keeps no delay"),
        (AX, "\"queue.target:ap\" = \"200 ms\"", "below the interval of the law"),
        (AX, "\"window:sta1.up\" = \"7\"", "expected a number, found \"7\""),
        (AX, "\"window:sta1.up\" = 0", "from 1 to 100000 segments"),
        (SATURATED, "\"window:sta1.up\" = 7", "is for flows of bulk data over TCP or QUIC"),
        (AX, "\"aggregation.max_mpdus:ap\" = 257", "from 1 to 256 MPDUs"),
        (AX, "\"rts_threshold:ap\" = 500", "expected a quantity with its unit, found 500"),
        (AX, "\"rts_threshold:sta1\" = \"500 B\"", "there is no ap \"sta1\""),
        (SATURATED, "\"aggregation.max_mpdus:ap\" = 4", "ap makes no A-MPDUs"),
        (SATURATED, "\"airtime_weight:sta1\" = 7", "does not schedule by airtime"),
        (AX, "\"multi_user.rank:sta1\" = 1", "sta1 takes no part in PPDUs of several users"),
        (AX, "\"channel:ap\" = 37", "one of 36, 40, 44, 48, 52, "),
        (AX, "\"channel:ap\" = \"40\"", "expected a whole number, found \"40\""),
        (AX, "\"channel:sta1\" = 40", "there is no ap \"sta1\""),
    ] {
        let found = mistake(base, set);
        assert!(found.starts_with("f.toml:") && found.contains(part), "{set}: {found}");
    }
    let late = scenario(AX, "[[change]]\nat = \"3 s\"\nset = { \"edca.cw_min:ap\" = 7 }\n").err().unwrap();
    assert!(late.contains("change[0].at: 3 s is not before the end, 2 s"), "{late}");
}

#[test]
fn every_knob_is_listed_and_shown() {
    let rows: serde_json::Value = serde_json::from_str(&list_json(Some("knob")).unwrap()).unwrap();
    for row in rows.as_array().unwrap() {
        assert!(show_json(row["name"].as_str().unwrap()).is_ok(), "{row}");
    }
    assert!(show_json("edca.be.cw_min:ap").unwrap().contains("edca.CATEGORY.cw_min:NODE"));
}
