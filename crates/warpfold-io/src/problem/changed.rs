//! [`Changed`]: how a file is not what it was when it was opened.

use std::io;

/// How a file changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Changed {
    #[error("it had {0} bytes and has {1}")]
    Size(u64, u64),
    #[error("it was written to")]
    Time,
    #[error("another file has taken its place, or it is gone")]
    Replaced,
}

impl Changed {
    /// The change that an error of reading stands for.
    pub(crate) fn of(error: &io::Error) -> Option<&Changed> {
        error.get_ref()?.downcast_ref()
    }
}
