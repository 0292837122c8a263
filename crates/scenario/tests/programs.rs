//! `application` of a flow: its values, the programs that it starts, and its form in a simulation.

use lasthop_scenario::{LiveFlow, Load, Programs, ResolvedScenario, resolve, run};
use lasthop_units::Duration;

const CELL: &str =
    "duration = \"10 s\"\n[bss]\nstandard = \"802.11g\"\n[[station]]\ncount = 2\n[[flow]]\nstation = \"sta2\"\n";

fn sentences(scenario: &ResolvedScenario) -> Vec<String> {
    scenario.warnings().iter().map(ToString::to_string).collect()
}

fn complaint(flow: &str) -> String {
    resolve(&format!("{CELL}{flow}\n"), "f.toml", &[]).err().map(|error| error.to_string()).unwrap_or_default()
}

fn carried(flow: &str) -> LiveFlow {
    let scenario = resolve(&format!("{CELL}{flow}\n"), "f.toml", &[]).unwrap();
    scenario.emulation_plan(1).unwrap().flows.remove(0)
}

fn programs(flow: &str) -> (Option<String>, Option<String>) {
    let Programs { server, client } = carried(flow).programs(Duration::from_secs(10));
    let line = |words: Option<Vec<String>>| words.map(|words| words.join(" "));
    (server.and_then(|words| line(Some(words))), line(client))
}

#[test]
fn iperf3_has_a_server_for_one_test_and_a_client_that_reports_in_json() {
    let server = Some("iperf3 -4 -s -1 -p 50000".to_string());
    let client = |flow: &str| {
        let (found, client) = programs(flow);
        assert_eq!(found, server);
        client.unwrap()
    };
    let begin = "iperf3 -4 -c 10.0.0.1 -p 50000";
    assert_eq!(client("application = \"iperf3\""), format!("{begin} -t 10 -C cubic -J"), "to the end of the run");
    assert_eq!(client("start = \"2500 ms\"\napplication = \"iperf3\""), format!("{begin} -t 8 -C cubic -J"));
    let down = "direction = \"down\"\napplication = { kind = \"iperf3\", duration = \"3 s\" }";
    assert_eq!(client(down), format!("{begin} -t 3 -C cubic -R -J"));
    let all = "application = { kind = \"iperf3\", size = \"1 MB\", parallel = 4 }\ndscp = \"EF\"\nmss = \"500 B\"\npacing = \"on\"\n\
               congestion_control = \"newreno\"";
    assert_eq!(client(all), format!("{begin} -n 1000000 -P 4 -C reno -M 512 -S 184 --fq-rate 30G -J"));
}

#[test]
fn curl_fetches_from_a_server_that_the_emulator_brings() {
    let (server, client) = programs("direction = \"down\"\napplication = { kind = \"curl\", size = \"2 MB\" }");
    assert_eq!(server, None);
    let client = client.unwrap();
    // The user's configuration and proxies have no effect.
    assert!(client.starts_with("curl -q --noproxy * "), "{client}");
    assert!(client.ends_with(" http://10.0.0.1:50000/2000000"), "{client}");
}

#[test]
fn commands_get_the_addresses_and_the_port_of_their_flow() {
    let both =
        "application = { kind = \"command\", client = \"nc {server} {port}\", server = \"nc -l {port} # {station}\" }";
    let (server, client) = programs(both);
    // The AP is node 0, sta2 is node 2.
    assert_eq!(server.as_deref(), Some("/bin/sh -c nc -l 50000 # 10.1.0.3"));
    assert_eq!(client.as_deref(), Some("/bin/sh -c nc 10.0.0.1 50000"));
    assert_eq!(programs("application = { kind = \"command\", client = \"true\" }").0, None);
}

#[test]
fn without_a_program_the_emulator_sends_itself() {
    assert_eq!(programs("size = \"1 MB\""), (None, None));
}

#[test]
fn mistakes_name_the_line_the_place_and_the_remedy() {
    // The table begins in line 6, its first key besides `station` is in line 8.
    for (flow, said) in [
        (
            "application = \"iperf\"",
            "f.toml:8: flow[0].application: unknown application \"iperf\"; did you mean \"iperf3\"? one of: simulated, iperf3, curl, command",
        ),
        (
            "application = { kind = \"iperf3\", duration = \"1500 ms\" }",
            "f.toml:8: flow[0].application.duration: 1500 ms is not a duration for iperf3; give whole seconds, from 1 s to 86400 s",
        ),
        (
            "application = { kind = \"iperf3\", duration = \"5 s\", size = \"1 MB\" }",
            "f.toml:8: flow[0].application.size: duration and size both say when iperf3 ends; keep one of them",
        ),
        (
            "application = { kind = \"iperf3\", parallel = 0 }",
            "f.toml:8: flow[0].application.parallel: 0 connections; from 1 to 128",
        ),
        (
            "application = { kind = \"iperf3\", paralel = 2 }",
            "f.toml:8: flow[0].application.paralel: unknown key \"paralel\"; did you mean \"parallel\"? one of: duration, size, parallel, kind",
        ),
        (
            "application = \"command\"",
            "f.toml:8: flow[0].application.client: which command? e.g. client = \"nc {server} {port} < /dev/zero\"",
        ),
        (
            "application = { kind = \"command\", client = \"nc {host}\" }",
            "f.toml:8: flow[0].application.client: unknown placeholder {host}; one of: {server}, {station}, {port}",
        ),
        (
            "application = { kind = \"command\", client = \"true\", server = \" \" }",
            "f.toml:8: flow[0].application.server: an empty command; leave the key out",
        ),
        (
            "application = \"iperf3\"\nsize = \"1 MB\"",
            "f.toml:9: flow[0].size: `size` has no effect on \"iperf3\"; write application = { kind = \"iperf3\", size = \"…\" }",
        ),
        (
            "application = \"iperf3\"\nrate = \"1 Mbit/s\"",
            "f.toml:9: flow[0].rate: `rate` has no effect on \"iperf3\"; remove it",
        ),
        (
            "application = \"iperf3\"\ntransport = \"udp\"",
            "f.toml:9: flow[0].transport: \"iperf3\" is there over TCP only; remove this key",
        ),
        (
            "application = \"iperf3\"\ntraffic = \"on_off\"\nrate = \"1 Mbit/s\"",
            "f.toml:9: flow[0].traffic: \"iperf3\" decides itself what it sends, and is not \"on_off\"; remove one of the two",
        ),
        (
            "application = \"curl\"",
            "f.toml:6: flow[0].direction: \"curl\" fetches a file from the server; set \"down\"",
        ),
    ] {
        assert_eq!(complaint(flow), said);
    }
    assert_eq!(complaint("traffic = \"ping\"\napplication = \"simulated\""), "", "it is simulated anyway");
}

#[test]
fn mistakes_in_the_section_are_errors_as_well() {
    let with = |key: &str| {
        let text = format!("[emulation]\n{key}\n[bss]\nstandard = \"802.11g\"\n[[station]]\n");
        resolve(&text, "f.toml", &[]).err().unwrap().to_string()
    };
    for (key, said) in [
        ("gro = \"ampdu\"", "f.toml:2: emulation.gro: \"ampdu\" is not there yet; write \"off\", or leave the key out"),
        (
            "time = \"virtuel\"",
            "f.toml:2: emulation.time: unknown \"virtuel\"; did you mean \"virtual\"? one of: virtual, real",
        ),
        (
            "kernel = \"stok\"",
            "f.toml:2: emulation.kernel: expected \"own\", \"stock\", a version such as \"6.12\", or the path of a User Mode Linux kernel, such as \"./linux\", found \"stok\"",
        ),
        (
            "max_lateness = \"0 s\"",
            "f.toml:2: emulation.max_lateness: no packet is on time to the nanosecond; write \"1 ms\"",
        ),
    ] {
        assert_eq!(with(key), said);
    }
}

#[test]
fn a_command_is_checked_and_shown_but_cannot_be_simulated() {
    let text = format!("{CELL}[[flow]]\napplication = {{ kind = \"command\", client = \"true\" }}\n");
    let scenario = resolve(&text, "f.toml", &[]).unwrap();
    assert!(scenario.to_json().contains("\"client\":\"true\""));
    let refused = scenario.check_simulable().unwrap_err().to_string();
    assert!(
        refused.starts_with("f.toml:9: flow[1].application: a command runs under `lasthop emulate` only"),
        "{refused}"
    );
    let refused = scenario.check_without_code().unwrap_err().to_string();
    assert!(refused.starts_with("f.toml:9: flow[1].application: a command is a program, which"), "{refused}");
    let settings = [("flow.0.application", "{ kind = \"command\", client = \"true\" }")];
    let set = resolve(CELL, "f.toml", &settings.map(|(path, value)| (path.into(), value.into()))).unwrap();
    let refused = set.check_simulable().unwrap_err().to_string();
    assert!(refused.starts_with("--set flow.0.application={ kind = "), "{refused}");
    let data = resolve(CELL, "f.toml", &[]).unwrap();
    assert_eq!((data.check_simulable(), data.check_without_code()), (Ok(()), Ok(())));
}

#[test]
fn simulation_sends_the_bytes_of_the_program() {
    let goodput = |flow: &str| {
        let scenario = resolve(&format!("{CELL}{flow}\n"), "f.toml", &[]).unwrap();
        assert_eq!(scenario.warnings(), []);
        let result: serde_json::Value = serde_json::from_str(&run(&scenario, 1, None).unwrap().json()).unwrap();
        result["flows"][0].clone()
    };
    assert_eq!(goodput("application = \"iperf3\""), goodput(""));
    let sized = goodput("application = { kind = \"iperf3\", size = \"1 MB\" }");
    assert_eq!(sized, goodput("size = \"1 MB\""));
    let curl = goodput("direction = \"down\"\napplication = { kind = \"curl\", size = \"1 MB\" }");
    assert_eq!(curl, goodput("direction = \"down\"\nsize = \"1 MB\""));
    assert_ne!(sized, goodput(""));
}

#[test]
fn simulation_warns_of_program_features_it_leaves_out() {
    let said = |flow: &str| sentences(&resolve(&format!("{CELL}{flow}\n"), "f.toml", &[]).unwrap());
    let timed = "application = { kind = \"iperf3\", duration = \"4 s\", parallel = 3 }";
    assert_eq!(
        said(timed),
        ["flow sta2.up is simulated as bulk data: it has one connection instead of 3, and no end after 4 s"]
    );
    assert!(said("start = \"6 s\"\napplication = { kind = \"iperf3\", duration = \"4 s\" }").is_empty());
    // An emulation has everything that the program has.
    let plan = resolve(&format!("{CELL}{timed}\n"), "f.toml", &[]).unwrap().emulation_plan(1).unwrap();
    assert!(!plan.warnings.iter().any(|said| said.contains("simulated as")), "{:?}", plan.warnings);
    let load = Load::Iperf3 { duration: Some(Duration::from_secs(4)), size: None, parallel: 3 };
    assert_eq!(plan.flows[0].load, load);
}
