//! The outcome of a run, kept as JSON and read on demand: a tree of Python values takes ten times the memory.

use std::convert::Infallible;
use std::sync::Arc;

use lasthop_scenario::RunDocument;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyType};
use serde_core::de::IgnoredAny;

use crate::json::{self, Cursor, Lines};

/// Number of bytes per piece.
const PIECE: usize = 1 << 18;

/// One element of "runs" of a result, whose parts are read at each access.
#[pyclass(frozen, module = "lasthop._core")]
pub(crate) struct RunText(Arc<RunDocument>);

impl RunText {
    pub(crate) fn of(document: Arc<RunDocument>) -> Self {
        RunText(document)
    }

    pub(crate) fn document(&self) -> &RunDocument {
        &self.0
    }

    pub(crate) fn into_document(self) -> Arc<RunDocument> {
        self.0
    }

    /// A run from the JSON of the engine.
    pub(crate) fn new(text: String) -> Self {
        let mut parts = Vec::new();
        let Ok(()) = Cursor::new(&text).entries(|cursor, key| {
            let begun = cursor.place();
            cursor.skip();
            parts.push((key.into(), begun..cursor.place()));
            Ok::<(), Infallible>(())
        });
        RunText(Arc::new(RunDocument::new(text, parts)))
    }

    fn rows(&self, part: &str) -> &str {
        self.0.part(part).unwrap_or("[]")
    }
}

/// Whether there are blanks outside of texts.
fn has_blanks(json: &str) -> bool {
    let (mut in_text, mut escaped) = (false, false);
    json.bytes().any(|byte| {
        let opens_or_ends = byte == b'"' && !escaped;
        escaped = in_text && byte == b'\\' && !escaped;
        in_text ^= opens_or_ends;
        !in_text && byte.is_ascii_whitespace()
    })
}

#[pymethods]
impl RunText {
    /// A run from its JSON, which has no blanks outside of texts. Raises `ValueError` for anything else.
    #[new]
    fn checked(text: String) -> PyResult<Self> {
        let is_json = || serde_json::from_str::<IgnoredAny>(&text).is_ok();
        if text.starts_with('{') && is_json() && !has_blanks(&text) {
            return Ok(RunText::new(text));
        }
        Err(PyValueError::new_err("no run of the engine: an object in JSON without blanks is expected"))
    }
    /// All of it as JSON.
    fn text(&self) -> &str {
        self.0.text()
    }

    /// Lets it be copied and pickled.
    fn __reduce__<'py>(this: &Bound<'py, Self>) -> (Bound<'py, PyType>, (String,)) {
        (this.get_type(), (this.get().0.text().to_string(),))
    }

    fn __contains__(&self, part: &str) -> bool {
        self.0.part(part).is_some()
    }

    /// A part, such as `totals`; a `KeyError` if there is none of that name.
    fn __getitem__(&self, py: Python<'_>, part: &str) -> PyResult<Py<PyAny>> {
        let text = self.0.part(part).ok_or_else(|| PyKeyError::new_err(part.to_string()))?;
        json::value(py, &mut Cursor::new(text))
    }

    /// A part, or None.
    fn get(&self, py: Python<'_>, part: &str) -> PyResult<Option<Py<PyAny>>> {
        self.0.part(part).map(|text| json::value(py, &mut Cursor::new(text))).transpose()
    }

    /// The values of `keys` in the rows of a part, such as `flows`: a list for each key, None if a row has none.
    fn columns(&self, py: Python<'_>, part: &str, keys: Vec<String>) -> PyResult<Vec<Vec<Py<PyAny>>>> {
        json::columns(py, self.rows(part), &keys)
    }

    /// The rows of a part as columns by name, in the order in which their keys first occur.
    fn table<'py>(&self, py: Python<'py>, part: &str) -> PyResult<Bound<'py, PyDict>> {
        json::table(py, self.rows(part))
    }

    /// The first rows of a part, at most `most`.
    fn rows_at_most(&self, py: Python<'_>, part: &str, most: usize) -> PyResult<Vec<Py<PyAny>>> {
        json::first_items(py, self.rows(part), most)
    }
}

/// Runs as the list of a document that has a line for each entry, a piece at a time.
#[pyclass(module = "lasthop._core")]
pub(crate) struct RunLines {
    runs: Vec<Py<RunText>>,
    run: usize,
    /// The position in the run that is written, and its depth.
    at: usize,
    depth: usize,
    ended: bool,
}

#[pymethods]
impl RunLines {
    #[new]
    fn new(runs: Vec<Py<RunText>>) -> Self {
        RunLines { runs, run: 0, at: 0, depth: 2, ended: false }
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        if self.ended {
            return None;
        }
        let mut out = Vec::with_capacity(PIECE + 1024);
        while out.len() < PIECE && !self.ended {
            self.write(&mut out);
        }
        Some(PyBytes::new(py, &out))
    }
}

impl RunLines {
    fn write(&mut self, out: &mut Vec<u8>) {
        let Some(run) = self.runs.get(self.run) else {
            out.extend_from_slice(if self.runs.is_empty() { b"[]" } else { b"\n  ]" });
            self.ended = true;
            return;
        };
        if self.at == 0 {
            out.extend_from_slice(if self.run == 0 { b"[\n    " } else { b",\n    " });
        }
        let mut cursor = Cursor::at(run.get().document().text(), self.at);
        let mut lines = Lines::at(self.depth);
        let is_left = lines.write(&mut cursor, out, PIECE);
        (self.at, self.depth) = if is_left { (cursor.place(), lines.depth()) } else { (0, 2) };
        self.run += usize::from(!is_left);
    }
}
