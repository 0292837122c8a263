//! Recordings as Parquet files, a folder for each seed, that grow a row group at a time as the run goes.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lasthop_scenario::recording::{
    Batch, Cells, Chosen, Column, GROUPS, NONE, Names, Recorder, Recording, Sink, TABLES, Table, Values,
};
use lasthop_units::Duration;
use parquet::basic::{Encoding, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnDescPtr, ColumnPath, Type};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::Value as Json;

use crate::dictionary::Coder;
use crate::parquet::properties;

/// Rows of a page of the crate: zstd packs up to 256 KiB better than more.
const PAGE_ROWS: usize = 1 << 14;

/// The choice of recorded data, and the directory that gets a folder for each seed.
#[pyclass(frozen, name = "Recording", module = "lasthop._core")]
pub(crate) struct PyRecording(pub(crate) Recording);

#[pymethods]
impl PyRecording {
    /// Records the named tables and groups of tables from a time on, in simulated seconds, for a length or to the end.
    /// Raises `ValueError` for an unknown name.
    #[new]
    #[pyo3(signature = (directory, tables, from_s = 0.0, length_s = None))]
    fn new(directory: PathBuf, tables: Vec<String>, from_s: f64, length_s: Option<f64>) -> PyResult<Self> {
        let asked = Asked { directory, tables, from_s, length_s };
        asked.recording().map(PyRecording).map_err(|name| PyValueError::new_err(format!("{name:?} is not a table")))
    }
}

/// The arguments of a recording.
struct Asked {
    directory: PathBuf,
    tables: Vec<String>,
    from_s: f64,
    length_s: Option<f64>,
}

impl Asked {
    /// The recording; the error is an unknown name of a table.
    fn recording(self) -> Result<Recording, String> {
        let mut chosen = Chosen::default();
        for name in self.tables {
            chosen = chosen.and(Chosen::named(&name).ok_or(name)?);
        }
        let (from, length) = (Duration::from_secs_f64(self.from_s), self.length_s.map(Duration::from_secs_f64));
        Ok(Recording { chosen, from, length, recorder: Arc::new(Folders(self.directory)) })
    }
}

/// The recording described in JSON, by the names of the arguments of `Recording`.
pub(crate) fn recording_of(asked: &Json) -> Option<Recording> {
    let tables = asked["tables"].as_array()?.iter().map(|name| Some(name.as_str()?.to_string()));
    let asked = Asked {
        directory: asked["directory"].as_str()?.into(),
        tables: tables.collect::<Option<_>>()?,
        from_s: asked["from_s"].as_f64()?,
        length_s: asked["length_s"].as_f64(),
    };
    asked.recording().ok()
}

/// A table with its meaning, and for each column its name, type and meaning.
type Described = (&'static str, &'static str, Vec<(&'static str, String, &'static str)>);

/// The tables of a recording.
#[pyfunction]
pub(crate) fn recording_tables() -> Vec<Described> {
    let column = |column: &Column| (column.name, described(column), column.meaning);
    TABLES.iter().map(|table| (table.name, table.meaning, table.columns.iter().map(column).collect())).collect()
}

/// Names for several tables at once, with their tables.
#[pyfunction]
pub(crate) fn recording_groups() -> Vec<(&'static str, Vec<&'static str>)> {
    GROUPS.iter().map(|(name, tables)| (*name, tables.iter().map(|table| table.name).collect())).collect()
}

fn described(column: &Column) -> String {
    let of = match column.cells {
        Cells::Times | Cells::Nanoseconds | Cells::Large => "int64".to_string(),
        Cells::Whole | Cells::Serial => "uint32".to_string(),
        Cells::Real => "double".to_string(),
        Cells::Truth => "bool".to_string(),
        Cells::Words(words) => words.join(", "),
        Cells::Nodes => "name of a node".to_string(),
        Cells::Flows => "id of a flow".to_string(),
        Cells::Links => "link".to_string(),
    };
    if column.optional { format!("{of}; may be null") } else { of }
}

/// A directory with a folder for each seed.
struct Folders(PathBuf);

impl Recorder for Folders {
    fn begin(&self, seed: u64, chosen: Chosen, names: Names) -> Result<Box<dyn Sink>, String> {
        let folder = self.0.join(format!("seed-{seed}"));
        std::fs::create_dir_all(&folder).map_err(|error| said(&folder, &error.into()))?;
        let names = Texts::of(&names);
        let files = chosen.tables().map(|table| Growing::new(&folder, table, seed, &names));
        let files = files.collect::<Result<_, _>>()?;
        let coder = Coder::new().map_err(|error| said(&folder, &error.into()))?;
        Ok(Box::new(Folder { files, coder }))
    }
}

/// The files of one seed.
struct Folder {
    files: Vec<Growing>,
    coder: Coder,
}

impl Sink for Folder {
    fn take(&mut self, batch: &Batch<'_>) -> Result<(), String> {
        let file = self.files.iter_mut().find(|file| file.table.name == batch.table.name);
        file.expect("a file for each table that is recorded").write(batch, &mut self.coder)
    }

    fn finish(&mut self) -> Result<(), String> {
        self.files.iter_mut().try_for_each(Growing::finish)
    }
}

/// Names as texts of Parquet.
#[derive(Clone)]
struct Texts {
    nodes: Arc<[ByteArray]>,
    flows: Arc<[ByteArray]>,
    links: Arc<[ByteArray]>,
}

impl Texts {
    fn of(names: &Names) -> Texts {
        let texts = |names: &[String]| names.iter().map(|name| ByteArray::from(name.as_str())).collect();
        Texts { nodes: texts(&names.nodes), flows: texts(&names.flows), links: texts(&names.links) }
    }

    /// The texts of a column, if it has any.
    fn of_column(&self, cells: Cells) -> Option<Arc<[ByteArray]>> {
        Some(match cells {
            Cells::Words(words) => words.iter().map(|word| ByteArray::from(*word)).collect(),
            Cells::Nodes => Arc::clone(&self.nodes),
            Cells::Flows => Arc::clone(&self.flows),
            Cells::Links => Arc::clone(&self.links),
            _ => return None,
        })
    }
}

/// A file that grows.
struct Growing {
    table: &'static Table,
    path: PathBuf,
    writer: SerializedFileWriter<File>,
    /// by column
    descriptions: Vec<ColumnDescPtr>,
    /// by column
    texts: Vec<Option<Arc<[ByteArray]>>>,
}

impl Growing {
    fn new(folder: &Path, table: &'static Table, seed: u64, names: &Texts) -> Result<Growing, String> {
        let path = folder.join(format!("{}.parquet", table.name));
        let file = File::create(&path).map_err(|error| said(&path, &error.into()))?;
        let fields = table.columns.iter().map(|column| Arc::new(field(column))).collect();
        let schema = Type::group_type_builder("schema").with_fields(fields).build();
        let properties = Arc::new(properties_of(table, seed));
        let writer = schema.and_then(|schema| SerializedFileWriter::new(file, Arc::new(schema), properties));
        let writer = writer.map_err(|error| said(&path, &error))?;
        let texts = table.columns.iter().map(|column| names.of_column(column.cells)).collect();
        let descriptions = writer.schema_descr().columns().to_vec();
        Ok(Growing { table, path, writer, descriptions, texts })
    }

    fn write(&mut self, batch: &Batch<'_>, coder: &mut Coder) -> Result<(), String> {
        self.write_group(batch, coder).map_err(|error| said(&self.path, &error))
    }

    fn write_group(&mut self, batch: &Batch<'_>, coder: &mut Coder) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for (place, (column, values)) in self.table.columns.iter().zip(&batch.columns).enumerate() {
            let texts = self.texts[place].as_deref();
            let is_written = match (*values, column.cells, texts) {
                (Values::Four(raw), _, Some(texts)) => {
                    coder.write(&mut group, &self.descriptions[place], raw, |place, out| {
                        let text = texts[place as usize].data();
                        out.extend((text.len() as u32).to_le_bytes());
                        out.extend(text);
                    })?
                }
                (Values::Four(raw), Cells::Whole, None) => {
                    coder.write(&mut group, &self.descriptions[place], raw, |number, out| {
                        out.extend(number.to_le_bytes());
                    })?
                }
                _ => false,
            };
            if !is_written {
                write_column(&mut group, column, texts, *values)?;
            }
        }
        group.close().map(drop)
    }

    fn finish(&mut self) -> Result<(), String> {
        self.writer.finish().map(drop).map_err(|error| said(&self.path, &error))
    }
}

fn said(path: &Path, error: &ParquetError) -> String {
    let why = match error {
        ParquetError::External(cause) => cause.to_string(),
        other => other.to_string(),
    };
    // The system's words without its error number.
    let why = why.split(" (os error").next().unwrap_or_default();
    format!("{}: cannot be written: {why}", path.display())
}

fn properties_of(table: &Table, seed: u64) -> WriterProperties {
    let about = [("lasthop.recording", "1".to_string()), ("lasthop.seed", seed.to_string())];
    let about = about.into_iter().map(|(key, value)| parquet::file::metadata::KeyValue::new(key.to_string(), value));
    let built = properties().set_key_value_metadata(Some(about.collect()));
    let built = built.set_data_page_row_count_limit(PAGE_ROWS).set_write_batch_size(PAGE_ROWS);
    let built = built.set_statistics_enabled(EnabledStatistics::None);
    let runs_on = table.columns.iter().filter(|column| matches!(column.cells, Cells::Times | Cells::Serial));
    let built = runs_on.fold(built, |built, column| {
        let path = || ColumnPath::from(column.name);
        let built = built.set_column_dictionary_enabled(path(), false);
        built.set_column_encoding(path(), Encoding::DELTA_BINARY_PACKED)
    });
    let times = table.columns.iter().filter(|column| column.cells == Cells::Times);
    times
        .fold(built, |built, column| {
            built.set_column_statistics_enabled(ColumnPath::from(column.name), EnabledStatistics::Chunk)
        })
        .build()
}

fn field(column: &Column) -> Type {
    let (physical, logical) = match column.cells {
        Cells::Times | Cells::Nanoseconds | Cells::Large => (Physical::INT64, None),
        Cells::Whole | Cells::Serial => (Physical::INT32, Some(LogicalType::integer(32, false))),
        Cells::Real => (Physical::DOUBLE, None),
        Cells::Truth => (Physical::BOOLEAN, None),
        Cells::Words(_) | Cells::Nodes | Cells::Flows | Cells::Links => {
            (Physical::BYTE_ARRAY, Some(LogicalType::String))
        }
    };
    let repetition = if column.optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    let built = Type::primitive_type_builder(column.name, physical).with_repetition(repetition);
    built.with_logical_type(logical).build().expect("each physical type may be optional")
}

/// Values of a column, and 1 or 0 for each row if it may be null.
struct Made<T> {
    values: Vec<T>,
    levels: Option<Vec<i16>>,
}

impl<T> Made<T> {
    fn of<R: Copy>(column: &Column, raw: &[R], is_there: impl Fn(R) -> bool, value: impl Fn(R) -> T) -> Made<T> {
        if !column.optional {
            return Made { values: raw.iter().map(|raw| value(*raw)).collect(), levels: None };
        }
        let values = raw.iter().filter(|raw| is_there(**raw)).map(|raw| value(*raw)).collect();
        Made { values, levels: Some(raw.iter().map(|raw| i16::from(is_there(*raw))).collect()) }
    }
}

type Group<'a> = SerializedRowGroupWriter<'a, File>;

fn write_column(
    group: &mut Group<'_>,
    column: &Column,
    texts: Option<&[ByteArray]>,
    values: Values<'_>,
) -> Result<(), ParquetError> {
    match (values, column.cells) {
        (Values::Eight(raw), Cells::Real) => {
            let made = Made::of(column, raw, |bits| !f64::from_bits(bits).is_nan(), f64::from_bits);
            write::<DoubleType>(group, &made)
        }
        (Values::Eight(raw), _) => {
            write::<Int64Type>(group, &Made::of(column, raw, |number| number != u64::MAX, |number| number as i64))
        }
        (Values::Four(raw), cells) => {
            let is_there = |number| number != NONE;
            match (texts, cells) {
                (Some(texts), _) => {
                    let text = |place| texts[place as usize].clone();
                    write::<ByteArrayType>(group, &Made::of(column, raw, is_there, text))
                }
                (None, Cells::Truth) => write::<BoolType>(group, &Made::of(column, raw, is_there, |truth| truth != 0)),
                (None, _) => write::<Int32Type>(group, &Made::of(column, raw, is_there, |number| number as i32)),
            }
        }
    }
}

fn write<T: DataType>(group: &mut Group<'_>, made: &Made<T::T>) -> Result<(), ParquetError> {
    let mut column = group.next_column()?.expect("as many columns as fields");
    column.typed::<T>().write_batch(&made.values, made.levels.as_deref(), None)?;
    column.close()
}
