//! A frame exchange: who sends what to whom, since when, and by what right. It is what joins the air, channel access and a
//! sender.

use lasthop_observe::{NodeId, Outcome};
use lasthop_units::{Duration, Time};

use crate::ids::{ExchangeId, FunctionId, SenderId};
use crate::sender::psdu::Psdu;

/// How an exchange came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// a function has won the medium for it; its end is a success or a failure of that function
    Won(FunctionId),
    /// another exchange lets it happen; no function has to do with it
    #[cfg_attr(not(test), expect(dead_code, reason = "triggered exchanges come with OFDMA"))]
    Granted(ExchangeId),
}

/// A frame exchange.
pub(crate) struct Exchange {
    /// the radio that began it
    pub by: NodeId,
    pub start: Start,
    pub sender: SenderId,
    /// what it is about
    pub psdu: Psdu,
    /// when it began, or the latest of its TXOP
    pub began: Time,
    /// when the TXOP ends, if its limit is not zero
    pub txop_ends: Option<Time>,
    /// how long a TXOP lasts at most
    pub txop_limit: Duration,
    /// whether its radio has other functions
    pub has_siblings: bool,
    /// whether RTS or CTS may precede its data, whatever the rate control says
    pub may_announce: bool,
    /// what the first MPDU that was lost was lost to, while others arrived
    pub lost_to: Option<Outcome>,
}

impl Exchange {
    /// Of the function `id` of radio `by`, which has not begun yet: alone, and without announcements.
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
