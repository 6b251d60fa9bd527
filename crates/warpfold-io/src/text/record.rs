//! [`Records`]: a text taken apart into lines and fields, within bounded memory.

use std::fmt;
use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::cells::Cell;
use super::line_ends::LineEnds;
use super::picks::Picks;
use super::plain::{Next, Plain};
use super::quotes::{AfterQuote, Open, Quotes};
use super::start::{Source, is_utf16, no_text, peek};
use super::words::Words;
use super::{Dialect, TextError};
use crate::error::system_message;
use crate::stamp::Changed;

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

    /// What the first row shows.
    fn sniff(first: &[u8], dialect: &Dialect) -> Layout {
        // Where a comma stands before fractions, semicolons separate.
        let other = if dialect.decimal == b',' { b';' } else { b',' };
        match [b'\t', other].into_iter().find(|delimiter| first.trim_ascii().contains(delimiter)) {
            Some(delimiter) => Layout::Delimited(delimiter),
            None => Layout::Words,
        }
    }
}

/// The fields of a line, or of a part of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Record {
    /// From 1.
    pub(super) line: u64,
    /// The column of the first field, from 0; more than that where a long line comes in parts.
    pub(super) first_column: u64,
    pub(super) bytes: Vec<u8>,
    /// Half as large as indices: a line may be nothing but delimiters.
    pub(super) ranges: Vec<Range<u32>>,
}

impl Record {
    pub(super) fn len(&self) -> usize {
        self.ranges.len()
    }

    /// A field without the blanks around it.
    pub(super) fn field(&self, at: usize) -> Option<&[u8]> {
        self.ranges.get(at).map(|range| self.cell(range))
    }

    pub(super) fn fields(&self) -> impl Iterator<Item = &[u8]> {
        self.ranges.iter().map(|range| self.cell(range))
    }

    /// Takes the fields of a row.
    fn set(&mut self, row: &csv::ByteRecord) {
        self.bytes.clear();
        self.bytes.extend_from_slice(row.as_slice());
        self.ranges.clear();
        let mut start = 0;
        self.ranges.extend(row.iter().map(|field| {
            let end = start + field.len() as u32;
            std::mem::replace(&mut start, end)..end
        }));
    }

    /// Takes the fields of a line in which quotes protect some.
    pub(super) fn split_quoted(&mut self, line: &[u8], delimiter: u8) -> Result<(), TextError> {
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(false)
            .flexible(true)
            .from_reader(line);
        let mut row = csv::ByteRecord::new();
        reader.read_byte_record(&mut row).map_err(|error| csv_error(&error, self.line))?;
        self.set(&row);
        Ok(())
    }

    fn cell(&self, range: &Range<u32>) -> &[u8] {
        self.bytes[range.start as usize..range.end as usize].trim_ascii()
    }
}

/// Lines and their fields, one after another.
pub(super) enum Records {
    /// Delimited text before its first quote behind the first row; `None` for a moment, when that is found.
    Plain(Option<Box<Plain>>),
    /// Delimited text with quotes, behind so many lines.
    Csv {
        reader: Box<csv::Reader<Bounded>>,
        row: csv::ByteRecord,
        end: Arc<End>,
        before: u64,
    },
    Words(Words),
}

impl Records {
    /// Starts to read; `whole_lines` where a line must not come in parts.
    pub(super) fn new(
        source: Box<dyn Read + Send>,
        layout: Layout,
        whole_lines: bool,
        dialect: Dialect,
    ) -> Result<Records, TextError> {
        let (start, first, source) =
            peek(LineEnds::new(source), &dialect).map_err(|error| unreadable(&error))?;
        if is_utf16(&start) {
            return Err(TextError::Utf16);
        }
        if let Some(error) = no_text(&start) {
            return Err(error);
        }
        let layout = match (dialect.delimiter, layout) {
            (Some(b' '), _) => Layout::Words,
            (Some(delimiter), _) => Layout::Delimited(delimiter),
            (None, Layout::Sniff) => Layout::sniff(&start[first], &dialect),
            (None, layout) => layout,
        };
        let Layout::Delimited(delimiter) = layout else {
            return Ok(Records::Words(Words::new(
                BufReader::with_capacity(1 << 16, source),
                whole_lines,
                dialect,
            )));
        };
        Ok(Records::Plain(Some(Box::new(Plain::new(source, delimiter, dialect.comment)))))
    }

    /// Delimited text that begins behind so many lines.
    fn quoted(source: Source, before: u64, delimiter: u8, comment: Option<u8>) -> Records {
        let end = Arc::new(End(u64::MAX.into()));
        let after = [b'\n', Bounded::after(delimiter, comment)];
        let quotes = Quotes::new(delimiter, comment);
        let bounded =
            Bounded { source, read: 0, after, end: end.clone(), quotes, is_broken: false };
        let reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(false)
            .flexible(true)
            .comment(comment)
            .buffer_capacity(1 << 16)
            .from_reader(bounded);
        Records::Csv { reader: Box::new(reader), row: csv::ByteRecord::new(), end, before }
    }

    /// Whether all lines have as many fields as the first.
    pub(super) fn is_table(&self) -> bool {
        matches!(self, Records::Plain(_) | Records::Csv { .. })
    }

    /// Reads rows that are as most are, without a look at anything else; says how many bytes it wrote.
    #[inline]
    pub(super) fn rows(&mut self, read: &mut impl Cell, picks: &Picks, piece: &mut [u8]) -> usize {
        match self {
            Records::Plain(Some(plain)) => plain.rows(read, picks, piece),
            Records::Words(words) => words.rows(read, picks, piece),
            Records::Plain(None) | Records::Csv { .. } => 0,
        }
    }

    /// Reads the next line; false at the end.
    pub(super) fn next(&mut self, record: &mut Record) -> Result<bool, TextError> {
        match self {
            Records::Words(words) => words.next(record),
            Records::Plain(plain) => {
                let found = match plain {
                    Some(plain) => plain.next(record)?,
                    None => Next::End,
                };
                if found != Next::Quote {
                    return Ok(found == Next::Row);
                }
                let plain = plain.take().expect("it has found the quote");
                let (delimiter, comment) = plain.marks();
                let (source, before) = plain.into_rest();
                *self = Records::quoted(source, before, delimiter, comment);
                self.next(record)
            }
            Records::Csv { reader, row, end, before } => {
                let line = *before + reader.position().line();
                let read = reader.read_byte_record(row);
                let after = *before + reader.position().line();
                let mut more = read.map_err(|error| csv_error(&error, after))?;
                record.line = match after - line {
                    0 | 1 => line,
                    // Rows that were passed over, and line ends within quotes.
                    _ => after.saturating_sub(1 + line_ends(row.as_slice())).max(line),
                };
                let end = end.0.load(Relaxed);
                if reader.position().byte() > end.saturating_add(1) {
                    // What follows the text is a record of its own, unless an open quote has taken it in.
                    if row.position().is_some_and(|position| position.byte() < end)
                        && row.as_slice().len() > 1
                    {
                        let before = &row.as_slice()
                            [..row.range(row.len() - 1).map_or(0, |range| range.start)];
                        // No line end has ended this row.
                        let start = after.saturating_sub(line_ends(row.as_slice()));
                        return Err(TextError::OpenQuote { line: start + line_ends(before) });
                    }
                    more = false;
                }
                record.set(row);
                Ok(more)
            }
        }
    }
}

fn line_ends(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}

/// Where the text ends, in bytes from its start, once that is known.
pub(super) struct End(AtomicU64);

/// A row that is longer than [`LINE_LIMIT`], and may have no end.
#[derive(Debug)]
struct TooLong(Open);

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes of a row have no end", self.0.bytes)
    }
}

impl std::error::Error for TooLong {}

/// A reader that refuses to feed one record for ever, so that an unclosed quote does not fill the memory, and that adds a record of its own after the
/// last one, so that a quote that is open at the end is seen. It ends in an error where text follows a closing quote.
pub(super) struct Bounded {
    source: Source,
    read: u64,
    after: [u8; 2],
    end: Arc<End>,
    quotes: Quotes,
    /// Whether the next byte follows a closing quote and must not.
    is_broken: bool,
}

impl Bounded {
    /// A byte that is a record and means nothing else.
    fn after(delimiter: u8, comment: Option<u8>) -> u8 {
        let is_free = |byte: &u8| *byte != delimiter && Some(*byte) != comment;
        [1, 2, 3].into_iter().find(is_free).unwrap_or(3)
    }
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let open = self.quotes.open();
        if open.bytes > LINE_LIMIT as u64 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, TooLong(open)));
        }
        let end = self.end.0.load(Relaxed);
        let mut n = 0;
        if end == u64::MAX && !self.is_broken {
            n = uninterrupted(&mut self.source, buffer)?;
            // What is before it is read first, so that the error names its line.
            let well_formed = self.quotes.well_formed(&buffer[..n]);
            self.is_broken = well_formed < n;
            n = well_formed;
        }
        if self.is_broken && n == 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, AfterQuote));
        }
        if n == 0 && !buffer.is_empty() {
            let end = if end == u64::MAX { self.read } else { end };
            self.end.0.store(end, Relaxed);
            let rest = &self.after[(self.read - end) as usize..];
            let n = rest.len().min(buffer.len());
            buffer[..n].copy_from_slice(&rest[..n]);
            self.read += n as u64;
            return Ok(n);
        }
        self.read += n as u64;
        Ok(n)
    }
}

/// Reads; a signal that has come meanwhile is no error.
pub(super) fn uninterrupted(source: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match source.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// `line` is where the reader stands.
fn csv_error(error: &csv::Error, line: u64) -> TextError {
    match error.kind() {
        csv::ErrorKind::Io(error) => match error.get_ref() {
            Some(inner) if inner.is::<AfterQuote>() => TextError::AfterQuote { line },
            Some(inner) => match inner.downcast_ref() {
                // Where the row began.
                Some(TooLong(open)) => TextError::TooLong {
                    line: line.saturating_sub(open.lines).max(1),
                    limit: LINE_LIMIT,
                },
                None => unreadable(error),
            },
            None => unreadable(error),
        },
        _ => TextError::Unreadable(error.to_string()),
    }
}

pub(super) fn unreadable(error: &io::Error) -> TextError {
    match Changed::of(error) {
        Some(changed) => TextError::Changed(changed.to_string()),
        None => TextError::Unreadable(system_message(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source that gives a few bytes at a time.
    struct Drops(Vec<u8>, usize, usize);

    impl Read for Drops {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let n = self.2.min(buffer.len()).min(self.0.len() - self.1);
            buffer[..n].copy_from_slice(&self.0[self.1..self.1 + n]);
            self.1 += n;
            Ok(n)
        }
    }

    type Rows = (Vec<(u64, Vec<Vec<u8>>)>, Option<String>);

    fn rows(mut records: Records) -> Rows {
        let (mut rows, mut record) = (Vec::new(), Record::default());
        loop {
            match records.next(&mut record) {
                Ok(true) => {
                    rows.push((record.line, record.fields().map(<[u8]>::to_vec).collect()));
                }
                Ok(false) => return (rows, None),
                Err(error) => return (rows, Some(error.to_string())),
            }
        }
    }

    /// Rows before the first quote are found by their line ends alone, and are those that the reader finds that knows quotes.
    #[test]
    fn plain_rows_are_those_of_the_reader_of_quotes() {
        let dialect = Dialect { comment: Some(b'#'), ..Dialect::default() };
        let mut state = 11u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        let mut quoted = 0;
        for case in 0..3000 {
            let parts: &[&str] = if case % 3 == 0 {
                &["1", ",", "\n", " ", "#", "x", "\n", "\r\n", "2.5", ","]
            } else {
                &["1", ",", "\n", " ", "#", "\"", "\n", "\"a,b\"", "2.5", "\"3\""]
            };
            let text: String = (0..next(60)).map(|_| parts[next(10) as usize]).collect();
            let piece = [1, 2, 7, 1000][next(4) as usize];
            let source =
                || -> Box<dyn Read + Send> { Box::new(Drops(text.clone().into_bytes(), 0, piece)) };
            let plain = Records::new(source(), Layout::Delimited(b','), true, dialect);
            let (_, _, whole) = peek(LineEnds::new(source()), &dialect).expect("memory is read");
            let expected = rows(Records::quoted(whole, 0, b',', Some(b'#')));
            assert_eq!(rows(plain.expect("it is no UTF-16")), expected, "{text:?} by {piece}");
            quoted += u32::from(text.contains('"'));
        }
        assert!(quoted > 1000, "{quoted}");
        // Lines longer than what is read at once, comments among them.
        let long = "7".repeat(200_000);
        let text = format!("1,{long}\n#{long}\"\n2,{long}\n\"3\",4");
        let source: Box<dyn Read + Send> = Box::new(Drops(text.into_bytes(), 0, 1 << 16));
        let (found, error) =
            rows(Records::new(source, Layout::Delimited(b','), true, dialect).expect("no UTF-16"));
        let shapes: Vec<_> = found.iter().map(|(line, fields)| (*line, fields[1].len())).collect();
        assert_eq!((shapes, error), (vec![(1, 200_000), (3, 200_000), (4, 1)], None));
    }
}
