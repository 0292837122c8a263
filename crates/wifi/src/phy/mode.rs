//! Modes: the ways in which a PHY can send a PPDU.

use lasthop_units::{DataRate, Dbm, Duration};

use super::code_rate::CodeRate;
use super::ldpc::LdpcCode;

/// A mode of a [`Phy`](super::Phy), as its index in the PHY's table, which is sorted by rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModeId(pub u16);

impl ModeId {
    /// The index in the table.
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

impl ModulationClass {
    /// Returns whether the class is older than 802.11n, so that every station can receive it.
    pub const fn is_non_ht(self) -> bool {
        matches!(self, ModulationClass::Dsss | ModulationClass::ErpOfdm | ModulationClass::Ofdm)
    }
}

/// Mappings of bits to symbols.
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

impl Modulation {
    /// Coded bits of a subcarrier; zero without subcarriers.
    pub(super) const fn coded_bits(self) -> u32 {
        match self {
            Modulation::Dbpsk | Modulation::Dqpsk | Modulation::Cck => 0,
            Modulation::Bpsk => 1,
            Modulation::Qpsk => 2,
            Modulation::Qam16 => 4,
            Modulation::Qam64 => 6,
            Modulation::Qam256 => 8,
            Modulation::Qam1024 => 10,
        }
    }
}

/// Protection of the bits of the data field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// nothing: DSSS
    None,
    /// the convolutional code, with this many encoders (N_ES), each with a tail of six bits
    Convolutional {
        /// N_ES
        encoders: u32,
    },
    /// low-density parity check codewords
    Ldpc(LdpcCode),
}

/// One mode: a row of a standard's table.
#[derive(Clone, Debug, PartialEq)]
pub struct Mode {
    /// Rate of the PSDU's bits.
    pub rate: DataRate,
    /// Its modulation class.
    pub class: ModulationClass,
    /// Mapping of bits to symbols.
    pub modulation: Modulation,
    /// Rate of the convolutional code.
    pub code_rate: CodeRate,
    /// Data bits in a symbol (N_DBPS of OFDM).
    pub bits_per_symbol: u32,
    /// Protection of these bits.
    pub coding: Coding,
    /// Modulation and coding scheme within its class, for 802.11n and later; for HT the one of a single stream, 0 to 7.
    pub mcs: Option<u8>,
    /// Spatial streams.
    pub streams: u8,
    /// Antennas of the receiver for each stream: combining them raises the SNR by this factor.
    pub antennas_per_stream: f64,
    /// Guard interval of an OFDM symbol; zero for DSSS.
    pub guard_interval: Duration,
    /// Bandwidth in Hz over which noise enters the receiver.
    pub bandwidth_hz: f64,
    /// Weakest signal that a receiver must decode.
    pub sensitivity: Dbm,
    /// True if every station of the standard has it.
    pub mandatory: bool,
}

impl Mode {
    /// The number of its MCS as the standard counts: HT numbers continue across streams. [802.11-2020 §19.5]
    pub fn mcs_index(&self) -> Option<u8> {
        match self.class {
            ModulationClass::Ht => self.mcs.map(|mcs| mcs + 8 * (self.streams - 1)),
            _ => self.mcs,
        }
    }
    /// Returns whether `rate` is its rate, to the bit or rounded to 100 kbit/s as in the standard's tables.
    pub fn has_rate(&self, rate: DataRate) -> bool {
        self.rate == rate
            || (self.mcs.is_some() && DataRate::from_100kbps((self.rate.as_bps() + 50_000) / 100_000) == rate)
    }
    /// Its non-HT reference rate, which stands for its rate where a control response is chosen: the OFDM
    /// rate of its modulation and code rate, 54 Mbit/s above 64-QAM at 3/4. [802.11-2020 Table 10-10]
    pub fn non_ht_reference_rate(&self) -> DataRate {
        if self.class.is_non_ht() {
            return self.rate;
        }
        let three_quarters = self.code_rate == CodeRate::ThreeQuarters;
        DataRate::from_100kbps(match self.modulation {
            Modulation::Bpsk => 60,
            Modulation::Qpsk if three_quarters => 180,
            Modulation::Qpsk => 120,
            Modulation::Qam16 if three_quarters => 360,
            Modulation::Qam16 => 240,
            Modulation::Qam64 if self.code_rate == CodeRate::TwoThirds => 480,
            _ => 540,
        })
    }
    /// This mode, as a mandatory one.
    pub(super) const fn mandatory(mut self) -> Mode {
        self.mandatory = true;
        self
    }
}
