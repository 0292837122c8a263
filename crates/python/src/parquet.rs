//! Parquet files of `--out`: tables of Python's numbers and names, and time series as they come in.
//!
//! They are written here because a run that keeps its tables would otherwise import pyarrow for them alone: four times
//! the time and the memory of the command itself. Every column may be null, pages are compressed with zstd.

use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lasthop_scenario as engine;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyList, PyString};

use crate::outcome::SeriesBlock;

/// Rows of a row group of time series.
const ROWS_AT_A_TIME: usize = 50_000;
/// Arrow's name for the schema of time series, which makes readers use dictionaries for names of entities and metrics:
/// the message of that schema in Arrow's inter-process format, in base 64. `pyarrow.schema(…).serialize()` gives the
/// same.
const SERIES_SCHEMA: &str = include_str!("series_schema.txt");

/// The reason why a file could not be written: the system's number and words if there are any.
fn failed(error: &ParquetError) -> PyErr {
    let ParquetError::External(cause) = error else { return PyRuntimeError::new_err(error.to_string()) };
    cause.downcast_ref().map_or_else(|| PyOSError::new_err(cause.to_string()), system_error)
}

fn system_error(error: &std::io::Error) -> PyErr {
    let said = error.to_string();
    let words = said.split(" (os error").next().unwrap_or_default().to_string();
    match error.raw_os_error() {
        Some(number) => PyOSError::new_err((number, words)),
        None => PyOSError::new_err(words),
    }
}

fn create(path: PathBuf, fields: Vec<Type>, properties: WriterProperties) -> PyResult<SerializedFileWriter<File>> {
    let file = File::create(path).map_err(|error| system_error(&error))?;
    let fields = fields.into_iter().map(Arc::new).collect();
    let schema = Type::group_type_builder("schema").with_fields(fields).build();
    let writer = schema.and_then(|schema| SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties)));
    writer.map_err(|error| failed(&error))
}

pub(crate) fn properties() -> parquet::file::properties::WriterPropertiesBuilder {
    WriterProperties::builder()
        .set_created_by(concat!("lasthop ", env!("CARGO_PKG_VERSION")).to_string())
        .set_compression(Compression::ZSTD(Default::default()))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
}

/// A field that may be null.
fn field(name: &str, physical: Physical) -> Type {
    let text = (physical == Physical::BYTE_ARRAY).then_some(LogicalType::String);
    let built = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
    built.with_logical_type(text).build().expect("each physical type may be optional")
}

/// A field of lists of numbers, in the three levels of the format.
fn list_field(name: &str) -> Type {
    let element = vec![Arc::new(field("element", Physical::DOUBLE))];
    let list = Type::group_type_builder("list").with_repetition(Repetition::REPEATED).with_fields(element).build();
    let list = vec![Arc::new(list.expect("a group of one field"))];
    let built = Type::group_type_builder(name).with_repetition(Repetition::OPTIONAL);
    built.with_logical_type(Some(LogicalType::List)).with_fields(list).build().expect("a list of numbers")
}

/// A column in its written form: the values that are not null, and the definition level of each row.
enum Column {
    Truths(Vec<bool>, Vec<i16>),
    Whole(Vec<i64>, Vec<i16>),
    Real(Vec<f64>, Vec<i16>),
    Texts(Vec<ByteArray>, Vec<i16>),
    /// with the levels of repetition
    Lists(Vec<f64>, Vec<i16>, Vec<i16>),
}

/// The kind of a column; one without values is a number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Nothing,
    Truths,
    Whole,
    Real,
    Texts,
    Lists,
}

impl Kind {
    fn of(value: &Bound<'_, PyAny>) -> Option<Kind> {
        Some(match value {
            v if v.is_none() => Kind::Nothing,
            v if v.is_instance_of::<PyBool>() => Kind::Truths,
            v if v.is_instance_of::<PyInt>() => Kind::Whole,
            v if v.is_instance_of::<PyFloat>() => Kind::Real,
            v if v.is_instance_of::<PyString>() => Kind::Texts,
            v if v.is_instance_of::<PyList>() => Kind::Lists,
            _ => return None,
        })
    }

    fn with(self, other: Kind) -> Option<Kind> {
        match (self, other) {
            (Kind::Nothing, kind) | (kind, Kind::Nothing) => Some(kind),
            (one, other) if one == other => Some(one),
            (Kind::Whole, Kind::Real) | (Kind::Real, Kind::Whole) => Some(Kind::Real),
            _ => None,
        }
    }
}

impl Column {
    fn of(name: &str, values: &[Bound<'_, PyAny>]) -> PyResult<Column> {
        let mixed =
            || PyTypeError::new_err(format!("{name}: has values of several kinds, or of none that a table holds"));
        let kinds = values.iter().map(Kind::of);
        let kind = kinds.reduce(|all, kind| all?.with(kind?)).unwrap_or(Some(Kind::Nothing)).ok_or_else(mixed)?;
        Ok(match kind {
            Kind::Truths => there(values).map(|(there, levels)| Column::Truths(there, levels))?,
            Kind::Whole => there(values).map(|(there, levels)| Column::Whole(there, levels))?,
            Kind::Nothing | Kind::Real => there(values).map(|(there, levels)| Column::Real(there, levels))?,
            Kind::Texts => {
                let (texts, levels) = there::<String>(values)?;
                Column::Texts(texts.iter().map(|text| ByteArray::from(text.as_str())).collect(), levels)
            }
            Kind::Lists => Column::lists(&there(values)?)?,
        })
    }

    /// Levels of definition: 0 for no list, 1 for an empty one, 2 for a null in it, 3 for a number.
    fn lists((lists, levels): &(Vec<Bound<'_, PyAny>>, Vec<i16>)) -> PyResult<Column> {
        let (mut numbers, mut defined, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
        let mut lists = lists.iter();
        for &level in levels {
            let items: Vec<Option<f64>> =
                if level == 0 { Vec::new() } else { lists.next().expect("one a level").extract()? };
            if items.is_empty() {
                defined.push(level);
                repeated.push(0);
            }
            for (index, item) in items.into_iter().enumerate() {
                defined.push(if item.is_some() { 3 } else { 2 });
                repeated.push(i16::from(index > 0));
                numbers.extend(item);
            }
        }
        Ok(Column::Lists(numbers, defined, repeated))
    }

    fn field(&self, name: &str) -> Type {
        match self {
            Column::Truths(..) => field(name, Physical::BOOLEAN),
            Column::Whole(..) => field(name, Physical::INT64),
            Column::Real(..) => field(name, Physical::DOUBLE),
            Column::Texts(..) => field(name, Physical::BYTE_ARRAY),
            Column::Lists(..) => list_field(name),
        }
    }

    fn write(&self, group: &mut SerializedRowGroupWriter<'_, File>) -> Result<(), ParquetError> {
        match self {
            Column::Truths(values, levels) => write::<BoolType>(group, values, levels, None),
            Column::Whole(values, levels) => write::<Int64Type>(group, values, levels, None),
            Column::Real(values, levels) => write::<DoubleType>(group, values, levels, None),
            Column::Texts(values, levels) => write::<ByteArrayType>(group, values, levels, None),
            Column::Lists(values, levels, repeated) => write::<DoubleType>(group, values, levels, Some(repeated)),
        }
    }
}

/// The values that are not null, and 1 or 0 for each row.
fn there<'py, T>(values: &[Bound<'py, PyAny>]) -> PyResult<(Vec<T>, Vec<i16>)>
where
    T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>,
{
    let levels = values.iter().map(|value| i16::from(!value.is_none())).collect();
    let there = values.iter().filter(|value| !value.is_none());
    let there = there.map(|value| value.extract().map_err(Into::into)).collect::<PyResult<_>>()?;
    Ok((there, levels))
}

fn write<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: &[T::T],
    levels: &[i16],
    repeated: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let mut column: SerializedColumnWriter = group.next_column()?.expect("as many columns as fields");
    column.typed::<T>().write_batch(values, Some(levels), repeated)?;
    column.close()
}

/// Writes a table to the file `path`: `columns` are names, each with a value for each row, None if there is none. Whole
/// numbers are int64, others double, besides text, booleans and lists of numbers; a column without values is double.
/// Raises `OSError` if it cannot be written, and `TypeError` for other values.
#[pyfunction]
pub(crate) fn write_table(path: PathBuf, columns: Vec<(String, Vec<Bound<'_, PyAny>>)>) -> PyResult<()> {
    let built = columns.iter().map(|(name, values)| Column::of(name, values)).collect::<PyResult<Vec<_>>>()?;
    let fields = columns.iter().zip(&built).map(|((name, _), column)| column.field(name)).collect();
    let mut writer = create(path, fields, properties().build())?;
    let mut write = || {
        if !built.is_empty() {
            let mut group = writer.next_row_group()?;
            built.iter().try_for_each(|column| column.write(&mut group))?;
            group.close()?;
        }
        writer.finish()
    };
    write().map(drop).map_err(|error| failed(&error))
}

/// Time series as a Parquet file that grows, a row group at a time: seed, time_s, entity, metric, value.
#[pyclass(frozen, module = "lasthop._core")]
pub(crate) struct SeriesFile(Mutex<Option<Growing>>);

struct Growing {
    writer: SerializedFileWriter<File>,
    rows: Rows,
}

/// Rows that are not written yet.
#[derive(Default)]
struct Rows {
    seeds: Vec<i64>,
    times: Vec<f64>,
    entities: Vec<ByteArray>,
    metrics: Vec<ByteArray>,
    values: Vec<f64>,
}

#[pymethods]
impl SeriesFile {
    /// Makes the file `path`; raises `OSError` if it cannot be written.
    #[new]
    fn new(path: PathBuf) -> PyResult<Self> {
        let names = [("seed", Physical::INT64), ("time_s", Physical::DOUBLE), ("entity", Physical::BYTE_ARRAY)];
        let names = names.into_iter().chain([("metric", Physical::BYTE_ARRAY), ("value", Physical::DOUBLE)]);
        let schema = KeyValue::new("ARROW:schema".to_string(), SERIES_SCHEMA.trim().to_string());
        let built = properties()
            .set_key_value_metadata(Some(vec![schema]))
            .set_column_dictionary_enabled(ColumnPath::from("value"), false)
            .build();
        let writer = create(path, names.map(|(name, kind)| field(name, kind)).collect(), built)?;
        Ok(SeriesFile(Mutex::new(Some(Growing { writer, rows: Rows::default() }))))
    }

    /// Appends a block of one seed.
    fn add(&self, py: Python<'_>, seed: i64, block: &SeriesBlock) -> PyResult<()> {
        self.with(py, |growing| growing.add(seed, &block.0))
    }

    /// Writes the remaining rows, and the end of the file.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |growing| growing.write().and_then(|()| growing.writer.finish().map(drop)))?;
        *self.lock() = None;
        Ok(())
    }
}

impl SeriesFile {
    fn lock(&self) -> MutexGuard<'_, Option<Growing>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with(&self, py: Python<'_>, work: impl Send + FnOnce(&mut Growing) -> Result<(), ParquetError>) -> PyResult<()> {
        let done = py.detach(|| self.lock().as_mut().map(work));
        done.ok_or_else(|| PyRuntimeError::new_err("this file is closed"))?.map_err(|error| failed(&error))
    }
}

impl Growing {
    fn add(&mut self, seed: i64, block: &engine::SeriesBlock) -> Result<(), ParquetError> {
        let entities: Vec<ByteArray> = block.entities.iter().map(|name| ByteArray::from(name.as_str())).collect();
        let metric = ByteArray::from(block.quantity.name);
        for (sample, values) in block.values.chunks_exact(entities.len().max(1)).enumerate() {
            let rows = &mut self.rows;
            let time_s = block.start_s + block.interval_s * sample as f64;
            rows.seeds.resize(rows.seeds.len() + values.len(), seed);
            rows.times.resize(rows.times.len() + values.len(), time_s);
            rows.entities.extend_from_slice(&entities);
            rows.metrics.resize(rows.metrics.len() + values.len(), metric.clone());
            rows.values.extend_from_slice(values);
            if rows.values.len() >= ROWS_AT_A_TIME {
                self.write()?;
            }
        }
        Ok(())
    }

    /// Writes waiting rows as one row group.
    fn write(&mut self) -> Result<(), ParquetError> {
        let rows = std::mem::take(&mut self.rows);
        if rows.values.is_empty() {
            return Ok(());
        }
        let all = vec![1; rows.values.len()];
        let mut group = self.writer.next_row_group()?;
        write::<Int64Type>(&mut group, &rows.seeds, &all, None)?;
        write::<DoubleType>(&mut group, &rows.times, &all, None)?;
        write::<ByteArrayType>(&mut group, &rows.entities, &all, None)?;
        write::<ByteArrayType>(&mut group, &rows.metrics, &all, None)?;
        write::<DoubleType>(&mut group, &rows.values, &all, None)?;
        group.close().map(drop)
    }
}
