//! The properties of nodes, besides those of their MACs, that knobs turn while a scenario runs.

use crate::knob::{Handle, Setting};

/// Lowest and highest frequency of a channel in Hz.
pub(crate) type Range = (f64, f64);

/// The properties that knobs of a change or an agent turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Turned {
    pub powers: bool,
    pub channels: bool,
}

impl Turned {
    /// Those and what `handles` turn.
    pub(super) fn and_by<'a>(self, handles: impl Iterator<Item = &'a Handle>) -> Turned {
        handles.fold(self, |of, handle| Turned {
            powers: of.powers || handle.knob.setting == Setting::TxPower,
            channels: of.channels || handle.knob.setting == Setting::Channel,
        })
    }

    /// Whether they need powers between all nodes.
    pub(super) fn any(self) -> bool {
        self.powers || self.channels
    }
}
