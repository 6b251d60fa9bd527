//! [`Delimited`]: rows of delimited text, found by their line ends; a row with a quote ends where a line end stands outside of quotes.

use memchr::{memchr, memchr_iter};

use super::TextError;
use super::cells::Cell;
use super::lines_at_hand::Lines;
use super::picks::Picks;
use super::quotes::Quotes;
use super::record::{LINE_LIMIT, Record, uninterrupted, unreadable};
use super::start::Source;

/// Bytes that are read at once; longer rows have longer buffers.
const PIECE: usize = 1 << 16;

pub(super) struct Delimited {
    source: Source,
    delimiter: u8,
    comment: Option<u8>,
    buffer: Vec<u8>,
    /// Where the next row begins.
    at: usize,
    /// Up to where no line end was found in it.
    seen: usize,
    /// Up to where the buffer is filled.
    end: usize,
    /// The first quote in it.
    quote: Option<usize>,
    /// What has been seen of the row, as far as its lines ended within quotes.
    quotes: Quotes,
    /// Up to where that is.
    checked: usize,
    /// Whether the line is a comment whose beginning is gone.
    is_in_comment: bool,
    /// Whether there is nothing more to read.
    is_over: bool,
    /// Lines before the next row.
    lines: u64,
}

impl Delimited {
    pub(super) fn new(source: Source, delimiter: u8, comment: Option<u8>) -> Delimited {
        Delimited {
            source,
            delimiter,
            comment,
            buffer: vec![0; PIECE],
            at: 0,
            seen: 0,
            end: 0,
            quote: None,
            quotes: Quotes::new(delimiter),
            checked: 0,
            is_in_comment: false,
            is_over: false,
            lines: 0,
        }
    }

    /// Reads the next row that is neither empty nor a comment; false at the end.
    pub(super) fn next(&mut self, record: &mut Record) -> Result<bool, TextError> {
        loop {
            let end = match memchr(b'\n', &self.buffer[self.seen..self.end]) {
                Some(length) => self.seen + length,
                None if self.is_over && self.at == self.end => return Ok(false),
                None if self.is_over => self.end,
                None => {
                    self.seen = self.end;
                    self.fill()?;
                    continue;
                }
            };
            let is_first_line = self.checked <= self.at;
            let is_comment =
                is_first_line && self.at < end && Some(self.buffer[self.at]) == self.comment;
            let has_quote = self.quote.is_some_and(|quote| quote < end);
            let row = self.at..end;
            let mut split = |row: &[u8]| record.split_quoted(row, self.delimiter);
            // Most rows are a line.
            let is_split =
                has_quote && !is_comment && is_first_line && split(&self.buffer[row.clone()]);
            if has_quote && !is_comment && !is_split && !self.ends_row(end)? {
                continue;
            }
            record.line = self.lines + 1;
            self.lines += 1 + self.quotes.lines();
            (self.at, self.quotes) = ((end + 1).min(self.end), Quotes::new(self.delimiter));
            (self.seen, self.checked) = (self.at, self.at);
            if has_quote {
                self.quote = memchr(b'"', &self.buffer[self.at..self.end]).map(|at| self.at + at);
            }
            if row.is_empty() || is_comment {
                continue;
            }
            let row = &self.buffer[row];
            match (has_quote, is_split) {
                (false, _) => record.split(row, memchr_iter(self.delimiter, row)),
                (true, true) => {}
                (true, false) => drop(record.split_quoted(row, self.delimiter)),
            }
            return Ok(true);
        }
    }

    /// Whether the row ends where a line does, and not within quotes.
    fn ends_row(&mut self, end: usize) -> Result<bool, TextError> {
        let from = self.checked.max(self.at);
        let is_well_formed = self.quotes.well_formed(&self.buffer[from..end]) == end - from;
        let line = self.lines + 1;
        if !is_well_formed {
            return Err(TextError::AfterQuote { line: line + self.quotes.lines() });
        }
        if self.quotes.ends_row() {
            return Ok(true);
        }
        if end == self.end {
            return Err(TextError::OpenQuote { line: line + self.quotes.opened() });
        }
        self.quotes.well_formed(b"\n");
        (self.checked, self.seen) = (end + 1, end + 1);
        Ok(false)
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
        self.checked = self.at;
        self.lines += found.rows as u64;
        found.rows * read.size() * picks.elements
    }

    /// Reads more behind what has no line end yet.
    fn fill(&mut self) -> Result<(), TextError> {
        let is_first_line = self.checked <= self.at;
        let is_comment =
            is_first_line && self.at < self.end && Some(self.buffer[self.at]) == self.comment;
        if is_comment && self.end - self.at >= PIECE / 2 {
            // However long it is, nothing of it is wanted.
            (self.is_in_comment, self.at) = (true, self.end);
        }
        if self.end - self.at > LINE_LIMIT {
            return Err(TextError::TooLong { line: self.lines + 1, limit: LINE_LIMIT });
        }
        // One in a comment whose beginning is gone is none.
        let quote = self.quote.and_then(|quote| quote.checked_sub(self.at));
        self.checked = self.checked.saturating_sub(self.at);
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
            (self.seen, self.checked) = (self.at, self.at);
        }
        let from = new.max(self.at);
        let found = || memchr(b'"', &self.buffer[from..self.end]).map(|at| from + at);
        self.quote = quote.or_else(found);
        Ok(())
    }
}
