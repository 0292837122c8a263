//! A rate control that is a class in Python. Its modes are numbers, from 0 for the slowest mode of the peer.

use std::sync::Arc;

use lasthop_tcp::congestion_control::Draws;
use lasthop_wifi::phy::ModeId;
use lasthop_wifi::rate_control::{
    FrameInfo, PeerModes, RateChain, RateControl, RateControlKind, RateControlMaker, TxStatus,
};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;

use super::class::Class;
use super::instance::Instance;
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
struct Control {
    instance: Instance,
    modes: Vec<ModeId>,
}

impl Class for RateControlKind {
    const BASE: &'static str = "RateControl";

    fn maker(source: Arc<Source>) -> Result<Arc<RateControlMaker>, String> {
        // A peer with a single mode.
        let trial = Peer { rates_bps: vec![6_000_000], received_dbm: -50.0, draws: Draws::seeded(0) };
        Instance::new(&source, trial).check()?;
        Ok(Arc::new(move |peer, _| Ok(Box::new(Control::new(&source, peer)))))
    }
}

impl Control {
    fn new(source: &Arc<Source>, peer: &PeerModes<'_>) -> Control {
        let rates_bps = peer.modes.iter().map(|&mode| peer.phy.mode(mode).rate.as_bps()).collect();
        let facts = Peer { rates_bps, received_dbm: peer.received.0, draws: Draws::seeded(peer.seed) };
        Control { instance: Instance::new(source, facts), modes: peer.modes.to_vec() }
    }
}

impl RateControl for Control {
    fn rates_for(&mut self, frame: &FrameInfo) -> RateChain {
        let entries: Vec<(usize, u8)> = self.instance.ask(|control| {
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
            self.instance.fail(&format!(
                "rates_for gave {entries:?}; the number of a mode, or up to {} pairs of one from 0 to {} with its tries, 1 or more",
                RateChain::MAX,
                self.modes.len() - 1
            ));
        }
        let (first, rest) = entries.split_first().expect("it is not empty");
        let chain = RateChain::single(self.modes[first.0], first.1);
        rest.iter().fold(chain, |chain, &(mode, tries)| chain.then(self.modes[mode], tries))
    }

    fn on_tx_status(&mut self, status: &TxStatus) {
        let mode = self.modes.iter().position(|&mode| mode == status.mode).unwrap_or(0);
        let told = Status { status: *status, mode };
        self.instance.ask(|control| control.call_method1(intern!(control.py(), "on_tx_status"), (told,)).map(drop));
    }

    fn failure(&self) -> Option<&str> {
        self.instance.failure()
    }
}
