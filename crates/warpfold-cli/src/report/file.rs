//! `--out`: the format of a result file, and one result in it.

use std::path::{Path, PathBuf};

use super::{Format, Render, Report, npy};
use crate::Failure;
use crate::input::extension;
use crate::outfile;
#[cfg(feature = "parquet")]
use crate::table::{Printed, columns};

#[cfg(feature = "parquet")]
use warpfold_arrow::files::Written;

#[cfg(feature = "parquet")]
const ENDINGS: &str =
    "the name must end in .npy, .npz, .json or .csv, or .parquet or .arrow, which says the format";
#[cfg(not(feature = "parquet"))]
const ENDINGS: &str = "the name must end in .npy, .npz, .json or .csv, which says the format";

/// The format that a result file's extension names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileFormat {
    /// `.npy`
    Npy,
    /// `.npz`, for many results
    Npz,
    /// `.json` or `.csv`
    Printed(Format),
    /// `.parquet` or `.arrow`
    #[cfg(feature = "parquet")]
    Columns(Written),
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
            #[cfg(feature = "parquet")]
            "parquet" | "pq" => FileFormat::Columns(Written::Parquet),
            #[cfg(feature = "parquet")]
            "arrow" | "feather" | "ipc" => FileFormat::Columns(Written::Arrow),
            #[cfg(not(feature = "parquet"))]
            "parquet" | "pq" | "arrow" | "feather" | "ipc" => {
                return Err("this program was built without Parquet and Arrow files; build it with them (--features parquet), or name a .npy, .npz, .json or .csv file".into());
            }
            _ => return Err(ENDINGS.into()),
        };
        Ok((path, format))
    }

    /// Refuses what is for many results only.
    pub(crate) fn check_one(self) -> Result<(), Failure> {
        match self {
            FileFormat::Npz => Err(Failure::Usage(
                "an .npz file holds many results, and this is one; name an .npy, .json or .csv file".into(),
            )),
            _ => Ok(()),
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
        #[cfg(feature = "parquet")]
        FileFormat::Columns(written) => {
            let fields = report.fields();
            let name = |name| if fields.len() == 1 { report.op.name() } else { name };
            let row =
                fields.iter().map(|(field, value)| (name(&**field), value.map(Printed::from)));
            bytes = columns::bytes(columns::of_row(row)?, written)?;
        }
    }
    Ok(outfile::replace(path, &bytes)?)
}
