//! The book of a flow: the places of its packets, the reasons why its ends wait, and its time by term.

use std::collections::BTreeMap;

use lasthop_units::{Duration, Time};

use super::balance::{FlowBalance, QueueTime, Traffic};
use super::medium_log::{Mark, Rivals, duration};
use super::row::Row;
use super::term::{Place, Rival, Term};
use crate::{FlowId, Hold, NodeId, QueueLayer};

/// The state of a flow, regardless of the holder of the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    /// the exchange of this node carries its packets
    Own(NodeId),
    /// its packets are at the head of a MAC: the station's, its AP's, or both
    Head([bool; 2]),
    /// its packets are at the head of the station's MAC only, which may not contend
    Held,
    /// its packets are in the queue of the station, or of its AP
    Queued(usize),
    /// its packets are in the queue of the station, which may not contend
    QueuedHeld,
    /// its packets are in the queue of a wire: down, or up
    Wire(usize),
    Term(Term),
}

impl Doing {
    /// The side in whose queue its packets are: the station's, or its AP's.
    pub fn queue(self) -> Option<usize> {
        match self {
            Doing::Queued(side) => Some(side),
            Doing::QueuedHeld => Some(0),
            _ => None,
        }
    }
}

/// Places of packets, in order of precedence; the first bit is for exchanges that carry them.
const OWN: u8 = 1;
const IN_MAC: [usize; 2] = [1, 2];
const IN_QUEUE: [usize; 2] = [3, 4];
const ON_WIRE: [usize; 2] = [5, 6];

/// Removes an item from a short list; the latest is more often than not removed first.
pub(super) fn take_out<T: PartialEq>(list: &mut Vec<T>, what: &T) {
    if list.last() == Some(what) {
        list.pop();
    } else {
        list.retain(|other| other != what);
    }
}

/// Whether the state of a flow may change when the bits of its packets' places change: if the first set bit changes, if
/// a MAC's does, as both MACs count, or if there were no packets.
#[inline(always)]
pub(super) fn may_do_another(before: u8, after: u8) -> bool {
    const MACS: u8 = 1 << IN_MAC[0] | 1 << IN_MAC[1];
    let changed = before ^ after;
    // Bits up to the first set one; all, if none is set.
    let first = before ^ before.wrapping_sub(1);
    changed & (first | MACS) != 0 || before == 0
}

/// Removes a packet from its place.
fn one_less(packets: &mut u32) {
    *packets = packets.checked_sub(1).expect("a packet leaves where it is");
}

/// The places of a flow's packets and its time by term. Arrays are for the station and its AP; those of wires for down
/// and up.
#[derive(Clone)]
pub(super) struct FlowBook {
    pub ends: [NodeId; 2],
    /// Whether they make A-MPDUs.
    pub aggregates: [bool; 2],
    /// Their logs of the medium.
    pub logs: [u32; 2],
    pub channel: u32,
    /// The function of the station that carries its packets.
    pub function: u32,
    /// Whether that may not contend.
    pub held: bool,
    /// A bit for each place with packets.
    places: u8,
    packets: [u32; 7],
    /// Packets that a host has sent and that have neither arrived nor been dropped.
    alive: u32,
    pub hold: Hold,
    pub awaits_answer: bool,
    pub withholds_ack: bool,
    /// Initiators of exchanges in progress that carry its packets, in the order of starts.
    own: Vec<NodeId>,
    pub doing: Doing,
    /// Start of the time not booked yet, if it is not looked up.
    pub since: Time,
    /// The time and positions up to which the medium has been looked up.
    pub looked_up: (Time, [Mark; 2]),
    /// The row for all time that is not looked up.
    pub assumed: Option<Row>,
    /// Segments that another assumption would have saved since this one was made.
    pub regret: usize,
    /// The row of the last lookup.
    pub leaning: Option<Row>,
    sums: [Duration; Term::ALL.len()],
    rows: [Vec<u64>; Row::ALL],
    on_wires: [Duration; 2],
    /// Whether the flow has been in the queue of the station, of its AP, or of the wires, with the medium free.
    seen: [bool; 4],
    /// The same since the last choice of a head.
    seen_undecided: [bool; 2],
    has_undecided: [bool; 2],
    /// Whether it is in the list of flows affected by the next choice of a head.
    pub listed: [bool; 2],
    traffic: [Traffic; 2],
}

impl FlowBook {
    pub fn new(ends: [NodeId; 2], function: u32, aggregates: [bool; 2], channel: u32, mark: Mark) -> FlowBook {
        FlowBook {
            ends,
            aggregates,
            logs: [channel; 2],
            channel,
            function,
            held: false,
            places: 0,
            packets: [0; 7],
            alive: 0,
            hold: Hold::Application,
            awaits_answer: false,
            withholds_ack: false,
            own: Vec::new(),
            doing: Doing::Term(Term::ApplicationIdle),
            since: Time::ZERO,
            looked_up: (Time::ZERO, [mark; 2]),
            assumed: None,
            regret: 0,
            leaning: None,
            sums: [Duration::ZERO; Term::ALL.len()],
            rows: Default::default(),
            on_wires: [Duration::ZERO; 2],
            seen: [false; 4],
            seen_undecided: [false; 2],
            has_undecided: [false; 2],
            listed: [false; 2],
            traffic: Default::default(),
        }
    }

    /// Restarts the books; packets stay in their places.
    pub fn start(&mut self, now: Time) {
        self.since = now;
        self.sums = [Duration::ZERO; Term::ALL.len()];
        self.rows.iter_mut().for_each(|row| row.fill(0));
        self.on_wires = [Duration::ZERO; 2];
        self.seen = [false; 4];
        self.seen_undecided = [false; 2];
        self.has_undecided = [false; 2];
        self.traffic = Default::default();
    }

    /// A bit for each place with packets.
    #[inline(always)]
    pub fn places(&self) -> u8 {
        self.places
    }

    /// Packets in the queue and in the MAC of a node.
    pub fn held_at(&self, node: NodeId) -> u32 {
        let side = self.side(node);
        self.packets[IN_QUEUE[side]] + self.packets[IN_MAC[side]]
    }

    #[inline(always)]
    pub fn side(&self, node: NodeId) -> usize {
        usize::from(node == self.ends[1])
    }

    #[inline(always)]
    fn one_more(&mut self, place: usize) {
        self.packets[place] += 1;
        self.places |= 1 << place;
    }

    #[inline(always)]
    fn one_less(&mut self, place: usize) {
        one_less(&mut self.packets[place]);
        self.places &= !(u8::from(self.packets[place] == 0) << place);
    }

    #[inline(always)]
    pub fn emitted(&mut self) {
        self.alive += 1;
    }

    #[inline(always)]
    pub fn arrived(&mut self) {
        one_less(&mut self.alive);
    }

    #[inline(always)]
    pub fn wire_enters(&mut self, up: bool) {
        self.one_more(ON_WIRE[usize::from(up)]);
    }

    #[inline(always)]
    pub fn wire_taken(&mut self, up: bool) {
        self.one_less(ON_WIRE[usize::from(up)]);
    }

    #[inline(always)]
    pub fn enters(&mut self, node: NodeId, tcp_ack: bool) {
        let side = self.side(node);
        self.one_more(IN_QUEUE[side]);
        self.traffic[side].count(tcp_ack);
    }

    #[inline(always)]
    pub fn taken(&mut self, node: NodeId) {
        let side = self.side(node);
        self.one_less(IN_QUEUE[side]);
        self.one_more(IN_MAC[side]);
    }

    #[inline(always)]
    pub fn leaves(&mut self, node: NodeId) {
        let side = self.side(node);
        self.one_less(IN_MAC[side]);
    }

    #[inline(always)]
    pub fn dropped(&mut self, node: NodeId, layer: QueueLayer, tcp_ack: bool, arrived: bool) {
        if !arrived {
            one_less(&mut self.alive);
        }
        let side = self.side(node);
        match layer {
            QueueLayer::Interface => {
                self.one_less(IN_QUEUE[side]);
                self.traffic[side].count_drop(tcp_ack);
            }
            QueueLayer::Mac => self.traffic[side].given_up += 1,
            QueueLayer::WiredDown => self.one_less(ON_WIRE[0]),
            QueueLayer::WiredUp => self.one_less(ON_WIRE[1]),
        }
    }

    /// Adds an exchange of `node` that carries its packets.
    pub fn is_carried_by(&mut self, node: NodeId) {
        self.own.push(node);
        self.places |= OWN;
    }

    /// Removes that exchange.
    pub fn is_carried_no_more(&mut self, node: NodeId) {
        take_out(&mut self.own, &node);
        self.places &= !u8::from(self.own.is_empty());
    }

    /// The current state of the flow.
    #[inline(always)]
    pub fn does_now(&self) -> Doing {
        let place = self.places.trailing_zeros() as usize;
        match place {
            0 => Doing::Own(self.own[0]),
            1 if self.held && self.places >> IN_MAC[1] & 1 == 0 => Doing::Held,
            1 | 2 if self.shares_log() => Doing::Head([true, false]),
            1 | 2 => Doing::Head(IN_MAC.map(|place| self.places >> place & 1 == 1)),
            3 if self.held => Doing::QueuedHeld,
            3 | 4 => Doing::Queued(place - IN_QUEUE[0]),
            5 | 6 => Doing::Wire(place - ON_WIRE[0]),
            _ => Doing::Term(self.term_of_ends()),
        }
    }

    /// Whether both its ends have the same hearing.
    pub fn shares_log(&self) -> bool {
        self.logs[0] == self.logs[1]
    }

    /// The term if no packet is in a queue or MAC.
    fn term_of_ends(&self) -> Term {
        let under_way = self.alive > 0 || self.withholds_ack;
        match self.hold {
            Hold::Pacing => Term::Pacing,
            Hold::Device => Term::Device,
            Hold::ReceiveWindow if under_way || self.awaits_answer => Term::ReceiveWindow,
            Hold::CongestionWindow if under_way => Term::CongestionWindow,
            Hold::Opening if under_way => Term::Opening,
            Hold::Application if under_way => Term::OnTheWire,
            _ if self.awaits_answer => Term::RtoSilence,
            Hold::Application => Term::ApplicationIdle,
            Hold::Opening | Hold::CongestionWindow | Hold::ReceiveWindow => Term::Unattributed,
        }
    }

    /// The row of the flow's time in its state, by holder of the medium.
    pub fn row(&self) -> Option<Row> {
        match self.doing {
            Doing::Head(_) => Some(Row::HEAD),
            Doing::Held => Some(Row::HELD),
            Doing::QueuedHeld if self.aggregates[0] => Some(Row::UNDECIDED_HELD),
            Doing::QueuedHeld => Some(Row::QUEUES[0]),
            Doing::Queued(side) if self.aggregates[side] => Some(Row::UNDECIDED[side]),
            Doing::Queued(side) => Some(Row::QUEUES[side]),
            Doing::Own(_) | Doing::Wire(_) | Doing::Term(_) => None,
        }
    }

    pub fn add_term(&mut self, term: Term, spent: Duration) {
        self.sums[term as usize] += spent;
    }

    pub fn add_wire(&mut self, wire: usize, spent: Duration) {
        self.on_wires[wire] += spent;
        self.seen[2 + wire] = true;
    }

    /// Adds time in a row while the rival of a code had the medium.
    pub fn add(&mut self, row: Row, code: usize, spent: Duration) {
        let cell = &mut self.cells(row, code + 1)[code];
        *cell = cell.wrapping_add(spent.as_nanos());
    }

    /// Subtracts it.
    pub fn take_away(&mut self, row: Row, code: usize, spent: Duration) {
        let cell = &mut self.cells(row, code + 1)[code];
        *cell = cell.wrapping_sub(spent.as_nanos());
    }

    /// Nanoseconds by code.
    fn cells(&mut self, row: Row, codes: usize) -> &mut [u64] {
        if let Some(side) = row.undecided_side() {
            self.has_undecided[side] = true;
        }
        let row = &mut self.rows[row.index()];
        if row.len() < codes {
            row.resize(codes, 0);
        }
        row
    }

    /// The same for two different rows; empty for none.
    #[inline(always)]
    pub fn two_rows(&mut self, one: Option<Row>, other: Option<Row>, codes: usize) -> [&mut [u64]; 2] {
        for row in [one, other].into_iter().flatten() {
            self.cells(row, codes);
        }
        match [one, other].map(|row| row.map(Row::index)) {
            [Some(one), Some(other)] => {
                let rows = self.rows.get_disjoint_mut([one, other]).expect("two rows of those that there are");
                rows.map(Vec::as_mut_slice)
            }
            [Some(one), None] => [&mut self.rows[one], &mut []],
            [None, Some(other)] => [&mut [], &mut self.rows[other]],
            [None, None] => [&mut [], &mut []],
        }
    }

    /// The medium was free while packets were in the queue of a side; that time went into a row.
    pub fn see_free(&mut self, side: usize, row: Option<Row>) {
        self.seen[side] |= row == Some(Row::QUEUES[side]);
        self.seen_undecided[side] |= row.and_then(Row::undecided_side) == Some(side);
    }

    /// From now on the next choice of the node of a side matters.
    pub fn list(&mut self, side: usize, id: FlowId, undecided: &mut [Vec<FlowId>]) {
        if !std::mem::replace(&mut self.listed[side], true) {
            undecided[self.ends[side].index()].push(id);
        }
    }

    /// Changes the row for time that is not looked up: `clocks` are those of the medium, which has been free for `free`
    /// since they were read.
    pub fn assume(&mut self, row: Option<Row>, clocks: &[u64], free: Duration) {
        for (from, sign) in [(self.assumed, 1), (row, u64::MAX)] {
            let Some(from) = from else { continue };
            let cells = self.cells(from, clocks.len());
            for (cell, clock) in cells.iter_mut().zip(clocks) {
                *cell = cell.wrapping_add(clock.wrapping_mul(sign));
            }
            cells[0] = cells[0].wrapping_add(free.as_nanos().wrapping_mul(sign));
        }
        (self.assumed, self.regret) = (row, 0);
    }

    /// A node has chosen what to send; `was_head`: packets of this flow.
    pub fn settle_heads(&mut self, side: usize, was_head: bool) {
        let was_free = std::mem::take(&mut self.seen_undecided[side]);
        self.seen[side] |= was_free && !was_head;
        if !std::mem::take(&mut self.has_undecided[side]) {
            return;
        }
        self.settle_row(Row::UNDECIDED[side], if was_head { Row::HEAD } else { Row::QUEUES[side] });
        if side == 0 {
            self.settle_row(Row::UNDECIDED_HELD, if was_head { Row::HELD } else { Row::QUEUES[0] });
        }
    }

    /// Moves what is in a row to another.
    fn settle_row(&mut self, from: Row, to: Row) {
        let undecided = std::mem::take(&mut self.rows[from.index()]);
        let cells = self.cells(to, undecided.len());
        cells.iter_mut().zip(&undecided).for_each(|(cell, spent)| *cell = cell.wrapping_add(*spent));
        let emptied = &mut self.rows[from.index()];
        *emptied = undecided;
        emptied.fill(0);
    }

    /// Closes the books; everything is booked.
    pub fn close(mut self, rivals: &Rivals) -> FlowBalance {
        for side in 0..2 {
            self.settle_heads(side, false);
        }
        let [head, station, ap, held, ..] = &self.rows;
        let of_rivals = |row: &[u64]| {
            let codes = row.iter().enumerate().skip(1).filter(|(_, nanos)| **nanos > 0);
            let mut named: Vec<(Rival, Duration)> =
                codes.map(|(code, nanos)| (rivals.name(code).expect("it has a name"), duration(*nanos))).collect();
            named.sort_unstable_by_key(|(rival, _)| *rival);
            named
        };
        let free = |row: &[u64]| row.first().map_or(Duration::ZERO, |nanos| duration(*nanos));
        let mut waits: BTreeMap<Rival, Duration> = BTreeMap::new();
        for (rival, spent) in of_rivals(head).into_iter().chain(of_rivals(held)) {
            *waits.entry(rival).or_default() += spent;
        }
        let waits: Vec<(Rival, Duration)> = waits.into_iter().collect();
        self.sums[Term::WaitsForTrigger as usize] += free(held);
        self.sums[Term::WaitingForOthers as usize] += waits.iter().fold(Duration::ZERO, |sum, (_, spent)| sum + *spent);
        self.sums[Term::Backoff as usize] += free(head);
        let in_queues = [(free(station), of_rivals(station)), (free(ap), of_rivals(ap))];
        let on_wires = self.on_wires.map(|spent| (spent, Vec::new()));
        let places = [Place::Station, Place::Ap, Place::WireDown, Place::WireUp];
        let mut queues = Vec::new();
        for ((place, seen), (nobody, others)) in
            places.into_iter().zip(self.seen).zip(in_queues.into_iter().chain(on_wires))
        {
            let mut time = QueueTime::default();
            if seen {
                time.add(None, nobody);
            }
            others.into_iter().for_each(|(rival, spent)| time.add(Some(rival), spent));
            self.sums[Term::Queues as usize] += time.spent;
            if !time.meanwhile.is_empty() {
                queues.push((place, time));
            }
        }
        let terms = Term::ALL.iter().map(|&term| (term, self.sums[term as usize])).collect();
        FlowBalance { terms, waits, queues, traffic: self.traffic }
    }
}
