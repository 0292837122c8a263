//! The driver below the queues of a node: one by its name, or a table.

use lasthop_registry::{ParamError, Parameter, Shape, Value, params, refuse, words};
use lasthop_units::Duration;
use lasthop_wifi::Driver;

words! {
    /// Drivers that are known by name.
    pub(crate) enum KnownDriver {
        /// none: an A-MPDU is made when the medium is won, and its result is known at once
        Ideal = "ideal",
        /// ath9k of Linux: two A-MPDUs in the hardware, and their completion at once
        Ath9k = "ath9k",
    }
}

params! {
    /// A driver by its properties.
    pub(crate) struct DriverTable {
        /// Most A-MPDUs of an access category that the hardware holds, from their building to their completion.
        pub aggregates: u32 = 2,
        /// Time from the end of an A-MPDU on the air, with its BlockAck, to its completion, which the driver learns.
        pub completion: Duration = Duration::ZERO,
    }
    check |this, path| {
        if !(1..=64).contains(&this.aggregates) {
            return refuse(path, "aggregates", "from 1 to 64 A-MPDUs");
        }
        if this.completion > Duration::from_secs(1) {
            return refuse(path, "completion", "at most 1 s");
        }
        Ok(())
    }
}

/// A driver that a scenario chose.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum DriverChoice {
    Known(KnownDriver),
    Table(DriverTable),
}

impl DriverChoice {
    /// The driver of the medium; `None`: ideal.
    pub(crate) fn driver(&self) -> Option<Driver> {
        match self {
            DriverChoice::Known(KnownDriver::Ideal) => None,
            // ATH_AGGR_MIN_QDEPTH: one A-MPDU in the air, and one that is ready [ath9k].
            DriverChoice::Known(KnownDriver::Ath9k) => Some(Driver { aggregates: 2, completion: Duration::ZERO }),
            DriverChoice::Table(table) => Some(Driver { aggregates: table.aggregates, completion: table.completion }),
        }
    }
}

impl Parameter for DriverChoice {
    fn shape() -> Shape {
        Shape::AnyOf(vec![KnownDriver::shape(), DriverTable::shape()])
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        match value {
            Value::Table(_) => DriverTable::parse(value, path).map(DriverChoice::Table),
            _ => KnownDriver::parse(value, path).map(DriverChoice::Known),
        }
    }
    fn to_value(&self) -> Option<Value> {
        match self {
            DriverChoice::Known(known) => known.to_value(),
            DriverChoice::Table(table) => table.to_value(),
        }
    }
}
