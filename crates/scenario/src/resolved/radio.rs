//! The air of a scenario: received powers, and the rate controls that depend on them.

use std::sync::Arc;

use lasthop_engine::Stream;
use lasthop_observe::NodeId;
use lasthop_registry::{ParamError, Switch};
use lasthop_units::{Bytes, Dbm, Time};
use lasthop_wifi::phy::error_model::{Direction, FrameKind, ReceivedFrame};
use lasthop_wifi::phy::fading::Antenna;
use lasthop_wifi::phy::{Mode, ModeId, Phy};
use lasthop_wifi::rate_control::{FrameInfo, PeerModes, RateControl, RateControlKind, ideal};
use lasthop_wifi::{AccessCategory, AfterLoss, Capture, CcaLevels, Channel, Matrix, Movement, TxopProtection};

use super::ResolvedScenario;
use super::defaults::chosen;
use super::flows::FlowSpec;
use super::nodes::{LinkRateControl, NodeSpec};
use super::space::Space;
use super::wording::{alike, named};
use crate::description::Compat;
use crate::diagnostic::{Diagnostic, Origin};

/// A typical frame, for a rate control's first decision.
pub(super) const FULL_PACKET: FrameInfo =
    FrameInfo { now: Time::ZERO, bytes: Bytes(1500), aggregates: false, retry: 0, packet: 0 };

/// The reason why a station and its AP cannot communicate.
struct Reach {
    /// the lower of the two received powers
    power: Dbm,
    problem: String,
}

impl ResolvedScenario {
    pub(crate) fn is_fixed_rate(&self, link: usize) -> bool {
        self.links[link].kind.is_constant()
    }

    /// A fresh rate control for each link.
    pub(crate) fn rate_controls(&self, run_seed: u64) -> Result<Vec<Box<dyn RateControl>>, ParamError> {
        let space = self.space_of_run(run_seed);
        let build = |(index, link): (usize, &LinkRateControl)| {
            link.kind.build(&self.peer(&space, index, self.rate_seed(index, run_seed)), &link.path)
        };
        self.links.iter().enumerate().map(build).collect()
    }

    /// A fresh rate control of this kind for one link.
    pub(super) fn rate_control(
        &self,
        link: usize,
        kind: &RateControlKind,
        run_seed: u64,
    ) -> Result<Box<dyn RateControl>, ParamError> {
        let space = self.space_of_run(run_seed);
        kind.build(&self.peer(&space, link, self.rate_seed(link, run_seed)), &self.links[link].path)
    }

    /// The seed of the draws of a link's rate control.
    fn rate_seed(&self, link: usize, run_seed: u64) -> u64 {
        let (tx, rx) = self.ends(link);
        let ends = format!("{} {}", self.nodes[tx].name, self.nodes[rx].name);
        Stream::named(run_seed, "rate_control", &ends).bits()
    }

    /// For each link a rate control that knows the signal and chooses the best mode.
    pub(crate) fn ideal_rate_controls(&self) -> Vec<Box<dyn RateControl>> {
        let space = self.space();
        // Links with the same modes have the same needs.
        let mut needs: Vec<(usize, &[ModeId], ideal::Needs)> = Vec::new();
        let build = |index| -> Box<dyn RateControl> {
            let (peer, bss) = (self.peer(&space, index, 0), self.nodes[self.ends(index).0].config.bss as usize);
            let known = needs.iter().position(|(of, modes, _)| *of == bss && *modes == peer.modes);
            let place = known.unwrap_or_else(|| {
                needs.push((bss, peer.modes, ideal::Needs::new(&ideal::Params::default(), &peer)));
                needs.len() - 1
            });
            Box::new(needs[place].2.control(&peer))
        };
        (0..self.links.len()).map(build).collect()
    }

    /// The modes of data on a link.
    pub(super) fn modes_of_link(&self, link: usize) -> &[ModeId] {
        let station = &self.nodes[self.bss.len() + link / 2];
        let of_bss = self.bss[station.config.bss as usize].config.phy.allowed_modes();
        station.modes.as_deref().unwrap_or(of_bss)
    }

    /// The state that the sender of a link knows of its peer at the start.
    fn peer(&self, space: &Space, link: usize, seed: u64) -> PeerModes<'_> {
        let (tx, rx) = self.ends(link);
        let (phy, channel) = (self.phy_of(tx), &self.description.channel);
        PeerModes {
            phy,
            modes: self.modes_of_link(link),
            received: space.mean_power(Time::ZERO, tx, rx),
            noise_figure: channel.noise_figure,
            error_model: chosen(&channel.error_model),
            seed,
        }
    }

    /// The channel: one shared view if nothing distinguishes the nodes, else a matrix.
    pub(crate) fn channel(&self, seed: u64) -> Channel {
        let channel = &self.description.channel;
        let mut space = self.space_of_run(seed);
        if !self.has_own_views(&space) {
            let group = (0..self.nodes.len()).map(|node| self.channel_of(node)).collect();
            return Channel::Uniform { group };
        }
        if self.turned.channels {
            // Any two nodes may meet on a channel.
            space.nodes.iter_mut().for_each(|node| node.channel = 0);
        }
        let levels = CcaLevels { preamble: channel.cca_preamble, energy: channel.cca_energy };
        let at_start = |tx: NodeId, rx: NodeId| space.mean_power(Time::ZERO, tx.index(), rx.index());
        let matrix = Matrix::new(self.nodes.len(), levels, at_start);
        let fading = channel.fading.build(&self.antennas(), channel.spread(), seed);
        let interval = channel.position_interval.filter(|_| space.has_movement());
        let movement = interval.map(|interval| (Arc::new(space) as Arc<dyn Movement>, interval));
        let matrix = matrix.varying(fading, movement);
        let matrix = if self.turned.powers { matrix.with_turned_powers() } else { matrix };
        let start = (0..self.nodes.len()).map(|node| self.channel_of(node));
        Channel::Matrix(if self.turned.channels { matrix.with_turned_channels(start) } else { matrix })
    }

    /// The nodes as fading knows them.
    fn antennas(&self) -> Vec<Antenna<'_>> {
        let antenna = |index: usize| {
            let NodeSpec { name, way, .. } = &self.nodes[index];
            let phy = self.phy_of(index);
            let (frequency_hz, bandwidth_hz, antennas) =
                (phy.frequency_hz(), phy.bandwidth_hz(), phy.spatial_streams());
            Antenna { name, way, frequency_hz, bandwidth_hz, antennas }
        };
        (0..self.nodes.len()).map(antenna).collect()
    }

    /// Whether BSSs of one channel have different widths round their primary channel.
    pub(super) fn widths_differ(&self) -> bool {
        lasthop_wifi::widths_differ(self.bss.iter().map(|bss| &bss.config))
    }

    /// Whether each node has a view of its own of the medium.
    pub(super) fn has_own_views(&self, space: &Space) -> bool {
        // The NAV of a TXOP, which its holder does not have, needs views of their own.
        let reserves = || self.bss.iter().any(|bss| bss.config.txop_protection == TxopProtection::Multiple);
        self.has_own_views
            || self.turned.any()
            || self.widths_differ()
            || reserves()
            || !self.interferers.is_empty()
            || !self.hidden.is_empty()
            || self.powers_matter()
            || space.has_movement()
    }

    /// Whether signal powers make a difference.
    pub(super) fn powers_matter(&self) -> bool {
        let channel = &self.description.channel;
        channel.capture.as_option().is_some()
            || !chosen(&channel.error_model).is_without_errors()
            || self.has_own_losses()
            || channel.fading.is_on()
            || !self.interferers.is_empty()
            || channel.shadowing().is_some()
            || !self.everybody_hears_everybody(&self.space())
    }

    /// The channel that a node is on, counted from 0.
    pub(super) fn channel_of(&self, node: usize) -> u32 {
        self.bss[self.nodes[node].config.bss as usize].config.channel
    }

    fn everybody_hears_everybody(&self, space: &Space) -> bool {
        if !chosen(&self.description.channel.path_loss).weakens() {
            // All received powers are the transmit powers themselves.
            return self.nodes.iter().all(|n| n.tx_power >= self.weakest_useful());
        }
        space.all_hear(self.weakest_useful())
    }

    /// The power at which every mode is decoded and carrier sense works.
    fn weakest_useful(&self) -> Dbm {
        let modes = self.bss.iter().flat_map(|bss| bss.config.phy.modes());
        let sensitivity = modes.map(|m| m.sensitivity.0).fold(f64::NEG_INFINITY, f64::max);
        Dbm(sensitivity.max(self.description.channel.cca_preamble.0))
    }

    pub(crate) fn after_loss(&self) -> AfterLoss {
        match (self.first_bss().eifs, self.first_bss().compat) {
            (false, _) => AfterLoss::DifsForAll,
            (true, Compat::Ns3) => AfterLoss::NoEifs,
            (true, Compat::None) => AfterLoss::Standard,
        }
    }

    /// `controls`: fresh ones; `geometry`: keys of the file that give places.
    pub(super) fn find_warnings(&self, controls: Vec<Box<dyn RateControl>>, geometry: &[String]) -> Vec<Diagnostic> {
        let mut warnings = Vec::new();
        let space = self.space();
        let fixed = self.fixed_modes(controls);
        let stations = self.bss.len()..self.nodes.len();
        warnings.extend(self.warnings_of_reach(stations.filter_map(|s| Some((s, self.reach(&space, s, &fixed)?)))));
        warnings.extend(self.warning_of_space(geometry));
        warnings.extend(self.warnings_of_categories());
        if self.flows.is_empty() {
            warnings.push(Diagnostic::warning("there is no [[flow]]: nothing will be sent", &[]));
        }
        warnings.extend(self.cautions_of_powers());
        warnings.extend(self.cautions_of_queues(&fixed));
        warnings.extend(self.caution_of_quic_acks());
        warnings.extend(self.caution_of_accurate_acks());
        if self.first_bss().compat == Compat::Ns3 {
            warnings.push(Diagnostic::warning(
                "compat = \"ns3\" departs from the standard: bystanders of a collision wait DIFS, not EIFS, its senders another DIFS after their ACK timeouts; TXOP limits of best effort and background are zero, and a BlockAckReq follows an A-MPDU without answer; who missed the preamble of an OFDM PPDU notices it from the level of preambles on; reports of queues come in QoS Nulls alone and are forgotten after 20 ms",
                &[],
            ));
        }
        warnings
    }

    /// The mode of each link with a fixed rate.
    fn fixed_modes(&self, controls: Vec<Box<dyn RateControl>>) -> Vec<Option<ModeId>> {
        let mode = |(link, mut control): (usize, Box<dyn RateControl>)| {
            self.is_fixed_rate(link).then(|| control.rates_for(&FULL_PACKET).first())
        };
        controls.into_iter().enumerate().map(mode).collect()
    }

    /// Access categories that have parameters of their own and no flow.
    fn warnings_of_categories(&self) -> Vec<Diagnostic> {
        let mut warnings = Vec::new();
        for (index, bss) in self.bss.iter().enumerate() {
            let of_bss = |f: &&FlowSpec| self.nodes[f.station.index()].config.bss as usize == index;
            for category in &bss.named_categories {
                let served = |f: &FlowSpec| AccessCategory::of_tid(f.user_priority()) == *category;
                if !self.flows.iter().filter(of_bss).any(served) {
                    let (path, word) = (&bss.path, category.word());
                    let unused = ("no flow is of this access category", "give one a dscp");
                    let key = format!("{path}.edca.{word}");
                    warnings.push(Diagnostic::new(Origin::Nowhere, key, unused).as_warning());
                }
            }
        }
        warnings
    }

    /// One warning covers all stations with the same problem.
    fn warnings_of_reach(&self, found: impl Iterator<Item = (usize, Reach)>) -> Vec<Diagnostic> {
        let found: Vec<(usize, Reach)> = found.collect();
        let stations = self.nodes.len() - self.bss.len();
        let said = found.iter().map(|(station, reach)| (self.nodes[*station].name.as_str(), reach.problem.clone()));
        let sentence = |(problem, names): (String, Vec<&str>)| {
            let powers = || found.iter().filter(|(_, reach)| reach.problem == problem).map(|(_, reach)| reach.power.0);
            let (least, most) = (powers().fold(f64::INFINITY, f64::min), powers().fold(f64::NEG_INFINITY, f64::max));
            let who = named("station", &names, stations);
            let (ap, verb) = match (names.len(), self.bss.len()) {
                (1, _) => ("its access point", "is"),
                (_, 1) => ("their access point", "are"),
                _ => ("their access points", "are"),
            };
            if most == f64::NEG_INFINITY {
                return Diagnostic::warning(format!("{who} {verb} hidden from {ap}{problem}"), &names);
            }
            let range = if most - least < 0.05 { String::new() } else { format!("{least:.1} to ") };
            Diagnostic::warning(format!("{who} and {ap} hear each other at {range}{most:.1} dBm, {problem}"), &names)
        };
        alike(said).into_iter().map(sentence).collect()
    }

    /// The problem, if a station and its AP cannot communicate from their initial places.
    fn reach(&self, space: &Space, station: usize, fixed: &[Option<ModeId>]) -> Option<Reach> {
        let uplink = self.uplink(station);
        let (_, ap) = self.ends(uplink);
        let [up, down] = [(station, ap), (ap, station)].map(|(tx, rx)| space.mean_power(Time::ZERO, tx, rx));
        let weaker = if up < down { up } else { down };
        let because = |problem: String| Some(Reach { power: weaker, problem });
        if weaker.0 == f64::NEG_INFINITY {
            return because(": nothing passes between them".into());
        }
        if weaker < self.description.channel.cca_preamble {
            let level = self.description.channel.cca_preamble;
            return because(format!("below the {level} at which a preamble is received: nothing passes between them"));
        }
        let phy = self.phy_of(station);
        if self.success_of(phy, weaker, self.modes_of_link(uplink)) < 0.01 {
            return because("too weak for every rate: nothing passes between them".into());
        }
        for (link, received, way) in [(uplink, up, "up"), (uplink + 1, down, "down")] {
            if let Some(mode) = fixed[link]
                && self.success_of(phy, received, &[mode]) < 0.01
            {
                let rate = phy.mode(mode).rate;
                return because(format!("too weak for the fixed rate of {rate}: nothing passes {way}"));
            }
        }
        None
    }

    /// The highest probability in any of `modes` that a packet of 100 bytes arrives without interference.
    fn success_of(&self, phy: &Phy, received: Dbm, modes: &[ModeId]) -> f64 {
        let mut model = chosen(&self.description.channel.error_model).build(0);
        let milliwatts = |power: Dbm| power.to_milliwatts(|x| libm::pow(10.0, x)).0;
        let success = |mode: &Mode| {
            if !model.needs_sinr() {
                return if received >= mode.sensitivity { 1.0 } else { 0.0 };
            }
            let (at, kind, direction) = (Time::ZERO, FrameKind::Data, Direction::Up);
            let sinr = milliwatts(received) / (self.noise_mw_per_hz() * mode.bandwidth_hz);
            model.success_probability(&ReceivedFrame { at, mode, kind, direction, link: 0, bits: 800, sinr })
        };
        modes.iter().map(|&id| phy.mode(id)).map(success).fold(0.0, f64::max)
    }

    pub(crate) fn noise_mw_per_hz(&self) -> f64 {
        let density = lasthop_wifi::phy::noise::noise_floor(1.0, self.description.channel.noise_figure);
        density.to_milliwatts(|x| libm::pow(10.0, x)).0
    }

    pub(crate) fn capture(&self) -> Switch<Capture> {
        match &self.description.channel.capture {
            Switch::Off => Switch::Off,
            Switch::On(capture) => Switch::On(Capture { threshold: capture.threshold, late: capture.late }),
        }
    }
}
