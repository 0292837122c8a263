//! The rates of the wired links, with their traces read.

use std::path::Path;
use std::sync::Arc;

use lasthop_link::wired_rate::trace::{Params, Trace};
use lasthop_link::{QueueDiscipline, QueueDisciplineKind, VaryingRate, WiredLink};
use lasthop_registry::{Fault, ParamError};
use lasthop_units::{Bytes, DataRate, Duration};

use crate::description::{WireRate, Wired};
use crate::trace_file;

use super::defaults::chosen;

/// The largest file of a trace: some hundred million packets.
const LARGEST_FILE: u64 = 1 << 29;

/// The transmitter of a direction of a wired link.
#[derive(Clone)]
pub(crate) enum Transmitter {
    /// a constant rate
    Rate(DataRate),
    /// the opportunities of a trace
    Trace(Arc<Trace>),
}

/// Both directions of each wired link.
#[derive(Clone)]
pub(crate) struct WireSpecs {
    /// towards the server
    pub up: Transmitter,
    /// towards the AP
    pub down: Transmitter,
}

impl Transmitter {
    /// An idle link with this transmitter.
    pub(crate) fn link<B>(&self, delay: Duration, queue: Box<dyn QueueDiscipline<B>>) -> WiredLink<B> {
        match self {
            Transmitter::Rate(rate) => WiredLink::new(*rate, delay, queue),
            Transmitter::Trace(trace) => WiredLink::replaying(Arc::clone(trace), delay, queue),
        }
    }

    /// The time that it needs for so many bytes, if that is always the same.
    pub(crate) fn time_for(&self, bytes: Bytes) -> Option<Duration> {
        match self {
            Transmitter::Rate(rate) => Some(rate.time_for(bytes)),
            Transmitter::Trace(_) => None,
        }
    }
}

/// The queue of a direction of the wired link, with defaults filled in.
pub(crate) fn queue_of(wired: &Wired, up: bool) -> &QueueDisciplineKind {
    wired.queue_up.as_ref().filter(|_| up).unwrap_or_else(|| chosen(&wired.queue))
}

/// Reads the traces of `wired`; relative paths start at `folder`.
pub(super) fn wires_of(wired: &Wired, folder: &Path) -> Result<WireSpecs, ParamError> {
    let down = transmitter(&wired.rate, "wired.rate", folder)?;
    let up = match &wired.rate_up {
        Some(rate) => transmitter(rate, "wired.rate_up", folder)?,
        None => down.clone(),
    };
    Ok(WireSpecs { up, down })
}

fn transmitter(rate: &WireRate, path: &str, folder: &Path) -> Result<Transmitter, ParamError> {
    match rate {
        WireRate::Constant(rate) => Ok(Transmitter::Rate(*rate)),
        WireRate::Varying(VaryingRate::Trace(params)) => {
            trace_of(params, &format!("{path}.file"), folder).map(Transmitter::Trace)
        }
    }
}

fn trace_of(params: &Params, path: &str, folder: &Path) -> Result<Arc<Trace>, ParamError> {
    let wrong = |fault: Fault| ParamError::new(path, fault);
    let read = trace_file::content(&params.file, folder, LARGEST_FILE);
    let (file, content) = read.map_err(|message| wrong(message.into()))?;
    let trace = Trace::parse(&content);
    trace.map(Arc::new).map_err(|(what, remedy)| wrong((format!("{}{what}", file.display()), remedy).into()))
}
