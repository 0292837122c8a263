//! The interface of rate controls: the trait, and the facts that they receive.

use lasthop_registry::ParamError;
use lasthop_units::{Bytes, Db, Dbm, Time};

use super::rate_chain::RateChain;
use crate::phy::error_model::ErrorModelKind;
use crate::phy::{ModeId, Phy};

/// Makes a rate control for one peer; the text is the place of the choice in the scenario, for errors.
pub type RateControlMaker = dyn Fn(&PeerModes, &str) -> Result<Box<dyn RateControl>, ParamError> + Send + Sync;

/// A rate control, for one peer.
pub trait RateControl: Send {
    /// The modes for the next attempts at a frame.
    fn rates_for(&mut self, frame: &FrameInfo) -> RateChain;
    /// Called with the outcome of an attempt.
    fn on_tx_status(&mut self, status: &TxStatus);
    /// The reason for which it cannot continue, if code from outside has failed and left the run.
    fn failure(&self) -> Option<&str> {
        None
    }
}

/// A frame about to be sent.
#[derive(Clone, Copy, Debug)]
pub struct FrameInfo {
    /// Now.
    pub now: Time,
    /// Length of the PSDU, or of the first MPDU if an A-MPDU may be made.
    pub bytes: Bytes,
    /// True if several MPDUs may go into the PPDU.
    pub aggregates: bool,
    /// Attempts made at this frame before, or at the first of an A-MPDU.
    pub retry: u32,
    /// Number of its packet, or of the first packet of an A-MPDU, if its host numbers packets; otherwise 0.
    pub packet: u32,
}

impl FrameInfo {
    /// Returns whether the attempt may carry new data: a frame's first attempt, or an A-MPDU, most of which is new.
    pub(super) fn is_new(&self) -> bool {
        self.retry == 0 || self.aggregates
    }
}

/// The outcome of an attempt that expected an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct TxStatus {
    /// Now.
    pub now: Time,
    /// The mode of the attempt.
    pub mode: ModeId,
    /// True if any MPDU was acknowledged.
    pub success: bool,
    /// MPDUs in the PPDU.
    pub mpdus: u32,
    /// Number of these that were acknowledged.
    pub acknowledged: u32,
    /// True if RTS/CTS preceded it; an RTS without CTS is not reported.
    pub rts: bool,
    /// Signal-to-noise ratio of the acknowledgement within [`Phy::bandwidth_hz`], if known.
    pub snr: Option<Db>,
}

impl TxStatus {
    /// Returns whether the attempt counts as a success for algorithms that know only success and failure: at least half
    /// of its MPDUs arrived.
    pub fn is_good(&self) -> bool {
        2 * self.acknowledged >= self.mpdus && self.success
    }
}

/// The facts about a peer that a rate control receives.
#[derive(Clone, Copy, Debug)]
pub struct PeerModes<'a> {
    /// The PHY of the BSS.
    pub phy: &'a Phy,
    /// The modes of the peer, sorted by rate, at least one; e.g. [`Phy::allowed_modes`].
    pub modes: &'a [ModeId],
    /// Power at which the peer hears this station.
    pub received: Dbm,
    /// Noise figure of the peer's receiver.
    pub noise_figure: Db,
    /// The error model, which decides whether the peer can decode a frame.
    pub error_model: &'a ErrorModelKind,
    /// Seed of the rate control's draws; different for each link of a run.
    pub seed: u64,
}
