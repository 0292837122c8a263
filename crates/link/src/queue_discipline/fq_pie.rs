//! FQ-PIE: a queue with PIE for each flow, served by deficit round robin, sparse flows first.
//!
//! It follows `sch_fq_pie` of Linux 6.18: the queues and turns of [FQ-CoDel](super::fq_codel), the law of [RFC 8033],
//! no ECN by default, and a drop of the arriving packet if there is no room. Linux calculates the probabilities of all
//! queues by one timer; here each queue catches up on its own. Left out: external classifiers.

use lasthop_engine::Stream;
use lasthop_observe::DropReason;
use lasthop_registry::params;
use lasthop_units::{Bytes, Duration, Packets, Probability, Time};

use super::flow_queue::{Classifier, FULL_FRAME, FlowQueues, Limits, Round, frame_bytes};
use super::interface::{Drop, QueueDiscipline, Wanted};
use super::law::Verdict;
use super::law::pie::{Arriving, Departing, Estimate, Pie, Settings};
use crate::{Packet, PacketMeta};

params! {
    /// Parameters of `fq_pie`.
    pub struct Params {
        /// Largest number of packets in all queues together; a packet that would exceed it is dropped.
        pub limit: Packets = Packets(10_240),
        /// Largest memory in all queues together, as Linux counts it: 2304 B for a packet of 1500 B.
        pub memory_limit: Bytes = Bytes(32 << 20),
        /// Number of queues that flows are hashed to.
        pub flows: u32 = 1024,
        /// Quantum: bytes (of Ethernet frames without FCS) that a queue may send in its turn.
        pub quantum: Bytes = Bytes(FULL_FRAME),
        /// PIE's target queueing delay in each queue. [RFC 8033 §4.2]
        pub target: Duration = Duration::from_millis(15),
        /// How often the drop probabilities are calculated; at least 1 us. [RFC 8033 §4.2]
        pub t_update: Duration = Duration::from_millis(15),
        /// Weight of the distance from the target, in Hz. [RFC 8033 §4.2]
        pub alpha: f64 = 0.125,
        /// Weight of the change since the last calculation, in Hz. [RFC 8033 §4.2]
        pub beta: f64 = 1.25,
        /// Mark ECN-capable packets where others are dropped. [RFC 8033 §5.1]
        pub ecn: bool = false,
        /// Drop probability from which ECN-capable packets are dropped as well. [RFC 8033 §5.1]
        pub ecn_prob: Probability = const { Probability::of(0.1) },
        /// Drop small packets less often, in proportion to their size.
        pub bytemode: bool = false,
        /// How the delay is measured: timestamp, or departure_rate. [RFC 8033 §5.2]
        pub estimate: Estimate = Estimate::Timestamp,
    }
    check |this, path| {
        this.limits().check(path)?;
        super::bounds::check_flows(this.flows, this.quantum, path)?;
        this.settings().check(path)
    }
}

impl Params {
    fn limits(&self) -> Limits {
        Limits { packets: self.limit.0, memory: self.memory_limit.0 }
    }

    fn settings(&self) -> Settings {
        Settings {
            target: self.target,
            t_update: self.t_update,
            alpha: self.alpha,
            beta: self.beta,
            ecn: self.ecn,
            mark_ecnth: self.ecn_prob.get(),
            bytemode: self.bytemode,
            estimate: self.estimate,
            mtu: FULL_FRAME,
            ..Settings::default()
        }
    }
}

/// An FQ-PIE queue: flow queues with PIE, served by deficit round robin.
pub struct FqPie<B> {
    limits: Limits,
    settings: Settings,
    classifier: Classifier,
    queues: FlowQueues<B, Pie>,
    round: Round,
    random: Stream,
    marks: u64,
}

impl<B> FqPie<B> {
    /// An empty queue; the key of the hash and the draws of the law come from `random`.
    pub fn new(params: &Params, mut random: Stream) -> Self {
        FqPie {
            limits: params.limits(),
            settings: params.settings(),
            classifier: Classifier::new(params.flows, random.bits()),
            queues: FlowQueues::default(),
            round: Round::new(0, params.quantum.0),
            random,
            marks: 0,
        }
    }

    fn arriving(&self, queue: u32, packet: &PacketMeta) -> Arriving {
        Arriving {
            bytes: frame_bytes(packet),
            queue_bytes: u64::from(self.queues[queue].bytes()),
            // It matters only if the law switches itself off, which that of Linux does not.
            third_full: false,
            is_capable: packet.ecn.is_capable(),
        }
    }
}

impl<B: Send> QueueDiscipline<B> for FqPie<B> {
    fn enqueue(&mut self, now: Time, mut packet: Packet<B>, dropped: &mut Vec<Drop<B>>) {
        let queue = self.classifier.queue(&packet.meta, || self.queues.add(Pie::new(&self.settings)));
        let arriving = self.arriving(queue, &packet.meta);
        if !self.has_room(packet.meta.bytes) {
            self.queues[queue].law.on_tail_drop(&self.settings, now, arriving);
            dropped.push((packet, DropReason::QueueFull));
            return;
        }
        match self.queues[queue].law.on_arrival(&self.settings, now, arriving, &mut self.random) {
            Verdict::Forward => {}
            Verdict::Mark => self.marks += u64::from(packet.meta.mark()),
            Verdict::Drop => {
                dropped.push((packet, DropReason::Early));
                return;
            }
        }
        self.queues.push(queue, packet);
        self.round.admit(&mut self.queues[queue], queue);
    }

    fn dequeue(&mut self, now: Time, wanted: Wanted, _: &mut Vec<Drop<B>>) -> Option<Packet<B>> {
        let settings = &self.settings;
        self.round.dequeue(&mut self.queues, wanted, |queues, queue| {
            let packet = queues.pop(queue, wanted)?;
            let departing = Departing {
                bytes: frame_bytes(&packet.meta),
                sojourn: now.since(packet.meta.enqueued_at),
                left_bytes: u64::from(queues[queue].bytes()),
            };
            queues[queue].law.on_departure(settings, now, departing);
            Some(packet)
        })
    }

    fn set_target(&mut self, target: Duration) {
        self.settings.target = target;
    }

    fn waiting_for(&self, wanted: Wanted, most: usize) -> usize {
        self.round.waiting_for(&self.queues, wanted, most)
    }

    fn packets(&self) -> u32 {
        self.queues.packets()
    }

    fn tcp_acks(&self) -> u32 {
        self.queues.tcp_acks()
    }

    /// Returns whether it fits; the law may drop it nevertheless.
    fn has_room(&self, bytes: u32) -> bool {
        self.queues.has_room(self.limits, bytes)
    }

    fn marks(&self) -> u64 {
        self.marks
    }
}
