//! Rows of time series: of the engine, and of files of a testbed.

use std::collections::BTreeMap;
use std::mem::take;

use lasthop_scenario as engine;
use pyo3::prelude::*;

use crate::flat::{Flat, FlatColumn};
use crate::outcome::SeriesBlock;

/// A quantity over time: of the engine, or of a file of a testbed, as entity, metric, times and values.
#[derive(FromPyObject)]
pub(crate) enum Block<'py> {
    Engine(PyRef<'py, SeriesBlock>),
    Samples(Samples),
}

type Samples = (String, String, Vec<f64>, Vec<f64>);

impl Block<'_> {
    /// The same without Python.
    pub(crate) fn source(&self) -> Source<'_> {
        match self {
            Block::Engine(block) => Source::Engine(&block.0),
            Block::Samples(samples) => Source::Samples(samples),
        }
    }
}

/// A quantity over time.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    Engine(&'a engine::SeriesBlock),
    Samples(&'a Samples),
}

impl Source<'_> {
    /// Adds its rows; calls `after` after the rows of each time.
    ///
    /// # Errors
    /// Those of `after`.
    pub(crate) fn add_to<E>(
        self,
        seed: i64,
        rows: &mut Rows,
        mut after: impl FnMut(&mut Rows) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Source::Engine(block) => {
                let entities: Vec<i32> = block.entities.iter().map(|name| rows.entities.place(name)).collect();
                let metric = rows.metrics.place(block.quantity.name);
                for (sample, values) in block.values.chunks_exact(entities.len().max(1)).enumerate() {
                    let time_s = block.start_s + block.interval_s * sample as f64;
                    entities.iter().zip(values).for_each(|(entity, x)| rows.push(seed, time_s, *entity, metric, *x));
                    after(rows)?;
                }
            }
            Source::Samples((entity, metric, times, values)) => {
                let (entity, metric) = (rows.entities.place(entity), rows.metrics.place(metric));
                for (time_s, value) in times.iter().zip(values) {
                    rows.push(seed, *time_s, entity, metric, *value);
                    after(rows)?;
                }
            }
        }
        Ok(())
    }
}

/// Rows of time series.
#[derive(Default)]
pub(crate) struct Rows {
    seeds: Vec<i64>,
    times: Vec<f64>,
    values: Vec<f64>,
    entities: Dictionary,
    metrics: Dictionary,
}

/// Names, and the place of the name of each row.
#[derive(Default)]
struct Dictionary {
    names: Vec<String>,
    rows: Vec<i32>,
    places: BTreeMap<String, i32>,
}

impl Dictionary {
    fn place(&mut self, name: &str) -> i32 {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        let place = self.names.len() as i32;
        self.names.push(name.to_string());
        self.places.insert(name.to_string(), place);
        place
    }
}

impl Rows {
    pub(crate) fn len(&self) -> usize {
        self.seeds.len()
    }

    fn push(&mut self, seed: i64, time_s: f64, entity: i32, metric: i32, value: f64) {
        self.seeds.push(seed);
        self.times.push(time_s);
        self.values.push(value);
        self.entities.rows.push(entity);
        self.metrics.rows.push(metric);
    }

    /// Adds a row.
    pub(crate) fn push_named(&mut self, seed: i64, time_s: f64, entity: &str, metric: &str, value: f64) {
        let (entity, metric) = (self.entities.place(entity), self.metrics.place(metric));
        self.push(seed, time_s, entity, metric, value);
    }

    /// Takes the rows as columns; the names stay known.
    pub(crate) fn take_columns(&mut self) -> Vec<FlatColumn> {
        let names = |of: &mut Dictionary| Flat::Names(take(&mut of.rows), of.names.clone());
        let columns = [
            ("seed", Flat::Whole(take(&mut self.seeds))),
            ("time_s", Flat::Real(take(&mut self.times))),
            ("entity", names(&mut self.entities)),
            ("metric", names(&mut self.metrics)),
            ("value", Flat::Real(take(&mut self.values))),
        ];
        columns.map(|(name, values)| FlatColumn { name: name.to_string(), values, valid: None }).into()
    }
}
