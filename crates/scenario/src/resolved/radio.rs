//! What a scenario says about the air: who hears whom and how loud, and the rate controls that depend on it.

use lasthop_engine::Stream;
use lasthop_registry::{ParamError, Switch};
use lasthop_units::Dbm;
use lasthop_wifi::rate_control::{PeerModes, RateControl};
use lasthop_wifi::{AfterLoss, Capture, CcaLevels, Channel, Matrix};

use super::ResolvedScenario;
use super::nodes::LinkRateControl;
use crate::description::Compat;

impl ResolvedScenario {
    pub(crate) fn is_fixed_rate(&self, link: usize) -> bool {
        self.links[link].kind.name() == "fixed"
    }

    /// A fresh rate control for each link.
    pub(crate) fn rate_controls(&self, run_seed: u64) -> Result<Vec<Box<dyn RateControl>>, ParamError> {
        let channel = &self.description.channel;
        let build = |(index, link): (usize, &LinkRateControl)| {
            let (tx, rx) = self.ends(index);
            let phy = self.phy_of(tx);
            let ends = format!("{} {}", self.nodes[tx].name, self.nodes[rx].name);
            let seed = Stream::named(run_seed, "rate_control", &ends).bits();
            let peer = PeerModes {
                phy,
                modes: phy.allowed_modes(),
                received: self.received_power(tx, rx),
                noise_figure: channel.noise_figure,
                error_model: &channel.error_model,
                seed,
            };
            link.kind.build(&peer, &link.path)
        };
        self.links.iter().enumerate().map(build).collect()
    }

    fn received_power(&self, tx: usize, rx: usize) -> Dbm {
        if self.hidden.contains(&(tx.min(rx), tx.max(rx))) {
            return Dbm(f64::NEG_INFINITY);
        }
        if self.channel_of(tx) != self.channel_of(rx) {
            return Dbm(f64::NEG_INFINITY);
        }
        let (from, to) = (&self.nodes[tx], &self.nodes[rx]);
        let loss =
            self.description.channel.path_loss.law().loss(from.position, to.position, self.phy_of(tx).frequency_hz());
        from.tx_power - loss
    }

    /// Who hears whom: one shared view where nothing distinguishes the nodes, else a matrix.
    pub(crate) fn channel(&self) -> Channel {
        let channel = &self.description.channel;
        let distinct = !self.hidden.is_empty()
            || channel.capture.as_option().is_some()
            || channel.error_model.name() != "none"
            || !self.everybody_hears_everybody();
        if !distinct {
            let group = (0..self.nodes.len()).map(|node| self.channel_of(node)).collect();
            return Channel::Uniform { group };
        }
        let levels = CcaLevels { preamble: channel.cca_preamble, energy: channel.cca_energy };
        Channel::Matrix(Matrix::new(self.nodes.len(), levels, |tx, rx| self.received_power(tx.index(), rx.index())))
    }

    /// The channel that a node is on, counted from 0.
    fn channel_of(&self, node: usize) -> u32 {
        self.bss[self.nodes[node].config.bss as usize].config.channel
    }

    fn everybody_hears_everybody(&self) -> bool {
        if self.description.channel.path_loss.name() == "none" {
            // All powers are the transmit powers themselves.
            return self.nodes.iter().all(|n| n.tx_power >= self.weakest_useful());
        }
        let weakest = self.weakest_useful();
        let pairs = |rx: usize| (0..rx).flat_map(move |tx| [(tx, rx), (rx, tx)]);
        (0..self.nodes.len())
            .flat_map(pairs)
            .all(|(tx, rx)| self.channel_of(tx) != self.channel_of(rx) || self.received_power(tx, rx) >= weakest)
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

    pub(super) fn find_warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        for station in self.bss.len()..self.nodes.len() {
            let (_, ap) = self.ends(self.uplink(station));
            let modes = self.phy_of(station).modes().iter();
            let lowest = modes.map(|m| m.sensitivity.0).fold(f64::INFINITY, f64::min);
            let power = self.received_power(station, ap).0.min(self.received_power(ap, station).0);
            let name = &self.nodes[station].name;
            if power == f64::NEG_INFINITY {
                warnings.push(format!("station {name} is hidden from its access point: nothing passes between them"));
            } else if power < lowest {
                warnings.push(format!(
                    "station {name} and its access point hear one another at {power:.1} dBm, below the sensitivity of every rate"
                ));
            }
        }
        if self.flows.is_empty() {
            warnings.push("there is no [[flow]]: nothing will be sent".into());
        }
        for flow in &self.flows {
            warnings.extend(flow.tcp.config.warning().map(|text| format!("flow {}: {text}", flow.id)));
        }
        if self.first_bss().compat == Compat::Ns3 {
            warnings.push(
                "compat = \"ns3\" departs from the standard: bystanders of a collision wait DIFS, not EIFS".into(),
            );
        }
        warnings
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
