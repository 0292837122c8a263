//! The time for which a channel stays constant.

use lasthop_registry::ParamError;
use lasthop_units::Duration;

/// Coherence time of a walker at 2.4 GHz: `0.423 c / (f v)` at 1 m/s. [Rappaport 2002 §5.4.3]
pub(super) const COHERENCE_TIME: Duration = Duration::from_millis(50);

pub(super) fn check_coherence(time: Duration, path: &str) -> Result<(), ParamError> {
    if time > Duration::ZERO {
        return Ok(());
    }
    Err(ParamError::new(format!("{path}.coherence_time"), "a channel stays as it is for some time, e.g. \"50 ms\""))
}
