//! `.npy`: one column as an array, several (or keys) as an array of records.

use std::io::{self, Write};

use warpfold::Column;

use super::{Cells, Labels, Table};
use crate::Failure;
use crate::format::FileFormat;
use crate::report::{npy_header, npy_type};

/// Refuses what NumPy has no type for, before the file is touched.
pub(super) fn check(format: FileFormat, table: &Table) -> Result<(), Failure> {
    if !matches!(format, FileFormat::Npy | FileFormat::Npz) {
        return Ok(());
    }
    let has_type = |cells: &Cells| cells.numbers().is_some_and(|column| npy_type(column).is_some());
    let all = columns(table);
    let Some((name, cells)) = all.iter().find(|(_, cells)| !has_type(cells)) else {
        return Ok(());
    };
    let gap = (0..cells.len()).find(|&row| cells.cell(row).is_none());
    let reason = match gap {
        Some(row) => format!(
            "{name} of {} has no value, and NumPy's arrays have no empty cell; write .json or .csv, or say --empty nan where results are floats",
            table.shown_label(row).escape_debug()
        ),
        None => format!("{name} has a type that NumPy has no numbers for; write .json or .csv"),
    };
    Err(Failure::Output { what: "the file".into(), reason })
}

/// The columns to be written: keys first, where there are any.
fn columns(table: &Table) -> Vec<(String, &Cells)> {
    let keys = match &table.labels {
        Labels::Keys(keys) => {
            let names = table.label_names().into_iter().map(|name| plain(&name));
            names.zip(keys.iter().map(|(_, keys)| keys)).collect()
        }
        _ => Vec::<(String, &Cells)>::new(),
    };
    let results = table.columns.iter().map(|(name, column)| (plain(name), column));
    let mut all: Vec<(String, &Cells)> = Vec::new();
    for (mut name, cells) in keys.into_iter().chain(results) {
        // Names that differ in such characters alone stay different.
        while all.iter().any(|(other, _)| *other == name) {
            name.push('_');
        }
        all.push((name, cells));
    }
    all
}

/// A name that is one in an archive and in a type of records, whatever a column is called.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

/// The same, which are numbers: [`check`] has refused what else there is.
pub(super) fn numbers(table: &Table) -> Vec<(String, &Column)> {
    columns(table).into_iter().filter_map(|(name, cells)| Some((name, cells.numbers()?))).collect()
}

/// Writes the array.
pub(super) fn write(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let columns = numbers(table);
    if let [(_, column)] = &columns[..] {
        return one(column, &table.shape(), out);
    }
    let types = columns
        .iter()
        .map(|(name, column)| format!("('{name}', '{}')", npy_type(column).unwrap_or("V")));
    let descr = format!("[{}]", types.collect::<Vec<_>>().join(", "));
    out.write_all(&npy_header(&descr, &table.shape()))?;
    let bytes: Vec<_> = columns.iter().map(|(_, column)| bytes(column)).collect();
    for row in 0..table.rows() {
        for bytes in &bytes {
            let size = bytes.len() / table.rows();
            out.write_all(&bytes[row * size..(row + 1) * size])?;
        }
    }
    Ok(())
}

/// Writes one column as an array of a shape.
pub(super) fn one(column: &Column, shape: &[u64], out: &mut dyn Write) -> io::Result<()> {
    let descr = format!("'{}'", npy_type(column).unwrap_or("V"));
    out.write_all(&npy_header(&descr, shape))?;
    out.write_all(bytes(column))
}

/// The values as they lie in memory, which on every machine this runs on is the order that the types name.
fn bytes(column: &Column) -> &[u8] {
    const { assert!(cfg!(target_endian = "little"), "arrays are written in this machine's order") };
    macro_rules! cast {
        ($($variant:ident),+) => {
            match column {
                $(Column::$variant(values) => bytemuck::cast_slice(values),)+
                other => unreachable!("NumPy has a type for it: {other:?}"),
            }
        };
    }
    cast!(Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64, Complex64, Complex128)
}
