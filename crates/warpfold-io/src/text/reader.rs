//! [`TextReader`]: numbers from a text, checked and rounded one after another; of several columns row after row.

mod next_row;

use std::io::Read;
use std::ops::Range;

use warpfold_num::{DType, with_element};

use super::cells::{Fit, parse, rows};
use super::column::Chosen;
use super::is_missing;
use super::picks::Picks;
use super::record::{Record, Records};
use super::vocabulary::Vocabulary;
use super::{
    Column, Dialect, Dropped, Layout, LeftOut, Missing, NoNumbers, Notes, Number, NumberError,
    RoundedAway, SharedNotes, SharedWords, TextError,
};
use crate::{Error, Name, Produce};

/// Parses a field and writes the number's native bytes.
type Parse = fn(&[u8], &mut [u8]) -> Result<Fit, NumberError>;

/// Reads rows whose cells are numbers.
type Rows = fn(&mut Records, &Picks, &mut [u8]) -> usize;

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
    rows: Rows,
    /// What gives words their numbers, where words are read.
    words: Option<Vocabulary>,
    range: fn() -> String,
    source: Option<Box<dyn Read + Send>>,
    layout: Layout,
    records: Option<Records>,
    record: Record,
    /// Elements of the record that are not read yet.
    due: Range<usize>,
    columns: Vec<Column>,
    /// What a cell of several columns does that is no number.
    no_numbers: NoNumbers,
    /// Of several columns, those that are dropped, and those that had a number.
    dropped: Vec<bool>,
    had_number: Vec<bool>,
    /// Numbers of each column, or of all cells, for which infinities and zeros stand.
    rounded_away: Vec<[RoundedAway; 2]>,
    dialect: Dialect,
    /// Other columns of the text, whose missing cells leave rows out as well.
    beside: Vec<Column>,
    /// Their places, from 0.
    beside_at: Vec<u64>,
    /// A first line, until a second has shown what it is.
    first: Option<First>,
    /// Room for a number with a point before its fraction.
    scratch: Vec<u8>,
    /// What counts, once the first line has been seen.
    chosen: Option<Chosen>,
    /// Fields of the first line, where all lines must have as many.
    width: Option<usize>,
    /// Where elements stand in rows that are as most are.
    picks: Option<Picks>,
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
    /// Will read numbers of a type from a source, of columns or, without one, of all cells.
    pub fn new(
        name: Name,
        source: Box<dyn Read + Send>,
        layout: Layout,
        columns: impl IntoIterator<Item = Column>,
        dtype: DType,
    ) -> TextReader {
        let columns: Vec<Column> = columns.into_iter().collect();
        TextReader {
            name,
            dtype,
            parse: with_element!(dtype, T => parse::<T>),
            rows: with_element!(dtype, T => rows::<T>),
            words: None,
            range: with_element!(dtype, T => <T as Number>::range),
            source: Some(source),
            layout,
            records: None,
            record: Record::default(),
            due: 0..0,
            no_numbers: NoNumbers::Fail,
            dropped: vec![false; columns.len()],
            had_number: vec![false; columns.len()],
            rounded_away: vec![Default::default(); columns.len().max(1)],
            columns,
            dialect: Dialect::default(),
            beside: Vec::new(),
            beside_at: Vec::new(),
            first: None,
            scratch: Vec::new(),
            chosen: None,
            width: None,
            picks: None,
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

    /// Will go on where a cell of several columns is no number.
    #[must_use]
    pub fn no_numbers(self, no_numbers: NoNumbers) -> TextReader {
        TextReader { no_numbers, ..self }
    }

    /// Will read words in place of numbers, for a type of `u32`.
    #[must_use]
    pub fn words(self, shared: SharedWords) -> TextReader {
        TextReader { words: Some(Vocabulary::new(shared)), ..self }
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
        let due = loop {
            match self.due.next() {
                Some(due) => break due,
                None if self.next_line()? => {}
                None => return Ok(false),
            }
        };
        let field = match &self.chosen {
            Some(Chosen::Indices(indices)) => indices[due] as usize,
            _ => due,
        };
        let text = self.record.field(field).unwrap_or_default();
        let is_gap =
            self.has_several() && self.dialect.missing == Missing::Skip && is_missing(text);
        let mut is_absent = is_gap || self.is_left_out;
        let parsed = match (&mut self.words, self.dialect.missing) {
            _ if self.is_left_out || self.dropped.get(due) == Some(&true) => {
                number.fill(0);
                Ok(Fit::Within)
            }
            _ if is_gap => {
                number.fill(0);
                self.found.gaps.push(self.at..self.at + 1);
                self.found.cells_left_out += 1;
                Ok(Fit::Within)
            }
            (Some(_), _) if is_missing(text) => Err(NumberError::NotANumber),
            (Some(words), _) => {
                match self.record.literal(field).and_then(|word| words.number(word)) {
                    Some(word) => {
                        number.copy_from_slice(&word.to_ne_bytes());
                        Ok(Fit::Within)
                    }
                    None => Err(NumberError::NotANumber),
                }
            }
            (None, Missing::Nan) if is_missing(text) => {
                self.found.nan_cells += 1;
                is_absent = true;
                (self.parse)(b"nan", number)
            }
            (None, _) => match self.dialect.with_point(text, &mut self.scratch) {
                Some(text) => (self.parse)(text, number),
                None => Err(NumberError::NotANumber),
            },
        };
        match parsed.map_err(|error| self.explain(error, field)) {
            Ok(_) if is_absent => {}
            Ok(fit) => {
                // Of a text's head, whoever reads the first part tells.
                if fit != Fit::Within && self.skip == 0 {
                    self.note_rounded(fit, due, field);
                }
                if let Some(had_number) = self.had_number.get_mut(due) {
                    *had_number = true;
                }
            }
            Err(error) => {
                let is_empty = is_missing(self.record.field(field).unwrap_or_default());
                self.drop_column(due, error, is_empty)?;
            }
        }
        self.at += 1;
        Ok(true)
    }

    /// Notes a number that its type turned into an infinity or a zero.
    fn note_rounded(&mut self, fit: Fit, due: usize, field: usize) {
        let column = self.record.first_column + field as u64 + 1;
        let (line, slot) =
            (self.record.line + self.lines_before, due.min(self.rounded_away.len() - 1));
        let is_lost = fit == Fit::Lost;
        self.rounded_away[slot][usize::from(is_lost)].note(line, column);
        if self.dropped.get(slot) != Some(&true) {
            let all = if is_lost { &mut self.found.zero } else { &mut self.found.infinite };
            all.note(line, column);
        }
    }

    /// Counts anew such numbers of the columns that are not dropped.
    fn count_rounded(&mut self) {
        let is_kept = |slot: &usize| self.dropped.get(*slot) != Some(&true);
        let kept: Vec<usize> = (0..self.rounded_away.len()).filter(is_kept).collect();
        let all = |which: usize| {
            let of_column = |slot: &usize| self.rounded_away[*slot][which];
            kept.iter().map(of_column).fold(RoundedAway::default(), RoundedAway::and)
        };
        (self.found.infinite, self.found.zero) = (all(0), all(1));
    }

    /// Whether columns are read of which each has gaps of its own, row after row.
    fn has_several(&self) -> bool {
        self.columns.len() > 1 || self.no_numbers != NoNumbers::Fail
    }

    /// Goes on without a column that holds something else than numbers, or does not: a cell that is missing does not tell what the others are.
    fn drop_column(
        &mut self,
        column: usize,
        error: TextError,
        is_empty: bool,
    ) -> Result<(), TextError> {
        let is_dropped = self.has_several()
            && matches!(error, TextError::NotANumber { .. })
            && match self.no_numbers {
                NoNumbers::Fail => false,
                NoNumbers::DropAtFirst => !is_empty && !self.had_number[column],
                NoNumbers::Drop => true,
            };
        if !is_dropped {
            return Err(error);
        }
        self.dropped[column] = true;
        let why = error.after(self.lines_before).without_advice();
        self.found.dropped.push(Dropped { column, why });
        self.count_rounded();
        self.pick();
        Ok(())
    }

    /// Finds where elements stand in rows that are as most are.
    fn pick(&mut self) {
        let all: Vec<u64>;
        // Rows of words that are no table are most likely as the first.
        let fields = self.record.len();
        let indices = match (&self.chosen, self.width) {
            (Some(Chosen::Indices(indices)), Some(_)) => indices,
            (Some(Chosen::All), width) => {
                all = (0..width.unwrap_or(fields) as u64).collect();
                &all
            }
            _ => return,
        };
        let picks = Picks::new(indices, self.width.unwrap_or(fields));
        self.picks = picks.map(|picks| picks.without(&self.dropped));
    }

    /// Reads elements of whole rows that are as most are. Says how many bytes it wrote; what comes next is for
    /// [`next_number`](Self::next_number), which knows all else and every error.
    fn quick(&mut self, piece: &mut [u8]) -> usize {
        let is_usual = self.skip == 0 && self.first.is_none() && self.dialect.decimal == b'.';
        let may_lack = self.dialect.missing == Missing::Skip && !self.beside_at.is_empty();
        let (Some(picks), Some(records)) = (&self.picks, &mut self.records) else { return 0 };
        if !self.due.is_empty() || !is_usual || may_lack {
            return 0;
        }
        let filled = match &mut self.words {
            None => (self.rows)(records, picks, piece),
            Some(words) => records.rows(words, picks, piece),
        };
        let size = self.dtype.size();
        let elements = (filled / size) as u64;
        if elements > 0 {
            self.had_number
                .iter_mut()
                .zip(&self.dropped)
                .for_each(|(had, dropped)| *had |= !dropped);
        }
        for slot in (0..self.dropped.len()).filter(|&slot| self.dropped[slot]) {
            let elements = piece[..filled].chunks_exact_mut(size).skip(slot);
            elements.step_by(picks.elements).for_each(|element| element.fill(0));
        }
        self.found.rows += elements / picks.elements as u64;
        self.at += elements;
        filled
    }

    fn explain(&self, error: NumberError, field: usize) -> TextError {
        let text = self.record.field(field).unwrap_or_default().to_vec();
        let (line, dtype) = (self.record.line, self.dtype);
        let column = self.record.first_column + field as u64 + 1;
        match error {
            NumberError::NotANumber if self.words.is_some() => {
                TextError::NoWord { line, column, text }
            }
            NumberError::NotANumber => {
                let columns = self.record.first_column + self.record.len() as u64;
                TextError::NotANumber { line, column, text, columns, dtype }
            }
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
        self.words.iter_mut().for_each(Vocabulary::share);
        self.shared.update(&mut self.found);
        Ok(filled)
    }
}
