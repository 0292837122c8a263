//! Who hears whom, and how loud: path loss, walls, fading, hidden pairs and channels in one place.
//!
//! The power of a PPDU at a receiver is that of the moment at which it begins, and is kept to its end.
//! It is a function of that moment alone, so that looking more or less often changes nothing. Left out:
//! what changes within a PPDU, and the time that signals take.

use lasthop_observe::NodeId;
use lasthop_units::{Dbm, Time};

/// Received powers between all nodes of a medium.
///
/// Where every node hears every other of its channel well enough for every mode, nothing need be
/// stored: that is the common case of the papers, and cheap for thousands of stations.
#[derive(Clone, Debug)]
pub enum Channel {
    /// all nodes of a group hear one another, above the sensitivity of every mode, and nobody else
    Uniform {
        /// of each node, counted from 0 without gaps
        group: Vec<u32>,
    },
    /// as the matrix says
    Matrix(Matrix),
}

impl Channel {
    /// Everybody hears everybody.
    pub fn uniform(nodes: usize) -> Channel {
        Channel::Uniform { group: vec![0; nodes] }
    }

    /// Whether nodes share views.
    pub fn is_uniform(&self) -> bool {
        matches!(self, Channel::Uniform { .. })
    }

    /// How many views of the medium there are: one for each group of nodes that hear the same, or one for each node.
    pub fn views(&self) -> usize {
        match self {
            Channel::Uniform { group } => group.iter().max().map_or(0, |last| *last as usize + 1),
            Channel::Matrix(matrix) => matrix.nodes(),
        }
    }

    /// The view that `node` has.
    pub fn view_of(&self, node: NodeId) -> usize {
        match self {
            Channel::Uniform { group } => group[node.index()] as usize,
            Channel::Matrix(_) => node.index(),
        }
    }

    /// Whether nodes of `view` hear what `tx` begins to send at `began`.
    pub fn hears(&self, began: Time, view: usize, tx: NodeId) -> bool {
        match self {
            Channel::Uniform { group } => group[tx.index()] as usize == view,
            Channel::Matrix(matrix) => matrix.hears(began, NodeId(view as u32), tx),
        }
    }
}

/// What a receiver notices [802.11-2020 §17.3.10.6].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CcaLevels {
    /// a PPDU whose preamble it receives, from this power on
    pub preamble: Dbm,
    /// any signal, from this power on
    pub energy: Dbm,
}

impl From<Dbm> for CcaLevels {
    /// One level for both: what is heard at all is noticed, whatever the receiver was doing when it began.
    fn from(level: Dbm) -> Self {
        CcaLevels { preamble: level, energy: level }
    }
}

/// Received power from each node at each node.
#[derive(Clone, Debug)]
pub struct Matrix {
    nodes: usize,
    /// in milliwatts, receiver-major; zero for pairs that do not hear one another
    power: Vec<f64>,
    /// from which on a preamble is received
    pub(crate) preamble_mw: f64,
    /// from which on any signal is noticed
    pub(crate) energy_mw: f64,
}

/// `power` in milliwatts.
pub(crate) fn milliwatts(power: Dbm) -> f64 {
    power.to_milliwatts(|x| libm::pow(10.0, x)).0
}

impl Matrix {
    /// A matrix from `power(transmitter, receiver)`.
    pub fn new(nodes: usize, levels: impl Into<CcaLevels>, power: impl Fn(NodeId, NodeId) -> Dbm) -> Self {
        let pairs = (0..nodes * nodes).map(|i| (NodeId((i % nodes) as u32), NodeId((i / nodes) as u32)));
        let levels = levels.into();
        Matrix {
            nodes,
            power: pairs.map(|(tx, rx)| milliwatts(power(tx, rx))).collect(),
            preamble_mw: milliwatts(levels.preamble),
            energy_mw: milliwatts(levels.energy),
        }
    }

    /// Power in milliwatts at `rx` of what `tx` begins to send at `began`.
    pub fn power_mw(&self, began: Time, tx: NodeId, rx: NodeId) -> f64 {
        let _ = began;
        self.power[rx.index() * self.nodes + tx.index()]
    }

    /// Whether what `tx` begins to send at `began` is strong enough at `rx` to be heard at all.
    pub fn hears(&self, began: Time, rx: NodeId, tx: NodeId) -> bool {
        rx == tx || self.power_mw(began, tx, rx) >= self.audible_mw()
    }

    /// The power from which on anything is heard at all.
    pub(crate) fn audible_mw(&self) -> f64 {
        self.preamble_mw.min(self.energy_mw)
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_of_a_group_hear_one_another_and_nobody_else() {
        let channel = Channel::Uniform { group: vec![0, 1, 0, 1, 2] };
        assert_eq!((channel.views(), channel.view_of(NodeId(3))), (3, 1));
        let heard = |view| (0..5).filter(|&tx| channel.hears(Time::ZERO, view, NodeId(tx))).collect::<Vec<_>>();
        assert_eq!([0, 1, 2].map(heard), [vec![0, 2], vec![1, 3], vec![4]]);
    }

    #[test]
    fn a_matrix_has_a_view_for_each_node() {
        let power = |tx: NodeId, rx: NodeId| Dbm(if tx.0 + rx.0 == 1 { -82.0 } else { -82.1 });
        let channel = Channel::Matrix(Matrix::new(3, Dbm(-82.0), power));
        assert_eq!((channel.views(), channel.view_of(NodeId(2))), (3, 2));
        let heard = |view| (0..3).filter(|&tx| channel.hears(Time::ZERO, view, NodeId(tx))).collect::<Vec<_>>();
        assert_eq!([0, 1, 2].map(heard), [vec![0, 1], vec![0, 1], vec![2]]);
    }
}
