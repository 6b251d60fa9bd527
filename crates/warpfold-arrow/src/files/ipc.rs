//! Arrow's own files (Feather is one) and streams.

use std::fs::File;
use std::io::{self, BufReader, Seek, SeekFrom};
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader, read_footer_length};
use arrow_ipc::{Block, root_as_footer, root_as_message};
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
        let mut file = BufReader::new(file);
        let within = match self {
            Form::File => blocks_within(&mut file),
            Form::Stream => messages_within(&mut file),
        };
        within.map_err(|error| Error::File {
            path: path.display().to_string(),
            why: format!("is no whole Arrow file: {error}; write or copy it again"),
        })?;
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

fn damaged(what: &str) -> io::Error {
    io::Error::other(what.to_string())
}

/// Fails unless all that a file's footer points at lies in the file: a reader takes memory for what a footer says before it looks.
fn blocks_within(file: &mut (impl io::Read + Seek)) -> io::Result<()> {
    const TRAILER: u64 = 10;
    let size = file.seek(SeekFrom::End(0))?;
    let footer_end =
        size.checked_sub(TRAILER).ok_or_else(|| damaged("it is shorter than a footer"))?;
    file.seek(SeekFrom::Start(footer_end))?;
    let mut trailer = [0; TRAILER as usize];
    file.read_exact(&mut trailer)?;
    let length = read_footer_length(trailer).map_err(|_| damaged("it has no footer at its end"))?;
    let start = footer_end
        .checked_sub(length as u64)
        .ok_or_else(|| damaged("its footer is longer than it"))?;
    file.seek(SeekFrom::Start(start))?;
    let mut footer = vec![0; length];
    file.read_exact(&mut footer)?;
    let footer = root_as_footer(&footer).map_err(|_| damaged("its footer is damaged"))?;
    let is_within = |block: &Block| {
        let parts = [block.offset(), block.metaDataLength().into(), block.bodyLength()];
        let end = parts.iter().try_fold(0i64, |sum, &part| sum.checked_add(part));
        parts.iter().all(|&part| part >= 0) && end.is_some_and(|end| end as u64 <= size)
    };
    let lists = [footer.recordBatches(), footer.dictionaries()];
    match lists.iter().flatten().all(|blocks| blocks.iter().all(is_within)) {
        true => file.rewind(),
        false => Err(damaged("its footer points beyond its end")),
    }
}

/// The same of a stream's messages, one after another.
fn messages_within(file: &mut (impl io::Read + Seek)) -> io::Result<()> {
    let size = file.seek(SeekFrom::End(0))?;
    file.rewind()?;
    let within = |at: u64, length: i64| {
        let end = u64::try_from(length).ok().and_then(|length| at.checked_add(length));
        end.filter(|&end| end <= size)
            .ok_or_else(|| damaged("a message is longer than what is left of it"))
    };
    let mut at = 0;
    while at + 4 <= size {
        let mut length = [0; 4];
        file.read_exact(&mut length)?;
        at += 4;
        if length == [0xff; 4] {
            file.read_exact(&mut length)?;
            at += 4;
        }
        let length = i32::from_le_bytes(length);
        if length == 0 {
            break;
        }
        at = within(at, length.into())?;
        let mut message = vec![0; length as usize];
        file.read_exact(&mut message)?;
        let message = root_as_message(&message).map_err(|_| damaged("a message is damaged"))?;
        at = within(at, message.bodyLength())?;
        file.seek(SeekFrom::Start(at))?;
    }
    file.rewind()
}
