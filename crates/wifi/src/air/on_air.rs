//! PPDUs on the air, and their overlaps.

use lasthop_observe::NodeId;
use lasthop_units::Time;

use crate::ids::TxId;
use crate::ppdu::Ppdu;

/// Another PPDU on the air at the same time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overlap {
    pub node: NodeId,
    pub start: Time,
    pub end: Time,
}

/// A PPDU on the air.
#[derive(Clone, Debug)]
pub(crate) struct Transmission {
    pub id: TxId,
    pub ppdu: Ppdu,
    pub start: Time,
    pub end: Time,
    /// True if another PPDU on its channel overlaps it.
    pub is_disturbed: bool,
    /// True if one of these began earlier.
    pub came_second: bool,
    /// The overlapping PPDUs, if their senders matter: if nodes do not share views.
    pub overlaps: Vec<Overlap>,
}
