//! The ladder: every way from one atomic an element to the read ceiling, run, verified, counted and timed.
//!
//! ```text
//! rungs (headers of cuda/ladder) -> Plan (launches, pure) -> Target (GPU | simulator) -> Truth (exact value, bound) -> Ladder (rows)
//! ```
//!
//! A [`Rung`] is one way, a [`Plan`] how it folds a [`Case`], a [`Target`] what runs it; [`climb`] does all of that for many rungs
//! and leaves a [`Ladder`] of plain rows.
//!
//! - A [`Stage`] runs rungs on a GPU, in the simulator or on this computer; [`sweep`](mod@sweep) and [`roofline`](mod@roofline) ask it.
//! - [`replay`] holds what the documents published, and repeats their experiments.

mod arrays;
mod climb;
mod divergence;
pub mod found;
#[cfg(feature = "cuda")]
mod gpu;
mod host;
pub mod model;
mod number;
mod plan;
pub mod replay;
pub mod roofline;
mod rung;
mod stage;
pub mod sweep;
mod target;
mod truth;
pub mod verify;

pub use climb::{Observer, Options, bytes, climb, climb_cpu};
pub use divergence::divergence;
pub use found::{Branching, Divergence, Ladder, Row};
#[cfg(feature = "cuda")]
pub use gpu::Cuda;
pub use host::{Runs, fold as host_fold};
pub use number::{Component, Number, OPS, TYPES, defined};
pub use plan::{Addresses, Case, Launch, MOST_THREADS, Pass, Plan};
pub use rung::{Host, Rung, Way, find, natural_data, rungs};
#[cfg(feature = "cuda")]
pub use stage::OnGpu;
pub use stage::{LadderRequest, Processor, Setting, Simulated, Stage};
pub use target::{LANES, Simulator, Target};
pub use truth::{Truth, Verdict, gamma};

/// The version of this crate, which is that of the library.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
