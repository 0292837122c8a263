//! The packets offered to the queues of a run: to the interface queue of each node, and to each direction of the wired
//! links.
//!
//! Drops and occupancy of nodes are in their own rows; these rows give the numbers to compare them with.

use lasthop_link::WireUse;
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
}

/// Adds the rows of the queues to `report`: packets `offered` to each node, and the use of the `wires`, up and down, in
/// the time `covered`.
pub(crate) fn add_rows<'a>(
    report: &mut Report,
    covered: Duration,
    offered: impl Iterator<Item = u64>,
    wires: impl Iterator<Item = [&'a WireUse; 2]>,
) {
    report.queues = report.nodes.iter().zip(offered).map(|(node, offered)| of_node(node, offered, covered)).collect();
    for (rows, used) in report.wires.iter_mut().zip(wires) {
        for (row, used) in rows.iter_mut().zip(used) {
            let dropped = std::mem::replace(row, of_wire(used, covered));
            row.append(dropped);
        }
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
