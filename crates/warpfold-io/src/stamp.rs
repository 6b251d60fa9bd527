//! [`Stamp`]: what a file looked like when it was opened, so that one that changes while it is read is no result.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::SystemTime;

use crate::problem::Changed;
use crate::{Error, Name, Problem};

/// Size and time of modification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    size: u64,
    modified: Option<SystemTime>,
    /// Which file it is, where the system numbers files.
    file: (u64, u64),
}

impl Stamp {
    /// That of a regular file. Of a file of no size nothing but that is kept: the system makes some of them up as they are read, time and all.
    pub(crate) fn of(metadata: &Metadata) -> Option<Stamp> {
        #[cfg(unix)]
        let file = {
            use std::os::unix::fs::MetadataExt;
            (metadata.dev(), metadata.ino())
        };
        #[cfg(not(unix))]
        let file = (0, 0);
        let size = metadata.len();
        metadata.is_file().then(|| Stamp {
            size,
            modified: metadata.modified().ok().filter(|_| size > 0),
            file,
        })
    }

    fn check(self, now: &Metadata) -> Result<(), Changed> {
        let Some(now) = Stamp::of(now) else { return Err(Changed::Size(self.size, now.len())) };
        match () {
            () if now.file != self.file => Err(Changed::Replaced),
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
pub struct ChangeMonitor {
    name: Name,
    stamp: Option<Stamp>,
    /// The file itself, which may have another name by now.
    open_file: Option<Arc<OpenFile>>,
}

/// A file that stays open while its map is read, so that it is found whatever its name becomes.
#[derive(Debug)]
pub(crate) struct OpenFile(File);

static OPEN_FILES: AtomicUsize = AtomicUsize::new(0);

impl OpenFile {
    /// Files at most: beyond, files are looked at by their names, as a process may hold few open.
    const MOST: usize = 256;

    pub(crate) fn new(file: File) -> Option<Arc<OpenFile>> {
        let open_file = Arc::new(OpenFile(file));
        // Counted down by `drop` in either case.
        (OPEN_FILES.fetch_add(1, Relaxed) < OpenFile::MOST).then_some(open_file)
    }

    pub(crate) fn file(&self) -> &File {
        &self.0
    }

    /// Reads from a place, wherever the file stands.
    pub(crate) fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        #[cfg(unix)]
        return std::os::unix::fs::FileExt::read_at(&self.0, buffer, at);
        #[cfg(not(unix))]
        {
            let _ = (buffer, at);
            Err(io::ErrorKind::Unsupported.into())
        }
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        OPEN_FILES.fetch_sub(1, Relaxed);
    }
}

impl ChangeMonitor {
    pub(crate) fn new(name: Name, stamp: Option<Stamp>) -> ChangeMonitor {
        ChangeMonitor { name, stamp, open_file: None }
    }

    /// Watches the file itself, not its name.
    pub(crate) fn holding(self, open_file: Option<Arc<OpenFile>>) -> ChangeMonitor {
        ChangeMonitor { open_file, ..self }
    }

    /// The file itself.
    pub(crate) fn open_file(&self) -> Option<&Arc<OpenFile>> {
        self.open_file.as_ref()
    }

    /// Fails if another reading of the same name has met another file, or a changed one.
    pub fn check_same(&self, other: &ChangeMonitor) -> Result<(), Error> {
        let changed = match (self.stamp, other.stamp) {
            (before, now) if before == now => return Ok(()),
            (Some(before), Some(now)) if before.file == now.file && before.size != now.size => {
                Changed::Size(before.size, now.size)
            }
            (Some(before), Some(now)) if before.file == now.file => Changed::Time,
            _ => Changed::Replaced,
        };
        Err(Error::input(&self.name, Problem::Changed(changed.to_string())))
    }

    /// A file that is there, to be opened by its name several times.
    pub fn of_path(path: &Path) -> Result<ChangeMonitor, Error> {
        let name = Name::of(path.to_path_buf());
        let metadata = fs::metadata(path).map_err(|error| Error::input(&name, error))?;
        Ok(ChangeMonitor::new(name, Stamp::of(&metadata)))
    }

    /// Fails if the name stands for another file than before, or the file has changed.
    pub fn check_name(&self) -> Result<(), Error> {
        let (Name::File(path), Some(stamp)) = (&self.name, self.stamp) else { return Ok(()) };
        let found = match fs::metadata(&**path) {
            Ok(now) if Stamp::of(&now).is_none_or(|now| now.file == stamp.file) => {
                stamp.check(&now)
            }
            _ => Err(Changed::Replaced),
        };
        let changed = |changed: Changed| Problem::Changed(changed.to_string());
        found.map_err(|found| Error::input(&self.name, changed(found)))
    }

    /// Fails if the file has changed since it was mapped.
    pub fn check(&self) -> Result<(), Error> {
        let (Name::File(path), Some(stamp)) = (&self.name, self.stamp) else { return Ok(()) };
        let changed = |changed: Changed| Problem::Changed(changed.to_string());
        let found = match self.open_file.as_ref().map(|open_file| open_file.0.metadata()) {
            Some(Ok(now)) => stamp.check(&now),
            _ => stamp.check_path(path),
        };
        found.map_err(|found| Error::input(&self.name, changed(found)))
    }
}

/// Has the process end with a line, and without a result, when a mapped file lacks the page that is read.
pub(crate) fn guard_maps() {
    #[cfg(unix)]
    {
        static ONCE: std::sync::Once = std::sync::Once::new();
        const LINE: &str = "warpfold: a page of memory could not be read (SIGBUS); most likely a mapped input became shorter meanwhile, or its disk failed; there is no result; run again when nothing writes to it\n";
        ONCE.call_once(|| {
            // SAFETY: `end` calls only functions that are safe in handlers of signals, and does not return.
            let guarded = unsafe {
                signal_hook::low_level::register(signal_hook::consts::SIGBUS, || {
                    crate::ending::end(LINE, 1);
                })
            };
            // Without the handler the process ends by the signal: without a result as well.
            drop(guarded);
        });
    }
}

/// A file that says at its end if it has changed.
pub(crate) struct MonitoredFile {
    file: File,
    stamp: Option<Stamp>,
    read: u64,
}

impl MonitoredFile {
    /// Watches from a stamp that was taken before; without one, from now.
    pub(crate) fn new(file: File, before: Option<Stamp>) -> io::Result<MonitoredFile> {
        let stamp = before.or(Stamp::of(&file.metadata()?));
        Ok(MonitoredFile::after(file, stamp, 0))
    }

    /// Watches from now a file that is read from where it stands, such as standard input.
    pub(crate) fn from_here(mut file: File) -> io::Result<MonitoredFile> {
        let stamp = Stamp::of(&file.metadata()?);
        let read = stamp.map_or(Ok(0), |_| file.stream_position())?;
        Ok(MonitoredFile::after(file, stamp, read))
    }

    /// Watches a file of which some bytes were read before.
    pub(crate) fn after(file: File, stamp: Option<Stamp>, read: u64) -> MonitoredFile {
        MonitoredFile { file, stamp, read }
    }
}

impl Read for MonitoredFile {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn watched(path: &Path) -> ChangeMonitor {
        let file = File::open(path).expect("it was written");
        let stamp = Stamp::of(&file.metadata().expect("it is there"));
        ChangeMonitor::new(Name::of(path.to_path_buf()), stamp).holding(OpenFile::new(file))
    }

    #[test]
    fn a_file_that_is_held_is_found_under_any_name() {
        let folder = tempfile::tempdir().expect("there is room");
        let (path, other) = (folder.path().join("a.npy"), folder.path().join("b.npy"));
        fs::write(&path, [0; 100]).expect("there is room");
        let monitor = watched(&path);
        fs::rename(&path, &other).expect("it can be renamed");
        monitor.check().expect("a new name changes nothing");
        fs::write(&other, [1; 99]).expect("there is room");
        let failure = monitor.check().expect_err("it became shorter");
        assert!(failure.to_string().contains("it had 100 bytes and has 99"), "{failure}");
    }

    #[test]
    fn a_file_of_no_size_that_grows_is_no_result() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("a.csv");
        fs::write(&path, "").expect("there is room");
        let read = |written: &str| {
            let file = File::open(&path).expect("it was written");
            let mut watched = MonitoredFile::new(file, None).expect("it is there");
            fs::write(&path, written).expect("there is room");
            let mut text = String::new();
            watched.read_to_string(&mut text).map(|_| text)
        };
        assert_eq!(read("").expect("nothing changed"), "");
        let error = read("1\n").expect_err("it has grown");
        assert!(error.to_string().contains("it had 0 bytes and has 2"), "{error}");
    }

    /// Files that the system makes up have no size and are read all the same.
    #[cfg(target_os = "linux")]
    #[test]
    fn files_without_a_size_are_read() {
        let file = File::open("/proc/sys/kernel/pid_max").expect("Linux has it");
        let mut text = String::new();
        let mut watched = MonitoredFile::new(file, None).expect("it is there");
        watched.read_to_string(&mut text).expect("it is read");
        assert!(text.trim().parse::<u64>().is_ok(), "{text:?}");
    }

    #[test]
    fn two_readings_of_a_name_are_of_one_file() {
        let folder = tempfile::tempdir().expect("there is room");
        let (path, other) = (folder.path().join("a.csv"), folder.path().join("b.csv"));
        fs::write(&path, "1").expect("there is room");
        fs::write(&other, "2").expect("there is room");
        let monitor = watched(&path);
        monitor.check_same(&watched(&path)).expect("nothing changed");
        fs::rename(&other, &path).expect("it can be renamed");
        let failure = monitor.check_same(&watched(&path)).expect_err("it is another file");
        assert!(failure.to_string().contains("another file has taken its place"), "{failure}");
    }
}
