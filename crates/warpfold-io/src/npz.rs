//! NumPy's archives, `.npz`: a zip of `.npy` files, stored as they are or deflated. One of its arrays is an input, chosen by `--column`.
//!
//! Members are read as streams, and their lengths and checksums compared; an archive whose members are encrypted, packed otherwise, or
//! not whole is refused.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::Crc;
use flate2::read::DeflateDecoder;
use zip::{CompressionMethod, ZipArchive};

use crate::stamp::Stamp;
use crate::text::Column;
use crate::{Error, Name, Problem, npy};
use warpfold_num::DType;

/// Names that a message shows.
const SHOWN: usize = 20;

/// Opens the array of an archive that a column names; the only one, if none is named.
///
/// # Errors
/// [`Error::Input`] where it is no such archive, and [`Error::Usage`] where it holds several arrays and none is chosen.
pub(crate) fn open(
    name: &Name,
    path: &Path,
    stamp: Option<Stamp>,
    column: Option<&Column>,
    dtype: Option<DType>,
) -> Result<npy::Array, Error> {
    let failed = |problem: Problem| Error::input(name, problem);
    let damaged = |why: String| failed(Problem::Archive { why });
    let file = File::open(path).map_err(|error| failed(error.into()))?;
    let mut archive = ZipArchive::new(file).map_err(|error| damaged(error.to_string()))?;
    let arrays = arrays(&mut archive).map_err(damaged)?;
    let index = choose(name, &arrays, column)?;
    let (start, packed, size, crc, method) = {
        let member = archive.by_index_raw(index).map_err(|error| damaged(error.to_string()))?;
        if member.encrypted() {
            return Err(damaged("the array is encrypted".into()));
        }
        let start = member.data_start().ok_or_else(|| damaged("a member has no data".into()))?;
        (start, member.compressed_size(), member.size(), member.crc32(), member.compression())
    };
    let mut file = archive.into_inner();
    file.seek(SeekFrom::Start(start)).map_err(|error| failed(error.into()))?;
    let data = file.take(packed);
    let source: Box<dyn Read + Send> = match method {
        CompressionMethod::Stored => Box::new(data),
        CompressionMethod::DEFLATE => Box::new(DeflateDecoder::new(data)),
        other => {
            return Err(damaged(format!(
                "an array is packed by {other}; numpy.savez_compressed deflates"
            )));
        }
    };
    let monitor = stamp.map(|stamp| (stamp, path.to_path_buf()));
    let member = Member { source, remaining: size, crc, found: Crc::new(), monitor };
    npy::Array::stream(Box::new(member), dtype).map_err(failed)
}

/// The arrays in an archive by name, and where they are.
fn arrays(archive: &mut ZipArchive<File>) -> Result<Vec<(String, usize)>, String> {
    let mut arrays = Vec::new();
    for index in 0..archive.len() {
        let member = archive.name_for_index(index).transpose();
        let member = member.map_err(|error| error.to_string())?.unwrap_or_default();
        if let Some(array) = member.strip_suffix(".npy") {
            arrays.push((array.to_string(), index));
        }
    }
    Ok(arrays)
}

/// The names of the arrays in an archive.
///
/// # Errors
/// [`Error::Input`] where it is no such archive.
pub(crate) fn names(name: &Name, path: &Path) -> Result<Vec<String>, Error> {
    let damaged = |why: String| Error::input(name, Problem::Archive { why });
    let file = File::open(path).map_err(|error| Error::input(name, error))?;
    let mut archive = ZipArchive::new(file).map_err(|error| damaged(error.to_string()))?;
    let arrays = arrays(&mut archive).map_err(damaged)?;
    Ok(arrays.into_iter().map(|(array, _)| array).collect())
}

/// The place in the archive of the array that is asked for.
fn choose(
    name: &Name,
    arrays: &[(String, usize)],
    column: Option<&Column>,
) -> Result<usize, Error> {
    let shown = || {
        let names = arrays.iter().take(SHOWN).map(|(array, _)| array.escape_debug().to_string());
        let more = if arrays.len() > SHOWN { ", …" } else { "" };
        names.collect::<Vec<_>>().join(", ") + more
    };
    let missing = |requested: String| {
        let why = match arrays.len() {
            0 => "it holds no .npy file".to_string(),
            _ => format!("it holds no array {requested}; there are {}", shown()),
        };
        Error::input(name, Problem::Archive { why })
    };
    match column {
        None if arrays.len() > 1 => Err(Error::Usage(format!(
            "{name} holds {} arrays: {}; choose one with --column",
            arrays.len(),
            shown()
        ))),
        None => arrays.first().map(|(_, index)| *index).ok_or_else(|| missing(String::new())),
        Some(Column::Name(requested)) => {
            let found = arrays.iter().find(|(array, _)| array == requested);
            let counted = if requested == "0" { " (arrays are counted from 1)" } else { "" };
            found.map(|(_, index)| *index).ok_or_else(|| missing(format!("{requested:?}{counted}")))
        }
        Some(Column::Index(number)) => {
            let found = usize::try_from(number - 1).ok().and_then(|at| arrays.get(at));
            found.map(|(_, index)| *index).ok_or_else(|| missing(number.to_string()))
        }
    }
}

/// The bytes of a member, whose length and checksum are compared when the last of them is read.
struct Member {
    source: Box<dyn Read + Send>,
    remaining: u64,
    crc: u32,
    found: Crc,
    monitor: Option<(Stamp, std::path::PathBuf)>,
}

impl Member {
    fn damaged(why: &str) -> io::Error {
        let why = format!("an array of the archive is damaged: {why}; write the archive again");
        io::Error::new(ErrorKind::InvalidData, why)
    }
}

impl Read for Member {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.source.read(buffer).map_err(|error| match error.raw_os_error() {
            Some(_) => error,
            None => Member::damaged(&error.to_string()),
        })?;
        let is_over = n == 0 && !buffer.is_empty();
        if is_over && self.remaining > 0 {
            return Err(Member::damaged("it ends too early"));
        }
        self.remaining = self
            .remaining
            .checked_sub(n as u64)
            .ok_or_else(|| Member::damaged("it is longer than the archive says"))?;
        self.found.update(&buffer[..n]);
        if self.remaining == 0 && !is_over {
            if self.found.sum() != self.crc {
                return Err(Member::damaged("it does not have its checksum"));
            }
            if let Some((stamp, path)) = &self.monitor {
                stamp.check_path(path).map_err(io::Error::other)?;
            }
        }
        Ok(n)
    }
}
