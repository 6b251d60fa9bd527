//! Folders as inputs, and their names as keys (`shop=x/`): of texts and arrays; those of files of columns are found by warpfold-arrow itself.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use warpfold_arrow::files::{files_in, folders, is_data};

pub(crate) use warpfold_arrow::files::Folder;

use crate::Failure;
use crate::input::{InputFormat, Name};

/// The texts and arrays in a folder.
pub(crate) fn texts_and_arrays(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let is_wanted = |path: &Path| InputFormat::of(&Name::of(path.into())) != InputFormat::Raw;
    files_of(folder, &is_wanted, "text or array")
}

/// Tells of what is in a folder beside files of columns.
pub(crate) fn tell_others(folder: &Path) -> Result<(), Failure> {
    files_of(folder, &is_data, "Parquet or Arrow file").map(drop)
}

/// The files of a kind in a folder, by their names, where there are some; it is told that others are left out.
fn files_of(
    folder: &Path,
    is_wanted: &dyn Fn(&Path) -> bool,
    kind: &str,
) -> Result<Vec<PathBuf>, Failure> {
    let others = RefCell::new(Vec::new());
    let is_wanted = |path: &Path| {
        let is_wanted = is_wanted(path);
        let name = (!is_wanted).then(|| Name::of(path.into()).to_string());
        others.borrow_mut().extend(name);
        is_wanted
    };
    let files = files_in(folder, &is_wanted)?;
    let others = others.into_inner();
    if let (false, Some(first)) = (files.is_empty(), others.iter().min()) {
        let (n, s) = (others.len(), if others.len() == 1 { "" } else { "s" });
        crate::say!(
            "note: {}: {n} file{s} left out whose names are of no {kind}, such as {first}",
            Name::of(folder.into())
        );
    }
    Ok(files)
}

/// The columns that the folders of a path name.
pub(crate) fn of_path(path: &Path) -> Vec<Folder> {
    folders(path)
}

/// Values of a column that the folders of all files name.
pub(crate) fn values(files: &[PathBuf], name: &str) -> Option<Vec<Folder>> {
    let value = |path: &PathBuf| folders(path).into_iter().rfind(|folder| folder.name == name);
    files.iter().map(value).collect::<Option<Vec<_>>>().filter(|values| !values.is_empty())
}
