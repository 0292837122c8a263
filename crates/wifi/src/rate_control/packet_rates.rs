//! Rates that a host sets for each packet, as a driver of mac80211 gets them: the rate control is the host's own.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::interface::{FrameInfo, RateControl, TxStatus};
use super::rate_chain::RateChain;
use crate::phy::ModeId;

/// The chains of rates of packets, by their numbers. Its clones are one and the same.
#[derive(Clone, Debug, Default)]
pub struct PacketRates(Arc<Mutex<BTreeMap<u32, RateChain>>>);

impl PacketRates {
    /// Gives the packet of this number a chain, which is used from its start again once it is used up.
    pub fn give(&self, packet: u32, chain: RateChain) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(packet, chain);
    }
    /// Forgets the chain of a packet.
    pub fn forget(&self, packet: u32) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&packet);
    }
    /// A rate control that uses these chains; `otherwise` is the mode of packets without one.
    pub fn control(&self, otherwise: ModeId) -> Box<dyn RateControl> {
        Box::new(ByPacket { rates: self.clone(), otherwise })
    }
    fn chain(&self, packet: u32) -> Option<RateChain> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&packet).copied()
    }
}

struct ByPacket {
    rates: PacketRates,
    otherwise: ModeId,
}

impl RateControl for ByPacket {
    fn rates_for(&mut self, frame: &FrameInfo) -> RateChain {
        self.rates.chain(frame.packet).unwrap_or(RateChain::single(self.otherwise, 1))
    }
    // The host learns of each attempt by itself.
    fn on_tx_status(&mut self, _: &TxStatus) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate_control::tests::frame;

    #[test]
    fn each_packet_has_its_own_chain_until_it_is_forgotten() {
        let rates = PacketRates::default();
        let mut control = rates.control(ModeId(0));
        let chain = RateChain::single(ModeId(5), 2).then(ModeId(1), 3);
        rates.give(7, chain);
        assert_eq!(control.rates_for(&FrameInfo { packet: 7, ..frame(0) }), chain);
        assert_eq!(control.rates_for(&FrameInfo { packet: 8, ..frame(0) }), RateChain::single(ModeId(0), 1));
        rates.forget(7);
        assert_eq!(control.rates_for(&FrameInfo { packet: 7, ..frame(0) }), RateChain::single(ModeId(0), 1));
    }
}
