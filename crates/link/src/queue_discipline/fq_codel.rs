//! FQ-CoDel: a queue with CoDel for each flow, served by deficit round robin, sparse flows first.
//!
//! It follows RFC 8290, and `sch_fq_codel` of Linux 6.18 where the RFC leaves room: a full queue drops up to 64 packets
//! at the head of the fattest flow at once; memory is limited too; ECN is on. One difference from Linux: a flow with no
//! more than a packet left suffers no drops [RFC 8289 §5.6], while Linux considers the backlog of all flows. Left out:
//! external classifiers and marking above the threshold by DSCP.
//!
//! ```text
//!  packet ─► hash of its five-tuple ─► queue of its flow ──► CoDel of this queue
//!                                       │ empty before: to the end of the list of new queues
//!                                       ▼
//!   new queues first, then old ones: credits > 0 ─► send, and pay its bytes
//!                                    credits <= 0 ─► a quantum more, to the end of the old queues      [RFC 8290 §4.2]
//! ```
//! A flow that sends less than a quantum in a round (a DNS query, a call, an ACK) is always new when its packet comes, and so
//! goes before the flows that fill the link. That is the scheduler's part of low latency; CoDel has the other one.

use lasthop_engine::Stream;
use lasthop_observe::DropReason;
use lasthop_registry::{ParamError, params};
use lasthop_units::{Bytes, Duration, Ecn, Packets, Time};

use super::flow_queue::{Classifier, FULL_FRAME, FlowQueues, Limits, Round, Signals, frame_bytes};
use super::interface::{Drop, QueueDiscipline, Wanted};
use super::law::codel::{Codel, Settings};
use crate::Packet;

params! {
    /// Parameters of `fq_codel`.
    pub struct Params {
        /// Largest number of packets in all queues together; beyond it, the fattest queue loses some. [RFC 8290 §5.2]
        pub limit: Packets = Packets(10_240),
        /// Largest memory in all queues together, as Linux counts it: 2304 B for a packet of 1500 B.
        pub memory_limit: Bytes = Bytes(32 << 20),
        /// Number of queues that flows are hashed to. [RFC 8290 §5.2]
        pub flows: u32 = 1024,
        /// Quantum: bytes (of Ethernet frames without FCS) that a queue may send in its turn. [RFC 8290 §5.2]
        pub quantum: Bytes = Bytes(FULL_FRAME),
        /// CoDel's target sojourn time in each queue. [RFC 8290 §5.2]
        pub target: Duration = Duration::from_millis(5),
        /// Interval in which the least sojourn time must exceed the target before a drop: the longest usual RTT. [RFC
        /// 8290 §5.2]
        pub interval: Duration = Duration::from_millis(100),
        /// Mark ECN-capable packets where others are dropped. [RFC 8290 §5.2]
        pub ecn: bool = true,
        /// Mark every ECN-capable packet that waited longer than this; absent: never. [RFC 8290 §5.2]
        pub ce_threshold: Option<Duration> = None,
        /// Largest number of packets, and at most half its bytes, that the fattest queue loses at once. [RFC 8290 §4.1]
        pub drop_batch: u32 = 64,
    }
    check |this, path| {
        this.limits().check(path)?;
        if this.drop_batch == 0 {
            return Err(ParamError::new(format!("{path}.drop_batch"), ("a full queue must lose a packet", "at least 1")));
        }
        super::bounds::check_flows(this.flows, this.quantum, path)?;
        this.settings().check(path)
    }
}

impl Params {
    fn limits(&self) -> Limits {
        Limits { packets: self.limit.0, memory: self.memory_limit.0 }
    }

    fn settings(&self) -> Settings {
        let Params { target, interval, ecn, ce_threshold, .. } = *self;
        Settings { target, interval, mtu: FULL_FRAME, ecn, ce_threshold }
    }
}

/// An FQ-CoDel queue: flow queues with CoDel, served by deficit round robin.
pub struct FqCodel<B> {
    /// `limit` and `memory_limit`: bounds of all queues together [RFC 8290 §5.2]
    limits: Limits,
    /// packets that the fattest queue loses at once, since the search for that queue takes time [RFC 8290 §4.1]
    drop_batch: u32,
    /// `target`, `interval` and marking, the same in each queue [RFC 8290 §5.2]
    settings: Settings,
    /// the hash of the five-tuple, with a key that is drawn: flows that share a queue by chance do so in one run only
    /// [RFC 8290 §4.1, §5.3]
    classifier: Classifier,
    /// the queues, each with the state of its CoDel [RFC 8290 §5.1]
    queues: FlowQueues<B, Codel>,
    /// the lists of new and of old queues, and each queue's credits in bytes [RFC 8290 §4.2, §5.1]
    round: Round,
    /// packets marked instead of dropped [RFC 8290 §5.2]
    marks: u64,
}

impl<B> FqCodel<B> {
    /// An empty queue; the key of the hash is drawn from `random`.
    pub fn new(params: &Params, mut random: Stream) -> Self {
        FqCodel {
            limits: params.limits(),
            drop_batch: params.drop_batch,
            settings: params.settings(),
            classifier: Classifier::new(params.flows, random.bits()),
            queues: FlowQueues::default(),
            round: Round::new(0, params.quantum.0),
            marks: 0,
        }
    }

    /// Drops half the bytes of the fattest queue from its head, but no more than a batch: the search for that queue
    /// takes time. [RFC 8290 §4.1]
    fn shorten_fattest(&mut self, dropped: &mut Vec<Drop<B>>) {
        let Some(fattest) = self.queues.fattest() else {
            return;
        };
        let (mut packets, mut bytes) = (0, 0);
        let half = self.queues[fattest].bytes() / 2;
        while let Some(packet) = self.queues.pop(fattest, Wanted::ANY) {
            packets += 1;
            bytes += frame_bytes(&packet.meta);
            dropped.push((packet, DropReason::QueueFull));
            if packets >= self.drop_batch || bytes >= half {
                break;
            }
        }
        self.queues[fattest].law.on_overflow(packets);
    }
}

impl<B: Send> QueueDiscipline<B> for FqCodel<B> {
    fn enqueue(&mut self, _: Time, packet: Packet<B>, dropped: &mut Vec<Drop<B>>) {
        let queue = self.classifier.queue(&packet.meta, || self.queues.add(Codel::default()));
        self.queues.push(queue, packet);
        self.round.admit(&mut self.queues[queue], queue);
        if self.queues.is_over(self.limits) {
            self.shorten_fattest(dropped);
        }
    }

    fn dequeue(&mut self, now: Time, wanted: Wanted, dropped: &mut Vec<Drop<B>>) -> Option<Packet<B>> {
        let mut signals = Signals { dropped, marks: &mut self.marks, came: Ecn::NotEct };
        let settings = &self.settings;
        self.round.dequeue(&mut self.queues, wanted, |queues, queue| {
            queues.pop_by_codel(queue, wanted, now, settings, &mut signals)
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

    fn has_room(&self, bytes: u32) -> bool {
        self.queues.has_room(self.limits, bytes)
    }

    fn marks(&self) -> u64 {
        self.marks
    }
}
