//! [`TextReader`]: numbers from a text, checked and rounded one after another.

use std::io::{self, Read, Write};

use warpfold_num::{DType, Element, with_element};

use super::column::{self, Chosen};
use super::dialect::is_missing;
use super::plain::Plain;
use super::record::{Record, Records};
use super::{
    Column, Dialect, Header, Layout, LeftOut, Missing, Notes, Number, NumberError, SharedNotes,
    TextError,
};
use crate::{Error, Name, Produce};

/// Parses a field and appends nothing: writes the number's native bytes.
type Parse = fn(&[u8], &mut [u8]) -> Result<(), NumberError>;

/// Reads lines that are a number each.
type Numbers = fn(&mut Plain, &mut [u8]) -> usize;

/// A first line that `--header auto` has judged.
enum First {
    /// Names.
    Names(u64),
    /// Data, with its names and numbers.
    Data(Record),
}

/// Reads numbers from a text.
pub struct TextReader {
    name: Name,
    dtype: DType,
    parse: Parse,
    numbers: Numbers,
    range: fn() -> String,
    source: Option<Box<dyn Read + Send>>,
    layout: Layout,
    records: Option<Records>,
    record: Record,
    /// The next field of the record.
    field: usize,
    column: Option<Column>,
    dialect: Dialect,
    /// Other columns of the text, whose missing cells leave rows out as well.
    beside: Vec<Column>,
    /// Their places, from 0.
    beside_at: Vec<u64>,
    /// A first line, until a second has shown what it is.
    first: Option<First>,
    /// Room for a number with a point before its fraction.
    room: Vec<u8>,
    /// What counts, once the first line has been seen.
    chosen: Option<Chosen>,
    /// Fields of the first line, where all lines must have as many.
    width: Option<usize>,
    /// The index in the data of the next element.
    at: u64,
    /// What is kept of rows that are left out.
    left_out: LeftOut,
    /// Whether this row is left out.
    is_left_out: bool,
    found: Notes,
    shared: SharedNotes,
    /// Elements that are read and not handed on, before all others.
    skip: u64,
    /// Lines before those that are read, for messages.
    lines_before: u64,
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
            numbers: with_element!(dtype, T => Plain::numbers::<T>),
            range: with_element!(dtype, T => <T as Number>::range),
            source: Some(source),
            layout,
            records: None,
            record: Record::default(),
            field: 0,
            column,
            dialect: Dialect::default(),
            beside: Vec::new(),
            beside_at: Vec::new(),
            first: None,
            room: Vec::new(),
            chosen: None,
            width: None,
            at: 0,
            left_out: LeftOut::Counted,
            is_left_out: false,
            found: Notes::default(),
            shared: SharedNotes::default(),
            skip: 0,
            lines_before: 0,
        }
    }

    /// Says how the text is written, and which other columns may leave rows out.
    #[must_use]
    pub fn dialect(self, dialect: Dialect, beside: impl IntoIterator<Item = Column>) -> TextReader {
        TextReader { dialect, beside: beside.into_iter().collect(), ..self }
    }

    /// Will keep notes for others, those of rows that are left out among them.
    #[must_use]
    pub fn notes(self, shared: SharedNotes, left_out: LeftOut) -> TextReader {
        TextReader { shared, left_out, ..self }
    }

    /// Will read a text out of whose middle so many lines were left, behind as many elements as are read and not handed on.
    #[must_use]
    pub(crate) fn behind(self, skip: u64, lines_before: u64) -> TextReader {
        TextReader { skip, lines_before, ..self }
    }

    /// What was found so far; the gaps, since they were last handed over.
    pub fn found(&self) -> &Notes {
        &self.found
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
        let parsed = match self.dialect.missing {
            _ if self.is_left_out => {
                number.fill(0);
                Ok(())
            }
            Missing::Nan if is_missing(text) => {
                self.found.nan_cells += 1;
                (self.parse)(b"nan", number)
            }
            _ => match self.dialect.with_point(text, &mut self.room) {
                Some(text) => (self.parse)(text, number),
                None => Err(NumberError::NotANumber),
            },
        };
        parsed.map_err(|error| self.explain(error, text))?;
        self.at += 1;
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
            let whole_lines = self.column.is_some() || self.dialect.missing == Missing::Skip;
            self.records = Some(Records::new(source, self.layout, whole_lines, self.dialect)?);
        }
        let Some(records) = &mut self.records else { return Ok(false) };
        if !records.next(&mut self.record)? {
            (self.record, self.field) = (Record::default(), 0);
            return match self.first.take() {
                Some(First::Names(line)) => Err(TextError::OnlyNames { line }),
                _ => Ok(false),
            };
        }
        if let Some(First::Data(first)) = self.first.take() {
            column::check_second(&self.dialect, &first, &self.record)?;
        }
        let is_table = records.is_table();
        let chosen = match self.chosen {
            Some(chosen) => chosen,
            None => {
                let (chosen, is_header) = self.first_line(is_table)?;
                if is_header {
                    self.field = self.record.len();
                    return Ok(true);
                }
                chosen
            }
        };
        let (line, found) = (self.record.line, self.record.len() as u64);
        self.field = match (chosen, self.width) {
            (Chosen::One(column), _) if column >= found => {
                return Err(TextError::NoField { line, column: column + 1, found });
            }
            (_, Some(expected)) if expected as u64 != found => {
                return Err(TextError::Ragged { line, found, expected: expected as u64 });
            }
            (Chosen::One(column), _) => column as usize,
            (Chosen::All, _) => 0,
        };
        // A long line comes in parts.
        self.found.rows += u64::from(self.record.first_column == 0);
        self.is_left_out = self.dialect.missing == Missing::Skip && self.lacks_a_number(chosen);
        if self.is_left_out {
            self.leave_out(chosen);
        }
        Ok(true)
    }

    /// Notes that a row is left out, and passes over it unless its elements are to stay.
    fn leave_out(&mut self, chosen: Chosen) {
        let elements = match chosen {
            Chosen::One(_) => 1,
            Chosen::All => self.record.len() as u64,
        };
        self.found.rows_left_out += 1;
        if self.left_out != LeftOut::Counted {
            self.found.gaps.push(self.at..self.at + elements);
        }
        if self.left_out != LeftOut::Kept {
            self.at += elements;
            self.field = self.record.len();
        }
    }

    /// Finds the columns in the first line, and whether it holds names.
    fn first_line(&mut self, is_table: bool) -> Result<(Chosen, bool), TextError> {
        let place = |column: &Column| column.find(&self.record);
        let chosen = self.column.as_ref().map(place).transpose()?.map_or(Chosen::All, Chosen::One);
        self.beside_at = self.beside.iter().map(place).collect::<Result<_, _>>()?;
        let named =
            self.column.iter().chain(&self.beside).any(|column| matches!(column, Column::Name(_)));
        let is_header = column::is_header(&self.dialect, named, chosen, &self.record)?;
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
        let has_places = self.column.is_some() || self.dialect.missing == Missing::Skip;
        self.width = (is_table || has_places).then_some(self.record.len());
        Ok((chosen, is_header))
    }

    /// Whether a cell that counts, or the other column's, holds no number.
    fn lacks_a_number(&self, chosen: Chosen) -> bool {
        let lacks = |at: u64| self.record.field(at as usize).is_none_or(is_missing);
        let own = match chosen {
            Chosen::One(at) => lacks(at),
            Chosen::All => self.record.fields().any(is_missing),
        };
        own || self.beside_at.iter().any(|&at| lacks(at))
    }

    /// Reads numbers of whole rows that are as most are: one field of a line counts, and holds a number. Says how many bytes it wrote; what comes next is for
    /// [`next_number`](Self::next_number), which knows all else and every error.
    fn quick(&mut self, piece: &mut [u8]) -> usize {
        let is_at_row = self.field >= self.record.len();
        let is_usual = self.skip == 0 && self.first.is_none() && self.dialect.decimal == b'.';
        let may_lack = self.dialect.missing == Missing::Skip && !self.beside_at.is_empty();
        let (field, fields) = match (self.chosen, self.width) {
            (Some(Chosen::One(field)), Some(fields)) => (field as usize, fields),
            (Some(Chosen::All), Some(1)) => (0, 1),
            _ => return 0,
        };
        let Some(plain) = self.records.as_mut().and_then(Records::plain) else { return 0 };
        if !is_at_row || !is_usual || may_lack {
            return 0;
        }
        let (size, mut filled) = (self.dtype.size(), 0);
        loop {
            if fields == 1 {
                filled += (self.numbers)(plain, &mut piece[filled..]);
            }
            let Some(number) = piece.get_mut(filled..filled + size) else { break };
            let Some((text, end)) = plain.cell(field, fields) else { break };
            if (self.parse)(text, number).is_err() {
                break;
            }
            plain.pass(end);
            filled += size;
        }
        let rows = (filled / self.dtype.size()) as u64;
        (self.found.rows, self.at) = (self.found.rows + rows, self.at + rows);
        filled
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
    fn fill(&mut self, piece: &mut [u8]) -> Result<usize, Error> {
        let size = self.dtype.size();
        let mut filled = 0;
        while filled < piece.len() {
            filled += self.quick(&mut piece[filled..]);
            if filled == piece.len() {
                break;
            }
            let number = &mut piece[filled..filled + size];
            let read = self
                .next_number(number)
                .map_err(|error| Error::input(&self.name, error.after(self.lines_before)))?;
            if !read {
                break;
            }
            match self.skip {
                0 => filled += size,
                _ => self.skip -= 1,
            }
        }
        self.shared.update(&mut self.found);
        Ok(filled)
    }
}

fn parse<T: Element + Number>(text: &[u8], out: &mut [u8]) -> Result<(), NumberError> {
    out.copy_from_slice(bytemuck::bytes_of(&T::parse(text)?));
    Ok(())
}
