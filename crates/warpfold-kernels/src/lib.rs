//! The CUDA kernels of warpfold: what there is, and the PTX of each, compressed.
//!
//! A crate of data. The sources are in `cuda/`; `kernels.pack` holds the PTX made from them (by `cargo xtask kernels`), and `kernels.lock` lists every kernel in it
//! for people to read. This crate embeds the pack, says what every kernel is called and what a launch must know of it ([`Entry`]), and which source line each line of
//! PTX came from. It knows nothing of devices.

#[rustfmt::skip]
pub mod arguments;
pub mod catalog;
pub mod ladder;
pub mod manifest;
#[doc(hidden)]
pub mod names;
#[doc(hidden)]
pub mod pack;
mod sources;

pub use manifest::Entry;
pub use pack::{Module, entry, find, modules, of_catalog};
pub use sources::{Lines, Source, sources};
