//! The queues of Linux's Wi-Fi stack: FQ-CoDel for each station and TID, with stations served by airtime.
//!
//! It follows mac80211 of Linux 6.18 (`net/mac80211/tx.c`, `sta_info.c`, `airtime.c`; `include/net/fq_impl.h`), which
//! grew out of "Ending the Anomaly" [Høiland-Jørgensen 2017]. 6.18 no longer has the slow-station relaxation of CoDel.
//! One instance serves one access category, since deficits and limits are kept by station and category.
//!
//! ```text
//!  packet ─► TXQ of its station and TID ─► a queue for its flow (4096 shared by all TXQs) ─► CoDel
//!                 │
//!                 └─► in the round of TXQs ─► first with deficit >= 0 and pending airtime below the limit ─► MAC
//! ```
//!
//! - Airtime: the airtime of a station, sending or receiving, is subtracted from its deficit; a TXQ in debt goes to the
//!   end of the round and its station gets its weight in us. The same holds for one with too much airtime pending.
//! - A TXQ that gets its first packet comes first in the round: a sparse station does not wait.
//! - AQL: estimated airtime of the packets that the MAC has and has not done with. The kernel keeps the estimate with
//!   each packet; here that of all of them follows the station's last rate. Packets that the MAC itself holds for
//!   another attempt do not keep their station from its turn, as in drivers that retransmit in software (ath9k).
//!
//! Left out: multicast, management frames, power save, and the departures of single drivers.

use std::collections::VecDeque;

use lasthop_engine::Stream;
use lasthop_observe::NodeId;
use lasthop_registry::{ParamError, Switch, params};
use lasthop_units::{Bytes, DataRate, Duration, Packets, Time};

use super::below::AirtimeSource;
use super::by_class::ByClass;
use super::flow_queue::Limits;
use super::interface::{AirtimeUse, Drop, QueueDiscipline, Wanted};
use super::l4s::L4s;
use super::law::codel::Settings;
use super::txqs::{TxqSettings, Txqs};
use crate::{Packet, PacketMeta};

/// Default weight of a station. [Linux `IEEE80211_DEFAULT_AIRTIME_WEIGHT`]
const WEIGHT: u32 = 256;

/// Time after its last packets for which a station pays for the airtime it uses. [Linux `ieee80211_sta_keep_active`]
const ACTIVE: Duration = Duration::from_millis(100);

params! {
    /// Parameters of `airtime_fq_codel`.
    pub struct Params {
        /// Largest number of packets for all stations together; beyond it, the fattest flow loses some.
        pub limit: Packets = Packets(8192),
        /// Largest memory for all stations together, as Linux counts it: 2304 B for a packet of 1500 B. Linux has 4 MiB
        /// where the device knows no VHT.
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
        /// Limit the airtime of packets that the MAC holds (AQL).
        pub aql: bool = true,
        /// Airtime that may always be pending for a station.
        pub aql_low: Duration = Duration::from_millis(5),
        /// Airtime that may be pending for a station while the total is below the threshold.
        pub aql_high: Duration = Duration::from_millis(12),
        /// Total pending airtime from which the low limit applies to each station.
        pub aql_threshold: Duration = Duration::from_millis(24),
        /// Treatment of L4S packets of each station and TID, as a PSDU is made: off, step or dual; absent: off.
        pub l4s: Option<Switch<L4s>> = None,
    }
    check |this, path| {
        let TxqSettings { limits, codel, .. } = this.settings();
        limits.check(path)?;
        if this.aql_low == Duration::ZERO || this.aql_high < this.aql_low {
            return Err(ParamError::new(format!("{path}.aql_low"), ("above 0 s and not above aql_high", "aql = false has no limit")));
        }
        super::bounds::check_flows(this.flows, this.quantum, path)?;
        codel.check(path)
    }
}

impl Params {
    /// The settings of the TXQs. mac80211 never sets CoDel's `mtu`: only the last packet of a flow is safe.
    fn settings(&self) -> TxqSettings {
        let Params { limit, memory_limit, flows, quantum, target, interval, ecn, .. } = *self;
        let codel = Settings { target, interval, mtu: 0, ecn, ce_threshold: None };
        let limits = Limits { packets: limit.0, memory: memory_limit.0 };
        let l4s = self.l4s.as_ref().and_then(Switch::as_option).map(L4s::settings);
        TxqSettings { limits, flows, quantum: quantum.0, codel, l4s }
    }
}

/// Packets that the MAC has and has not finished: what AQL limits, so that packets wait where CoDel sees them and not below.
#[derive(Clone, Copy, Default)]
struct Pending {
    packets: u32,
    bytes: u64,
    /// the airtime that these packets are expected to take
    airtime: Duration,
}

/// The airtime that the driver makes known.
#[derive(Clone, Copy)]
struct Known {
    source: AirtimeSource,
    /// most packets of a station in the MAC before its first rate is known
    unrated: u32,
}

/// State of the scheduler for a station.
struct Station {
    node: NodeId,
    /// its share of the airtime in relation to others', and its quantum in us: a round gives each station as much airtime as
    /// its weight, whatever its rate; this ends the anomaly, in which each has as many packets [Høiland-Jørgensen 2017 §3.2]
    weight: u32,
    /// airtime that it may still use in its turn, in ns: `deficit <- deficit - airtime` of each attempt, `deficit + weight` when
    /// its turn comes with a debt [Høiland-Jørgensen 2017 §3.2]
    deficit: i64,
    /// time at which it last had packets; a station that is silent for longer than [`ACTIVE`] pays for no airtime
    last_active: Option<Time>,
    /// rate of the last data sent to it, by which pending airtime is estimated
    rate: Option<DataRate>,
    pending: Pending,
    /// the estimates of its pending packets, if those decide
    estimates: VecDeque<Duration>,
}

/// Airtime of packets at a rate, with the usual aggregation at that rate. [Linux `ieee80211_calc_expected_tx_airtime`]
fn expected_airtime(packets: u32, bytes: u64, rate: DataRate) -> Duration {
    /// Preamble and SIFS in ns, shared by the packets of an aggregate.
    const OVERHEAD: u64 = 40_000;
    /// Ethernet and 802.11 headers of a packet, bytes.
    const HEADERS: u64 = 38;
    // Linux uses the duration of 1024 B: above 400, 250, 150 and 70 us.
    let packets_in_aggregate = match rate.as_bps() {
        0..20_480_000 => 2,
        20_480_000..32_768_000 => 4,
        32_768_000..54_613_333 => 8,
        54_613_333..117_028_571 => 16,
        _ => 32,
    };
    let overhead = Duration::from_nanos(u64::from(packets) * OVERHEAD / packets_in_aggregate);
    rate.time_for(Bytes(bytes + HEADERS * u64::from(packets))) + overhead
}

impl Station {
    fn new(node: NodeId) -> Self {
        Station {
            node,
            weight: WEIGHT,
            deficit: nanoseconds(WEIGHT),
            last_active: None,
            rate: None,
            pending: Pending::default(),
            estimates: VecDeque::new(),
        }
    }

    fn is_active(&self, now: Time) -> bool {
        self.last_active.is_some_and(|then| now.since(then) <= ACTIVE)
    }

    /// Reduces its deficit by airtime that it has used.
    fn charge(&mut self, now: Time, airtime: Duration) {
        if self.is_active(now) {
            self.deficit -= airtime.as_nanos() as i64;
        }
    }

    fn estimate(&mut self) {
        let Pending { packets, bytes, .. } = self.pending;
        self.pending.airtime = self.rate.map_or(Duration::ZERO, |rate| expected_airtime(packets, bytes, rate));
    }

    /// Its deficit once the MAC will have finished its pending packets.
    fn deficit(&self, is_retrying: bool) -> i64 {
        if is_retrying { self.deficit } else { self.deficit - self.pending.airtime.as_nanos() as i64 }
    }
}

/// The airtime of a weight: a microsecond for each unit.
fn nanoseconds(weight: u32) -> i64 {
    i64::from(weight) * 1000
}

/// The queues of one access category as in mac80211: FQ-CoDel for each station and TID, with stations served by
/// airtime.
pub struct AirtimeFqCodel<B> {
    params: Params,
    txqs: Txqs<B>,
    stations: Vec<Station>,
    /// the round: TXQs that wait for their turn, in order [Høiland-Jørgensen 2017 §3.2]
    scheduled: VecDeque<u32>,
    /// the TXQ whose turn it is
    served: Option<u32>,
    /// expected airtime of all packets in the MAC, of all stations
    pending: Duration,
    /// how the driver reports airtime
    known: Known,
}

impl<B> AirtimeFqCodel<B> {
    /// An empty queue; the key of the hash is drawn from `random`.
    pub fn new(params: &Params, random: Stream) -> Self {
        AirtimeFqCodel {
            txqs: Txqs::new(params.settings(), random),
            stations: Vec::new(),
            scheduled: VecDeque::new(),
            served: None,
            pending: Duration::ZERO,
            known: Known { source: AirtimeSource::Reported, unrated: u32::MAX },
            params: params.clone(),
        }
    }

    /// The number of a station.
    fn station(&mut self, node: NodeId) -> u32 {
        let station = self.txqs.station(node);
        self.meet(station);
        station
    }

    /// Gives a new station its state.
    fn meet(&mut self, station: u32) {
        if station as usize == self.stations.len() {
            self.stations.push(Station::new(self.txqs.node(station)));
        }
    }

    fn station_of_txq(&self, txq: u32) -> &Station {
        &self.stations[self.txqs[txq].station as usize]
    }

    /// Puts a TXQ into the round: first, if there is something to send. [Linux `__ieee80211_schedule_txq`]
    fn schedule(&mut self, now: Time, txq: u32, has_packets: bool) {
        if self.txqs[txq].is_scheduled {
            return;
        }
        if has_packets {
            // Without any airtime there is only the round. [Linux `__ieee80211_schedule_txq`]
            match self.known.source {
                AirtimeSource::None => self.scheduled.push_back(txq),
                _ => self.scheduled.push_front(txq),
            }
            let station = self.txqs[txq].station as usize;
            self.stations[station].last_active = Some(now);
        } else if self.station_of_txq(txq).deficit(false) < 0 && self.station_of_txq(txq).is_active(now) {
            // It stays in the round to earn its share, so that it does not come back later with its debt.
            self.scheduled.push_back(txq);
        } else {
            return;
        }
        self.txqs[txq].is_scheduled = true;
    }

    /// Ends the turn of the current TXQ, and adds those with packets in the MAC that wait for another attempt.
    fn begin_turn(&mut self, now: Time, retrying: &[NodeId]) {
        let previous = self.served.take();
        for node in retrying.iter().rev() {
            let Some(station) = self.txqs.known_station(*node) else {
                continue;
            };
            let mut txqs = self.txqs.of_station(station);
            let is_waiting = txqs.clone().any(|txq| self.txqs[txq].is_scheduled);
            let last = previous.filter(|txq| self.txqs[*txq].station == station);
            if let Some(txq) = last.or(txqs.next()).filter(|_| !is_waiting) {
                self.schedule(now, txq, true);
            }
        }
        if let Some(txq) = previous {
            self.schedule(now, txq, self.txqs[txq].packets > 0);
        }
    }

    /// Returns whether little enough of a station is pending for it to send. [Linux `ieee80211_txq_airtime_check`]
    fn is_below_limit(&self, station: &Station) -> bool {
        let Params { aql, aql_low, aql_high, aql_threshold, .. } = self.params;
        let pending = station.pending.airtime;
        if station.rate.is_none() && station.pending.packets >= self.known.unrated {
            return false;
        }
        !aql || pending < aql_low || (self.pending < aql_threshold && pending < aql_high)
    }

    /// Returns whether little enough of all stations is pending for any to have a turn.
    /// [Linux `ieee80211_txq_schedule_airtime_check`]
    fn is_any_below_limit(&self) -> bool {
        let others = self.scheduled.len().saturating_sub(1) as u64;
        !self.params.aql || self.pending < self.params.aql_low * others / 2 + self.params.aql_high
    }

    /// The TXQ whose turn it is. [Linux `ieee80211_next_txq`]
    fn next_txq(&mut self, now: Time, tid: Option<u8>, retrying: &[NodeId]) -> Option<u32> {
        self.begin_turn(now, retrying);
        let any_may = self.is_any_below_limit();
        let may_send = |this: &Self, txq: u32| {
            let station = this.station_of_txq(txq);
            retrying.contains(&station.node) || (any_may && this.txqs[txq].packets > 0 && this.is_below_limit(station))
        };
        let is_asked_for = |this: &Self, txq: &u32| tid.is_none_or(|tid| this.txqs[*txq].tid == tid);
        if !self.scheduled.iter().any(|txq| is_asked_for(self, txq) && may_send(self, *txq)) {
            return None;
        }
        loop {
            let place = self.scheduled.iter().position(|txq| is_asked_for(self, txq))?;
            let txq = self.scheduled.remove(place)?;
            let is_retrying = retrying.contains(&self.station_of_txq(txq).node);
            let station = self.txqs[txq].station as usize;
            if self.stations[station].deficit(is_retrying) < 0 {
                self.stations[station].deficit += nanoseconds(self.stations[station].weight);
                self.scheduled.push_back(txq);
            } else if may_send(self, txq) {
                self.txqs[txq].is_scheduled = false;
                self.served = Some(txq);
                return Some(txq);
            } else if self.txqs[txq].packets > 0 {
                self.scheduled.push_back(txq);
            } else {
                self.txqs[txq].is_scheduled = false;
            }
        }
    }

    /// The TXQ of a station from which a packet may be taken: the one whose turn it is, if it belongs to the station.
    fn txq_of(&self, node: NodeId, tid: Option<u8>) -> Option<u32> {
        let station = self.txqs.known_station(node)?;
        let found = self.txqs.with_packets(station, tid, self.served)?;
        self.is_below_limit(&self.stations[station as usize]).then_some(found)
    }

    /// Removes the next packet of a TXQ, which is pending from now on. [Linux `ieee80211_tx_dequeue`]
    fn take(&mut self, now: Time, txq: u32, dropped: &mut Vec<Drop<B>>) -> Option<Packet<B>> {
        let packet = self.txqs.pop(now, txq, dropped);
        let station = self.txqs[txq].station;
        if self.txqs[txq].packets == 0 && self.txqs[txq].is_scheduled {
            // It was emptied out of turn.
            self.txqs[txq].is_scheduled = false;
            self.scheduled.retain(|other| *other != txq);
            self.schedule(now, txq, false);
        }
        let packet = packet?;
        let estimates = self.known.source == AirtimeSource::Estimate;
        self.change_pending(station, |station| {
            station.pending.packets += 1;
            station.pending.bytes += u64::from(packet.meta.bytes);
            if estimates {
                let bytes = u64::from(packet.meta.bytes);
                let airtime = station.rate.map_or(Duration::ZERO, |rate| expected_airtime(1, bytes, rate));
                station.pending.airtime += airtime;
                station.estimates.push_back(airtime);
            }
        });
        Some(packet)
    }

    /// Changes the pending packets of a station, or the rate for its airtime.
    fn change_pending(&mut self, station: u32, change: impl FnOnce(&mut Station)) {
        let station = &mut self.stations[station as usize];
        let before = station.pending.airtime;
        change(station);
        if self.known.source == AirtimeSource::Reported {
            station.estimate();
        }
        self.pending = self.pending + station.pending.airtime - before;
    }
}

impl<B: Send> QueueDiscipline<B> for AirtimeFqCodel<B> {
    fn enqueue(&mut self, now: Time, packet: Packet<B>, dropped: &mut Vec<Drop<B>>) {
        let txq = self.txqs.push(now, packet, dropped);
        self.meet(self.txqs[txq].station);
        self.schedule(now, txq, self.txqs[txq].packets > 0);
    }

    fn dequeue(&mut self, now: Time, wanted: Wanted, dropped: &mut Vec<Drop<B>>) -> Option<Packet<B>> {
        loop {
            let txq = match wanted.station {
                Some(node) => self.txq_of(node, wanted.tid)?,
                None => self.next_txq(now, wanted.tid, &[])?,
            };
            // CoDel may have dropped all packets of the TXQ.
            if let Some(packet) = self.take(now, txq, dropped) {
                return Some(packet);
            }
        }
    }

    /// Those not in debt come first, in the order of the round.
    fn next_stations(&self, found: &mut Vec<NodeId>) {
        let any_may = self.is_any_below_limit();
        let may_send =
            |txq: &&u32| any_may && self.txqs[**txq].packets > 0 && self.is_below_limit(self.station_of_txq(**txq));
        let waiting = || self.scheduled.iter().chain(&self.served).filter(may_send);
        for in_debt in [false, true] {
            for station in waiting().map(|txq| self.station_of_txq(*txq)) {
                if (station.deficit(false) < 0) == in_debt && !found.contains(&station.node) {
                    found.push(station.node);
                }
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

    fn by_class(&self) -> Option<&ByClass> {
        self.txqs.by_class.as_ref()
    }

    fn start(&mut self) {
        self.txqs.start();
    }

    /// Packets that bypassed the queue to an idle MAC are not pending, and not subtracted.
    fn on_done(&mut self, now: Time, packet: &PacketMeta) {
        if let Some(station) = self.txqs.known_station(packet.station) {
            self.change_pending(station, |station| {
                let Pending { packets, bytes, .. } = &mut station.pending;
                *packets = packets.saturating_sub(1);
                *bytes = if *packets == 0 { 0 } else { bytes.saturating_sub(u64::from(packet.bytes)) };
                if let Some(estimate) = station.estimates.pop_front() {
                    station.pending.airtime = station.pending.airtime - estimate;
                    station.charge(now, estimate);
                }
            });
        }
    }

    /// [Linux `ieee80211_sta_register_airtime`]
    fn on_airtime(&mut self, now: Time, used: &AirtimeUse) {
        let station = self.station(used.station);
        if !used.up {
            self.change_pending(station, |station| station.rate = Some(used.rate));
        }
        if self.known.source == AirtimeSource::Reported {
            self.stations[station as usize].charge(now, used.airtime);
        }
    }

    fn set_airtime(&mut self, source: AirtimeSource, unrated: u32) {
        self.known = Known { source, unrated: if source == AirtimeSource::None { u32::MAX } else { unrated } };
        self.params.aql &= source != AirtimeSource::None;
    }

    fn set_weight(&mut self, station: NodeId, weight: u32) {
        let station = self.station(station);
        let station = &mut self.stations[station as usize];
        station.weight = weight.max(1);
        station.deficit = nanoseconds(station.weight);
    }

    fn schedules_stations(&self) -> bool {
        true
    }

    fn next_station(&mut self, now: Time, retrying: &[NodeId]) -> Option<NodeId> {
        match self.next_txq(now, None, retrying) {
            Some(txq) => Some(self.station_of_txq(txq).node),
            // A station without any packets in this queue so far.
            None => retrying.first().copied(),
        }
    }
}
