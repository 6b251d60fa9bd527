//! [`Stamp`]: what a file looked like when it was opened, so that one that changes while it is read is no result.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek};
use std::path::Path;
use std::time::SystemTime;

use super::{Name, Problem};
use crate::Failure;

/// How a file changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Changed {
    #[error("it had {0} bytes and has {1}")]
    Size(u64, u64),
    #[error("it was written to")]
    Time,
    #[error("another file has taken its place, or it is gone")]
    #[cfg_attr(not(feature = "parquet"), allow(dead_code, reason = "others stay open"))]
    Replaced,
}

impl Changed {
    /// The change that an error of reading stands for.
    pub(crate) fn of(error: &io::Error) -> Option<&Changed> {
        error.get_ref()?.downcast_ref()
    }
}

/// Size and time of modification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    size: u64,
    modified: Option<SystemTime>,
    /// Which file it is, where the system numbers files.
    file: (u64, u64),
}

impl Stamp {
    /// That of a regular file. Files of no size are not followed: the system makes some of them up as they are read.
    pub(crate) fn of(metadata: &Metadata) -> Option<Stamp> {
        #[cfg(unix)]
        let file = {
            use std::os::unix::fs::MetadataExt;
            (metadata.dev(), metadata.ino())
        };
        #[cfg(not(unix))]
        let file = (0, 0);
        let size = metadata.len();
        (metadata.is_file() && size > 0).then(|| Stamp {
            size,
            modified: metadata.modified().ok(),
            file,
        })
    }

    fn check(self, now: &Metadata) -> Result<(), Changed> {
        let Some(now) = Stamp::of(now) else { return Err(Changed::Size(self.size, now.len())) };
        match () {
            () if now.size != self.size => Err(Changed::Size(self.size, now.size)),
            () if now.modified != self.modified => Err(Changed::Time),
            () => Ok(()),
        }
    }

    /// Fails if the file of this name has changed; one that another has taken the place of has not.
    pub(crate) fn check_path(self, path: &Path) -> Result<(), Changed> {
        match fs::metadata(path) {
            Ok(now) if Stamp::of(&now).is_none_or(|now| now.file == self.file) => self.check(&now),
            _ => Ok(()),
        }
    }
}

/// A mapped file, to be looked at once it has been folded.
#[derive(Debug, Clone)]
pub struct Watch {
    name: Name,
    stamp: Option<Stamp>,
}

impl Watch {
    pub(crate) fn new(name: Name, stamp: Option<Stamp>) -> Watch {
        Watch { name, stamp }
    }

    /// A file that is there, to be opened by its name several times.
    #[cfg(feature = "parquet")]
    pub(crate) fn of_path(path: &Path) -> Result<Watch, Failure> {
        let name = Name::of(path.to_path_buf());
        let metadata = fs::metadata(path).map_err(|error| Failure::input(&name, error))?;
        Ok(Watch::new(name, Stamp::of(&metadata)))
    }

    /// Fails if the name stands for another file than before, or the file has changed.
    #[cfg(feature = "parquet")]
    pub(crate) fn check_name(&self) -> Result<(), Failure> {
        let (Name::File(path), Some(stamp)) = (&self.name, self.stamp) else { return Ok(()) };
        let found = match fs::metadata(&**path) {
            Ok(now) if Stamp::of(&now).is_none_or(|now| now.file == stamp.file) => {
                stamp.check(&now)
            }
            _ => Err(Changed::Replaced),
        };
        let changed = |changed: Changed| Problem::Changed(changed.to_string());
        found.map_err(|found| Failure::input(&self.name, changed(found)))
    }

    /// Fails if the file has changed since it was mapped.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let (Name::File(path), Some(stamp)) = (&self.name, self.stamp) else { return Ok(()) };
        let changed = |changed: Changed| Problem::Changed(changed.to_string());
        stamp.check_path(path).map_err(|found| Failure::input(&self.name, changed(found)))
    }
}

/// Has the process end with a line, and without a result, when a mapped file lacks the page that is read.
pub(crate) fn guard_maps() {
    #[cfg(unix)]
    {
        static ONCE: std::sync::Once = std::sync::Once::new();
        const LINE: &str = "warpfold: a mapped input became shorter while it was read, or its disk failed (SIGBUS); there is no result; run again when nothing writes to it\n";
        ONCE.call_once(|| {
            // SAFETY: `end` calls only functions that are safe in handlers of signals, and does not return.
            let guarded = unsafe {
                signal_hook::low_level::register(signal_hook::consts::SIGBUS, || {
                    crate::signals::end(LINE, 1);
                })
            };
            // Without the handler the process ends by the signal: without a result as well.
            drop(guarded);
        });
    }
}

/// A file that says at its end if it has changed.
pub(crate) struct Watched {
    file: File,
    stamp: Option<Stamp>,
    read: u64,
}

impl Watched {
    /// Watches from a stamp that was taken before; without one, from now.
    pub(crate) fn new(file: File, before: Option<Stamp>) -> io::Result<Watched> {
        let stamp = before.or(Stamp::of(&file.metadata()?));
        Ok(Watched::after(file, stamp, 0))
    }

    /// Watches from now a file that is read from where it stands, such as standard input.
    pub(crate) fn from_here(mut file: File) -> io::Result<Watched> {
        let stamp = Stamp::of(&file.metadata()?);
        let read = stamp.map_or(Ok(0), |_| file.stream_position())?;
        Ok(Watched::after(file, stamp, read))
    }

    /// Watches a file of which some bytes were read before.
    pub(crate) fn after(file: File, stamp: Option<Stamp>, read: u64) -> Watched {
        Watched { file, stamp, read }
    }
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(buffer)?;
        self.read += n as u64;
        if n == 0
            && !buffer.is_empty()
            && let Some(stamp) = self.stamp
        {
            stamp.check(&self.file.metadata()?).map_err(io::Error::other)?;
            if self.read < stamp.size {
                return Err(io::Error::other(Changed::Size(stamp.size, self.read)));
            }
        }
        Ok(n)
    }
}
