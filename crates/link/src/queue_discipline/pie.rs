//! PIE over one queue: drops or marks arrivals at random, to keep the delay at a target.
//!
//! Source: RFC 8033; the law is in [`law::pie`](super::law::pie). Packets beyond the limit are dropped at the tail.
//! Left out: several queues, which is `fq_pie`.

use lasthop_engine::Stream;
use lasthop_observe::DropReason;
use lasthop_registry::{Amount, params};
use lasthop_units::{Bytes, Duration, Probability, Time};

use super::backlog::Backlog;
use super::interface::{Drop, Wanted};
use super::law::Verdict;
use super::law::pie::{Arriving, Departing, Estimate, Pie as Law, Settings};
use super::one_backlog::OneBacklog;
use crate::{Packet, PacketMeta};

params! {
    /// Parameters of `pie`.
    pub struct Params {
        /// Largest backlog, in packets or in bytes; a packet that would exceed it is dropped at the tail.
        pub limit: Amount = Amount::Packets(1000),
        /// Queueing delay to keep. [RFC 8033 §4.2]
        pub target: Duration = Duration::from_millis(15),
        /// How often the drop probability is calculated; at least 1 us. [RFC 8033 §4.2]
        pub t_update: Duration = Duration::from_millis(15),
        /// Weight of the distance from the target, in Hz. [RFC 8033 §4.2]
        pub alpha: f64 = 0.125,
        /// Weight of the change since the last calculation, in Hz. [RFC 8033 §4.2]
        pub beta: f64 = 1.25,
        /// Time for which a burst is admitted after a period without congestion. [RFC 8033 §4.4]
        pub max_burst: Duration = Duration::from_millis(150),
        /// Mark ECN-capable packets where others are dropped. [RFC 8033 §5.1]
        pub ecn: bool = false,
        /// Drop probability from which ECN-capable packets are dropped as well. [RFC 8033 §5.1]
        pub mark_ecnth: Probability = const { Probability::of(0.1) },
        /// How the delay is measured: timestamp, or departure_rate. [RFC 8033 §5.2]
        pub estimate: Estimate = Estimate::Timestamp,
        /// Spread drops out (derandomization). [RFC 8033 §5.4]
        pub derandomise: bool = true,
        /// Do nothing until a third of the limit is full. [RFC 8033 §5.3]
        pub on_off: bool = false,
        /// Drop small packets less often, in proportion to their size. [Linux]
        pub bytemode: bool = false,
        /// Up to two packets of this size are always admitted. [RFC 8033 §4.1]
        pub mtu: Bytes = Bytes(1500),
    }
    check |this, path| {
        super::bounds::check_limit(this.limit, path)?;
        this.settings().check(path)
    }
}

impl Params {
    /// The settings of the law.
    fn settings(&self) -> Settings {
        Settings {
            target: self.target,
            t_update: self.t_update,
            alpha: self.alpha,
            beta: self.beta,
            max_burst: self.max_burst,
            ecn: self.ecn,
            mark_ecnth: self.mark_ecnth.get(),
            estimate: self.estimate,
            derandomise: self.derandomise,
            on_off: self.on_off,
            bytemode: self.bytemode,
            mtu: self.mtu.0,
        }
    }
}

/// A FIFO with PIE at its tail.
pub struct Pie<B> {
    settings: Settings,
    limit: Amount,
    waiting: Backlog<B>,
    law: Law,
    random: Stream,
    marks: u64,
}

impl<B> Pie<B> {
    /// An empty queue; its random numbers come from `random`.
    pub fn new(params: &Params, random: Stream) -> Self {
        let (settings, limit) = (params.settings(), params.limit);
        let law = Law::new(&settings);
        Pie { settings, limit, waiting: Backlog::default(), law, random, marks: 0 }
    }

    fn arriving(&self, packet: &PacketMeta) -> Arriving {
        let third_full = match self.limit {
            Amount::Unlimited => false,
            Amount::Packets(limit) => 3 * u64::from(self.waiting.packets()) >= limit,
            Amount::Bytes(limit) => 3 * self.waiting.bytes() >= limit,
        };
        let (bytes, queue_bytes) = (packet.bytes, self.waiting.bytes());
        Arriving { bytes, queue_bytes, third_full, is_capable: packet.ecn.is_capable() }
    }
}

impl<B: Send> OneBacklog for Pie<B> {
    type Body = B;

    fn put(&mut self, now: Time, mut packet: Packet<B>, dropped: &mut Vec<Drop<B>>) {
        let arriving = self.arriving(&packet.meta);
        if !self.fits(packet.meta.bytes) {
            self.law.on_tail_drop(&self.settings, now, arriving);
            dropped.push((packet, DropReason::QueueFull));
            return;
        }
        match self.law.on_arrival(&self.settings, now, arriving, &mut self.random) {
            Verdict::Forward => {}
            Verdict::Mark => self.marks += u64::from(packet.meta.mark()),
            Verdict::Drop => {
                dropped.push((packet, DropReason::Early));
                return;
            }
        }
        self.waiting.push(packet);
    }

    fn take(&mut self, now: Time, wanted: Wanted, _: &mut Vec<Drop<B>>) -> Option<Packet<B>> {
        let packet = self.waiting.pop(wanted)?;
        let departing = Departing {
            bytes: packet.meta.bytes,
            sojourn: now.since(packet.meta.enqueued_at),
            left_bytes: self.waiting.bytes(),
        };
        self.law.on_departure(&self.settings, now, departing);
        Some(packet)
    }

    fn waiting(&self) -> &Backlog<B> {
        &self.waiting
    }

    fn limit(&self) -> Amount {
        self.limit
    }

    fn keep(&mut self, target: Duration) {
        self.settings.target = target;
    }

    fn marked(&self) -> u64 {
        self.marks
    }
}
