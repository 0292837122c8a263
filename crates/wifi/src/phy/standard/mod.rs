//! The standards, one table each: slot, SIFS, CW bounds, channels, modes. No other code names a standard.

mod band;
mod dot11a;
mod dot11ac;
mod dot11ax;
mod dot11b;
mod dot11g;
mod dot11n;
mod mcs;
mod modes;
mod table;

use lasthop_registry::{Fault, ParamError, Parameter, Registry, Shape, Value, wrong_type};

use super::mode::ModulationClass;
pub(super) use band::Band;
pub use band::signal_band;
pub use mcs::{ChannelWidth, GuardInterval};
pub(super) use mcs::{Choice, Limits};
pub(super) use modes::dsss_modes;
pub(super) use table::{SlotTime, Table};

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
        code: &[],
        planned: &[],
    };

    /// The standard called `name`.
    ///
    /// # Errors
    /// The mistake, if no standard has that name.
    pub fn named(name: &str) -> Result<Standard, Fault> {
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
    /// Returns whether it has modes with an MCS: 802.11n and later.
    pub fn has_mcs(self) -> bool {
        self.table().family.is_some()
    }
    /// Returns whether its devices know VHT: 802.11ac and later.
    pub fn has_vht(self) -> bool {
        self.table().family.is_some_and(|family| family.class != ModulationClass::Ht)
    }
    /// Returns whether its devices know HE: 802.11ax.
    pub fn has_he(self) -> bool {
        self.table().family.is_some_and(|family| family.class == ModulationClass::He)
    }
    /// The modulation classes of its modes without an MCS, in the 2.4 GHz band.
    pub(super) fn classes_without_mcs(self) -> impl Iterator<Item = ModulationClass> {
        self.table().modes.iter().map(|mode| mode.class)
    }
    /// aCWmin of its stations, in slots.
    pub fn cw_min(self) -> u32 {
        self.table().cw_min
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
            Value::Text(name) => Standard::named(name).map_err(|fault| ParamError::new(path, fault)),
            _ => Err(ParamError::new(path, wrong_type("a standard like \"802.11g\"", value))),
        }
    }
    fn to_value(&self) -> Option<Value> {
        Some(Value::text(self.name()))
    }
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
