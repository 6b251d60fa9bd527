//! `--out`: the format of a result file, and one result in it.

use std::path::{Path, PathBuf};

use super::{Format, Render, Report, npy};
use crate::Failure;
use crate::input::extension;
use crate::outfile;

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
    outfile::replace(path, &bytes)
}
