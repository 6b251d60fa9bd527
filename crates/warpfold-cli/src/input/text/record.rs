//! [`Records`]: a text taken apart into lines and fields, within bounded memory.

use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::TextError;
use super::words::Words;
use crate::error::system_message;

/// The longest line kept in memory.
pub(super) const LINE_LIMIT: usize = 16 << 20;

/// How a text is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Fields separated by a byte, which quotes protect.
    Delimited(u8),
    /// Numbers separated by blanks and line ends.
    Words,
    /// Whatever the first line shows: tabs, else commas, else blanks.
    Sniff,
}

impl Layout {
    /// What a file's extension says.
    pub fn of(extension: &str) -> Layout {
        match extension {
            "csv" => Layout::Delimited(b','),
            "tsv" => Layout::Delimited(b'\t'),
            _ => Layout::Sniff,
        }
    }

    fn sniff(start: &[u8]) -> Layout {
        let telling = |line: &&[u8]| !line.trim_ascii().is_empty() && !line.starts_with(b"#");
        let first = start.split(|&byte| byte == b'\n').find(telling).unwrap_or_default();
        match [b'\t', b','].into_iter().find(|delimiter| first.trim_ascii().contains(delimiter)) {
            Some(delimiter) => Layout::Delimited(delimiter),
            None => Layout::Words,
        }
    }
}

/// The fields of a line, or of a part of it.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// From 1.
    pub(super) line: u64,
    /// The column of the first field, from 0; more than that where a long line comes in parts.
    pub(super) first_column: u64,
    pub(super) bytes: Vec<u8>,
    pub(super) ranges: Vec<Range<usize>>,
}

impl Record {
    pub(super) fn len(&self) -> usize {
        self.ranges.len()
    }

    /// A field without the blanks around it.
    pub(super) fn field(&self, at: usize) -> Option<&[u8]> {
        self.ranges.get(at).map(|range| self.bytes[range.clone()].trim_ascii())
    }

    pub(super) fn fields(&self) -> impl Iterator<Item = &[u8]> {
        self.ranges.iter().map(|range| self.bytes[range.clone()].trim_ascii())
    }
}

/// Lines and their fields, one after another.
pub(super) enum Records {
    Csv { reader: Box<csv::Reader<Bounded>>, row: csv::ByteRecord, record_start: Arc<AtomicU64> },
    Words(Words),
}

impl Records {
    /// Starts to read; `whole_lines` where a line must not come in parts.
    pub(super) fn new(
        source: Box<dyn Read + Send>,
        layout: Layout,
        whole_lines: bool,
    ) -> Result<Records, TextError> {
        let (start, source) = peek(source).map_err(|error| unreadable(&error))?;
        let layout = if layout == Layout::Sniff { Layout::sniff(&start) } else { layout };
        let Layout::Delimited(delimiter) = layout else {
            return Ok(Records::Words(Words::new(
                BufReader::with_capacity(1 << 16, source),
                whole_lines,
            )));
        };
        let record_start = Arc::new(AtomicU64::new(0));
        let bounded = Bounded { source, read: 0, record_start: record_start.clone() };
        let reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(false)
            .flexible(true)
            .comment(Some(b'#'))
            .buffer_capacity(1 << 16)
            .from_reader(bounded);
        Ok(Records::Csv { reader: Box::new(reader), row: csv::ByteRecord::new(), record_start })
    }

    /// Whether a first line without numbers is taken for a header.
    pub(super) fn headed(&self) -> bool {
        matches!(self, Records::Csv { .. })
    }

    /// Reads the next line; false at the end.
    pub(super) fn next(&mut self, record: &mut Record) -> Result<bool, TextError> {
        match self {
            Records::Words(words) => words.next(record),
            Records::Csv { reader, row, record_start } => {
                record_start.store(reader.position().byte(), Relaxed);
                let line = reader.position().line();
                let more = reader.read_byte_record(row).map_err(|error| csv_error(&error, line))?;
                record.line = row.position().map_or(line, csv::Position::line);
                record.bytes.clear();
                record.bytes.extend_from_slice(row.as_slice());
                record.ranges.clear();
                record.ranges.extend((0..row.len()).filter_map(|field| row.range(field)));
                Ok(more)
            }
        }
    }
}

/// A reader that refuses to feed one record for ever, so that an unclosed quote does not fill the memory.
pub(super) struct Bounded {
    source: Source,
    read: u64,
    record_start: Arc<AtomicU64>,
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.read.saturating_sub(self.record_start.load(Relaxed)) > LINE_LIMIT as u64 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let n = self.source.read(buffer)?;
        self.read += n as u64;
        Ok(n)
    }
}

fn csv_error(error: &csv::Error, line: u64) -> TextError {
    match error.kind() {
        csv::ErrorKind::Io(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            TextError::TooLong { line, limit: LINE_LIMIT }
        }
        csv::ErrorKind::Io(error) => unreadable(error),
        _ => TextError::Unreadable(error.to_string()),
    }
}

pub(super) fn unreadable(error: &io::Error) -> TextError {
    TextError::Unreadable(system_message(error))
}

pub(super) type Source = io::Chain<io::Cursor<Vec<u8>>, Box<dyn Read + Send>>;

/// Reads the start of a text, without the byte order mark, and puts it back.
fn peek(mut source: Box<dyn Read + Send>) -> io::Result<(Vec<u8>, Source)> {
    const ENOUGH: u64 = 4096;
    let mut start = Vec::new();
    // A terminal or a slow pipe gives a line at a time: what is there is enough, if it holds a line.
    while (start.len() as u64) < ENOUGH && !has_a_line(&start) {
        let before = start.len();
        let mut some = [0; ENOUGH as usize];
        match source.read(&mut some) {
            Ok(n) => start.extend_from_slice(&some[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
        if start.len() == before {
            break;
        }
    }
    if start.starts_with(b"\xef\xbb\xbf") {
        start.drain(..3);
    }
    Ok((start.clone(), io::Cursor::new(start).chain(source)))
}

fn has_a_line(start: &[u8]) -> bool {
    let mut lines = start.split(|&byte| byte == b'\n');
    lines.next_back();
    lines.any(|line| !line.trim_ascii().is_empty() && !line.starts_with(b"#"))
}
