//! Frame exchanges: sender, receiver, contents, start, and how the exchange came about. An exchange joins the air,
//! channel access and a sender.

use lasthop_observe::{NodeId, Outcome};
use lasthop_units::{Duration, Time};

use crate::ids::{ExchangeId, FunctionId, SenderId};
use crate::sender::psdu::Psdu;

/// Origin of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// a function has won the medium for it, and its end is a success or a failure of that function
    Won(FunctionId),
    /// another exchange grants it, and no function has a part in it
    #[cfg_attr(not(test), expect(dead_code, reason = "triggered exchanges come with OFDMA"))]
    Granted(ExchangeId),
}

/// A frame exchange.
pub(crate) struct Exchange {
    /// the radio that began it
    pub by: NodeId,
    pub start: Start,
    pub sender: SenderId,
    /// the MPDUs it sends
    pub psdu: Psdu,
    /// start of the exchange, or of the latest exchange of its TXOP
    pub began: Time,
    /// end of the TXOP, if its limit is not zero
    pub txop_ends: Option<Time>,
    /// the longest duration of a TXOP
    pub txop_limit: Duration,
    /// whether its radio has other functions
    pub has_siblings: bool,
    /// whether RTS or CTS may precede its data, whatever the rate control says
    pub may_announce: bool,
    /// why the first lost MPDU was lost, if others arrived
    pub lost_to: Option<Outcome>,
}

impl Exchange {
    /// An exchange of the function `id` of radio `by`, not begun yet, without sibling functions and without
    /// announcements.
    pub(crate) fn of(by: NodeId, id: FunctionId, txop_limit: Duration) -> Exchange {
        Exchange {
            by,
            start: Start::Won(id),
            sender: id.sender(),
            psdu: Psdu::new(by),
            began: Time::ZERO,
            txop_ends: None,
            txop_limit,
            has_siblings: false,
            may_announce: false,
            lost_to: None,
        }
    }
}
