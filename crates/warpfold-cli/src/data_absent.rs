//! What stands for columns of Parquet and Arrow files in a program built without them.

use crate::Failure;
use crate::args::Reduction;
use crate::input::is_columns;

/// Whether inputs are such files, by their names.
pub(crate) fn takes(args: &Reduction) -> bool {
    args.has_columns()
}

/// Leaves patterns as they are.
pub(crate) fn expand_patterns(_: &mut Reduction) -> Result<(), Failure> {
    Ok(())
}

/// Says what to do.
pub(crate) fn reduction(args: &Reduction) -> Result<(), Failure> {
    let path = args.inputs.iter().find(|path| is_columns(path));
    let path = path.map_or_else(String::new, |path| path.display().to_string());
    Err(Failure::Usage(format!(
        "{} is a Parquet or Arrow file, and this program was built without them; build it with them: cargo install --path crates/warpfold-cli --features parquet; or read raw bytes with --input raw",
        path.escape_debug()
    )))
}
