//! Objects in endpoints: two ends of a connection, a path between them that loses and queues.

use crate::objects::{self, algorithm, cubic, newreno};
use lasthop_bpf::Object;
use lasthop_conformance::cc::dumbbell::{Bottleneck, Dumbbell, Sent, seconds};
use lasthop_tcp::congestion_control::{Algorithm, dctcp, newreno as built_in_newreno};
use lasthop_tcp::{Config, EcnUse, Profile, RecoveryMachine};
use lasthop_units::Duration;

/// All that both ends send in twenty seconds.
fn sent(path: &Bottleneck, config: &Config) -> Vec<Sent> {
    let mut path = Dumbbell::single(path.clone(), config);
    path.keep_log();
    path.run_until(seconds(20.0));
    path.log.unwrap()
}

fn paths() -> [Bottleneck; 3] {
    let rtt = Duration::from_millis(40);
    // A queue that overflows; random losses; and few segments in flight, so that timeouts happen.
    [
        Bottleneck::wired(20e6, rtt, 0.7),
        Bottleneck { loss: 2e-3, ..Bottleneck::wired(20e6, rtt, 1.0) },
        Bottleneck { loss: 0.05, ..Bottleneck::wired(2e6, rtt, 2.0) },
    ]
}

/// Compares an object with a built-in controller: the same segments at the same times.
fn hold(object: Object, built_in: &Config, path: &Bottleneck) {
    let config = Config { congestion_control: algorithm(object), ..built_in.clone() };
    let (theirs, ours) = (sent(path, built_in), sent(path, &config));
    let differ = theirs.iter().zip(&ours).position(|(a, b)| (a.at, a.segment) != (b.at, b.segment));
    let place = differ.map(|at| format!("{at} of {}: {:?} for {:?}", theirs.len(), ours[at], theirs[at]));
    assert_eq!(place, None);
    assert_eq!(theirs.len(), ours.len());
    assert!(theirs.len() > 1000, "{} segments", theirs.len());
}

#[test]
fn cubic_equals_built_in_linux_cubic() {
    for path in paths() {
        hold(cubic(), &Profile::Linux.config(), &path);
    }
}

/// The recovery machine of the RFCs gives a controller fewer facts, and in another order.
#[test]
fn cubic_sends_the_same_with_the_recovery_of_the_rfcs() {
    let congestion_control = Profile::Linux.config().congestion_control;
    let config = Config { congestion_control, recovery: RecoveryMachine::Rfc, ..Profile::Linux.config() };
    for path in paths() {
        hold(cubic(), &config, &path);
    }
}

#[test]
fn newreno_equals_built_in_linux_newreno() {
    let era = built_in_newreno::NewrenoEra::Linux;
    let congestion_control = Algorithm::Newreno(built_in_newreno::Params { era, ..Default::default() });
    for path in paths() {
        hold(newreno(), &Config { congestion_control: congestion_control.clone(), ..Profile::Linux.config() }, &path);
    }
}

/// The kernel's functions of CUBIC, replaced by lasthop's own.
#[test]
fn cubic_called_hook_by_hook_equals_built_in_cubic() {
    for path in paths() {
        let wrapper = Object::read(&objects::bytes("wrapper.bpf.o"), "wrapper.bpf.o").unwrap();
        hold(wrapper, &Profile::Linux.config(), &path);
    }
}

/// An object of the kernel's selftests, if it was compiled.
fn selftest(name: &str) -> Option<Object> {
    let Some(folder) = std::env::var_os("LASTHOP_BPF_SELFTESTS") else {
        eprintln!("skipped: LASTHOP_BPF_SELFTESTS is not set");
        return None;
    };
    let bytes = std::fs::read(std::path::Path::new(&folder).join(name)).unwrap();
    Some(Object::read(&bytes, name).unwrap())
}

#[test]
fn kernel_dctcp_equals_built_in_dctcp() {
    let Some(object) = selftest("bpf_dctcp.bpf.o") else { return };
    let congestion_control = Algorithm::Dctcp(dctcp::Params::default());
    let built_in = Config { congestion_control, ecn: EcnUse::On, ..Profile::Linux.config() };
    hold(object, &built_in, &Bottleneck::marking(20e6, Duration::from_millis(20), 10));
}

/// An object that steps its window in recovery itself, around lasthop's CUBIC: the same law, not the same segments.
/// Both fill the same path; recoveries may make a difference of a tenth.
#[test]
fn a_cubic_of_its_own_recovery_comes_near_the_built_in_one() {
    let Some(object) = selftest("bpf_cc_cubic.bpf.o") else { return };
    let [path, ..] = paths();
    let built_in = Profile::Linux.config();
    let config = Config { congestion_control: algorithm(object), ..built_in.clone() };
    let [theirs, ours] = [&built_in, &config].map(|config| sent(&path, config).len() as f64);
    println!("{ours} segments, built in {theirs}");
    assert!((ours / theirs - 1.0).abs() < 0.1, "{ours} segments, built in {theirs}");
}
