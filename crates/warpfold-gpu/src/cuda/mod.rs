//! Reductions on NVIDIA GPUs: one launch each, from a binary that needs nothing but the driver.
//!
//! ```no_run
//! use warpfold::{Accuracy, cuda::Gpu};
//! let gpu = Gpu::open(0)?;
//! let x = gpu.upload(&[1.0f32, 2.0, 3.0])?;
//! assert_eq!(gpu.reduce(&x).accuracy(Accuracy::Fast).sum()?, 6.0);
//! assert_eq!(gpu.reduce(&x.slice(1..)).argmax()?, 1);
//! # Ok::<(), warpfold::Error>(())
//! ```
//!
//! A [`Gpu`] is shared between threads freely. Each reduction in progress has a stream, a workspace and a result slot of its own,
//! taken from a pool, so that reductions of many threads run at once.

mod buffer;
mod current;
mod device;
mod gpu;
mod pinned;
mod queue;
mod raw_kernel;
mod stream;
mod stream_context;
mod system;

pub use crate::driver::StreamHandle;
pub use buffer::{Buffer, View};
pub use current::KeepContext;
pub use device::{Description, devices};
pub use gpu::{Gpu, Gpus};
pub use queue::{Mark, Queue};
pub use raw_kernel::RawKernel;
pub use stream::{AnyStream, PIECE_BYTES, Stream};
pub use system::PcieLink;

/// A reduction on a GPU being set up.
pub type Reduce<'a, T> = crate::kernel::Reduce<'a, Gpu, T>;
