//! The book of a flow: the places of its packets, the reasons why its ends wait, and its time by term.

use std::collections::BTreeMap;

use lasthop_units::{Duration, Time};

use crate::account::balance::{FlowBalance, QueueTime, Traffic};
use crate::account::term::{Place, Rival, Term};
use crate::{Hold, NodeId, QueueLayer};

/// The state of a flow. Exchanges are named by their ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    /// an exchange about its packets
    Own(u32),
    /// at the head of a MAC, while this exchange has the medium
    Behind(u32),
    /// in a queue, whose station may not contend or may, while this exchange has the medium
    QueuedBehind(Place, bool, u32),
    /// in a queue, whose station may not contend or may, while the medium is free
    Queued(Place, bool),
    Term(Term),
}

/// Time in a queue whose head is chosen when the medium is won, whose station may not contend or may, by holder of the
/// medium.
type Undecided = Vec<(bool, Option<Rival>, Duration)>;

/// Removes a packet from its place.
fn one_less(packets: &mut u32) {
    *packets = packets.checked_sub(1).expect("a packet leaves where it is");
}

/// The places of a flow's packets and its time by term. Arrays are for the station and its AP; those of wires for down
/// and up.
pub(super) struct FlowBook {
    ends: [NodeId; 2],
    function: u32,
    held: bool,
    aggregates: [bool; 2],
    in_queue: [u32; 2],
    in_mac: [u32; 2],
    in_wire_queues: [u32; 2],
    /// Packets that a host has sent and that have neither arrived nor been dropped.
    alive: u32,
    pub hold: Hold,
    pub awaits_answer: bool,
    pub withholds_ack: bool,
    /// Exchanges in progress that carry its packets, in the order of starts.
    pub own: Vec<u32>,
    pub doing: Doing,
    pub since: Time,
    sums: [Duration; Term::ALL.len()],
    waits: BTreeMap<Rival, Duration>,
    queues: BTreeMap<(Place, Option<Rival>), Duration>,
    undecided: [Undecided; 2],
    traffic: [Traffic; 2],
}

impl FlowBook {
    pub fn new(ends: [NodeId; 2], function: u32, aggregates: [bool; 2]) -> FlowBook {
        FlowBook {
            ends,
            function,
            held: false,
            aggregates,
            in_queue: [0; 2],
            in_mac: [0; 2],
            in_wire_queues: [0; 2],
            alive: 0,
            hold: Hold::Application,
            awaits_answer: false,
            withholds_ack: false,
            own: Vec::new(),
            doing: Doing::Term(Term::ApplicationIdle),
            since: Time::ZERO,
            sums: [Duration::ZERO; Term::ALL.len()],
            waits: BTreeMap::new(),
            queues: BTreeMap::new(),
            undecided: Default::default(),
            traffic: Default::default(),
        }
    }

    /// Restarts the books; packets stay in their places.
    pub fn start(&mut self, now: Time) {
        self.since = now;
        self.sums = [Duration::ZERO; Term::ALL.len()];
        self.waits.clear();
        self.queues.clear();
        self.undecided = Default::default();
        self.traffic = Default::default();
    }

    /// Whether a node is one of its ends.
    pub fn is_of(&self, node: NodeId) -> bool {
        self.ends.contains(&node)
    }

    /// Whether a node is its access point.
    pub fn is_of_ap(&self, node: NodeId) -> bool {
        self.ends[1] == node
    }

    /// Packets in the queue and in the MAC of one of its ends.
    pub fn held_at(&self, node: NodeId) -> u32 {
        self.in_queue[self.side(node)] + self.in_mac[self.side(node)]
    }

    /// Its station.
    pub fn station(&self) -> NodeId {
        self.ends[0]
    }

    /// Notes whether a function of a node may not contend; returns whether it is the one of this flow.
    pub fn is_held(&mut self, node: NodeId, function: u32, held: bool) -> bool {
        let concerned = self.ends[0] == node && self.function == function;
        self.held = if concerned { held } else { self.held };
        concerned
    }

    fn side(&self, node: NodeId) -> usize {
        usize::from(node == self.ends[1])
    }

    pub fn emitted(&mut self) {
        self.alive += 1;
    }

    pub fn arrived(&mut self) {
        one_less(&mut self.alive);
    }

    pub fn wire_enters(&mut self, up: bool) {
        self.in_wire_queues[usize::from(up)] += 1;
    }

    pub fn wire_taken(&mut self, up: bool) {
        one_less(&mut self.in_wire_queues[usize::from(up)]);
    }

    pub fn enters(&mut self, node: NodeId, tcp_ack: bool) {
        let side = self.side(node);
        self.in_queue[side] += 1;
        self.traffic[side].count(tcp_ack);
    }

    pub fn taken(&mut self, node: NodeId) {
        let side = self.side(node);
        one_less(&mut self.in_queue[side]);
        self.in_mac[side] += 1;
    }

    pub fn leaves(&mut self, node: NodeId) {
        let side = self.side(node);
        one_less(&mut self.in_mac[side]);
    }

    pub fn dropped(&mut self, node: NodeId, layer: QueueLayer, tcp_ack: bool, arrived: bool) {
        if !arrived {
            one_less(&mut self.alive);
        }
        let side = self.side(node);
        match layer {
            QueueLayer::Interface => {
                one_less(&mut self.in_queue[side]);
                self.traffic[side].count_drop(tcp_ack);
            }
            QueueLayer::Mac => self.traffic[side].given_up += 1,
            QueueLayer::WiredDown => one_less(&mut self.in_wire_queues[0]),
            QueueLayer::WiredUp => one_less(&mut self.in_wire_queues[1]),
        }
    }

    /// The current state of the flow; `taken_by` gives the exchange that has the medium as a node notices it.
    pub fn state(&self, taken_by: impl Fn(NodeId) -> Option<u32>) -> Doing {
        if let Some(&exchange) = self.own.first() {
            return Doing::Own(exchange);
        }
        let heads = (0..2).filter(|&side| self.in_mac[side] > 0).map(|side| taken_by(self.ends[side]));
        match heads.min() {
            // A node that may count down does not wait.
            Some(None) if self.held && self.in_mac[1] == 0 => return Doing::Term(Term::WaitsForTrigger),
            Some(None) => return Doing::Term(Term::Backoff),
            Some(Some(exchange)) => return Doing::Behind(exchange),
            None => {}
        }
        match self.queue() {
            Some((place, Some(node))) => {
                let held = self.held && place == Place::Station;
                match taken_by(node) {
                    Some(exchange) => Doing::QueuedBehind(place, held, exchange),
                    None => Doing::Queued(place, held),
                }
            }
            Some((place, None)) => Doing::Queued(place, false),
            None => Doing::Term(self.term_of_ends()),
        }
    }

    /// The queue with waiting packets, the station's first, and its node.
    fn queue(&self) -> Option<(Place, Option<NodeId>)> {
        let [station, ap] = self.ends;
        let queues = [
            (self.in_queue[0], Place::Station, Some(station)),
            (self.in_queue[1], Place::Ap, Some(ap)),
            (self.in_wire_queues[0], Place::WireDown, None),
            (self.in_wire_queues[1], Place::WireUp, None),
        ];
        queues.into_iter().find(|(packets, ..)| *packets > 0).map(|(_, place, node)| (place, node))
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

    pub fn add(&mut self, term: Term, spent: Duration) {
        self.sums[term as usize] += spent;
    }

    /// Adds time at the head of a MAC while others had the medium.
    pub fn add_wait(&mut self, rival: Rival, spent: Duration) {
        self.add(Term::WaitingForOthers, spent);
        *self.waits.entry(rival).or_default() += spent;
    }

    /// Adds time in a queue while `rival` had the medium, or while it was free.
    pub fn add_queued(&mut self, place: Place, held: bool, rival: Option<Rival>, spent: Duration) {
        match place {
            Place::Station if self.aggregates[0] => self.undecided[0].push((held, rival, spent)),
            Place::Ap if self.aggregates[1] => self.undecided[1].push((held, rival, spent)),
            _ => self.add_queue(place, rival, spent),
        }
    }

    fn add_queue(&mut self, place: Place, rival: Option<Rival>, spent: Duration) {
        self.add(Term::Queues, spent);
        *self.queues.entry((place, rival)).or_default() += spent;
    }

    /// `node` has chosen what to send; `was_head`: packets of this flow.
    pub fn settle_heads(&mut self, node: NodeId, was_head: bool) {
        if !self.ends.contains(&node) {
            return;
        }
        let side = self.side(node);
        let place = [Place::Station, Place::Ap][side];
        for (held, rival, spent) in std::mem::take(&mut self.undecided[side]) {
            match (was_head, rival) {
                (true, Some(rival)) => self.add_wait(rival, spent),
                (true, None) if held => self.add(Term::WaitsForTrigger, spent),
                (true, None) => self.add(Term::Backoff, spent),
                (false, _) => self.add_queue(place, rival, spent),
            }
        }
    }

    pub fn close(mut self) -> FlowBalance {
        for node in self.ends {
            self.settle_heads(node, false);
        }
        let mut queues: BTreeMap<Place, QueueTime> = BTreeMap::new();
        for ((place, rival), spent) in self.queues {
            queues.entry(place).or_default().add(rival, spent);
        }
        FlowBalance {
            terms: Term::ALL.iter().map(|&term| (term, self.sums[term as usize])).collect(),
            waits: self.waits.into_iter().collect(),
            queues: queues.into_iter().collect(),
            traffic: self.traffic,
        }
    }
}
