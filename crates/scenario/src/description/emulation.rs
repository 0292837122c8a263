//! `[emulation]`: how `lasthop emulate` runs a scenario on kernels. A simulation reads none of it.

use lasthop_registry::{FileName, ParamError, Parameter, Shape, Value, params, words};
use lasthop_units::Duration;

words! {
    /// The clock of an emulation.
    pub enum TimeKind {
        /// that of a kernel in User Mode Linux, which stops while anything computes
        Virtual = "virtual",
        /// that of this machine
        Real = "real",
    }
}

/// The kernel that runs in virtual time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelChoice {
    /// The one built by `lasthop emulate --build-kernel`.
    Own,
    /// The one in the distribution's package `user-mode-linux`.
    Stock,
    /// The User Mode Linux kernel in this file.
    File(FileName),
}

impl Parameter for KernelChoice {
    fn shape() -> Shape {
        Shape::AnyOf(vec![Shape::Words(vec!["own".into(), "stock".into()]), FileName::shape()])
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        let needed = "\"own\", \"stock\" or the path of a User Mode Linux kernel, such as \"./linux\"";
        match value {
            Value::Text(word) if word == "own" => Ok(KernelChoice::Own),
            Value::Text(word) if word == "stock" => Ok(KernelChoice::Stock),
            // A word without a slash is taken for a typing error rather than a file.
            Value::Text(file) if file.contains('/') => Ok(KernelChoice::File(file.into())),
            _ => Err(ParamError::new(path, format!("expected {needed}, found {value}"))),
        }
    }
    fn to_value(&self) -> Option<Value> {
        Some(match self {
            KernelChoice::Own => Value::text("own"),
            KernelChoice::Stock => Value::text("stock"),
            KernelChoice::File(file) => Value::text(file),
        })
    }
}

/// Merging of segments by a receiving kernel before TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gro {
    /// None.
    Off,
}

impl Parameter for Gro {
    fn shape() -> Shape {
        Shape::Words(vec!["off".into()])
    }
    fn parse(value: &Value, path: &str) -> Result<Self, ParamError> {
        match value {
            Value::Text(word) if word == "off" => Ok(Gro::Off),
            Value::Text(word) if word == "ampdu" => {
                Err(ParamError::new(path, ("\"ampdu\" is not there yet", "write \"off\", or leave the key out")))
            }
            _ => Err(ParamError::new(path, format!("expected \"off\", found {value}"))),
        }
    }
    fn to_value(&self) -> Option<Value> {
        Some(Value::text("off"))
    }
}

params! {
    /// How `lasthop emulate` runs the scenario.
    pub(crate) struct EmulationSection {
        /// Clock: "virtual", which gives the same bytes each time whatever the machine's load, or "real".
        pub time: TimeKind = TimeKind::Virtual,
        /// Kernel for virtual time: "own", built by `lasthop emulate --build-kernel`; "stock", the distribution's
        /// user-mode-linux, also used where none was built; or a path.
        pub kernel: KernelChoice = KernelChoice::Own,
        /// Merging of segments by the receiving kernel before TCP (GRO): "off", none.
        pub gro: Gro = Gro::Off,
        /// Real time: limit on the lateness of 99 in 100 packets when taken or delivered; a run beyond it is not valid.
        pub max_lateness: Duration = Duration::from_millis(1),
    }
    check |this, path| {
        if this.max_lateness == Duration::ZERO {
            return Err(ParamError::new(format!("{path}.max_lateness"), ("no packet is on time to the nanosecond", "write \"1 ms\"")));
        }
        Ok(())
    }
}
