//! The standards, a table each: slot, SIFS, CW bounds, channels, modes. No code elsewhere names one.

mod band;
mod dot11a;
mod dot11ac;
mod dot11ax;
mod dot11b;
mod dot11g;
mod dot11n;
mod mcs;

use lasthop_registry::{Entry, ParamError, Parameter, Registry, Shape, Value};
use lasthop_units::{DataRate, Dbm, Duration};

use super::mode::{CodeRate, Coding, Mode, Modulation, ModulationClass};
pub(super) use band::Band;
pub use mcs::{ChannelWidth, GuardInterval};
pub(super) use mcs::{Choice, Family, Limits};

/// A standard that a BSS may follow: `standard = "802.11b"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standard(usize);

/// The tables, in the order of the registry.
const TABLES: &[&Table] =
    &[&dot11b::TABLE, &dot11a::TABLE, &dot11g::TABLE, &dot11n::TABLE, &dot11ac::TABLE, &dot11ax::TABLE];

impl Standard {
    /// The table that `lasthop list`, the schema and the parser share.
    pub const REGISTRY: &'static Registry = &Registry {
        kind: "standard",
        entries: &[
            dot11b::TABLE.entry(),
            dot11a::TABLE.entry(),
            dot11g::TABLE.entry(),
            dot11n::TABLE.entry(),
            dot11ac::TABLE.entry(),
            dot11ax::TABLE.entry(),
        ],
        aliases: &[],
        planned: &[],
    };

    /// The standard called `name`.
    ///
    /// # Errors
    /// A sentence, where there is none of that name.
    pub fn named(name: &str) -> Result<Standard, String> {
        Self::REGISTRY.find(name).map(Standard)
    }
    /// Its name in scenario files, e.g. "802.11b".
    pub fn name(self) -> &'static str {
        self.table().name
    }
    /// Every standard.
    pub fn all() -> impl Iterator<Item = Standard> {
        (0..TABLES.len()).map(Standard)
    }
    /// Whether it has modes with an MCS: 802.11n and later.
    pub fn has_mcs(self) -> bool {
        self.table().family.is_some()
    }
    /// Whether its devices know VHT: 802.11ac and later.
    pub fn has_vht(self) -> bool {
        self.table().family.is_some_and(|family| family.class != ModulationClass::Ht)
    }
    pub(super) fn table(self) -> &'static Table {
        TABLES[self.0]
    }
}

impl Parameter for Standard {
    fn shape() -> Shape {
        Shape::Words(TABLES.iter().map(|t| t.name.to_string()).collect())
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        match value {
            Value::Text(name) => Standard::named(name).map_err(|message| ParamError::new(path, message)),
            _ => Err(ParamError::new(path, format!("{value} stands where a standard like \"802.11g\" is needed"))),
        }
    }
    fn to_value(&self) -> Option<Value> {
        Some(Value::text(self.name()))
    }
}

/// What a standard fixes.
#[derive(Debug)]
pub(super) struct Table {
    pub name: &'static str,
    pub summary: &'static str,
    pub source: &'static str,
    pub status: &'static str,
    /// The channels of each band.
    pub channels: &'static [(Band, &'static [u8])],
    pub default_channel: u8,
    pub slot: SlotTime,
    /// aCWmin where the BSS has OFDM rates only among its basic ones.
    pub cw_min: u32,
    /// aCWmin where DSSS rates are among the basic ones.
    pub cw_min_dsss: u32,
    pub cw_max: u32,
    /// Those without an MCS, sorted by rate.
    pub modes: &'static [Mode],
    /// Those with an MCS.
    pub family: Option<&'static Family>,
    /// The basic rates where the scenario says nothing, in units of 100 kbit/s.
    pub default_basic_100kbps: &'static [u64],
}

impl Table {
    const fn entry(&self) -> Entry {
        Entry { name: self.name, summary: self.summary, source: self.source, status: self.status, fields: Vec::new }
    }
    /// The band of a channel; `None` where the standard lacks the channel.
    pub fn band_of(&self, channel: u8) -> Option<Band> {
        self.channels.iter().find(|(_, numbers)| numbers.contains(&channel)).map(|(band, _)| *band)
    }
    /// Whether any mode has the DSSS preamble, the one that comes long and short.
    pub fn has_dsss(&self) -> bool {
        self.modes.iter().any(|m| m.class == ModulationClass::Dsss)
    }
}

/// aSlotTime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlotTime {
    /// One value.
    Fixed(Duration),
    /// Short where every station of the BSS can keep it. [802.11-2020 §18.4]
    Choice { long: Duration, short: Duration },
}

/// A DSSS or HR/DSSS mode; noise enters over `bandwidth_hz`.
const fn dsss(rate_100kbps: u64, modulation: Modulation, bits: u32, bandwidth_hz: f64, sensitivity_dbm: f64) -> Mode {
    Mode {
        rate: DataRate::from_100kbps(rate_100kbps),
        class: ModulationClass::Dsss,
        modulation,
        code_rate: CodeRate::Uncoded,
        bits_per_symbol: bits,
        coding: Coding::None,
        mcs: None,
        streams: 1,
        antennas_per_stream: 1.0,
        guard_interval: Duration::ZERO,
        bandwidth_hz,
        sensitivity: Dbm(sensitivity_dbm),
        mandatory: false,
    }
}

/// An OFDM mode on 20 MHz: a symbol lasts 4 us. [802.11-2020 Table 17-4]
const fn ofdm(class: ModulationClass, mbps: u64, modulation: Modulation, code: CodeRate, sensitivity_dbm: f64) -> Mode {
    Mode {
        rate: DataRate::from_100kbps(mbps * 10),
        class,
        modulation,
        code_rate: code,
        bits_per_symbol: (mbps * 4) as u32,
        coding: Coding::Convolutional { encoders: 1 },
        mcs: None,
        streams: 1,
        antennas_per_stream: 1.0,
        guard_interval: Duration::from_nanos(800),
        bandwidth_hz: 20e6,
        sensitivity: Dbm(sensitivity_dbm),
        mandatory: false,
    }
}

/// The four DSSS and HR/DSSS modes. Sensitivities: 2 Mbit/s at a frame error rate of 8 % for 1024 bytes
/// [802.11-2020 §15.4], 11 Mbit/s likewise [802.11-2020 §16.3.8]. For 1 and 5.5 Mbit/s the standard
/// sets none; they carry half the bits per symbol and so do with half the power, 3 dB less.
const fn dsss_modes(bandwidth_hz: f64) -> [Mode; 4] {
    [
        dsss(10, Modulation::Dbpsk, 1, bandwidth_hz, -83.0).mandatory(),
        dsss(20, Modulation::Dqpsk, 2, bandwidth_hz, -80.0).mandatory(),
        dsss(55, Modulation::Cck, 4, bandwidth_hz, -79.0).mandatory(),
        dsss(110, Modulation::Cck, 8, bandwidth_hz, -76.0).mandatory(),
    ]
}

/// The eight OFDM modes. Sensitivities: packet error rate of 10 % for 1000 bytes. [802.11-2020 Table 17-18]
const fn ofdm_modes(class: ModulationClass) -> [Mode; 8] {
    use CodeRate::{Half, ThreeQuarters, TwoThirds};
    use Modulation::{Bpsk, Qam16, Qam64, Qpsk};
    [
        ofdm(class, 6, Bpsk, Half, -82.0).mandatory(),
        ofdm(class, 9, Bpsk, ThreeQuarters, -81.0),
        ofdm(class, 12, Qpsk, Half, -79.0).mandatory(),
        ofdm(class, 18, Qpsk, ThreeQuarters, -77.0),
        ofdm(class, 24, Qam16, Half, -74.0).mandatory(),
        ofdm(class, 36, Qam16, ThreeQuarters, -70.0),
        ofdm(class, 48, Qam64, TwoThirds, -66.0),
        ofdm(class, 54, Qam64, ThreeQuarters, -65.0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_standard_is_an_error_with_a_remedy() {
        let say = |name| Standard::parse(&Value::text(name), "bss.standard").unwrap_err().to_string();
        assert_eq!(
            say("802.11h"),
            "bss.standard: unknown standard \"802.11h\"; did you mean \"802.11n\"? one of: \
             802.11b, 802.11a, 802.11g, 802.11n, 802.11ac, 802.11ax"
        );
    }

    #[test]
    fn every_table_is_sorted_by_rate_and_begins_with_a_mandatory_mode() {
        for standard in Standard::all() {
            let modes = standard.table().modes;
            assert!(modes.is_sorted_by(|a, b| a.rate < b.rate), "{}", standard.name());
            assert!(modes[0].mandatory);
            assert!(standard.table().band_of(standard.table().default_channel).is_some());
        }
    }

    #[test]
    fn each_name_leads_to_its_own_table() {
        for standard in Standard::all() {
            assert_eq!(Standard::named(standard.name()), Ok(standard));
        }
    }
}
