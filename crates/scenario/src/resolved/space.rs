//! Places of nodes, ways and walls: the mean power of each node at each other, at any time.

use lasthop_observe::NodeId;
use lasthop_registry::ParamError;
use lasthop_units::{Dbm, Duration, Time};
use lasthop_wifi::Movement;
use lasthop_wifi::phy::path_loss::{PathLossKind, Wall, Way, wall};

use super::bss::path_of;
use super::defaults::chosen;
use super::{NodeSpec, ResolvedScenario, error};
use crate::description::{Ap, ChannelSection, Description};

/// How often places are looked at where nothing is said: a walker goes 15 cm meanwhile.
pub(super) const POSITION_INTERVAL: Duration = Duration::from_millis(100);

/// Each look takes time to simulate; a car goes 3 cm meanwhile.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(1);

/// What received powers depend on, fading apart.
#[derive(Clone, Debug)]
pub(super) struct Space {
    nodes: Vec<Antenna>,
    path_loss: PathLossKind,
    walls: Vec<Wall>,
    /// Pairs that do not hear one another, the smaller first.
    hidden: Vec<(usize, usize)>,
}

#[derive(Clone, Debug)]
struct Antenna {
    way: Way,
    moves: bool,
    tx_power: Dbm,
    frequency_hz: f64,
    channel: u32,
}

impl Space {
    /// Mean power of `tx` at `rx`; none where they are hidden from one another, or on different channels.
    pub(super) fn mean_power(&self, at: Time, tx: usize, rx: usize) -> Dbm {
        let (from, to) = (&self.nodes[tx], &self.nodes[rx]);
        if self.hidden.contains(&(tx.min(rx), tx.max(rx))) || from.channel != to.channel {
            return Dbm(f64::NEG_INFINITY);
        }
        let (a, b) = (from.way.at(at), to.way.at(at));
        from.tx_power - self.path_loss.law().loss(a, b, from.frequency_hz) - wall::loss(&self.walls, a, b)
    }

    /// Whether any node moves.
    pub(super) fn has_movement(&self) -> bool {
        self.nodes.iter().any(|node| node.moves)
    }
}

impl Movement for Space {
    fn moves(&self, tx: NodeId, rx: NodeId) -> bool {
        self.nodes[tx.index()].moves || self.nodes[rx.index()].moves
    }
    fn mean_power(&self, at: Time, tx: NodeId, rx: NodeId) -> Dbm {
        Space::mean_power(self, at, tx.index(), rx.index())
    }
}

impl ResolvedScenario {
    pub(super) fn space(&self) -> Space {
        let antenna = |(index, node): (usize, &NodeSpec)| Antenna {
            moves: node.way.moves(),
            way: node.way.clone(),
            tx_power: node.tx_power,
            frequency_hz: self.phy_of(index).frequency_hz(),
            channel: self.channel_of(index),
        };
        Space {
            nodes: self.nodes.iter().enumerate().map(antenna).collect(),
            path_loss: chosen(&self.description.channel.path_loss).clone(),
            walls: self.description.wall.0.iter().map(|section| section.wall()).collect(),
            hidden: self.hidden.clone(),
        }
    }
}

/// Keys of the file that say where things stand.
pub(super) fn geometry_keys(description: &Description) -> Vec<String> {
    let mut keys = Vec::new();
    for (index, bss) in description.bss.0.iter().enumerate() {
        let path = path_of(index, description.bss.0.len());
        keys.extend((bss.ap.position != Ap::default().position).then(|| format!("{path}.ap.position")));
    }
    for (index, group) in description.station.0.iter().enumerate() {
        let said = [
            ("distance", group.distance.is_some()),
            ("position", group.position.is_some()),
            ("waypoints", group.waypoints.is_some()),
        ];
        keys.extend(said.iter().filter(|(_, said)| *said).map(|(key, _)| format!("station[{index}].{key}")));
    }
    keys.extend((0..description.wall.0.len()).map(|index| format!("wall[{index}]")));
    keys
}

/// Keys of the file that say how strong signals and noise are.
fn power_keys(description: &Description) -> Vec<String> {
    let (channel, usual) = (&description.channel, ChannelSection::default());
    let said = [
        ("tx_power", channel.tx_power != usual.tx_power),
        ("noise_figure", channel.noise_figure != usual.noise_figure),
        ("cca_preamble", channel.cca_preamble != usual.cca_preamble),
        ("cca_energy", channel.cca_energy != usual.cca_energy),
    ];
    let mut keys: Vec<String> =
        said.iter().filter(|(_, said)| *said).map(|(key, _)| format!("channel.{key}")).collect();
    for (index, bss) in description.bss.0.iter().enumerate() {
        let path = path_of(index, description.bss.0.len());
        keys.extend(bss.ap.tx_power.map(|_| format!("{path}.ap.tx_power")));
    }
    for (index, group) in description.station.0.iter().enumerate() {
        keys.extend(group.tx_power.map(|_| format!("station[{index}].tx_power")));
    }
    keys
}

impl ResolvedScenario {
    /// What is said of geometry and has no effect, since signals do not weaken on their way; `geometry`: the keys.
    pub(super) fn warning_of_space(&self, geometry: &[String]) -> Option<String> {
        if chosen(&self.description.channel.path_loss).weakens() {
            return None;
        }
        let mut keys = geometry.to_vec();
        if !self.powers_matter() {
            keys.extend(power_keys(&self.description));
        }
        let last = keys.pop()?;
        let (whose, each) = match keys.is_empty() {
            true => (last, ""),
            false => (format!("{} and {last}", keys.join(", ")), "each "),
        };
        let default = self.defaults.iter().find(|d| d.path == "channel.path_loss");
        let origin = default.map(|d| format!(", the default with {}", d.because)).unwrap_or_default();
        Some(format!(
            "{whose} {each}has no effect because channel.path_loss = \"none\"{origin}: everybody hears everybody at full power; \
             choose a path loss, e.g. \"log_distance\", and an error model, or remove what has no effect"
        ))
    }
}

/// Walls and ways have an effect, and keys about them too.
pub(super) fn check_space(description: &Description) -> Result<(), ParamError> {
    let channel = &description.channel;
    let path_loss = chosen(&channel.path_loss);
    if !description.wall.0.is_empty() && path_loss.weakens() && !path_loss.has_walls() {
        let message = "a wall has no effect unless channel.path_loss = \"multi_wall\"; say so, or remove them";
        return error("wall[0]", message);
    }
    let moves = description.station.0.iter().any(|group| group.waypoints.is_some());
    match channel.position_interval {
        Some(_) if !moves => {
            error("channel.position_interval", "it has no effect, as no station has waypoints; remove this key")
        }
        Some(interval) if interval < SHORTEST_INTERVAL => {
            error("channel.position_interval", format!("at least {SHORTEST_INTERVAL} must pass between two looks"))
        }
        _ => Ok(()),
    }
}
