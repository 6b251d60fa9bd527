//! [`Plain`]: rows of delimited text as long as no quote is in it, found by their line ends and delimiters alone.
//!
//! Without a quote a row is a line, so that nothing has to be known of the bytes between. The first quote ends this, and what it stands in is read again,
//! from the beginning of its line, by the reader that knows quotes; but that of a first row, as names of columns are often quoted where no number is.

use std::io::{self, Read};

use memchr::{memchr, memchr_iter};

use super::TextError;
use super::cells::Cell;
use super::lines_at_hand::Lines;
use super::picks::Picks;
use super::quotes::Quotes;
use super::record::{LINE_LIMIT, Record, uninterrupted, unreadable};
use super::start::Source;

/// Bytes that are read at once; longer lines have longer buffers.
const PIECE: usize = 1 << 16;

pub(super) struct Plain {
    source: Source,
    delimiter: u8,
    comment: Option<u8>,
    buffer: Vec<u8>,
    /// Where the next line begins.
    at: usize,
    /// Up to where no line end was found in it.
    seen: usize,
    /// Up to where the buffer is filled.
    end: usize,
    /// The first quote in it.
    quote: Option<usize>,
    /// Whether no row has been read yet.
    is_first: bool,
    /// Whether the line is a comment whose beginning is gone.
    is_in_comment: bool,
    /// Whether there is nothing more to read.
    is_over: bool,
    /// Lines before the next one.
    lines: u64,
}

/// What comes next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    Row,
    /// A line with a quote.
    Quote,
    End,
}

impl Plain {
    pub(super) fn new(source: Source, delimiter: u8, comment: Option<u8>) -> Plain {
        Plain {
            source,
            delimiter,
            comment,
            buffer: vec![0; PIECE],
            at: 0,
            seen: 0,
            end: 0,
            quote: None,
            is_first: true,
            is_in_comment: false,
            is_over: false,
            lines: 0,
        }
    }

    /// Reads the next row that is neither empty nor a comment.
    pub(super) fn next(&mut self, record: &mut Record) -> Result<Next, TextError> {
        loop {
            let line = match memchr(b'\n', &self.buffer[self.seen..self.end]) {
                Some(length) => self.at..self.seen + length,
                None if self.is_over && self.at == self.end => return Ok(Next::End),
                None if self.is_over => self.at..self.end,
                None => {
                    self.seen = self.end;
                    if self.quote.is_some() && !self.is_first {
                        return Ok(Next::Quote);
                    }
                    self.fill()?;
                    continue;
                }
            };
            let is_comment = self.at < line.end && Some(self.buffer[self.at]) == self.comment;
            let has_quote = self.quote.is_some_and(|quote| quote < line.end);
            if has_quote {
                let is_row = self.is_first && self.is_whole(&self.buffer[line.clone()]);
                if !is_comment && !is_row {
                    return Ok(Next::Quote);
                }
                let rest = &self.buffer[line.end..self.end];
                self.quote = memchr(b'"', rest).map(|at| line.end + at);
            }
            self.at = (line.end + 1).min(self.end);
            self.seen = self.at;
            self.lines += 1;
            let line = &self.buffer[line];
            if line.is_empty() || is_comment {
                continue;
            }
            self.is_first = false;
            record.line = self.lines;
            if has_quote {
                record.split_quoted(line, self.delimiter)?;
                return Ok(Next::Row);
            }
            record.bytes.clear();
            record.bytes.extend_from_slice(line);
            record.ranges.clear();
            let mut start = 0;
            for end in memchr_iter(self.delimiter, line) {
                record.ranges.push(start..end as u32);
                start = end as u32 + 1;
            }
            record.ranges.push(start..line.len() as u32);
            return Ok(Next::Row);
        }
    }

    /// Whether a line with quotes is a row by itself, and a well-formed one.
    fn is_whole(&self, line: &[u8]) -> bool {
        let mut quotes = Quotes::new(self.delimiter, self.comment);
        quotes.well_formed(line) == line.len() && quotes.ends_row()
    }

    /// Reads the next rows, as long as all their cells that count are elements and there is room for whole rows; says how many bytes it wrote. What comes
    /// next is for [`next`](Self::next).
    #[inline]
    pub(super) fn rows(&mut self, read: &mut impl Cell, picks: &Picks, piece: &mut [u8]) -> usize {
        // What may be in a number separates none here.
        let is_in_numbers =
            self.delimiter.is_ascii_digit() || matches!(self.delimiter, b'-' | b'.');
        if is_in_numbers {
            return 0;
        }
        let lines = Lines {
            bytes: &self.buffer[self.at..self.end],
            delimiter: self.delimiter,
            comment: self.comment,
            // The line of a quote is not for here, wherever in it the quote stands.
            quote: self.quote.map_or(usize::MAX, |quote| quote - self.at),
        };
        let found = lines.rows(read, picks, piece);
        self.at += found.bytes;
        self.seen = self.seen.max(self.at);
        self.lines += found.rows as u64;
        found.rows * read.size() * picks.elements
    }

    /// Reads more behind what has no line end yet.
    fn fill(&mut self) -> Result<(), TextError> {
        let is_comment = self.at < self.end && Some(self.buffer[self.at]) == self.comment;
        if is_comment && self.end - self.at >= PIECE / 2 {
            // However long it is, nothing of it is wanted.
            (self.is_in_comment, self.at) = (true, self.end);
        }
        if self.end - self.at > LINE_LIMIT {
            return Err(TextError::TooLong { line: self.lines + 1, limit: LINE_LIMIT });
        }
        // One in a comment whose beginning is gone is none.
        let quote = self.quote.and_then(|quote| quote.checked_sub(self.at));
        self.buffer.copy_within(self.at..self.end, 0);
        (self.end, self.at) = (self.end - self.at, 0);
        self.seen = self.end;
        if self.buffer.len() - self.end < PIECE / 2 {
            self.buffer.resize(2 * self.buffer.len(), 0);
        }
        let n = uninterrupted(&mut self.source, &mut self.buffer[self.end..])
            .map_err(|error| unreadable(&error))?;
        let new = self.end;
        self.end += n;
        self.is_over = n == 0;
        if self.is_in_comment {
            match memchr(b'\n', &self.buffer[..self.end]) {
                Some(end) => {
                    self.at = end + 1;
                    self.lines += 1;
                    self.is_in_comment = false;
                }
                None => self.at = self.end,
            }
            self.seen = self.at;
        }
        let from = new.max(self.at);
        let found = || memchr(b'"', &self.buffer[from..self.end]).map(|at| from + at);
        self.quote = quote.or_else(found);
        Ok(())
    }

    /// What separates fields, and what begins a comment.
    pub(super) fn marks(&self) -> (u8, Option<u8>) {
        (self.delimiter, self.comment)
    }

    /// What is left from the next line on, and how many lines came before it.
    pub(super) fn into_rest(self) -> (Source, u64) {
        let (cursor, source) = self.source.into_inner();
        let mut rest = self.buffer[self.at..self.end].to_vec();
        let at = (cursor.position() as usize).min(cursor.get_ref().len());
        rest.extend_from_slice(&cursor.get_ref()[at..]);
        (io::Cursor::new(rest).chain(source), self.lines)
    }
}
