//! [`InputFormat`]: how the bytes of an input are to be read.

use std::path::Path;

use crate::Name;
use crate::packed::Packing;
use crate::problem::NpyError;

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

/// Formats of tables and arrays that are not read, by their suffixes, and what to do with such a file.
const FOREIGN: [(&[&str], &str); 6] = [
    (&["xlsx", "xls", "xlsm", "ods", "numbers"], "save the sheet as .csv"),
    (&["json", "jsonl", "ndjson", "xml", "yaml"], "write its numbers as .csv or .npy"),
    (&["h5", "hdf5", "nc", "mat", "zarr", "fits"], "write its array as .npy"),
    (&["pkl", "pickle", "pt", "pth", "safetensors"], "write its array as .npy, with numpy.save"),
    (&["orc", "avro", "dta", "sav", "rds", "sas7bdat"], "write its columns as .csv"),
    (
        &["bz2", "xz", "lzma", "lz4", "br", "zip", "7z", "tar", "tgz"],
        "unpack it first, as only .gz and .zst are unpacked here",
    ),
];

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

/// What every `.npy` file begins with.
pub(crate) const NPY_MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Whether bytes begin as those of a `.npy` file.
pub(crate) fn is_npy(bytes: &[u8]) -> bool {
    bytes.starts_with(NPY_MAGIC)
}

/// Fails for bytes that begin as those of a `.npy` file, and are to be read as elements alone.
pub(crate) fn refuse_npy(bytes: &[u8]) -> Result<(), NpyError> {
    match is_npy(bytes) {
        true => Err(NpyError::NotRaw),
        false => Ok(()),
    }
}

/// What to do with a file of a format that is not read, by its name.
pub(crate) fn foreign(name: &Name) -> Option<String> {
    let Name::File(path) = name else { return None };
    let extension = unpacked_extension(path);
    let (_, remedy) = FOREIGN.iter().find(|(known, _)| known.contains(&extension.as_str()))?;
    Some(format!("{name}: .{extension} is not read; {remedy}"))
}

/// What to do with a file that nothing says how to read.
pub(crate) fn unknown(name: &Name) -> String {
    foreign(name).unwrap_or_else(|| format!(
        "{name} is none of .npy, .npz, .csv, .tsv and .txt by its name, and raw elements need --dtype, for example --dtype f32; if it is text or .npy, say --input text or --input npy"
    ))
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
