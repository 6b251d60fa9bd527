//! What must hold of any bytes given to the readers of Parquet and Arrow files.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Once;

use warpfold_arrow::files::Files;
use warpfold_arrow::{Error, check as is_there};
use warpfold_exact::partial::Finish;
use warpfold_num::{Op, Policy};

/// Opens the bytes as a Parquet file and folds each of its columns. Returns whether all of it was accepted.
#[allow(dead_code, reason = "a target checks one format")]
pub fn parquet(bytes: &[u8]) -> bool {
    check(bytes, ".parquet")
}

/// The same of an Arrow file, or of a stream by its own beginning.
#[allow(dead_code, reason = "a target checks one format")]
pub fn arrow(bytes: &[u8]) -> bool {
    check(bytes, ".arrow")
}

/// No panic that is not caught where it arises, and one line of an error that names the file.
fn check(bytes: &[u8], suffix: &str) -> bool {
    // What readers of damaged files panic of becomes an error.
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let place = panic.location().map_or("", |location| location.file());
            if !place.contains(".cargo") {
                before(panic);
            }
        }));
    });
    let mut file = tempfile::Builder::new().suffix(suffix).tempfile().expect("a temporary file");
    file.write_all(bytes).expect("room for it");
    match fold(file.path()) {
        Ok(()) => true,
        Err(error) => {
            let line = error.to_string();
            assert!(!line.contains('\n'), "{line}");
            false
        }
    }
}

fn fold(path: &Path) -> Result<(), Error> {
    let files = Files::open(&[PathBuf::from(path)])?;
    let policy = Policy { threads: Some(1), ..Policy::default() };
    for field in files.schema().fields() {
        let name = [field.name().clone()];
        for op in [Op::Count, Op::Max] {
            if is_there(op, field.data_type()).is_err() {
                continue;
            }
            let (folds, _) = files.fold(&name, op, policy)?;
            for fold in folds {
                assert!(fold.values() <= fold.rows());
                // Of no values there is no greatest.
                let _ = fold.finish(Finish::default());
            }
        }
        if is_there(Op::Count, field.data_type()).is_ok() {
            // What is no key is refused.
            let _ = files.group(&name, &name, Op::Count, policy);
        }
    }
    Ok(())
}
