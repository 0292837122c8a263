//! The physical layer as tables and functions: what a frame costs in time, and whether it arrives.
//!
//! A [`Phy`] is the PHY of a BSS with every choice made: modes, slot, inter-frame spaces, air times,
//! rates of control responses. Whether a frame can be decoded is asked of an error model, how strong
//! it arrives of a path loss; neither knows of the medium or of time's passing.

pub mod error_model;
pub mod fading;
pub mod frame_size;
mod mode;
pub mod noise;
mod options;
pub mod path_loss;
mod standard;
mod timing;

pub use mode::{CodeRate, Mode, ModeId, Modulation, ModulationClass};
pub(crate) use options::list_rates;
pub use options::{PhyOptions, Preamble, Rates};
pub use standard::Standard;

use lasthop_units::{DataRate, Duration};

/// The PHY of a BSS, all choices made. Made by [`PhyOptions::resolve`].
#[derive(Clone, Debug)]
pub struct Phy {
    standard: Standard,
    channel: u8,
    frequency_hz: f64,
    slot: Duration,
    sifs: Duration,
    cw_min: u32,
    cw_max: u32,
    preamble: Preamble,
    modes: &'static [Mode],
    allowed: Vec<ModeId>,
    basic: Vec<ModeId>,
    /// For each mode, that of the response to it.
    responses: Vec<ModeId>,
    protection: ModeId,
}

impl Phy {
    /// Its standard.
    pub fn standard(&self) -> Standard {
        self.standard
    }
    /// Its channel number.
    pub fn channel(&self) -> u8 {
        self.channel
    }
    /// Centre of its channel, in Hz.
    pub fn frequency_hz(&self) -> f64 {
        self.frequency_hz
    }
    /// Bandwidth over which noise enters a receiver, in Hz.
    pub fn bandwidth_hz(&self) -> f64 {
        self.modes[0].bandwidth_hz
    }
    /// aCWmin: the largest backoff before a first attempt, in slots.
    pub fn cw_min(&self) -> u32 {
        self.cw_min
    }
    /// aCWmax: the largest backoff ever, in slots.
    pub fn cw_max(&self) -> u32 {
        self.cw_max
    }

    /// A mode by its id.
    pub fn mode(&self, id: ModeId) -> &Mode {
        &self.modes[id.index()]
    }
    /// Every mode of the standard, sorted by rate; a [`ModeId`] is a place here.
    pub fn modes(&self) -> &[Mode] {
        self.modes
    }
    /// The mode with this rate, if the standard has one.
    pub fn mode_of_rate(&self, rate: DataRate) -> Option<ModeId> {
        self.modes.iter().position(|m| m.rate == rate).map(|i| ModeId(i as u16))
    }
    /// The modes that data frames may use, sorted by rate; never empty.
    pub fn allowed_modes(&self) -> &[ModeId] {
        &self.allowed
    }
    /// The BSS basic rate set, sorted by rate; never empty.
    pub fn basic_modes(&self) -> &[ModeId] {
        &self.basic
    }
    /// The basic mode with the lowest rate: for group frames. [802.11-2020 §10.6.5]
    pub fn lowest_basic_mode(&self) -> ModeId {
        self.basic[0]
    }
    /// The mode of the Ack or CTS that answers a frame sent in `frame`: the highest basic rate not
    /// above it in its modulation class; failing that, the highest mandatory one. [802.11-2020 §10.6.6.5.2]
    pub fn control_response_mode(&self, frame: ModeId) -> ModeId {
        self.responses[frame.index()]
    }

    /// Whether stations of an older standard on the channel cannot make out frames of this mode, so
    /// that an RTS or CTS in another mode may announce them. [802.11-2020 §10.27.2]
    pub fn needs_protection(&self, mode: ModeId) -> bool {
        self.mode(mode).class == ModulationClass::ErpOfdm
    }
    /// The mode of the RTS or CTS-to-self that announces frames which need protection: the highest
    /// basic rate of DSSS, or where none is basic the highest mandatory one. [802.11-2020 §10.27.2]
    pub fn protection_mode(&self) -> ModeId {
        self.protection
    }
}
