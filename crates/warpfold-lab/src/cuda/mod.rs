//! The benchmark of the CUDA backend: every reduction of every element type, verified, then timed on the device beside the read
//! ceiling of the same run; other libraries' figures from the same run beside it.
//!
//! What was found ([`report`], [`table`]) is read everywhere; measuring needs the feature `cuda`, and a GPU.

pub mod data;
pub mod report;
pub mod segments;
pub mod table;

#[cfg(feature = "cuda")]
mod adds;
#[cfg(feature = "cuda")]
mod cases;
#[cfg(feature = "cuda")]
mod device_time;
#[cfg(feature = "cuda")]
mod latency;
#[cfg(feature = "cuda")]
mod limits;
#[cfg(feature = "cuda")]
mod numbers;
#[cfg(feature = "cuda")]
mod pool;
#[cfg(feature = "cuda")]
mod run;
#[cfg(feature = "cuda")]
pub mod tune;
#[cfg(feature = "cuda")]
mod verify;

#[cfg(feature = "cuda")]
pub use adds::{add_rate, empty_launch};
#[cfg(feature = "cuda")]
pub use cases::{Case, cases};
#[cfg(feature = "cuda")]
pub use device_time::DeviceTime;
#[cfg(feature = "cuda")]
pub use latency::first_uses;
#[cfg(feature = "cuda")]
#[cfg(feature = "cuda")]
pub use run::{LeftOnDevice, Observer, Options, READ_BYTES, read_peak, run};
