//! `--out`: a result file that is replaced as a whole or not at all.

use std::fs::{self, Permissions};
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
    /// `.json` or `.csv`
    Printed(Format),
}

impl FileFormat {
    /// Reads the extension of a path.
    pub(crate) fn of(path: &str) -> Result<(PathBuf, FileFormat), String> {
        let path = PathBuf::from(path);
        let format = match extension(&path).as_str() {
            "npy" => FileFormat::Npy,
            "json" => FileFormat::Printed(Format::Json),
            "csv" => FileFormat::Printed(Format::Csv),
            _ => {
                return Err(
                    "the name must end in .npy, .json or .csv, which says the format".into()
                );
            }
        };
        Ok((path, format))
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

/// Writes a file beside the target and moves it over the target once it is complete and on disk.
pub(crate) fn replace_file(
    path: &Path,
    format: FileFormat,
    report: &Report,
) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    match format {
        FileFormat::Npy => npy::Npy::render(report, &mut bytes)?,
        FileFormat::Printed(format) => bytes = format.bytes(report)?,
    }
    replace(path, &bytes)
}

/// Writes bytes in place of a file, as a whole or not at all.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let mut builder = Builder::new();
    builder.prefix(".warpfold-");
    let permissions = permissions(path);
    if let Some(permissions) = &permissions {
        builder.permissions(permissions.clone());
    }
    let written = builder.tempfile_in(folder(path)).and_then(|mut file| {
        file.write_all(bytes)?;
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
