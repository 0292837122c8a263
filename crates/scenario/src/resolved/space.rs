//! Places of nodes, paths and walls: the mean power of each node at each other, at any time.

use lasthop_observe::NodeId;
use lasthop_registry::{Kind, ParamError};
use lasthop_units::{Db, Dbm, Duration, Time};
use lasthop_wifi::Movement;
use lasthop_wifi::phy::path_loss::{PathLossKind, Wall, Way, wall};
use lasthop_wifi::phy::shadowing::Shadows;

use super::Range;
use super::defaults::chosen;
use super::interferers::{InterfererSpec, share_in};
use super::place::{error, path_of};
use crate::description::{Ap, ChannelSection, Description, InterfererSection};

/// Default interval between updates of places, in which a walker goes 15 cm.
pub(super) const POSITION_INTERVAL: Duration = Duration::from_millis(100);

/// Each update takes time to simulate; a car goes 3 cm in this interval.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(1);

/// The data that determine received powers, except fading.
#[derive(Clone, Debug)]
pub(super) struct Space {
    pub nodes: Vec<Antenna>,
    pub path_loss: PathLossKind,
    pub walls: Vec<Wall>,
    /// Shadows of a run; without them powers are means over all runs.
    pub shadows: Option<Shadows>,
    /// Pairs that do not hear one another, the smaller first.
    pub hidden: Vec<(usize, usize)>,
    /// Interferers, with the part of their power that falls into the channel of each node.
    pub interferers: Vec<(InterfererSpec, Vec<Db>)>,
}

#[derive(Clone, Debug)]
pub(super) struct Antenna {
    pub way: Way,
    pub moves: bool,
    pub tx_power: Dbm,
    pub frequency_hz: f64,
    pub channel: u32,
    /// The frequencies of its channel, where BSSs of one channel have different widths.
    pub range_hz: Option<Range>,
}

impl Antenna {
    /// The part of the power of a PPDU from here, flat over its channel, that falls into the channel of `other`.
    fn share_at(&self, other: &Antenna) -> Db {
        self.range_hz.zip(other.range_hz).map_or(Db(0.0), |(own, of)| share_in(own, of))
    }
}

impl Space {
    /// Mean power of `tx` at `rx`; none if they are hidden from one another, or on different channels.
    pub(super) fn mean_power(&self, at: Time, tx: usize, rx: usize) -> Dbm {
        let (from, to) = (&self.nodes[tx], &self.nodes[rx]);
        if self.hidden.contains(&(tx.min(rx), tx.max(rx))) || from.channel != to.channel {
            return Dbm(f64::NEG_INFINITY);
        }
        let (a, b) = (from.way.at(at), to.way.at(at));
        let loss = self.path_loss.law().loss(a, b, from.frequency_hz);
        let sent = from.tx_power + from.share_at(to);
        let Some(shadows) = &self.shadows else { return sent - loss - wall::loss(&self.walls, a, b) };
        let loss = loss + wall::loss(&self.walls, a, b) + shadows.loss(a, b);
        // Nothing arrives stronger than it left.
        sent - Db(loss.0.max(0.0))
    }

    /// Whether any node moves.
    pub(super) fn has_movement(&self) -> bool {
        self.nodes.iter().any(|node| node.moves)
    }
}

impl Movement for Space {
    fn moves(&self, tx: NodeId, rx: NodeId) -> bool {
        self.nodes.get(tx.index()).is_some_and(|node| node.moves) || self.nodes[rx.index()].moves
    }
    fn mean_power(&self, at: Time, tx: NodeId, rx: NodeId) -> Dbm {
        match tx.index().checked_sub(self.nodes.len()) {
            None => Space::mean_power(self, at, tx.index(), rx.index()),
            Some(interferer) => self.power_of_interferer(at, interferer, rx.index()),
        }
    }
}

/// Keys of the file that give places.
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
    let interferers = description.interferer.0.iter().enumerate();
    keys.extend(
        interferers
            .filter(|(_, of)| of.position != InterfererSection::default().position)
            .map(|(index, _)| format!("interferer[{index}].position")),
    );
    keys.extend((0..description.wall.0.len()).map(|index| format!("wall[{index}]")));
    keys
}

/// Keys of the file that set the strength of signals and noise.
pub(super) fn power_keys(description: &Description) -> Vec<String> {
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

/// Checks that walls and paths have an effect, and keys about them too.
pub(super) fn check_space(description: &Description) -> Result<(), ParamError> {
    let channel = &description.channel;
    let path_loss = chosen(&channel.path_loss);
    if !description.wall.0.is_empty() && path_loss.weakens() && !path_loss.has_walls() {
        let message = (
            Kind::NoEffect("a wall has no effect unless channel.path_loss = \"multi_wall\"".into()),
            "say so, or remove them",
        );
        return error("wall[0]", message);
    }
    if channel.shadowing().is_some() && !path_loss.weakens() {
        let message = (
            Kind::NoEffect("shadowing has no effect without path loss, where nodes have no places".into()),
            "choose a path loss, e.g. \"log_distance\", or remove this key",
        );
        return error("channel.shadowing", message);
    }
    let spread = [
        ("delay_profile", channel.delay_profile.is_some()),
        ("antenna_correlation", channel.antenna_correlation.is_some()),
    ];
    if let Some((key, _)) = spread.iter().find(|(_, given)| *given)
        && !channel.fading.has_memory()
    {
        let message = (
            Kind::NoEffect("it has no effect on fading without paths".into()),
            "set channel.fading = \"jakes\" or \"gauss_markov\", or remove this key",
        );
        return error(format!("channel.{key}"), message);
    }
    let moves = description.station.0.iter().any(|group| group.waypoints.is_some());
    match channel.position_interval {
        Some(_) if !moves => error(
            "channel.position_interval",
            (Kind::NoEffect("it has no effect, as no station has waypoints".into()), "remove this key"),
        ),
        Some(interval) if interval < SHORTEST_INTERVAL => {
            error("channel.position_interval", format!("at least {SHORTEST_INTERVAL} must pass between two updates"))
        }
        _ => Ok(()),
    }
}
