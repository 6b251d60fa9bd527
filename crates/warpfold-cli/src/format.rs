//! The formats of results: printed, and in files.

use std::path::PathBuf;

use crate::Failure;
use crate::input::extension;

#[cfg(feature = "parquet")]
use warpfold_arrow::files::Written;

/// The widest column of a table: the formatter pads no further.
pub(crate) const WIDEST: usize = u16::MAX as usize;

/// How to print a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// The number alone; two for minmax, a table for stats, a line for each of many results
    Text,
    /// One object on one line, with type, bits and time
    Json,
    /// A header and a row, or many
    Csv,
}

#[cfg(feature = "parquet")]
const ENDINGS: &str =
    "the name must end in .npy, .npz, .json or .csv, or .parquet or .arrow, which says the format";
#[cfg(not(feature = "parquet"))]
const ENDINGS: &str = "the name must end in .npy, .npz, .json or .csv, which says the format";

/// The format that the extension of a result file, `--out`, names.
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
