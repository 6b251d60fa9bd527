//! [`TextReader`]: numbers from a text, checked and rounded one after another.

use std::io::Read;

use warpfold::{DType, Element, with_element};

use super::column::{Chosen, FirstLine};
use super::record::{Record, Records};
use super::{Column, Layout, Number, NumberError, TextError};
use crate::Failure;
use crate::input::{Name, Produce};

/// Parses a field and appends nothing: writes the number's native bytes.
type Parse = fn(&[u8], &mut [u8]) -> Result<(), NumberError>;

/// Reads numbers from a text.
pub struct TextReader {
    name: Name,
    dtype: DType,
    parse: Parse,
    range: fn() -> String,
    source: Option<Box<dyn Read + Send>>,
    layout: Layout,
    records: Option<Records>,
    record: Record,
    /// The next field of the record.
    field: usize,
    column: Option<Column>,
    /// What counts, once the first line has been seen.
    chosen: Option<Chosen>,
    /// Fields of the first line, where all lines must have as many.
    width: Option<usize>,
}

impl TextReader {
    /// Will read numbers of a type from a source.
    pub fn new(
        name: Name,
        source: Box<dyn Read + Send>,
        layout: Layout,
        column: Option<Column>,
        dtype: DType,
    ) -> TextReader {
        TextReader {
            name,
            dtype,
            parse: with_element!(dtype, T => parse::<T>),
            range: with_element!(dtype, T => <T as Number>::range),
            source: Some(source),
            layout,
            records: None,
            record: Record::default(),
            field: 0,
            column,
            chosen: None,
            width: None,
        }
    }

    /// Writes the next number's native bytes; false at the end.
    ///
    /// # Errors
    /// Any [`TextError`], with line and column.
    pub fn next_number(&mut self, number: &mut [u8]) -> Result<bool, TextError> {
        while self.field >= self.record.len() {
            if !self.next_line()? {
                return Ok(false);
            }
        }
        let text = self.record.field(self.field).unwrap_or_default();
        (self.parse)(text, number).map_err(|error| self.explain(error, text))?;
        self.field = match self.chosen {
            Some(Chosen::One(_)) => self.record.len(),
            _ => self.field + 1,
        };
        Ok(true)
    }

    /// Moves to the next line with data and to its first field that counts.
    fn next_line(&mut self) -> Result<bool, TextError> {
        // The first read may wait for a terminal or a pipe, so it happens here, on the read-ahead thread.
        if let Some(source) = self.source.take() {
            self.records = Some(Records::new(source, self.layout, self.column.is_some())?);
        }
        let Some(records) = &mut self.records else { return Ok(false) };
        if !records.next(&mut self.record)? {
            (self.record, self.field) = (Record::default(), 0);
            return Ok(false);
        }
        let chosen = match self.chosen {
            Some(chosen) => chosen,
            None => {
                let first = FirstLine::read(
                    self.column.as_ref(),
                    &self.record,
                    records.headed(),
                    self.dtype,
                )?;
                self.chosen = Some(first.chosen);
                self.width = records.headed().then_some(self.record.len());
                if first.is_header {
                    self.field = self.record.len();
                    return Ok(true);
                }
                first.chosen
            }
        };
        let (line, found) = (self.record.line, self.record.len() as u64);
        match (chosen, self.width) {
            (Chosen::One(column), _) if column >= found => {
                Err(TextError::NoField { line, column: column + 1, found })
            }
            (_, Some(expected)) if expected as u64 != found => {
                Err(TextError::Ragged { line, found, expected: expected as u64 })
            }
            (Chosen::One(column), _) => {
                self.field = column as usize;
                Ok(true)
            }
            (Chosen::All, _) => {
                self.field = 0;
                Ok(true)
            }
        }
    }

    fn explain(&self, error: NumberError, text: &[u8]) -> TextError {
        let (line, text, dtype) = (self.record.line, text.to_vec(), self.dtype);
        let column = self.record.first_column + self.field as u64 + 1;
        match error {
            NumberError::NotANumber => TextError::NotANumber { line, column, text, dtype },
            NumberError::OutOfRange => {
                TextError::OutOfRange { line, column, text, dtype, range: (self.range)() }
            }
        }
    }
}

impl Produce for TextReader {
    fn fill(&mut self, piece: &mut [u8]) -> Result<usize, Failure> {
        let size = self.dtype.size();
        let mut filled = 0;
        while filled < piece.len() {
            let number = &mut piece[filled..filled + size];
            if !self.next_number(number).map_err(|error| Failure::input(&self.name, error))? {
                break;
            }
            filled += size;
        }
        Ok(filled)
    }
}

fn parse<T: Element + Number>(text: &[u8], out: &mut [u8]) -> Result<(), NumberError> {
    out.copy_from_slice(bytemuck::bytes_of(&T::parse(text)?));
    Ok(())
}
