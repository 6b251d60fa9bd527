//! [`InputFormat`]: how the bytes of an input are to be read.

use std::path::Path;

use crate::Name;
use crate::packed::Packing;

/// How the bytes of an input are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum InputFormat {
    /// NumPy's format, versions 1 to 3, which says its own type and shape
    Npy,
    /// Elements in little-endian order, nothing else
    Raw,
    /// Numbers as text: CSV, TSV, or separated by blanks
    Text,
}

impl InputFormat {
    /// What the name says: `.npy` and `.npz` are NumPy, `.txt`, `.csv` and `.tsv` are text, all else is raw; `.gz` and `.zst` after it are left aside.
    pub fn of(name: &Name) -> InputFormat {
        let Name::File(path) = name else { return InputFormat::Raw };
        match unpacked_extension(path).as_str() {
            "npy" | "npz" => InputFormat::Npy,
            "txt" | "csv" | "tsv" => InputFormat::Text,
            _ => InputFormat::Raw,
        }
    }
}

/// Whether a name is that of a file of columns, Parquet or Arrow, or a pattern of such names.
pub fn is_columns(path: &Path) -> bool {
    let known = ["parquet", "pq", "arrow", "arrows", "feather", "ipc"];
    known.contains(&extension(path).as_str())
}

/// The extension before that of compressed files, in lower case.
pub(crate) fn unpacked_extension(path: &Path) -> String {
    match Packing::of_path(path) {
        None => extension(path),
        Some(_) => path.file_stem().map_or_else(String::new, |stem| extension(Path::new(stem))),
    }
}

/// The extension in lower case; empty where there is none.
pub fn extension(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}
