//! The objects of the tests.
#![allow(dead_code, reason = "each test file uses some of them")]

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lasthop_bpf::Object;
use lasthop_conformance::cc::replay::{Report, Tolerance, Trace, replay};
use lasthop_registry::{Plugged, Value};
use lasthop_tcp::congestion_control::{Algorithm, Context, ControlMaker};

/// The repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folder of the examples.
pub fn folder() -> PathBuf {
    root().join("examples/controllers/bpf")
}

/// An example, or an object beside this file.
pub fn bytes(name: &str) -> Vec<u8> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/objects").join(name);
    std::fs::read(folder().join(name)).or_else(|_| std::fs::read(beside)).unwrap()
}

pub fn cubic() -> Object {
    Object::read(&bytes("cubic.bpf.o"), "cubic.bpf.o").unwrap()
}

pub fn newreno() -> Object {
    Object::read(&bytes("newreno.bpf.o"), "newreno.bpf.o").unwrap()
}

/// An object in the place of a controller of the registry.
pub fn algorithm(object: Object) -> Algorithm {
    let object = Arc::new(object);
    let maker: Arc<ControlMaker> =
        Arc::new(move |context: &Context| object.controller(context).unwrap_or_else(|error| panic!("{error}")));
    let value = Plugged::new("bpf", Value::text("bpf"), maker).into_value();
    <Algorithm as lasthop_registry::Parameter>::parse(&value, "").unwrap()
}

/// A recording of Linux 6.12.
pub fn trace(name: &str) -> Trace {
    let path = root().join("tests/data/vectors/cc/linux612").join(format!("{name}.csv.gz"));
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    Trace::parse(&text).unwrap()
}

/// The agreement of an object with a trace.
pub fn against(name: &str, object: Object) -> Report {
    let report = replay(&trace(name), &algorithm(object), Tolerance { segments: 1.0, share: 0.0 });
    println!("{name}: {report}; first: {:?}", report.first);
    report
}
