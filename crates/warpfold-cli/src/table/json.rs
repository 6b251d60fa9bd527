//! JSON: one object on one line, a list for each column, in C order beside the shape.

use std::io::{self, Write};

use super::{Labels, Table, Titles, between};
use crate::left_out::as_json;
use crate::report::token;

/// Writes the object.
pub(super) fn write(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    write!(
        out,
        r#"{{"reduction":"{}","dtype":{},"n":{},"shape":{:?}"#,
        table.op,
        quoted(&table.dtype),
        token(table.n.into()),
        table.shape()
    )?;
    match &table.labels {
        Labels::Keys(keys) if keys.len() > 1 || table.titles == Titles::Columns => {
            out.write_all(br#","keys":{"#)?;
            for (k, (name, (_, keys))) in table.label_names().iter().zip(keys).enumerate() {
                between(out, k, ",")?;
                named_list(out, &quoted(name), keys.len(), |row| keys.token(row))?;
            }
            out.write_all(b"}")?;
        }
        Labels::Keys(keys) => {
            keys.iter()
                .try_for_each(|(name, keys)| list(out, name, keys.len(), |row| keys.token(row)))?;
        }
        _ => {}
    }
    if let Labels::Columns(names) = &table.labels {
        list(out, "column", names.len(), |row| quoted(&names[row]))?;
    }
    match table.titles {
        Titles::Results => table.columns.iter().try_for_each(|(name, column)| {
            list(out, name, column.len(), |row| column.token(row))
        })?,
        // Names of a file, which are not to be mistaken for those above and below.
        Titles::Columns => {
            out.write_all(br#","columns":{"#)?;
            for (k, (name, column)) in table.columns.iter().enumerate() {
                between(out, k, ",")?;
                named_list(out, &quoted(name), column.len(), |row| column.token(row))?;
            }
            out.write_all(b"}")?;
        }
    }
    let types = table.columns.iter().filter(|(_, column)| !column.is_empty());
    write!(out, r#","result_dtype":{{"#)?;
    for (k, (name, column)) in types.enumerate() {
        between(out, k, ",")?;
        write!(out, "{}:{}", quoted(name), column.types())?;
    }
    let accuracy = match table.accuracy {
        warpfold::Accuracy::Exact => "exact",
        warpfold::Accuracy::Fast => "fast",
    };
    write!(
        out,
        r#"}},"accuracy":"{accuracy}","device":"{}","seconds":{},"fold_seconds":{}"#,
        table.device, table.seconds, table.fold_seconds
    )?;
    if !table.texts.is_empty() {
        write!(out, r#","text":{}"#, as_json(&table.texts))?;
    }
    writeln!(out, "}}")
}

/// A text as JSON has it.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn list(
    out: &mut dyn Write,
    name: &str,
    rows: usize,
    each: impl Fn(usize) -> String,
) -> io::Result<()> {
    out.write_all(b",")?;
    named_list(out, &quoted(name), rows, each)
}

fn named_list(
    out: &mut dyn Write,
    name: &str,
    rows: usize,
    each: impl Fn(usize) -> String,
) -> io::Result<()> {
    write!(out, r#"{name}:["#)?;
    for row in 0..rows {
        between(out, row, ",")?;
        out.write_all(each(row).as_bytes())?;
    }
    out.write_all(b"]")
}
