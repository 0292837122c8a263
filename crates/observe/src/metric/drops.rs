//! Packets dropped and marked, by node, queue, reason and kind.
//!
//! A pure ACK that a filter took out is counted apart from drops: what it said is said by the one that follows.

use lasthop_units::{Duration, Time};

use crate::metric::Metric;
use crate::{DropReason, Layout, QueueLayer, Record, Report, Row, Scope, Series};

/// What a queue did to packets.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    tail: u64,
    early: u64,
    acks_filtered: u64,
    marks: u64,
    retry_limit: u64,
    reorder_timeout: u64,
    /// Of `tail` and `early`, pure TCP ACKs.
    tcp_acks: u64,
}

impl Counts {
    #[inline(always)]
    fn drop(&mut self, reason: DropReason, tcp_ack: bool) {
        match reason {
            DropReason::QueueFull => self.tail += 1,
            DropReason::Early => self.early += 1,
            DropReason::AckFiltered => self.acks_filtered += 1,
            DropReason::RetryLimit => self.retry_limit += 1,
            DropReason::ReorderTimeout => self.reorder_timeout += 1,
        }
        let by_queue = matches!(reason, DropReason::QueueFull | DropReason::Early);
        self.tcp_acks += u64::from(tcp_ack && by_queue);
    }

    fn drops(&self) -> u64 {
        self.tail + self.early
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// Its interface queue and its MAC.
    own: Counts,
    /// The wired link of an AP, up and down.
    wired: [Counts; 2],
    /// Of `own`, in this interval of the time series.
    interval: Counts,
}

/// See the module.
#[derive(Clone)]
pub struct Drops {
    aps: usize,
    nodes: Vec<Node>,
}

impl Metric for Drops {
    fn new(layout: &Layout) -> Self {
        Drops { aps: layout.aps, nodes: vec![Node::default(); layout.nodes] }
    }

    #[inline(always)]
    fn observe(&mut self, _: Time, record: &Record) {
        match *record {
            Record::Dropped { node, layer, reason, tcp_ack, .. } => {
                let node = &mut self.nodes[node.index()];
                match layer {
                    QueueLayer::WiredUp => node.wired[0].drop(reason, tcp_ack),
                    QueueLayer::WiredDown => node.wired[1].drop(reason, tcp_ack),
                    QueueLayer::Interface | QueueLayer::Mac => {
                        node.own.drop(reason, tcp_ack);
                        node.interval.drop(reason, tcp_ack);
                    }
                }
            }
            Record::Marked { node, layer, count } => {
                let node = &mut self.nodes[node.index()];
                match layer {
                    QueueLayer::WiredUp => node.wired[0].marks += count,
                    QueueLayer::WiredDown => node.wired[1].marks += count,
                    QueueLayer::Interface | QueueLayer::Mac => {
                        node.own.marks += count;
                        node.interval.marks += count;
                    }
                }
            }
            _ => {}
        }
    }

    fn start(&mut self, _: Time) {
        for node in &mut self.nodes {
            *node = Node { interval: node.interval, ..Node::default() };
        }
    }

    fn sample(&mut self, _: Time, _: Duration, series: &mut Series) {
        let mut push = |name, count: fn(&Counts) -> u64| {
            let nodes = self.nodes.iter().enumerate();
            series.push_rare(name, Scope::Node, nodes.map(|(i, n)| (i as u32, count(&n.interval) as f64)));
        };
        push("drops_queue_full", |c| c.tail);
        push("drops_early", |c| c.early);
        push("drops_ack_filtered", |c| c.acks_filtered);
        push("drops_retry_limit", |c| c.retry_limit);
        push("drops_reorder_timeout", |c| c.reorder_timeout);
        push("queue_marks", |c| c.marks);
        for node in &mut self.nodes {
            node.interval = Counts::default();
        }
    }

    fn report(&mut self, _: Time, _: Duration, report: &mut Report) {
        for (Node { own, .. }, row) in self.nodes.iter().zip(&mut report.nodes) {
            row.put_count("queue_drops", own.drops());
            row.put_count("queue_drops_tcp_ack", own.tcp_acks);
            row.put_count("queue_drops_data", own.drops() - own.tcp_acks);
            row.put_count("queue_drops_tail", own.tail);
            row.put_count("queue_drops_early", own.early);
            row.put_count("acks_filtered", own.acks_filtered);
            row.put_count("queue_marks", own.marks);
            row.put_count("frames_dropped_retry_limit", own.retry_limit);
            row.put_count("frames_dropped_reorder_timeout", own.reorder_timeout);
        }
        // An AP stands for both ends of its wired link.
        for (Node { wired, .. }, row) in self.nodes.iter().zip(&mut report.nodes).take(self.aps) {
            let both = |count: fn(&Counts) -> u64| wired.iter().map(count).sum::<u64>();
            row.put_count("wired_queue_drops", both(Counts::drops));
            row.put_count("wired_queue_drops_tail", both(|c| c.tail));
            row.put_count("wired_queue_drops_early", both(|c| c.early));
            row.put_count("wired_acks_filtered", both(|c| c.acks_filtered));
            row.put_count("wired_queue_marks", both(|c| c.marks));
            report.wires.push(wired.map(|counts| {
                let mut row = Row::default();
                row.put_count("queue_drops", counts.drops());
                row.put_count("queue_drops_tcp_ack", counts.tcp_acks);
                row.put_count("queue_marks", counts.marks);
                row
            }));
        }
    }
}
