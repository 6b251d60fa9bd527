//! Parquet: footers, row groups, statistics.

use std::fs::File;
use std::path::Path;

use arrow_array::Array;
use arrow_schema::SchemaRef;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::statistics::StatisticsConverter;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};

use super::{Extremes, ROWS, Sink, Table, failed, one_line};
use crate::{Error, Result};

/// What a file says of itself.
pub(super) struct Footer {
    metadata: ArrowReaderMetadata,
}

impl Footer {
    pub(super) fn read_from(path: &Path, file: &File) -> Result<Footer> {
        let metadata = ArrowReaderMetadata::load(file, ArrowReaderOptions::new());
        let metadata = metadata.map_err(|error| Error::File {
            path: path.display().to_string(),
            why: format!(
                "is no whole Parquet file: {}; write or copy it again",
                one_line(&error.to_string())
            ),
        })?;
        let footer = Footer { metadata };
        let groups = footer.metadata.metadata().row_groups();
        for (at, group) in groups.iter().enumerate() {
            let rows = group.num_rows();
            // A column that is not nested has a value, or a null, in each row.
            let flat =
                group.columns().iter().filter(|column| column.column_descr().max_rep_level() == 0);
            let other = flat.map(|column| column.num_values()).find(|&values| values != rows);
            if rows < 0 || other.is_some() {
                let values = other
                    .map_or_else(String::new, |values| format!(" and a column of {values} values"));
                let why = format!(
                    "is damaged: its footer tells of {rows} rows{values} in row group {at}; write it again"
                );
                return Err(Error::File { path: path.display().to_string(), why });
            }
        }
        Ok(footer)
    }

    pub(super) fn schema(&self) -> SchemaRef {
        self.metadata.schema().clone()
    }

    pub(super) fn groups(&self) -> usize {
        self.metadata.metadata().num_row_groups()
    }

    pub(super) fn rows(&self, group: usize) -> u64 {
        self.metadata.metadata().row_group(group).num_rows() as u64
    }

    /// Decodes some columns of a row group.
    pub(super) fn read<S: Sink>(
        &self,
        table: &Table,
        group: usize,
        columns: &[String],
        sink: &mut S,
    ) -> Result<()> {
        let file = File::open(&table.path).map_err(|error| failed(&table.path, &error))?;
        let picked = table.pick(columns)?;
        let in_file = picked.in_file();
        let (first, rows) = (sink.row(), self.rows(group));
        let builder =
            ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone());
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), in_file.iter().copied());
        let reader = builder
            .with_projection(mask)
            .with_row_groups(vec![group])
            .with_batch_size(ROWS)
            .build();
        // The reader has columns in the file's order.
        for batch in reader.map_err(|error| table.undecoded(&error))? {
            let batch = batch
                .and_then(|batch| picked.complete(&batch, &in_file))
                .map_err(|error| table.undecoded(&error))?;
            sink.take(&batch)?;
        }
        match sink.row() - first {
            found if found == rows => Ok(()),
            found => Err(table.failed(format!("is damaged: row group {group} has {found} rows and its footer says {rows}; write it again"))),
        }
    }

    /// The least and greatest value of each column of integers in a row group, where its statistics say both.
    pub(super) fn extremes(
        &self,
        table: &Table,
        group: usize,
        columns: &[String],
    ) -> Result<Option<Vec<Extremes>>> {
        let metadata = self.metadata.metadata().row_group(group);
        let mut found = Vec::with_capacity(columns.len());
        for name in columns {
            let converter = StatisticsConverter::try_new(
                name,
                self.metadata.schema(),
                self.metadata.parquet_schema(),
            );
            let converter = converter.map_err(|error| table.failed(error))?;
            let Some(index) = converter.parquet_column_index() else { return Ok(None) };
            // Old writers ordered unsigned integers as signed ones.
            let statistics = metadata.column(index).statistics();
            let Some(nulls) =
                statistics.filter(|s| !s.is_min_max_deprecated()).and_then(|s| s.null_count_opt())
            else {
                return Ok(None);
            };
            let values = (metadata.num_rows() as u64).checked_sub(nulls);
            let (Ok(min), Ok(max)) =
                (converter.row_group_mins([metadata]), converter.row_group_maxes([metadata]))
            else {
                return Ok(None);
            };
            match values {
                Some(values) if min.is_valid(0) && max.is_valid(0) => {
                    found.push(Extremes { min, max, values });
                }
                _ => return Ok(None),
            }
        }
        Ok(Some(found))
    }
}

impl Table {
    fn undecoded(&self, error: &dyn std::fmt::Display) -> Error {
        let text = error.to_string();
        if text.contains("feature") && text.contains("zstd") {
            return self.failed("is compressed by zstd, which this build leaves out as it needs C; build with the feature zstd, or write the file with snappy or lz4");
        }
        self.failed(format!("cannot be decoded: {text}; write or copy it again"))
    }
}
