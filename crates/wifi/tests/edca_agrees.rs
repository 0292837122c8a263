//! EDCA and several BSSs: the medium, which jumps, against its plain twin, which goes slot by slot.
//!
//! Both draw from the same streams. The tests compare the start, the end and the sender of every PPDU, to the
//! nanosecond, and every count.

use crate::cell::{self, Load, MediumConfig, phy, run_load, several_bss};
use crate::twin::{self, Source};
use lasthop_engine::Stream;
use lasthop_observe::NodeId;
use lasthop_registry::Amount;
use lasthop_units::{Bytes, Dbm, Duration, Time};
use lasthop_wifi::phy::{Phy, frame_size};
use lasthop_wifi::{AccessCategory, CcaLevels, Channel, ChannelAccess, EdcaParameters, Matrix};

const PACKET_BYTES: u64 = 1500;
/// Every mode can be received from -65 dBm on, so a PPDU weaker than the energy level can be received.
const CCA: CcaLevels = CcaLevels { preamble: Dbm(-82.0), energy: Dbm(-52.0) };
/// A TID of each category, in order of falling priority.
pub const TIDS: [u8; 4] = [6, 5, 0, 1];
const VO: usize = 0;
const VI: usize = 1;
const BE: usize = 2;
const BK: usize = 3;

/// Traffic of one function.
#[derive(Clone, Copy, Debug)]
pub struct Traffic {
    pub node: usize,
    pub category: usize,
    pub source: Source,
}

pub fn saturated(node: usize, category: usize) -> Traffic {
    Traffic { node, category, source: Source::Saturated }
}

pub fn periodic(node: usize, category: usize, first_ns: u64, interval_ns: u64) -> Traffic {
    Traffic { node, category, source: Source::Periodic { first_ns, interval_ns } }
}

/// A set of BSSs, for both implementations.
#[derive(Clone, Debug)]
pub struct Case {
    pub standard: &'static str,
    pub name: String,
    /// (channel, stations) of each; APs are the first nodes.
    pub bss: Vec<(u32, usize)>,
    pub ms: u64,
    /// EDCA parameters of each node.
    pub edca: Vec<[EdcaParameters; 4]>,
    pub traffic: Vec<Traffic>,
    pub hidden: Vec<(usize, usize)>,
    /// A view for each node, even if none is hidden.
    pub matrix: bool,
    /// Power in dBm of each node's signal at each other, and the level from which on nodes recognise a PPDU whose
    /// preamble they have missed.
    pub levels: Option<(Vec<Vec<f64>>, Option<f64>)>,
    pub rts: bool,
    pub retry_limit: u32,
}

/// The defaults of 802.11a, without TXOPs.
fn defaults() -> [EdcaParameters; 4] {
    AccessCategory::ALL.map(|category| {
        let txop_limit = Duration::ZERO;
        EdcaParameters { txop_limit, ..EdcaParameters::default_of(category, 15, 1023) }
    })
}

fn with_txops() -> [EdcaParameters; 4] {
    AccessCategory::ALL.map(|category| EdcaParameters::default_of(category, 15, 1023))
}

impl Case {
    pub fn new(name: &str, bss: &[(u32, usize)], traffic: Vec<Traffic>) -> Case {
        let nodes = bss.iter().map(|b| 1 + b.1).sum();
        Case {
            standard: "802.11a",
            name: name.into(),
            bss: bss.to_vec(),
            ms: 1_000,
            edca: vec![defaults(); nodes],
            traffic,
            hidden: Vec::new(),
            matrix: false,
            levels: None,
            rts: false,
            retry_limit: 7,
        }
    }

    fn txops(self) -> Case {
        Case { edca: vec![with_txops(); self.edca.len()], ..self }
    }

    pub fn phy(&self) -> Phy {
        phy(self.standard, &[])
    }

    pub fn nodes(&self) -> usize {
        self.edca.len()
    }

    fn hears(&self, config: &MediumConfig, a: usize, b: usize) -> bool {
        let channel = |node: usize| self.bss[config.nodes[node].bss as usize].0;
        let hidden = self.hidden.contains(&(a, b)) || self.hidden.contains(&(b, a));
        channel(a) == channel(b) && !hidden
    }

    pub fn for_medium(&self, seed: u64) -> MediumConfig {
        let mut config = several_bss(self.phy(), &self.bss);
        config.seed = seed;
        config.queues = cell::fifos(Amount::Unlimited);
        for (node, edca) in config.nodes.iter_mut().zip(&self.edca) {
            node.access = ChannelAccess::Edca(*edca);
            node.retry_limit = Some(self.retry_limit);
        }
        config.bss.iter_mut().for_each(|bss| bss.rts_threshold = self.rts.then_some(Bytes(0)));
        if self.matrix || !self.hidden.is_empty() {
            let power =
                |tx: NodeId, rx: NodeId| Dbm(if self.hears(&config, tx.index(), rx.index()) { -50.0 } else { -200.0 });
            config.channel = Channel::Matrix(Matrix::new(self.nodes(), Dbm(-82.0), power));
        }
        if let Some((levels, mid_packet)) = &self.levels {
            let power = |tx: NodeId, rx: NodeId| Dbm(levels[tx.index()][rx.index()]);
            config.channel = Channel::Matrix(Matrix::new(self.nodes(), CCA, power));
            config.nodes.iter_mut().for_each(|node| node.mid_packet_detection = mid_packet.map(Dbm));
        }
        config
    }

    pub fn load(&self) -> Load {
        let mut load = Load { packet_bytes: PACKET_BYTES as u32, keep_records: true, ..Load::default() };
        for one in &self.traffic {
            let (node, tid) = (NodeId(one.node as u32), TIDS[one.category]);
            match one.source {
                Source::Saturated => load.saturated.push((node, tid)),
                Source::Periodic { first_ns, interval_ns } => {
                    let times = (0..).map(|k| first_ns + k * interval_ns).take_while(|t| *t < self.ms * 1_000_000);
                    load.arrivals.extend(times.map(|t| (Time::from_nanos(t), node, tid)));
                }
                Source::Silent | Source::Bernoulli { .. } => unreachable!("the medium is not told of such"),
            }
        }
        load.arrivals.sort_unstable();
        load
    }

    pub fn for_twin(&self) -> twin::Config {
        let (phy, config) = (self.phy(), self.for_medium(1));
        let ns = |d: Duration| d.as_nanos();
        let data = *phy.allowed_modes().last().unwrap();
        let response = phy.control_response_mode(data);
        let cts = phy.ppdu_duration(response, frame_size::CTS);
        let node = |index: usize| {
            let category = |category: usize| {
                let of = self.edca[index][category];
                let traffic = self.traffic.iter().find(|t| (t.node, t.category) == (index, category));
                twin::Category {
                    source: traffic.map_or(Source::Silent, |t| t.source),
                    aifsn: u64::from(of.aifsn),
                    cw_min: of.cw_min,
                    cw_max: of.cw_max,
                    txop_limit_ns: ns(of.txop_limit),
                    to: None,
                }
            };
            let ap = config.bss[config.nodes[index].bss as usize].ap.index();
            twin::NodeConfig { ap, ..twin::NodeConfig::edca([0, 1, 2, 3].map(category)) }
        };
        let hears = |i: usize| (0..self.nodes()).map(|j| self.hears(&config, i, j)).collect();
        twin::Config {
            slot_ns: ns(phy.slot()),
            sifs_ns: ns(phy.sifs()),
            difs_ns: ns(phy.difs()),
            eifs_ns: ns(phy.eifs(data)),
            t_data_ns: ns(phy.ppdu_duration(data, frame_size::qos_data_mpdu(Bytes(PACKET_BYTES)))),
            t_ack_ns: ns(phy.ppdu_duration(response, frame_size::ACK)),
            t_rts_ns: ns(phy.ppdu_duration(response, frame_size::RTS)),
            t_cts_ns: ns(cts),
            ack_timeout_ns: ns(phy.ack_timeout(response)),
            cts_timeout_ns: ns(phy.ack_timeout(response)),
            cw_min: phy.cw_min(),
            cw_max: phy.cw_max(),
            retry_limit: Some(self.retry_limit),
            countdown: twin::Countdown::Frozen,
            eifs: true,
            rts: self.rts,
            nav_timeout_ns: Some(ns(phy.sifs() * 2 + cts + phy.rx_start_delay(response) + phy.slot() * 2)),
            capture: None,
            aggregation: None,
            users: None,
            interferers: None,
            carrier: self.levels.as_ref().map(|(levels, mid_packet)| twin::Carrier {
                power_db: levels.clone(),
                energy_db: CCA.energy.0,
                mid_packet_db: *mid_packet,
                mid_packet_ns: 25_000,
            }),
            hears: (0..self.nodes()).map(hears).collect(),
            nodes: (0..self.nodes()).map(node).collect(),
        }
    }
}

/// Runs both under the same seeds and compares.
fn agree(case: &Case) {
    for seed in cell::seeds() {
        let end = Duration::from_millis(case.ms) + Duration::from_nanos(1);
        let ours = run_load(case.for_medium(seed), &case.load(), end);
        let mut theirs = twin::run(&case.for_twin(), seed, case.ms * 1_000_000);
        theirs.ppdus.sort_unstable();
        let (a, b) = (ours.ppdus(), theirs.ppdus);
        assert!(b.len() > 10, "{}: nothing happens", case.name);
        let same = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
        let what = format!("{} under seed {seed}", case.name);
        let around = |of: &[(u64, u64, u32)]| of[same.saturating_sub(8)..(same + 3).min(of.len())].to_vec();
        assert!(same == a.len() && same == b.len(), "{what}: after {same} {:?}\n for {:?}", around(&a), around(&b));
        assert_eq!(
            (&ours.delivered, &ours.internal_collisions),
            (&theirs.delivered, &theirs.internal_collisions),
            "{what}"
        );
        // The medium counts a failure at the end of the frame, the twin after the timeout.
        let near = |a: &[u64], b: &[u64]| a.iter().zip(b).all(|(a, b)| (*b..=b + 1).contains(a));
        // One reports a frame that was too weak as such, the other as unanswered.
        let failed: Vec<u64> = ours.collided.iter().zip(&ours.noisy).map(|(collided, weak)| collided + weak).collect();
        let pairs = [(ours.attempts, theirs.attempts), (failed, theirs.collided), (ours.drops, theirs.drops)];
        for (a, b) in pairs {
            assert!(near(&a, &b), "{what}: counted {a:?} for {b:?}");
        }
    }
}

/// Compares the case with shared views, and with one for each node.
fn agree_in_both(case: Case) {
    agree(&case);
    agree(&Case { matrix: true, name: format!("{}, a view for each", case.name), ..case });
}

#[test]
fn one_category_of_several_stations() {
    for category in [VO, VI, BE, BK] {
        let traffic = (1..=4).map(|node| saturated(node, category)).collect();
        agree_in_both(Case::new(&format!("category {category}"), &[(0, 4)], traffic));
    }
}

#[test]
fn stations_of_different_categories() {
    let traffic = vec![saturated(0, BE), saturated(1, VO), saturated(2, VI), saturated(3, BE), saturated(4, BK)];
    agree_in_both(Case::new("a category each", &[(0, 4)], traffic));
}

#[test]
fn all_categories_of_one_node() {
    let traffic = (0..4).map(|category| saturated(1, category)).collect();
    agree_in_both(Case::new("one node", &[(0, 1)], traffic));
}

#[test]
fn all_categories_of_all_nodes() {
    let traffic = (0..4).flat_map(|node| (0..4).map(move |category| saturated(node, category))).collect();
    agree_in_both(Case::new("all of all", &[(0, 3)], traffic));
}

#[test]
fn frames_that_come_now_and_then() {
    for nodes in [1, 3] {
        let of = |(node, category)| {
            periodic(node, category, 1 + 97_003 * (7 * category + node) as u64, 3_000_017 + 500_009 * node as u64)
        };
        let traffic = (0..=nodes).flat_map(|node| (0..4).map(move |category| (node, category))).map(of).collect();
        agree_in_both(Case { ms: 3_000, ..Case::new(&format!("periodic, {nodes}"), &[(0, nodes)], traffic) });
    }
}

#[test]
fn exchanges_within_a_txop() {
    let traffic: Vec<Traffic> = [(0, BE), (0, VI), (1, VO), (2, VI), (3, BK)].map(|(n, c)| saturated(n, c)).into();
    agree_in_both(Case::new("TXOPs", &[(0, 3)], traffic.clone()).txops());
    agree_in_both(Case { rts: true, ..Case::new("TXOPs, RTS", &[(0, 3)], traffic).txops() });
}

#[test]
fn an_access_point_with_an_aifsn_of_one() {
    let traffic = (0..=4).map(|node| saturated(node, BE)).collect();
    let mut case = Case::new("AIFSN 1", &[(0, 4)], traffic);
    case.edca[0][BE].aifsn = 1;
    agree_in_both(case);
}

#[test]
fn few_attempts() {
    let traffic = (0..4).flat_map(|node| [VO, VI, BE].map(|category| saturated(node, category))).collect();
    agree_in_both(Case { retry_limit: 1, ..Case::new("two attempts", &[(0, 3)], traffic) });
}

#[test]
fn hidden_stations() {
    for rts in [false, true] {
        let traffic = vec![saturated(1, BE), saturated(2, BE), saturated(1, VO), saturated(3, VI), saturated(0, BE)];
        let case = Case::new(&format!("hidden, RTS {rts}"), &[(0, 3)], traffic);
        agree(&Case { rts, hidden: vec![(1, 2)], ..case.clone() });
        agree(&Case { rts, hidden: vec![(1, 2), (1, 3)], ..case.txops() });
    }
}

#[test]
fn two_bss_on_one_channel_and_on_two() {
    for channel in [0, 1] {
        let traffic = vec![saturated(0, BE), saturated(1, BE), saturated(2, VI), saturated(3, BE), saturated(4, BE)];
        agree_in_both(Case::new(&format!("second channel {channel}"), &[(0, 2), (channel, 1)], traffic));
    }
}

#[test]
fn three_bss_in_a_row() {
    // APs 0, 1, 2 with stations 3, 4, 5; the outer two do not hear each other.
    let hidden = vec![(0, 2), (0, 5), (3, 2), (3, 5)];
    let traffic: Vec<Traffic> = (0..6).map(|node| saturated(node, BE)).collect();
    for rts in [false, true] {
        let case = Case::new(&format!("a row of BSSs, RTS {rts}"), &[(0, 1), (0, 1), (0, 1)], traffic.clone());
        agree(&Case { rts, hidden: hidden.clone(), ..case });
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
    for which in 1..=40 {
        for mid_packet in [None, Some(-60.0)] {
            let mut case = random_case(1000 + which);
            case.bss.iter_mut().for_each(|bss| bss.0 = 0);
            case.levels = Some((some_levels(which, case.nodes()), mid_packet));
            case.hidden.clear();
            agree(&Case { name: format!("levels {which}, a PPDU under way from {mid_packet:?} dBm"), ..case });
        }
    }
}

/// A random cell.
fn random_case(which: u64) -> Case {
    let mut dice = Stream::new(which, "edca cell", 0);
    let channels = 1 + dice.up_to(1);
    let bss: Vec<(u32, usize)> = (0..1 + dice.up_to(2)).map(|_| (0, 1 + dice.up_to(2) as usize)).collect();
    // Channels are numbered without gaps.
    let bss = bss.iter().enumerate().map(|(i, b)| (i as u32 % channels, b.1)).collect::<Vec<_>>();
    let mut case = Case::new(&format!("random cell {which}"), &bss, Vec::new());
    case.ms = 400;
    let busy = [0.2, 0.5, 0.9][dice.up_to(2) as usize];
    for node in 0..case.nodes() {
        for category in 0..4 {
            if dice.chance(0.4) {
                case.edca[node][category].aifsn = (1 + dice.up_to(7)) as u8;
                case.edca[node][category].cw_min = (1 << dice.up_to(5)) - 1;
                case.edca[node][category].cw_max = (1 << (5 + dice.up_to(5))) - 1;
            }
            if dice.chance(0.4) {
                case.edca[node][category].txop_limit = Duration::from_micros(32 * u64::from(dice.up_to(120)));
            }
            if dice.chance(busy) {
                let mut some = |least: u32, most: u32| u64::from(least + dice.up_to(most - least));
                let source = match some(0, 1) {
                    0 => Source::Saturated,
                    _ => Source::Periodic { first_ns: some(1, 9_000_000), interval_ns: some(500_000, 20_000_000) },
                };
                case.traffic.push(Traffic { node, category, source });
            }
        }
    }
    if case.traffic.is_empty() {
        case.traffic.push(periodic(0, BE, 1_234_567, 7_654_321));
    }
    let share_hidden = f64::from(dice.up_to(2)) * 0.25;
    let pairs = (0..case.nodes()).flat_map(|a| (0..a).map(move |b| (a, b)));
    case.hidden = pairs.filter(|_| dice.chance(share_hidden)).collect();
    case.matrix = dice.chance(0.3);
    case.rts = dice.chance(0.3);
    case.retry_limit = [0, 2, 7][dice.up_to(2) as usize];
    case
}

/// A cell that fails is run by itself with `LASTHOP_CELL=n cargo test -p lasthop-wifi --test all edca_agrees::random`.
#[test]
fn random_cells() {
    let alone = std::env::var("LASTHOP_CELL").ok().map(|n| n.parse().expect("the number of a cell"));
    let cells = alone.map_or(1..=100, |n| n..=n);
    cells.for_each(|which| agree(&random_case(which)));
}
