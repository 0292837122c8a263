//! Packets dropped and marked, by node, queue, reason and kind.
//!
//! A pure ACK removed by a filter is not a drop: the next ACK carries its information.

use lasthop_units::{Duration, Time};

use crate::metric::{Metric, OverTime};
use crate::{DropReason, Layout, Places, QueueLayer, Record, Report, Row, Series};

crate::quantities! {
    /// Packets that the interface queue dropped. Filtered ACKs do not count, since later ACKs carry the same
    /// information.
    DROPS: Node, u64, Summary => "queue_drops", Count, Packets, "queue drops";
    /// Pure TCP ACKs that the interface queue dropped.
    DROPS_TCP_ACK: Node, u64, Summary => "queue_drops_tcp_ack", Count, Packets, "queue drops, TCP ACKs";
    /// Packets other than pure TCP ACKs that the interface queue dropped.
    DROPS_DATA: Node, u64, Summary => "queue_drops_data", Count, Packets, "queue drops, data";
    /// Packets that the interface queue dropped because it was full.
    DROPS_TAIL: Node, u64, Summary => "queue_drops_tail", Count, Packets, "queue drops, tail";
    /// Packets that the interface queue dropped by the law of its discipline.
    DROPS_EARLY: Node, u64, Summary => "queue_drops_early", Count, Packets, "queue drops, early";
    /// Pure ACKs that `ack_filter` took out of the interface queue.
    ACKS_FILTERED: Node, u64, Summary => "acks_filtered", Count, Packets, "ACKs filtered";
    /// Packets that the interface queue marked with CE.
    MARKS: Node, u64, BothRare => "queue_marks", Count, Packets, "queue marks";
    /// MSDUs that the MAC gave up after the last retry.
    GIVEN_UP: Node, u64, Summary => "frames_dropped_retry_limit", Count, Packets, "given up after the last retry";
    /// MSDUs that came after their recipient had given them up.
    TOO_LATE: Node, u64, Summary
        => "frames_dropped_reorder_timeout", Count, Packets, "dropped after the reorder timeout";
    /// Packets that the queues of the wired link dropped, both directions.
    WIRED_DROPS: Node, u64, Summary => "wired_queue_drops", Count, Packets, "wired queue drops", only "APs";
    /// Packets that the queues of the wired link dropped because they were full.
    WIRED_DROPS_TAIL: Node, u64, Summary => "wired_queue_drops_tail", Count, Packets, "wired queue drops, tail", only "APs";
    /// Packets that the queues of the wired link dropped by the law of their discipline.
    WIRED_DROPS_EARLY: Node, u64, Summary
        => "wired_queue_drops_early", Count, Packets, "wired queue drops, early", only "APs";
    /// Pure ACKs that `ack_filter` took out of the queues of the wired link.
    WIRED_ACKS_FILTERED: Node, u64, Summary => "wired_acks_filtered", Count, Packets, "wired ACKs filtered", only "APs";
    /// Packets that the queues of the wired link marked with CE.
    WIRED_MARKS: Node, u64, Summary => "wired_queue_marks", Count, Packets, "wired queue marks", only "APs";
    /// Packets that the wired link lost at random by `wired.loss`, both directions; absent without losses. They do not
    /// count as drops of its queues.
    WIRED_LOSSES: Node, u64, Summary => "wired_losses", Count, Packets, "wired losses", only "APs";
    /// Packets that the queue of this direction dropped.
    DROPS_OF_WIRE: Wire, u64, Summary => "queue_drops", Count, Packets, "queue drops";
    /// Pure TCP ACKs that the queue of this direction dropped.
    DROPS_OF_WIRE_TCP_ACK: Wire, u64, Summary => "queue_drops_tcp_ack", Count, Packets, "queue drops, TCP ACKs";
    /// Packets that the queue of this direction marked with CE.
    MARKS_OF_WIRE: Wire, u64, Summary => "queue_marks", Count, Packets, "queue marks";
    /// Packets that the interface queue dropped in the interval because it was full. The queues of the wired link are
    /// not among them.
    SERIES_QUEUE_FULL: Node, u64, RareSeries => "drops_queue_full", Count, Packets, "drops, queue full";
    /// Packets that the interface queue dropped in the interval by the law of its discipline.
    SERIES_EARLY: Node, u64, RareSeries => "drops_early", Count, Packets, "drops, early";
    /// Pure ACKs that `ack_filter` took out of the interface queue in the interval.
    SERIES_ACK_FILTERED: Node, u64, RareSeries => "drops_ack_filtered", Count, Packets, "drops, ACKs filtered";
    /// MSDUs that the MAC gave up in the interval.
    SERIES_RETRY_LIMIT: Node, u64, RareSeries => "drops_retry_limit", Count, Packets, "drops, retry limit";
    /// MSDUs that came in the interval after their recipient had given them up.
    SERIES_REORDER_TIMEOUT: Node, u64, RareSeries => "drops_reorder_timeout", Count, Packets, "drops, reorder timeout";
}

/// Drops and marks of a queue.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    tail: u64,
    early: u64,
    acks_filtered: u64,
    lost: u64,
    marks: u64,
    retry_limit: u64,
    reorder_timeout: u64,
    /// The part of `tail` and `early` that are pure TCP ACKs.
    tcp_acks: u64,
}

impl Counts {
    #[inline(always)]
    fn drop(&mut self, reason: DropReason, tcp_ack: bool) {
        match reason {
            DropReason::QueueFull => self.tail += 1,
            DropReason::Early => self.early += 1,
            DropReason::AckFiltered => self.acks_filtered += 1,
            DropReason::Lost => self.lost += 1,
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
}

/// Packets that each node and each wired link dropped and marked.
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
                    QueueLayer::Interface | QueueLayer::Mac => node.own.drop(reason, tcp_ack),
                }
            }
            Record::Marked { node, layer, count } => {
                let node = &mut self.nodes[node.index()];
                match layer {
                    QueueLayer::WiredUp => node.wired[0].marks += count,
                    QueueLayer::WiredDown => node.wired[1].marks += count,
                    QueueLayer::Interface | QueueLayer::Mac => node.own.marks += count,
                }
            }
            _ => {}
        }
    }

    fn start(&mut self, _: Time) {
        self.nodes.fill(Node::default());
    }

    fn join(&mut self, _: &Self, _: &Places, _: Time) {}

    fn report(&mut self, _: Time, _: Duration, report: &mut Report) {
        for (Node { own, .. }, row) in self.nodes.iter().zip(&mut report.nodes) {
            row.put(DROPS, own.drops());
            row.put(DROPS_TCP_ACK, own.tcp_acks);
            row.put(DROPS_DATA, own.drops() - own.tcp_acks);
            row.put(DROPS_TAIL, own.tail);
            row.put(DROPS_EARLY, own.early);
            row.put(ACKS_FILTERED, own.acks_filtered);
            row.put(MARKS, own.marks);
            row.put(GIVEN_UP, own.retry_limit);
            row.put(TOO_LATE, own.reorder_timeout);
        }
        // An AP has both ends of its wired link.
        for (Node { wired, .. }, row) in self.nodes.iter().zip(&mut report.nodes).take(self.aps) {
            let both = |count: fn(&Counts) -> u64| wired.iter().map(count).sum::<u64>();
            row.put(WIRED_DROPS, both(Counts::drops));
            row.put(WIRED_DROPS_TAIL, both(|c| c.tail));
            row.put(WIRED_DROPS_EARLY, both(|c| c.early));
            row.put(WIRED_ACKS_FILTERED, both(|c| c.acks_filtered));
            row.put(WIRED_MARKS, both(|c| c.marks));
            if both(|c| c.lost) > 0 {
                row.put(WIRED_LOSSES, both(|c| c.lost));
            }
            report.wires.push(wired.map(|counts| {
                let mut row = Row::default();
                row.put(DROPS_OF_WIRE, counts.drops());
                row.put(DROPS_OF_WIRE_TCP_ACK, counts.tcp_acks);
                row.put(MARKS_OF_WIRE, counts.marks);
                row
            }));
        }
    }
}

/// Drops and marks of the interface queue and the MAC of each node, in each interval.
#[derive(Clone)]
pub struct DropsOverTime {
    nodes: Vec<Counts>,
}

impl DropsOverTime {
    fn counts(&self, count: fn(&Counts) -> u64) -> impl Iterator<Item = (u32, f64)> + Clone {
        self.nodes.iter().enumerate().map(move |(i, counts)| (i as u32, count(counts) as f64))
    }
}

impl OverTime for DropsOverTime {
    fn new(layout: &Layout) -> Self {
        DropsOverTime { nodes: vec![Counts::default(); layout.nodes] }
    }

    #[inline(always)]
    fn observe(&mut self, _: Time, record: &Record) {
        let is_own = |layer| matches!(layer, QueueLayer::Interface | QueueLayer::Mac);
        match *record {
            Record::Dropped { node, layer, reason, tcp_ack, .. } if is_own(layer) => {
                self.nodes[node.index()].drop(reason, tcp_ack);
            }
            Record::Marked { node, layer, count } if is_own(layer) => self.nodes[node.index()].marks += count,
            _ => {}
        }
    }

    fn sample(&mut self, _: Time, _: Duration, series: &mut Series) {
        series.push_rare(SERIES_QUEUE_FULL, self.counts(|c| c.tail));
        series.push_rare(SERIES_EARLY, self.counts(|c| c.early));
        series.push_rare(SERIES_ACK_FILTERED, self.counts(|c| c.acks_filtered));
        series.push_rare(SERIES_RETRY_LIMIT, self.counts(|c| c.retry_limit));
        series.push_rare(SERIES_REORDER_TIMEOUT, self.counts(|c| c.reorder_timeout));
        series.push_rare(MARKS, self.counts(|c| c.marks));
        self.nodes.fill(Counts::default());
    }
}
