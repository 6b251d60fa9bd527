//! Arrow's own files (Feather is one) and streams.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, SchemaRef};

use super::{Read, Sink, Table, failed, one_line};
use crate::{Error, Result};

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    File,
    Stream,
}

impl Form {
    pub(super) fn schema(self, path: &Path, file: File) -> Result<SchemaRef> {
        let file = BufReader::new(file);
        let schema = match self {
            Form::File => FileReader::try_new(file, None).map(|reader| reader.schema()),
            Form::Stream => StreamReader::try_new(file, None).map(|reader| reader.schema()),
        };
        schema.map_err(|error| Error::File {
            path: path.display().to_string(),
            why: format!(
                "is no whole Arrow file: {}; write or copy it again",
                one_line(&error.to_string())
            ),
        })
    }

    pub(super) fn read<S: Sink>(
        self,
        table: &Table,
        columns: &[String],
        sink: &mut S,
        read: &mut Read,
    ) -> Result<()> {
        let mut indices = table.indices(columns)?;
        let wanted = indices.clone();
        indices.sort_unstable();
        indices.dedup();
        let order: Vec<usize> =
            wanted.iter().map(|index| indices.partition_point(|other| other < index)).collect();
        let file = File::open(&table.path).map_err(|error| failed(&table.path, &error))?;
        let file = BufReader::new(file);
        let damaged = |error: ArrowError| {
            table.failed(format!("cannot be decoded: {error}; write or copy it again"))
        };
        let batches: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>>> = match self {
            Form::File => Box::new(FileReader::try_new(file, Some(indices)).map_err(damaged)?),
            Form::Stream => Box::new(StreamReader::try_new(file, Some(indices)).map_err(damaged)?),
        };
        for batch in batches {
            sink.take(&batch.and_then(|batch| batch.project(&order)).map_err(damaged)?)?;
            read.decoded += 1;
        }
        Ok(())
    }
}
