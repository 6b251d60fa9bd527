//! The files of Rust below a folder.

use std::fs;
use std::path::{Path, PathBuf};

/// Adds them to those that were found.
pub(crate) fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => sources(&path, found),
            false if path.extension().is_some_and(|end| end == "rs") => found.push(path),
            false => (),
        }
    }
}
