//! [`Home`]: which machine's memory an array lies in.

use std::fmt;

/// Whose memory an array lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    /// That of a GPU, by its number.
    Cuda(usize),
    /// That of a simulated device, by the address of what its clones share.
    Simt(usize),
}

impl fmt::Display for Home {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Home::Cuda(ordinal) => write!(f, "cuda:{ordinal}"),
            Home::Simt(_) => f.write_str("a simulated device"),
        }
    }
}
