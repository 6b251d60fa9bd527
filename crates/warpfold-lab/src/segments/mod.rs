//! The benchmark of reductions of parts: segments of every length, axes, keys; verified, then timed beside the flat reduction of the same elements.
//!
//! ```no_run
//! use warpfold_lab::segments;
//! let report = segments::run(&segments::Options::default(), &mut ())?;
//! for row in &report.rows {
//!     println!("{}: {:.0} % of the flat reduction", row.name, 100.0 * row.of_baseline());
//! }
//! # Ok::<(), std::io::Error>(())
//! ```

mod cases;
mod cut;
mod numbers;
mod report;
mod run;
mod sample;
mod truth;

#[cfg(feature = "cuda")]
pub(crate) use cases::dense_key;
pub use cases::{Case, ELEMENTS, cases};
pub use cut::{Cut, Keys};
pub use numbers::numbers;
pub use report::{Peer, Report, Row};
pub use run::{Observer, Options, run};
pub use truth::Truth;
