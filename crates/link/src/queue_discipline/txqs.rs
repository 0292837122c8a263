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
use lasthop_units::Time;

use super::flow_queue::{Classifier, FlowQueues, Limits, Round, Signals};
use super::interface::{Drop, Wanted};
use super::law::codel::{Codel, Settings};
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
}

impl<B> Txqs<B> {
    /// No TXQs; the key of the hash is drawn from `random`.
    pub fn new(settings: TxqSettings, mut random: Stream) -> Self {
        Txqs {
            classifier: Classifier::new(settings.flows, random.bits()),
            settings,
            queues: FlowQueues::default(),
            receivers: Vec::new(),
            station_of: Vec::new(),
            txqs: Vec::new(),
            marks: 0,
        }
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
        let quantum = self.settings.quantum;
        *self.receivers[station as usize].txqs[usize::from(packet.tid & 7)].get_or_insert_with(|| {
            let name = self.txqs.len() as u32;
            let (tid, flows) = (packet.tid, Round::new(name, quantum));
            self.txqs.push(Txq { station, tid, flows, packets: 0, collided: None, is_scheduled: false });
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
    pub fn push(&mut self, packet: Packet<B>, dropped: &mut Vec<Drop<B>>) -> u32 {
        let txq = self.txq(&packet.meta);
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
        let before = self.queues.packets();
        let mut signals = Signals { dropped, marks: &mut self.marks };
        let settings = &self.settings.codel;
        let this = &mut self.txqs[txq as usize];
        let packet = this.flows.dequeue(&mut self.queues, Wanted::ANY, |queues, queue| {
            queues.pop_by_codel(queue, Wanted::ANY, now, settings, &mut signals)
        });
        this.packets -= before - self.queues.packets();
        packet
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
