//! The physical layer as tables and functions: the airtime of a frame, and whether it arrives.
//!
//! A [`Phy`] is the PHY of a BSS with every choice made: modes, slot, inter-frame spaces, air times, rates of control
//! responses. An error model decides whether a frame can be decoded, and a path loss how strong it arrives; neither
//! knows of the medium or of the passing of time.

mod air_time;
mod clear_channel;
mod code_rate;
pub mod error_model;
pub mod fading;
pub mod frame_size;
mod ldpc;
mod limits;
mod mode;
pub mod noise;
mod options;
pub mod path_loss;
mod preamble;
mod rates;
mod ru;
pub mod shadowing;
mod standard;
mod timing;

use air_time::AirTime;
pub use code_rate::CodeRate;
pub use ldpc::LdpcCode;
pub use mode::{Coding, Mode, ModeId, Modulation, ModulationClass};
pub use options::{Dsss, PhyOptions};
pub use preamble::Preamble;
pub use rates::Rates;
pub(crate) use rates::list_rates;
pub use ru::{Ru, RuPart};
pub use standard::{ChannelWidth, GuardInterval, Standard, signal_band};
use standard::{Choice, Limits};

use lasthop_registry::Fault;
use lasthop_units::{DataRate, Duration};

/// The PHY of a BSS, all choices made. Made by [`PhyOptions::resolve`].
#[derive(Clone, Debug)]
pub struct Phy {
    standard: Standard,
    channel: u8,
    frequency_hz: f64,
    bandwidth_hz: f64,
    /// Width, streams and guard interval if the standard has MCSs.
    choice: Option<Choice>,
    limits: Option<Limits>,
    slot: Duration,
    sifs: Duration,
    cw_min: u32,
    cw_max: u32,
    modes: Vec<Mode>,
    /// For each mode, the durations of its PPDUs.
    air_times: Vec<AirTime>,
    allowed: Vec<ModeId>,
    basic: Vec<ModeId>,
    /// For each mode, the mode of the response to it.
    responses: Vec<ModeId>,
    /// For each mode, the responses that follow a frame in it.
    answers: Vec<Answers>,
    protection: ModeId,
}

/// Times that follow a frame.
#[derive(Clone, Copy, Debug)]
struct Answers {
    /// Time on the air of its Ack.
    ack: Duration,
    /// Time on the air of its BlockAck.
    block_ack: Duration,
    /// EIFS of bystanders that could not decode it.
    eifs: Duration,
}

impl Phy {
    /// Its standard.
    pub fn standard(&self) -> Standard {
        self.standard
    }
    /// Number of its channel, or of its primary channel if several are bonded.
    pub fn channel(&self) -> u8 {
        self.channel
    }
    /// Centre of the band it occupies, in Hz.
    pub fn frequency_hz(&self) -> f64 {
        self.frequency_hz
    }
    /// Lowest and highest frequency that it occupies, in Hz: two BSSs whose ranges overlap disturb each other.
    pub fn frequency_range_hz(&self) -> (f64, f64) {
        (self.frequency_hz - self.bandwidth_hz / 2.0, self.frequency_hz + self.bandwidth_hz / 2.0)
    }
    /// The channels of its band on which its BSS could be, in ascending order: the number of each, and the range of frequencies
    /// as [`frequency_range_hz`](Self::frequency_range_hz) has it.
    pub fn channels(&self) -> impl Iterator<Item = (u8, (f64, f64))> + '_ {
        let of_band = self.standard.table().channels.iter().filter(|(_, numbers)| numbers.contains(&self.channel));
        let width_mhz = self.channel_width().map_or(20, |width| width.mhz());
        let half = self.bandwidth_hz / 2.0;
        of_band.flat_map(|(band, numbers)| numbers.iter().map(move |number| (*band, *number))).filter_map(
            move |(band, number)| {
                let centre = band.frequency_hz(band.bonded(number, width_mhz)?);
                Some((number, (centre - half, centre + half)))
            },
        )
    }
    /// Width of the band it occupies, in Hz. Noise enters a receiver over the bandwidth of the mode, which is not
    /// wider.
    pub fn bandwidth_hz(&self) -> f64 {
        self.bandwidth_hz
    }
    /// Width of its channel, if the standard has several.
    pub fn channel_width(&self) -> Option<ChannelWidth> {
        self.choice.map(|c| c.width)
    }
    /// The most spatial streams of a data frame.
    pub fn spatial_streams(&self) -> u8 {
        self.choice.map_or(1, |c| c.streams)
    }
    /// The shortest guard interval of data frames, if the standard has several.
    pub fn guard_interval(&self) -> Option<GuardInterval> {
        self.choice.map(|c| c.guard_interval)
    }
    /// aCWmin: the largest backoff before a first attempt, in slots.
    pub fn cw_min(&self) -> u32 {
        self.cw_min
    }
    /// aCWmax: the largest backoff of all, in slots.
    pub fn cw_max(&self) -> u32 {
        self.cw_max
    }

    /// A mode by its id.
    pub fn mode(&self, id: ModeId) -> &Mode {
        &self.modes[id.index()]
    }
    /// Every mode of the standard, sorted by rate; a [`ModeId`] is an index into this list.
    pub fn modes(&self) -> &[Mode] {
        &self.modes
    }
    /// The mode with this rate, which may be rounded to 100 kbit/s as in the standard's tables: one with an MCS if any
    /// has the rate, and the one with the fewest streams of several.
    pub fn mode_of_rate(&self, rate: DataRate) -> Option<ModeId> {
        let of_rate = |m: &&Mode| m.has_rate(rate);
        let with_mcs = self.modes.iter().filter(|m| m.mcs.is_some()).find(of_rate);
        let found = with_mcs.or_else(|| self.modes.iter().find(of_rate))?;
        self.modes.iter().position(|m| m == found).map(|i| ModeId(i as u16))
    }
    /// The mode for data with this MCS, with the shortest guard interval of the BSS. HT numbers MCSs across streams;
    /// VHT and HE number them for each number of streams, and the largest number is used.
    ///
    /// # Errors
    /// The mistake, if there is no such mode.
    pub fn mode_of_mcs(&self, mcs: u8) -> Result<ModeId, Fault> {
        let name = self.standard.name();
        let Some(choice) = self.choice else {
            return Err((
                format!("{name} has no MCS"),
                format!("write rate = \"…\" with one of {}", list_rates(self.modes.iter())),
            )
                .into());
        };
        let streams = |m: &Mode| m.class == ModulationClass::Ht || m.streams == choice.streams;
        let fits = |m: &Mode| m.guard_interval == choice.guard_interval.duration() && streams(m);
        let known: Vec<ModeId> = self.allowed.iter().copied().filter(|&id| fits(self.mode(id))).collect();
        known.iter().copied().find(|&id| self.mode(id).mcs_index() == Some(mcs)).ok_or_else(|| {
            let mut numbers: Vec<u8> = known.iter().filter_map(|&id| self.mode(id).mcs_index()).collect();
            numbers.sort_unstable();
            let numbers: Vec<String> = numbers.iter().map(u8::to_string).collect();
            let (width, streams) = (choice.width.word(), choice.streams);
            (
                format!(
                    "{name} has no MCS {mcs} at {width} with {streams} spatial stream{}",
                    if streams == 1 { "" } else { "s" }
                ),
                format!("it has {}", numbers.join(", ")),
            )
                .into()
        })
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
    /// The mode of the Ack, Block Ack or CTS that answers a frame sent in `frame`: the highest basic rate not above it
    /// in its modulation class, or else the highest mandatory one. A frame with an MCS is answered without one, as if
    /// it had its non-HT reference rate. [802.11-2020 §10.6.6.5.2]
    pub fn control_response_mode(&self, frame: ModeId) -> ModeId {
        self.responses[frame.index()]
    }

    /// Returns whether stations of an older standard on the channel cannot decode frames of this mode, so that an RTS
    /// or CTS in another mode may announce them. [802.11-2020 §10.27.2, §10.27.3]
    pub fn needs_protection(&self, mode: ModeId) -> bool {
        match self.mode(mode).class {
            ModulationClass::Dsss | ModulationClass::Ofdm => false,
            ModulationClass::ErpOfdm => self.has_dsss(),
            ModulationClass::Ht | ModulationClass::Vht | ModulationClass::He => true,
        }
    }
    /// Returns whether it is in the 2.4 GHz band.
    pub(crate) fn is_lower_band(&self) -> bool {
        self.frequency_hz < 3e9
    }
    /// Returns whether it has DSSS modes.
    pub fn has_dsss(&self) -> bool {
        self.modes.iter().any(|mode| mode.class == ModulationClass::Dsss)
    }
    /// The modes of data to and from a station of an older `standard`, sorted by rate: those without an MCS that both
    /// have.
    pub fn modes_of_older(&self, standard: Standard) -> Vec<ModeId> {
        let has = |class| standard.classes_without_mcs().any(|own| own == class);
        let is_known = |id: &ModeId| self.mode(*id).mcs.is_none() && has(self.mode(*id).class);
        (0..self.modes.len() as u16).map(ModeId).filter(is_known).collect()
    }
    /// The mode of the RTS or CTS-to-self that announces frames which need protection: the highest basic rate that
    /// older stations know, or the highest mandatory one if they know no basic rate. [802.11-2020 §10.27.2, §10.27.3]
    pub fn protection_mode(&self) -> ModeId {
        self.protection
    }
}
