//! A cell round the medium for tests: saturated or periodic sources, and counters of everything.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use lasthop_engine::{Scheduler, Turn};
use lasthop_link::queue_discipline::fifo;
use lasthop_link::{Packet, PacketMeta, QueueDisciplineKind};
use lasthop_observe::detail::Detail;
use lasthop_observe::{DropReason, FlowId, NodeId, Outcome, Record};
use lasthop_registry::Amount;
use lasthop_units::{Bytes, DataRate, Db, Dbm, Duration, Time};
use lasthop_wifi::phy::error_model::ErrorModelKind;
use lasthop_wifi::phy::{Phy, PhyOptions, Standard};
use lasthop_wifi::rate_control::{PeerModes, RateControl, RateControlKind, fixed};
use lasthop_wifi::{
    AccessCategory, Agenda, BssConfig, Channel, Counts, EdcaParameters, Environment, Medium, MediumEvent, NodeConfig,
    Queues,
};

/// Seeds under which a cell is compared with its twin: one, as cells differ by more than their seeds do, or three where
/// `LASTHOP_ALL` is set, as `make validation` does.
pub fn seeds() -> RangeInclusive<u64> {
    1..=if std::env::var_os("LASTHOP_ALL").is_some() { 3 } else { 1 }
}

/// A PHY with these basic rates, in Mbit/s; none: the default.
pub fn phy(standard: &str, basic: &[u64]) -> Phy {
    let basic = basic.iter().map(|r| DataRate::from_bps(r * 1_000_000)).collect::<Vec<_>>();
    let options = PhyOptions::new(Standard::named(standard).unwrap());
    PhyOptions { basic_rates: (!basic.is_empty()).then_some(basic), ..options }.resolve("bss").unwrap()
}

/// A medium whose packets carry their sender.
pub type MediumConfig = lasthop_wifi::MediumConfig<NodeId>;

/// A FIFO with this limit for each node.
pub fn fifos(limit: Amount) -> Queues<NodeId> {
    Box::new(move |_, random| QueueDisciplineKind::Fifo(fifo::Params::limited(limit)).build(random))
}

/// Configuration of an AP and `stations`, all at the highest rate, with 7 retransmissions and defaults otherwise.
pub fn config(phy: Phy, stations: usize) -> MediumConfig {
    MediumConfig::plain(phy, stations, 1, fifos(Amount::Packets(50)))
}

/// BSSs with these numbers of stations on these channels: the APs first, then the stations of the first, of the second,
/// and so on. All nodes on one channel hear one another.
pub fn several_bss(phy: Phy, of: &[(u32, usize)]) -> MediumConfig {
    let stations = of.iter().map(|bss| bss.1).sum::<usize>();
    let plain = config(phy, stations);
    let aps = of.len();
    let station_bss = of.iter().enumerate().flat_map(|(bss, of)| std::iter::repeat_n(bss, of.1));
    let bss_of_node: Vec<usize> = (0..aps).chain(station_bss).collect();
    let node = |(index, &bss): (usize, &usize)| NodeConfig {
        name: format!("node{index}"),
        bss: bss as u32,
        ..plain.nodes[0].clone()
    };
    let bss = |(index, of): (usize, &(u32, usize))| BssConfig {
        channel: of.0,
        ap: NodeId(index as u32),
        ..plain.bss[0].clone()
    };
    MediumConfig {
        nodes: bss_of_node.iter().enumerate().map(node).collect(),
        bss: of.iter().enumerate().map(bss).collect(),
        channel: Channel::Uniform { group: bss_of_node.iter().map(|&bss| of[bss].0).collect() },
        ..plain
    }
}

/// `config` with RTS/CTS before frames longer than `threshold`.
pub fn with_rts(mut config: MediumConfig, threshold: Bytes) -> MediumConfig {
    config.bss[0].rts_threshold = Some(threshold);
    config
}

/// `config` with beacons.
pub fn with_beacons(mut config: MediumConfig, interval: Duration) -> MediumConfig {
    config.bss[0].beacons = Some(interval);
    config
}

/// A rate control that sends everything at `rate`; `None`: the highest.
pub fn fixed_rate(phy: &Phy, rate: Option<DataRate>) -> Box<dyn RateControl> {
    let error_model = ErrorModelKind::all().remove(0);
    let peer = PeerModes {
        phy,
        modes: phy.allowed_modes(),
        received: Dbm(-40.0),
        noise_figure: Db(7.0),
        error_model: &error_model,
        seed: 1,
    };
    RateControlKind::Fixed(fixed::Params { rate, ..fixed::Params::default() }).build(&peer, "rate_control").unwrap()
}

/// Observations of each node.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    pub attempts: Vec<u64>,
    /// Frames lost to others: collisions and interference.
    pub collided: Vec<u64>,
    /// Frames among these lost to interference.
    pub interfered: Vec<u64>,
    pub noisy: Vec<u64>,
    pub delivered: Vec<u64>,
    pub drops: Vec<u64>,
    pub internal_collisions: Vec<u64>,
    pub delays: Vec<Vec<Duration>>,
    /// All records, if there are arrivals.
    pub records: Vec<(Time, Record)>,
    /// Times at which packets arrived, with their numbers for each sender and TID, counted from 0; if records are kept.
    pub arrived: Vec<(u64, u32)>,
    pub counts: Option<Counts>,
    /// Number of events.
    pub events: u64,
    /// Details of PPDUs and their MPDUs, if the load asks for them.
    pub details: Vec<(Time, Detail)>,
}

impl Seen {
    pub fn throughput_mbps(&self, bytes: u64, elapsed: Duration) -> f64 {
        self.delivered.iter().sum::<u64>() as f64 * bytes as f64 * 8.0 / elapsed.as_secs_f64() / 1e6
    }
    pub fn collision_probability(&self) -> f64 {
        self.collided.iter().sum::<u64>() as f64 / self.attempts.iter().sum::<u64>() as f64
    }
    /// Start and end of every PPDU in nanoseconds, and its sender.
    pub fn ppdus(&self) -> Vec<(u64, u64, u32)> {
        let of = |(at, record): &(Time, Record)| match record {
            Record::Airtime { node, duration, .. } => {
                Some((at.as_nanos() - duration.as_nanos(), at.as_nanos(), node.0))
            }
            _ => None,
        };
        let mut all: Vec<_> = self.records.iter().filter_map(of).collect();
        all.sort_unstable();
        all
    }
    /// Times at which `node` began to send, in nanoseconds.
    pub fn starts(&self, node: u32) -> Vec<u64> {
        self.ppdus().iter().filter(|p| p.2 == node).map(|p| p.0).collect()
    }
    /// Outcomes of the attempts, in order.
    pub fn outcomes(&self) -> Vec<(u32, Outcome)> {
        let of = |(_, record): &(Time, Record)| match record {
            Record::Attempt { node, outcome, .. } => Some((node.0, *outcome)),
            _ => None,
        };
        self.records.iter().filter_map(of).collect()
    }
}

struct World {
    events: Scheduler<MediumEvent>,
    seen: Seen,
    /// Nodes and TIDs for which there is always another packet.
    saturated: Vec<(NodeId, u8)>,
    packet_bytes: u32,
    /// The AP of each node.
    aps: Vec<NodeId>,
    /// Packets of each node and TID so far: those of an AP go to its stations in turn.
    turns: BTreeMap<(NodeId, u8), usize>,
    keep_records: bool,
    keep_details: bool,
    shares_views: bool,
    /// Receivers of the packets of a node and TID; otherwise the stations of an AP in turn.
    destinations: Vec<(NodeId, u8, NodeId)>,
    /// Flows of packets that begin PPDUs.
    beginning: Vec<u32>,
    /// Time of the latest arrival.
    arrived_at: Time,
}

impl World {
    fn now(&self) -> Time {
        self.events.now().max(self.arrived_at)
    }

    fn packet(&mut self, node: NodeId, tid: u8) -> Packet<NodeId> {
        let up = self.aps[node.index()] != node;
        let turn = self.turns.entry((node, tid)).or_default();
        let stations = (0..self.aps.len()).filter(|&n| n != node.index() && self.aps[n] == node);
        let stations: Vec<NodeId> = stations.map(|n| NodeId(n as u32)).collect();
        let chosen = self.destinations.iter().find(|d| (d.0, d.1) == (node, tid));
        let in_turn = || chosen.map_or_else(|| stations[*turn % stations.len()], |d| d.2);
        let station = if up { node } else { in_turn() };
        *turn += 1;
        let flow = *turn as u32 - 1;
        let plain = PacketMeta::plain(FlowId(flow), station, up, self.packet_bytes);
        Packet::new(PacketMeta { tid, begins_ppdu: self.beginning.contains(&flow), ..plain }, node)
    }
}

impl Agenda for World {
    fn schedule(&mut self, at: Time, event: MediumEvent) {
        self.events.at(at, event);
    }
    fn turn(&mut self) -> Turn {
        self.events.turn()
    }
    fn schedule_in_turn(&mut self, at: Time, turn: Turn, event: MediumEvent) {
        self.events.at_turn(at, turn, event);
    }
}

impl Environment<NodeId> for World {
    const READS_STEPS: bool = true;
    const READS_DETAILS: bool = true;
    const READS_FRAMES: bool = true;
    fn reads_steps(&self) -> bool {
        !self.shares_views
    }
    fn reads_order(&self) -> bool {
        !self.shares_views
    }
    fn reads_frames(&self) -> bool {
        self.keep_details
    }
    fn detail(&mut self, at: Time, detail: Detail) {
        if self.keep_details {
            self.seen.details.push((at, detail));
        }
    }
    fn deliver(&mut self, now: Time, _: NodeId, packet: Packet<NodeId>) {
        assert_eq!(now, self.events.now(), "what arrives, arrives now");
        if self.keep_records {
            self.seen.arrived.push((now.as_nanos(), packet.meta.flow.0));
        }
        self.seen.delivered[packet.body.index()] += 1;
    }
    fn pull(&mut self, now: Time, node: NodeId, category: Option<AccessCategory>) -> Option<Packet<NodeId>> {
        assert_eq!(now, self.now(), "data is asked for now, also for a PPDU that starts a SIFS later");
        let is_wanted = |tid: u8| category.is_none_or(|c| c == AccessCategory::of_tid(tid));
        let source = self.saturated.iter().find(|s| s.0 == node && is_wanted(s.1)).copied();
        source.map(|(node, tid)| self.packet(node, tid))
    }
    fn is_saturated(&self, node: NodeId, category: Option<AccessCategory>) -> bool {
        let is_wanted = |tid: u8| category.is_none_or(|c| c == AccessCategory::of_tid(tid));
        self.saturated.iter().any(|s| s.0 == node && is_wanted(s.1))
    }
    fn observe(&mut self, at: Time, record: Record) {
        if self.keep_records {
            self.seen.records.push((at, record));
        }
        match record {
            Record::Attempt { node, outcome, .. } => {
                self.seen.attempts[node.index()] += 1;
                let interfered = matches!(outcome, Outcome::Interference | Outcome::Interferer);
                self.seen.collided[node.index()] += u64::from(interfered || outcome == Outcome::Collision);
                self.seen.interfered[node.index()] += u64::from(interfered);
                self.seen.noisy[node.index()] += u64::from(outcome == Outcome::Noise);
            }
            Record::FrameDelivered { link, delay } => {
                let aps = self.aps.iter().enumerate().filter(|(node, ap)| ap.index() == *node).count();
                let station = link.index() / 2 + aps;
                let node = if link.0.is_multiple_of(2) { station } else { self.aps[station].index() };
                self.seen.delays[node].push(delay);
            }
            Record::Dropped { node, reason: DropReason::RetryLimit, .. } => self.seen.drops[node.index()] += 1,
            Record::InternalCollision { node } => self.seen.internal_collisions[node.index()] += 1,
            _ => {}
        }
    }
}

/// Packets that come at given times, in addition to the saturated sources.
pub type Arrivals = Vec<(Time, NodeId)>;

/// A change while a medium runs.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    /// other parameters of a category of a node
    Edca(NodeId, AccessCategory, EdcaParameters),
    /// the node neither counts nor begins an exchange before this time
    Hold(NodeId, Time),
}

/// Traffic of a run.
#[derive(Clone, Debug, Default)]
pub struct Load {
    /// Nodes and TIDs for which there is always another packet.
    pub saturated: Vec<(NodeId, u8)>,
    /// Packets that come at given times, in this order.
    pub arrivals: Vec<(Time, NodeId, u8)>,
    pub packet_bytes: u32,
    pub keep_records: bool,
    pub keep_details: bool,
    /// True if nodes may share views that hear one another in a matrix: no node reports the PPDUs that it senses.
    pub shares_views: bool,
    /// Receivers of the packets of an AP with a TID, if they are not its stations in turn.
    pub destinations: Vec<(NodeId, u8, NodeId)>,
    /// Numbers, from 0, of the packets of each node and TID that begin PPDUs.
    pub beginning: Vec<u32>,
    /// Changes at given times, in this order; those of time zero come before all traffic.
    pub changes: Vec<(Time, Change)>,
}

fn change(medium: &mut Medium<NodeId>, at: Time, change: Change, world: &mut World) {
    match change {
        Change::Edca(node, category, to) => medium.set_edca(at, node, Some(category), &to, world),
        Change::Hold(node, until) => medium.hold(at, node, until, world),
    }
}

/// Runs the cell: `saturated` names the nodes that always have something to send.
pub fn run(config: MediumConfig, saturated: &[usize], duration: Duration, arrivals: &Arrivals) -> Seen {
    let load = Load {
        saturated: saturated.iter().map(|&node| (NodeId(node as u32), 0)).collect(),
        arrivals: arrivals.iter().map(|&(at, node)| (at, node, 0)).collect(),
        packet_bytes: 1500,
        keep_records: !arrivals.is_empty(),
        ..Load::default()
    };
    run_load(config, &load, duration)
}

/// Runs the cell.
pub fn run_load(mut config: MediumConfig, load: &Load, duration: Duration) -> Seen {
    let nodes = config.nodes.len();
    for &(node, _) in &load.saturated {
        config.nodes[node.index()].backpressured = true;
    }
    let aps = config.nodes.iter().map(|node| config.bss[node.bss as usize].ap).collect();
    let mut medium: Medium<NodeId> = Medium::new(config);
    let zeros = || vec![0; nodes];
    let seen = Seen {
        attempts: zeros(),
        collided: zeros(),
        interfered: zeros(),
        noisy: zeros(),
        delivered: zeros(),
        drops: zeros(),
        internal_collisions: zeros(),
        delays: vec![Vec::new(); nodes],
        ..Seen::default()
    };
    let mut world = World {
        events: Scheduler::new(),
        seen,
        saturated: load.saturated.clone(),
        packet_bytes: load.packet_bytes,
        aps,
        turns: BTreeMap::new(),
        keep_records: load.keep_records,
        keep_details: load.keep_details,
        shares_views: load.shares_views,
        destinations: load.destinations.clone(),
        beginning: load.beginning.clone(),
        arrived_at: Time::ZERO,
    };
    medium.start(&mut world);
    let (first, later): (Vec<_>, Vec<_>) = load.changes.iter().partition(|(at, _)| *at == Time::ZERO);
    first.into_iter().for_each(|(at, of)| change(&mut medium, at, of, &mut world));
    let mut later = later.into_iter().peekable();
    for &(node, tid) in &load.saturated {
        medium.offer(Time::ZERO, node, tid, &mut world);
    }
    let mut arrivals = load.arrivals.iter().peekable();
    let end = Time::ZERO + duration;
    loop {
        let next = world.events.next_at().unwrap_or(end).min(end);
        if let Some((at, of)) = later.next_if(|(at, _)| *at <= next && arrivals.peek().is_none_or(|one| *at <= one.0)) {
            while let Some((now, event)) = world.events.next_before(at + Duration::from_nanos(1)) {
                medium.handle(now, event, &mut world);
            }
            change(&mut medium, at, of, &mut world);
            continue;
        }
        if let Some(&&(at, node, tid)) = arrivals.peek()
            && at <= next
        {
            arrivals.next();
            while let Some((now, event)) = world.events.next_before(at + Duration::from_nanos(1)) {
                medium.handle(now, event, &mut world);
            }
            world.arrived_at = at;
            let packet = world.packet(node, tid);
            medium.enqueue(at, node, packet, &mut world);
            continue;
        }
        let Some((now, event)) = world.events.next_before(end) else { break };
        medium.handle(now, event, &mut world);
    }
    let counts = medium.counts();
    assert_eq!(
        counts.offered,
        counts.delivered + counts.dropped_by_queue + counts.dropped_by_mac + medium.held(),
        "packets are conserved: {counts:?}"
    );
    world.seen.counts = Some(counts);
    world.seen.events = world.events.handled();
    world.seen
}
