//! Occupancy of the interface queues.

use lasthop_units::{Duration, Time};

use crate::metric::{Integral, Metric};
use crate::{Layout, Record, Report, Scope, Series};

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
        series.push("queue_packets", Scope::Node, nodes().map(|(i, n)| (i as u32, n.packets.value())));
        series.push("queue_tcp_ack_packets", Scope::Node, nodes().map(|(i, n)| (i as u32, f64::from(n.tcp_acks))));
    }

    fn report(&mut self, now: Time, covered: Duration, report: &mut Report) {
        for (node, row) in self.nodes.iter_mut().zip(&mut report.nodes) {
            row.put("queue_mean_packets", node.packets.mean(now, covered));
            row.put_count("queue_max_packets", node.packets.max() as u64);
        }
    }
}
