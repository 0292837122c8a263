//! The medium, which jumps, against its plain twin, which goes slot by slot; and its shared view against its view for
//! each node.
//!
//! Both draw from the same streams in the same order, so the tests compare every single MAC delay of every node, to the
//! nanosecond, and every count, without any tolerance.

use crate::cell::{self, Arrivals, MediumConfig, config, phy, with_beacons};
use crate::interference::{Interference, Threshold, regular_bursts, some_bursts};
use crate::twin;
use lasthop_engine::Stream;
use lasthop_observe::NodeId;
use lasthop_registry::{Amount, Switch};
use lasthop_units::{Bytes, DataRate, Db, Dbm, Duration, Time};
use lasthop_wifi::phy::{Phy, frame_size};
use lasthop_wifi::{Access, AfterLoss, Capture, CcaLevels, Channel, ChannelAccess, LateCapture, Matrix, Protection};

const PACKET_BYTES: u64 = 1500;
/// Every mode can be received from -65 dBm on, so a PPDU weaker than the energy level can be received.
const CCA: CcaLevels = CcaLevels { preamble: Dbm(-82.0), energy: Dbm(-52.0) };

/// A cell, for both implementations.
#[derive(Clone)]
struct Case {
    name: String,
    standard: &'static str,
    stations: usize,
    seconds: u64,
    /// Nodes that always have a frame.
    saturated: Vec<usize>,
    /// (node, first arrival, interval) in nanoseconds.
    periodic: Vec<(usize, u64, u64)>,
    hidden: Vec<(usize, usize)>,
    /// Strength of each node's signal, in dB, the same at every other node; none: no capture.
    strengths: Option<Vec<f64>>,
    late: LateCapture,
    /// Power in dBm of each node's signal at each other, if it decides about notice: PPDUs are received from -82 dBm
    /// on, energy counts from -52 dBm on; and the level from which on nodes recognise a PPDU whose preamble they have
    /// missed.
    levels: Option<Vec<Vec<f64>>>,
    mid_packet: Option<f64>,
    /// Rate at which each node sends its data, in Mbit/s; none: the highest.
    rates: Option<Vec<u64>>,
    eifs: bool,
    rts: bool,
    pifs: bool,
    interferers: Option<Interference>,
}

impl Case {
    /// Saturated stations that hear each other, with EIFS.
    fn saturated(name: &str, standard: &'static str, stations: usize) -> Case {
        Case {
            name: format!("{name}, {standard}, n = {stations}"),
            standard,
            stations,
            seconds: if standard == "802.11b" { 20 } else { 6 },
            saturated: (1..=stations).collect(),
            periodic: Vec::new(),
            hidden: Vec::new(),
            strengths: None,
            late: LateCapture::Off,
            levels: None,
            mid_packet: None,
            rates: None,
            eifs: true,
            rts: false,
            pifs: false,
            interferers: None,
        }
    }

    fn hears(&self, a: usize, b: usize) -> bool {
        !self.hidden.contains(&(a, b)) && !self.hidden.contains(&(b, a))
    }

    fn strength(&self, node: usize) -> f64 {
        self.strengths.as_ref().map_or(0.0, |s| s[node])
    }

    fn phy(&self) -> Phy {
        phy(self.standard, if self.standard == "802.11b" { &[1] } else { &[] })
    }

    fn rate(&self, node: usize) -> Option<DataRate> {
        self.rates.as_ref().map(|r| DataRate::from_bps(r[node] * 1_000_000))
    }

    fn for_medium(&self, seed: u64) -> MediumConfig {
        let mut config = config(self.phy(), self.stations);
        config.seed = seed;
        config.after_loss = if self.eifs { AfterLoss::Standard } else { AfterLoss::DifsForAll };
        config.queues = cell::fifos(Amount::Unlimited);
        config.bss[0].rts_threshold = self.rts.then_some(Bytes(0));
        for (link, control) in config.rate_controls.iter_mut().enumerate() {
            let sender = if link % 2 == 0 { link / 2 + 1 } else { 0 };
            *control = cell::fixed_rate(&self.phy(), self.rate(sender));
        }
        if self.pifs {
            config.nodes[0].access = ChannelAccess::Dcf(Access::Pifs);
        }
        if self.strengths.is_some() {
            config.capture = Switch::On(Capture { threshold: Db(10.0), late: self.late });
        }
        if self.strengths.is_some() || !self.hidden.is_empty() || self.levels.is_some() {
            config.channel = self.matrix();
        }
        config.nodes.iter_mut().for_each(|node| node.mid_packet_detection = self.mid_packet.map(Dbm));
        if let Some(interferers) = &self.interferers {
            config.interferers = interferers.for_medium();
            config.error_model = Box::new(Threshold);
        }
        config
    }

    fn matrix(&self) -> Channel {
        let heard = |tx: NodeId, rx: NodeId| self.hears(tx.index(), rx.index());
        if let Some(levels) = &self.levels {
            let power = |tx: NodeId, rx: NodeId| Dbm(levels[tx.index()][rx.index()]);
            return Channel::Matrix(Matrix::new(self.stations + 1, CCA, power));
        }
        let power = |tx: NodeId, rx| if heard(tx, rx) { -50.0 + self.strength(tx.index()) } else { -200.0 };
        Channel::Matrix(Matrix::new(self.stations + 1, Dbm(-82.0), |tx, rx| Dbm(power(tx, rx))))
    }

    fn arrivals(&self) -> Arrivals {
        let mut all: Arrivals = Vec::new();
        for &(node, first, interval) in &self.periodic {
            let times = (0..).map(|k| first + k * interval).take_while(|t| *t < self.seconds * 1_000_000_000);
            all.extend(times.map(|t| (Time::from_nanos(t), NodeId(node as u32))));
        }
        all.sort_unstable();
        all
    }

    fn for_twin(&self) -> twin::Config {
        let phy = self.phy();
        let data = *phy.allowed_modes().last().unwrap();
        let response = phy.control_response_mode(data);
        let ns = |d: Duration| d.as_nanos();
        let cts = phy.ppdu_duration(response, frame_size::CTS);
        let late_ns = match self.late {
            LateCapture::Off => 0,
            LateCapture::Preamble => ns(phy.rx_start_delay(data)),
            LateCapture::AnyTime => u64::MAX,
        };
        let strengths = (0..=self.stations).map(|tx| vec![self.strength(tx); self.stations + 1]).collect();
        let powers = self.levels.clone().unwrap_or(strengths);
        let hears = (0..=self.stations).map(|i| (0..=self.stations).map(|j| self.hears(i, j)).collect()).collect();
        let source = |node: usize| match self.periodic.iter().find(|p| p.0 == node) {
            Some(&(_, first_ns, interval_ns)) => twin::Source::Periodic { first_ns, interval_ns },
            None if self.saturated.contains(&node) => twin::Source::Saturated,
            None => twin::Source::Silent,
        };
        let t_data_ns = |node| {
            let mode = self.rate(node).map_or(data, |rate| phy.mode_of_rate(rate).unwrap());
            Some(ns(phy.ppdu_duration(mode, frame_size::data_mpdu(Bytes(PACKET_BYTES)))))
        };
        let node = |node| {
            let pifs = self.pifs && node == 0;
            twin::NodeConfig { pifs, t_data_ns: t_data_ns(node), ..twin::NodeConfig::new(source(node)) }
        };
        twin::Config {
            slot_ns: ns(phy.slot()),
            sifs_ns: ns(phy.sifs()),
            difs_ns: ns(phy.difs()),
            eifs_ns: ns(phy.eifs(if self.rts { response } else { data })),
            t_data_ns: ns(phy.ppdu_duration(data, frame_size::data_mpdu(Bytes(PACKET_BYTES)))),
            t_ack_ns: ns(phy.ppdu_duration(response, frame_size::ACK)),
            t_rts_ns: ns(phy.ppdu_duration(response, frame_size::RTS)),
            t_cts_ns: ns(cts),
            ack_timeout_ns: ns(phy.ack_timeout(response)),
            cts_timeout_ns: ns(phy.ack_timeout(response)),
            cw_min: phy.cw_min(),
            cw_max: phy.cw_max(),
            retry_limit: Some(7),
            countdown: twin::Countdown::Frozen,
            eifs: self.eifs,
            rts: self.rts,
            nav_timeout_ns: Some(ns(phy.sifs() * 2 + cts + phy.rx_start_delay(response) + phy.slot() * 2)),
            capture: self.strengths.as_ref().map(|_| twin::Capture {
                threshold_db: 10.0,
                late_ns,
                power_db: powers.clone(),
            }),
            aggregation: None,
            users: None,
            carrier: self.levels.as_ref().map(|_| twin::Carrier {
                power_db: powers.clone(),
                energy_db: CCA.energy.0,
                mid_packet_db: self.mid_packet,
                mid_packet_ns: 25_000,
            }),
            interferers: self.interferers.as_ref().map(|of| of.for_twin(phy.header_duration(data))),
            hears,
            nodes: (0..=self.stations).map(node).collect(),
        }
    }

    fn run_medium(&self, seed: u64) -> cell::Seen {
        // The twin also handles events at the very end.
        let duration = Duration::from_secs(self.seconds) + Duration::from_nanos(1);
        cell::run(self.for_medium(seed), &self.saturated, duration, &self.arrivals())
    }
}

/// Runs both under the same seeds and compares.
fn agree(case: &Case) {
    for seed in cell::seeds() {
        let ours = case.run_medium(seed);
        let theirs = twin::run(&case.for_twin(), seed, case.seconds * 1_000_000_000);
        for node in 0..=case.stations {
            let (a, b) = (&ours.delays[node], &theirs.delays_ns[node]);
            let same = a.iter().zip(b).take_while(|(a, b)| a.as_nanos() == **b).count();
            let what = format!("{} under seed {seed}: node {node}", case.name);
            let end = |of: usize| of.min(same + 3);
            let (next, wanted) = (&a[same..end(a.len())], &b[same..end(b.len())]);
            assert!(same == a.len() && same == b.len(), "{what}: after {same} delays {next:?} for {wanted:?}");
        }
        // The medium counts a failure at the end of the frame, the twin after the timeout: at the end of the
        // run one may be on the way.
        let pairs = [(ours.attempts, theirs.attempts), (ours.collided, theirs.collided), (ours.drops, theirs.drops)];
        for (a, b) in pairs {
            let near = a.iter().zip(&b).all(|(a, b)| (*b..=b + 1).contains(a));
            assert!(near, "{} under seed {seed}: counted {a:?} for {b:?}", case.name);
        }
    }
}

fn contention(standard: &'static str, eifs: bool) {
    for n in [2, 5, 20] {
        agree(&Case { eifs, ..Case::saturated(&format!("contention, eifs {eifs}"), standard, n) });
    }
}

#[test]
fn contention_of_11b_with_eifs() {
    contention("802.11b", true);
}

#[test]
fn contention_of_11b_without_eifs() {
    contention("802.11b", false);
}

#[test]
fn contention_of_11a_with_eifs() {
    contention("802.11a", true);
}

#[test]
fn contention_of_11a_without_eifs() {
    contention("802.11a", false);
}

#[test]
fn rts_and_cts_where_all_hear_each_other() {
    for standard in ["802.11b", "802.11a"] {
        agree(&Case { rts: true, ..Case::saturated("RTS", standard, 5) });
    }
}

#[test]
fn a_pair_hidden_from_each_other() {
    for (standard, rts) in [("802.11b", false), ("802.11b", true), ("802.11a", false), ("802.11a", true)] {
        let hidden = vec![(1, 2)];
        agree(&Case { hidden, rts, ..Case::saturated(&format!("hidden pair, RTS {rts}"), standard, 2) });
    }
}

#[test]
fn three_of_five_hidden_from_each_other() {
    for rts in [false, true] {
        let hidden = vec![(1, 2), (1, 3), (2, 3)];
        let name = format!("three of five hidden, RTS {rts}");
        agree(&Case { hidden, rts, ..Case::saturated(&name, "802.11b", 5) });
    }
}

#[test]
fn the_near_capture_the_far() {
    for standard in ["802.11b", "802.11a"] {
        let strengths = Some(vec![0.0, 12.0, 12.0, 0.0, 0.0, 0.0]);
        agree(&Case { strengths, ..Case::saturated("capture", standard, 5) });
    }
}

#[test]
fn the_near_capture_the_far_that_are_hidden() {
    for rts in [false, true] {
        let (strengths, hidden) = (Some(vec![0.0, 12.0, 12.0, 0.0, 0.0]), vec![(1, 3), (2, 4)]);
        let name = format!("capture and hidden pairs, RTS {rts}");
        agree(&Case { strengths, hidden, rts, ..Case::saturated(&name, "802.11b", 4) });
    }
}

#[test]
fn the_later_and_stronger_frame_is_captured() {
    for late in [LateCapture::Preamble, LateCapture::AnyTime] {
        for standard in ["802.11b", "802.11a"] {
            let (strengths, hidden) = (Some(vec![0.0, 12.0, 13.0, 0.0, 25.0]), vec![(1, 3), (2, 3), (3, 4)]);
            let name = format!("late capture: {late:?}");
            agree(&Case { strengths, hidden, late, ..Case::saturated(&name, standard, 4) });
        }
    }
}

#[test]
fn an_access_point_that_sends_too() {
    for (standard, pifs) in [("802.11b", false), ("802.11b", true), ("802.11a", false), ("802.11a", true)] {
        let saturated = (0..=4).collect();
        let name = format!("AP sends, PIFS {pifs}");
        agree(&Case { saturated, pifs, ..Case::saturated(&name, standard, 4) });
    }
}

/// Levels at which all pairs hear one another, one of three: above that of energy, above that of a PPDU under way,
/// below both.
fn some_levels(which: u64, nodes: usize) -> Vec<Vec<f64>> {
    let mut dice = Stream::new(which, "levels", 0);
    let mut levels = vec![vec![0.0; nodes]; nodes];
    for (a, b) in (0..nodes).flat_map(|a| (0..a).map(move |b| (a, b))) {
        let level = [-46.3, -55.1, -63.9][dice.up_to(2) as usize];
        (levels[a][b], levels[b][a]) = (level, level);
    }
    levels
}

#[test]
fn node_that_misses_a_preamble_notices_energy_or_a_ppdu_under_way() {
    for which in 1..=12 {
        let levels = Some(some_levels(which, 6));
        for (standard, mid_packet) in [("802.11b", None), ("802.11a", None), ("802.11a", Some(-60.0))] {
            let name = format!("levels {which}, a PPDU under way from {mid_packet:?} dBm");
            let saturated: Vec<usize> = (usize::from(which % 2 == 0)..=5).collect();
            let (rts, pifs) = (which % 3 == 0, which % 4 == 0);
            let strengths = (which > 8).then(|| vec![0.0; 6]);
            let (levels, plain) = (levels.clone(), Case::saturated(&name, standard, 5));
            agree(&Case { levels, mid_packet, saturated, rts, pifs, strengths, seconds: 2, ..plain });
        }
    }
}

#[test]
fn long_frames_of_some_that_others_have_missed() {
    // At 1 Mbit/s a frame lasts ten times as long as at 11.
    for which in 1..=6 {
        let (levels, rates) = (Some(some_levels(which, 5)), Some(vec![1, 11, 11, 11, 11]));
        let plain = Case::saturated(&format!("long frames, levels {which}"), "802.11b", 4);
        agree(&Case { levels, rates, saturated: (0..=4).collect(), seconds: 4, ..plain });
    }
}

/// A cell in which all hear one another well, with an interferer of these powers.
fn beside_interferer(name: &str, standard: &'static str, levels: Vec<Vec<f64>>, bursts: Vec<twin::Burst>) -> Case {
    let nodes = levels[0].len();
    let interferers = Some(Interference { bursts, levels });
    let heard = Some(vec![vec![-46.3; nodes]; nodes]);
    Case { levels: heard, interferers, seconds: 2, ..Case::saturated(name, standard, nodes - 1) }
}

const TWO_SECONDS: u64 = 2_000_000_000;

#[test]
fn all_defer_to_an_interferer_that_all_notice() {
    for standard in ["802.11b", "802.11a"] {
        for (on, off) in [(8_000_017, 12_000_029), (300_007, 2_100_011), (20_011, 200_003), (5_003, 71_011)] {
            let bursts = regular_bursts((on, off), 1_000_019, TWO_SECONDS);
            let name = format!("noticed by all, {on} ns on, {off} ns off");
            agree(&beside_interferer(&name, standard, vec![vec![-40.7; 5]], bursts));
        }
    }
}

#[test]
fn a_hidden_interferer_destroys_what_it_overlaps() {
    for standard in ["802.11b", "802.11a"] {
        for level in [-55.5, -62.3, -71.9] {
            for (on, off) in [(300.0, 2_100.0), (20.0, 200.0)] {
                let bursts = some_bursts(3, 1, (on, off), TWO_SECONDS);
                let name = format!("hidden, at {level} dBm, {on} us on, {off} us off");
                agree(&beside_interferer(&name, standard, vec![vec![level; 5]], bursts));
            }
        }
    }
}

#[test]
fn some_notice_an_interferer_and_others_do_not() {
    for standard in ["802.11b", "802.11a"] {
        for (rts, pifs) in [(false, false), (true, false), (false, true)] {
            let levels = vec![vec![-90.1, -40.7, -53.3, -62.3, -71.9]];
            let bursts = some_bursts(5, 1, (150.0, 900.0), TWO_SECONDS);
            let plain = beside_interferer(&format!("some notice, RTS {rts}, PIFS {pifs}"), standard, levels, bursts);
            agree(&Case { rts, pifs, saturated: (0..=4).collect(), ..plain });
        }
    }
}

/// A cell that fails is run by itself with `LASTHOP_CELL=n cargo test -p lasthop-wifi --test all twin_agrees::interferers`.
#[test]
fn interferers_in_random_cells() {
    let alone = std::env::var("LASTHOP_CELL").ok().map(|n| n.parse().expect("the number of a cell"));
    for which in alone.map_or(1..=60, |n| n..=n) {
        let plain = random_cell(which);
        let nodes = plain.stations + 1;
        let (heard, mid_packet) = (some_levels(which, nodes), (plain.standard == "802.11a").then_some(-60.0));
        let interferers = Some(Interference::random(which, nodes, plain.seconds * 1_000_000_000));
        let name = format!("interferers in {}", plain.name);
        agree(&Case {
            levels: Some(heard),
            hidden: Vec::new(),
            mid_packet,
            strengths: None,
            interferers,
            name,
            ..plain
        });
    }
}

/// A frame of 1.67 ms with its exchange about every 8 ms: from 20 to 90 % of the medium.
fn periodic(stations: usize, hidden: Vec<(usize, usize)>) -> Case {
    let sources = (0..=stations).map(|i| (i, 1_000_000 + 391_717 * i as u64, 8_013_001 + 57_003 * i as u64));
    let periodic = sources.collect();
    Case { saturated: Vec::new(), periodic, hidden, ..Case::saturated("periodic", "802.11b", stations) }
}

#[test]
fn periodic_sources_light_and_heavy() {
    for stations in [1, 2, 3] {
        agree(&periodic(stations, Vec::new()));
    }
    agree(&Case { rts: true, name: "periodic, hidden, RTS".into(), ..periodic(2, vec![(1, 2)]) });
    agree(&Case { pifs: true, name: "periodic, PIFS".into(), ..periodic(3, Vec::new()) });
}

#[test]
fn a_periodic_source_among_saturated_ones() {
    let (saturated, periodic) = (vec![1, 2, 3], vec![(4, 1_000_000, 17_313_001), (0, 2_000_000, 11_717_003)]);
    agree(&Case { saturated, periodic, ..Case::saturated("periodic among saturated", "802.11b", 4) });
}

#[test]
fn colliders_with_frames_of_unequal_length() {
    for eifs in [true, false] {
        let rates = Some(vec![11, 1, 2, 11, 11]);
        agree(&Case { saturated: (0..=4).collect(), rates, eifs, ..Case::saturated("unequal frames", "802.11b", 4) });
    }
}

/// A random cell: some stations saturated, some periodic, some hidden, near or slow.
fn random_cell(which: u64) -> Case {
    let mut dice = Stream::new(which, "cell", 0);
    let stations = 1 + dice.up_to(5) as usize;
    let standard = ["802.11b", "802.11a"][dice.up_to(1) as usize];
    let mut case = Case { seconds: 2, ..Case::saturated(&format!("random cell {which}"), standard, stations) };
    let share_hidden = f64::from(dice.up_to(2)) * 0.25;
    let pairs = (1..=stations).flat_map(|a| (1..a).map(move |b| (a, b)));
    case.hidden = pairs.filter(|_| dice.chance(share_hidden)).collect();
    let quiet: Vec<usize> = (0..=stations).filter(|_| dice.chance(0.4)).collect();
    case.saturated = (0..=stations).filter(|node| !quiet.contains(node)).collect();
    let mut some = |least: u32, most: u32| u64::from(least + dice.up_to(most - least));
    case.periodic = quiet.iter().map(|&node| (node, some(0, 9_000_000), some(2_000_000, 30_000_000))).collect();
    // Only with 802.11b, where every rate is answered at the same one.
    case.rates = (standard == "802.11b" && dice.chance(0.5))
        .then(|| (0..=stations).map(|_| [1, 2, 11][dice.up_to(2) as usize]).collect());
    case.strengths = dice.chance(0.5).then(|| (0..=stations).map(|_| 0.93 * f64::from(dice.up_to(30))).collect());
    [case.eifs, case.rts, case.pifs] = [0.7, 0.4, 0.3].map(|p| dice.chance(p));
    case.late = [LateCapture::Off, LateCapture::Preamble, LateCapture::AnyTime][dice.up_to(2) as usize];
    case
}

/// A cell that fails is run by itself with `LASTHOP_CELL=n cargo test -p lasthop-wifi --test all twin_agrees::random`.
#[test]
fn random_cells() {
    let alone = std::env::var("LASTHOP_CELL").ok().map(|n| n.parse().expect("the number of a cell"));
    let cells = alone.map_or(1..=60, |n| n..=n);
    cells.for_each(|which| agree(&random_cell(which)));
}

/// The cases in which all nodes hear one another.
fn cases_of_one_view() -> Vec<Case> {
    let mut cases = Vec::new();
    for standard in ["802.11b", "802.11a"] {
        for eifs in [true, false] {
            cases.push(Case { eifs, ..Case::saturated("contention", standard, 7) });
        }
        cases.push(Case { rts: true, ..Case::saturated("RTS", standard, 7) });
        let saturated = (0..=4).collect();
        cases.push(Case { saturated, pifs: true, ..Case::saturated("AP with PIFS", standard, 4) });
    }
    cases.extend([1, 3, 5].map(|stations| periodic(stations, Vec::new())));
    cases.push(Case { pifs: true, ..periodic(4, Vec::new()) });
    cases.push(Case { rts: true, ..periodic(4, Vec::new()) });
    cases.push(Case { saturated: vec![4, 5], ..periodic(3, Vec::new()) });
    cases.last_mut().unwrap().stations = 5;
    cases
}

#[test]
fn one_view_for_all_is_a_view_for_each_to_the_nanosecond() {
    for case in cases_of_one_view() {
        for seed in 1..=4 {
            let one = case.for_medium(seed);
            let each = MediumConfig { channel: case.matrix(), ..case.for_medium(seed) };
            let [one, each] = [one, each]
                .map(|config| cell::run(config, &case.saturated, Duration::from_secs(case.seconds), &case.arrivals()));
            assert_eq!(one.delays, each.delays, "{} under seed {seed}", case.name);
            assert_eq!((one.attempts, one.collided), (each.attempts, each.collided), "{}", case.name);
        }
    }
}

#[test]
fn one_view_for_all_is_a_view_for_each_with_protection_and_beacons_too() {
    let cases = [Case::saturated("", "802.11b", 6), Case { pifs: true, ..periodic(5, Vec::new()) }];
    for (case, protection) in cases.iter().zip([Protection::CtsToSelf, Protection::RtsCts]) {
        let mixed = |channel| {
            let plain = config(phy("802.11g", &[1, 2, 11]), case.stations);
            let mut config = with_beacons(MediumConfig { channel, ..plain }, Duration::from_micros(10_240));
            config.bss[0].protection = protection;
            config
        };
        let [one, each] = [Channel::uniform(case.stations + 1), case.matrix()].map(|channel| {
            cell::run(mixed(channel), &case.saturated, Duration::from_secs(case.seconds), &case.arrivals())
        });
        assert!(one.collided.iter().sum::<u64>() > 10, "{:?}", one.collided);
        assert_eq!(one.delays, each.delays, "{protection:?}");
        assert_eq!((one.attempts, one.collided), (each.attempts, each.collided), "{protection:?}");
    }
}
