//! Places in a scenario, for messages.

use lasthop_registry::{Fault, ParamError};

/// The place of the `index`-th of `count` BSSs in the file.
pub(super) fn path_of(index: usize, count: usize) -> String {
    if count == 1 { "bss".into() } else { format!("bss[{index}]") }
}

pub(super) fn error<T>(path: impl Into<String>, fault: impl Into<Fault>) -> Result<T, ParamError> {
    Err(ParamError::new(path, fault))
}
