//! Maps, functions, atomic operations: an object that shows their results by its window.

use crate::objects;
use std::sync::Arc;

use lasthop_bpf::Object;
use lasthop_tcp::Profile;
use lasthop_tcp::congestion_control::{AckSample, CongestionControl, Context};
use lasthop_units::{Duration, Time};

fn object() -> Object {
    Object::read(&objects::bytes("maps.bpf.o"), "maps.bpf.o").unwrap()
}

/// The window after an ACK of one segment.
fn after_ack(controller: &mut dyn CongestionControl, ms: u64) -> f64 {
    let now = Time::ZERO + Duration::from_millis(ms);
    controller.on_ack(&AckSample { now, acked_segments: 1, ..AckSample::default() });
    controller.cwnd()
}

#[test]
fn every_kind_of_map_keeps_its_values() {
    let context = Context::new(&Profile::Linux.config(), 1);
    let object = Arc::new(object());
    let mut controller = object.controller(&context).unwrap();
    // One call, 7 in the socket's own storage. Keys 5 and 6 fit into a table for two, 7 does once 5 has gone: 3 * 10 + 7.
    assert_eq!(after_ack(&mut *controller, 1), 1000.0 + 700.0 + 37.0);
    // Then 6 and 7 are in the table: of 10, 11 and 12 none fits, nor after the deletion of 10, which is absent.
    assert_eq!(after_ack(&mut *controller, 2), 2000.0 + 800.0);
    // Another connection begins again.
    let mut other = object.controller(&context).unwrap();
    assert_eq!(after_ack(&mut *other, 3), 1737.0);
}

#[test]
fn maps_are_described_as_they_are_declared() {
    let description = object().describe();
    let maps: Vec<String> = description.maps.iter().map(|(name, what)| format!("{name}: {what}")).collect();
    let expected = [
        "own: socket storage, 8 B",
        "counts: array, 4 of 8 B",
        "records: ring buffer, 4096 B",
        "table: hash, 2 of 4 B",
    ];
    assert_eq!(maps, expected);
    assert_eq!(description.missing, Vec::<String>::new());
}
