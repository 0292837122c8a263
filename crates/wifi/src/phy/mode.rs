//! Modes: the ways in which a PHY can send a PPDU.

use lasthop_units::{DataRate, Dbm, Duration};

/// A mode of a [`Phy`](super::Phy), as its place in the PHY's table, which is sorted by rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModeId(pub u16);

impl ModeId {
    /// The place in the table.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The modulation classes between which a control response does not change. [802.11-2020 §10.6.6.5.2]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModulationClass {
    /// DSSS and HR/DSSS: 1, 2, 5.5 and 11 Mbit/s, one class in the standard
    Dsss,
    /// OFDM in the 2.4 GHz band, with signal extension
    ErpOfdm,
    /// OFDM in the 5 GHz band
    Ofdm,
    /// high throughput: 802.11n
    Ht,
    /// very high throughput: 802.11ac
    Vht,
    /// high efficiency: 802.11ax
    He,
}

/// How bits become symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modulation {
    /// differential binary phase shift keying over the Barker sequence
    Dbpsk,
    /// differential quadrature phase shift keying over the Barker sequence
    Dqpsk,
    /// complementary code keying
    Cck,
    /// binary phase shift keying
    Bpsk,
    /// quadrature phase shift keying
    Qpsk,
    /// quadrature amplitude modulation, 16 points
    Qam16,
    /// quadrature amplitude modulation, 64 points
    Qam64,
    /// quadrature amplitude modulation, 256 points
    Qam256,
    /// quadrature amplitude modulation, 1024 points
    Qam1024,
}

/// The share of information in the coded bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeRate {
    /// no convolutional code
    Uncoded,
    /// 1/2
    Half,
    /// 2/3
    TwoThirds,
    /// 3/4
    ThreeQuarters,
    /// 5/6
    FiveSixths,
}

impl CodeRate {
    /// As a number.
    pub const fn ratio(self) -> f64 {
        match self {
            CodeRate::Uncoded => 1.0,
            CodeRate::Half => 0.5,
            CodeRate::TwoThirds => 2.0 / 3.0,
            CodeRate::ThreeQuarters => 0.75,
            CodeRate::FiveSixths => 5.0 / 6.0,
        }
    }
}

/// One mode: a row of a standard's table.
#[derive(Clone, Debug, PartialEq)]
pub struct Mode {
    /// Rate of the PSDU's bits.
    pub rate: DataRate,
    /// Its modulation class.
    pub class: ModulationClass,
    /// How bits become symbols.
    pub modulation: Modulation,
    /// Rate of the convolutional code.
    pub code_rate: CodeRate,
    /// Data bits in a symbol (N_DBPS of OFDM).
    pub bits_per_symbol: u32,
    /// Modulation and coding scheme within its class, for 802.11n and later; for HT that of one stream, 0 to 7.
    pub mcs: Option<u8>,
    /// Spatial streams.
    pub streams: u8,
    /// Guard interval of an OFDM symbol; zero for DSSS.
    pub guard_interval: Duration,
    /// Bandwidth in Hz over which noise enters the receiver.
    pub bandwidth_hz: f64,
    /// Weakest signal that a receiver must decode.
    pub sensitivity: Dbm,
    /// Whether every station of the standard has it.
    pub mandatory: bool,
}

impl Mode {
    /// This mode, as one that every station has.
    pub(super) const fn mandatory(mut self) -> Mode {
        self.mandatory = true;
        self
    }
}
