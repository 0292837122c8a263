//! Frame exchanges: who began it, how, for whom, and since when. An exchange joins the air, channel access and senders.
//!
//! An exchange lives from the win of its function to its end, also while stations answer its triggers; the exchanges of a TXOP that follow one
//! another are one value. It has a user for each part of its data PPDU, in the same order: one, or several under OFDMA.

use std::ops::{Index, IndexMut};

use lasthop_observe::{NodeId, Outcome};
use lasthop_units::{Duration, Time};

use crate::air::received::Reception;
use crate::air::reception::Receptions;
use crate::ids::{ExchangeId, FunctionId, SenderId};
use crate::multi_user::Plan;
use crate::phy::Ru;
use crate::sender::psdu::Psdu;

/// The share of an exchange that is for one sender and one receiver.
pub(crate) struct User {
    pub sender: SenderId,
    /// the MPDUs that it sends
    pub psdu: Psdu,
    /// which of them have arrived
    pub received: Receptions,
    /// why the first lost MPDU was lost, if others arrived
    pub lost_to: Option<Outcome>,
    /// the unit of the channel that it has, in a PPDU of several users
    pub ru: Ru,
    /// place of that unit among those of its PPDUs
    pub unit: u32,
    /// whether it has drawn that unit, rather than being named by a trigger; until then it has none
    pub is_random: bool,
    /// how the latest PPDU of several users was received by this one, or from this one
    pub heard: Option<Reception>,
    /// bytes that waited at its station besides its own MPDUs when these were put together, as their QoS Control fields say
    pub queued: u64,
}

impl User {
    /// A user with nothing to send yet.
    pub(crate) fn of(sender: SenderId, radio: NodeId) -> User {
        let (psdu, received) = (Psdu::new(radio), Receptions::default());
        User {
            sender,
            psdu,
            received,
            lost_to: None,
            ru: Ru::Tones242,
            unit: 0,
            is_random: false,
            heard: None,
            queued: 0,
        }
    }
}

/// A frame exchange.
pub(crate) struct Exchange {
    /// the radio that began it
    pub by: NodeId,
    /// the function that has won the medium for it, and succeeds or fails with it
    pub won_by: FunctionId,
    /// the user of the first part of its PPDUs
    pub user: User,
    /// those of the others
    pub others: Vec<User>,
    /// units of a PPDU of several users
    pub units: u32,
    /// its purpose
    pub plan: Plan,
    /// start of the exchange, or of the latest exchange of its TXOP
    pub began: Time,
    /// end of the TXOP, if its limit is not zero
    pub txop_ends: Option<Time>,
    /// true if it has failed, and only goes on to the end of a response that its initiator does not hear
    pub is_given_up: bool,
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
    /// whether it may serve several users at once
    pub serves_several: bool,
    /// whether its data report how much waits, to an access point that asks stations for data
    pub reports_queue: bool,
    /// the longest duration of a TXOP
    pub txop_limit: Duration,
    /// end of the time in which it has the parameters of MU EDCA
    pub mu_edca_until: Time,
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
    fn of(by: NodeId, won_by: FunctionId) -> Exchange {
        let (user, others, plan) = (User::of(won_by.sender(), by), Vec::new(), Plan::Single);
        let began = Time::ZERO;
        Exchange { by, won_by, user, others, units: 1, plan, began, txop_ends: None, is_given_up: false }
    }

    /// Serves these users, of whom there is one at least.
    pub(crate) fn serve(&mut self, users: Vec<User>, plan: Plan) {
        let mut users = users.into_iter();
        self.user = users.next().expect("an exchange has a user");
        self.others = users.collect();
        (0..).zip(&mut self.others).for_each(|(place, user)| user.unit = place + 1);
        self.units = 1 + self.others.len() as u32;
        self.plan = plan;
    }

    /// All its users, in the order of the parts.
    pub(crate) fn users(&self) -> impl Iterator<Item = &User> + Clone {
        std::iter::once(&self.user).chain(&self.others)
    }

    /// The same, to be changed.
    pub(crate) fn users_mut(&mut self) -> impl Iterator<Item = &mut User> {
        std::iter::once(&mut self.user).chain(&mut self.others)
    }

    /// Users that have drawn the same unit of a PPDU have collided: no MPDU of theirs is decoded.
    pub(crate) fn collide_in_units(&mut self) {
        let drawn: Vec<u32> = self.others.iter().filter(|user| user.is_random).map(|user| user.unit).collect();
        let is_shared = |unit: u32| drawn.iter().filter(|other| **other == unit).count() > 1;
        for user in self.others.iter_mut().filter(|user| user.is_random && is_shared(user.unit)) {
            user.heard = Some(Reception::Collided);
            user.lost_to = Some(Reception::Collided.outcome());
            user.received.decoded.fill(false);
        }
    }

    /// The user of a part.
    pub(crate) fn user_mut(&mut self, place: usize) -> &mut User {
        match place {
            0 => &mut self.user,
            place => &mut self.others[place - 1],
        }
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
        if exchange.plan != Plan::Single {
            exchange.plan = Plan::Single;
            exchange.others.clear();
        }
        (exchange.by, exchange.won_by) = (facts.by, id);
        exchange.user.sender = id.sender();
        // All else is set with the MPDUs that it sends.
        exchange.user.psdu.follows = Duration::ZERO;
        exchange.is_given_up = false;
        (exchange.began, exchange.txop_ends) = (now, facts.txop_ends(now));
        place
    }

    #[cold]
    fn one_more(&mut self) -> ExchangeId {
        self.all.push(Exchange::of(NodeId(0), FunctionId(0)));
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
