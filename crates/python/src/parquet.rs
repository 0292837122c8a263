//! Parquet files of `--out`: tables of runs, and time series as they come in.
//!
//! They are written here because a run that keeps its tables would otherwise import pyarrow for them alone: four times
//! the time and the memory of the command itself. Every column may be null, pages are compressed with zstd.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::flat::{Flat, FlatColumn, part};
use crate::samples::{Block, Rows, Source};

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

/// The reason why a file could not be read.
pub(crate) fn unread(path: &Path, error: &ParquetError) -> PyErr {
    match error {
        ParquetError::External(_) => failed(error),
        other => PyValueError::new_err(format!("{}: not time series of lasthop: {other}", path.display())),
    }
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

/// 1 for each row with a value, 0 for a null.
fn levels(column: &FlatColumn) -> Vec<i16> {
    (0..column.len()).map(|row| i16::from(column.is_valid(row))).collect()
}

/// The values that are not null.
fn there<'a, T: 'a>(column: &'a FlatColumn, values: impl IntoIterator<Item = T> + 'a) -> Vec<T> {
    values.into_iter().enumerate().filter(|(row, _)| column.is_valid(*row)).map(|(_, value)| value).collect()
}

fn field_of(column: &FlatColumn) -> Type {
    match column.values {
        Flat::Truths(_) => field(&column.name, Physical::BOOLEAN),
        Flat::Whole(_) => field(&column.name, Physical::INT64),
        Flat::Real(_) => field(&column.name, Physical::DOUBLE),
        Flat::Texts(..) | Flat::Names(..) => field(&column.name, Physical::BYTE_ARRAY),
        Flat::Lists(..) => list_field(&column.name),
    }
}

fn write_column(column: &FlatColumn, group: &mut SerializedRowGroupWriter<'_, File>) -> Result<(), ParquetError> {
    match &column.values {
        Flat::Truths(all) => write::<BoolType>(group, &there(column, all.iter().copied()), &levels(column), None),
        Flat::Whole(all) => write::<Int64Type>(group, &there(column, all.iter().copied()), &levels(column), None),
        Flat::Real(all) => write::<DoubleType>(group, &there(column, all.iter().copied()), &levels(column), None),
        Flat::Texts(all, ends) => {
            let texts = (0..column.len()).map(|row| ByteArray::from(&all[part(ends, row)]));
            write::<ByteArrayType>(group, &there(column, texts), &levels(column), None)
        }
        Flat::Names(places, names) => {
            let names: Vec<ByteArray> = names.iter().map(|name| ByteArray::from(name.as_str())).collect();
            let texts: Vec<ByteArray> = places.iter().map(|place| names[*place as usize].clone()).collect();
            write::<ByteArrayType>(group, &texts, &levels(column), None)
        }
        Flat::Lists(all, is_there, ends) => {
            let (defined, repeated) = levels_of_lists(column, is_there, ends);
            let numbers: Vec<f64> = all.iter().zip(is_there).filter(|(_, there)| **there).map(|(x, _)| *x).collect();
            write::<DoubleType>(group, &numbers, &defined, Some(&repeated))
        }
    }
}

/// Levels of definition (0 for no list, 1 for an empty one, 2 for a null in it, 3 for a number) and of repetition.
fn levels_of_lists(column: &FlatColumn, is_there: &[bool], ends: &[i32]) -> (Vec<i16>, Vec<i16>) {
    let (mut defined, mut repeated) = (Vec::new(), Vec::new());
    for row in 0..column.len() {
        let items = &is_there[part(ends, row)];
        if items.is_empty() {
            defined.push(i16::from(column.is_valid(row)));
            repeated.push(0);
        }
        for (index, there) in items.iter().enumerate() {
            defined.push(if *there { 3 } else { 2 });
            repeated.push(i16::from(index > 0));
        }
    }
    (defined, repeated)
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

/// Writes a table to the file `path`, with `metadata` of the whole file. `long`: a column of long texts, no two alike.
pub(crate) fn write_table(
    path: PathBuf,
    columns: &[FlatColumn],
    metadata: BTreeMap<String, String>,
    long: Option<&str>,
) -> PyResult<()> {
    let metadata: Vec<_> = metadata.into_iter().map(|(key, value)| KeyValue::new(key, value)).collect();
    let mut properties = properties().set_key_value_metadata((!metadata.is_empty()).then_some(metadata));
    if let Some(name) = long {
        properties = properties
            .set_column_dictionary_enabled(ColumnPath::from(name), false)
            .set_column_statistics_enabled(ColumnPath::from(name), EnabledStatistics::None);
    }
    let properties = properties.build();
    let mut writer = create(path, columns.iter().map(field_of).collect(), properties)?;
    let mut write = || {
        if !columns.is_empty() {
            let mut group = writer.next_row_group()?;
            columns.iter().try_for_each(|column| write_column(column, &mut group))?;
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
    fn add(&self, py: Python<'_>, seed: i64, block: Block<'_>) -> PyResult<()> {
        let source = block.source();
        self.with(py, |growing| growing.add(seed, source))
    }

    /// Writes the remaining rows, and the end of the file.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |growing| growing.finish())?;
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
    fn finish(&mut self) -> Result<(), ParquetError> {
        write_rows(&mut self.writer, &mut self.rows)?;
        self.writer.finish().map(drop)
    }

    fn add(&mut self, seed: i64, source: Source<'_>) -> Result<(), ParquetError> {
        let Growing { writer, rows } = self;
        source.add_to(seed, rows, |rows| if rows.len() >= ROWS_AT_A_TIME { write_rows(writer, rows) } else { Ok(()) })
    }
}

/// Writes waiting rows as one row group.
fn write_rows(writer: &mut SerializedFileWriter<File>, rows: &mut Rows) -> Result<(), ParquetError> {
    if rows.len() == 0 {
        return Ok(());
    }
    let mut group = writer.next_row_group()?;
    rows.take_columns().iter().try_for_each(|column| write_column(column, &mut group))?;
    group.close().map(drop)
}
