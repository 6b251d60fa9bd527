//! [`Records`]: a text taken apart into lines and fields, within bounded memory.

use std::io::{self, BufReader, Read};
use std::ops::Range;

use memchr::memchr;

use super::cells::Cell;
use super::delimited::Delimited;
use super::line_ends::LineEnds;
use super::picks::Picks;
use super::start::{is_utf16, no_text, peek};
use super::words::Words;
use super::{Dialect, TextError};
use crate::problem::{Changed, system_message};

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
    /// Whether ranges are without blanks but those within quotes.
    is_exact: bool,
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

    /// A field as it is written: blanks within quotes belong to it.
    pub(super) fn literal(&self, at: usize) -> Option<&[u8]> {
        let range = self.ranges.get(at)?;
        Some(match self.is_exact {
            true => &self.bytes[range.start as usize..range.end as usize],
            false => self.cell(range),
        })
    }

    /// Takes the fields of a row without quotes, by its delimiters' indices.
    pub(super) fn split(&mut self, row: &[u8], delimiters: impl Iterator<Item = usize>) {
        self.bytes.clear();
        self.bytes.extend_from_slice(row);
        self.ranges.clear();
        self.is_exact = false;
        let mut start = 0;
        for end in delimiters {
            self.ranges.push(start..end as u32);
            start = end as u32 + 1;
        }
        self.ranges.push(start..row.len() as u32);
    }

    /// Takes the fields of a row in which quotes protect some; false where one is not closed, or text follows it.
    pub(super) fn split_quoted(&mut self, row: &[u8], delimiter: u8) -> bool {
        self.bytes.clear();
        self.ranges.clear();
        self.is_exact = true;
        let mut rest = Some(row);
        while let Some(field) = rest {
            let start = self.bytes.len() as u32;
            let mut after = field;
            let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t') && **byte != delimiter;
            let blanks = field.iter().take_while(is_blank).count();
            let quoted = field[blanks..].strip_prefix(b"\"");
            if let Some(quoted) = quoted {
                after = quoted;
                // A quote that is doubled is one.
                loop {
                    let Some(quote) = memchr(b'"', after) else { return false };
                    let is_doubled = after.get(quote + 1) == Some(&b'"');
                    self.bytes.extend_from_slice(&after[..quote + usize::from(is_doubled)]);
                    after = &after[quote + 1 + usize::from(is_doubled)..];
                    if !is_doubled {
                        break;
                    }
                }
            }
            let length = memchr(delimiter, after);
            let (bare, more) = after.split_at(length.unwrap_or(after.len()));
            // Behind a closing quote there may be what `Quotes` lets through, and the end of the line.
            let is_quoted = quoted.is_some();
            if is_quoted && bare.iter().any(|byte| !matches!(byte, b' ' | b'\t' | b'\r')) {
                return false;
            }
            if !is_quoted {
                self.bytes.extend_from_slice(bare.trim_ascii());
            }
            self.ranges.push(start..self.bytes.len() as u32);
            rest = more.get(1..);
        }
        true
    }

    fn cell(&self, range: &Range<u32>) -> &[u8] {
        self.bytes[range.start as usize..range.end as usize].trim_ascii()
    }
}

/// Lines and their fields, one after another.
pub(super) enum Records {
    Delimited(Box<Delimited>),
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
        Ok(Records::Delimited(Box::new(Delimited::new(source, delimiter, dialect.comment))))
    }

    /// Whether all lines have as many fields as the first.
    pub(super) fn is_table(&self) -> bool {
        matches!(self, Records::Delimited(_))
    }

    /// Reads rows that are as most are, without a look at anything else; says how many bytes it wrote.
    #[inline]
    pub(super) fn rows(&mut self, read: &mut impl Cell, picks: &Picks, piece: &mut [u8]) -> usize {
        match self {
            Records::Delimited(delimited) => delimited.rows(read, picks, piece),
            Records::Words(words) => words.rows(read, picks, piece),
        }
    }

    /// Reads the next line; false at the end.
    pub(super) fn next(&mut self, record: &mut Record) -> Result<bool, TextError> {
        match self {
            Records::Words(words) => words.next(record),
            Records::Delimited(delimited) => delimited.next(record),
        }
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

    /// Well-formed rows are those that another reader finds, wherever quotes stand and in whatever pieces they come.
    #[test]
    fn rows_are_those_of_another_reader() {
        let dialect = Dialect { comment: Some(b'#'), ..Dialect::default() };
        let mut state = 11u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        let (mut whole, mut spanning, mut refused) = (0, 0, 0);
        for case in 0..7000 {
            let parts: &[&str] = match case % 3 {
                0 => &["1", ",", "\n", " ", "#", "x", "\n", "\r\n", "2.5", ","],
                1 => &["1", ",", "\n", " ", "#", "\"", "\n", "\"a,b\"", "2.5", "\"3\""],
                _ => &[
                    "1",
                    ",",
                    "\n",
                    ",\"\n\"\n",
                    "#",
                    ",",
                    "\n",
                    "\"a\"\",b\"",
                    "\n\"c\nd\"",
                    "\n\"3\",",
                ],
            };
            let text: String = (0..next(60)).map(|_| parts[next(10) as usize]).collect();
            // The other reader takes a blank before a quote for the beginning of a bare cell.
            if text.contains(" \"") {
                continue;
            }
            let piece = [1, 2, 7, 1000][next(4) as usize];
            let source: Box<dyn Read + Send> = Box::new(Drops(text.clone().into_bytes(), 0, piece));
            let found = Records::new(source, Layout::Delimited(b','), true, dialect);
            let (found, error) = rows(found.expect("it is no UTF-16"));
            // It knows no error, and so agrees with what comes before one.
            let unix = text.replace("\r\n", "\n") + "\n";
            let mut other = csv::ReaderBuilder::new();
            let other = other.has_headers(false).flexible(true).comment(Some(b'#'));
            let expected: Vec<Vec<Vec<u8>>> = other
                .from_reader(unix.as_bytes())
                .byte_records()
                .map(|row| {
                    row.expect("it takes anything")
                        .iter()
                        .map(|field| field.trim_ascii().to_vec())
                        .collect()
                })
                .collect();
            let fields: Vec<Vec<Vec<u8>>> =
                found.iter().map(|(_, fields)| fields.clone()).collect();
            match error {
                None => {
                    assert_eq!(fields, expected, "{text:?} by {piece}");
                    whole += u32::from(text.contains('"'));
                    let is_spanning =
                        |fields: &Vec<Vec<u8>>| fields.iter().any(|field| field.contains(&b'\n'));
                    spanning += u32::from(fields.iter().any(is_spanning));
                }
                Some(_) => {
                    assert_eq!(fields, expected[..fields.len()], "{text:?} by {piece}");
                    refused += 1;
                }
            }
            // Every row begins on the line that is told; of one that begins in quotes it may show blanks alone.
            for (line, fields) in &found {
                let text = unix.lines().nth(*line as usize - 1).expect("there is such a line");
                let first = String::from_utf8_lossy(&fields[0]);
                let first = first.lines().next().unwrap_or_default();
                assert!(text.starts_with('"') || text.contains(first), "{line} of {unix:?}");
            }
        }
        assert!(whole > 700 && spanning > 200 && refused > 1000, "{whole} {spanning} {refused}");
        // Lines longer than what is read at once, comments among them.
        let long = "7".repeat(200_000);
        let text = format!("1,{long}\n#{long}\"\n2,{long}\n\"3\n{long}\",4\n5,6");
        let source: Box<dyn Read + Send> = Box::new(Drops(text.into_bytes(), 0, 1 << 16));
        let (found, error) =
            rows(Records::new(source, Layout::Delimited(b','), true, dialect).expect("no UTF-16"));
        let shapes: Vec<_> = found.iter().map(|(line, fields)| (*line, fields[1].len())).collect();
        let expected = vec![(1, 200_000), (3, 200_000), (4, 1), (6, 1)];
        assert_eq!((shapes, error), (expected, None));
    }

    #[test]
    fn blanks_within_quotes_belong_to_a_cell() {
        let text = "\" a \" , \"b\"\t, c ,\t \"\"\"d\"\"\"\n a ,b,c, d \n";
        let source: Box<dyn Read + Send> = Box::new(io::Cursor::new(text));
        let mut records = Records::new(source, Layout::Delimited(b','), true, Dialect::default())
            .expect("a text");
        let mut record = Record::default();
        for (literal, fields) in [
            ([" a ", "b", "c", "\"d\""], ["a", "b", "c", "\"d\""]),
            (["a", "b", "c", "d"], ["a", "b", "c", "d"]),
        ] {
            assert_eq!(records.next(&mut record), Ok(true));
            let found: Vec<_> = (0..4).map(|at| record.literal(at).expect("a field")).collect();
            assert_eq!(found, literal.map(str::as_bytes));
            assert!(record.fields().eq(fields.map(str::as_bytes)));
        }
        assert_eq!(records.next(&mut record), Ok(false));
    }
}
