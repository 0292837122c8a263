//! Laws of active queue management, separate from the queues that they control.
//!
//! A law sees no packet. It receives what a router may measure of one and returns a verdict, so one law serves one
//! queue or a thousand, and is tested without any.

pub mod cobalt;
pub mod codel;
pub mod dual;
pub mod pi2;
pub mod pie;
pub mod red;

use lasthop_registry::ParamError;
use lasthop_units::Duration;

/// Least time between updates of a proportional-integral controller, shorter than any packet takes to send.
const SHORTEST_UPDATE: Duration = Duration::from_micros(1);

/// Refuses a proportional-integral controller that cannot work; `path` is the place of its table.
///
/// # Errors
/// A target of no time, updates without end, or a negative gain.
fn check_pi(path: &str, target: Duration, t_update: Duration, [alpha, beta]: [f64; 2]) -> Result<(), ParamError> {
    if target == Duration::ZERO {
        return Err(ParamError::new(format!("{path}.target"), "must be above 0"));
    }
    if t_update < SHORTEST_UPDATE {
        let message = format!("at least {SHORTEST_UPDATE}: each update costs time, also of a queue that stands still");
        return Err(ParamError::new(format!("{path}.t_update"), message));
    }
    for (name, gain) in [("alpha", alpha), ("beta", beta)] {
        if gain < 0.0 {
            return Err(ParamError::new(format!("{path}.{name}"), "must not be negative"));
        }
    }
    Ok(())
}

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// it passes unchanged
    Forward,
    /// it passes with CE
    Mark,
    /// it is dropped
    Drop,
}
