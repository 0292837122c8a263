//! The settings of a scenario that a kernel gets, and those that it does not get.

use std::collections::BTreeSet;
use std::path::Path;

use lasthop_registry::Parameters;
use lasthop_scenario::{EmulationPlan, KernelChoice, LiveNode, Load, Simulation, TimeKind, resolve};
use lasthop_tcp::Config;
use lasthop_units::{Duration, Time};

const CELL: &str = "[bss]\nstandard = \"802.11g\"\n[[station]]\ncount = 2\n";

fn plan_of(text: &str) -> EmulationPlan {
    resolve(text, "f.toml", &[]).unwrap().emulation_plan(1).unwrap()
}

/// Uploads of two stations under these keys of `[tcp]`.
fn uploads(tcp: &str) -> EmulationPlan {
    plan_of(&format!("{CELL}[tcp]\n{tcp}\n[[flow]]\n"))
}

fn sysctl<'a>(node: &'a LiveNode, name: &str) -> &'a str {
    let name = format!("net.ipv4.{name}");
    node.sysctls.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value)
}

fn emulate_warnings(plan: &EmulationPlan) -> Vec<&str> {
    plan.warnings.iter().map(String::as_str).filter(|said| said.starts_with("emulate: ")).collect()
}

/// A station, which sends, and the server, which receives.
fn ends(plan: &EmulationPlan) -> (&LiveNode, &LiveNode) {
    (&plan.nodes[1], &plan.nodes[0])
}

#[test]
fn each_key_maps_to_the_sysctl_with_its_meaning() {
    // Documentation/networking/ip-sysctl.rst: key, sysctl, whether the sender's kernel has it, value.
    let both = [
        ("sack = false", "tcp_sack", "0"),
        ("sack = true", "tcp_sack", "1"),
        ("timestamps = false", "tcp_timestamps", "0"),
        ("window_scaling = false\nreceive_window = \"60000 B\"", "tcp_window_scaling", "0"),
        ("ecn = \"off\"", "tcp_ecn", "0"),
        ("ecn = \"on\"", "tcp_ecn", "1"),
        ("ecn = \"passive\"", "tcp_ecn", "2"),
        ("ecn = \"accurate\"", "tcp_ecn", "3"),
        ("ecn = \"on_accurate\"", "tcp_ecn", "4"),
        ("ecn = \"passive_accurate\"", "tcp_ecn", "5"),
        ("ecn = \"accurate\"\naccecn_option = \"persist\"", "tcp_ecn_option", "3"),
        ("syn_retries = 3", "tcp_syn_retries", "3"),
        ("syn_retries = \"off\"", "tcp_syn_retries", "127"),
        ("fin_timeout = \"1500 ms\"", "tcp_fin_timeout", "2"),
        ("answer_interval = \"0 s\"", "tcp_invalid_ratelimit", "0"),
        ("", "tcp_no_metrics_save", "1"),
    ];
    for (key, name, value) in both {
        let plan = uploads(key);
        let (station, server) = ends(&plan);
        assert_eq!((sysctl(station, name), sysctl(server, name)), (value, value), "{key}");
    }
    let of_sender = [
        ("slow_start_after_idle = true", "tcp_slow_start_after_idle", "1"),
        ("slow_start_after_idle = false", "tcp_slow_start_after_idle", "0"),
        ("tail_loss_probe = false", "tcp_early_retrans", "0"),
        ("tail_loss_probe = true", "tcp_early_retrans", "3"),
        ("loss_detection = \"rack\"", "tcp_recovery", "1"),
        ("loss_detection = \"rfc6675\"", "tcp_recovery", "0"),
        ("forward_rto = false", "tcp_frto", "0"),
        ("forward_rto = true", "tcp_frto", "2"),
        ("duplicate_ack_threshold = 5", "tcp_reordering", "5"),
        ("retries = 8", "tcp_retries2", "8"),
        ("retries = \"off\"", "tcp_retries2", "255"),
        ("min_burst = 4", "tcp_min_tso_segs", "4"),
        ("congestion_control = \"newreno\"", "tcp_congestion_control", "reno"),
        ("congestion_control = \"hstcp\"", "tcp_congestion_control", "highspeed"),
    ];
    for (key, name, value) in of_sender {
        assert_eq!(sysctl(ends(&uploads(key)).0, name), value, "{key}");
    }
    let of_receiver = [
        ("dsack = false", "tcp_dsack", "0"),
        (
            "receive_window = { kind = \"autotune\", initial = \"64 KiB\", max = \"1 MiB\" }",
            "tcp_rmem",
            "4096 65536 1048576",
        ),
        ("receive_window = \"autotune\"", "tcp_moderate_rcvbuf", "1"),
        ("receive_window = \"unlimited\"", "tcp_rmem", "4096 268435456 268435456"),
        ("receive_window = \"unlimited\"", "tcp_moderate_rcvbuf", "0"),
        // Twice 100 packets of at most 4608 B: half of a new buffer is offered.
        ("receive_window = \"100 packets\"", "tcp_rmem", "4096 921600 921600"),
        ("receive_window = \"100 packets\"", "tcp_moderate_rcvbuf", "0"),
    ];
    for (key, name, value) in of_receiver {
        assert_eq!(sysctl(ends(&uploads(key)).1, name), value, "{key}");
    }
}

#[test]
fn program_buffer_holds_the_window_as_payload() {
    let buffer = |window: &str, size: &str| {
        let tcp = format!("receive_window = \"{window}\"\n{size}");
        let plan = plan_of(&format!("{CELL}[tcp]\n{tcp}\n[[flow]]\napplication = \"iperf3\"\n"));
        sysctl(&plan.nodes[0], "tcp_rmem").to_string()
    };
    // 1448 of 2304 B of memory are payload: 160/256. 256 x 144800 / 160 + 2304. Measured: each ACK offers 144800 B.
    assert_eq!(buffer("100 packets", ""), "4096 233984 233984");
    assert_eq!(buffer("20 packets", ""), "4096 48640 48640");
    // 1000 of 2304 B: 111/256; 536 of 1280 B: 107/256.
    assert_eq!(buffer("50000 B", "mss = \"1000 B\""), "4096 117620 117620");
    assert_eq!(buffer("200000 B", "mss = \"536 B\""), "4096 479785 479785");
}

#[test]
fn route_has_the_settings_without_a_sysctl() {
    let sender = |key: &str| ends(&uploads(key)).0.route;
    let receiver = |key: &str| ends(&uploads(key)).1.route;
    assert_eq!(sender("initial_window = 2").initial_window, Some(2));
    assert_eq!(sender("initial_window = 10").initial_window, None, "the kernel's own");
    assert_eq!(sender("min_rto = \"1 s\"").min_rto, Some(Duration::from_secs(1)));
    assert_eq!(sender("min_rto = \"200 ms\"").min_rto, None, "the kernel's own");
    assert!(receiver("ack = \"every_segment\"").quick_ack && !receiver("ack = \"delayed\"").quick_ack);
    assert_eq!(receiver("receive_window = \"100 packets\"").receive_window, Some(144_800));
    assert_eq!(receiver("receive_window = \"unlimited\"").receive_window, None);
    let socket = |key: &str| uploads(key).flows[0].tcp.receive_window;
    assert_eq!(
        socket("receive_window = \"unlimited\""),
        Some(64 << 20),
        "a window that grows is acknowledged segment by segment"
    );
    assert_eq!(socket("receive_window = \"autotune\""), None);
}

#[test]
fn packets_have_the_size_that_they_have_in_a_simulation() {
    let of = |key: &str| {
        let plan = uploads(key);
        (plan.flows[0].tcp.max_segment, plan.nodes[1].route.advertised_mss, plan.nodes[1].mtu)
    };
    assert_eq!(of(""), (None, None, 1500));
    // An MSS excludes options: 1000 B of payload and 12 B of timestamps. [RFC 9293 §3.7.1]
    assert_eq!(of("mss = \"1000 B\""), (Some(1012), Some(1012), 1500));
    assert_eq!(of("mss = \"1000 B\"\ntimestamps = false"), (Some(1000), Some(1000), 1500));
    assert_eq!(of("packet_size = \"576 B\""), (Some(536), Some(536), 1500));
    assert_eq!(of("packet_size = \"2000 B\""), (Some(1960), Some(1960), 2000));
    // Options that take no bytes in ns-2 reduce the payload here, so that packets have 1500 B in both.
    assert_eq!(of("profile = \"ns2\""), (None, None, 1500));
}

#[test]
fn kernels_own_decision_is_noted_once() {
    let said = |key: &str| {
        let plan = uploads(key);
        let all = emulate_warnings(&plan);
        all.iter()
            .filter(|said| said.contains("has its own behaviour"))
            .map(|said| said.to_string())
            .collect::<Vec<_>>()
    };
    let prefix = "emulate: the kernel has its own behaviour for these keys of all 2 flows, which have no effect: ";
    for (key, listed) in [
        ("loss_detection = \"fack\"", "loss_detection = \"fack\""),
        ("growth = \"per_ack\"", "growth = \"per_ack\""),
        ("initial_rto = \"3 s\"", "initial_rto = \"3 s\""),
        ("congestion_control = { kind = \"cubic\", beta = 0.5 }", "congestion_control.beta = 0.5"),
        ("congestion_control = \"bbr\"\npacing = \"off\"", "pacing = \"off\""),
        ("delayed_ack_timeout = \"100 ms\"", "delayed_ack_timeout = \"100 ms\""),
        ("ack = { kind = \"skip\", skip = 2 }", "ack = { kind = \"skip\", skip = 2, start_after = \"10 segments\" }"),
    ] {
        assert_eq!(said(key), [format!("{prefix}{listed}")], "{key}");
    }
    // Sockets of the emulator's own get these, or they are a kernel's normal behaviour.
    for key in [
        "pacing = \"on\"",
        "pacing = \"off\"",
        "user_timeout = \"5 s\"",
        "ack = \"every_segment\"\nquick_acks = 3",
        "sack = false",
    ] {
        assert_eq!(said(key), Vec::<String>::new(), "{key}");
    }
    let tcp = &uploads("pacing = \"on\"\nuser_timeout = \"5 s\"").flows[0].tcp;
    assert!(tcp.paced && tcp.user_timeout == Some(Duration::from_secs(5)));
}

#[test]
fn a_program_has_its_sockets_to_itself() {
    let with = |kind: &str| {
        let flow = format!(
            "[tcp]\npacing = \"on\"\nuser_timeout = \"5 s\"\n[[flow]]\ndirection = \"down\"\napplication = \"{kind}\"\n"
        );
        let plan = plan_of(&format!("{CELL}{flow}"));
        emulate_warnings(&plan).iter().any(|said| said.ends_with(": pacing = \"on\", user_timeout = \"5 s\""))
    };
    assert!(with("curl") && !with("iperf3"), "iperf3 has an option for pacing");
}

#[test]
fn conflicting_settings_of_one_server_are_noted_with_the_choice() {
    let text =
        format!("{CELL}[[flow]]\nstation = \"sta1\"\n[[flow]]\nstation = \"sta2\"\nsack = false\ndsack = false\n");
    let plan = plan_of(&text);
    let said: Vec<&str> = emulate_warnings(&plan).into_iter().filter(|said| said.contains("share")).collect();
    assert_eq!(
        said,
        [
            "emulate: the flows at the server behind ap share the settings of one kernel: tcp_sack = 1, as flow sta1.up asks, \
          and not tcp_sack = 0, as flow sta2.up; tcp_dsack = 1, as flow sta1.up asks, and not tcp_dsack = 0, as flow sta2.up"
        ]
    );
    assert_eq!((sysctl(&plan.nodes[1], "tcp_sack"), sysctl(&plan.nodes[2], "tcp_sack")), ("1", "0"));
}

#[test]
fn socket_options_need_not_be_shared() {
    let flows = "[[flow]]\nstation = \"sta1\"\ndirection = \"down\"\ncongestion_control = \"newreno\"\n\
                 [[flow]]\nstation = \"sta2\"\ndirection = \"down\"\ncongestion_control = \"vegas\"\nmss = \"500 B\"\n";
    let plan = plan_of(&format!("{CELL}{flows}"));
    assert!(!plan.warnings.iter().any(|said| said.contains("share")), "{:?}", plan.warnings);
    let names: Vec<&str> = plan.flows.iter().map(|flow| flow.tcp.congestion_control.as_str()).collect();
    assert_eq!(names, ["reno", "vegas"]);
    assert_eq!(plan.nodes[0].route.advertised_mss, None, "it would bound the other flow too");
}

#[test]
fn a_control_that_no_kernel_has_is_refused_with_those_that_there_are() {
    let text = format!("{CELL}[[flow]]\ncongestion_control = \"compound\"\n");
    let refused = resolve(&text, "f.toml", &[]).unwrap().emulation_plan(1).unwrap_err().to_string();
    assert!(
        refused
            .starts_with("flow sta1.up: no Linux kernel has congestion_control = \"compound\"; choose one of newreno")
    );
    let simulated = plan_of(&format!("{text}application = \"simulated\"\n"));
    assert_eq!(simulated.flows.len(), 0);
}

#[test]
fn a_change_of_a_kernels_window_is_refused() {
    let change = "[[change]]\nat = \"1 s\"\nset = { \"window:sta1.up\" = 4 }\n";
    let plan =
        |flow: &str| resolve(&format!("{CELL}[[flow]]\n{flow}{change}"), "f.toml", &[]).unwrap().emulation_plan(1);
    let refused = plan("").unwrap_err().to_string();
    assert!(refused.starts_with("change: a kernel's flow has no knob \"window\"; `lasthop run`"), "{refused}");
    assert!(plan("application = \"simulated\"\n").is_ok());
}

#[test]
fn a_flow_starts_when_it_does_in_a_simulation() {
    let text = "[bss]\nstandard = \"802.11g\"\n[[station]]\n[[flow]]\nstart = \"10 ms\"\nstart_jitter = \"1 s\"\n";
    let scenario = std::sync::Arc::new(resolve(text, "f.toml", &[]).unwrap());
    for seed in 1..6 {
        let start = scenario.emulation_plan(seed).unwrap().flows[0].start;
        let mut simulation = Simulation::new(scenario.clone(), seed);
        // At time zero the only event is the start of counting.
        simulation.run_until(Time::from_nanos(1));
        assert_eq!(simulation.next_at(), Some(Time::ZERO + start));
    }
}

#[test]
fn bulk_data_over_tcp_is_carried_and_all_else_stays_simulated() {
    let flows = "[[flow]]\nsize = \"1 MB\"\nrepeat = 3\n[[flow]]\ntraffic = \"ping\"\n[[flow]]\nrate = \"1 Mbit/s\"\n\
                 [[flow]]\ntransport = \"udp\"\nrate = \"1 Mbit/s\"\n[[flow]]\napplication = \"simulated\"\n\
                 [[flow]]\nstation = \"sta1\"\ndirection = \"down\"\nwired_delay = \"5 ms\"\ndscp = \"EF\"\n";
    let plan = plan_of(&format!("{CELL}{flows}"));
    let numbers: Vec<(u32, u16)> = plan.flows.iter().map(|flow| (flow.flow.0, flow.port)).collect();
    assert_eq!(numbers, [(0, 50_000), (1, 50_001), (4, 50_004), (5, 50_005), (10, 50_010)]);
    assert_eq!(plan.flows[0].load, Load::Bulk { size: Some(1_000_000), repeat: 3, rate: None });
    // 1448 B at 1 Mbit/s: 11.584 ms.
    let rate = Some((1448, Duration::from_micros(11_584)));
    assert_eq!(plan.flows[2].load, Load::Bulk { size: None, repeat: 1, rate });
    let last = &plan.flows[4];
    assert_eq!((last.up, last.dscp, last.wired_delay), (false, 46, Duration::from_millis(5)));
    assert_eq!(plan.nodes.iter().map(|node| node.ap.map(|ap| ap.0)).collect::<Vec<_>>(), [None, Some(0), Some(0)]);
}

#[test]
fn note_on_missing_backpressure_of_tun_devices() {
    let with = |queue: &str, flow: &str| {
        let text = format!("{CELL}queue = {queue}\n[[flow]]\n{flow}\n");
        let plan = plan_of(&text);
        emulate_warnings(&plan).iter().map(|said| said.to_string()).collect::<Vec<_>>()
    };
    let said = with("\"backpressure\"", "");
    assert!(
        said.len() == 1 && said[0].starts_with("emulate: queue = \"backpressure\" of all 2 stations: a TUN"),
        "{said:?}"
    );
    let said = with("\"fifo\"", "");
    assert!(
        said.len() == 1 && said[0].starts_with("emulate: small_queue and local_drop of all 2 flows have no"),
        "{said:?}"
    );
    assert!(with("\"backpressure\"", "direction = \"down\"").is_empty());
    assert!(with("\"fifo\"", "small_queue = \"off\"\nlocal_drop = \"unnoticed\"").is_empty());
}

#[test]
fn emulation_section_sets_time_kernel_and_lateness() {
    let plan = uploads("");
    assert_eq!((plan.time, &plan.kernel), (TimeKind::Virtual, &KernelChoice::Own));
    assert_eq!((plan.max_lateness, plan.duration), (Duration::from_millis(1), Duration::from_secs(60)));
    let section = "[emulation]\ntime = \"real\"\nkernel = \"./linux\"\ngro = \"off\"\nmax_lateness = \"3 ms\"\n";
    let plan = plan_of(&format!("{section}{CELL}"));
    assert_eq!((plan.time, plan.kernel), (TimeKind::Real, KernelChoice::File("./linux".into())));
    assert_eq!(plan.max_lateness, Duration::from_millis(3));
    for written in ["\"6.12\"", "6.12"] {
        let plan = plan_of(&format!("[emulation]\nkernel = {written}\n{CELL}"));
        assert_eq!(plan.kernel, KernelChoice::Version("6.12".into()));
    }
    assert!(plan.warnings.iter().any(|said| said.starts_with("emulate: no flow of this scenario is carried")));
}

#[test]
fn a_scenario_without_the_section_resolves_as_it_did() {
    let json = resolve(&format!("{CELL}[[flow]]\n"), "f.toml", &[]).unwrap().to_json();
    assert!(!json.contains("emulation") && !json.contains("application"), "{json}");
}

#[test]
fn manual_lists_the_effect_of_each_key() {
    let manual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/model/emulation.md");
    let manual = std::fs::read_to_string(manual).unwrap();
    let missing = Config::fields().into_iter().filter(|field| !manual.contains(&format!("`{}`", field.name)));
    assert_eq!(missing.map(|field| field.name).collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn every_ready_scenario_has_a_plan() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 16);
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let scenario = resolve(&text, file.to_str().unwrap(), &[]).unwrap();
        let plan = match scenario.emulation_plan(1) {
            // Prague is in no kernel without patches.
            Err(refused) if file.ends_with("l4s-11ax.toml") => {
                assert!(refused.to_string().contains("no Linux kernel has congestion_control = \"prague\""));
                continue;
            }
            plan => plan.unwrap(),
        };
        let distinct: BTreeSet<&String> = plan.warnings.iter().collect();
        assert_eq!(distinct.len(), plan.warnings.len(), "{:?}", plan.warnings);
        println!("{}: {} flows on kernels", file.file_stem().unwrap().to_str().unwrap(), plan.flows.len());
        for said in emulate_warnings(&plan) {
            println!("  {said}");
            // One line each for the kernel's keys, TUN devices and sharing, or for their absence.
            assert!(said.len() < 1200, "{said}");
        }
        assert!(emulate_warnings(&plan).len() <= 4, "{:?}", plan.warnings);
    }
}
