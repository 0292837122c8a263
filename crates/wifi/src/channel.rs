//! Who hears whom, and how loud: one matrix for path loss, hidden pairs and carrier sense.

use lasthop_observe::NodeId;
use lasthop_units::Dbm;

/// Received powers between all nodes of a medium.
///
/// Where every node hears every other well enough for every mode, nothing need be stored:
/// that is the common case of the papers, and cheap for thousands of stations.
#[derive(Clone, Debug)]
pub enum Channel {
    /// everybody hears everybody, above the sensitivity of every mode
    Uniform,
    /// as the matrix says
    Matrix(Matrix),
}

/// Received power from each node at each node.
#[derive(Clone, Debug)]
pub struct Matrix {
    nodes: usize,
    /// receiver-major; minus infinity for pairs that do not hear one another
    power: Vec<Dbm>,
    sense: Dbm,
}

impl Channel {
    /// Whether one view serves all nodes.
    pub fn is_uniform(&self) -> bool {
        matches!(self, Channel::Uniform)
    }
    /// How many views there are.
    pub fn views(&self) -> usize {
        match self {
            Channel::Uniform => 1,
            Channel::Matrix(matrix) => matrix.nodes(),
        }
    }
    /// The view of a node.
    pub fn view_of(&self, node: NodeId) -> usize {
        match self {
            Channel::Uniform => 0,
            Channel::Matrix(_) => node.index(),
        }
    }
}

impl Matrix {
    /// A matrix from `power(transmitter, receiver)`; below `sense` a transmission is not noticed.
    pub fn new(nodes: usize, sense: Dbm, power: impl Fn(NodeId, NodeId) -> Dbm) -> Self {
        let pairs = (0..nodes * nodes).map(|i| (NodeId((i % nodes) as u32), NodeId((i / nodes) as u32)));
        Matrix { nodes, power: pairs.map(|(tx, rx)| power(tx, rx)).collect(), sense }
    }

    /// Power of `tx` at `rx`.
    pub fn power(&self, tx: NodeId, rx: NodeId) -> Dbm {
        self.power[rx.index() * self.nodes + tx.index()]
    }

    /// Whether `rx` notices that `tx` sends.
    pub fn hears(&self, rx: NodeId, tx: NodeId) -> bool {
        rx == tx || self.power(tx, rx) >= self.sense
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes
    }
}
