//! The queues of Linux's Wi-Fi stack without airtime: FQ-CoDel for each station and TID, with stations served in turn.
//!
//! It is the FQ-MAC of "Ending the Anomaly" [Høiland-Jørgensen 2017]: mac80211 of Linux 4.10 to 4.18, and of later ones
//! with drivers that report no airtime.
//!
//! ```text
//!  packet ─► TXQ of its station and TID ─► a queue for its flow ─► CoDel
//!               └─► round of TXQs: one A-MPDU, or one frame, a turn ─► MAC
//! ```
//!
//! - A TXQ that gets its first packet goes to the end of the round, and so does one that has had its turn. A slow
//!   station's turn takes as long as its A-MPDU, so stations share A-MPDUs, not airtime.
//! - Packets that the MAC holds for another attempt wait for the turn of their station, as in ath9k.
//!
//! Left out: CoDel's longer target for slow stations (Linux 4.12 to 6.x), multicast, management frames, power save.

use std::collections::VecDeque;

use lasthop_engine::Stream;
use lasthop_observe::NodeId;
use lasthop_registry::params;
use lasthop_units::{Bytes, Duration, Packets, Time};

use super::flow_queue::Limits;
use super::interface::{Drop, QueueDiscipline, Wanted};
use super::law::codel::Settings;
use super::txqs::{TxqSettings, Txqs};
use crate::Packet;

params! {
    /// Parameters of `fq_mac`.
    pub struct Params {
        /// Largest number of packets for all stations together; beyond it, the fattest flow loses some.
        pub limit: Packets = Packets(8192),
        /// Largest memory for all stations together, as Linux counts it: 2304 B for a packet of 1500 B. Linux has 4 MiB
        /// for devices without VHT.
        pub memory_limit: Bytes = Bytes(16 << 20),
        /// Number of queues that the flows of all stations are hashed to.
        pub flows: u32 = 4096,
        /// Quantum: bytes (of Ethernet frames without FCS) that a flow may send in its turn among those of its station.
        pub quantum: Bytes = Bytes(300),
        /// CoDel's target sojourn time in each queue.
        pub target: Duration = Duration::from_millis(20),
        /// Interval in which the least sojourn time must exceed the target before a drop.
        pub interval: Duration = Duration::from_millis(100),
        /// Mark ECN-capable packets where others are dropped.
        pub ecn: bool = true,
    }
    check |this, path| {
        let TxqSettings { limits, codel, .. } = this.settings();
        limits.check(path)?;
        super::bounds::check_flows(this.flows, this.quantum, path)?;
        codel.check(path)
    }
}

impl Params {
    fn settings(&self) -> TxqSettings {
        let Params { limit, memory_limit, flows, quantum, target, interval, ecn } = *self;
        let codel = Settings { target, interval, mtu: 0, ecn, ce_threshold: None };
        let limits = Limits { packets: limit.0, memory: memory_limit.0 };
        TxqSettings { limits, flows, quantum: quantum.0, codel, l4s: None }
    }
}

/// The queues of one access category as in mac80211 before it scheduled by airtime.
pub struct FqMac<B> {
    txqs: Txqs<B>,
    /// TXQs that wait for their turn, in order; the last one had the latest turn
    round: VecDeque<u32>,
    /// the TXQ whose turn it is
    served: Option<u32>,
}

impl<B> FqMac<B> {
    /// An empty queue; the key of the hash is drawn from `random`.
    pub fn new(params: &Params, random: Stream) -> Self {
        FqMac { txqs: Txqs::new(params.settings(), random), round: VecDeque::new(), served: None }
    }

    /// Puts a TXQ at the end of the round, unless it is in the round.
    fn schedule(&mut self, txq: u32) {
        if !std::mem::replace(&mut self.txqs[txq].is_scheduled, true) {
            self.round.push_back(txq);
        }
    }

    /// Takes a TXQ out of the round.
    fn leave(&mut self, txq: u32) {
        self.txqs[txq].is_scheduled = false;
        self.round.retain(|other| *other != txq);
    }

    /// Brings a station into the round, with packets in the MAC that wait for another attempt.
    fn schedule_retries(&mut self, node: NodeId) {
        let Some(station) = self.txqs.known_station(node) else { return };
        let mut txqs = self.txqs.of_station(station);
        if txqs.clone().any(|txq| self.txqs[txq].is_scheduled) {
            return;
        }
        let last = self.served.filter(|txq| self.txqs[*txq].station == station);
        if let Some(txq) = last.or_else(|| txqs.next()) {
            self.schedule(txq);
        }
    }

    /// The TXQ whose turn it is; it waits at the end of the round for its next.
    fn next_txq(&mut self, tid: Option<u8>, retrying: &[NodeId]) -> Option<u32> {
        retrying.iter().for_each(|node| self.schedule_retries(*node));
        loop {
            let is_asked_for = |txq: &u32| tid.is_none_or(|tid| self.txqs[*txq].tid == tid);
            let place = self.round.iter().position(is_asked_for)?;
            let txq = self.round.remove(place)?;
            let node = self.txqs.node(self.txqs[txq].station);
            if self.txqs[txq].packets > 0 || retrying.contains(&node) {
                self.round.push_back(txq);
                self.served = Some(txq);
                return Some(txq);
            }
            self.txqs[txq].is_scheduled = false;
        }
    }

    /// The TXQ of a station from which a packet may be taken.
    fn txq_of(&self, node: NodeId, tid: Option<u8>) -> Option<u32> {
        self.txqs.with_packets(self.txqs.known_station(node)?, tid, self.served)
    }
}

impl<B: Send> QueueDiscipline<B> for FqMac<B> {
    fn enqueue(&mut self, now: Time, packet: Packet<B>, dropped: &mut Vec<Drop<B>>) {
        let txq = self.txqs.push(now, packet, dropped);
        if self.txqs[txq].packets > 0 {
            self.schedule(txq);
        }
    }

    fn dequeue(&mut self, now: Time, wanted: Wanted, dropped: &mut Vec<Drop<B>>) -> Option<Packet<B>> {
        loop {
            let txq = match wanted.station {
                Some(node) => self.txq_of(node, wanted.tid)?,
                None => self.next_txq(wanted.tid, &[])?,
            };
            let packet = self.txqs.pop(now, txq, dropped);
            if self.txqs[txq].packets == 0 {
                self.leave(txq);
            }
            // CoDel may have dropped all packets of the TXQ.
            if packet.is_some() {
                return packet;
            }
        }
    }

    fn next_stations(&self, found: &mut Vec<NodeId>) {
        for txq in self.round.iter().filter(|txq| self.txqs[**txq].packets > 0) {
            let node = self.txqs.node(self.txqs[*txq].station);
            if !found.contains(&node) {
                found.push(node);
            }
        }
    }

    fn waiting_for(&self, wanted: Wanted, most: usize) -> usize {
        self.txqs.waiting_for(wanted, most, |node| self.txq_of(node, wanted.tid))
    }

    fn packets(&self) -> u32 {
        self.txqs.queues.packets()
    }

    fn tcp_acks(&self) -> u32 {
        self.txqs.queues.tcp_acks()
    }

    fn has_room(&self, bytes: u32) -> bool {
        self.txqs.has_room(bytes)
    }

    fn set_target(&mut self, target: Duration) {
        self.txqs.set_target(target);
    }

    fn marks(&self) -> u64 {
        self.txqs.marks
    }

    fn schedules_stations(&self) -> bool {
        true
    }

    fn shares_airtime(&self) -> bool {
        false
    }

    fn next_station(&mut self, _: Time, retrying: &[NodeId]) -> Option<NodeId> {
        match self.next_txq(None, retrying) {
            Some(txq) => Some(self.txqs.node(self.txqs[txq].station)),
            // A station without any packets in this queue so far.
            None => retrying.first().copied(),
        }
    }
}
