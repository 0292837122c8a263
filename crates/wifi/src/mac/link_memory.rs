//! What rate control did last.

use lasthop_observe::Outcome;

use crate::phy::ModeId;

/// What the rate control of a link did last, and what came of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkMemory {
    pub first: Option<ModeId>,
    pub outcome: Outcome,
}

impl Default for LinkMemory {
    fn default() -> Self {
        LinkMemory { first: None, outcome: Outcome::Success }
    }
}
