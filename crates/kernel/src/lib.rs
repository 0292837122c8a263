//! `lasthop._kernel`: loads the programs of `bpf/` into the kernel of this machine and reads their counters.
//!
//! Loaded programs are pinned in a folder of the BPF file system, and stay until these files are removed.
//! `bpf/layout.h` defines the bytes of settings, places and records, and `python/lasthop/kernel/bpf/layout.py` reads them.

#![cfg(all(target_os = "linux", feature = "libbpf"))]

mod attach;
mod error;
mod load;

use std::time::Duration;

use libbpf_rs::{MapCore, MapFlags, MapHandle, RingBufferBuilder};
use pyo3::prelude::*;

use crate::error::sentence;

/// Registers the congestion control of `object`, pinned in `directory`; with `cgroup`, sockets of that cgroup get it.
#[pyfunction]
#[pyo3(signature = (object, directory, settings, cgroup = None))]
fn load_controller(
    py: Python<'_>,
    object: &str,
    directory: &str,
    settings: &[u8],
    cgroup: Option<&str>,
) -> PyResult<()> {
    py.detach(|| load::controller(object, directory.as_ref(), settings, cgroup)).map_err(sentence)
}

/// Attaches the classifier of `object` to the egress of the device `ifindex`, pinned in `directory`.
#[pyfunction]
fn load_classifier(py: Python<'_>, object: &str, directory: &str, settings: &[u8], ifindex: i32) -> PyResult<()> {
    py.detach(|| load::classifier(object, directory.as_ref(), settings, ifindex)).map_err(sentence)
}

/// The values of the array that is pinned at `pin`, in the order of their places.
#[pyfunction]
fn values(pin: &str) -> PyResult<Vec<Vec<u8>>> {
    let map = MapHandle::from_pinned_path(pin).map_err(sentence)?;
    let value = |place: u32| map.lookup(&place.to_ne_bytes(), MapFlags::ANY).map_err(sentence);
    (0..map.max_entries()).filter_map(|place| value(place).transpose()).collect()
}

/// The records added to the ring buffer that is pinned at `pin` since the last call, waiting at most `timeout_s`, in s.
#[pyfunction]
fn records(py: Python<'_>, pin: &str, timeout_s: f64) -> PyResult<Vec<Vec<u8>>> {
    let timeout = Duration::try_from_secs_f64(timeout_s)
        .map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()))?;
    py.detach(|| drained(pin, timeout)).map_err(sentence)
}

fn drained(pin: &str, timeout: Duration) -> libbpf_rs::Result<Vec<Vec<u8>>> {
    let map = MapHandle::from_pinned_path(pin)?;
    let mut records = Vec::new();
    let mut builder = RingBufferBuilder::new();
    builder.add(&map, |record| {
        records.push(record.to_vec());
        0
    })?;
    let ring = builder.build()?;
    ring.consume()?;
    ring.poll(timeout)?;
    drop(ring);
    Ok(records)
}

#[pymodule]
fn _kernel(module: &Bound<'_, PyModule>) -> PyResult<()> {
    error::collect_warnings();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(load_controller, module)?)?;
    module.add_function(wrap_pyfunction!(load_classifier, module)?)?;
    module.add_function(wrap_pyfunction!(values, module)?)?;
    module.add_function(wrap_pyfunction!(records, module)?)?;
    Ok(())
}
