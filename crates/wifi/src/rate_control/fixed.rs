//! One mode for every frame and every retry, named by its rate or its MCS.
//!
//! Among several modes of a rate, it uses the one with the fewest streams, then the narrowest, then the one with the
//! longest guard interval. MCSs count as in [`Phy::mode_of_mcs`](crate::phy::Phy::mode_of_mcs).

use lasthop_registry::{Fault, ParamError};
use lasthop_units::DataRate;

use super::interface::{FrameInfo, PeerModes, RateControl, TxStatus};
use super::ladder::simplest;
use super::rate_chain::RateChain;
use crate::phy::{ModeId, list_rates};

lasthop_registry::params! {
    /// Parameters.
    pub struct Params {
        /// The rate; default: the highest of the peer.
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
        let mode = match (params.rate, params.mcs) {
            (Some(rate), _) => of_rate(rate, peer, &format!("{path}.rate"))?,
            (None, Some(mcs)) => of_mcs(mcs, peer, path)?,
            (None, None) => *simplest(peer).last().expect("a peer has at least one mode"),
        };
        Ok(Fixed(RateChain::single(mode, u8::MAX)))
    }
}

/// The mode of a rate; `path` is the place of the rate in the scenario.
pub(super) fn of_rate(rate: DataRate, peer: &PeerModes, path: &str) -> Result<ModeId, ParamError> {
    let name = peer.phy.standard().name();
    simplest(peer).into_iter().find(|m| peer.phy.mode(*m).has_rate(rate)).ok_or_else(|| {
        let message = (format!("{rate} is not among the rates of this {name} link"), format!("it has {}", rates(peer)));
        ParamError::new(path, message)
    })
}

fn of_mcs(mcs: u8, peer: &PeerModes, path: &str) -> Result<ModeId, ParamError> {
    let error = |fault: Fault| ParamError::new(format!("{path}.mcs"), fault);
    let mode = peer.phy.mode_of_mcs(mcs).map_err(error)?;
    if !peer.modes.contains(&mode) {
        let rate = peer.phy.mode(mode).rate;
        let known = format!("it has {}", rates(peer));
        return Err(error((format!("MCS {mcs}, {rate}, is not among the rates of this link"), known).into()));
    }
    Ok(mode)
}

fn rates(peer: &PeerModes) -> String {
    list_rates(simplest(peer).iter().map(|m| peer.phy.mode(*m)))
}

impl RateControl for Fixed {
    fn rates_for(&mut self, _frame: &FrameInfo) -> RateChain {
        self.0
    }
    fn on_tx_status(&mut self, _status: &TxStatus) {}
}

#[cfg(test)]
mod tests {
    use super::super::tests::{frame, peer, phy, phy_with_mcs, rate};
    use super::super::{RateControlKind, fixed};
    use crate::phy::{ChannelWidth, GuardInterval};

    fn built(standard: &str, params: fixed::Params) -> Result<f64, String> {
        let phy = phy(standard);
        let built = RateControlKind::Fixed(params).build(&peer(&phy), "bss.rate_control");
        built.map(|mut control| rate(&mut *control, &phy)).map_err(|e| e.to_string())
    }
    fn of_rate(mbps: u64) -> fixed::Params {
        fixed::Params { rate: Some(lasthop_units::DataRate::from_100kbps(mbps * 10)), ..fixed::Params::default() }
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
    fn an_mcs_and_a_rate_name_the_same_mode() {
        let phy = phy_with_mcs("802.11n", ChannelWidth::Mhz40, GuardInterval::Short);
        let mode = |params| {
            let mut control = RateControlKind::Fixed(params).build(&peer(&phy), "bss.rate_control").unwrap();
            let mode = phy.mode(control.rates_for(&frame(0)).first());
            (mode.mcs_index(), mode.rate.as_mbps_f64())
        };
        assert_eq!(mode(fixed::Params { mcs: Some(15), ..fixed::Params::default() }), (Some(15), 300.0));
        assert_eq!(mode(of_rate(300)), (Some(15), 300.0));
        // 150 Mbit/s: MCS 7 with the short guard interval has one stream less than any other.
        assert_eq!(mode(of_rate(150)), (Some(7), 150.0));
        assert_eq!(mode(fixed::Params::default()), (Some(15), 300.0));
    }

    #[test]
    fn an_mcs_is_refused_where_there_is_none() {
        assert_eq!(
            built("802.11b", fixed::Params { mcs: Some(7), ..fixed::Params::default() }).unwrap_err(),
            "bss.rate_control.mcs: 802.11b has no MCS; write rate = \"…\" with one of 1, 2, 5.5, 11 Mbit/s"
        );
    }
}
