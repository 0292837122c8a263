//! The packets offered to the queues of a run: to the interface queue of each node, and to each direction of the wired
//! links.
//!
//! Drops and occupancy of nodes are in their own rows; these rows give the numbers to compare them with.

use std::borrow::Cow;

use lasthop_link::queue_discipline::law::dual::Class;
use lasthop_link::{ByClass, WireUse};
use lasthop_observe::metric::drops::{ACKS_FILTERED, DROPS};
use lasthop_observe::metric::queue::QUEUE_MEAN;
use lasthop_observe::{Report, Row, scope};
use lasthop_units::Duration;

lasthop_observe::quantities! {
    /// Packets that were passed to the node for the air, or taken from a back-pressured socket, including those that
    /// went to the MAC at once.
    PACKETS: Queue, u64, Summary => "packets", Count, Packets, "packets";
    /// Mean wait in the queue: `queue_mean_packets` times the window over the packets that came and were not dropped.
    /// [Little 1961]
    WAIT_MEAN: Queue, f64, Summary => "wait_mean_s", Mean, Delay, "wait, mean";
    /// Packets that were passed to this direction of the wired link.
    WIRE_PACKETS: Wire, u64, Summary => "packets", Count, Packets, "packets";
    /// The fraction of time for which the transmitter of this direction was on; a packet counts where it begins. Behind a
    /// trace, the fraction of time in which packets waited for an opportunity.
    WIRE_BUSY: Wire, f64, Summary => "busy_fraction", Fraction, One, "busy";
    /// Mean time of packets from arrival at the link to the start of the transmission.
    WIRE_WAIT_MEAN: Wire, f64, Summary => "wait_mean_s", Mean, Delay, "wait, mean";
    /// 95th percentile of the time from arrival at the link to the start of the transmission.
    WIRE_WAIT_P95: Wire, f64, Summary => "wait_p95_s", Quantile, Delay, "wait, 95th percentile";
    /// The longest time from arrival at the link to the start of the transmission.
    WIRE_WAIT_MAX: Wire, f64, Summary => "wait_max_s", Maximum, Delay, "wait, maximum";
    /// L4S packets that the queue marked with CE; absent unless the queue treats L4S packets unlike others.
    MARKS_L4S: Queue, u64, Feature => "queue_marks_l4s", Count, Packets, "marks, L4S";
    /// Packets other than L4S ones that the queue marked with CE; absent unless the queue treats L4S packets unlike others.
    MARKS_CLASSIC: Queue, u64, Feature => "queue_marks_classic", Count, Packets, "marks, classic";
    /// Marks of L4S packets that left with the first burst after they came, such as an A-MPDU: nothing stood before them,
    /// and they waited only because service comes in bursts. With `airtime_fq_codel` the bursts are those of their
    /// station.
    MARKS_OF_BURSTS: Queue, u64, Feature => "queue_marks_of_bursts", Count, Packets, "marks from bursts of service";
    /// Mean time of L4S packets in the queue; absent unless the queue treats L4S packets unlike others.
    WAIT_L4S: Queue, f64, Feature => "l4s_wait_mean_s", Mean, Delay, "wait of L4S packets, mean";
    /// 99th percentile of the time of L4S packets in the queue.
    WAIT_L4S_P99: Queue, f64, Feature => "l4s_wait_p99_s", Quantile, Delay, "wait of L4S packets, 99th percentile";
    /// Mean time of other packets in a queue that treats L4S packets unlike others.
    WAIT_CLASSIC: Queue, f64, Feature => "classic_wait_mean_s", Mean, Delay, "wait of classic packets, mean";
    /// 99th percentile of the time of other packets in such a queue.
    WAIT_CLASSIC_P99: Queue, f64, Feature
        => "classic_wait_p99_s", Quantile, Delay, "wait of classic packets, 99th percentile";
    /// L4S packets that the queue of this direction marked with CE; absent unless the queue treats L4S packets unlike others.
    WIRE_MARKS_L4S: Wire, u64, Feature => "queue_marks_l4s", Count, Packets, "marks, L4S";
    /// Packets other than L4S ones that the queue of this direction marked with CE.
    WIRE_MARKS_CLASSIC: Wire, u64, Feature => "queue_marks_classic", Count, Packets, "marks, classic";
    /// Mean time of L4S packets in the queue of this direction.
    WIRE_WAIT_L4S: Wire, f64, Feature => "l4s_wait_mean_s", Mean, Delay, "wait of L4S packets, mean";
    /// 99th percentile of the time of L4S packets in the queue of this direction.
    WIRE_WAIT_L4S_P99: Wire, f64, Feature => "l4s_wait_p99_s", Quantile, Delay, "wait of L4S packets, 99th percentile";
    /// Mean time of other packets in the queue of this direction.
    WIRE_WAIT_CLASSIC: Wire, f64, Feature => "classic_wait_mean_s", Mean, Delay, "wait of classic packets, mean";
    /// 99th percentile of the time of other packets in the queue of this direction.
    WIRE_WAIT_CLASSIC_P99: Wire, f64, Feature
        => "classic_wait_p99_s", Quantile, Delay, "wait of classic packets, 99th percentile";
}

/// Adds the rows of the queues to `report`: packets `offered` to each node, and the use of the `wires`, up and down, in
/// the time `covered`.
pub(crate) fn add_rows<'a>(
    report: &mut Report,
    covered: Duration,
    offered: impl Iterator<Item = u64>,
    wires: impl Iterator<Item = [Cow<'a, WireUse>; 2]>,
) {
    report.queues = report.nodes.iter().zip(offered).map(|(node, offered)| of_node(node, offered, covered)).collect();
    for (rows, used) in report.wires.iter_mut().zip(wires) {
        for (row, used) in rows.iter_mut().zip(used) {
            let dropped = std::mem::replace(row, of_wire(&used, covered));
            row.append(dropped);
        }
    }
}

/// Adds the waits and marks by class of the queues that have classes, of each node and of the `wires`, up and down.
pub(crate) fn add_classes<'a>(
    report: &mut Report,
    nodes: impl Iterator<Item = Option<ByClass>>,
    wires: impl Iterator<Item = [Option<&'a ByClass>; 2]>,
) {
    for (row, by_class) in report.queues.iter_mut().zip(nodes) {
        let Some(by_class) = by_class else { continue };
        let [l4s, classic] = [by_class.of(Class::L4s), by_class.of(Class::Classic)];
        row.put_of_feature(MARKS_L4S, l4s.marks);
        row.put_of_feature(MARKS_CLASSIC, classic.marks);
        row.put_of_feature(MARKS_OF_BURSTS, by_class.marks_of_bursts);
        row.put_of_feature(WAIT_L4S, l4s.waits.mean_s());
        row.put_of_feature(WAIT_L4S_P99, l4s.waits.quantile_s(0.99));
        row.put_of_feature(WAIT_CLASSIC, classic.waits.mean_s());
        row.put_of_feature(WAIT_CLASSIC_P99, classic.waits.quantile_s(0.99));
    }
    for (row, by_class) in report.wires.iter_mut().flatten().zip(wires.flatten()) {
        let Some(by_class) = by_class else { continue };
        let [l4s, classic] = [by_class.of(Class::L4s), by_class.of(Class::Classic)];
        row.put_of_feature(WIRE_MARKS_L4S, l4s.marks);
        row.put_of_feature(WIRE_MARKS_CLASSIC, classic.marks);
        row.put_of_feature(WIRE_WAIT_L4S, l4s.waits.mean_s());
        row.put_of_feature(WIRE_WAIT_L4S_P99, l4s.waits.quantile_s(0.99));
        row.put_of_feature(WIRE_WAIT_CLASSIC, classic.waits.mean_s());
        row.put_of_feature(WIRE_WAIT_CLASSIC_P99, classic.waits.quantile_s(0.99));
    }
}

/// The mean wait in a queue with this mean length. [Little 1961]
fn mean_wait(packets: f64, passed: u64, covered: Duration) -> Option<f64> {
    (passed > 0).then(|| packets * covered.as_secs_f64() / passed as f64)
}

fn of_node(node: &Row<scope::Node>, offered: u64, covered: Duration) -> Row<scope::Queue> {
    let gone = node.get(DROPS).unwrap_or(0) + node.get(ACKS_FILTERED).unwrap_or(0);
    let queued = node.get(QUEUE_MEAN).unwrap_or(0.0);
    let mut row = Row::default();
    row.put(PACKETS, offered);
    row.put(WAIT_MEAN, mean_wait(queued, offered.saturating_sub(gone), covered));
    row
}

fn of_wire(used: &WireUse, covered: Duration) -> Row<scope::Wire> {
    let mut row = Row::default();
    row.put(WIRE_PACKETS, used.offered);
    row.put(WIRE_BUSY, (used.busy.as_secs_f64() / covered.as_secs_f64()).min(1.0));
    row.put(WIRE_WAIT_MEAN, used.waits.mean_s());
    row.put(WIRE_WAIT_P95, used.waits.quantile_s(0.95));
    row.put(WIRE_WAIT_MAX, (used.waits.count() > 0).then(|| used.longest_wait.as_secs_f64()));
    row
}
