//! [`Mapped`]: bytes of a file that are folded where they lie, in the system's cache.

use std::fs::File;
use std::ops::Range;

use memmap2::{Mmap, MmapOptions};

use crate::Error;
use crate::ahead::Ahead;
use crate::stamp::{ChangeMonitor, guard_maps};

/// Maps `bytes` bytes of a file from `start` on; `None` where the system cannot (no memory, no such file system), and for no bytes.
pub(crate) fn map(file: &File, start: u64, bytes: u64) -> Option<Mmap> {
    let len = usize::try_from(bytes).ok().filter(|&len| len > 0)?;
    guard_maps();
    // SAFETY: the map is read-only, lies within the file's length as just checked, and lives in the one place that reads it. A page that
    // is gone when it is read ends the process (`guard_maps`), and a file that was written to gives no result (`ChangeMonitor`); elements that are read in place
    // have no invalid bit patterns (bools are copied, then checked).
    let map = unsafe { MmapOptions::new().offset(start).len(len).map(file) }.ok()?;
    #[cfg(unix)]
    let _ = map.advise(memmap2::Advice::Sequential);
    Some(map)
}

/// Bytes of a mapped file, taken one part after another.
#[derive(Debug)]
pub struct Mapped {
    map: Mmap,
    /// Bytes that are not taken yet.
    remaining: Range<usize>,
    /// Says at the end if the file has changed.
    monitor: ChangeMonitor,
    /// Where `remaining` began, and who reads ahead of it.
    ahead: Option<(usize, Ahead)>,
}

impl Mapped {
    /// Will take some bytes of a map.
    pub(crate) fn new(map: Mmap, remaining: Range<usize>, monitor: ChangeMonitor) -> Mapped {
        Mapped { map, remaining, monitor, ahead: None }
    }

    /// Has them read ahead, where they are not in memory; the map begins at a place in its file.
    #[must_use]
    pub(crate) fn read_ahead(self, start: u64) -> Mapped {
        let first = self.remaining.start;
        let range = start + first as u64..start + self.remaining.end as u64;
        let ahead = self.monitor.open_file().and_then(|open_file| Ahead::start(open_file, range));
        Mapped { ahead: ahead.map(|ahead| (first, ahead)), ..self }
    }

    /// All bytes of the map.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// The next bytes, at most so many; empty at the end. They are in memory, unless someone needed their room.
    pub(crate) fn take(&mut self, most: usize) -> Range<usize> {
        let end = self.remaining.end.min(self.remaining.start + most);
        let some = std::mem::replace(&mut self.remaining.start, end)..end;
        if let Some((first, ahead)) = &self.ahead {
            ahead.wait((end - first) as u64);
        }
        some
    }

    /// Fails if the file has changed since it was mapped.
    ///
    /// # Errors
    /// [`Problem::Changed`](crate::Problem::Changed).
    pub(crate) fn check_unchanged(&self) -> Result<(), Error> {
        self.monitor.check()
    }

    /// Whether all bytes were taken.
    pub(crate) fn is_over(&self) -> bool {
        self.remaining.is_empty()
    }
}
