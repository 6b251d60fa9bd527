//! `.npz`: a zip of `.npy` files, one for each column, stored as they are.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};

use zip::write::{SimpleFileOptions, ZipWriter};
use zip::{CompressionMethod, DateTime};

use super::{Table, npy};

/// Writes the archive.
pub(super) fn write(table: &Table, out: &mut BufWriter<&mut File>) -> io::Result<()> {
    // No time of writing: the same results are the same bytes.
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default());
    let mut out = Latched { out, error: None, at: 0, end: 0 };
    let mut archive = ZipWriter::new(&mut out);
    for (name, column) in npy::numbers(table) {
        let large = options.large_file(column.len() > 1 << 27);
        archive.start_file(format!("{name}.npy"), large)?;
        npy::one(column, &table.shape(), &mut archive)?;
    }
    archive.finish()?;
    out.error.map_or(Ok(()), Err)?;
    out.out.flush()
}

/// Keeps the first error and takes all that follows for written: an archive that is dropped after an error would try to go on, and say so.
struct Latched<W> {
    out: W,
    error: Option<io::Error>,
    at: u64,
    end: u64,
}

impl<W> Latched<W> {
    fn latch(&mut self, act: impl FnOnce(&mut W) -> io::Result<()>) {
        if self.error.is_none() {
            self.error = act(&mut self.out).err();
        }
    }
}

impl<W: Write> Write for Latched<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.latch(|out| out.write_all(bytes));
        self.at += bytes.len() as u64;
        self.end = self.end.max(self.at);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.latch(Write::flush);
        Ok(())
    }
}

impl<W: Seek> Seek for Latched<W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(offset) => self.end.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.at.checked_add_signed(offset),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        self.latch(|out| out.seek(SeekFrom::Start(at.unwrap_or(0))).map(drop));
        Ok(self.at)
    }
}
