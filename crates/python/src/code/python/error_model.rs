//! An error model that is a class in Python.

use std::sync::Arc;

use lasthop_engine::Stream;
use lasthop_wifi::phy::error_model::{
    Direction, ErrorModel, ErrorModelKind, ErrorModelMaker, FrameKind, ReceivedFrame,
};
use lasthop_wifi::phy::{Mode, Modulation};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;

use super::class::Class;
use super::instance::Instance;
use super::source::{Source, shown};

impl Class for ErrorModelKind {
    const BASE: &'static str = "ErrorModel";

    fn maker(source: Arc<Source>) -> Result<Arc<ErrorModelMaker>, String> {
        let needs_sinr = Python::attach(|py| source.attribute(py, "needs_sinr"))?;
        let build = move |random| Model { instance: Instance::new(&source, ErrorModelContext(random)), needs_sinr };
        build(Stream::new(0, "error_model", 0)).instance.check()?;
        Ok(Arc::new(move |random| Box::new(build(random))))
    }
}

/// The argument of an error model at the start.
#[pyclass(module = "lasthop._core")]
pub(super) struct ErrorModelContext(Stream);

#[pymethods]
impl ErrorModelContext {
    /// A random number from 0 up to 1; the same seed gives the same numbers.
    fn random(&mut self) -> f64 {
        self.0.unit()
    }
}

/// A frame at its receiver, or a stretch of one with constant interference.
#[pyclass(frozen, name = "ReceivedFrame", module = "lasthop._core")]
pub(super) struct Received {
    at_ns: u64,
    kind: FrameKind,
    direction: Direction,
    link: u32,
    bits: u64,
    sinr: f64,
    mode: Mode,
}

impl Received {
    fn of(frame: &ReceivedFrame<'_>) -> Received {
        let ReceivedFrame { at, mode, kind, direction, link, bits, sinr } = *frame;
        Received { at_ns: at.as_nanos(), kind, direction, link, bits, sinr, mode: mode.clone() }
    }
}

#[pymethods]
impl Received {
    /// Time at which it ends, in seconds.
    #[getter]
    fn now_s(&self) -> f64 {
        self.at_ns as f64 / 1e9
    }
    /// "data", "ack" (Ack or Block Ack), "control" (RTS, CTS and others) or "management".
    #[getter]
    fn kind(&self) -> &'static str {
        match self.kind {
            FrameKind::Data => "data",
            FrameKind::Ack => "ack",
            FrameKind::Control => "control",
            FrameKind::Management => "management",
        }
    }
    /// True on the way to an AP.
    #[getter]
    fn up(&self) -> bool {
        self.direction == Direction::Up
    }
    /// The number of the pair of transmitter and receiver.
    #[getter]
    fn link(&self) -> u32 {
        self.link
    }
    /// Length of the MPDU, or of the stretch, in bits.
    #[getter]
    fn bits(&self) -> u64 {
        self.bits
    }
    /// Ratio of the signal to noise and interference within `bandwidth_hz` at one antenna, linear.
    #[getter]
    fn sinr(&self) -> f64 {
        self.sinr
    }
    /// Rate of the mode in bit/s.
    #[getter]
    fn rate_bps(&self) -> u64 {
        self.mode.rate.as_bps()
    }
    /// "dbpsk", "dqpsk", "cck", "bpsk", "qpsk", "qam16", "qam64", "qam256" or "qam1024".
    #[getter]
    fn modulation(&self) -> &'static str {
        match self.mode.modulation {
            Modulation::Dbpsk => "dbpsk",
            Modulation::Dqpsk => "dqpsk",
            Modulation::Cck => "cck",
            Modulation::Bpsk => "bpsk",
            Modulation::Qpsk => "qpsk",
            Modulation::Qam16 => "qam16",
            Modulation::Qam64 => "qam64",
            Modulation::Qam256 => "qam256",
            Modulation::Qam1024 => "qam1024",
        }
    }
    /// Rate of the convolutional code, such as 0.75; 1 for DSSS.
    #[getter]
    fn code_rate(&self) -> f64 {
        self.mode.code_rate.ratio()
    }
    /// Index of its MCS as the standard counts; None for 802.11a, b and g.
    #[getter]
    fn mcs(&self) -> Option<u8> {
        self.mode.mcs_index()
    }
    /// Spatial streams.
    #[getter]
    fn streams(&self) -> u8 {
        self.mode.streams
    }
    /// Antennas of the receiver for each stream, whose combination raises the SINR by this factor.
    #[getter]
    fn antennas_per_stream(&self) -> f64 {
        self.mode.antennas_per_stream
    }
    /// Bandwidth of the receiver in Hz.
    #[getter]
    fn bandwidth_hz(&self) -> f64 {
        self.mode.bandwidth_hz
    }
    /// Weakest signal in dBm that a receiver must decode in the mode.
    #[getter]
    fn sensitivity_dbm(&self) -> f64 {
        self.mode.sensitivity.0
    }
}

/// The error model of a run.
struct Model {
    instance: Instance,
    needs_sinr: bool,
}

impl ErrorModel for Model {
    fn success_probability(&mut self, frame: &ReceivedFrame<'_>) -> f64 {
        let probability = self.instance.ask(|model| {
            let answer = model.call_method1(intern!(model.py(), "success_probability"), (Received::of(frame),))?;
            let wrong =
                || PyTypeError::new_err(format!("success_probability gave {}; a number from 0 to 1", shown(&answer)));
            answer.extract::<f64>().map_err(|_| wrong())
        });
        if !(0.0..=1.0).contains(&probability) {
            self.instance.fail(&format!("success_probability gave {probability}; a number from 0 to 1"));
        }
        probability
    }

    fn needs_sinr(&self) -> bool {
        self.needs_sinr
    }

    fn failure(&self) -> Option<&str> {
        self.instance.failure()
    }
}
