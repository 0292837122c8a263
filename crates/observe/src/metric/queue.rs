//! Occupancy of the interface queues.

use lasthop_units::{Duration, Time};

use crate::metric::{Integral, Metric, OverTime};
use crate::{Layout, Places, Record, Report, Series};

crate::quantities! {
    /// Packets in the interface queue, that of its driver included, mean over time; without those that the MAC holds.
    QUEUE_MEAN: Node, f64, Summary => "queue_mean_packets", Mean, Packets, "queue, mean";
    /// The greatest number of packets in the interface queue.
    QUEUE_MAX: Node, u64, Summary => "queue_max_packets", Maximum, Packets, "queue, maximum";
    /// Packets in the interface queue just before the sample.
    QUEUE_LENGTH: Node, f64, Series => "queue_packets", Level, Packets, "queue";
    /// Pure TCP ACKs in the interface queue just before the sample.
    QUEUED_TCP_ACKS: Node, f64, Series => "queue_tcp_ack_packets", Level, Packets, "queue, TCP ACKs";
}

/// Mean and maximum number of packets in the queue of each node.
#[derive(Clone)]
pub struct Queue {
    nodes: Vec<Integral>,
}

impl Metric for Queue {
    fn new(layout: &Layout) -> Self {
        Queue { nodes: vec![Integral::default(); layout.nodes] }
    }

    #[inline(always)]
    fn observe(&mut self, at: Time, record: &Record) {
        if let Record::Queue { node, packets, .. } = *record {
            self.nodes[node.index()].set(at, f64::from(packets));
        }
    }

    fn start(&mut self, now: Time) {
        self.nodes.iter_mut().for_each(|packets| packets.start(now));
    }

    fn join(&mut self, _: &Self, _: &Places, _: Time) {}

    fn report(&mut self, now: Time, covered: Duration, report: &mut Report) {
        for (packets, row) in self.nodes.iter_mut().zip(&mut report.nodes) {
            row.put(QUEUE_MEAN, packets.mean(now, covered));
            row.put(QUEUE_MAX, packets.max() as u64);
        }
    }
}

/// Packets in the queue of each node, and the TCP ACKs among them, at each sample.
#[derive(Clone)]
pub struct QueueOverTime {
    nodes: Vec<(u32, u32)>,
}

impl OverTime for QueueOverTime {
    fn new(layout: &Layout) -> Self {
        QueueOverTime { nodes: vec![(0, 0); layout.nodes] }
    }

    #[inline(always)]
    fn observe(&mut self, _: Time, record: &Record) {
        if let Record::Queue { node, packets, tcp_acks } = *record {
            self.nodes[node.index()] = (packets, tcp_acks);
        }
    }

    fn sample(&mut self, _: Time, _: Duration, series: &mut Series) {
        let nodes = || self.nodes.iter().enumerate();
        series.push(QUEUE_LENGTH, nodes().map(|(i, (packets, _))| (i as u32, f64::from(*packets))));
        series.push(QUEUED_TCP_ACKS, nodes().map(|(i, (_, tcp_acks))| (i as u32, f64::from(*tcp_acks))));
    }
}
