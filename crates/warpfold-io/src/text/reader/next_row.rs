//! Rows of a text: the next one, what the first one is, and which are left out.

use std::io::{self, Write};

use super::{First, TextReader};
use crate::text::column::{self, Chosen};
use crate::text::record::{Record, Records};
use crate::text::{Column, Header, LeftOut, Missing, TextError, is_missing};

impl TextReader {
    /// Moves to the next line with data and to its first field that counts.
    pub(super) fn next_line(&mut self) -> Result<bool, TextError> {
        // The first read may wait for a terminal or a pipe, so it happens here, on the read-ahead thread.
        if let Some(source) = self.source.take() {
            let whole_lines = !self.columns.is_empty() || self.dialect.missing == Missing::Skip;
            self.records = Some(Records::new(source, self.layout, whole_lines, self.dialect)?);
        }
        let Some(records) = &mut self.records else { return Ok(false) };
        if !records.next(&mut self.record)? {
            (self.record, self.due) = (Record::default(), 0..0);
            return match self.first.take() {
                Some(First::Names(line)) => Err(TextError::OnlyNames { line }),
                // Nothing at all has no column.
                _ if self.chosen.is_none() && !self.columns.is_empty() => Err(TextError::NoRow),
                _ => Ok(false),
            };
        }
        if let Some(First::Data(first)) = self.first.take() {
            column::check_second(&self.dialect, &first, &self.record)?;
        }
        let is_table = records.is_table();
        if self.chosen.is_none() && self.first_line(is_table)? {
            self.due = 0..0;
            return Ok(true);
        }
        let (line, found) = (self.record.line, self.record.len() as u64);
        let beyond = match &self.chosen {
            Some(Chosen::Indices(indices)) => indices.iter().find(|&&index| index >= found),
            _ => None,
        };
        if let Some(column) = beyond {
            let text = self.record.bytes.clone();
            return Err(TextError::NoField { line, column: column + 1, found, text });
        }
        if let Some(expected) = self.width.filter(|&expected| expected as u64 != found) {
            let last = self.record.field(self.record.len() - 1);
            let ends_empty = last.is_some_and(<[u8]>::is_empty);
            let text = self.record.bytes.clone();
            let expected = expected as u64;
            return Err(TextError::Ragged { line, found, expected, ends_empty, text });
        }
        self.due = match &self.chosen {
            Some(Chosen::Indices(indices)) => 0..indices.len(),
            _ => 0..self.record.len(),
        };
        // A long line comes in parts.
        self.found.rows += u64::from(self.record.first_column == 0);
        self.is_left_out = self.dialect.missing == Missing::Skip && self.is_to_leave_out();
        if self.is_left_out {
            self.leave_out();
        }
        Ok(true)
    }

    /// Notes that a row is left out, and passes over it unless its elements are to stay.
    fn leave_out(&mut self) {
        let elements = self.due.len() as u64;
        self.found.rows_left_out += 1;
        // Those of several columns stay where they are.
        let left_out = if self.has_several() { LeftOut::Kept } else { self.left_out };
        if left_out != LeftOut::Counted {
            self.found.gaps.push(self.at..self.at + elements);
        }
        if left_out != LeftOut::Kept {
            self.at += elements;
            self.due = 0..0;
        }
    }

    /// Finds the columns in the first line, and whether it holds names.
    fn first_line(&mut self, is_table: bool) -> Result<bool, TextError> {
        let asked = self.columns.iter().chain(&self.beside);
        asked.clone().try_for_each(|column| column::check_number(column, &self.record))?;
        let named = asked.clone().any(|column| matches!(column, Column::Name(_)));
        let index = |column: &Column| column.find(&self.record);
        let indices = self.columns.iter().map(index).collect::<Result<Vec<_>, _>>()?;
        let chosen = if indices.is_empty() { Chosen::All } else { Chosen::Indices(indices) };
        self.beside_at = self.beside.iter().map(index).collect::<Result<_, _>>()?;
        let is_header = column::is_header(&self.dialect, named, &chosen, &self.record)?;
        if self.dialect.header == Header::Auto {
            // A named column is in a row of names, whatever follows.
            self.first = match (is_header, named) {
                (true, true) => None,
                (true, false) => Some(First::Names(self.record.line)),
                (false, _) if chosen == Chosen::All => None,
                (false, _) => Some(First::Data(self.record.clone())),
            };
            if self.dialect.verbose {
                let taken = if is_header { "names" } else { "data" };
                // Where nobody can be told, the text is read as if someone had been.
                let _ = writeln!(
                    io::stderr(),
                    "header: {}: line {} is taken for {taken}",
                    self.name,
                    self.record.line
                );
            }
        }
        self.found.names = is_header.then_some(self.record.line);
        self.chosen = Some(chosen);
        // Rows of words need no width, but where a place in the row counts.
        let has_places = !self.columns.is_empty() || self.dialect.missing == Missing::Skip;
        self.width = (is_table || has_places).then_some(self.record.len());
        self.pick();
        Ok(is_header)
    }

    /// Whether a cell that counts, or the other column's, holds no number. Each of several columns has gaps of its own.
    fn is_to_leave_out(&self) -> bool {
        let lacks = |at: u64| self.record.field(at as usize).is_none_or(is_missing);
        let own = match &self.chosen {
            Some(Chosen::Indices(indices)) => {
                !self.has_several() && indices.iter().any(|&at| lacks(at))
            }
            _ => self.record.fields().any(is_missing),
        };
        own || self.beside_at.iter().any(|&at| lacks(at))
    }
}
