//! Where bytes come from: files, mapped or read, packed or not, and standard input.

use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use warpfold_num::DType;

use crate::kept::kept;
use crate::kind::refuse_npy;
use crate::mapped::map;
use crate::packed::{Packing, Unnamed};
use crate::stamp::{ChangeMonitor, MonitoredFile, OpenFile, Stamp};
use crate::{Endian, Error, Mapped, Name, PIECE_BYTES, Pieces, Problem};

/// Counts what is read.
pub(super) struct Counted {
    pub(super) source: Box<dyn Read + Send>,
    pub(super) read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.source.read(buffer)?;
        self.read.fetch_add(n as u64, Relaxed);
        Ok(n)
    }
}

/// The size of a regular file; fails where the name is of no use.
pub(super) fn size(name: &Name) -> Result<Option<u64>, Problem> {
    let Name::File(path) = name else { return Ok(None) };
    let metadata = fs::metadata(&**path)?;
    if metadata.is_dir() {
        return Err(Problem::Directory);
    }
    Ok(metadata.is_file().then_some(metadata.len()))
}

pub(super) fn file(name: &Name) -> Result<Option<File>, Problem> {
    match name {
        Name::File(path) => Ok(Some(File::open(&**path)?)),
        _ => Ok(None),
    }
}

/// Bytes of a raw file, mapped: where they are native elements, and so many that it pays. Bools are read, as they must not change once they were checked.
pub(super) fn mapped(
    name: &Name,
    stamp: Option<Stamp>,
    dtype: DType,
    bytes: Range<u64>,
    is_said: bool,
) -> Result<Option<Pieces>, Error> {
    let Name::File(path) = name else { return Ok(None) };
    let length = bytes.end - bytes.start;
    let is_native = Endian::Little.is_native(dtype) && dtype != DType::Bool;
    if length <= PIECE_BYTES as u64 || !is_native || Packing::of_path(path).is_some() {
        return Ok(None);
    }
    let failed = |error: io::Error| Error::input(name, error);
    let file = File::open(&**path).map_err(failed)?;
    let now = Stamp::of(&file.metadata().map_err(failed)?);
    ChangeMonitor::new(name.clone(), stamp).check_same(&ChangeMonitor::new(name.clone(), now))?;
    let Some(map) = map(&file, bytes.start, length) else { return Ok(None) };
    if bytes.start == 0 && !is_said {
        refuse_npy(&map).map_err(|error| Error::input(name, error))?;
    }
    let monitor = ChangeMonitor::new(name.clone(), now).holding(OpenFile::new(file));
    let mapped = Mapped::new(map, 0..length as usize, monitor).read_ahead(bytes.start);
    Ok(Some(Pieces::Mapped(mapped)))
}

/// A text; where no name says it, the first bytes tell whether it is compressed.
pub(super) fn text_stream(
    name: &Name,
    stamp: Option<Stamp>,
) -> Result<Box<dyn Read + Send>, Error> {
    let source = stream(name, stamp)?;
    Ok(match Packing::of(name) {
        None => Box::new(Unnamed::New(source)),
        Some(_) => source,
    })
}

pub(super) fn stream(name: &Name, stamp: Option<Stamp>) -> Result<Box<dyn Read + Send>, Error> {
    let source = unpacked_stream(name, stamp)?;
    Ok(match Packing::of(name) {
        Some(packing) => packing.unpack(source),
        None => source,
    })
}

/// The bytes as they come.
pub(crate) fn unpacked_stream(
    name: &Name,
    stamp: Option<Stamp>,
) -> Result<Box<dyn Read + Send>, Error> {
    if let Some(kept) = kept(name) {
        return Ok(Box::new(io::Cursor::new(kept)));
    }
    match file(name).map_err(|problem| Error::input(name, problem))? {
        Some(file) => {
            let watched = MonitoredFile::new(file, stamp);
            Ok(Box::new(watched.map_err(|error| Error::input(name, error))?))
        }
        None => crate::standard::input().map_err(|error| Error::input(name, error)),
    }
}
