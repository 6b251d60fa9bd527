//! `--out`: a result file that is replaced as a whole or not at all.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::Builder;

use super::{Format, Render, Report, npy};
use crate::Failure;
use crate::error::system_message;
use crate::input::extension;

/// The format that a result file's extension names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileFormat {
    /// `.npy`
    Npy,
    /// `.npz`, for many results
    Npz,
    /// `.json` or `.csv`
    Printed(Format),
}

impl FileFormat {
    /// Reads the extension of a path.
    pub(crate) fn of(path: &str) -> Result<(PathBuf, FileFormat), String> {
        let path = PathBuf::from(path);
        let format = match extension(&path).as_str() {
            "npy" => FileFormat::Npy,
            "npz" => FileFormat::Npz,
            "json" => FileFormat::Printed(Format::Json),
            "csv" => FileFormat::Printed(Format::Csv),
            _ => {
                return Err(
                    "the name must end in .npy, .npz, .json or .csv, which says the format".into(),
                );
            }
        };
        Ok((path, format))
    }

    /// Refuses what is for many results only.
    pub(crate) fn check_one(self) -> Result<(), Failure> {
        match self {
            FileFormat::Npz => Err(Failure::Usage(
                "an .npz file holds many results, and this is one; name an .npy, .json or .csv file".into(),
            )),
            FileFormat::Npy | FileFormat::Printed(_) => Ok(()),
        }
    }
}

/// Fails early where the file cannot be written later, before any long work.
pub(crate) fn check_target(path: &Path) -> Result<(), Failure> {
    let folder = folder(path);
    match fs::metadata(folder) {
        Err(error) => Err(cannot_write(path, &error)),
        Ok(metadata) if !metadata.is_dir() => {
            Err(cannot_write(path, &io::Error::from(io::ErrorKind::NotADirectory)))
        }
        Ok(_) if path.is_dir() => {
            Err(cannot_write(path, &io::Error::from(io::ErrorKind::IsADirectory)))
        }
        Ok(_) => Ok(()),
    }
}

/// Writes a report to a file, which is replaced as a whole or not at all.
pub(crate) fn replace_file(
    path: &Path,
    format: FileFormat,
    report: &Report,
) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    match format {
        FileFormat::Npy => npy::Npy::render(report, &mut bytes)?,
        FileFormat::Npz => return format.check_one(),
        FileFormat::Printed(format) => bytes = format.bytes(report)?,
    }
    replace(path, &bytes)
}

/// Writes bytes in place of a file, as a whole or not at all.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    replace_with(path, |file| file.write_all(bytes))
}

/// Writes a file beside the target, by a function, and moves it over the target once it is complete and on disk.
pub(crate) fn replace_with(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut builder = Builder::new();
    builder.prefix(".warpfold-");
    let permissions = permissions(path);
    if let Some(permissions) = &permissions {
        builder.permissions(permissions.clone());
    }
    let written = builder.tempfile_in(folder(path)).and_then(|mut file| {
        write(file.as_file_mut())?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)
    });
    written.map(|_| ()).map_err(|error| cannot_write(path, &error))
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Those of the file that is replaced, else those of any new file: temporary files are private by default.
#[cfg(unix)]
fn permissions(path: &Path) -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    let existing = fs::metadata(path).map(|metadata| metadata.permissions());
    Some(existing.unwrap_or_else(|_| Permissions::from_mode(0o666)))
}

#[cfg(not(unix))]
fn permissions(_: &Path) -> Option<Permissions> {
    None
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::Output { what: path.display().to_string(), reason: system_message(error) }
}
