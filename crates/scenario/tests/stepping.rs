//! A simulation that is stepped and inspected gives the same result as one that runs through.

use std::sync::Arc;

use lasthop_observe::metric::goodput::BYTES_DELIVERED;
use lasthop_observe::{Observer, Record, Watcher};
use lasthop_scenario::{OpenRun, ResolvedScenario, Simulation, resolve, run};
use lasthop_units::{Duration, Time};

fn scenario() -> Arc<ResolvedScenario> {
    let text = include_str!("../../../scenarios/khademi2011-uplink-11b.toml");
    let settings = [("duration", "2 s"), ("warmup", "500 ms")].map(|(p, v)| (p.to_string(), v.to_string()));
    Arc::new(resolve(text, "khademi", &settings).unwrap_or_else(|error| panic!("{error}")))
}

fn without_wall_clock(json: &str) -> serde_json::Value {
    let mut document: serde_json::Value = serde_json::from_str(json).expect("a result is JSON");
    document["simulator"]["wall_s"] = serde_json::Value::Null;
    document
}

#[test]
fn steps_and_looks_change_nothing() {
    let scenario = scenario();
    let interval = Some(Duration::from_millis(100));
    let whole = run(&scenario, 7, interval).expect("it runs");
    let mut stepped = OpenRun::new(Arc::clone(&scenario), 7, interval);
    let mut looks = 0;
    let mut until = Time::ZERO;
    while !stepped.run_until(until) {
        assert_eq!(stepped.now(), until);
        looks += u32::from(stepped.tables().is_some());
        until += Duration::from_nanos(13_000_001);
    }
    let stepped = stepped.finish().result.expect("it runs");
    assert!((100..120).contains(&looks), "1.5 s after the warm-up hold 115 looks, not {looks}");
    assert_eq!(without_wall_clock(&whole.json()), without_wall_clock(&stepped.json()));
    let values = |result: &lasthop_scenario::RunResult| -> Vec<u64> {
        result.series().iter().flat_map(|block| &block.values).map(|value| value.to_bits()).collect()
    };
    assert_eq!(values(&whole), values(&stepped));
}

/// Counts deliveries after the warm-up.
#[derive(Default)]
struct Deliveries {
    bytes: u64,
}

impl Observer for Deliveries {
    fn observe(&mut self, _: Time, record: Record) {
        if let Record::Delivered { bytes, .. } = record {
            self.bytes += bytes;
        }
    }
}

impl Watcher for Deliveries {
    fn start(&mut self, _: Time) {
        self.bytes = 0;
    }
}

#[test]
fn own_observer_receives_the_records_of_the_metrics() {
    let simulation = Simulation::watched_by(scenario(), 7, Deliveries::default());
    let finished = simulation.finish().expect("it runs");
    let delivered: u64 = finished.report.flows.iter().filter_map(|row| row.get(BYTES_DELIVERED)).sum();
    assert!(delivered > 0);
    assert_eq!(finished.observer.bytes, delivered);
}

#[test]
fn metrics_so_far_are_those_of_a_run_that_ends_there() {
    let scenario = scenario();
    let mut open = OpenRun::new(Arc::clone(&scenario), 3, None);
    assert!(!open.run_until(Time::ZERO + Duration::from_millis(1_200)));
    let so_far: serde_json::Value = serde_json::from_str(&open.tables().expect("the warm-up is over").json()).unwrap();
    let text = include_str!("../../../scenarios/khademi2011-uplink-11b.toml");
    let settings = [("duration", "1200 ms"), ("warmup", "500 ms")].map(|(p, v)| (p.to_string(), v.to_string()));
    let short = resolve(text, "khademi", &settings).unwrap_or_else(|error| panic!("{error}"));
    let ended: serde_json::Value = serde_json::from_str(&run(&short, 3, None).expect("it runs").json()).unwrap();
    for part in ["flows", "totals", "medium", "nodes", "links"] {
        assert_eq!(so_far[part], ended[part], "{part}");
    }
}
