//! What was found, for programs that read tables: a header, and a row a rung with every figure as it is.

use warpfold_lab::ladder::Ladder;

use super::columns::columns;

/// The table.
pub(super) fn csv(ladder: &Ladder) -> Vec<u8> {
    let columns: Vec<_> = columns().into_iter().filter(|column| !column.name.is_empty()).collect();
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    let names = columns.iter().map(|column| column.name);
    let mut written = writer.write_record(names);
    for row in &ladder.rungs {
        written = written.and_then(|()| writer.write_record(columns.iter().map(|c| c.exact(row))));
    }
    written.expect("a vector takes every byte, and the rows are of one length");
    writer.into_inner().expect("a vector takes every byte")
}
