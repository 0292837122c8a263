//! Every number of runs by its dotted name, with mean and interval over the runs, as in a result's "summary".
//!
//! `lasthop.result` does the same for documents that are Python values already; the bytes are the same.

use std::collections::BTreeMap;
use std::convert::Infallible;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::exact_sum::exact_sum;
use crate::json::{Cursor, Shape, push_number};
use crate::run_text::RunText;

/// Number of bytes per piece.
const PIECE: usize = 1 << 18;
/// The part without summarised numbers: the account of time, which is kept by name elsewhere.
const NO_NUMBERS: &str = "account";
/// The number without a mean, besides the seed.
const NOT_SUMMARISED: (&str, &str) = ("simulator", lasthop_scenario::WALL_TIME.definition().name);
/// There is no further slot.
const NONE: u32 = u32::MAX;

/// The number of one name.
struct Slot {
    owner: u32,
    key: u32,
    /// The next of the same owner.
    next: u32,
}

/// The part of a dotted name before the key, such as `flows.sta1.up`.
struct Owner {
    name: String,
    first: u32,
    last: u32,
    /// The latest run that has it.
    run: usize,
}

/// A table of numbers: by name, in the order of first occurrence, then by run.
struct Metrics {
    runs: usize,
    owners: Vec<Owner>,
    by_name: BTreeMap<String, u32>,
    keys: Vec<String>,
    slots: Vec<Slot>,
    /// NaN if a run has no such number.
    values: Vec<f64>,
    /// Whether rows of one run have the same name.
    has_namesakes: bool,
}

impl Metrics {
    fn of(runs: &[PyRef<'_, RunText>]) -> Metrics {
        let mut metrics = Metrics {
            runs: runs.len(),
            owners: Vec::new(),
            by_name: BTreeMap::new(),
            keys: Vec::new(),
            slots: Vec::new(),
            values: Vec::new(),
            has_namesakes: false,
        };
        for (index, run) in runs.iter().enumerate() {
            let document = run.document();
            for key in document.keys().filter(|key| *key != NO_NUMBERS) {
                let part = document.part(key).expect("it has this key");
                metrics.read_nested(&mut Cursor::new(part), key, index);
            }
        }
        metrics
    }

    /// Reads the value of a key: a table, or a list of them. Other values, such as the seed, are not summarised.
    fn read_nested(&mut self, cursor: &mut Cursor<'_>, name: &str, run: usize) {
        match cursor.peek() {
            b'{' => self.read_row(cursor, name, run, &mut Shape::default()),
            b'[' => self.read_rows(cursor, name, run),
            _ => drop(cursor.skip()),
        }
    }

    fn read_rows(&mut self, cursor: &mut Cursor<'_>, name: &str, run: usize) {
        let mut full = String::new();
        let mut shape = Shape::default();
        let Ok(()) = cursor.each(|cursor| {
            if cursor.peek() == b'{' {
                full.clear();
                full.extend([name, "."]);
                push_entity(&mut full, cursor.clone());
                self.read_row(cursor, &full, run, &mut shape);
            } else {
                cursor.skip();
            }
            Ok::<(), Infallible>(())
        });
    }

    fn read_row(&mut self, cursor: &mut Cursor<'_>, name: &str, run: usize, shape: &mut Shape<u32>) {
        let owner = self.owner(name, run);
        let mut expected = self.owners[owner as usize].first;
        let is_new = expected == NONE;
        let mut column = 0;
        let Ok(()) = cursor.each(|cursor| {
            let key = shape.next(cursor, column, |key| number_of(key, &mut self.keys));
            column += 1;
            match cursor.peek() {
                b'-' | b'0'..=b'9' => {
                    let slot = if is_new { self.add_slot(owner, key) } else { self.slot(owner, key, &mut expected) };
                    let word = cursor.word();
                    let value = if word == "0" { 0.0 } else { word.parse().expect("a number") };
                    self.values[slot as usize * self.runs + run] = value;
                }
                b'{' | b'[' => {
                    let nested = format!("{name}.{}", self.keys[key as usize]);
                    self.read_nested(cursor, &nested, run);
                }
                _ => drop(cursor.skip()),
            }
            Ok::<(), Infallible>(())
        });
    }

    fn owner(&mut self, name: &str, run: usize) -> u32 {
        if let Some(known) = self.by_name.get(name) {
            let before = std::mem::replace(&mut self.owners[*known as usize].run, run);
            self.has_namesakes |= before == run;
            return *known;
        }
        let id = self.owners.len() as u32;
        self.by_name.insert(name.to_string(), id);
        self.owners.push(Owner { name: name.to_string(), first: NONE, last: NONE, run });
        id
    }

    /// The slot of a key of an owner; `expected` is the slot if keys come in the order of the previous run.
    #[inline(always)]
    fn slot(&mut self, owner: u32, key: u32, expected: &mut u32) -> u32 {
        let mut place = *expected;
        if place == NONE || self.slots[place as usize].key != key {
            place = self.owners[owner as usize].first;
            while place != NONE && self.slots[place as usize].key != key {
                place = self.slots[place as usize].next;
            }
            if place == NONE {
                place = self.add_slot(owner, key);
            }
        }
        *expected = self.slots[place as usize].next;
        place
    }

    fn add_slot(&mut self, owner: u32, key: u32) -> u32 {
        let place = self.slots.len() as u32;
        self.slots.push(Slot { owner, key, next: NONE });
        self.values.resize(self.values.len() + self.runs, f64::NAN);
        let owner = &mut self.owners[owner as usize];
        match owner.last {
            NONE => owner.first = place,
            last => self.slots[last as usize].next = place,
        }
        owner.last = place;
        place
    }
}

/// The number of a key among all.
fn number_of(key: &str, keys: &mut Vec<String>) -> u32 {
    let place = keys.iter().position(|known| known == key).unwrap_or_else(|| {
        keys.push(key.to_string());
        keys.len() - 1
    });
    place as u32
}

/// The name of a row, from its first columns: its `id`, `node` and `peer`, or `name`.
fn push_entity(name: &mut String, mut row: Cursor<'_>) {
    let mut next = || {
        row.pass();
        let key = row.string();
        row.pass();
        let value = row.string();
        (key, &value[1..value.len() - 1])
    };
    let (key, entity) = next();
    name.push_str(entity);
    debug_assert!(matches!(key, "\"id\"" | "\"node\"" | "\"name\""), "{key} does not tell which row it is");
    if key == "\"node\"" {
        name.push('.');
        name.push_str(next().1);
    }
}

/// The factors of an interval over n runs.
struct Width {
    /// Student's t of n - 1 degrees
    quantile: f64,
    /// factor by which it is widened
    widened: f64,
}

/// The summary of runs as JSON with a line for each entry, a piece at a time.
#[pyclass(module = "lasthop._core")]
pub(crate) struct Summary {
    metrics: Metrics,
    widths: Vec<Width>,
    next: usize,
    begun: bool,
}

#[pymethods]
impl Summary {
    /// `widths`: for each number of runs from 2 on Student's t, and the factor by which the interval is widened.
    #[new]
    fn new(runs: Vec<PyRef<'_, RunText>>, widths: Vec<(f64, f64)>) -> Self {
        let widths = widths.into_iter().map(|(quantile, widened)| Width { quantile, widened }).collect();
        Summary { metrics: Metrics::of(&runs), widths, next: 0, begun: false }
    }

    /// Whether rows of one run have the same dotted name: then this is not their summary.
    #[getter]
    fn has_namesakes(&self) -> bool {
        self.metrics.has_namesakes
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let slots = self.metrics.slots.len();
        if self.begun && self.next == slots {
            return None;
        }
        let mut out = Vec::with_capacity(PIECE + 1024);
        if !self.begun {
            out.push(b'{');
        }
        let mut values = Vec::with_capacity(self.metrics.runs);
        while self.next < slots && out.len() < PIECE {
            self.write(&mut out, &mut values);
        }
        if self.next == slots {
            out.extend_from_slice(if slots > 0 { b"\n  }" } else { b"}" });
        }
        self.begun = true;
        Some(PyBytes::new(py, &out))
    }
}

impl Summary {
    /// Writes the next entry, unless it has no mean; `values` is reused.
    fn write(&mut self, out: &mut Vec<u8>, values: &mut Vec<f64>) {
        let place = self.next;
        self.next += 1;
        let Slot { owner, key, .. } = self.metrics.slots[place];
        let (owner, key) = (&self.metrics.owners[owner as usize].name, &self.metrics.keys[key as usize]);
        if (owner.as_str(), key.as_str()) == NOT_SUMMARISED {
            return;
        }
        let runs = self.metrics.runs;
        values.clear();
        values.extend(self.metrics.values[place * runs..][..runs].iter().copied().filter(|value| !value.is_nan()));
        out.extend_from_slice(if out.ends_with(b"{") { b"\n    \"" } else { b",\n    \"" });
        for part in [owner, ".", key, "\": {\n      \"mean\": "] {
            out.extend_from_slice(part.as_bytes());
        }
        self.write_estimate(out, values);
    }

    /// Mean and interval by the rule of `lasthop.confidence`.
    fn write_estimate(&self, out: &mut Vec<u8>, values: &[f64]) {
        let n = values.len();
        let mean = exact_sum(values.iter().copied()) / n as f64;
        push_real(out, mean);
        if n == 1 {
            return out
                .extend_from_slice(b",\n      \"ci95_low\": null,\n      \"ci95_high\": null,\n      \"n\": 1\n    }");
        }
        let variance = exact_sum(values.iter().map(|value| square(value - mean))) / (n - 1) as f64;
        let Width { quantile, widened } = self.widths[n - 2];
        let half = quantile * ((variance / n as f64).sqrt() * widened);
        out.extend_from_slice(b",\n      \"ci95_low\": ");
        push_real(out, mean - half);
        out.extend_from_slice(b",\n      \"ci95_high\": ");
        push_real(out, mean + half);
        out.extend_from_slice(format!(",\n      \"n\": {n}\n    }}").as_bytes());
    }
}

/// The same as Python's `** 2`, which uses the platform's `pow`: its last digit may differ from that of a product.
#[allow(clippy::disallowed_methods)]
fn square(value: f64) -> f64 {
    value.powf(std::hint::black_box(2.0))
}

fn push_real(out: &mut Vec<u8>, number: f64) {
    if number == 0.0 && number.is_sign_positive() {
        return out.extend_from_slice(b"0.0");
    }
    let mut text = [0; 32];
    let mut rest = &mut text[..];
    serde_json::to_writer(&mut rest, &number).expect("a number is short");
    let left = rest.len();
    push_number(out, std::str::from_utf8(&text[..text.len() - left]).expect("a number is text"));
}
