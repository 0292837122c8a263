//! RED over one queue: drops or marks arrivals at random as the average queue grows.
//!
//! Source: Floyd, Jacobson 1993; the law is in [`law::red`](super::law::red). Parameters are those of ns-2 and of Linux
//! (tc-red), with the names of the latter. Packets beyond the limit are dropped at the tail. Left out: several classes
//! with their own thresholds (RIO, GRED).

use lasthop_engine::Stream;
use lasthop_observe::DropReason;
use lasthop_registry::{Amount, ParamError, params};
use lasthop_units::{Bytes, DataRate, Probability, Time};

use super::backlog::Backlog;
use super::interface::{Drop, Wanted};
use super::law::Verdict;
use super::law::red::{Arriving, Red as Law, Settings};
use super::one_backlog::OneBacklog;
use crate::{Packet, PacketMeta};

params! {
    /// Parameters of `red`.
    pub struct Params {
        /// Largest backlog, in packets or in bytes; a packet that would exceed it is dropped at the tail.
        pub limit: Amount = Amount::Packets(50),
        /// Average queue up to which nothing is dropped, in packets or in bytes. [Floyd, Jacobson 1993]
        pub min: Amount = Amount::Packets(5),
        /// Average queue at which the drop probability is `probability`, in the unit of `min`. [Floyd, Jacobson 1993]
        pub max: Amount = Amount::Packets(15),
        /// Drop probability at `max`: max_p, 1/linterm in ns-2.
        pub probability: Probability = const { Probability::of(0.1) },
        /// Share of the present queue in the average: w_q, q_weight in ns-2.
        pub weight: f64 = 0.002,
        /// Rate at which the average of an empty queue decays. [Floyd, Jacobson 1993, section 4]
        pub bandwidth: DataRate = DataRate::from_bps(10_000_000),
        /// Mean packet size for this decay; with thresholds in bytes, smaller packets are dropped less often.
        pub avpkt: Bytes = Bytes(1000),
        /// From `max` to twice that, the probability grows to 1 instead of jumping there. [Floyd 2000]
        pub gentle: bool = true,
        /// Keep drops at least 1/p packets apart. [ns-2]
        pub wait: bool = false,
        /// Mark ECN-capable packets where others are dropped. [RFC 3168 §7]
        pub ecn: bool = false,
        /// Where every packet is dropped, drop ECN-capable ones as well. [RFC 3168 §7]
        pub harddrop: bool = true,
        /// Adapt `probability` to keep the average in the middle. [Floyd, Gummadi, Shenker 2001]
        pub adaptive: bool = false,
    }
    check |this, path| {
        super::bounds::check_limit(this.limit, path)?;
        this.thresholds(path)?;
        if this.weight <= 0.0 || this.weight > 1.0 {
            return Err(ParamError::new(format!("{path}.weight"), "must lie above 0 and be 1 at most"));
        }
        for (name, size) in [("bandwidth", this.bandwidth.as_bps()), ("avpkt", this.avpkt.0)] {
            if size == 0 {
                return Err(ParamError::new(format!("{path}.{name}"), "must be above 0"));
            }
        }
        Ok(())
    }
}

/// The unit of the thresholds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Unit {
    Packets,
    Bytes,
}

impl Params {
    /// The thresholds and their unit.
    fn thresholds(&self, path: &str) -> Result<(Unit, f64, f64), ParamError> {
        let (unit, min, max) = match (self.min, self.max) {
            (Amount::Packets(min), Amount::Packets(max)) => (Unit::Packets, min, max),
            (Amount::Bytes(min), Amount::Bytes(max)) => (Unit::Bytes, min, max),
            _ => return Err(ParamError::new(format!("{path}.max"), "must be in packets or bytes, as min is")),
        };
        if min >= max {
            return Err(ParamError::new(format!("{path}.max"), "must be above min"));
        }
        Ok((unit, min as f64, max as f64))
    }

    fn settings(&self, unit: Unit, min: f64, max: f64) -> Settings {
        Settings {
            min,
            max,
            max_p: self.probability.get(),
            weight: self.weight,
            packet_time: self.bandwidth.time_for(self.avpkt),
            mean_bytes: (unit == Unit::Bytes).then_some(self.avpkt.0 as f64),
            gentle: self.gentle,
            wait: self.wait,
            ecn: self.ecn,
            harddrop: self.harddrop,
            adaptive: self.adaptive,
        }
    }
}

/// A FIFO with RED at its tail.
pub struct Red<B> {
    settings: Settings,
    unit: Unit,
    limit: Amount,
    waiting: Backlog<B>,
    law: Law,
    random: Stream,
    marks: u64,
}

impl<B> Red<B> {
    /// An empty queue; its random numbers come from `random`.
    pub fn new(params: &Params, random: Stream) -> Self {
        let (unit, min, max) = params.thresholds("red").expect("parameters are checked when they are read");
        let settings = params.settings(unit, min, max);
        let (limit, law) = (params.limit, Law::new(&settings));
        Red { settings, unit, limit, waiting: Backlog::default(), law, random, marks: 0 }
    }

    fn arriving(&self, packet: &PacketMeta) -> Arriving {
        let queue = match self.unit {
            Unit::Packets => f64::from(self.waiting.packets()),
            Unit::Bytes => self.waiting.bytes() as f64,
        };
        Arriving { bytes: packet.bytes, queue, is_capable: packet.ecn.is_capable() }
    }
}

impl<B: Send> OneBacklog for Red<B> {
    type Body = B;

    fn put(&mut self, now: Time, mut packet: Packet<B>, dropped: &mut Vec<Drop<B>>) {
        let arriving = self.arriving(&packet.meta);
        let verdict = self.law.on_arrival(&self.settings, now, arriving, &mut self.random);
        if verdict == Verdict::Drop {
            dropped.push((packet, DropReason::Early));
        } else if !self.fits(packet.meta.bytes) {
            dropped.push((packet, DropReason::QueueFull));
        } else {
            self.marks += u64::from(verdict == Verdict::Mark && packet.meta.mark());
            self.waiting.push(packet);
        }
        // An arrival that is dropped leaves an empty queue empty.
        if self.waiting.packets() == 0 {
            self.law.on_empty(now);
        }
    }

    fn take(&mut self, now: Time, wanted: Wanted, _: &mut Vec<Drop<B>>) -> Option<Packet<B>> {
        let packet = self.waiting.pop(wanted)?;
        if self.waiting.packets() == 0 {
            self.law.on_empty(now);
        }
        Some(packet)
    }

    fn waiting(&self) -> &Backlog<B> {
        &self.waiting
    }

    fn limit(&self) -> Amount {
        self.limit
    }

    fn marked(&self) -> u64 {
        self.marks
    }
}
