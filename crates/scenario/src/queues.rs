//! What came to the queues of a run, as it stands in a result: of each node, and of each direction of the wired links.
//!
//! Drops and occupancy of nodes are in their own rows; here is what they are to be held against.

use lasthop_link::WireUse;
use lasthop_observe::Row;
use lasthop_registry::{Parameter, Value};
use lasthop_units::Duration;
use serde_json::{Value as Json, json};

use crate::ResolvedScenario;
use crate::description::NodeQueue;
use crate::run::row_with;
use crate::simulation::Finished;

/// The limit of a queue discipline as a scenario writes it.
fn limit_of(discipline: Option<Value>) -> Json {
    discipline.and_then(|value| value.get("limit").cloned()).map_or(Json::Null, |limit| crate::json::json_of(&limit))
}

/// How long packets waited in a queue that held so many on average. [Little 1961]
fn mean_wait(packets: f64, passed: u64, covered: Duration) -> Option<f64> {
    (passed > 0).then(|| packets * covered.as_secs_f64() / passed as f64)
}

/// The interface queue of each node.
pub(crate) fn of_nodes(scenario: &ResolvedScenario, finished: &Finished) -> Vec<Json> {
    let used = &finished.queues;
    let queue = |((node, row), &offered): ((&crate::resolved::NodeSpec, &Row), &u64)| {
        let get = |name: &str| row.get(name).unwrap_or(0.0);
        let (kind, limit) = match &node.queue {
            NodeQueue::Discipline(kind) => (kind.name(), limit_of(kind.to_value())),
            NodeQueue::Backpressure => ("backpressure", Json::Null),
        };
        let gone = get("queue_drops") + get("acks_filtered");
        let passed = offered.saturating_sub(gone as u64);
        let mut own = Row::default();
        own.put_count("packets", offered);
        own.put("wait_mean_s", mean_wait(get("queue_mean_packets"), passed, used.covered));
        row_with(&[("name", json!(node.name)), ("kind", json!(kind)), ("limit", limit)], &own)
    };
    scenario.nodes.iter().zip(&finished.report.nodes).zip(&used.offered).map(queue).collect()
}

/// Each direction of each wired link.
pub(crate) fn of_wires(scenario: &ResolvedScenario, finished: &Finished) -> Vec<Json> {
    let discipline = scenario.description.wired.queue.to_value();
    let kind = discipline.as_ref().and_then(|value| value.get("kind").cloned());
    let kind = kind.map_or(Json::Null, |kind| crate::json::json_of(&kind));
    let limit = limit_of(discipline);
    let aps = scenario.nodes.iter().zip(&finished.report.wires).zip(&finished.queues.wires);
    aps.flat_map(|((ap, rows), used)| {
        let (kind, limit) = (&kind, &limit);
        ["up", "down"].into_iter().zip(rows).zip(used).map(move |((direction, dropped), used)| {
            let names = [
                ("name", json!(format!("{}.{direction}", ap.name))),
                ("ap", json!(ap.name)),
                ("direction", json!(direction)),
                ("kind", kind.clone()),
                ("limit", limit.clone()),
            ];
            let mut row = of_wire(used, finished.queues.covered);
            row.0.extend(dropped.0.iter().cloned());
            row_with(&names, &row)
        })
    })
    .collect()
}

fn of_wire(used: &WireUse, covered: Duration) -> Row {
    let mut row = Row::default();
    row.put_count("packets", used.offered);
    row.put("busy_fraction", (used.busy.as_secs_f64() / covered.as_secs_f64()).min(1.0));
    row.put("wait_mean_s", used.waits.mean_s());
    row.put("wait_p95_s", used.waits.quantile_s(0.95));
    row.put("wait_max_s", (used.waits.count() > 0).then(|| used.longest_wait.as_secs_f64()));
    row
}
