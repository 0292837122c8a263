//! The best mode for the signal strength, known without probing.
//!
//! Each mode needs some SNR, found beforehand. If the error model uses the SINR, it is the SNR at which a bit is lost
//! with `bit_error_rate`; otherwise it is the sensitivity of the mode over the noise. Either is an SNR within the
//! bandwidth of the PHY, as for reported signals: a mode of half that bandwidth lets in half the noise. The highest
//! rate whose need is met is used, or the lowest if none is. Each acknowledgement with an SNR replaces the one known at
//! the start. It is an idealisation: real receivers do not report their SNR, and collisions do not mislead this
//! algorithm.

use std::sync::Arc;

use lasthop_units::{Db, Probability, Time};

use super::interface::{FrameInfo, PeerModes, RateControl, TxStatus};
use super::ladder::ladder;
use super::rate_chain::RateChain;
use crate::phy::error_model::{Direction, FrameKind, ReceivedFrame};
use crate::phy::noise::noise_floor;
use crate::phy::{Mode, ModeId};

lasthop_registry::params! {
    /// Parameters.
    pub struct Params {
        /// Largest accepted bit error probability; 1e-5 loses one frame of 1000 bytes in thirteen.
        pub bit_error_rate: Probability = const { Probability::of(1e-5) },
    }
}

/// The rate control.
pub struct Ideal {
    needs: Needs,
    chosen: ModeId,
}

/// The modes of a peer, sorted by rate, with the SNR that each needs: the same for all peers with these modes, error
/// model and noise figure.
#[derive(Clone)]
pub struct Needs(Arc<[(ModeId, Db)]>);

impl Needs {
    /// The needs for `peer`.
    pub fn new(params: &Params, peer: &PeerModes) -> Needs {
        Needs(ladder(peer).iter().map(|&m| (m, needed_snr(params, peer, peer.phy.mode(m)))).collect())
    }

    /// The rate control for `peer`, with these needs.
    pub fn control(&self, peer: &PeerModes) -> Ideal {
        let snr = peer.received - noise_floor(peer.phy.bandwidth_hz(), peer.noise_figure);
        Ideal { chosen: choose(&self.0, snr), needs: self.clone() }
    }
}

impl Ideal {
    pub(super) fn new(params: &Params, peer: &PeerModes) -> Ideal {
        Needs::new(params, peer).control(peer)
    }
}

/// The highest mode whose need is met.
fn choose(needs: &[(ModeId, Db)], snr: Db) -> ModeId {
    let met = needs.iter().rev().find(|(_, need)| *need <= snr);
    met.unwrap_or(&needs[0]).0
}

/// The SNR within the PHY's bandwidth at which `mode` is good enough, to a thousandth of a dB.
fn needed_snr(params: &Params, peer: &PeerModes, mode: &Mode) -> Db {
    // Models that use the SINR draw no random numbers, so any seed will do.
    let mut model = peer.error_model.build(0);
    if !model.needs_sinr() {
        return mode.sensitivity - noise_floor(peer.phy.bandwidth_hz(), peer.noise_figure);
    }
    let mut good = |snr_db: f64| {
        let sinr = libm::pow(10.0, snr_db / 10.0);
        let (kind, direction) = (FrameKind::Data, Direction::Up);
        let bit = ReceivedFrame { at: Time::ZERO, mode, kind, direction, link: 0, bits: 1, sinr };
        1.0 - model.success_probability(&bit) <= params.bit_error_rate.get()
    };
    let (mut low, mut high) = (-30.0, 60.0);
    while high - low > 1e-3 {
        let middle = (low + high) / 2.0;
        if good(middle) { high = middle } else { low = middle }
    }
    let wider = 10.0 * libm::log10(mode.bandwidth_hz / peer.phy.bandwidth_hz());
    Db(high + wider)
}

impl RateControl for Ideal {
    fn rates_for(&mut self, _frame: &FrameInfo) -> RateChain {
        RateChain::single(self.chosen, u8::MAX)
    }
    fn on_tx_status(&mut self, status: &TxStatus) {
        if let Some(snr) = status.snr {
            self.chosen = choose(&self.needs.0, snr);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{peer, phy, rate, status};
    use super::super::{RateControlKind, ideal};
    use super::*;
    use crate::phy::error_model::{ErrorModelKind, nist};
    use lasthop_units::Dbm;

    fn ideal_rate(standard: &str, error_model: &ErrorModelKind, received: f64) -> f64 {
        let phy = phy(standard);
        let peer = PeerModes { received: Dbm(received), error_model, ..peer(&phy) };
        let kind = RateControlKind::Ideal(ideal::Params::default());
        rate(&mut *kind.build(&peer, "rate_control").unwrap(), &phy)
    }
    fn none() -> ErrorModelKind {
        ErrorModelKind::None(crate::phy::error_model::none::Params {})
    }
    fn nist() -> ErrorModelKind {
        ErrorModelKind::Nist(nist::Params {})
    }

    #[test]
    fn without_an_error_model_the_sensitivities_decide() {
        let rates = [-64.9, -65.1, -74.0, -74.1, -82.0, -95.0].map(|p| ideal_rate("802.11a", &none(), p));
        assert_eq!(rates, [54.0, 48.0, 24.0, 18.0, 6.0, 6.0]);
    }

    #[test]
    fn with_an_error_model_every_bit_is_safe_and_the_next_mode_would_not_be() {
        let phy = phy("802.11a");
        let mut model = nist().build(0);
        for received in -95..-60 {
            let chosen = ideal_rate("802.11a", &nist(), f64::from(received));
            let snr = Dbm(f64::from(received)) - noise_floor(20e6, Db(7.0));
            let mut loss = |mode: &Mode| {
                let sinr = libm::pow(10.0, snr.0 / 10.0);
                let (kind, direction) = (FrameKind::Data, Direction::Up);
                1.0 - model.success_probability(&ReceivedFrame {
                    at: Time::ZERO,
                    mode,
                    kind,
                    direction,
                    link: 0,
                    bits: 1,
                    sinr,
                })
            };
            for mode in phy.modes() {
                let rate = mode.rate.as_mbps_f64();
                assert!(rate <= chosen || loss(mode) > 0.99e-5, "{received} dBm: {chosen}");
                assert!(rate != chosen || rate == 6.0 || loss(mode) <= 1.01e-5, "{received} dBm: {chosen}");
            }
        }
    }

    #[test]
    fn acknowledgement_with_snr_changes_the_mode() {
        let phy = phy("802.11a");
        let kind = RateControlKind::Ideal(ideal::Params::default());
        let mut control = kind.build(&peer(&phy), "rate_control").unwrap();
        assert_eq!(rate(&mut *control, &phy), 54.0);
        let status = status(Time::ZERO, ModeId(7), true, Some(Db(5.0)));
        control.on_tx_status(&status);
        // -82 dBm over -93.99 dBm is 11.99 dB: not even 6 Mbit/s, which is then the lowest left.
        assert_eq!(rate(&mut *control, &phy), 6.0);
        control.on_tx_status(&TxStatus { snr: None, ..status });
        assert_eq!(rate(&mut *control, &phy), 6.0);
    }
}
