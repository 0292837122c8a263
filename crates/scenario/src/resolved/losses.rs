//! Losses of data frames that a `[[station]]` gives its own link.

use std::collections::BTreeMap;

use lasthop_units::Probability;
use lasthop_wifi::phy::error_model::{ByLink, ErrorModel};

use super::ResolvedScenario;
use super::defaults::chosen;

impl ResolvedScenario {
    /// Whether some link has a loss rate of its own for data frames.
    pub(super) fn has_own_losses(&self) -> bool {
        !self.own_losses().is_empty()
    }

    /// By link, numbered from sender and receiver as in error models.
    fn own_losses(&self) -> BTreeMap<u32, Probability> {
        let mut losses = BTreeMap::new();
        for (node, spec) in self.nodes.iter().enumerate() {
            let Some(group) = spec.group.map(|group| &self.description.station.0[group]) else { continue };
            let ap = spec.config.bss;
            let down = group.downlink_frame_error_rate.or(group.frame_error_rate);
            for (from, to, rate) in [(node as u32, ap, group.frame_error_rate), (ap, node as u32, down)] {
                if let Some(rate) = rate {
                    losses.insert(from << 16 | to, rate);
                }
            }
        }
        losses
    }

    /// The error model.
    pub(crate) fn error_model(&self, seed: u64) -> Box<dyn ErrorModel> {
        let of_all = chosen(&self.description.channel.error_model).build(seed);
        let own = self.own_losses();
        if own.is_empty() { of_all } else { Box::new(ByLink::new(of_all, own)) }
    }
}
