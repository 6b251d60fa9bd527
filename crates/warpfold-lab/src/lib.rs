//! Measuring warpfold: what a figure printed anywhere in this project stands on.
//!
//! - [`array`](mod@array) makes seeded arrays of every element type, the same on every run.
//! - [`oracle`] computes every reduction anew, in integers and by other code than the library's, so that a result is
//!   verified before it is timed.
//! - [`sampler`] times: warm-up, repeats until a budget is spent, median and quartiles, subjects in alternation.
//! - [`machine`] says where, [`report`] holds what was measured, [`table`] prints it.
//! - [`cpu`] is the benchmark of the CPU backend, [`cuda`] that of NVIDIA GPUs.
//! - [`segments`] measures reductions of parts: segments, axes, keys.

pub mod array;
pub mod cpu;
pub mod cuda;
pub mod machine;
pub mod oracle;
pub mod report;
pub mod sampler;
pub mod segments;
pub mod table;

pub use regex_lite::Regex;

/// The version of this crate, which is that of the library.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The examples of README.md and of the library's manual run as tests of this crate, which sees the library as its users do.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// See [`Readme`].
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
struct Library;

/// See [`Readme`].
#[cfg(doctest)]
#[doc = include_str!("../../../docs/maps.md")]
struct Maps;
