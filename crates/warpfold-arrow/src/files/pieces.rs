//! [`Piece`]: what is read by itself, and which pieces a share of the rows has.

use std::ops::Range;

use super::{FileFormat, Table, parquet};
use crate::Result;

/// A row group, a record batch, or a stream.
pub(super) struct Piece<'t> {
    pub(super) table: &'t Table,
    /// Its number in the file.
    pub(super) at: usize,
    /// Its rows among those of all files.
    pub(super) rows: Range<u64>,
}

impl<'t> Piece<'t> {
    /// The footer of the Parquet file in which it lies.
    pub(super) fn footer(&self) -> &'t parquet::Footer {
        match &self.table.kind {
            FileFormat::Parquet(footer) => footer,
            FileFormat::Ipc(_) => unreachable!("row groups are Parquet's"),
        }
    }
}

/// The pieces of all files.
pub(super) fn all(files: &[Table]) -> Result<Vec<Piece<'_>>> {
    let mut pieces = Vec::new();
    let mut row = 0u64;
    for table in files {
        let rows: Vec<u64> = match &table.kind {
            FileFormat::Parquet(footer) => {
                (0..footer.groups()).map(|group| footer.rows(group)).collect()
            }
            FileFormat::Ipc(batches) => batches.rows.clone(),
        };
        for (at, rows) in rows.into_iter().enumerate() {
            let end = row.checked_add(rows).ok_or_else(|| {
                table.failed("is damaged: it tells of more rows than there can be; write it again")
            })?;
            pieces.push(Piece { table, at, rows: row..end });
            row = end;
        }
    }
    Ok(pieces)
}

/// The pieces of a share, `rank` of `size`: those whose middle row lies in there.
pub(super) fn of_share(files: &[Table], (rank, size): (usize, usize)) -> Result<Vec<Piece<'_>>> {
    let mut pieces = all(files)?;
    let all = 2 * pieces.last().map_or(0, |piece| u128::from(piece.rows.end));
    pieces.retain(|piece| {
        let middle = u128::from(piece.rows.start) + u128::from(piece.rows.end);
        let owner = (middle * size as u128).checked_div(all).unwrap_or(0);
        owner.min(size as u128 - 1) == rank as u128
    });
    Ok(pieces)
}
