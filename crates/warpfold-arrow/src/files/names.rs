//! Names of files: patterns, folders, formats.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::ipc::Form;
use crate::{Error, Result};

/// What a file's first bytes say.
pub(super) enum Format {
    Parquet,
    Ipc(Form),
}

/// Whether a name is that of a Parquet or Arrow file, or a pattern of such names.
pub fn is_data(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    matches!(extension.as_str(), "parquet" | "pq" | "arrow" | "arrows" | "feather" | "ipc")
}

pub(super) fn kind(path: &Path, mut file: &File) -> io::Result<Format> {
    let mut magic = [0; 6];
    let mut n = 0;
    while n < magic.len() {
        match file.read(&mut magic[n..])? {
            0 => break,
            more => n += more,
        }
    }
    io::Seek::rewind(&mut file)?;
    let is_parquet = path
        .extension()
        .is_some_and(|extension| extension.to_string_lossy().to_ascii_lowercase().starts_with('p'));
    Ok(match &magic[..n] {
        b"ARROW1" => Format::Ipc(Form::File),
        [b'P', b'A', b'R', b'1', ..] => Format::Parquet,
        _ if is_parquet => Format::Parquet,
        _ => Format::Ipc(Form::Stream),
    })
}

/// The files that a name stands for: itself, those that match a pattern (`*`, `?`, `[…]`, `**`), or all Parquet and Arrow files in a folder and the
/// folders in it, sorted; names that begin with `.` or `_` are left out.
///
/// # Errors
/// [`Error::File`] where there is none.
pub fn expand(path: &Path) -> Result<Vec<PathBuf>> {
    let failed = |why: String| Error::File { path: path.display().to_string(), why };
    if path.is_dir() {
        let files = files_in(path, &is_data)?;
        return match files.is_empty() {
            true => {
                Err(failed("is a folder without Parquet or Arrow files; name the files".into()))
            }
            false => Ok(files),
        };
    }
    let text = path.to_string_lossy();
    if path.exists() || !text.contains(['*', '?', '[']) {
        return Ok(vec![path.to_path_buf()]);
    }
    let matches =
        glob::glob(&text).map_err(|error| failed(format!("is no pattern of names: {error}")))?;
    let files: Vec<PathBuf> =
        matches.filter_map(|found| found.ok()).filter(|found| found.is_file()).collect();
    match files.is_empty() {
        true => Err(failed("no file matches; check the pattern".into())),
        false => Ok(files),
    }
}

/// The files in a folder and the folders in it whose names are wanted, sorted; names that begin with `.` or `_` are left out.
///
/// # Errors
/// [`Error::File`] where a folder cannot be read, or is a link, which may lead to rows that are read already.
pub fn files_in(folder: &Path, is_wanted: &dyn Fn(&Path) -> bool) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    walk(folder, is_wanted, &mut files).map_err(|error| super::failed(folder, &error))?;
    files.sort();
    Ok(files)
}

fn walk(
    folder: &Path,
    is_wanted: &dyn Fn(&Path) -> bool,
    files: &mut Vec<PathBuf>,
) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(['.', '_']) {
            continue;
        }
        if path.is_dir() {
            if entry.file_type()?.is_symlink() {
                return Err(io::Error::other(format!(
                    "{} in it is a link to a folder, whose rows may be read twice; remove the link, or name the folders that are inputs",
                    name.escape_debug()
                )));
            }
            walk(&path, is_wanted, files)?;
        } else if is_wanted(&path) {
            files.push(path);
        }
    }
    Ok(())
}
