//! State of a channel access function.

use lasthop_engine::Stream;
use lasthop_observe::NodeId;
use lasthop_units::Time;

use super::lane::{LaneId, LaneKind};

/// State of a channel access function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// nothing to send; its post-backoff ends or ended at this count of slots of its lane
    Idle { ready_at: u64 },
    /// its view counts its backoff down; it has no frame if it has just given one up
    Contending,
    /// it will start at this boundary, whatever it may sense by then
    Committed { at: Time },
    /// it has won: frame exchange in progress
    Exchanging,
    /// it may not send yet, and keeps this number of slots still to count
    Held { left: u64 },
}

/// Parameters of a channel access function [802.11-2020 §9.4.2.28].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    pub kind: LaneKind,
    pub cw_min: u32,
    pub cw_max: u32,
}

/// A channel access function.
pub(crate) struct Function {
    pub node: NodeId,
    pub state: State,
    pub lane: LaneId,
    pub cw: u32,
    pub cw_min: u32,
    pub cw_max: u32,
    pub backoff: Stream,
    /// The backoff it drew last, until it is read.
    pub drawn: Option<u32>,
    /// It does not count before this time.
    pub held_until: Time,
}

impl Function {
    /// A backoff from the current contention window: uniform in 0..=CW [802.11-2020 §10.3.3].
    pub(crate) fn draw_backoff(&mut self) -> u64 {
        let slots = self.backoff.up_to(self.cw);
        self.drawn = Some(slots);
        u64::from(slots)
    }

    /// Returns whether it may not count yet; then it keeps `backoff`.
    #[inline(always)]
    pub(super) fn is_held(&mut self, now: Time, backoff: u64) -> bool {
        let is_held = self.held_until > now;
        if is_held {
            self.state = State::Held { left: backoff };
        }
        is_held
    }

    /// Doubles the contention window after a failed attempt.
    pub(crate) fn widen(&mut self) {
        self.cw = (2 * self.cw + 1).min(self.cw_max);
    }
}
