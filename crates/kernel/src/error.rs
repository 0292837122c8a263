//! Messages of libbpf before an error, as one sentence.

use std::sync::{Mutex, PoisonError};

use libbpf_rs::{PrintLevel, set_print};
use pyo3::PyErr;
use pyo3::exceptions::PyOSError;

/// Lines of libbpf since the last error; the log of the kernel's verifier is among them.
static WARNINGS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Keeps warnings from standard error, for the text of the next error.
pub(crate) fn collect_warnings() {
    set_print(Some((PrintLevel::Warn, |_, line| {
        WARNINGS.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    })));
}

/// The error with its causes, after the warnings of libbpf.
pub(crate) fn sentence(error: libbpf_rs::Error) -> PyErr {
    let warnings = std::mem::take(&mut *WARNINGS.lock().unwrap_or_else(PoisonError::into_inner));
    let first = warnings.iter().find_map(|line| line.lines().next()).map(|line| line.trim_start_matches("libbpf: "));
    PyOSError::new_err(match first {
        Some(first) => format!("{error:#} ({first})"),
        None => format!("{error:#}"),
    })
}
