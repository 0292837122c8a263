//! `[wired]`: the server side of the access point.

use lasthop_link::{LossKind, QueueDisciplineKind, VaryingRate, loss};
use lasthop_registry::{ParamError, Parameter, Shape, Value, params, refuse};
use lasthop_units::{DataRate, Duration};

/// The rate of a wired link.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum WireRate {
    /// always the same
    Constant(DataRate),
    /// another at each time
    Varying(VaryingRate),
}

impl WireRate {
    fn check(&self, path: &str, key: &str) -> Result<(), ParamError> {
        match self {
            WireRate::Constant(rate) if *rate < DataRate::from_bps(1_000) => {
                refuse(path, key, "at least 1 kbit/s is needed")
            }
            WireRate::Constant(_) | WireRate::Varying(_) => Ok(()),
        }
    }
}

impl Parameter for WireRate {
    fn shape() -> Shape {
        Shape::AnyOf(vec![DataRate::shape(), VaryingRate::shape()])
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        let names_a_kind = matches!(value, Value::Text(word) if VaryingRate::REGISTRY.find(word).is_ok());
        if names_a_kind || matches!(value, Value::Table(_)) {
            return VaryingRate::parse(value, path).map(WireRate::Varying);
        }
        let rate = DataRate::parse(value, path);
        rate.map(WireRate::Constant).map_err(|error| error.or(", or { kind = \"trace\", file = \"link.down\" }"))
    }
    fn parse_over(before: &Self, value: &Value, path: &str) -> Result<Self, ParamError> {
        match before {
            WireRate::Varying(before) if matches!(value, Value::Table(_)) => {
                VaryingRate::parse_over(before, value, path).map(WireRate::Varying)
            }
            _ => Self::parse(value, path),
        }
    }
    fn to_value(&self) -> Option<Value> {
        match self {
            WireRate::Constant(rate) => rate.to_value(),
            WireRate::Varying(rate) => rate.to_value(),
        }
    }
}

params! {
    /// The wired link between access point and server, the same in both directions except for `rate_up` and `queue_up`.
    pub(crate) struct Wired {
        /// Rate of each direction, or a trace: { kind = "trace", file = "link.down" }.
        pub rate: WireRate = WireRate::Constant(DataRate::from_bps(1_000_000_000)),
        /// Rate towards the server, or a trace; default: `rate`.
        pub rate_up: Option<WireRate> = None,
        /// One-way delay.
        pub delay: Duration = Duration::ZERO,
        /// Queue of the transmitter in each direction; default with 802.11n and later and tcp.profile = "linux": { kind
        /// = "fifo", limit = "1000 packets" }; else a queue that never drops.
        pub queue: Option<QueueDisciplineKind> = None,
        /// Queue of the transmitter towards the server; default: `queue`.
        pub queue_up: Option<QueueDisciplineKind> = None,
        /// Losses apart from drops by the queue: "none", or e.g. { kind = "random", share = 0.02, only = "pure_acks" }.
        pub loss: LossKind = LossKind::None(loss::none::Params::default()),
    }
    check |this, path| {
        this.rate.check(path, "rate")?;
        this.rate_up.as_ref().map_or(Ok(()), |rate| rate.check(path, "rate_up"))?;
        if this.delay > Duration::from_secs(1_000) {
            return Err(ParamError::new(format!("{path}.delay"), "at most 1000 s"));
        }
        Ok(())
    }
}
