//! NumPy's `.npy` files, versions 1 to 3, as `numpy.lib.format` describes them.
//!
//! # Mapping, and what it asks of others
//!
//! A regular file is mapped, read-only, and its pages are the pieces that are folded: no copy is made where the elements are
//! native and aligned. The length is checked against the header before the first access, and size and time of modification once all has
//! been folded: a file that has changed gives an error in place of a result. One that is truncated while it is mapped ends the program
//! with a line and exit code 1, by a handler of `SIGBUS`. Pipes and file systems that
//! cannot map are read instead, and bool arrays are always copied, because their bytes must stay the ones that were checked.

mod data;
pub(crate) mod fields;
mod gather;
mod header;
mod literal;

pub use crate::problem::NpyError;
pub use data::Array;
pub use header::{Descr, Header};
