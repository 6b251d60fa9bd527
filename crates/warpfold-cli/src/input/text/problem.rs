//! [`TextError`]: what can be wrong with a text, and where.

use std::fmt;

use warpfold::DType;

/// What is wrong with a text; the message follows the file's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// A field that is no number of the type.
    #[error("line {line}, column {column}: {} is no {dtype}{}", Quoted(text), hint(text, *column))]
    NotANumber {
        /// Line, from 1.
        line: u64,
        /// Column (field), from 1.
        column: u64,
        /// The field.
        text: Vec<u8>,
        /// The element type.
        dtype: DType,
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
    /// A line with another number of fields than the lines before it.
    #[error("line {line} has {found} columns, and the lines before it have {expected}")]
    Ragged {
        /// Line, from 1.
        line: u64,
        /// Its fields.
        found: u64,
        /// Fields of the lines before.
        expected: u64,
    },
    /// A line without the chosen column.
    #[error("line {line} has no column {column}: it has {found}")]
    NoField {
        /// Line, from 1.
        line: u64,
        /// The column asked for, from 1.
        column: u64,
        /// Fields found.
        found: u64,
    },
    /// No column has that name.
    #[error("no column is called {name:?}; the first line has {columns}")]
    NoColumn {
        /// The name asked for.
        name: String,
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
    #[error("line {line} is longer than {limit} bytes; a quote may not be closed")]
    TooLong {
        /// Line, from 1.
        line: u64,
        /// The most bytes kept.
        limit: usize,
    },
    /// The system would not read it.
    #[error("cannot be read: {0}")]
    Unreadable(String),
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

fn hint(text: &[u8], column: u64) -> &'static str {
    match (text.is_empty(), column) {
        (true, _) => "; fill the field, or choose another column with --column",
        (false, 1) => "; correct it, or check --dtype",
        (false, _) => "; correct it, or choose the column to read with --column",
    }
}
