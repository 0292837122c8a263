//! Places of nodes, ways and walls: the mean power of each node at each other, at any time.

use lasthop_observe::NodeId;
use lasthop_units::{Dbm, Time};
use lasthop_wifi::Movement;
use lasthop_wifi::phy::path_loss::{PathLossKind, Wall, Way, wall};

use super::ResolvedScenario;

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
}

impl Space {
    /// Mean power of `tx` at `rx`; none where they are hidden from one another, or on different channels.
    pub(super) fn mean_power(&self, at: Time, tx: usize, rx: usize) -> Dbm {
        let (from, to) = (&self.nodes[tx], &self.nodes[rx]);
        if self.hidden.contains(&(tx.min(rx), tx.max(rx))) || from.frequency_hz != to.frequency_hz {
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
        let antenna = |node: &super::nodes::NodeSpec| Antenna {
            moves: node.way.moves(),
            way: node.way.clone(),
            tx_power: node.tx_power,
            frequency_hz: self.phy.frequency_hz(),
        };
        Space {
            nodes: self.nodes.iter().map(antenna).collect(),
            path_loss: self.description.channel.path_loss.clone(),
            walls: self.description.wall.0.iter().map(|section| section.wall()).collect(),
            hidden: self.hidden.clone(),
        }
    }
}
