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
use super::row::Row;
use super::term::{Rival, Term};
use crate::{End, FlowId, LinkId, NodeId, Outcome, Payload, Start};

/// The destination of a flow's time in an exchange, once its outcome is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Booking {
    /// the exchange carries packets of the flow
    Own,
    /// into this row
    To(Row),
    /// out of this row, which had been assumed for the flow
    From(Row),
}

/// The PPDU of an exchange with packets.
#[derive(Clone, Copy)]
struct DataPpdu {
    airtime: Duration,
    at_best: Duration,
    padding: Duration,
    /// Whether others than the initiator of the exchange send it.
    triggered: bool,
}

/// A frame exchange in progress; each node has one, which is reused.
#[derive(Clone)]
pub(super) struct Exchange {
    /// Whether it is in progress.
    pub in_progress: bool,
    initiator: NodeId,
    /// Its number, in the order of starts.
    pub number: u32,
    link: Option<LinkId>,
    of_several: bool,
    pub channel: u32,
    pub began: Time,
    /// Nodes that have noticed a PPDU of it, a bit each, if not all notice the same.
    pub noticed: Vec<u64>,
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
    pub booked: Vec<(FlowId, Booking, Duration)>,
    /// Segments in the logs of nodes that it had before an earlier exchange was noticed.
    pub segments: Vec<(u32, u64)>,
}

/// `whole` times `part` over `of`, rounded down.
pub(super) fn share(whole: Duration, part: u64, of: u64) -> Duration {
    if part == of && of > 0 {
        return whole;
    }
    let (whole, of) = (whole.as_nanos(), of.max(1));
    Duration::from_nanos(match whole.checked_mul(part) {
        Some(product) => product / of,
        None => (u128::from(whole) * u128::from(part) / u128::from(of)) as u64,
    })
}

fn term_of(loss: Outcome) -> Term {
    match loss {
        // Only simulations have accounts, and they know.
        Outcome::Unknown => unreachable!("an account is of a simulation"),
        Outcome::Collision => Term::Collisions,
        Outcome::Interference => Term::Interference,
        Outcome::Interferer => Term::Interferers,
        Outcome::Noise | Outcome::Success => Term::Noise,
    }
}

impl Exchange {
    /// An exchange that is not in progress.
    pub fn none() -> Exchange {
        Exchange {
            in_progress: false,
            initiator: NodeId(0),
            number: 0,
            link: None,
            of_several: false,
            channel: 0,
            began: Time::ZERO,
            noticed: Vec::new(),
            carried: Vec::new(),
            data: None,
            outcome: None,
            mpdus: 1,
            decoded: 1,
            lost_to: None,
            booked: Vec::new(),
            segments: Vec::new(),
        }
    }

    /// Begins an exchange.
    pub fn begin(&mut self, number: u32, now: Time, start: &Start) {
        self.in_progress = true;
        (self.number, self.began) = (number, now);
        (self.link, self.channel) = (start.link, start.channel);
        (self.initiator, self.of_several) = (start.initiator, start.of_several);
        (self.mpdus, self.decoded) = (1, 1);
        (self.data, self.outcome, self.lost_to) = (None, None, None);
        self.noticed.fill(0);
        self.carried.clear();
        self.booked.clear();
        self.segments.clear();
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

    /// Marks nodes, by the bits of 64 nodes from `64 * word` on. Returns those that had not noticed it yet.
    pub fn notice(&mut self, word: usize, bits: u64) -> u64 {
        if self.noticed.len() <= word {
            self.noticed.resize(word + 1, 0);
        }
        let fresh = bits & !self.noticed[word];
        self.noticed[word] |= bits;
        fresh
    }

    /// From now on a node does not notice it.
    pub fn unnotice(&mut self, node: NodeId) {
        if let Some(bits) = self.noticed.get_mut(node.index() / 64) {
            *bits &= !(1 << (node.0 % 64));
        }
    }

    /// Whether `node` has noticed a PPDU of it.
    pub fn is_noticed_by(&self, node: NodeId) -> bool {
        self.noticed.get(node.index() / 64).is_some_and(|bits| bits >> (node.0 % 64) & 1 == 1)
    }

    /// Notes the end of a PPDU.
    pub fn note_end(&mut self, end: &End) {
        if end.node == end.initiator {
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
        if let [(_, data, acks)] = self.carried[..] {
            return (u64::from(data), u64::from(acks));
        }
        let add = |(all_data, all_acks), (_, data, acks): &(_, u32, u32)| {
            (all_data + u64::from(*data), all_acks + u64::from(*acks))
        };
        self.carried.iter().fold((0, 0), add)
    }

    /// Its name for flows that waited for it.
    pub fn rival(&self) -> Rival {
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

    /// Books a flow's time in its own exchange at its end; `code`: the exchange's code for others.
    pub fn settle_own(&self, now: Time, flow: FlowId, spent: Duration, code: usize, book: &mut FlowBook) {
        let (_, data, acks) = *self.carried.iter().find(|(id, ..)| *id == flow).expect("it carries this flow");
        let (data, acks) = (u64::from(data), u64::from(acks));
        let (all_data, all_acks) = self.bytes();
        let own = share(spent, data + acks, all_data + all_acks);
        if own < spent {
            book.add(Row::HEAD, code, spent - own);
        }
        let failed = self.outcome.map_or(self.lost_to, |outcome| (outcome != Outcome::Success).then_some(outcome));
        if let Some(loss) = failed {
            return book.add_term(term_of(loss), own);
        }
        let Some(DataPpdu { airtime, triggered, .. }) = self.data else { return book.add_term(Term::OwnControl, own) };
        let whole = now.since(self.began).as_nanos();
        let on_air = share(own, airtime.as_nanos().min(whole), whole);
        book.add_term(Term::OwnControl, own - on_air);
        let arrived = share(on_air, u64::from(self.decoded), u64::from(self.mpdus));
        book.add_term(self.lost_to.map_or(Term::Noise, term_of), on_air - arrived);
        let (padding, best) = self.padding_and_best(arrived);
        book.add_term(Term::Padding, padding);
        book.add_term(Term::RateBelowBest, arrived - padding - best);
        if triggered {
            return book.add_term(Term::Triggered, best);
        }
        let of_data = share(best, data, data + acks);
        book.add_term(Term::OwnData, of_data);
        book.add_term(Term::OwnAcks, best - of_data);
    }
}
