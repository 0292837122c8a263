//! The TXQs of Linux's Wi-Fi stack: packets by station and TID, in each a queue with CoDel for every flow.
//!
//! ```text
//!  packet ─► TXQ of its station and TID ─► a queue for its flow (shared by all TXQs) ─► CoDel
//! ```
//!
//! It follows mac80211 of Linux 6.18 (`net/mac80211/tx.c`, `include/net/fq_impl.h`). The order in which TXQs are served
//! is the scheduler's: `fq_mac`, `airtime_fq_codel`.

use std::ops::{Index, IndexMut};

use lasthop_engine::Stream;
use lasthop_observe::{DropReason, NodeId};
use lasthop_units::{Duration, Ecn, Time};

use super::by_class::{ByClass, Service};
use super::dualpi2::class_of;
use super::flow_queue::{Classifier, FlowQueue, FlowQueues, Limits, Round, Signals};
use super::interface::{Drop, Wanted};
use super::l4s::TxqL4s;
use super::law::Verdict;
use super::law::codel::{Codel, Settings};
use super::law::dual::{self, Backlogs, Class, Dual, Passing};
use crate::{Packet, PacketMeta};

/// Most packets that the fattest queue loses at once. [Linux `fq_flow_drop`]
const DROP_BATCH: u32 = 32;

/// Settings of all TXQs.
#[derive(Clone, Copy)]
pub(super) struct TxqSettings {
    pub limits: Limits,
    pub flows: u32,
    pub quantum: u64,
    pub codel: Settings,
    /// the treatment of L4S packets, if they are treated unlike others
    pub l4s: Option<TxqL4s>,
}

/// Packets of one station and TID.
pub(super) struct Txq {
    /// the number of its station
    pub station: u32,
    pub tid: u8,
    flows: Round,
    pub packets: u32,
    /// queue for flows whose own queue another TXQ uses at present
    collided: Option<u32>,
    /// true if it waits for its turn
    pub is_scheduled: bool,
    /// its two queues in place of flow queues
    dual: Option<Box<Pair>>,
    /// the times at which packets left it
    service: Service,
}

/// The dual queue of a TXQ.
struct Pair {
    law: Dual,
    /// its queues, by class
    queues: [u32; 2],
}

/// A station that has had packets, or was named.
struct Receiver {
    node: NodeId,
    /// the TXQ of each TID
    txqs: [Option<u32>; 8],
}

/// All TXQs of one access category, and the limits that they share. Stations and TXQs are numbered as they come.
pub(super) struct Txqs<B> {
    settings: TxqSettings,
    classifier: Classifier,
    pub queues: FlowQueues<B, Codel>,
    receivers: Vec<Receiver>,
    /// the number of a node's station
    station_of: Vec<Option<u32>>,
    txqs: Vec<Txq>,
    pub marks: u64,
    /// if L4S packets are treated unlike others
    pub by_class: Option<ByClass>,
}

impl<B> Txqs<B> {
    /// No TXQs; the key of the hash is drawn from `random`.
    pub fn new(settings: TxqSettings, mut random: Stream) -> Self {
        Txqs {
            classifier: Classifier::new(settings.flows, random.bits()),
            by_class: settings.l4s.map(|_| ByClass::default()),
            settings,
            queues: FlowQueues::default(),
            receivers: Vec::new(),
            station_of: Vec::new(),
            txqs: Vec::new(),
            marks: 0,
        }
    }

    /// Sets the target of CoDel.
    pub fn set_target(&mut self, target: Duration) {
        self.settings.codel.target = target;
    }

    /// The number of a station that has come up.
    pub fn known_station(&self, node: NodeId) -> Option<u32> {
        self.station_of.get(node.0 as usize).copied().flatten()
    }

    /// The number of a station; a new one has the highest.
    pub fn station(&mut self, node: NodeId) -> u32 {
        let place = node.0 as usize;
        if place >= self.station_of.len() {
            self.station_of.resize(place + 1, None);
        }
        *self.station_of[place].get_or_insert_with(|| {
            self.receivers.push(Receiver { node, txqs: [None; 8] });
            self.receivers.len() as u32 - 1
        })
    }

    /// The node of a station.
    pub fn node(&self, station: u32) -> NodeId {
        self.receivers[station as usize].node
    }

    /// The TXQs of a station.
    pub fn of_station(&self, station: u32) -> impl Iterator<Item = u32> + Clone + use<B> {
        self.receivers[station as usize].txqs.into_iter().flatten()
    }

    /// The TXQ of a packet.
    fn txq(&mut self, packet: &PacketMeta) -> u32 {
        let station = self.station(packet.station);
        let (quantum, l4s, queues) = (self.settings.quantum, self.settings.l4s, &mut self.queues);
        *self.receivers[station as usize].txqs[usize::from(packet.tid & 7)].get_or_insert_with(|| {
            let name = self.txqs.len() as u32;
            let (tid, flows) = (packet.tid, Round::new(name, quantum));
            let dual = match l4s {
                Some(TxqL4s::Dual(settings)) => Some(Box::new(Pair::new(&settings, queues, name))),
                _ => None,
            };
            let service = Service::default();
            self.txqs.push(Txq { station, tid, flows, packets: 0, collided: None, is_scheduled: false, dual, service });
            name
        })
    }

    /// The queue of a flow, or the TXQ's own if another TXQ uses that one. [Linux `fq_flow_classify`]
    fn classify(&mut self, packet: &PacketMeta, txq: u32) -> u32 {
        let queue = self.classifier.queue(packet, || self.queues.add(Codel::default()));
        if self.queues[queue].round.is_none_or(|user| user == txq) {
            return queue;
        }
        *self.txqs[txq as usize].collided.get_or_insert_with(|| self.queues.add(Codel::default()))
    }

    /// Adds a packet, and drops others if the limits are exceeded; returns the packet's TXQ.
    pub fn push(&mut self, now: Time, packet: Packet<B>, dropped: &mut Vec<Drop<B>>) -> u32 {
        let txq = self.txq(&packet.meta);
        if let (Some(pair), Some(TxqL4s::Dual(settings))) = (&mut self.txqs[txq as usize].dual, &self.settings.l4s) {
            pair.law.catch_up(settings, now, &pair.backlogs(&self.queues));
            self.queues.push(pair.queues[class_of(&packet.meta) as usize], packet);
            self.txqs[txq as usize].packets += 1;
            self.keep_limits(dropped);
            return txq;
        }
        let queue = self.classify(&packet.meta, txq);
        self.queues.push(queue, packet);
        let this = &mut self.txqs[txq as usize];
        this.packets += 1;
        this.flows.admit(&mut self.queues[queue], queue);
        self.keep_limits(dropped);
        txq
    }

    /// Drops from the fattest queue until the limits hold. [Linux `fq_tin_enqueue`]
    fn keep_limits(&mut self, dropped: &mut Vec<Drop<B>>) {
        while self.queues.is_over(self.settings.limits) {
            let Some(fattest) = self.queues.fattest() else {
                return;
            };
            let batch = (self.queues[fattest].packets() / 2).clamp(1, DROP_BATCH);
            let user = self.queues[fattest].round.expect("a queue with packets is in the round of a TXQ");
            for _ in 0..batch {
                dropped.extend(self.queues.pop(fattest, Wanted::ANY).map(|p| (p, DropReason::QueueFull)));
                self.txqs[user as usize].packets -= 1;
            }
        }
    }

    /// Removes the next packet of a TXQ, if CoDel leaves any. [Linux `ieee80211_tx_dequeue`]
    pub fn pop(&mut self, now: Time, txq: u32, dropped: &mut Vec<Drop<B>>) -> Option<Packet<B>> {
        if self.txqs[txq as usize].dual.is_some() {
            return self.pop_dual(now, txq, dropped);
        }
        let before = (self.queues.packets(), self.marks);
        let mut signals = Signals { dropped, marks: &mut self.marks, came: Ecn::NotEct };
        let settings = &self.settings.codel;
        let this = &mut self.txqs[txq as usize];
        let packet = this.flows.dequeue(&mut self.queues, Wanted::ANY, |queues, queue| {
            queues.pop_by_codel(queue, Wanted::ANY, now, settings, &mut signals)
        });
        let came = signals.came;
        this.packets -= before.0 - self.queues.packets();
        match self.settings.l4s {
            Some(TxqL4s::Step(step)) => packet.map(|packet| self.step((now, step), txq, packet, (came, before.1))),
            _ => packet,
        }
    }

    /// Marks a packet that leaves a TXQ, if it is ECT(1) and waited longer than the step. It had `came` with this ECN
    /// field, when so many marks had been made; one that CoDel has marked is not marked again.
    #[inline(never)]
    fn step(&mut self, (now, step): (Time, Duration), txq: u32, packet: Packet<B>, came: (Ecn, u64)) -> Packet<B> {
        let mut packet = packet;
        if packet.meta.ecn == Ecn::Ect1 && now.since(packet.meta.enqueued_at) > step {
            self.marks += u64::from(packet.meta.mark());
        }
        let class = class_of(&PacketMeta { ecn: came.0, ..packet.meta });
        self.note(now, txq, class, &packet.meta, self.marks > came.1);
        packet
    }

    /// Removes the next packet of a TXQ with a dual queue, if the law leaves any. [RFC 9332 §A.2]
    #[inline(never)]
    fn pop_dual(&mut self, now: Time, txq: u32, dropped: &mut Vec<Drop<B>>) -> Option<Packet<B>> {
        let Some(TxqL4s::Dual(settings)) = self.settings.l4s else { return None };
        loop {
            let this = &mut self.txqs[txq as usize];
            let pair = this.dual.as_mut()?;
            let backlogs = pair.backlogs(&self.queues);
            pair.law.catch_up(&settings, now, &backlogs);
            let class = match backlogs.heads {
                [None, None] => return None,
                [Some(_), None] => Class::L4s,
                [None, Some(_)] => Class::Classic,
                [Some(_), Some(_)] => pair.law.turn(),
            };
            let queue = pair.queues[class as usize];
            let packets = self.queues[queue].packets();
            let mut packet = self.queues.pop(queue, Wanted::ANY)?;
            this.packets -= 1;
            if backlogs.heads.iter().all(Option::is_some) {
                pair.law.served(&settings, class, packet.meta.bytes);
            }
            let sojourn = now.since(packet.meta.enqueued_at);
            let passing = Passing { class, sojourn, packets, is_capable: packet.meta.ecn.is_capable() };
            let verdict = pair.law.on_departure(&settings, passing, &backlogs);
            if verdict == Verdict::Drop {
                dropped.push((packet, DropReason::Early));
                continue;
            }
            if verdict == Verdict::Mark {
                self.marks += u64::from(packet.meta.mark());
            }
            self.note(now, txq, class, &packet.meta, verdict == Verdict::Mark);
            return Some(packet);
        }
    }

    /// Counts a packet of a class that leaves a TXQ, marked here or not.
    fn note(&mut self, now: Time, txq: u32, class: Class, packet: &PacketMeta, is_marked: bool) {
        let service = &mut self.txqs[txq as usize].service;
        service.at(now);
        if let Some(by_class) = &mut self.by_class {
            by_class.left(now, class, packet, is_marked, service);
        }
    }

    /// Resets the counts by class.
    pub fn start(&mut self) {
        self.by_class = self.settings.l4s.map(|_| ByClass::default());
    }

    /// A TXQ of a station that has packets of `tid`: `first`, if it is one.
    pub fn with_packets(&self, station: u32, tid: Option<u8>, first: Option<u32>) -> Option<u32> {
        let may = |txq: &u32| self[*txq].packets > 0 && tid.is_none_or(|tid| self[*txq].tid == tid);
        let first = first.filter(|txq| self[*txq].station == station && may(txq));
        first.or_else(|| self.of_station(station).find(may))
    }

    /// The number of wanted packets, `most` at most; `txq_of` has the TXQ of a station that may be served.
    pub fn waiting_for(&self, wanted: Wanted, most: usize, txq_of: impl FnOnce(NodeId) -> Option<u32>) -> usize {
        let packets = match wanted.station {
            Some(node) => txq_of(node).map_or(0, |txq| self[txq].packets),
            None => self.queues.packets(),
        };
        most.min(packets as usize)
    }

    /// Returns whether a packet of `bytes` would fit.
    pub fn has_room(&self, bytes: u32) -> bool {
        self.queues.has_room(self.settings.limits, bytes)
    }
}

impl Pair {
    /// Two empty queues of a TXQ with this name.
    fn new<B>(settings: &dual::Settings, queues: &mut FlowQueues<B, Codel>, name: u32) -> Pair {
        let mut queue = || {
            let queue = queues.add(Codel::default());
            // A drop from the fattest queue finds its TXQ by this.
            queues[queue].round = Some(name);
            queue
        };
        Pair { law: Dual::new(settings), queues: [queue(), queue()] }
    }

    fn backlogs<B>(&self, queues: &FlowQueues<B, Codel>) -> Backlogs {
        let [l4s, classic] = self.queues.map(|queue| &queues[queue]);
        let head = |queue: &FlowQueue<B, Codel>| queue.first().map(|packet| packet.enqueued_at);
        Backlogs { heads: [head(l4s), head(classic)], bytes: u64::from(l4s.bytes() + classic.bytes()) }
    }
}

impl<B> Index<u32> for Txqs<B> {
    type Output = Txq;
    fn index(&self, txq: u32) -> &Txq {
        &self.txqs[txq as usize]
    }
}

impl<B> IndexMut<u32> for Txqs<B> {
    fn index_mut(&mut self, txq: u32) -> &mut Txq {
        &mut self.txqs[txq as usize]
    }
}
