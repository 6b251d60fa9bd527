//! The benchmark of the CPU backend: every reduction of every element type, verified, then timed against the read ceiling.
//!
//! ```no_run
//! use warpfold_lab::{cpu, table};
//! let mut options = cpu::Options::default();
//! options.filter = warpfold_lab::Regex::new("^sum/f32/natural")?;
//! let report = cpu::run(&options, &mut ())?;
//! print!("{}", table::text(&report));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod adds;
mod cases;
mod ceiling;
mod run;
mod target;

pub use adds::add_rate;
pub(crate) use cases::data;
pub use cases::{Case, cases};
pub use ceiling::Reading;
pub use run::{Observer, Options, reduce, run};
