//! `.npz`: a zip of `.npy` files, one for each column, stored as they are.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use zip::write::{SimpleFileOptions, ZipWriter};
use zip::{CompressionMethod, DateTime};

use super::{Table, npy};

/// Writes the archive.
pub(super) fn write(table: &Table, out: &mut BufWriter<&mut File>) -> io::Result<()> {
    // No time of writing: the same results are the same bytes.
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default());
    let mut archive = ZipWriter::new(out);
    for (name, column) in npy::columns(table) {
        let large = options.large_file(column.len() > 1 << 27);
        archive.start_file(format!("{name}.npy"), large)?;
        npy::one(column, &table.shape(), &mut archive)?;
    }
    archive.finish()?.flush()
}
