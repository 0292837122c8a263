//! A rate control that is a class in Python. Its modes are numbers, from 0 for the slowest mode of the peer.

use std::sync::Arc;

use lasthop_tcp::congestion_control::{Draws, give_up};
use lasthop_wifi::phy::ModeId;
use lasthop_wifi::rate_control::{FrameInfo, PeerModes, RateChain, RateControl, TxStatus};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;

use super::source::{Source, shown};

/// The facts about a peer that a rate control receives.
#[pyclass(module = "lasthop._core")]
pub(crate) struct Peer {
    /// PHY rates of the peer's modes in bit/s, from the slowest to the fastest.
    #[pyo3(get)]
    rates_bps: Vec<u64>,
    /// Power at which the peer hears this station, in dBm.
    #[pyo3(get)]
    received_dbm: f64,
    draws: Draws,
}

#[pymethods]
impl Peer {
    /// A random number from 0 up to 1; the same seed gives the same numbers.
    fn random(&mut self) -> f64 {
        self.draws.unit()
    }
}

/// A frame about to be sent.
#[pyclass(frozen, module = "lasthop._core")]
pub(crate) struct Frame(FrameInfo);

#[pymethods]
impl Frame {
    /// Now, in seconds.
    #[getter]
    fn now_s(&self) -> f64 {
        self.0.now.as_nanos() as f64 / 1e9
    }
    /// Length of the PSDU, or of the first MPDU if an A-MPDU is possible.
    #[getter]
    fn bytes(&self) -> u64 {
        self.0.bytes.0
    }
    /// Whether several MPDUs may go into the PPDU.
    #[getter]
    fn aggregates(&self) -> bool {
        self.0.aggregates
    }
    /// Attempts made at this frame before, or at the first of an A-MPDU.
    #[getter]
    fn retry(&self) -> u32 {
        self.0.retry
    }
}

/// The outcome of an attempt that expected an acknowledgement.
#[pyclass(frozen, module = "lasthop._core")]
pub(crate) struct Status {
    status: TxStatus,
    mode: usize,
}

#[pymethods]
impl Status {
    /// Now, in seconds.
    #[getter]
    fn now_s(&self) -> f64 {
        self.status.now.as_nanos() as f64 / 1e9
    }
    /// The mode of the attempt, by its number.
    #[getter]
    fn mode(&self) -> usize {
        self.mode
    }
    /// Whether any MPDU was acknowledged.
    #[getter]
    fn success(&self) -> bool {
        self.status.success
    }
    /// MPDUs in the PPDU.
    #[getter]
    fn mpdus(&self) -> u32 {
        self.status.mpdus
    }
    /// Number of these that were acknowledged.
    #[getter]
    fn acknowledged(&self) -> u32 {
        self.status.acknowledged
    }
    /// Whether RTS/CTS preceded it.
    #[getter]
    fn rts(&self) -> bool {
        self.status.rts
    }
    /// Signal over noise of the acknowledgement in dB; None if unknown.
    #[getter]
    fn snr_db(&self) -> Option<f64> {
        self.status.snr.map(|snr| snr.0)
    }
    /// At least half of its MPDUs arrived.
    #[getter]
    fn is_good(&self) -> bool {
        self.status.is_good()
    }
}

/// A rate control for one peer.
pub(super) struct Control {
    source: Arc<Source>,
    /// None if it could not be made.
    object: Option<Py<PyAny>>,
    modes: Vec<ModeId>,
    failure: Option<String>,
}

/// A rate control for `peer`. If it cannot be made, its first use gives up.
pub(super) fn build(source: &Arc<Source>, peer: &PeerModes<'_>) -> Control {
    let rates_bps = peer.modes.iter().map(|&mode| peer.phy.mode(mode).rate.as_bps()).collect();
    let told = Peer { rates_bps, received_dbm: peer.received.0, draws: Draws::seeded(peer.seed) };
    let made = made(source, told);
    let failure = made.as_ref().err().cloned();
    Control { source: Arc::clone(source), object: made.ok(), modes: peer.modes.to_vec(), failure }
}

/// Makes one for a peer with a single mode, to check its parameters.
///
/// # Errors
/// An error in the parameters.
pub(super) fn try_out(source: &Source) -> Result<(), String> {
    made(source, Peer { rates_bps: vec![6_000_000], received_dbm: -50.0, draws: Draws::seeded(0) }).map(drop)
}

fn made(source: &Source, peer: Peer) -> Result<Py<PyAny>, String> {
    Python::attach(|py| {
        let made = Bound::new(py, peer).and_then(|peer| source.instance(peer.as_any()));
        made.map(Bound::unbind).map_err(|error| source.sentence(py, &error))
    })
}

impl Control {
    /// Returns the result of `call` with the instance; ends the run if that fails.
    fn ask<T>(&mut self, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> T {
        let asked =
            self.object.as_ref().filter(|_| self.failure.is_none()).map(|object| {
                Python::attach(|py| call(object.bind(py)).map_err(|error| self.source.sentence(py, &error)))
            });
        match asked {
            Some(Ok(answer)) => answer,
            Some(Err(why)) => self.fail(why),
            None => give_up(),
        }
    }

    fn fail(&mut self, why: String) -> ! {
        self.failure.get_or_insert(why);
        give_up()
    }
}

impl RateControl for Control {
    fn rates_for(&mut self, frame: &FrameInfo) -> RateChain {
        let entries: Vec<(usize, u8)> = self.ask(|control| {
            let rates = control.call_method1(intern!(control.py(), "rates_for"), (Frame(*frame),))?;
            match rates.extract::<usize>() {
                Ok(mode) => Ok(vec![(mode, 1)]),
                Err(_) => rates.extract().map_err(|_| {
                    let gave = shown(&rates);
                    PyTypeError::new_err(format!(
                        "rates_for gave {gave}; the number of a mode, or pairs of one with its tries"
                    ))
                }),
            }
        });
        let known = |&(mode, tries): &(usize, u8)| mode < self.modes.len() && tries > 0;
        if entries.is_empty() || entries.len() > RateChain::MAX || !entries.iter().all(known) {
            let why = format!(
                "{}: rates_for gave {entries:?}; the number of a mode, or up to {} pairs of one from 0 to {} with its tries, 1 or more",
                self.source.name(),
                RateChain::MAX,
                self.modes.len() - 1
            );
            self.fail(why);
        }
        let (first, rest) = entries.split_first().expect("it is not empty");
        let chain = RateChain::single(self.modes[first.0], first.1);
        rest.iter().fold(chain, |chain, &(mode, tries)| chain.then(self.modes[mode], tries))
    }

    fn on_tx_status(&mut self, status: &TxStatus) {
        let mode = self.modes.iter().position(|&mode| mode == status.mode).unwrap_or(0);
        let told = Status { status: *status, mode };
        self.ask(|control| control.call_method1(intern!(control.py(), "on_tx_status"), (told,)).map(drop));
    }

    fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }
}
