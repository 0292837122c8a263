//! Frame exchanges: who began it, how, for whom, and since when. An exchange joins the air, channel access and senders.
//!
//! An exchange lives from the win of its function, or from its grant, to its end; the exchanges of a TXOP that follow one
//! another are one value. It has a user for each part of its data PPDU, in the same order: one, or several under OFDMA.

use std::ops::{Index, IndexMut};

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

/// What an exchange is about for one sender and one receiver.
pub(crate) struct User {
    pub sender: SenderId,
    /// the MPDUs that it sends
    pub psdu: Psdu,
    /// why the first lost MPDU was lost, if others arrived
    pub lost_to: Option<Outcome>,
}

/// A frame exchange.
pub(crate) struct Exchange {
    /// the radio that began it
    pub by: NodeId,
    pub start: Start,
    /// the user of the first part of its PPDUs
    pub user: User,
    /// start of the exchange, or of the latest exchange of its TXOP
    pub began: Time,
    /// end of the TXOP, if its limit is not zero
    pub txop_ends: Option<Time>,
}

/// Facts about a channel access function that its exchanges need.
#[derive(Clone, Copy)]
pub(crate) struct FunctionFacts {
    /// its radio
    pub by: NodeId,
    /// whether its radio has other functions
    pub has_siblings: bool,
    /// whether RTS or CTS may precede its data, whatever the rate control says
    pub may_announce: bool,
    /// the longest duration of a TXOP
    pub txop_limit: Duration,
}

impl FunctionFacts {
    /// End of a TXOP that begins now, if its length is limited.
    #[inline(always)]
    pub(crate) fn txop_ends(&self, now: Time) -> Option<Time> {
        (self.txop_limit > Duration::ZERO).then(|| now + self.txop_limit)
    }
}

impl Exchange {
    /// An exchange of radio `by` that has not begun yet.
    pub(crate) fn of(by: NodeId, start: Start, sender: SenderId) -> Exchange {
        let user = User { sender, psdu: Psdu::new(by), lost_to: None };
        Exchange { by, start, user, began: Time::ZERO, txop_ends: None }
    }
}

/// The exchanges in progress.
#[derive(Default)]
pub(crate) struct Exchanges {
    all: Vec<Exchange>,
    /// those that are over, for reuse
    free: Vec<ExchangeId>,
}

impl Exchanges {
    /// Begins an exchange of a function that has won the medium.
    #[inline(always)]
    pub(crate) fn begin(&mut self, now: Time, id: FunctionId, facts: &FunctionFacts) -> ExchangeId {
        let place = self.free.pop().unwrap_or_else(|| self.one_more());
        let exchange = &mut self[place];
        (exchange.by, exchange.start) = (facts.by, Start::Won(id));
        exchange.user.lost_to = None;
        exchange.user.sender = id.sender();
        exchange.user.psdu.clear();
        (exchange.began, exchange.txop_ends) = (now, facts.txop_ends(now));
        place
    }

    #[cold]
    fn one_more(&mut self) -> ExchangeId {
        let (by, id) = (NodeId(0), FunctionId(0));
        self.all.push(Exchange::of(by, Start::Won(id), id.sender()));
        ExchangeId(self.all.len() as u32 - 1)
    }

    /// Ends an exchange: its number may be given to another one.
    #[inline(always)]
    pub(crate) fn end(&mut self, id: ExchangeId) {
        debug_assert!(!self.free.contains(&id), "an exchange ends once");
        self.free.push(id);
    }
}

impl Index<ExchangeId> for Exchanges {
    type Output = Exchange;

    #[inline(always)]
    fn index(&self, id: ExchangeId) -> &Exchange {
        &self.all[id.index()]
    }
}

impl IndexMut<ExchangeId> for Exchanges {
    #[inline(always)]
    fn index_mut(&mut self, id: ExchangeId) -> &mut Exchange {
        &mut self.all[id.index()]
    }
}
