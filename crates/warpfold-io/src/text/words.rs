//! [`Words`]: numbers separated by blanks; a line may be as long as the file.

use std::io::{BufRead, BufReader, ErrorKind};

use super::cells::Cell;
use super::lines_at_hand::Lines;
use super::picks::Picks;
use super::record::{LINE_LIMIT, Record, unreadable};
use super::start::Source;
use super::{Dialect, TextError};

/// Bytes after which a long line is handed on in parts.
const PART: usize = 1 << 16;

/// A text of words.
pub(super) struct Words {
    source: BufReader<Source>,
    whole_lines: bool,
    dialect: Dialect,
    /// The line being read, from 1.
    line: u64,
    /// Words of this line already handed on.
    column: u64,
    /// Whether nothing of this line has been read.
    is_at_start: bool,
    /// Bytes of a word cut off at the end of the last part.
    carry: Vec<u8>,
}

/// What ended a stretch of bytes.
#[derive(PartialEq, Eq)]
enum Stop {
    Line,
    Part,
    Text,
}

impl Words {
    pub(super) fn new(source: BufReader<Source>, whole_lines: bool, dialect: Dialect) -> Words {
        Words {
            source,
            whole_lines,
            dialect,
            line: 1,
            column: 0,
            is_at_start: true,
            carry: Vec::new(),
        }
    }

    /// Reads the next line that has words, or a part of it; false at the end.
    pub(super) fn next(&mut self, record: &mut Record) -> Result<bool, TextError> {
        loop {
            record.bytes.clear();
            record.bytes.append(&mut self.carry);
            let stop = self.read_stretch(&mut record.bytes)?;
            let is_comment = self.is_at_start && self.dialect.is_comment(&record.bytes);
            self.is_at_start = stop == Stop::Line;
            if stop == Stop::Part {
                // The last word may go on in the next part.
                let blank = |byte: &u8| byte.is_ascii_whitespace();
                let end = record.bytes.iter().rposition(blank).map_or(0, |at| at + 1);
                self.carry = record.bytes.split_off(end);
            }
            (record.line, record.first_column) = (self.line, self.column);
            split(record);
            match stop {
                Stop::Line => (self.line, self.column) = (self.line + 1, 0),
                Stop::Part | Stop::Text => self.column += record.len() as u64,
            }
            if record.len() > 0 && !is_comment {
                return Ok(true);
            }
            if is_comment && stop == Stop::Part {
                self.skip_line()?;
            }
            if stop == Stop::Text {
                return Ok(false);
            }
        }
    }

    /// Reads the next rows as long as they have as many words as are picked, a blank between two, all of them elements; says how many bytes it wrote. What comes next is for
    /// [`next`](Self::next).
    #[inline]
    pub(super) fn rows(&mut self, read: &mut impl Cell, picks: &Picks, piece: &mut [u8]) -> usize {
        // Blanks do not tell how many words are passed over.
        let are_all = picks.rest == 0 && picks.cells.iter().all(|pick| pick.skipped == 0);
        if !are_all || !self.is_at_start || !self.carry.is_empty() {
            return 0;
        }
        let lines = Lines {
            bytes: self.source.buffer(),
            delimiter: b' ',
            comment: self.dialect.comment,
            quote: usize::MAX,
        };
        let found = lines.rows(read, picks, piece);
        self.source.consume(found.bytes);
        self.line += found.rows as u64;
        found.rows * read.size() * picks.elements
    }

    /// Appends bytes up to the end of the line, of the text, or of a part.
    fn read_stretch(&mut self, bytes: &mut Vec<u8>) -> Result<Stop, TextError> {
        let mut has_blank = bytes.iter().any(u8::is_ascii_whitespace);
        loop {
            let available = match self.source.fill_buf() {
                Ok([]) => return Ok(Stop::Text),
                Ok(available) => available,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(unreadable(&error)),
            };
            let line_end = available.iter().position(|&byte| byte == b'\n');
            let used = line_end.map_or(available.len(), |at| at + 1);
            has_blank |= available[..used].iter().any(u8::is_ascii_whitespace);
            bytes.extend_from_slice(&available[..used]);
            self.source.consume(used);
            if line_end.is_some() {
                return Ok(Stop::Line);
            }
            if bytes.len() > LINE_LIMIT {
                return Err(TextError::TooLong { line: self.line, limit: LINE_LIMIT });
            }
            if !self.whole_lines && bytes.len() >= PART && has_blank {
                return Ok(Stop::Part);
            }
        }
    }

    fn skip_line(&mut self) -> Result<(), TextError> {
        self.carry.clear();
        let skipped = self.source.skip_until(b'\n').map_err(|error| unreadable(&error));
        (self.line, self.column, self.is_at_start) = (self.line + 1, 0, true);
        skipped.map(|_| ())
    }
}

fn split(record: &mut Record) {
    record.ranges.clear();
    let mut start = 0;
    for word in record.bytes.split(u8::is_ascii_whitespace) {
        if !word.is_empty() {
            record.ranges.push(start as u32..(start + word.len()) as u32);
        }
        start += word.len() + 1;
    }
}
