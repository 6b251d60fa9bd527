//! The CUDA kernels of warpfold: what there is, and the PTX of each, compressed.
//!
//! A crate of data. The sources are in `cuda/`, the PTX made from them in `ptx/` (by `cargo xtask kernels`); this crate embeds
//! the latter, says what every kernel is called, and which source line each line of PTX came from. It knows nothing of devices.

pub mod catalog;
mod embedded;
pub mod ladder;
mod names;
mod sources;

pub use embedded::{Module, find, modules, of_catalog};
pub use sources::{Lines, Source, sources};
