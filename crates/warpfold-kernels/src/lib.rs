//! The CUDA kernels of warpfold: what there is, and the PTX of each, compressed.
//!
//! A crate of data. The sources are in `cuda/`, the PTX made from them in `ptx/` (by `cargo xtask kernels`); this crate embeds
//! the latter and says what every kernel is called. It knows nothing of devices.

pub mod catalog;
mod embedded;

pub use embedded::{Module, find, modules, of_catalog};
