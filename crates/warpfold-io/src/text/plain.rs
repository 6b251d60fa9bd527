//! [`Plain`]: rows of delimited text as long as no quote is in it, found by their line ends and delimiters alone.
//!
//! Without a quote a row is a line, so that nothing has to be known of the bytes between. The first quote ends this, and what it stands in is read again,
//! from the beginning of its line, by the reader that knows quotes.

use std::io::{self, Read};

use memchr::{memchr, memchr_iter};

use warpfold_num::Element;

use super::decimal::Decimal;
use super::record::{LINE_LIMIT, Record, Source, uninterrupted, unreadable};
use super::{Number, TextError};

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
                    if self.quote.is_some() {
                        return Ok(Next::Quote);
                    }
                    self.fill()?;
                    continue;
                }
            };
            let is_comment = self.at < line.end && Some(self.buffer[self.at]) == self.comment;
            if self.quote.is_some_and(|quote| quote < line.end) {
                if !is_comment {
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
            record.line = self.lines;
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

    /// A field of the next line, without the blanks around it, and where that line ends; `None` where it takes [`next`](Self::next) to tell: the line is not
    /// all there, is empty, a comment, or has a quote or another number of fields. The line stays the next one.
    #[inline]
    pub(super) fn cell(&self, field: usize, fields: usize) -> Option<(&[u8], usize)> {
        let end = self.at + memchr(b'\n', &self.buffer[self.at..self.end])?;
        let line = &self.buffer[self.at..end];
        if line.is_empty()
            || self.comment.is_some() && line.first().copied() == self.comment
            || self.quote.is_some_and(|quote| quote < end)
        {
            return None;
        }
        if fields == 1 {
            return memchr(self.delimiter, line).is_none().then(|| (line.trim_ascii(), end));
        }
        let (mut found, mut start, mut cell) = (0, 0, None);
        for delimiter in memchr_iter(self.delimiter, line).chain([line.len()]) {
            if found == field {
                cell = Some(&line[start..delimiter]);
            }
            (found, start) = (found + 1, delimiter + 1);
        }
        (found == fields).then(|| cell.map(|cell| (cell.trim_ascii(), end)))?
    }

    /// Reads numbers of the next lines, each of which is a decimal and nothing else; says how many bytes it wrote. What comes next is for
    /// [`next`](Self::next).
    pub(super) fn numbers<T: Number + Element>(&mut self, piece: &mut [u8]) -> usize {
        if self.delimiter.is_ascii_digit() || matches!(self.delimiter, b'-' | b'.') {
            return 0;
        }
        let all = &self.buffer[..self.end];
        let (mut at, mut filled, mut lines) = (self.at, 0, 0);
        for number in piece.chunks_exact_mut(size_of::<T>()) {
            let rest = &all[at..];
            if rest.first().copied() == self.comment {
                break;
            }
            let Some((decimal, length)) = Decimal::read(rest) else { break };
            if rest.get(length) != Some(&b'\n') {
                break;
            }
            let Some(element) = T::of_decimal(decimal) else { break };
            number.copy_from_slice(bytemuck::bytes_of(&element));
            at += length + 1;
            filled += number.len();
            lines += 1;
        }
        self.at = at;
        self.seen = self.seen.max(at);
        self.lines += lines;
        filled
    }

    /// Takes the next line, which ends there, for read.
    #[inline]
    pub(super) fn pass(&mut self, end: usize) {
        self.at = end + 1;
        self.seen = self.at;
        self.lines += 1;
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
        self.quote = memchr(b'"', &self.buffer[from..self.end]).map(|at| from + at);
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
