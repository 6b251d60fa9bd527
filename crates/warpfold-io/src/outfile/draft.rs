//! [`Draft`]: a file that is being written, without a name or under one of its own.

use std::fs::{self, File};
use std::io::{self, Seek};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::ending::Unfinished;

/// A file that is not complete yet; dropped, it is gone.
pub(super) struct Draft {
    file: File,
    folder: PathBuf,
    name: Option<Name>,
}

impl Draft {
    /// An empty file in a folder.
    pub(super) fn new(folder: &Path) -> io::Result<Draft> {
        match unnamed(folder) {
            Some(file) => Ok(Draft { file, folder: folder.to_path_buf(), name: None }),
            None => Draft::named(folder),
        }
    }

    /// An empty file with a name of its own.
    fn named(folder: &Path) -> io::Result<Draft> {
        let options = || File::options().read(true).write(true).create_new(true).to_owned();
        let (name, file) = Name::take(folder, |path| options().open(path))?;
        Ok(Draft { file, folder: folder.to_path_buf(), name: Some(name) })
    }

    pub(super) fn file_mut(&mut self) -> &mut File {
        &mut self.file
    }

    /// Gives the file its name, in place of any other of that name.
    pub(super) fn publish(mut self, target: &Path) -> io::Result<()> {
        if let Some(name) = self.name.take() {
            return name.rename(target);
        }
        match link(&self.file, target) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(_) => return self.copy()?.publish(target),
        }
        // A link does not replace; a rename does.
        match Name::take(&self.folder, |path| link(&self.file, path)) {
            Ok((name, ())) => name.rename(target),
            Err(_) => self.copy()?.publish(target),
        }
    }

    /// The same under a name, for a system that makes files without names and then gives them none.
    fn copy(mut self) -> io::Result<Draft> {
        let mut copy = Draft::named(&self.folder)?;
        self.file.rewind()?;
        io::copy(&mut self.file, &mut copy.file)?;
        copy.file.set_permissions(self.file.metadata()?.permissions())?;
        copy.file.sync_all()?;
        Ok(copy)
    }
}

/// A name that is only taken while a file is not complete.
struct Name {
    path: PathBuf,
    _unfinished: Unfinished,
}

impl Name {
    /// Makes a file by a function that fails where the name is taken. Its removal is arranged first, so that it never stays behind.
    fn take<R>(folder: &Path, make: impl Fn(&Path) -> io::Result<R>) -> io::Result<(Name, R)> {
        const TRIALS: u32 = 100;
        let mut taken = io::Error::from(io::ErrorKind::AlreadyExists);
        for trial in 0..TRIALS {
            let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let unique = (time.as_nanos() as u64).wrapping_add(trial.into());
            let path = folder.join(format!(".warpfold-{:x}-{unique:x}", std::process::id()));
            let unfinished = Unfinished::file(&path);
            match make(&path) {
                Ok(made) => return Ok((Name { path, _unfinished: unfinished }, made)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => taken = error,
                Err(error) => {
                    return Err(error);
                }
            }
        }
        Err(taken)
    }

    fn rename(self, target: &Path) -> io::Result<()> {
        // What was renamed is no longer there to be removed.
        fs::rename(&self.path, target)
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// A file without a name, where the system has such files and will give them names.
#[cfg(target_os = "linux")]
fn unnamed(folder: &Path) -> Option<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = File::options();
    options.read(true).write(true).mode(0o666).custom_flags(libc::O_TMPFILE);
    // Without /proc there would be no way to name it.
    options.open(folder).ok().filter(|file| descriptor(file).exists())
}

#[cfg(target_os = "linux")]
fn descriptor(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

#[cfg(target_os = "linux")]
fn link(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    Ok(linkat(CWD, descriptor(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &Path) -> Option<File> {
    None
}

#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn drafts_of_either_kind_are_published_or_gone() {
        let folder = tempfile::tempdir().unwrap();
        let names = || fs::read_dir(folder.path()).unwrap().count();
        type Make = fn(&Path) -> io::Result<Draft>;
        let copied: Make = |folder| Draft::new(folder).and_then(Draft::copy);
        for make in [Draft::new, Draft::named, copied] {
            let target = folder.path().join("target");
            let draft = make(folder.path()).unwrap();
            drop(draft);
            assert_eq!(names(), 0);
            for text in ["first", "second"] {
                let mut draft = make(folder.path()).unwrap();
                draft.file_mut().write_all(text.as_bytes()).unwrap();
                draft.publish(&target).unwrap();
                assert_eq!((fs::read_to_string(&target).unwrap().as_str(), names()), (text, 1));
            }
            let draft = make(folder.path()).unwrap();
            assert!(draft.publish(&folder.path().join("no/such")).is_err());
            assert_eq!(names(), 1);
            fs::remove_file(target).unwrap();
        }
    }
}
