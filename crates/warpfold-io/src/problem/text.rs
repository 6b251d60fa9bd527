//! [`TextError`]: what can be wrong with a text, and where.

use std::fmt;

use warpfold_num::DType;

use crate::number::{Number, is_missing};

/// What is wrong with a text; the message follows the file's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// A field that is no number of the type.
    #[error("{}{}", no_number(*line, *column, text, *dtype), hint(text, *columns, *dtype))]
    NotANumber {
        /// Line, from 1.
        line: u64,
        /// Column (field), from 1.
        column: u64,
        /// The field.
        text: Vec<u8>,
        /// Fields of its line.
        columns: u64,
        /// The element type.
        dtype: DType,
    },
    /// A cell that is no key.
    #[error("line {line}, column {column}: {} is no key{}", Quoted(text), word_hint(text))]
    NoWord {
        /// Line, from 1.
        line: u64,
        /// Column (field), from 1.
        column: u64,
        /// The field.
        text: Vec<u8>,
    },
    /// An integer that its type cannot hold.
    #[error(
        "line {line}, column {column}: {} does not fit in {dtype} ({range}); choose a wider --dtype",
        Quoted(text)
    )]
    OutOfRange {
        /// Line, from 1.
        line: u64,
        /// Column (field), from 1.
        column: u64,
        /// The field.
        text: Vec<u8>,
        /// The element type.
        dtype: DType,
        /// The type's range.
        range: String,
    },
    /// A first row that is neither names nor numbers.
    #[error(
        "line {line}, column {column}: {} makes this first row neither names nor numbers; {}correct it, or say --header yes if the row holds names (numbers such as years among them), --header no if it is data{}",
        Quoted(text),
        if *ends_row { LAST_CELL } else { "" },
        first_row_hint(text)
    )]
    FirstRow {
        /// Line, from 1.
        line: u64,
        /// Column (field), from 1.
        column: u64,
        /// The field.
        text: Vec<u8>,
        /// Whether it is an empty cell behind the last delimiter of the row.
        ends_row: bool,
    },
    /// A first row of names, and nothing after it.
    #[error(
        "line {line} looks like names, and no row of numbers follows; say --header yes if the text is empty but for its names"
    )]
    OnlyNames {
        /// Line, from 1.
        line: u64,
    },
    /// A quote that is open at the end of the text.
    #[error(
        "line {line}: a quote opens here and is never closed; close it, or double it (\"\") if it belongs to the text"
    )]
    OpenQuote {
        /// Line where the quote opens, from 1.
        line: u64,
    },
    /// Text that follows a closing quote.
    #[error(
        "line {line}: text follows a closing quote; put all of the cell in quotes, or none of it, and double a quote (\"\") that belongs to it"
    )]
    AfterQuote {
        /// Line of the quote, from 1.
        line: u64,
    },
    /// Two bytes a character.
    #[error(
        "is UTF-16, and text is read as UTF-8; convert it, for example with iconv -f UTF-16 -t UTF-8"
    )]
    Utf16,
    /// A line with another number of fields than the lines before it.
    #[error(
        "line {line} has {found} columns, and the lines before it have {expected}; {}{}",
        ragged_hint(*found, *expected, *ends_empty),
        if *expected == 1 { delimiter_hint(text) } else { String::new() }
    )]
    Ragged {
        /// Line, from 1.
        line: u64,
        /// Its fields.
        found: u64,
        /// Fields of the lines before.
        expected: u64,
        /// Whether nothing stands behind its last delimiter.
        ends_empty: bool,
        /// Its cells.
        text: Vec<u8>,
    },
    /// No row at all, where a column was asked for.
    #[error(
        "is empty: it has no row, and so not the column that was asked for; check what writes it"
    )]
    NoRow,
    /// A number that is no column's place, and is a column's name.
    #[error(
        "line {line} has {found} columns, and --column {name} counts them from 1; the one that is called {name} is --column {index}"
    )]
    NumberName {
        /// Line, from 1.
        line: u64,
        /// Its fields.
        found: u64,
        /// The number asked for.
        name: u64,
        /// The place of the column of that name, from 1.
        index: u64,
    },
    /// A file of another kind.
    #[error("is no text, but begins as {what} does; {remedy}")]
    NoText {
        /// What it looks like.
        what: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// A line without the chosen column.
    #[error(
        "line {line} has no column {column}: it has {found}{}",
        if *found == 1 { delimiter_hint(text) } else { String::new() }
    )]
    NoField {
        /// Line, from 1.
        line: u64,
        /// The column asked for, from 1.
        column: u64,
        /// Fields found.
        found: u64,
        /// Its cells.
        text: Vec<u8>,
    },
    /// No column has that name.
    #[error(
        "no column is called {name:?}; {}the first line has {columns}{}",
        near_hint(name, near.as_deref()),
        delimiter_hint(columns.as_bytes())
    )]
    NoColumn {
        /// The name asked for.
        name: String,
        /// The name that it was most likely meant for.
        near: Option<String>,
        /// The first line's fields.
        columns: String,
    },
    /// Two columns have that name.
    #[error(
        "two columns are called {name:?}; choose one by its number, --column {first} or --column {second}"
    )]
    TwoColumns {
        /// The name asked for.
        name: String,
        /// The first column with that name, from 1.
        first: u64,
        /// The second.
        second: u64,
    },
    /// A line (or quoted field) longer than the program keeps in memory.
    #[error(
        "line {line} is longer than {limit} bytes; break it into rows, or close its quote if one is open"
    )]
    TooLong {
        /// Line, from 1.
        line: u64,
        /// The most bytes kept.
        limit: usize,
    },
    /// The file is not what it was.
    #[error(
        "changed while it was read ({0}); there is no result; run again when nothing writes to it"
    )]
    Changed(String),
    /// The system would not read it.
    #[error("cannot be read: {0}")]
    Unreadable(String),
}

impl TextError {
    /// The same in a text with more lines before it: what a row of data can be, whose lines were counted from some later one.
    #[must_use]
    pub(crate) fn after(mut self, lines: u64) -> TextError {
        if let TextError::NotANumber { line, .. }
        | TextError::NoWord { line, .. }
        | TextError::OutOfRange { line, .. }
        | TextError::Ragged { line, .. }
        | TextError::NoField { line, .. }
        | TextError::TooLong { line, .. } = &mut self
        {
            *line += lines;
        }
        self
    }

    /// What is wrong, without the advice to who asked for the column.
    pub(crate) fn without_advice(&self) -> String {
        match self {
            TextError::NotANumber { line, column, text, columns, dtype } => {
                let hint = if *columns == 1 { delimiter_hint(text) } else { String::new() };
                no_number(*line, *column, text, *dtype) + &hint
            }
            other => other.to_string(),
        }
    }
}

fn no_number(line: u64, column: u64, text: &[u8], dtype: DType) -> String {
    format!("line {line}, column {column}: {} is no {dtype}", Quoted(text))
}

/// Bytes shown as text, shortened.
struct Quoted<'a>(&'a [u8]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LONGEST: usize = 60;
        let text = String::from_utf8_lossy(self.0);
        match text.char_indices().nth(LONGEST) {
            None => write!(f, "{text:?}"),
            Some((end, _)) => write!(f, "{:?}…", &text[..end]),
        }
    }
}

/// Advice where one field holds what separates the fields of other files.
pub fn delimiter_hint(field: &[u8]) -> String {
    if String::from_utf8_lossy(field).contains(char::REPLACEMENT_CHARACTER) {
        return format!("; some of it is not UTF-8: {NOT_UTF8}");
    }
    // Names are shown escaped.
    let has_tab = field.contains(&b'\t') || field.windows(2).any(|pair| pair == b"\\t");
    let found = [(field.contains(&b';'), "';'"), (has_tab, "tab"), (field.contains(&b'|'), "'|'")];
    let of = found.into_iter().find(|(is_there, _)| *is_there);
    of.map_or(String::new(), |(_, name)| {
        format!("; if {name} separates the fields, say --delimiter {name}")
    })
}

/// What to say of a name that is none, but for the nearest that there is.
pub fn near_hint(name: &str, near: Option<&str>) -> String {
    match near {
        _ if name == "0" => "columns are counted from 1; ".into(),
        None if name.contains(',') => {
            let each = name.split(',').map(|name| format!("--column {}", name.trim()));
            format!(
                "for several columns say {}; ",
                each.collect::<Vec<_>>().join(" ").escape_debug()
            )
        }
        None => String::new(),
        Some(near) => format!("did you mean {near:?}? "),
    }
}

/// What to do about an empty last cell.
const LAST_CELL: &str = "a delimiter ends the row: take it off each line, or choose columns by their names with --column; or ";

/// What to do where a line has other columns than those before.
fn ragged_hint(found: u64, expected: u64, ends_empty: bool) -> &'static str {
    match found > expected {
        true if ends_empty && found == expected + 1 => {
            "a delimiter ends it: take it off, or end the lines before in one too"
        }
        true => {
            "put cells that hold the delimiter in quotes, or take the cells away that are too many"
        }
        false => {
            "fill the cells that are missing, each behind its delimiter (--missing says what an empty one does), or take the line out"
        }
    }
}

const NOT_UTF8: &str = "convert the file to UTF-8, for example with iconv -f LATIN1 -t UTF-8";

fn word_hint(text: &[u8]) -> &'static str {
    let is_number =
        text.iter().any(u8::is_ascii_digit) && (f64::parse(text).is_ok() || is_with_comma(text));
    match std::str::from_utf8(text) {
        _ if is_missing(text) => "; fill the field, or say --missing skip",
        Err(_) => {
            ", as it is not UTF-8; convert the file, for example with iconv -f LATIN1 -t UTF-8"
        }
        Ok(_) if is_number => {
            ", as keys are integers or words; choose another column of keys, or write these as integers"
        }
        Ok(_) => {
            ", as words are keys in a file, which is read twice, and this is a pipe; save it to a file"
        }
    }
}

fn first_row_hint(text: &[u8]) -> String {
    match text {
        _ if std::str::from_utf8(text).is_err() => format!("; it is not UTF-8: {NOT_UTF8}"),
        _ if text.starts_with(b"#") => ", --comment '#' if such rows are comments".into(),
        _ if is_missing(text) => {
            ", and fill the field or say --missing nan or --missing skip if there is no number"
                .into()
        }
        _ => delimiter_hint(text),
    }
}

fn hint(text: &[u8], columns: u64, dtype: DType) -> String {
    let has_nan = dtype.is_float() || dtype.is_complex();
    let separates = if columns == 1 { delimiter_hint(text) } else { String::new() };
    let advice = match (is_missing(text), columns) {
        _ if std::str::from_utf8(text).is_err() => {
            "; correct it, or choose the column to read with --column; it is not UTF-8: convert the file, for example with iconv -f LATIN1 -t UTF-8"
        }
        _ if text.starts_with(b"#") => {
            "; correct it, or say --comment '#' if such rows are comments"
        }
        (true, _) if !has_nan => {
            "; fill the field, choose another column with --column, or say --missing skip"
        }
        (true, _) => {
            "; fill the field, choose another column with --column, or say --missing nan or --missing skip"
        }
        (false, _) if has_nan && is_with_comma(text) => {
            "; correct it, or say --decimal , if a comma stands before fractions"
        }
        (false, 1) => "; correct it, or check --dtype",
        (false, _) => "; correct it, or choose the column to read with --column",
    };
    format!("{advice}{separates}")
}

/// Whether it is a number that has a comma for a point.
fn is_with_comma(text: &[u8]) -> bool {
    let point = |&byte: &u8| if byte == b',' { b'.' } else { byte };
    text.contains(&b',') && f64::parse(&text.iter().map(point).collect::<Vec<u8>>()).is_ok()
}
