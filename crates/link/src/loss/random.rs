//! Packets are lost by chance, each independently of all others.

use lasthop_registry::{ParamError, params, words};
use lasthop_units::Probability;

use crate::PacketMeta;

words! {
    /// Packets that may be lost.
    pub enum Only {
        /// all
        All = "all",
        /// TCP segments that carry nothing but an acknowledgement
        PureAcks = "pure_acks",
        /// all others
        Data = "data",
    }
}

words! {
    /// Direction in which packets are lost.
    pub enum Way {
        /// both
        Both = "both",
        /// towards the server
        Up = "up",
        /// towards the AP
        Down = "down",
    }
}

impl Only {
    pub(super) fn includes(self, packet: &PacketMeta) -> bool {
        match self {
            Only::All => true,
            Only::PureAcks => packet.pure_ack,
            Only::Data => !packet.pure_ack,
        }
    }
}

impl Way {
    pub(super) fn includes(self, up: bool) -> bool {
        match self {
            Way::Both => true,
            Way::Up => up,
            Way::Down => !up,
        }
    }
}

params! {
    /// Parameters of `random`.
    pub struct Params {
        /// Share of the packets that are lost, from 0 to below 1.
        pub share: Probability = Probability::ZERO,
        /// Packets that may be lost: "all", "pure_acks" or "data" (all others).
        pub only: Only = Only::All,
        /// Direction of the losses: "both", "up" (to the server) or "down".
        pub direction: Way = Way::Both,
    }
    check |this, path| {
        if this.share == Probability::ONE {
            return Err(ParamError::new(format!("{path}.share"), ("a wire that loses every packet carries nothing", "give a share below 1")));
        }
        Ok(())
    }
}
