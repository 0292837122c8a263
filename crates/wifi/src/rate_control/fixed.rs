//! One mode for every frame and every retry.
//!
//! Named by its rate, or by its MCS: in 802.11n the index from 0 to 31 that counts streams, too; later that of one
//! stream, and the number of streams, the most that the peer has where nothing is said. Of the modes of a rate, that
//! with the fewest streams, the narrowest width, the longest guard interval; of those of an MCS, the fastest.

use lasthop_registry::ParamError;
use lasthop_units::DataRate;

use super::{FrameInfo, PeerModes, RateChain, RateControl, TxStatus, ladder};
use crate::phy::{ModeId, ModulationClass, list_rates};

lasthop_registry::params! {
    /// Parameters.
    pub struct Params {
        /// The rate; the highest of the peer's where nothing is said.
        pub rate: Option<DataRate> = None,
        /// The same as the index of a modulation and coding scheme, for 802.11n and later.
        pub mcs: Option<u8> = None,
        /// Spatial streams of the MCS, for 802.11ac and later.
        pub spatial_streams: Option<u8> = None,
    }
    check |this, path| {
        if this.rate.is_some() && this.mcs.is_some() {
            return Err(ParamError::new(path, "\"fixed\" takes a rate or an mcs, not both"));
        }
        if this.spatial_streams.is_some() && this.mcs.is_none() {
            return Err(ParamError::new(format!("{path}.spatial_streams"), "goes with mcs = …; add it or remove this key"));
        }
        Ok(())
    }
}

/// The rate control.
pub struct Fixed(RateChain);

impl Fixed {
    pub(super) fn new(params: &Params, peer: &PeerModes, path: &str) -> Result<Fixed, ParamError> {
        let mode = match (params.rate, params.mcs) {
            (Some(rate), _) => of_rate(rate, peer, path)?,
            (None, Some(mcs)) => of_mcs(mcs, params.spatial_streams, peer, path)?,
            (None, None) => *ladder(peer).last().expect("a peer has at least one mode"),
        };
        Ok(Fixed(RateChain::single(mode, u8::MAX)))
    }
}

fn of_rate(rate: DataRate, peer: &PeerModes, path: &str) -> Result<ModeId, ParamError> {
    let name = peer.phy.standard().name();
    ladder(peer).into_iter().find(|m| peer.phy.mode(*m).rate == rate).ok_or_else(|| {
        let message = format!("{rate} is not among the rates of this {name} link; it has {}", rates(peer));
        ParamError::new(format!("{path}.rate"), message)
    })
}

fn of_mcs(mcs: u8, streams: Option<u8>, peer: &PeerModes, path: &str) -> Result<ModeId, ParamError> {
    let name = peer.phy.standard().name();
    let modes = || peer.modes.iter().map(|m| peer.phy.mode(*m)).filter(|m| m.mcs.is_some());
    if modes().next().is_none() {
        let message = format!("{name} has no MCS; write rate = \"…\" with one of {}", rates(peer));
        return Err(ParamError::new(format!("{path}.mcs"), message));
    }
    // The index of 802.11n counts the streams. [802.11-2020 §19.5]
    let is_ht = modes().all(|m| m.class == ModulationClass::Ht);
    if let (true, Some(_)) = (is_ht, streams) {
        let message = format!("the mcs of {name} counts the streams: 8 and above have two; remove this key");
        return Err(ParamError::new(format!("{path}.spatial_streams"), message));
    }
    let most = || modes().map(|m| m.streams).max().expect("there is a mode with an MCS");
    let (index, streams) = if is_ht { (mcs % 8, mcs / 8 + 1) } else { (mcs, streams.unwrap_or_else(most)) };
    let is_it = |m: &ModeId| peer.phy.mode(*m).mcs == Some(index) && peer.phy.mode(*m).streams == streams;
    let found = peer.modes.iter().copied().filter(is_it).max_by_key(|m| peer.phy.mode(*m).rate);
    found.ok_or_else(|| {
        let highest = modes().filter_map(|m| m.mcs).max().expect("there is a mode with an MCS");
        let highest = if is_ht { 8 * (most() - 1) + highest } else { highest };
        let with = if is_ht { String::new() } else { format!(" with {streams} spatial streams") };
        let has = if is_ht { String::new() } else { format!(" with up to {} streams", most()) };
        let message = format!("this {name} link has no MCS {mcs}{with}; it has 0 to {highest}{has}");
        ParamError::new(format!("{path}.mcs"), message)
    })
}

fn rates(peer: &PeerModes) -> String {
    list_rates(ladder(peer).iter().map(|m| peer.phy.mode(*m)))
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
    fn an_mcs_is_refused_where_there_is_none() {
        assert_eq!(
            built("802.11b", fixed::Params { mcs: Some(7), ..fixed::Params::default() }).unwrap_err(),
            "bss.rate_control.mcs: 802.11b has no MCS; write rate = \"…\" with one of 1, 2, 5.5, 11 Mbit/s"
        );
    }
}
