//! A frame exchange in progress, and its effect on each flow once its outcome is known.
//!
//! ```text
//! | RTS | CTS | data PPDU: best | beyond best | Ack |        succeeded
//!   control       own data, ACKs   rate below    control
//! | data PPDU |                                            failed: all of it to the cause of the loss
//! ```
//! An A-MPDU counts by its decoded MPDUs, and is shared among flows by their bytes: the rest is waiting.

use lasthop_units::{Duration, Time};

use super::flow::FlowBook;
use crate::account::term::{Place, Rival, Term};
use crate::{End, FlowId, LinkId, NodeId, Outcome, Payload, Start};

/// The relation of a flow to an exchange in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// it carries packets of the flow
    Own,
    /// packets at the head of a MAC wait for it
    Behind,
    /// packets in a queue wait for it, whose node may not contend or may
    Queued(Place, bool),
}

/// The PPDU of an exchange with packets.
#[derive(Clone, Copy)]
struct DataPpdu {
    airtime: Duration,
    at_best: Duration,
    padding: Duration,
    triggered: bool,
}

/// A frame exchange in progress.
pub(super) struct Exchange {
    pub id: u32,
    pub initiator: NodeId,
    link: Option<LinkId>,
    of_several: bool,
    pub channel: u32,
    to_all: bool,
    pub began: Time,
    /// Nodes that have noticed a PPDU of it, if not all notice the same.
    pub noticed: Vec<bool>,
    /// Flows it carries, with their bytes of data and of pure ACKs.
    pub carried: Vec<(FlowId, u32, u32)>,
    /// The data PPDU.
    data: Option<DataPpdu>,
    /// The MAC's outcome.
    pub outcome: Option<Outcome>,
    mpdus: u32,
    decoded: u32,
    lost_to: Option<Outcome>,
    /// Time of flows in it.
    pub booked: Vec<(FlowId, Class, Duration)>,
}

/// `whole` times `part` over `of`, rounded down.
pub(super) fn share(whole: Duration, part: u64, of: u64) -> Duration {
    let share = u128::from(whole.as_nanos()) * u128::from(part) / u128::from(of.max(1));
    Duration::from_nanos(share as u64)
}

fn term_of(loss: Outcome) -> Term {
    match loss {
        Outcome::Unknown => unreachable!("an account is of a simulation"),
        Outcome::Collision => Term::Collisions,
        Outcome::Interference => Term::Interference,
        Outcome::Interferer => Term::Interferers,
        Outcome::Noise | Outcome::Success => Term::Noise,
    }
}

impl Exchange {
    pub fn new(id: u32, now: Time, start: &Start, nodes: usize) -> Exchange {
        Exchange {
            id,
            initiator: start.initiator,
            link: start.link,
            of_several: start.of_several,
            channel: start.channel,
            to_all: start.to_all,
            began: now,
            noticed: vec![false; if start.to_all { 0 } else { nodes }],
            carried: Vec::new(),
            data: None,
            outcome: None,
            mpdus: 1,
            decoded: 1,
            lost_to: None,
            booked: Vec::new(),
        }
    }

    /// Adds a PPDU that starts.
    pub fn add(&mut self, start: &Start) {
        if start.payload == Payload::Packets {
            let Start { airtime, at_best, padding, .. } = *start;
            self.data = Some(DataPpdu { airtime, at_best, padding, triggered: start.node != start.initiator });
        }
    }

    /// Adds packets of this flow; false if the flow was known.
    pub fn carry(&mut self, flow: FlowId, data_bytes: u32, ack_bytes: u32) -> bool {
        let is_new = !self.carries(flow);
        if is_new {
            self.carried.push((flow, data_bytes, ack_bytes));
        }
        is_new
    }

    pub fn carries(&self, flow: FlowId) -> bool {
        self.carried.iter().any(|(carried, ..)| *carried == flow)
    }

    pub fn is_noticed_by(&self, node: NodeId, channel: u32) -> bool {
        let by_all = self.to_all && self.channel == channel;
        by_all || self.initiator == node || self.noticed.get(node.index()).is_some_and(|noticed| *noticed)
    }

    /// Notes the end of a PPDU.
    pub fn note_end(&mut self, end: &End) {
        if end.node == self.initiator {
            (self.mpdus, self.decoded) = (end.mpdus, end.decoded);
        }
        if end.decoded < end.mpdus {
            self.lost_to = end.lost_to;
        }
    }

    /// Whether that was its last PPDU. After an acknowledgement a TXOP may continue, with another exchange.
    pub fn is_over(&self, end: &End) -> bool {
        !end.goes_on || self.outcome.is_some()
    }

    /// Bytes of data and of pure ACKs in it.
    pub fn bytes(&self) -> (u64, u64) {
        let sum = |of: fn(&(FlowId, u32, u32)) -> u32| self.carried.iter().map(|c| u64::from(of(c))).sum();
        (sum(|c| c.1), sum(|c| c.2))
    }

    /// Its name for flows that waited for it.
    fn rival(&self) -> Rival {
        match (self.link, self.outcome) {
            (None, _) => Rival::Beacons,
            (_, Some(Outcome::Collision | Outcome::Interference)) => Rival::Collisions,
            _ if self.of_several => Rival::Several(self.initiator),
            (Some(link), _) => Rival::Link(link),
        }
    }

    /// The padding in part of its data PPDU's airtime, and the time that this part would take at the best rate.
    pub fn padding_and_best(&self, on_air: Duration) -> (Duration, Duration) {
        let Some(of) = self.data else { return (Duration::ZERO, on_air) };
        let part = |spent: Duration| share(on_air, spent.as_nanos(), of.airtime.as_nanos());
        let padding = of.padding.min(of.airtime);
        (part(padding), part(of.at_best.min(of.airtime - padding)))
    }

    /// Books each flow's time in it at its end.
    pub fn settle(self, now: Time, flows: &mut [FlowBook]) {
        let rival = self.rival();
        for &(flow, class, spent) in &self.booked {
            let book = &mut flows[flow.index()];
            match class {
                Class::Own => self.settle_own(now, flow, spent, book),
                Class::Behind => book.add_wait(rival, spent),
                Class::Queued(place, held) => book.add_queued(place, held, Some(rival), spent),
            }
        }
    }

    fn settle_own(&self, now: Time, flow: FlowId, spent: Duration, book: &mut FlowBook) {
        let (_, data, acks) = *self.carried.iter().find(|(id, ..)| *id == flow).expect("it carries this flow");
        let (data, acks) = (u64::from(data), u64::from(acks));
        let (all_data, all_acks) = self.bytes();
        let own = share(spent, data + acks, all_data + all_acks);
        if own < spent {
            book.add_wait(self.rival(), spent - own);
        }
        let failed = self.outcome.map_or(self.lost_to, |outcome| (outcome != Outcome::Success).then_some(outcome));
        if let Some(loss) = failed {
            return book.add(term_of(loss), own);
        }
        let Some(DataPpdu { airtime, triggered, .. }) = self.data else { return book.add(Term::OwnControl, own) };
        let whole = now.since(self.began).as_nanos();
        let on_air = share(own, airtime.as_nanos().min(whole), whole);
        book.add(Term::OwnControl, own - on_air);
        let arrived = share(on_air, u64::from(self.decoded), u64::from(self.mpdus));
        book.add(self.lost_to.map_or(Term::Noise, term_of), on_air - arrived);
        let (padding, best) = self.padding_and_best(arrived);
        book.add(Term::Padding, padding);
        book.add(Term::RateBelowBest, arrived - padding - best);
        if triggered {
            return book.add(Term::Triggered, best);
        }
        let of_data = share(best, data, data + acks);
        book.add(Term::OwnData, of_data);
        book.add(Term::OwnAcks, best - of_data);
    }
}
