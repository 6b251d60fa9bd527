//! Folders as inputs, and their names as keys (`shop=x/`): of texts and arrays; those of files of columns are found by warpfold-arrow itself.

use std::path::{Path, PathBuf};

use warpfold_arrow::files::{files_in, folders};

pub(crate) use warpfold_arrow::files::Folder;

use crate::Failure;
use crate::input::{InputFormat, Name};

/// The texts and arrays in a folder.
pub(crate) fn texts_and_arrays(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let is_wanted =
        |path: &Path| InputFormat::of(&Name::of(path.to_path_buf())) != InputFormat::Raw;
    Ok(files_in(folder, &is_wanted)?)
}

/// Values of a column that the folders of all files name.
pub(crate) fn values(files: &[PathBuf], name: &str) -> Option<Vec<Folder>> {
    let value = |path: &PathBuf| folders(path).into_iter().rfind(|folder| folder.name == name);
    files.iter().map(value).collect::<Option<Vec<_>>>().filter(|values| !values.is_empty())
}
