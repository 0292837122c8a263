//! Analysis of captures.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration as Wall;

use lasthop_analysis::{ModeFields, Names, Recording, Request, Table};
use lasthop_analysis::{analyze as analyze_captures, mpdu_losses as losses_of_mode};
use lasthop_scenario as engine;
use lasthop_theory::bianchi::Backoff;
use lasthop_units::Duration;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::outcome::SeriesBlock;
use crate::recording::PyRecording;

/// Interval between reports of progress, and between checks for signals in Python.
const POLL: Wall = Wall::from_millis(50);

/// Analyses captures: `(run, series, notes)`, the run as JSON. `show` receives the number of bytes read; each file is
/// read twice.
#[pyfunction]
#[pyo3(signature = (files, from_s = None, to_s = None, interval_s = None, show = None, recording = None))]
pub fn analyze(
    py: Python<'_>,
    files: Vec<PathBuf>,
    from_s: Option<f64>,
    to_s: Option<f64>,
    interval_s: Option<f64>,
    show: Option<Py<PyAny>>,
    recording: Option<PyRef<'_, PyRecording>>,
) -> PyResult<(String, Vec<SeriesBlock>, Vec<String>)> {
    let time = |seconds: Option<f64>| seconds.map(Duration::from_secs_f64);
    let recording = recording.map(|recording| recording_of(&recording.0));
    let request = Request {
        files,
        from: time(from_s),
        to: time(to_s),
        interval: time(interval_s),
        recording,
        ..Request::default()
    };
    let progress = Arc::new(AtomicU64::new(0));
    let (result, arrives) = channel();
    let arrives = Mutex::new(arrives);
    let wait = || arrives.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(POLL);
    let read = progress.clone();
    std::thread::spawn(move || drop(result.send(analyze_captures(&request, &read))));
    let analysis = loop {
        match py.detach(wait) {
            Ok(analysis) => break analysis.map_err(PyValueError::new_err)?,
            Err(RecvTimeoutError::Timeout) => {
                py.check_signals()?;
                if let Some(show) = &show {
                    show.call1(py, (progress.load(Ordering::Relaxed),))?;
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyValueError::new_err("the analysis has stopped; this is a defect of lasthop"));
            }
        }
    };
    let series = analysis.series.into_iter().map(|table| SeriesBlock(block(table))).collect();
    Ok((analysis.run.to_string(), series, analysis.notes))
}

/// The attributes of a mode in Python.
#[derive(FromPyObject)]
pub struct ModeAttributes {
    format: String,
    is_2_4_ghz: bool,
    mcs: Option<u8>,
    rate_bps: u64,
    streams: u8,
    width_mhz: u16,
    guard_ns: u16,
}

/// The probability that noise destroys an MPDU in a mode, for each SNR on 20 MHz in dB; None if the simulator lacks the mode.
#[pyfunction]
pub fn mpdu_losses(mode: ModeAttributes, antennas: u8, mpdu_bytes: f64, snrs_db: Vec<f64>) -> Option<Vec<f64>> {
    let ModeAttributes { format, is_2_4_ghz, mcs, rate_bps, streams, width_mhz, guard_ns } = mode;
    let fields = ModeFields { format: &format, is_2_4_ghz, mcs, rate_bps, streams, width_mhz, guard_ns };
    losses_of_mode(&fields, antennas, mpdu_bytes, &snrs_db)
}

/// The collision probability of an attempt of one of `stations` saturated ones, by Bianchi's model; all double the
/// window of `window` slots `doublings` times, and try `attempts` times.
#[pyfunction]
pub fn collision_probability(stations: u32, window: u32, doublings: u32, attempts: Option<u32>) -> PyResult<f64> {
    if stations == 0 || window == 0 || attempts == Some(0) {
        return Err(PyValueError::new_err("stations, window and attempts are at least 1"));
    }
    Ok(Backoff { window, doublings, attempts }.solve(stations).p)
}

/// The recording of captures, kept like that of a run with seed 0.
fn recording_of(asked: &engine::recording::Recording) -> Recording {
    let recorder = asked.recorder.clone();
    let begin = move |chosen, Names { nodes, flows, links }: Names| {
        recorder.begin(0, chosen, engine::recording::Names { nodes, flows, links })
    };
    Recording { chosen: asked.chosen, begin: Arc::new(begin) }
}

fn block(table: Table) -> engine::SeriesBlock {
    let Table { quantity, entities, start_s, interval_s, values } = table;
    let times = values.len() / entities.len().max(1);
    engine::SeriesBlock { quantity, entities, times, start_s, interval_s, values }
}
