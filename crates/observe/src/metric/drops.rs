//! Packets dropped, by node, reason and kind.

use lasthop_units::{Duration, Time};

use crate::metric::Metric;
use crate::{DropReason, Layout, QueueLayer, Record, Report, Scope, Series};

#[derive(Clone, Copy, Debug, Default)]
struct Node {
    tcp_acks: u64,
    data: u64,
    retry_limit: u64,
    wired: u64,
    interval_queue: u32,
    interval_retry_limit: u32,
}

/// See the module.
pub struct Drops {
    nodes: Vec<Node>,
}

impl Metric for Drops {
    fn new(layout: &Layout) -> Self {
        Drops { nodes: vec![Node::default(); layout.nodes] }
    }

    #[inline(always)]
    fn observe(&mut self, _: Time, record: &Record) {
        if let Record::Dropped { node, layer, reason, tcp_ack, .. } = *record {
            let node = &mut self.nodes[node.index()];
            match (layer, reason) {
                (QueueLayer::WiredUp | QueueLayer::WiredDown, _) => node.wired += 1,
                (_, DropReason::RetryLimit | DropReason::ReorderTimeout) => {
                    node.retry_limit += 1;
                    node.interval_retry_limit += 1;
                }
                (_, DropReason::QueueFull | DropReason::Early | DropReason::AckFiltered) => {
                    *if tcp_ack { &mut node.tcp_acks } else { &mut node.data } += 1;
                    node.interval_queue += 1;
                }
            }
        }
    }

    fn start(&mut self, _: Time) {
        for node in &mut self.nodes {
            let Node { interval_queue, interval_retry_limit, .. } = *node;
            *node = Node { interval_queue, interval_retry_limit, ..Node::default() };
        }
    }

    fn sample(&mut self, _: Time, _: Duration, series: &mut Series) {
        let nodes = || self.nodes.iter().enumerate();
        series.push("drops_queue_full", Scope::Node, nodes().map(|(i, n)| (i as u32, f64::from(n.interval_queue))));
        let by_retries = nodes().map(|(i, n)| (i as u32, f64::from(n.interval_retry_limit)));
        series.push("drops_retry_limit", Scope::Node, by_retries);
        for node in &mut self.nodes {
            (node.interval_queue, node.interval_retry_limit) = (0, 0);
        }
    }

    fn report(&mut self, _: Time, _: Duration, report: &mut Report) {
        for (node, row) in self.nodes.iter().zip(&mut report.nodes) {
            row.put_count("queue_drops", node.tcp_acks + node.data);
            row.put_count("queue_drops_tcp_ack", node.tcp_acks);
            row.put_count("queue_drops_data", node.data);
            // No queue discipline marks yet.
            row.put_count("queue_marks", 0);
            row.put_count("frames_dropped_retry_limit", node.retry_limit);
        }
        // The AP stands for both ends of the wired link.
        if let (Some(ap), Some(row)) = (self.nodes.first(), report.nodes.first_mut()) {
            row.put_count("wired_queue_drops", ap.wired);
        }
    }
}
