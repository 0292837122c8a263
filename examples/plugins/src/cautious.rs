//! One mode up after some good attempts in a row, one down after a few bad ones.

use std::sync::Arc;

use lasthop_registry::{ParamError, params};
use lasthop_wifi::phy::ModeId;
use lasthop_wifi::rate_control::{FrameInfo, PeerModes, RateChain, RateControl, RateControlMaker, TxStatus};

params! {
    /// Parameters of `cautious`.
    pub struct Params {
        /// Good attempts in a row before a step up.
        pub patience: u32 = 6,
        /// Bad attempts in a row before a step down.
        pub tolerance: u32 = 3,
    }
    check |this, path| {
        match (this.patience, this.tolerance) {
            (0, _) => Err(ParamError::new(format!("{path}.patience"), "must be at least 1")),
            (_, 0) => Err(ParamError::new(format!("{path}.tolerance"), "must be at least 1")),
            _ => Ok(()),
        }
    }
}

/// Makes a rate control with these parameters for each peer.
pub fn maker(params: Params) -> Arc<RateControlMaker> {
    Arc::new(move |peer: &PeerModes, _: &str| {
        Ok(Box::new(Cautious { params: params.clone(), modes: peer.modes.to_vec(), at: 0, good: 0, bad: 0 }))
    })
}

struct Cautious {
    params: Params,
    /// Sorted by rate.
    modes: Vec<ModeId>,
    at: usize,
    /// Good and bad attempts in a row.
    good: u32,
    bad: u32,
}

impl RateControl for Cautious {
    fn rates_for(&mut self, _: &FrameInfo) -> RateChain {
        RateChain::single(self.modes[self.at], 1)
    }

    fn on_tx_status(&mut self, status: &TxStatus) {
        (self.good, self.bad) = if status.is_good() { (self.good + 1, 0) } else { (0, self.bad + 1) };
        if self.good == self.params.patience {
            self.turn_to((self.at + 1).min(self.modes.len() - 1));
        } else if self.bad == self.params.tolerance {
            self.turn_to(self.at.saturating_sub(1));
        }
    }
}

impl Cautious {
    fn turn_to(&mut self, mode: usize) {
        (self.at, self.good, self.bad) = (mode, 0, 0);
    }
}
