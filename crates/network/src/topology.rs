//! The parts of a network.

use lasthop_observe::NodeId;
use lasthop_wifi::MediumConfig;

use crate::Wires;

/// BSSs, their nodes, and the wired link of each AP.
pub struct Topology<B> {
    /// the nodes on the air: the APs first, in the order of their BSSs, then the stations
    pub medium: MediumConfig<B>,
    /// the wired link of each AP, in the order of the BSSs
    pub wires: Vec<Wires<B>>,
}

impl<B> Topology<B> {
    /// The AP of each node; an AP is its own.
    ///
    /// # Panics
    /// If there is not one wired link for each BSS.
    pub fn homes(&self) -> Vec<NodeId> {
        assert_eq!(self.wires.len(), self.medium.bss.len(), "each AP has a wired link");
        self.medium.nodes.iter().map(|node| NodeId(node.bss)).collect()
    }
}
