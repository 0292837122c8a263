//! The basis of window growth: ACKs, or the bytes that they acknowledge. [RFC 3465 §2]

use lasthop_registry::{ParamError, Parameter, Parameters, Shape, Value, params, read_table, table_to_value, words};

words! {
    /// The basis of window growth.
    pub enum GrowthMode {
        /// One segment's worth for each ACK, whatever it covers.
        PerAck = "per_ack",
        /// The bytes acknowledged, in segments.
        PerByte = "per_byte",
    }
}

/// The basis of window growth in each phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    /// Below ssthresh.
    pub slow_start: GrowthMode,
    /// Above it.
    pub avoidance: GrowthMode,
}

impl Growth {
    /// The same in both phases.
    pub const fn both(mode: GrowthMode) -> Growth {
        Growth { slow_start: mode, avoidance: mode }
    }
}

params! {
    struct GrowthTable {
        /// Growth below ssthresh.
        slow_start: Option<GrowthMode> = None,
        /// Growth above ssthresh.
        avoidance: Option<GrowthMode> = None,
    }
}

impl Parameter for Growth {
    fn shape() -> Shape {
        Shape::AnyOf(vec![GrowthMode::shape(), Shape::Table(GrowthTable::fields())])
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        let Value::Table(_) = value else { return GrowthMode::parse(value, path).map(Growth::both) };
        match read_table(GrowthTable::default(), value, path, &[])? {
            GrowthTable { slow_start: Some(slow_start), avoidance: Some(avoidance) } => {
                Ok(Growth { slow_start, avoidance })
            }
            _ => Err(ParamError::new(path, "both slow_start and avoidance are needed here, or one word for both")),
        }
    }
    fn to_value(&self) -> Option<Value> {
        if self.slow_start == self.avoidance {
            return self.avoidance.to_value();
        }
        let table = GrowthTable { slow_start: Some(self.slow_start), avoidance: Some(self.avoidance) };
        Some(table_to_value(None, &table))
    }
}
