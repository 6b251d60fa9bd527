//! The library of faults, where there is a C compiler.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The built library.
pub(crate) struct Preload(PathBuf);

impl Preload {
    /// Builds it; `None` without a compiler.
    pub(crate) fn build() -> Option<Preload> {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/faults/preload.c");
        let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("warpfold_faults.so");
        let mut cc = Command::new("cc");
        cc.args(["-O1", "-shared", "-fPIC", "-o"]).arg(&library).args([
            source,
            "-ldl",
            "-lpthread",
        ]);
        let status = cc.status().ok()?;
        assert!(status.success(), "the library of faults does not build");
        Some(Preload(library))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}
