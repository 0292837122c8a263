//! Work that a signal in Python can interrupt.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use crate::code::raise_if_kept;
use lasthop_scenario::RUN_THREAD;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Interval between checks for signals in Python.
const POLL: Duration = Duration::from_millis(50);

/// Does `work`, which calls code in Python all the time, on this thread: a signal's handler raises within that code,
/// and no Python object is left behind.
///
/// # Errors
/// Those of [`interruptible`].
pub fn interruptible_here<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    let done = catch_unwind(AssertUnwindSafe(work));
    raise_if_kept()?;
    done.map_err(|panic| PyValueError::new_err(sentence_of(panic.as_ref())))
}

/// Does `work` on a separate thread while other Python threads run and signals are handled. If a signal's handler
/// raises, the thread is left behind: it holds no Python object, its work is bounded, and it ends with the process.
///
/// # Errors
/// The exception of a signal's handler; a ValueError with a sentence if `work` panics.
pub fn interruptible<T: Send + 'static>(py: Python<'_>, work: impl FnOnce() -> T + Send + 'static) -> PyResult<T> {
    let (result, arrives) = channel();
    let run = move || drop(result.send(catch_unwind(AssertUnwindSafe(work))));
    std::thread::Builder::new().name(RUN_THREAD.into()).spawn(run)?;
    py.detach(move || {
        loop {
            match arrives.recv_timeout(POLL) {
                Ok(Ok(found)) => return Ok(found),
                Ok(Err(panic)) => return Err(PyValueError::new_err(sentence_of(panic.as_ref()))),
                Err(RecvTimeoutError::Timeout) => Python::attach(|py| py.check_signals())?,
                Err(RecvTimeoutError::Disconnected) => return Err(PyValueError::new_err("the replay has ended")),
            }
        }
    })
}

fn sentence_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    format!("the replay stopped: {}; this is a defect of lasthop", text.unwrap_or("an assertion failed"))
}
