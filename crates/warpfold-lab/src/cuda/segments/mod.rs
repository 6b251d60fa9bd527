//! The benchmark of many reductions at once on a GPU: sums of segments of every length and over every axis, each verified against the processor, then
//! timed; beside the read ceiling and other libraries of the same run. Bytes are those of input, offsets and results.
//!
//! [`Report`] and [`text`] are read everywhere; measuring needs the feature `cuda`, and a GPU.

mod report;
#[cfg(feature = "cuda")]
mod run;
mod shapes;
mod table;

pub use report::{Report, Row, SCHEMA};
#[cfg(feature = "cuda")]
pub use run::{Options, Progress, run};
pub use shapes::{ELEMENTS, Shape, shapes};
pub use table::{line, text};
