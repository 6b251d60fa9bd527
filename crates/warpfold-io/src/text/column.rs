//! [`Column`]: which fields of a line count, and what the first line means.

use std::str::FromStr;

use super::TextError;
use super::dialect::{Cell, Dialect, Header};
use super::record::Record;
use crate::near;

/// The column that a user chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Column {
    /// By its place, from 1.
    Index(u64),
    /// By its name in the first line.
    Name(String),
}

impl FromStr for Column {
    type Err = String;

    fn from_str(text: &str) -> Result<Column, String> {
        // As expressions have names that are no words.
        if let Some(name) = text.strip_prefix("(\"").and_then(|text| text.strip_suffix("\")")) {
            return Ok(Column::Name(name.to_string()));
        }
        match text.parse::<i64>() {
            Ok(index) if index > 0 => Ok(Column::Index(index as u64)),
            Ok(index) if index < 0 => {
                Err("columns are counted from 1, the first; give a number from 1, or a name".into())
            }
            _ => Ok(Column::Name(text.to_string())),
        }
    }
}

impl Column {
    /// Its place in the first line, from 0.
    pub(super) fn find(&self, record: &Record) -> Result<u64, TextError> {
        let name = match self {
            Column::Index(index) => return Ok(index - 1),
            Column::Name(name) => name,
        };
        let at = |from| {
            let mut fields = record.fields().enumerate().skip(from);
            fields.find(|(_, field)| *field == name.as_bytes()).map(|(at, _)| at)
        };
        let Some(first) = at(0) else {
            let columns = names(record);
            let names = record.fields().filter_map(|field| std::str::from_utf8(field).ok());
            let near = near(name, names).map(str::to_string);
            return Err(TextError::NoColumn { name: name.clone(), near, columns });
        };
        match at(first + 1) {
            None => Ok(first as u64),
            Some(second) => {
                let (first, second) = (first as u64 + 1, second as u64 + 1);
                Err(TextError::TwoColumns { name: name.clone(), first, second })
            }
        }
    }
}

/// Fails where a number is asked for that is a column's name and no column's place, such as a year.
pub(super) fn check_number(column: &Column, record: &Record) -> Result<(), TextError> {
    let (Column::Index(name), found) = (column, record.len() as u64) else { return Ok(()) };
    // Nearly every number is one of a place, and there may be many columns.
    if *name <= found {
        return Ok(());
    }
    let text = name.to_string();
    match record.fields().position(|field| field == text.as_bytes()) {
        Some(at) => {
            let index = at as u64 + 1;
            Err(TextError::NumberName { line: record.line, found, name: *name, index })
        }
        None => Ok(()),
    }
}

/// The fields that count, once the first line has been seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Chosen {
    All,
    /// From 0, in the order asked for.
    Indices(Vec<u64>),
}

/// Whether the first line holds names. The element type has no say in it.
pub(super) fn is_header(
    dialect: &Dialect,
    named: bool,
    chosen: &Chosen,
    record: &Record,
) -> Result<bool, TextError> {
    match dialect.header {
        Header::Yes => return Ok(true),
        Header::No => return Ok(false),
        Header::Auto if named => return Ok(true),
        Header::Auto => {}
    }
    let cells: Vec<Cell> = cells(dialect, record).collect();
    let is_data = match chosen {
        Chosen::All => cells.iter().all(|&cell| cell == Cell::Number),
        // A line without the column is an error of its own.
        Chosen::Indices(indices) => {
            let is_number =
                |&at: &u64| cells.get(at as usize).is_none_or(|&cell| cell == Cell::Number);
            indices.iter().all(is_number)
        }
    };
    if is_data || cells.iter().all(|&cell| cell == Cell::Name) {
        return Ok(!is_data);
    }
    let unclear = cells.iter().position(|&cell| cell == Cell::Unclear);
    let at = unclear.or(cells.iter().position(|&cell| cell == Cell::Name)).unwrap_or(0);
    Err(first_row(record, at))
}

/// What the cells of the first line are. An empty first one is unclear whatever `--missing` says: tables with numbered rows begin so.
fn cells(dialect: &Dialect, record: &Record) -> impl Iterator<Item = Cell> {
    let is_alone = record.len() == 1 || record.first_column > 0;
    record.fields().enumerate().map(move |(at, field)| match dialect.cell(field) {
        _ if at == 0 && !is_alone && field.is_empty() => Cell::Unclear,
        cell => cell,
    })
}

/// Fails where the first line was taken for data, and one of its cells that are no numbers stands above one: `id,2020` above `7,1`.
pub(super) fn check_second(
    dialect: &Dialect,
    first: &Record,
    second: &Record,
) -> Result<(), TextError> {
    let mut pairs = cells(dialect, first).zip(second.fields());
    let is_above_number = |(above, below): (Cell, &[u8])| {
        above != Cell::Number && dialect.cell(below) == Cell::Number
    };
    match pairs.position(is_above_number) {
        Some(at) => Err(first_row(first, at)),
        None => Ok(()),
    }
}

fn first_row(record: &Record, at: usize) -> TextError {
    let column = record.first_column + at as u64 + 1;
    let text = record.field(at).unwrap_or_default().to_vec();
    let ends_row = text.is_empty() && at > 0 && at + 1 == record.len();
    TextError::FirstRow { line: record.line, column, text, ends_row }
}

/// The first fields, for a message.
fn names(record: &Record) -> String {
    const SHOWN: usize = 12;
    let shown = record
        .fields()
        .take(SHOWN)
        .map(|field| String::from_utf8_lossy(field).escape_debug().to_string());
    let mut names = shown.collect::<Vec<_>>().join(", ");
    if record.fields().count() > SHOWN {
        names.push_str(", …");
    }
    names
}
