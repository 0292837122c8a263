//! Reads `timeseries.parquet`, so that a plot of a stored result needs no further package.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaDataReader, RowGroupMetaData};
use parquet::file::serialized_reader::SerializedPageReader;

use crate::samples::Rows;

/// The rows of a file with the columns seed, time_s, entity, metric and value, in any order; a null value is NaN.
///
/// # Errors
/// The file cannot be read, or has other columns.
pub(crate) fn read(path: &Path) -> Result<Rows, ParquetError> {
    let file = Arc::new(File::open(path)?);
    let mut rows = Rows::default();
    for group in ParquetMetaDataReader::new().parse_and_finish(&*file)?.row_groups() {
        read_group(&file, group, &mut rows)?;
    }
    Ok(rows)
}

// Column by column: a reader of row groups would bring the one of whole rows into the extension.
fn read_group(file: &Arc<File>, group: &RowGroupMetaData, rows: &mut Rows) -> Result<(), ParquetError> {
    let seeds = column::<Int64Type>(file, group, "seed")?;
    let times = column::<DoubleType>(file, group, "time_s")?;
    let entities = column::<ByteArrayType>(file, group, "entity")?;
    let metrics = column::<ByteArrayType>(file, group, "metric")?;
    let values = column::<DoubleType>(file, group, "value")?;
    let known = |name: Option<ByteArray>| name.ok_or_else(|| ParquetError::General("a name is null".into()));
    let (mut entities, mut metrics) = (entities.into_iter(), metrics.into_iter());
    for ((seed, time_s), value) in seeds.into_iter().zip(times).zip(values) {
        let (entity, metric) = (known(entities.next().flatten())?, known(metrics.next().flatten())?);
        let (seed, time_s) = (seed.unwrap_or_default(), time_s.unwrap_or(f64::NAN));
        rows.push_named(seed, time_s, entity.as_utf8()?, metric.as_utf8()?, value.unwrap_or(f64::NAN));
    }
    Ok(())
}

/// The values of a column.
fn column<T: DataType>(
    file: &Arc<File>,
    group: &RowGroupMetaData,
    name: &str,
) -> Result<Vec<Option<T::T>>, ParquetError> {
    let is_it = |column: &&ColumnChunkMetaData| {
        column.column_path().string() == name && column.column_type() == T::get_physical_type()
    };
    let lacks = || ParquetError::General(format!("no column {name} of the type of time series"));
    let chunk = group.columns().iter().find(is_it).ok_or_else(lacks)?;
    let count = usize::try_from(group.num_rows()).unwrap_or_default();
    let pages = SerializedPageReader::new(Arc::clone(file), chunk, count, None)?;
    let mut reader = ColumnReaderImpl::<T>::new(chunk.column_descr_ptr(), Box::new(pages));
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let mut read = 0;
    while read < count {
        let (records, ..) = reader.read_records(count - read, Some(&mut levels), None, &mut values)?;
        if records == 0 {
            return Err(ParquetError::General(format!("{name} ends before its last row")));
        }
        read += records;
    }
    let is_optional = chunk.column_descr().max_def_level() > 0;
    let mut values = values.into_iter();
    Ok((0..count).map(|row| if !is_optional || levels[row] > 0 { values.next() } else { None }).collect())
}
