//! Occupancy of the interface queues.

use lasthop_units::{Duration, Time};

use crate::metric::{Integral, Metric};
use crate::{Layout, Record, Report, Series};

crate::quantities! {
    /// Packets in the interface queue, that of its driver included, mean over time; without what the MAC holds.
    QUEUE_MEAN: Node, f64, Summary => "queue_mean_packets", Mean, Packets, "queue, mean";
    /// The greatest number of packets in the interface queue.
    QUEUE_MAX: Node, u64, Summary => "queue_max_packets", Maximum, Packets, "queue, maximum";
    /// Packets in the interface queue just before the sample.
    QUEUE_LENGTH: Node, f64, Series => "queue_packets", Level, Packets, "queue";
    /// Pure TCP ACKs in the interface queue just before the sample.
    QUEUED_TCP_ACKS: Node, f64, Series => "queue_tcp_ack_packets", Level, Packets, "queue, TCP ACKs";
}

#[derive(Clone, Debug, Default)]
struct Node {
    packets: Integral,
    tcp_acks: u32,
}

/// See the module.
#[derive(Clone)]
pub struct Queue {
    nodes: Vec<Node>,
}

impl Metric for Queue {
    fn new(layout: &Layout) -> Self {
        Queue { nodes: vec![Node::default(); layout.nodes] }
    }

    #[inline(always)]
    fn observe(&mut self, at: Time, record: &Record) {
        if let Record::Queue { node, packets, tcp_acks } = *record {
            let node = &mut self.nodes[node.index()];
            node.packets.set(at, f64::from(packets));
            node.tcp_acks = tcp_acks;
        }
    }

    fn start(&mut self, now: Time) {
        self.nodes.iter_mut().for_each(|n| n.packets.start(now));
    }

    fn sample(&mut self, _: Time, _: Duration, series: &mut Series) {
        let nodes = || self.nodes.iter().enumerate();
        series.push(QUEUE_LENGTH, nodes().map(|(i, n)| (i as u32, n.packets.value())));
        series.push(QUEUED_TCP_ACKS, nodes().map(|(i, n)| (i as u32, f64::from(n.tcp_acks))));
    }

    fn report(&mut self, now: Time, covered: Duration, report: &mut Report) {
        for (node, row) in self.nodes.iter_mut().zip(&mut report.nodes) {
            row.put(QUEUE_MEAN, node.packets.mean(now, covered));
            row.put(QUEUE_MAX, node.packets.max() as u64);
        }
    }
}
