//! Powers of interferers at the nodes.

use std::sync::Arc;

use lasthop_units::{Db, Dbm, Time};
use lasthop_wifi::phy::path_loss::wall;
use lasthop_wifi::{Interferer, Interferers, Movement};

use super::interferers::InterfererSpec;
use super::space::Space;
use super::{Range, ResolvedScenario};

impl Space {
    /// Mean power of an interferer at a node.
    pub(super) fn power_of_interferer(&self, at: Time, interferer: usize, rx: usize) -> Dbm {
        let (of, shares) = &self.interferers[interferer];
        let (from, to) = (of.position, self.nodes[rx].way.at(at));
        let shadow = self.shadows.as_ref().map_or(Db(0.0), |shadows| shadows.loss(from, to));
        let loss = self.path_loss.law().loss(from, to, of.frequency_hz()) + wall::loss(&self.walls, from, to) + shadow;
        // Nothing arrives stronger than it left.
        of.power - Db(loss.0.max(0.0)) + shares[rx]
    }
}

impl ResolvedScenario {
    /// The interferers of a run, as its nodes hear them.
    pub(crate) fn interferers(&self, seed: u64) -> Interferers {
        if self.interferers.is_empty() {
            return Interferers::default();
        }
        let space = self.space_of_run(seed);
        let one = |(index, spec): (usize, &InterfererSpec)| Interferer {
            name: spec.name.clone(),
            power: (0..self.nodes.len()).map(|rx| space.power_of_interferer(Time::ZERO, index, rx)).collect(),
            emission: spec.emission.clone(),
        };
        let all = self.interferers.iter().enumerate().map(one).collect();
        let interval = self.description.channel.position_interval.filter(|_| space.has_movement());
        let movement = interval.map(|interval| (Arc::new(space) as Arc<dyn Movement>, interval));
        let at_start = if self.turned.channels { self.ranges_at_start() } else { Vec::new() };
        Interferers { all, movement, shares: at_start.into_iter().map(|range| self.shares_in(range)).collect() }
    }

    /// Whether there are interferers.
    pub(crate) fn has_interferers(&self) -> bool {
        !self.interferers.is_empty()
    }

    /// The part of the power of each interferer that falls into a channel.
    pub(crate) fn shares_in(&self, range: Range) -> Vec<Db> {
        self.interferers.iter().map(|of| of.share_in(range)).collect()
    }

    /// Each interferer, with the part of its power that falls into the channel of each node.
    pub(super) fn interferers_at_nodes(&self) -> Vec<(InterfererSpec, Vec<Db>)> {
        // Where channels change, the medium knows the parts.
        let share = |of: &InterfererSpec, node| match self.turned.channels {
            true => Db(0.0),
            false => of.share_in(self.phy_of(node).frequency_range_hz()),
        };
        let shares = |of: &InterfererSpec| (0..self.nodes.len()).map(|node| share(of, node)).collect();
        self.interferers.iter().map(|of| (of.clone(), shares(of))).collect()
    }
}
