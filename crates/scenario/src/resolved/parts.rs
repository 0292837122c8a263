//! Parts of a scenario that do not influence one another: the BSSs of each channel, with their stations and flows.
//!
//! Nothing joins them: each access point has a wired link of its own, no signal leaves its channel, and random streams go
//! by names. So a run in parts gives the numbers of a run of the whole, in less time: each part has few events and views, and
//! may have a thread.

use std::sync::Arc;

use lasthop_link::QueueDisciplineKind;
use lasthop_observe::{NodeId, Places};
use lasthop_wifi::phy::error_model::ErrorModelKind;

use super::defaults::chosen;
use super::kept::Kept;
use super::turned::Turned;
use super::{Part, ResolvedScenario};

impl ResolvedScenario {
    /// Its parts; none if it has a single channel, or if something may join channels.
    pub(crate) fn parts(&self) -> &[Part] {
        self.parts.get_or_compute(|| {
            let channels = self.channels() as u32;
            if channels < 2 || !self.is_separable() {
                return Vec::new();
            }
            let has_own_views = self.has_own_views(&self.space());
            (0..channels).map(|channel| self.part(channel, has_own_views)).collect()
        })
    }

    /// A change names knobs of any channel, and an agent too. Code may share data between flows or links; two error models have numbers or a stream for all links,
    /// and queues that hash hosts have their numbers.
    fn is_separable(&self) -> bool {
        let error_model = chosen(&self.description.channel.error_model);
        let is_shared = matches!(error_model, ErrorModelKind::GilbertElliott(_) | ErrorModelKind::Foreign(_));
        let hashes_hosts = self.queues().any(QueueDisciplineKind::hashes_hosts);
        let is_free = self.changes.is_empty() && self.agents.is_empty() && self.code.is_empty() && !self.has_plugins;
        is_free && !is_shared && !hashes_hosts
    }

    /// The part on a channel.
    fn part(&self, channel: u32, has_own_views: bool) -> Part {
        let nodes: Vec<usize> = (0..self.nodes.len()).filter(|node| self.channel_of(*node) == channel).collect();
        let place_of = |node: usize| nodes.binary_search(&node).ok();
        let inside = |node: usize| place_of(node).expect("an access point has the channel of its stations");
        // The access points come first, and have the numbers of their BSSs.
        let aps = nodes.partition_point(|node| *node < self.bss.len());
        let mut bss: Vec<_> = nodes[..aps].iter().map(|ap| self.bss[*ap].clone()).collect();
        for bss in &mut bss {
            bss.config.channel = 0;
            bss.config.ap = NodeId(inside(bss.config.ap.index()) as u32);
        }
        let mut specs: Vec<_> = nodes.iter().map(|node| self.nodes[*node].clone()).collect();
        for spec in &mut specs {
            spec.config.bss = inside(spec.config.bss as usize) as u32;
        }
        let flows: Vec<usize> =
            (0..self.flows.len()).filter(|flow| place_of(self.flows[*flow].station.index()).is_some()).collect();
        let flow_of = |flow: &usize| {
            let mut spec = self.flows[*flow].clone();
            spec.station = NodeId(inside(spec.station.index()) as u32);
            spec
        };
        let links: Vec<usize> =
            nodes[aps..].iter().map(|station| self.uplink(*station)).flat_map(|up| [up, up + 1]).collect();
        let hidden = self.hidden.iter().filter_map(|(a, b)| Some((place_of(*a)?, place_of(*b)?)));
        let numbers = |of: &[usize]| of.iter().map(|place| *place as u32).collect();
        Part {
            places: Places {
                flows: numbers(&flows),
                nodes: numbers(&nodes),
                links: numbers(&links),
                channels: vec![channel],
            },
            scenario: Arc::new(ResolvedScenario {
                bss,
                nodes: specs,
                flows: flows.iter().map(flow_of).collect(),
                links: links.iter().map(|link| self.links[*link].clone()).collect(),
                hidden: hidden.collect(),
                has_own_views,
                description: self.description.clone(),
                wires: self.wires.clone(),
                interferers: self.interferers.clone(),
                defaults: Vec::new(),
                warnings: Vec::new(),
                command_at: None,
                code: Vec::new(),
                folder: self.folder.clone(),
                has_plugins: false,
                parts: Kept::default(),
                changes: Vec::new(),
                agents: Vec::new(),
                turned: Turned::default(),
                elsewhere: Vec::new(),
            }),
        }
    }
}
