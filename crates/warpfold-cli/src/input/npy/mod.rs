//! NumPy's `.npy` files, versions 1 to 3, as `numpy.lib.format` describes them.
//!
//! # Mapping, and what it asks of others
//!
//! A regular file is mapped, read-only, and its pages are the pieces that are folded: no copy is made where the elements are
//! native and aligned. The length is checked against the header before the first access. From then on the file must keep its
//! length and content until the program ends: a process that truncates it meanwhile ends this one with `SIGBUS` (no result is
//! printed then), and one that rewrites it leaves the result undefined, as it would with any reader. Pipes and file systems that
//! cannot map are read instead, and bool arrays are always copied, because their bytes must stay the ones that were checked.

mod data;
mod gather;
mod header;
mod literal;
mod problem;

pub use data::Array;
pub use header::{Descr, Header};
pub use problem::NpyError;
