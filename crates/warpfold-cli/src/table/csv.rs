//! CSV: a header and a row for each result; complex numbers in two columns, `_re` and `_im`.

use std::io::{self, Write};

use super::Table;
use crate::report::{is_complex, pair};

/// Writes the labels' columns and those of the results.
pub(super) fn write(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    records(table, out).map_err(|error| match error.into_kind() {
        // The system's own error, by which a reader that has left is told from a full disk.
        ::csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    })
}

fn records(table: &Table, out: &mut dyn Write) -> ::csv::Result<()> {
    let mut writer = ::csv::Writer::from_writer(out);
    let mut names = table.label_names();
    for (name, column) in &table.columns {
        match column.numbers().is_some_and(is_complex) {
            true => names.extend([format!("{name}_re"), format!("{name}_im")]),
            false => names.push(name.clone()),
        }
    }
    writer.write_record(&names)?;
    for row in 0..table.rows() {
        let mut fields = table.label(row);
        for (_, column) in &table.columns {
            match column.numbers().and_then(|numbers| pair(numbers.get(row))) {
                Some(parts) => fields.extend(parts),
                None => fields.push(column.text(row)),
            }
        }
        writer.write_record(&fields)?;
    }
    Ok(writer.flush()?)
}
