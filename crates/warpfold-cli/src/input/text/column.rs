//! [`Column`]: which fields of a line count.

use std::convert::Infallible;
use std::str::FromStr;

use warpfold::{Complex, DType};

use super::record::Record;
use super::{Number, TextError};

/// The column that a user chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Column {
    /// By its place, from 1.
    Index(u64),
    /// By its name in the first line.
    Name(String),
}

impl FromStr for Column {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Column, Infallible> {
        Ok(match text.parse() {
            Ok(index) if index > 0 => Column::Index(index),
            _ => Column::Name(text.to_string()),
        })
    }
}

/// The fields that count, once the first line has been seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chosen {
    All,
    /// From 0.
    One(u64),
}

/// What the first line means.
pub(super) struct FirstLine {
    pub(super) chosen: Chosen,
    pub(super) is_header: bool,
}

impl FirstLine {
    /// `headed`: whether the layout has a header where nothing in the first line is a number.
    /// A header that looks like numbers of a type would be taken for data, so the type decides what a number is.
    pub(super) fn read(
        column: Option<&Column>,
        record: &Record,
        headed: bool,
        dtype: DType,
    ) -> Result<FirstLine, TextError> {
        let is_a_number = |field: &[u8]| is_a_number(field, dtype);
        match column {
            None => {
                let is_header = headed && !record.fields().any(&is_a_number);
                Ok(FirstLine { chosen: Chosen::All, is_header })
            }
            Some(Column::Index(index)) => {
                let field = record.fields().nth((index - 1) as usize);
                let is_header = field.is_some_and(|field| !is_a_number(field));
                Ok(FirstLine { chosen: Chosen::One(index - 1), is_header })
            }
            Some(Column::Name(name)) => {
                let at = |from| {
                    let mut fields = record.fields().enumerate().skip(from);
                    fields.find(|(_, field)| *field == name.as_bytes()).map(|(at, _)| at)
                };
                let Some(first) = at(0) else {
                    let columns = names(record);
                    return Err(TextError::NoColumn { name: name.clone(), columns });
                };
                if let Some(second) = at(first + 1) {
                    let (first, second) = (first as u64 + 1, second as u64 + 1);
                    return Err(TextError::TwoColumns { name: name.clone(), first, second });
                }
                Ok(FirstLine { chosen: Chosen::One(first as u64), is_header: true })
            }
        }
    }
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

/// Whether a field is meant as data: a number, a bool, or what begins as a number does, so that a wrong number in the first line is told and not
/// lost; the columns `i` and `j` are none.
fn is_a_number(field: &[u8], dtype: DType) -> bool {
    let digits = field.strip_prefix(b"-").or(field.strip_prefix(b"+")).unwrap_or(field);
    let digits = digits.strip_prefix(b".").unwrap_or(digits);
    if digits.first().is_some_and(u8::is_ascii_digit) {
        return true;
    }
    let is_complex =
        || dtype.is_complex() && Complex::<f64>::parse(field).is_ok() && field.len() > 1;
    f64::parse(field).is_ok() || bool::parse(field).is_ok() || is_complex()
}
