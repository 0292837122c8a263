//! Nodes that hear one another share a view of the medium for as long as they sense the same: a view for each node gives
//! the same results to the nanosecond.

use std::collections::BTreeSet;

use crate::cell::{Load, MediumConfig, Seen, fifos, fixed_rate, phy, run_load, several_bss};
use lasthop_engine::Stream;
use lasthop_observe::{NodeId, Record};
use lasthop_registry::{Amount, Switch};
use lasthop_units::{Bytes, DataRate, Db, Dbm, Duration, Time};
use lasthop_wifi::phy::error_model::{ErrorModelKind, nist};
use lasthop_wifi::{AfterLoss, Capture, CcaLevels, Channel, LateCapture, Matrix};

const LAYOUTS: u64 = 60;
const MILLISECONDS: u64 = 250;

/// Draws whole numbers.
struct Random(Stream);

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        self.0.up_to(bound - 1)
    }
    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u32) as usize]
    }
    /// True with this chance, in percent.
    fn percent(&mut self, chance: u32) -> bool {
        self.below(100) < chance
    }
}

/// A few BSSs of 802.11a with stations around their access points, everything else drawn from `seed`.
fn layout(seed: u64) -> (MediumConfig, Load) {
    let mut random = Random(Stream::named(seed, "layout", "shared views"));
    let bss = random.one_of(&[1, 1, 2, 3, 5]);
    let stations = 1 + random.below(if bss > 2 { 4 } else { 12 }) as usize;
    let of: Vec<_> = (0..bss).map(|_| (u32::from(random.percent(10)), stations)).collect();
    let mut config = several_bss(phy("802.11a", &[]), &of);
    config.seed = seed;
    config.queues = fifos(Amount::Packets(20));
    config.channel = Channel::Matrix(matrix(&config, &mut random));
    if random.percent(40) {
        config.error_model = ErrorModelKind::Nist(nist::Params {}).build(seed);
    }
    if random.percent(30) {
        let late = random.one_of(&[LateCapture::Off, LateCapture::Preamble, LateCapture::AnyTime]);
        config.capture = Switch::On(Capture { threshold: Db(random.one_of(&[3.0, 10.0])), late });
    }
    config.after_loss =
        random.one_of(&[AfterLoss::Standard, AfterLoss::Standard, AfterLoss::NoEifs, AfterLoss::DifsForAll]);
    let detection = random.percent(30).then_some(Dbm(-72.0));
    config.nodes.iter_mut().for_each(|node| node.mid_packet_detection = detection);
    for bss in &mut config.bss {
        bss.rts_threshold = random.percent(20).then_some(Bytes(500));
        bss.beacons = random.percent(20).then_some(Duration::from_millis(20));
    }
    for control in &mut config.rate_controls {
        let rate = DataRate::from_bps(1_000_000 * random.one_of(&[6, 24, 54, 54]));
        *control = fixed_rate(&phy("802.11a", &[]), Some(rate));
    }
    let load = load(&config, &mut random);
    (config, load)
}

/// Powers by distance: access points in a line, at once close together or far apart, and stations around them.
fn matrix(config: &MediumConfig, random: &mut Random) -> Matrix {
    let spacing = f64::from(random.one_of(&[1, 3, 10, 30]));
    let reach = random.one_of(&[3, 10, 25]);
    let mut place = |node: usize| {
        let bss = config.nodes[node].bss;
        let away = if config.bss[bss as usize].ap.index() == node { 1 } else { reach };
        let mut offset = || f64::from(random.below(20 * away + 1)) / 10.0 - f64::from(away);
        (f64::from(bss) * spacing + offset(), offset())
    };
    let places: Vec<_> = (0..config.nodes.len()).map(&mut place).collect();
    let channel = |node: NodeId| config.bss[config.nodes[node.index()].bss as usize].channel;
    let power = |tx: NodeId, rx: NodeId| {
        let (a, b) = (places[tx.index()], places[rx.index()]);
        let distance = (a.0 - b.0).hypot(a.1 - b.1).max(1.0);
        // Some 60 m for a preamble, and 15 m for the highest rate.
        let level = if channel(tx) == channel(rx) { -29.0 - 30.0 * libm::log10(distance) } else { f64::NEG_INFINITY };
        Dbm(level)
    };
    let energy = random.one_of(&[-62.0, -62.0, -72.0, -82.0]);
    Matrix::new(places.len(), CcaLevels { preamble: Dbm(-82.0), energy: Dbm(energy) }, power)
}

/// Some nodes are saturated, the others get a packet now and then.
fn load(config: &MediumConfig, random: &mut Random) -> Load {
    let (mut saturated, mut arrivals) = (Vec::new(), Vec::new());
    for node in (0..config.nodes.len() as u32).map(NodeId) {
        match random.below(3) {
            0 => saturated.push((node, 0)),
            1 => {
                let interval = random.one_of(&[997, 3_001, 10_000]) * 1_000;
                let times = (0..).map(|k| u64::from(node.0) * 1_000 + k * interval);
                let times = times.take_while(|t| *t < MILLISECONDS * 1_000_000);
                arrivals.extend(times.map(|t| (Time::from_nanos(t), node, 0)));
            }
            _ => {}
        }
    }
    arrivals.sort_unstable();
    Load { saturated, arrivals, packet_bytes: random.one_of(&[200, 1500]), keep_records: true, ..Load::default() }
}

fn seen(seed: u64, shares_views: bool) -> Seen {
    let (config, load) = layout(seed);
    run_load(config, &Load { shares_views, ..load }, Duration::from_millis(MILLISECONDS))
}

/// Attempts with their times, in an order of their own.
fn attempts(seen: &Seen) -> BTreeSet<String> {
    let attempts = seen.records.iter().filter(|(_, record)| matches!(record, Record::Attempt { .. }));
    attempts.map(|one| format!("{one:?}")).collect()
}

#[test]
fn shared_views_give_the_results_of_a_view_for_each_node() {
    let mut fewer_events = 0;
    for seed in 0..LAYOUTS {
        let (own, shared) = (seen(seed, false), seen(seed, true));
        fewer_events += u64::from(shared.events < own.events);
        assert_eq!(own.ppdus(), shared.ppdus(), "layout {seed}");
        assert_eq!(attempts(&own), attempts(&shared), "layout {seed}");
        assert_eq!(own.delays, shared.delays, "layout {seed}");
        let counts = |seen: &Seen| (seen.delivered.clone(), seen.drops.clone(), seen.counts);
        assert_eq!(counts(&own), counts(&shared), "layout {seed}");
    }
    // A committed start or a backoff is one event for all that share a view.
    assert!(fewer_events > LAYOUTS / 6, "{fewer_events}");
}
