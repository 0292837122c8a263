//! Arrangement of BSSs, nodes, and the way between two nodes. Only the RTS threshold and the channel of a BSS may change while the medium runs.

use std::ops::Range;

use lasthop_observe::{LinkId, NodeId};

use crate::config::{BssConfig, ChannelAccess, NodeConfig};
use crate::edca::AccessCategory;
use crate::ids::FunctionId;
use crate::phy::Phy;
use crate::ppdu::Part;

/// A node of the medium.
pub(crate) struct Node {
    pub bss: u32,
    /// The AP of its BSS, which is the node itself if it is an AP.
    pub ap: NodeId,
    /// A station's link to its AP; the link back follows. Without meaning for an AP.
    pub uplink: LinkId,
    /// Its channel access functions, in order of falling priority.
    pub functions: Range<u32>,
    pub backpressured: bool,
    /// True for a station without QoS in a BSS that has it.
    pub legacy: bool,
}

impl Node {
    /// The function that serves packets of `tid`.
    pub(crate) fn function_of(&self, tid: u8) -> FunctionId {
        let place = if self.functions.len() == 1 { 0 } else { AccessCategory::of_tid(tid).index() as u32 };
        FunctionId(self.functions.start + place)
    }

    /// Returns whether it has a function for each access category.
    pub(crate) fn has_edca(&self) -> bool {
        self.functions.len() > 1
    }

    /// The function with the highest priority.
    pub(crate) fn first_function(&self) -> FunctionId {
        FunctionId(self.functions.start)
    }
}

/// Whether BSSs of one channel have different widths round their primary channel.
pub fn widths_differ<'a>(bss: impl Iterator<Item = &'a BssConfig> + Clone) -> bool {
    let differs =
        |one: &BssConfig, of: &BssConfig| of.channel == one.channel && of.phy.bandwidth_hz() != one.phy.bandwidth_hz();
    bss.clone().any(|one| bss.clone().any(|of| differs(one, of)))
}

/// All nodes and BSSs.
pub(crate) struct Layout {
    pub bss: Vec<BssConfig>,
    pub nodes: Vec<Node>,
    /// True if BSSs of one channel have different widths round their primary channel.
    pub widths_differ: bool,
}

impl Layout {
    pub(crate) fn new(bss: Vec<BssConfig>, configs: &[NodeConfig]) -> Layout {
        let (mut links, mut functions) = (0, 0);
        let node = |(index, config): (usize, &NodeConfig)| {
            let ap = bss[config.bss as usize].ap;
            let uplink = LinkId(links);
            if NodeId(index as u32) != ap {
                links += 2;
            }
            let first = functions;
            functions += match config.access {
                ChannelAccess::Dcf(_) => 1,
                ChannelAccess::Edca(_) => AccessCategory::ALL.len() as u32,
            };
            let (backpressured, legacy) = (config.backpressured, config.legacy.is_some());
            Node { bss: config.bss, ap, uplink, functions: first..functions, backpressured, legacy }
        };
        let nodes = configs.iter().enumerate().map(node).collect();
        let widths_differ = widths_differ(bss.iter());
        Layout { bss, nodes, widths_differ }
    }

    pub(crate) fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node.index()]
    }

    /// The BSS of a node.
    pub(crate) fn bss_of(&self, node: NodeId) -> &BssConfig {
        &self.bss[self.nodes[node.index()].bss as usize]
    }

    /// The PHY of a node's BSS.
    pub(crate) fn phy_of(&self, node: NodeId) -> &Phy {
        &self.bss_of(node).phy
    }

    /// Whether a part is wider than the channel of `node`, which then finds no more than its preamble.
    pub(crate) fn is_too_wide(&self, part: &Part, node: NodeId) -> bool {
        let from = self.phy_of(part.from);
        let width_hz = if part.ru.is_some() { from.bandwidth_hz() } else { from.mode(part.mode).bandwidth_hz };
        // DSSS spreads over 22 MHz of a channel that is 20 MHz wide for OFDM.
        width_hz > 1.5 * self.phy_of(node).bandwidth_hz()
    }

    /// The next hop and the link over which `node` sends packets of or for `station`.
    pub(crate) fn way(&self, node: NodeId, station: NodeId) -> (NodeId, LinkId) {
        let (own, peer) = (self.node(node), self.node(station));
        if own.ap == node { (station, LinkId(peer.uplink.0 + 1)) } else { (own.ap, own.uplink) }
    }
}
