//! Parquet and Arrow files: a column for each key and each result, in their own types.

use std::io;

use warpfold::Column;
use warpfold_arrow::Cell;
use warpfold_arrow::files::{Results, Written};

use super::cells::{Cells, Printed, Typed};
use super::{Labels, Table};
use crate::Failure;

/// The columns of a table. Results of columns of a file are one row, as each has a type of its own.
pub(super) fn of_table(table: &Table) -> Result<Results, Failure> {
    let mut results = Results::default();
    if let Labels::Columns(names) = &table.labels {
        for (row, name) in names.iter().enumerate() {
            for (field, cells) in &table.columns {
                let is_one = table.columns.len() == 1;
                let name = if is_one { name.clone() } else { format!("{name}_{field}") };
                add(&mut results, &name, &cells.only(row))?;
            }
        }
        return Ok(results);
    }
    match &table.labels {
        Labels::Keys(keys) => {
            for (name, (_, keys)) in table.label_names().iter().zip(keys) {
                add(&mut results, name, keys)?;
            }
        }
        _ => {
            let labels: Vec<Vec<String>> = (0..table.rows()).map(|row| table.label(row)).collect();
            for (at, name) in table.label_names().iter().enumerate() {
                let number = |label: &Vec<String>| label[at].parse::<u64>().unwrap_or_default();
                let numbers = Column::U64(labels.iter().map(number).collect());
                add(&mut results, name, &Cells::Numbers(numbers))?;
            }
        }
    }
    table.columns.iter().try_for_each(|(name, cells)| add(&mut results, name, cells))?;
    Ok(results)
}

/// One row of results, by name.
pub(crate) fn of_row<'a>(
    row: impl Iterator<Item = (&'a str, Option<Printed>)>,
) -> Result<Results, Failure> {
    let mut results = Results::default();
    for (name, cell) in row {
        add(&mut results, name, &Cells::Printed(vec![cell]))?;
    }
    Ok(results)
}

/// The bytes of a file.
pub(crate) fn bytes(results: Results, written: Written) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    results.write(written, &mut bytes).map_err(|error| refused(error.to_string()))?;
    Ok(bytes)
}

/// Writes a file.
pub(super) fn write(
    results: Results,
    written: Written,
    out: &mut (impl io::Write + Send),
) -> io::Result<()> {
    results.write(written, out)
}

fn add(results: &mut Results, name: &str, cells: &Cells) -> Result<(), Failure> {
    let has_name = |column: &&str| *column == name;
    if results.names().find(has_name).is_some() {
        return Err(refused(format!("two columns would be called {name}; ask for it once")));
    }
    let added = match cells {
        Cells::Numbers(column) => results.numbers(name, column),
        Cells::Printed(cells) => {
            let is_word = |cell: &Printed| matches!(cell.typed, Typed::Word);
            if cells.iter().flatten().any(is_word) {
                results.words(name, cells.iter().map(|cell| Some(cell.as_ref()?.text.as_str())));
                return Ok(());
            }
            let typed = |cell: &Option<Printed>| match &cell.as_ref()?.typed {
                Typed::Value(value) => Some(Cell::Value(*value)),
                Typed::Cell(cell) => Some(cell.clone()),
                Typed::Word => None,
            };
            results.cells(name, &cells.iter().map(typed).collect::<Vec<_>>())
        }
    };
    added.map_err(|why| refused(format!("{name}: {why}; write .json or .csv")))
}

fn refused(reason: String) -> Failure {
    Failure::Output { what: "the file".into(), reason }
}
