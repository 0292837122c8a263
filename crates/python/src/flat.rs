//! Columns of one type over the rows of many runs, for Arrow, Parquet and Python.

use lasthop_scenario::{Cell, Column, Values};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use serde_json::Value as Json;

use crate::values;

/// A column of one type; a null has a place, whose value means nothing.
pub(crate) struct FlatColumn {
    pub(crate) name: String,
    pub(crate) values: Flat,
    /// by row, whether there is a value; `None` if all rows have one
    pub(crate) valid: Option<Vec<bool>>,
}

/// The values of a column. Offsets begin with 0 and have one entry more than there are rows.
pub(crate) enum Flat {
    Truths(Vec<bool>),
    Whole(Vec<i64>),
    Real(Vec<f64>),
    Texts(String, Vec<i32>),
    /// numbers of lists, whether each is there, and offsets
    Lists(Vec<f64>, Vec<bool>, Vec<i32>),
    /// places of names, and the names
    Names(Vec<i32>, Vec<String>),
}

/// A column's type before it is filled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Nothing,
    Truths,
    Whole,
    Real,
    Texts,
    Lists,
}

impl Kind {
    fn of(cell: Cell<'_>) -> Kind {
        match cell {
            Cell::Null | Cell::Json(Json::Null) => Kind::Nothing,
            Cell::Whole(_) => Kind::Whole,
            Cell::Real(_) => Kind::Real,
            Cell::Text(_) | Cell::Json(Json::String(_)) => Kind::Texts,
            Cell::List(_) => Kind::Lists,
            Cell::Json(Json::Bool(_)) => Kind::Truths,
            Cell::Json(Json::Number(number)) if number.is_i64() => Kind::Whole,
            Cell::Json(Json::Number(_)) => Kind::Real,
            Cell::Json(Json::Array(items)) if items.iter().all(|item| item.is_number() || item.is_null()) => {
                Kind::Lists
            }
            Cell::Json(_) => Kind::Texts,
        }
    }

    pub(crate) fn of_column(column: &Column) -> Kind {
        match column.values() {
            Values::Any(_) => {
                (0..column.valid().len()).fold(Kind::Nothing, |all, row| all.with(Kind::of(column.get(row))))
            }
            _ => (0..column.valid().len())
                .find(|row| column.valid()[*row])
                .map_or(Kind::Nothing, |row| Kind::of(column.get(row))),
        }
    }

    /// The type for both; text for values of several types.
    pub(crate) fn with(self, other: Kind) -> Kind {
        match (self, other) {
            (Kind::Nothing, kind) | (kind, Kind::Nothing) => kind,
            (one, other) if one == other => one,
            (Kind::Whole, Kind::Real) | (Kind::Real, Kind::Whole) => Kind::Real,
            _ => Kind::Texts,
        }
    }
}

impl FlatColumn {
    pub(crate) fn new(name: &str, kind: Kind, room: usize) -> FlatColumn {
        let values = match kind {
            Kind::Truths => Flat::Truths(Vec::with_capacity(room)),
            Kind::Whole => Flat::Whole(Vec::with_capacity(room)),
            // A number that no row has is still a number.
            Kind::Real | Kind::Nothing => Flat::Real(Vec::with_capacity(room)),
            Kind::Texts => Flat::Texts(String::new(), vec![0]),
            Kind::Lists => Flat::Lists(Vec::new(), Vec::new(), vec![0]),
        };
        FlatColumn { name: name.to_string(), values, valid: Some(Vec::with_capacity(room)) }
    }

    pub(crate) fn push(&mut self, cell: Cell<'_>) {
        let there = !matches!(cell, Cell::Null | Cell::Json(Json::Null));
        if let Some(valid) = &mut self.valid {
            valid.push(there);
        }
        match &mut self.values {
            Flat::Truths(all) => all.push(matches!(cell, Cell::Json(Json::Bool(true)))),
            Flat::Whole(all) => all.push(match cell {
                Cell::Whole(whole) => whole,
                Cell::Json(value) => value.as_i64().unwrap_or(0),
                _ => 0,
            }),
            Flat::Real(all) => all.push(match cell {
                Cell::Whole(whole) => whole as f64,
                Cell::Real(real) => real,
                Cell::Json(value) => value.as_f64().unwrap_or(f64::NAN),
                _ => f64::NAN,
            }),
            Flat::Texts(all, ends) => {
                match cell {
                    Cell::Null | Cell::Json(Json::Null) => {}
                    Cell::Text(text) => all.push_str(text),
                    Cell::Json(Json::String(text)) => all.push_str(text),
                    other => all.push_str(&other.to_json().to_string()),
                }
                ends.push(end(all.len()));
            }
            Flat::Lists(all, there, ends) => {
                match cell {
                    Cell::List(numbers) => all.extend_from_slice(numbers),
                    Cell::Json(Json::Array(items)) => all.extend(items.iter().map(|item| item.as_f64().unwrap_or(0.0))),
                    _ => {}
                }
                match cell {
                    Cell::Json(Json::Array(items)) => there.extend(items.iter().map(|item| !item.is_null())),
                    _ => there.resize(all.len(), true),
                }
                ends.push(end(all.len()));
            }
            Flat::Names(..) => unreachable!("these are made whole"),
        }
    }

    /// Forgets which rows have a value if all have one.
    pub(crate) fn finished(mut self) -> FlatColumn {
        self.valid = self.valid.filter(|valid| valid.contains(&false));
        self
    }

    pub(crate) fn is_valid(&self, row: usize) -> bool {
        self.valid.as_ref().is_none_or(|valid| valid[row])
    }

    /// Its type.
    pub(crate) fn kind(&self) -> Kind {
        match &self.values {
            Flat::Truths(_) => Kind::Truths,
            Flat::Whole(_) => Kind::Whole,
            Flat::Real(_) => Kind::Real,
            Flat::Texts(..) | Flat::Names(..) => Kind::Texts,
            Flat::Lists(..) => Kind::Lists,
        }
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        match &self.values {
            Flat::Truths(all) => all.len(),
            Flat::Whole(all) => all.len(),
            Flat::Real(all) => all.len(),
            Flat::Texts(_, ends) | Flat::Lists(_, _, ends) => ends.len() - 1,
            Flat::Names(places, _) => places.len(),
        }
    }

    pub(crate) fn value<'py>(&self, py: Python<'py>, row: usize) -> PyResult<Bound<'py, PyAny>> {
        if !self.is_valid(row) {
            return Ok(py.None().into_bound(py));
        }
        Ok(match &self.values {
            Flat::Truths(all) => all[row].into_pyobject(py)?.to_owned().into_any(),
            Flat::Whole(all) => values::of_cell(py, Cell::Whole(all[row]))?,
            Flat::Real(all) => values::of_cell(py, Cell::Real(all[row]))?,
            Flat::Texts(all, ends) => PyString::new(py, &all[part(ends, row)]).into_any(),
            Flat::Lists(all, there, ends) => {
                let place = part(ends, row);
                let items =
                    all[place.clone()].iter().zip(&there[place]).map(|(number, there)| there.then_some(*number));
                PyList::new(py, items.collect::<Vec<_>>())?.into_any()
            }
            Flat::Names(places, names) => PyString::new(py, &names[places[row] as usize]).into_any(),
        })
    }
}

/// The place of a row between offsets.
pub(crate) fn part(ends: &[i32], row: usize) -> std::ops::Range<usize> {
    ends[row] as usize..ends[row + 1] as usize
}

fn end(length: usize) -> i32 {
    i32::try_from(length).expect("texts and lists of a table are below 2 GiB")
}
