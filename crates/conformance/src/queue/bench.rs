//! A queue with random traffic: the arrivals, the packets held, and the fate of each.

use std::collections::BTreeMap;

use lasthop_engine::Stream;
use lasthop_link::{AckFacts, AirtimeUse, Drop, Packet, PacketMeta, QueueDiscipline, Wanted};
use lasthop_observe::{DropReason, FlowId, NodeId};
use lasthop_units::{DataRate, Duration, Ecn, Time};

use super::candidate::Candidate;
use crate::failure::{Failure, Trial};

/// Flows; each goes to one station with one TID.
pub(super) const FLOWS: u32 = 8;
/// Stations.
const STATIONS: u32 = 4;
/// TIDs: best effort, and voice.
const TIDS: [u8; 2] = [0, 6];

fn station_of(flow: u32) -> NodeId {
    NodeId(1 + flow % STATIONS)
}

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fate {
    pub number: u64,
    pub flow: FlowId,
    pub pure_ack: bool,
    /// reason of the drop; `None` where it was taken out
    pub dropped: Option<DropReason>,
    pub marked: bool,
}

/// A discipline under test. Steps are counted by the arrived packets.
pub(super) struct Bench<'a> {
    trial: &'a Trial<'a>,
    pub random: Stream,
    pub queue: Box<dyn QueueDiscipline<u64>>,
    pub now: Time,
    /// waiting packets, by number
    pub held: BTreeMap<u64, PacketMeta>,
    /// packets taken out, and not yet done
    pub with_mac: Vec<PacketMeta>,
    /// in the order in which the packets left
    pub fates: Vec<Fate>,
    dropped: Vec<Drop<u64>>,
    /// packets that have arrived
    pub arrived: u64,
}

impl<'a> Bench<'a> {
    pub fn new(candidate: &Candidate, trial: &'a Trial<'a>) -> Bench<'a> {
        Bench {
            trial,
            random: Stream::named(trial.seed, "conformance", trial.subject),
            queue: (candidate.build)(trial.seed),
            now: Time::ZERO,
            held: BTreeMap::new(),
            with_mac: Vec::new(),
            fates: Vec::new(),
            dropped: Vec::new(),
            arrived: 0,
        }
    }

    /// # Errors
    /// The failure at the newest packet, unless `holds`.
    pub fn require(&self, holds: bool, found: impl FnOnce() -> String) -> Result<(), Failure> {
        let newest = self.arrived.saturating_sub(1);
        self.trial.require(newest, holds, || format!("after packet {newest}: {}", found()))
    }

    /// Lets time pass: up to so many microseconds.
    pub fn wait(&mut self, most_us: u32) {
        self.now += Duration::from_micros(u64::from(self.random.up_to(most_us)));
    }

    /// Adds the next packet.
    pub fn arrive(&mut self) -> Result<(), Failure> {
        let packet = self.packet();
        self.arrived += 1;
        let (PacketMeta { bytes, pure_ack, .. }, number) = (packet.meta, packet.body);
        let had_room = self.queue.has_room(bytes);
        self.held.insert(number, packet.meta);
        self.queue.enqueue(self.now, packet, &mut self.dropped);
        let is_full = self.dropped.iter().any(|(_, reason)| *reason == DropReason::QueueFull);
        self.require(pure_ack || !(had_room && is_full), || format!("it had room for {bytes} B, and then was full"))?;
        self.settle()
    }

    fn packet(&mut self) -> Packet<u64> {
        let random = &mut self.random;
        let (flow, pure_ack) = (random.up_to(FLOWS - 1), random.chance(0.3));
        let is_plain = random.chance(0.9);
        let ack = AckFacts { number: self.arrived as u32, is_plain, ..AckFacts::default() };
        let bytes = if pure_ack { 40 } else { 40 + random.up_to(1460) };
        let ecn = if random.chance(0.5) && !pure_ack { Ecn::Ect0 } else { Ecn::NotEct };
        let meta = PacketMeta {
            tid: TIDS[usize::from(flow >= FLOWS / 2)],
            pure_ack,
            ack: if pure_ack { ack } else { AckFacts::default() },
            ecn,
            enqueued_at: self.now,
            ..PacketMeta::plain(FlowId(flow), station_of(flow), false, bytes)
        };
        Packet::new(meta, self.arrived)
    }

    /// A possible request of a MAC: any packet, or one that fills an aggregate.
    pub fn wanted(&mut self) -> Wanted {
        let random = &mut self.random;
        let tid = random.chance(0.5).then(|| TIDS[random.up_to(1) as usize]);
        match random.up_to(2) {
            0 => Wanted::ANY,
            1 => Wanted { station: Some(station_of(random.up_to(STATIONS - 1))), tid },
            _ => Wanted { station: None, tid },
        }
    }

    /// Requests a packet, once a shaper lets one go; true if there was one.
    pub fn ask(&mut self, wanted: Wanted) -> Result<bool, Failure> {
        if let Some(at) = self.queue.ready_at().filter(|at| *at > self.now) {
            self.require(self.queue.is_shaped(), || "it holds packets, but `is_shaped` is false".into())?;
            let early = self.queue.dequeue(self.now, wanted, &mut self.dropped);
            self.require(early.is_none(), || format!("a packet leaves before {at}"))?;
            self.now = at;
        }
        let packet = self.queue.dequeue(self.now, wanted, &mut self.dropped);
        if let Some(packet) = &packet {
            self.require(wanted.includes(&packet.meta), || format!("packet {} for {wanted:?}", packet.body))?;
            self.with_mac.push(packet.meta);
            self.gone(packet, None)?;
        }
        self.settle()?;
        Ok(packet.is_some())
    }

    /// Reports each packet that was taken out as sent by itself and acknowledged.
    pub fn done(&mut self) {
        for meta in self.with_mac.drain(..) {
            for up in [false, true] {
                let (airtime, rate) = (Duration::from_micros(300), DataRate::from_bps(65_000_000));
                self.queue.on_airtime(self.now, &AirtimeUse { station: meta.station, up, airtime, rate });
            }
            self.queue.on_done(self.now, &meta);
        }
    }

    fn gone(&mut self, packet: &Packet<u64>, dropped: Option<DropReason>) -> Result<(), Failure> {
        let number = packet.body;
        let Some(offered) = self.held.remove(&number) else {
            return self.require(false, || format!("packet {number} leaves a second time, or never came"));
        };
        let PacketMeta { flow, pure_ack, ecn, .. } = packet.meta;
        let marked = ecn != offered.ecn;
        let may_be = !marked || offered.ecn.is_capable() && ecn == Ecn::Ce;
        self.fates.push(Fate { number, flow, pure_ack, dropped, marked });
        self.require(may_be, || format!("packet {number} came with {:?} and leaves with {ecn:?}", offered.ecn))
    }

    /// Books the drops and checks the counts.
    fn settle(&mut self) -> Result<(), Failure> {
        for (packet, reason) in std::mem::take(&mut self.dropped) {
            self.gone(&packet, Some(reason))?;
        }
        let (counted, held) = (self.queue.packets() as usize, self.held.len());
        self.require(counted == held, || format!("it counts {counted} packets and holds {held}"))?;
        let (counted, acks) = (self.queue.tcp_acks() as usize, self.held.values().filter(|meta| meta.pure_ack).count());
        self.require(counted == acks, || format!("it counts {counted} pure ACKs and holds {acks}"))
    }
}
