//! Result files: each is there as a whole under its name, or it is not there, however the program ends.
//!
//! What is written has no name until it is complete and on disk, where the system has such files (`O_TMPFILE`); elsewhere it has a name of
//! its own, `.warpfold-…` in the same folder, which every end of the program removes. Symbolic links are followed and stay; a file keeps its mode,
//! and its owner where the system allows that; a file that is read-only, or is an input, is not replaced.

mod draft;

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use draft::Draft;

use crate::{Error, system_message};

/// Symbolic links that are followed before they are taken for a circle.
const MOST_LINKS: usize = 40;

/// Fails early where the file could not be written later, before any long work.
pub fn check(path: &Path) -> Result<(), Error> {
    follow(path).and_then(|target| existing(&target)).map(drop).map_err(|e| cannot_write(path, &e))
}

/// Refuses a result file that is one of the inputs, by whatever name; `-` is standard input.
pub fn refuse_inputs<'a>(
    path: &Path,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<(), Error> {
    let Some(result) = Identity::of(path) else { return Ok(()) };
    for input in inputs {
        let found =
            if input.as_os_str() == "-" { Identity::of_stdin() } else { Identity::of(input) };
        if found.is_some_and(|found| found == result) {
            return Err(Error::Usage(format!(
                "{} is an input ({}), and a result would take its place; name another file",
                path.display(),
                input.display()
            )));
        }
    }
    Ok(())
}

/// Writes bytes in place of a file, as a whole or not at all.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    replace_with(path, |file| file.write_all(bytes))
}

/// Has a function write a file, and puts it in the place of another, or where there is none, once it is complete and on disk.
pub fn replace_with(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), Error> {
    let written = || {
        let target = follow(path)?;
        let existing = existing(&target)?;
        let mut draft = Draft::new(folder(&target))?;
        write(draft.file_mut())?;
        if let Some(metadata) = &existing {
            keep_owner_and_mode(draft.file_mut(), metadata)?;
        }
        draft.file_mut().sync_all()?;
        draft.publish(&target)
    };
    written().map_err(|error| cannot_write(path, &error))
}

/// Where symbolic links lead, to a file that there is or is not yet.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_symlink() => {
                path = folder(&path).join(fs::read_link(&path)?)
            }
            Ok(_) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(path),
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("too many symbolic links, each to the next"))
}

/// The file that would be replaced, if there is one; fails where it must not be, or where its folder takes no files.
fn existing(target: &Path) -> io::Result<Option<fs::Metadata>> {
    let metadata = match fs::metadata(target) {
        Ok(metadata) => Some(metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    if let Some(metadata) = &metadata {
        if metadata.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if !metadata.is_file() {
            return Err(io::Error::other("it is no regular file; name another"));
        }
        // Asked of the mode, as the superuser may write whatever it says.
        if is_read_only(metadata) {
            return Err(io::Error::other("it is read-only; name another file, or change its mode"));
        }
        File::options().write(true).open(target)?;
    }
    let folder = folder(target);
    match fs::metadata(folder) {
        Ok(metadata) if metadata.is_dir() => (),
        Ok(_) => return Err(io::ErrorKind::NotADirectory.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let folder = folder.display();
            return Err(io::Error::other(format!(
                "there is no folder {folder}; make it, or name another"
            )));
        }
        Err(error) => return Err(error),
    }
    #[cfg(unix)]
    {
        use rustix::fs::{Access, access};
        access(folder, Access::WRITE_OK | Access::EXEC_OK)?;
    }
    Ok(metadata)
}

#[cfg(unix)]
fn is_read_only(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o222 == 0
}

#[cfg(not(unix))]
fn is_read_only(metadata: &fs::Metadata) -> bool {
    metadata.permissions().readonly()
}

fn keep_owner_and_mode(file: &File, existing: &fs::Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let new = file.metadata()?;
        if (new.uid(), new.gid()) != (existing.uid(), existing.gid()) {
            // Only the superuser may give files away; the file of another that may be replaced becomes one's own.
            let _ = fchown(file, Some(existing.uid()), Some(existing.gid()));
        }
    }
    file.set_permissions(existing.permissions())
}

/// What two names of one file have in common.
#[cfg(unix)]
#[derive(PartialEq, Eq)]
struct Identity(u64, u64);

#[cfg(unix)]
impl Identity {
    fn of(path: &Path) -> Option<Identity> {
        fs::metadata(path).ok().as_ref().map(Identity::from)
    }

    fn of_stdin() -> Option<Identity> {
        use std::os::fd::AsFd;
        let stdin = io::stdin().as_fd().try_clone_to_owned().ok()?;
        File::from(stdin).metadata().ok().as_ref().map(Identity::from)
    }
}

#[cfg(unix)]
impl From<&fs::Metadata> for Identity {
    fn from(metadata: &fs::Metadata) -> Identity {
        use std::os::unix::fs::MetadataExt;
        Identity(metadata.dev(), metadata.ino())
    }
}

/// What two names of one file have in common, as far as symbolic links go.
#[cfg(not(unix))]
#[derive(PartialEq, Eq)]
struct Identity(PathBuf);

#[cfg(not(unix))]
impl Identity {
    fn of(path: &Path) -> Option<Identity> {
        fs::canonicalize(path).ok().map(Identity)
    }

    fn of_stdin() -> Option<Identity> {
        None
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn cannot_write(path: &Path, error: &io::Error) -> Error {
    Error::Output { what: path.display().to_string(), reason: system_message(error) }
}
