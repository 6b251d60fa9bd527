//! [`Name`]: what an input is called in messages.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// What an input is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Name {
    /// A file.
    File(Arc<PathBuf>),
    /// Standard input.
    Stdin,
    /// Generated numbers.
    Random,
}

impl Name {
    /// The input that an argument names: `-` is standard input.
    pub fn of(path: PathBuf) -> Name {
        if path.as_os_str() == "-" { Name::Stdin } else { Name::File(Arc::new(path)) }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // A line break in a file name must not break the one line of a message.
            Name::File(path) => write!(f, "{}", path.display().to_string().escape_debug()),
            Name::Stdin => f.write_str("standard input"),
            Name::Random => f.write_str("random numbers"),
        }
    }
}
