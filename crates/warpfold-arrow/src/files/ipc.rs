//! Arrow's own files (Feather is one) and streams.

use std::fs::File;
use std::io::{self, BufReader, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader, read_footer_length};
use arrow_ipc::{Block, Message, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, SchemaRef};

use super::{Read, Sink, Table, failed, one_line};
use crate::{Error, Result};

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    File,
    Stream,
}

/// What a file holds: the rows of each record batch, or of a stream as a whole, which can only be read from its start.
pub(super) struct Batches {
    form: Form,
    pub(super) rows: Vec<u64>,
}

impl Form {
    pub(super) fn open(self, path: &Path, file: File) -> Result<(SchemaRef, Batches)> {
        let mut file = BufReader::new(file);
        let no_arrow = |why: &str| Error::File {
            path: path.display().to_string(),
            why: format!("is no whole Arrow file: {why}; write or copy it again"),
        };
        let within = match self {
            Form::File => blocks_within(&mut file),
            Form::Stream => messages_within(&mut file).map(|rows| vec![rows]),
        };
        let rows = within.map_err(|error| no_arrow(&error.to_string()))?;
        let schema = match self {
            Form::File => FileReader::try_new(file, None).map(|reader| reader.schema()),
            Form::Stream => StreamReader::try_new(file, None).map(|reader| reader.schema()),
        };
        let schema = schema.map_err(|error| no_arrow(&one_line(&error.to_string())))?;
        Ok((schema, Batches { form: self, rows }))
    }
}

impl Batches {
    /// Reads some of the batches, or all of a stream.
    pub(super) fn read<S: Sink>(
        &self,
        table: &Table,
        pieces: Range<usize>,
        columns: &[String],
        sink: &mut S,
        read: &mut Read,
    ) -> Result<()> {
        let picked = table.pick(columns)?;
        let in_file = picked.in_file();
        let file = File::open(&table.path).map_err(|error| failed(&table.path, &error))?;
        let file = BufReader::new(file);
        let damaged = |error: ArrowError| {
            table.failed(format!("cannot be decoded: {error}; write or copy it again"))
        };
        let batches: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>>> = match self.form {
            Form::File => {
                let mut reader =
                    FileReader::try_new(file, Some(in_file.clone())).map_err(damaged)?;
                reader.set_index(pieces.start).map_err(damaged)?;
                Box::new(reader.take(pieces.len()))
            }
            Form::Stream => {
                Box::new(StreamReader::try_new(file, Some(in_file.clone())).map_err(damaged)?)
            }
        };
        let (first, rows) = (sink.row(), self.rows[pieces].iter().sum::<u64>());
        for batch in batches {
            sink.take(
                &batch.and_then(|batch| picked.complete(&batch, &in_file)).map_err(damaged)?,
            )?;
            read.decoded += 1;
        }
        match sink.row() - first {
            found if found == rows => Ok(()),
            found => Err(table.failed(format!(
                "is damaged: it has {found} rows where its messages tell of {rows}; write it again"
            ))),
        }
    }
}

fn damaged(what: &str) -> io::Error {
    io::Error::other(what.to_string())
}

/// The rows of each record batch. Fails unless all that a file's footer points at lies in the file: a reader takes memory for what a footer says before
/// it looks.
fn blocks_within(file: &mut (impl io::Read + Seek)) -> io::Result<Vec<u64>> {
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
    if !lists.iter().flatten().all(|blocks| blocks.iter().all(is_within)) {
        return Err(damaged("its footer points beyond its end"));
    }
    let mut rows = Vec::new();
    for block in footer.recordBatches().iter().flatten() {
        file.seek(SeekFrom::Start(block.offset() as u64))?;
        let mut message = vec![0; block.metaDataLength() as usize];
        file.read_exact(&mut message)?;
        // Before version 0.15 no marker stood before a message's length.
        let before = if message.starts_with(&[0xff; 4]) { 8 } else { 4 };
        let message = message.get(before..).map(root_as_message);
        rows.push(rows_of(&message.and_then(Result::ok).ok_or_else(|| damaged(MESSAGE))?)?);
    }
    file.rewind()?;
    Ok(rows)
}

const MESSAGE: &str = "a message is damaged";

/// The rows that a message brings: those of a record batch.
fn rows_of(message: &Message<'_>) -> io::Result<u64> {
    let rows = message.header_as_record_batch().map_or(0, |batch| batch.length());
    u64::try_from(rows).map_err(|_| damaged(MESSAGE))
}

/// The same of a stream's messages, one after another: the rows of all of them.
fn messages_within(file: &mut (impl io::Read + Seek)) -> io::Result<u64> {
    let size = file.seek(SeekFrom::End(0))?;
    file.rewind()?;
    let within = |at: u64, length: i64| {
        let end = u64::try_from(length).ok().and_then(|length| at.checked_add(length));
        end.filter(|&end| end <= size)
            .ok_or_else(|| damaged("a message is longer than what is left of it"))
    };
    let (mut at, mut rows) = (0, 0u64);
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
        let message = root_as_message(&message).map_err(|_| damaged(MESSAGE))?;
        rows = rows.checked_add(rows_of(&message)?).ok_or_else(|| damaged(MESSAGE))?;
        at = within(at, message.bodyLength())?;
        file.seek(SeekFrom::Start(at))?;
    }
    file.rewind()?;
    Ok(rows)
}
