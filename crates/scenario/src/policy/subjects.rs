//! The algorithms that the knobs of an agent can stand in for.

use lasthop_tcp::congestion_control::Algorithm;
use lasthop_wifi::rate_control::RateControlKind;

use super::congestion_control::OfFlow;
use super::rate_control::OfLink;

/// The algorithms of an agent's flow or link, with their facts.
pub(crate) trait Subjects {
    /// A congestion control, by default the one of the flow whose window the agent turns.
    ///
    /// # Errors
    /// An agent without such a knob or without a quantity that it needs, and an algorithm that needs more: a sentence without a place.
    fn of_flow(&self, algorithm: Option<&Algorithm>) -> Result<OfFlow, String>;

    /// A rate control, by default the one of the link whose rate the agent turns.
    ///
    /// # Errors
    /// As [`of_flow`](Self::of_flow).
    fn of_link(&self, algorithm: Option<&RateControlKind>) -> Result<OfLink, String>;
}
