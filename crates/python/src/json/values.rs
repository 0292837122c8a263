//! JSON as values of Python, as far as they are used.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use super::{Cursor, Shape};

/// Columns of a table, each with a value for each row.
type Columns = Vec<Vec<Py<PyAny>>>;

/// The next value, in the form of Python's `json`.
pub(crate) fn value(py: Python<'_>, cursor: &mut Cursor<'_>) -> PyResult<Py<PyAny>> {
    match cursor.peek() {
        b'"' => string(py, cursor.string()),
        b'{' => {
            let dict = PyDict::new(py);
            cursor.entries(|cursor, key| dict.set_item(plain(key)?, value(py, cursor)?))?;
            Ok(dict.into_any().unbind())
        }
        b'[' => {
            let list = PyList::empty(py);
            cursor.each(|cursor| list.append(value(py, cursor)?))?;
            Ok(list.into_any().unbind())
        }
        _ => word(py, cursor.word()),
    }
}

fn word(py: Python<'_>, word: &str) -> PyResult<Py<PyAny>> {
    match word {
        "null" => Ok(py.None()),
        "true" | "false" => Ok((word == "true").into_pyobject(py)?.to_owned().into_any().unbind()),
        _ if word.contains(['.', 'e']) => Ok(real(word).into_pyobject(py)?.into_any().unbind()),
        _ => match word.parse::<i64>() {
            Ok(whole) => Ok(whole.into_pyobject(py)?.into_any().unbind()),
            Err(_) => Ok(word.parse::<u64>().expect("a count").into_pyobject(py)?.into_any().unbind()),
        },
    }
}

fn real(word: &str) -> f64 {
    word.parse().expect("a number")
}

fn string(py: Python<'_>, quoted: &str) -> PyResult<Py<PyAny>> {
    let text = &quoted[1..quoted.len() - 1];
    Ok(PyString::new(py, &plain(text)?).into_any().unbind())
}

/// Text without its escapes.
fn plain(text: &str) -> PyResult<std::borrow::Cow<'_, str>> {
    if !text.contains('\\') {
        return Ok(text.into());
    }
    let read = serde_json::from_str::<String>(&format!("\"{text}\""));
    read.map(Into::into).map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()))
}

/// Text in the form between quotes.
fn escaped(text: &str) -> String {
    let quoted = serde_json::to_string(text).expect("text can be written");
    quoted[1..quoted.len() - 1].to_string()
}

/// The values of `keys` in the rows of the JSON `rows`, a column for each; None if a row has none.
pub(crate) fn columns(py: Python<'_>, rows: &str, keys: &[String]) -> PyResult<Columns> {
    let keys: Vec<String> = keys.iter().map(|key| escaped(key)).collect();
    let columns = keys.iter().map(|_| Vec::new()).collect();
    filled(py, rows, columns, |key, _, _| keys.iter().position(|wanted| wanted == key))
}

/// All columns of the rows in the JSON `rows`, in the order in which their keys first occur.
pub(crate) fn table<'py>(py: Python<'py>, rows: &str) -> PyResult<Bound<'py, PyDict>> {
    let mut names: Vec<String> = Vec::new();
    let columns = filled(py, rows, Vec::new(), |key, columns, count| {
        let known = names.iter().position(|known| known == key);
        Some(known.unwrap_or_else(|| {
            names.push(key.to_string());
            columns.push((0..count).map(|_| py.None()).collect());
            names.len() - 1
        }))
    })?;
    let found = PyDict::new(py);
    names.iter().zip(columns).try_for_each(|(name, column)| found.set_item(plain(name)?, column))?;
    Ok(found)
}

/// Fills `columns` with the values of rows: `find` gives the column of a key, and may add one for the given number of
/// rows.
fn filled(
    py: Python<'_>,
    rows: &str,
    mut columns: Columns,
    mut find: impl FnMut(&str, &mut Columns, usize) -> Option<usize>,
) -> PyResult<Columns> {
    let mut count = 0;
    let mut shape = Shape::default();
    Cursor::new(rows).each(|cursor| {
        let mut place = 0;
        cursor.each(|cursor| -> PyResult<()> {
            match shape.next(cursor, place, |key| find(key, &mut columns, count)) {
                Some(column) => columns[column].push(value(py, cursor)?),
                None => drop(cursor.skip()),
            }
            place += 1;
            Ok(())
        })?;
        count += 1;
        columns.iter_mut().for_each(|column| column.resize_with(count, || py.None()));
        Ok::<(), PyErr>(())
    })?;
    Ok(columns)
}

/// The first items of the list in the JSON `items`, at most `most`.
pub(crate) fn first_items(py: Python<'_>, items: &str, most: usize) -> PyResult<Vec<Py<PyAny>>> {
    let mut cursor = Cursor::new(items);
    let mut found = Vec::new();
    cursor.pass();
    while found.len() < most && cursor.peek() != b']' {
        found.push(value(py, &mut cursor)?);
        if cursor.peek() == b',' {
            cursor.pass();
        }
    }
    Ok(found)
}
