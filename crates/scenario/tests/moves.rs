//! BSSs that move to another channel while a simulation runs, and stations that an access point ranks.

use std::sync::Arc;

use lasthop_observe::Report;
use lasthop_observe::metric::{frames, goodput, medium};
use lasthop_scenario::{ResolvedScenario, Simulation, Task, World, resolve, run, run_with_account};
use lasthop_theory::bianchi::Backoff;
use lasthop_units::Time;
use proptest::prelude::*;

fn scenario(text: &str) -> Arc<ResolvedScenario> {
    Arc::new(resolve(text, "f.toml", &[]).unwrap_or_else(|error| panic!("{error}")))
}

fn report(text: &str, seed: u64) -> Report {
    let mut simulation = Simulation::new(scenario(text), seed);
    simulation.run_until(Time::NEVER);
    simulation.finish().unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}")).report
}

/// Two BSSs of five saturated stations each, all in reach of all, on these channels.
fn two(a: u8, b: u8, more: &str) -> String {
    let mut text = "duration = \"10 s\"\nwarmup = \"2 s\"\n".to_string();
    for (name, channel) in [("a", a), ("b", b)] {
        text += &format!(
            "[[bss]]\nname = \"{name}\"\nstandard = \"802.11a\"\nchannel = {channel}\ncountdown = \"bianchi\"\neifs = false\n\
             retry_limit = \"unlimited\"\nrate_control = {{ kind = \"fixed\", rate = \"54 Mbit/s\" }}\n\
             ap = {{ }}\n"
        );
    }
    for name in ["a", "b"] {
        text += &format!("[[station]]\nname = \"s{name}\"\nbss = \"{name}\"\ncount = 5\n");
    }
    text + "[[flow]]\nstation = \"*\"\ntransport = \"udp\"\nrate = \"saturated\"\n" + more
}

fn moved(channel: u8) -> String {
    format!("[[change]]\nat = \"1 s\"\nset = {{ \"channel:b.ap\" = {channel} }}\n")
}

#[test]
fn bsss_that_part_or_meet_have_the_collisions_of_bianchis_closed_form() {
    let solved = |n| Backoff { window: 16, doublings: 6, attempts: None }.solve(n).p;
    for (from, to, contenders) in [(36, 44, 5), (44, 36, 10)] {
        let found = report(&two(36, from, &moved(to)), 1);
        let collided = found.medium.get(frames::COLLISIONS_OF_ALL).expect("frames were sent");
        // As in changes.rs.
        assert!((collided - solved(contenders)).abs() < 0.01, "{from} to {to}: {collided} for {}", solved(contenders));
        let still = report(&two(36, to, ""), 1);
        for quantity in [medium::BUSY, medium::COLLISION] {
            // A channel that is left counts as idle.
            let of = |report: &Report, channels: f64| channels * report.medium.get(quantity).unwrap();
            let (after, whole) = (of(&found, 2.0), of(&still, if to == 36 { 1.0 } else { 2.0 }));
            assert!((after - whole).abs() < 0.01, "{from} to {to}: {after}, {whole} without a move");
        }
        let delivered = |report: &Report| report.totals.get(goodput::GOODPUT_OF_ALL).unwrap();
        assert!((delivered(&found) / delivered(&still) - 1.0).abs() < 0.01);
    }
}

/// The result of a run without the numbers of the simulator.
fn result(text: &str) -> String {
    let json = run(&scenario(text), 3, None).expect("it runs").json();
    let mut document: serde_json::Value = serde_json::from_str(&json).expect("a result is JSON");
    document["simulator"] = serde_json::Value::Null;
    document.to_string()
}

#[test]
fn the_channel_in_force_set_again_changes_nothing() {
    let text = two(36, 44, "").replace("10 s", "4 s");
    assert_eq!(result(&format!("{text}{}", moved(44))), result(&text));
    assert_ne!(result(&format!("{text}{}", moved(36))), result(&text));
}

#[test]
fn an_agent_moves_bsss_to_the_nearest_channels_that_do_not_overlap() {
    let text = two(36, 36, "").replace("802.11a", "802.11g").replace("channel = 36", "channel = 1");
    let task = |text: &str| {
        let (control, observe) = (["channel:b.ap".to_string()], ["medium.busy_fraction".to_string()]);
        Task::new(scenario(text), &control, &observe, &["totals.goodput_bps".into()], "200 ms").unwrap()
    };
    let of = task(&text);
    let bounds = of.controls().iter().map(|one| (one.least, one.most)).collect::<Vec<_>>();
    assert_eq!((bounds, of.initial(&of.controls()[0])), (vec![(1.0, 13.0)], Some(1.0)));
    let goodput = |number: f64| {
        let mut world = World::new(Arc::new(task(&text)), 1);
        world.step(Some(&[number]));
        world.step(None);
        (world.rewards()[0], world.finish().result.expect("it runs"))
    };
    // Channels of 20 MHz: 1, 5, 9 and 13 are apart; 2.9 is nearer to 1 than to 5.
    let [together, apart] = [2.9, 8.2].map(|number| goodput(number).0);
    assert!(apart > 1.5 * together, "{apart} apart, {together} together");
    let error = resolve(&format!("{text}{}", moved(3)), "f.toml", &[]).err().unwrap().to_string();
    assert!(error.contains("change[0].set.channel:b.ap") && error.contains("one of 1, 5, 9, 13"), "{error}");
}

#[test]
fn an_account_of_bsss_that_move_has_their_airtime_on_each_channel() {
    // The only BSS that sends is on 36 until 2 s, then on 44.
    let text = two(36, 36, "").replace("duration = \"10 s\"\nwarmup = \"2 s\"", "duration = \"5 s\"\nwarmup = \"1 s\"");
    let text = text.replace("station = \"*\"", "station = \"sb*\"") + &moved(44).replace("1 s", "2 s");
    let plain = run(&scenario(&text), 3, None).expect("it runs").json();
    let with = run_with_account(&scenario(&text), 3).expect("it runs").json();
    let of = |json: &str| serde_json::from_str::<serde_json::Value>(json).expect("a result is JSON");
    let (plain, mut with) = (of(&plain), of(&with));
    let account = with.as_object_mut().unwrap().remove("account").expect("an account was kept");
    for table in ["flows", "nodes", "totals", "medium"] {
        assert_eq!(plain[table], with[table], "an account changes nothing");
    }
    let (number, channels) =
        (|value: &serde_json::Value| value.as_f64().unwrap(), account["channels"].as_array().unwrap());
    let places: Vec<f64> = channels.iter().map(|channel| number(&channel["mhz"])).collect();
    assert_eq!(places, [5180.0, 5220.0]);
    // 3 s of 4 s without a node there, and 1 s; a BSS moves after its exchange.
    for (channel, idle_s) in channels.iter().zip([3.0, 1.0]) {
        assert!((number(&channel["idle_s"]) - idle_s).abs() < 0.005, "{channel}");
    }
    // The metric of airtime counts for itself; of PPDUs that collide the account has the earliest.
    let mut sums = [0.0, 0.0];
    for node in with["nodes"].as_array().unwrap() {
        let of_node = |channel: &serde_json::Value| {
            let all = channel["nodes"].as_array().unwrap().iter().filter(|one| one["name"] == node["name"]);
            let terms = all.flat_map(|one| one.as_object().unwrap().values().filter_map(serde_json::Value::as_f64));
            terms.sum::<f64>()
        };
        sums[0] += channels.iter().map(of_node).sum::<f64>();
        sums[1] += 4.0 * number(&node["airtime_fraction"]);
    }
    let overlaps = 4.0 * 2.0 * number(&with["medium"]["collision_fraction"]);
    assert!((sums[0] + overlaps - sums[1]).abs() < 0.1 * overlaps + 1e-6, "{sums:?} and {overlaps}");
}

#[test]
fn bsss_that_cannot_meet_may_have_other_slots() {
    // Slots of 20 us at 2.4 GHz, of 9 us at 5 GHz.
    let bands = two(1, 36, &moved(44)).replacen("802.11a", "802.11b", 1).replacen("54 Mbit/s", "11 Mbit/s", 1);
    report(&bands.replacen("10 s", "3 s", 1), 1);
    let meet = two(1, 5, &moved(9)).replace("802.11a", "802.11g").replacen(
        "channel = 1\n",
        "channel = 1\nshort_slot = false\n",
        1,
    );
    let error = resolve(&meet, "f.toml", &[]).err().unwrap().to_string();
    assert!(error.contains("BSSs with different slots cannot meet on a channel"), "{error}");
}

/// An access point that sends to a station, next to an interferer in the band of channel 36 that is on the air for half of the time.
const JAMMED: &str = "duration = \"4 s\"\nwarmup = \"1 s\"\n[channel]\npath_loss = \"log_distance\"\nerror_model = \"nist\"\n\
    [[bss]]\nname = \"a\"\nstandard = \"802.11a\"\nchannel = 36\nrate_control = { kind = \"fixed\", rate = \"54 Mbit/s\" }\n\
    [[station]]\nposition = [\"3 m\", \"0 m\"]\n\
    [[interferer]]\nkind = \"periodic\"\non = \"10 ms\"\noff = \"10 ms\"\nposition = [\"0 m\", \"3 m\"]\npower = \"20 dBm\"\n\
    channel = 36\n\
    [[flow]]\ndirection = \"down\"\ntransport = \"udp\"\nrate = \"saturated\"\n";

#[test]
fn a_bss_that_leaves_or_meets_an_interferer_has_the_goodput_of_one_that_was_there() {
    let of = |text: &str| report(text, 1).totals.get(goodput::GOODPUT_OF_ALL).unwrap();
    let at = |channel: u8| JAMMED.replacen("channel = 36", &format!("channel = {channel}"), 1);
    let change = |channel: u8| format!("[[change]]\nat = \"500 ms\"\nset = {{ \"channel:ap\" = {channel} }}\n");
    let alone = JAMMED.replacen("[[interferer]]", "[[interferer]]\npower = \"-40 dBm\"", 1).replacen(
        "power = \"20 dBm\"\n",
        "",
        1,
    );
    let (jammed, clear) = (of(&at(36)), of(&alone));
    // Half of the time the medium is busy, and a frame that a burst would meet is not begun or lost.
    assert!((0.4..0.55).contains(&(jammed / clear)), "{jammed} of {clear}");
    let (left, met) = (of(&(at(36) + &change(44))), of(&(at(44) + &change(36))));
    assert!((left / clear - 1.0).abs() < 0.005, "{left} after leaving, {clear} without");
    assert!((met / jammed - 1.0).abs() < 0.02, "{met} after meeting, {jammed} from the start");
}

/// Moves at random times, to random channels.
fn moves() -> impl Strategy<Value = String> {
    let one = (0..600u32, 0..3usize, prop::sample::select(vec![36, 40, 44, 149]));
    prop::collection::vec(one, 1..12).prop_map(|all| {
        let change = |(at, ap, channel)| {
            format!("[[change]]\nat = \"{at} ms\"\nset = {{ \"channel:{}.ap\" = {channel} }}\n", ["a", "b", "c"][ap])
        };
        all.into_iter().map(change).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Each run checks that packets are conserved, that no node sends twice at once and that no transmitter is on for longer than the
    /// medium is busy.
    #[test]
    fn runs_with_moves_conserve_packets_and_deliver(changes in moves(), seed in 0..1000u64, walks in any::<bool>()) {
        let mut text = "duration = \"600 ms\"\n[channel]\npath_loss = \"log_distance\"\nerror_model = \"nist\"\n".to_string();
        for (name, channel, more) in [
            ("a", 36, "multi_user = \"airtime\""), ("b", 36, "queue = \"fq_codel\""), ("c", 44, ""),
        ] {
            text += &format!("[[bss]]\nname = \"{name}\"\nstandard = \"802.11ax\"\nchannel = {channel}\nrts_threshold = \"500 B\"\n\
                beacons = \"102.4 ms\"\n[bss.ap]\n{more}\n");
        }
        for name in ["a", "b", "c"] {
            text += &format!("[[station]]\nname = \"s{name}\"\nbss = \"{name}\"\ncount = 3\n");
        }
        if walks {
            text += "[[station]]\nname = \"w\"\nbss = \"a\"\nwaypoints = [[\"0 s\", \"1 m\", \"0 m\"], [\"1 s\", \"30 m\", \"0 m\"]]\n";
        }
        text += "[[flow]]\nstation = \"*\"\ndirection = \"both\"\n[[flow]]\nstation = \"sb*\"\ntransport = \"udp\"\nrate = \"saturated\"\n";
        let found = run_with_account(&scenario(&(text + &changes)), seed).expect("it runs").report().clone();
        prop_assert!(found.totals.get(goodput::GOODPUT_OF_ALL).unwrap() > 1e6);
    }
}

#[test]
fn stations_of_the_highest_rank_have_what_they_would_have_alone() {
    let ax = |stations: &str, more: &str| {
        format!(
            "duration = \"3 s\"\nwarmup = \"1 s\"\n[bss]\nstandard = \"802.11ax\"\nchannel_width = \"80 MHz\"\n\
             rate_control = {{ kind = \"fixed\", mcs = 7 }}\n[bss.ap]\nmulti_user = {{ kind = \"airtime\", uplink = false }}\n\
             queue = \"airtime_fq_codel\"\n[[station]]\ncount = 6\n[[flow]]\nstation = {stations}\ndirection = \"down\"\n\
             transport = \"udp\"\nrate = \"saturated\"\npacket_size = \"1500 B\"\n{more}"
        )
    };
    let of = |report: &Report| report.flows.iter().map(|flow| flow.get(goodput::GOODPUT).unwrap()).collect::<Vec<_>>();
    let ranked = "[[change]]\nat = \"500 ms\"\nset = { \"multi_user.rank:sta2\" = 7, \"multi_user.rank:sta5\" = 7 }\n";
    let (first, alone) = (of(&report(&ax("\"*\"", ranked), 1)), of(&report(&ax("[\"sta2\", \"sta5\"]", ""), 1)));
    // Alone each has the whole channel in turn, of equal rank both share each PPDU, in units that leave some tones unused.
    for (place, station) in [1, 4].into_iter().enumerate() {
        assert!((first[station] / alone[place] - 1.0).abs() < 0.05, "{first:?} for {alone:?}");
    }
    let both = (first[1] + first[4]) / (alone[0] + alone[1]);
    assert!((both - 1.0).abs() < 0.02, "{both}");
    let others = first.iter().sum::<f64>() - first[1] - first[4];
    assert!(others < 0.01 * first[1], "{first:?}");
    let equal = of(&report(&ax("\"*\"", &ranked.replace("= 7", "= 0")), 1));
    assert_eq!(equal, of(&report(&ax("\"*\"", ""), 1)));
}
