//! Every number of several runs by its dotted name.

use std::collections::BTreeMap;

use pyo3::prelude::*;

use crate::numbers::{Number, named};
use crate::run::Run;

/// The numbers of several runs: an iterator over names, each with a value for each run, None for a run without it.
#[pyclass(module = "lasthop._core")]
pub(crate) struct Numbers {
    /// In the order in which they first occur.
    names: Vec<String>,
    runs: usize,
    /// By name, then by run.
    values: Vec<Option<Number>>,
    next: usize,
}

#[pymethods]
impl Numbers {
    /// The numbers of `runs`.
    #[new]
    fn new(runs: Vec<PyRef<'_, Run>>) -> Self {
        let mut names: Vec<String> = Vec::new();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        let mut values = Vec::new();
        for (index, run) in runs.iter().enumerate() {
            // Runs of a scenario have nearly the same names, in the same order.
            let mut expected = 0;
            named(run.tables(), None, &mut |name, number| {
                let Some(number) = number else { return };
                let is_expected = names.get(expected).is_some_and(|known| known == name);
                let known = if is_expected { Some(expected) } else { places.get(name).copied() };
                let place = known.unwrap_or_else(|| {
                    names.push(name.to_string());
                    places.insert(name.to_string(), names.len() - 1);
                    values.resize(names.len() * runs.len(), None);
                    names.len() - 1
                });
                values[place * runs.len() + index] = Some(number);
                expected = place + 1;
            });
        }
        Numbers { names, runs: runs.len(), values, next: 0 }
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&mut self) -> Option<(String, Vec<Option<Number>>)> {
        let name = std::mem::take(self.names.get_mut(self.next)?);
        let values = self.values[self.next * self.runs..][..self.runs].to_vec();
        self.next += 1;
        Some((name, values))
    }
}
