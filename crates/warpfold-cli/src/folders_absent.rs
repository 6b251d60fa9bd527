//! What stands for names of folders as keys in a program built without files of columns.

use std::path::{Path, PathBuf};

/// The value of a folder.
pub(crate) struct Folder {
    pub(crate) name: String,
    pub(crate) value: Option<String>,
}

impl Folder {
    /// None is read.
    pub(crate) fn integer(&self) -> Option<i64> {
        None
    }
}

/// No folder names a column.
pub(crate) fn values(_: &[PathBuf], _: &str) -> Option<Vec<Folder>> {
    None
}

/// None: see above.
pub(crate) fn of_path(_path: &Path) -> Vec<Folder> {
    Vec::new()
}
