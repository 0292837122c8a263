//! The space of a scenario, and warnings about it.

use lasthop_registry::Kind;

use super::ResolvedScenario;
use super::defaults::chosen;
use super::nodes::NodeSpec;
use super::space::{Antenna, Space, power_keys};
use crate::diagnostic::Diagnostic;

impl ResolvedScenario {
    pub(super) fn space(&self) -> Space {
        let widths_differ = self.widths_differ();
        let antenna = |(index, node): (usize, &NodeSpec)| Antenna {
            moves: node.way.moves(),
            way: node.way.clone(),
            tx_power: node.tx_power,
            frequency_hz: self.phy_of(index).frequency_hz(),
            channel: self.channel_of(index),
            range_hz: widths_differ.then(|| self.phy_of(index).frequency_range_hz()),
        };
        Space {
            nodes: self.nodes.iter().enumerate().map(antenna).collect(),
            path_loss: chosen(&self.description.channel.path_loss).clone(),
            walls: self.description.wall.0.iter().map(|section| section.wall()).collect(),
            shadows: None,
            hidden: self.hidden.clone(),
            interferers: self.interferers_at_nodes(),
        }
    }

    /// The space of the run under `seed`, with its shadows.
    pub(super) fn space_of_run(&self, seed: u64) -> Space {
        let shadows = self.description.channel.shadowing().map(|shadowing| shadowing.shadows(seed));
        Space { shadows, ..self.space() }
    }

    /// The warning of geometry without effect, since signals do not weaken with distance; `geometry`: its keys.
    pub(super) fn warning_of_space(&self, geometry: &[String]) -> Option<Diagnostic> {
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
        let because = format!("because channel.path_loss = \"none\"{origin}: all nodes hear each other at full power");
        let no_effect = Kind::NoEffect(format!("{whose} {each}has no effect {because}"));
        let remedy = "choose a path loss, e.g. \"log_distance\", and an error model, or remove the keys without effect";
        Some(Diagnostic::without_place((no_effect, remedy)).as_warning())
    }
}
