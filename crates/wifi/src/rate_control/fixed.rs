//! One mode for every frame and every retry.

use lasthop_registry::ParamError;
use lasthop_units::DataRate;

use super::{FrameInfo, PeerModes, RateChain, RateControl, TxStatus};
use crate::phy::list_rates;

lasthop_registry::params! {
    /// Parameters.
    pub struct Params {
        /// The rate; the highest of the peer's where nothing is said.
        pub rate: Option<DataRate> = None,
        /// The same as the index of a modulation and coding scheme, for 802.11n and later.
        pub mcs: Option<u8> = None,
    }
    check |this, path| {
        if this.rate.is_some() && this.mcs.is_some() {
            return Err(ParamError::new(path, "\"fixed\" takes a rate or an mcs, not both"));
        }
        Ok(())
    }
}

/// The rate control.
pub struct Fixed(RateChain);

impl Fixed {
    pub(super) fn new(params: &Params, peer: &PeerModes, path: &str) -> Result<Fixed, ParamError> {
        let name = peer.phy.standard().name();
        if params.mcs.is_some() {
            let message = format!("{name} has no MCS; write rate = \"…\" with one of {}", rates(peer));
            return Err(ParamError::new(format!("{path}.mcs"), message));
        }
        let highest = *peer.modes.last().expect("a peer has at least one mode");
        let mode = match params.rate {
            None => highest,
            Some(rate) => peer.modes.iter().copied().find(|m| peer.phy.mode(*m).rate == rate).ok_or_else(|| {
                let message = format!("{rate} is not among the rates of this {name} link; it has {}", rates(peer));
                ParamError::new(format!("{path}.rate"), message)
            })?,
        };
        Ok(Fixed(RateChain::single(mode, u8::MAX)))
    }
}

fn rates(peer: &PeerModes) -> String {
    list_rates(peer.modes.iter().map(|m| peer.phy.mode(*m)))
}

impl RateControl for Fixed {
    fn rates_for(&mut self, _frame: &FrameInfo) -> RateChain {
        self.0
    }
    fn on_tx_status(&mut self, _status: &TxStatus) {}
}

#[cfg(test)]
mod tests {
    use super::super::tests::{peer, phy, rate};
    use super::super::{RateControlKind, fixed};

    fn built(standard: &str, params: fixed::Params) -> Result<f64, String> {
        let phy = phy(standard);
        let built = RateControlKind::Fixed(params).build(&peer(&phy), "bss.rate_control");
        built.map(|mut control| rate(&mut *control, &phy)).map_err(|e| e.to_string())
    }
    fn of_rate(mbps: u64) -> fixed::Params {
        fixed::Params { rate: Some(lasthop_units::DataRate::from_100kbps(mbps * 10)), mcs: None }
    }

    #[test]
    fn it_takes_the_rate_given_or_else_the_highest() {
        assert_eq!(built("802.11b", of_rate(2)), Ok(2.0));
        assert_eq!(built("802.11a", fixed::Params::default()), Ok(54.0));
    }

    #[test]
    fn a_rate_that_the_link_lacks_is_an_error() {
        assert_eq!(
            built("802.11b", of_rate(54)).unwrap_err(),
            "bss.rate_control.rate: 54 Mbit/s is not among the rates of this 802.11b link; it has 1, 2, 5.5, 11 Mbit/s"
        );
    }

    #[test]
    fn an_mcs_is_refused_where_there_is_none() {
        assert_eq!(
            built("802.11b", fixed::Params { rate: None, mcs: Some(7) }).unwrap_err(),
            "bss.rate_control.mcs: 802.11b has no MCS; write rate = \"…\" with one of 1, 2, 5.5, 11 Mbit/s"
        );
    }
}
