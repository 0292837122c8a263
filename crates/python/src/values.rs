//! Values of a run as Python's.

use lasthop_scenario::{Cell, Part, Row, RunTables};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use serde_json::Value as Json;

/// A value of JSON, in the form of Python's `json`.
pub(crate) fn of_json<'py>(py: Python<'py>, value: &Json) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Json::Null => py.None().into_bound(py),
        Json::Bool(truth) => truth.into_pyobject(py)?.to_owned().into_any(),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => whole.into_pyobject(py)?.into_any(),
            (None, Some(count)) => count.into_pyobject(py)?.into_any(),
            (None, None) => number.as_f64().into_pyobject(py)?.into_any(),
        },
        Json::String(text) => PyString::new(py, text).into_any(),
        Json::Array(items) => {
            let items = items.iter().map(|item| of_json(py, item)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, items)?.into_any()
        }
        Json::Object(entries) => {
            let dict = PyDict::new(py);
            entries.iter().try_for_each(|(key, value)| dict.set_item(key, of_json(py, value)?))?;
            dict.into_any()
        }
    })
}

/// A value of a table.
pub(crate) fn of_cell<'py>(py: Python<'py>, cell: Cell<'_>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match cell {
        Cell::Null => py.None().into_bound(py),
        Cell::Whole(whole) => whole.into_pyobject(py)?.into_any(),
        Cell::Real(real) => real.into_pyobject(py)?.into_any(),
        Cell::Text(text) => PyString::new(py, text).into_any(),
        Cell::List(numbers) => PyList::new(py, numbers)?.into_any(),
        Cell::Json(value) => of_json(py, value)?,
    })
}

/// A row of a table, as a dict.
pub(crate) fn of_row<'py>(py: Python<'py>, row: Row<'_>) -> PyResult<Bound<'py, PyAny>> {
    let dict = PyDict::new(py);
    row.cells().try_for_each(|(name, cell)| dict.set_item(name, of_cell(py, cell)?))?;
    Ok(dict.into_any())
}

/// A part of a run: a dict, a list of dicts, or another value.
pub(crate) fn of_part<'py>(py: Python<'py>, part: &Part) -> PyResult<Bound<'py, PyAny>> {
    match part {
        Part::Value(value) => of_json(py, value),
        Part::Row(table) => of_row(py, table.row(0)),
        Part::Rows(table) => {
            let rows = table.rows().map(|row| of_row(py, row)).collect::<PyResult<Vec<_>>>()?;
            Ok(PyList::new(py, rows)?.into_any())
        }
    }
}

/// All of a run, as a dict.
pub(crate) fn of_run<'py>(py: Python<'py>, run: &RunTables) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    run.parts().try_for_each(|(key, part)| dict.set_item(key, of_part(py, part)?))?;
    Ok(dict)
}
