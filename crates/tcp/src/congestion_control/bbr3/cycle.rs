//! Progress of a cycle of probing. [draft-ietf-ccwg-bbr-02 §5.3.3]

use lasthop_units::{Duration, Time};

/// The phase of probing whose data the ACKs acknowledge. [§5.3.3.6]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Acks {
    #[default]
    Other,
    Starting,
    Feedback,
    Stopping,
}

/// A cycle of probing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cycle {
    pub began: Time,
    pub wait: Duration,
    pub rounds_since_probe: u32,
    pub acks: Acks,
    /// the samples of the probe may lower the bound
    pub is_sampled: bool,
    /// segments acknowledged per segment of growth, those counted, and how often the slope doubled
    pub per: f64,
    pub counted: f64,
    pub doublings: u32,
}

impl Cycle {
    pub fn stop_probing(&mut self) {
        self.acks = Acks::Stopping;
    }
}
