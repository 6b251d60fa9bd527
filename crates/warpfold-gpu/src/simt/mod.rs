//! Reductions in the simulator: the very kernels and launches that a GPU is given, run on any computer and checked as they run.
//!
//! Each access is checked for bounds, alignment, data races and reads of what nobody wrote; a kernel that breaks one of these rules ends
//! in [`Error::Device`](crate::Error::Device) with the lines of its PTX. It is some hundred thousand times slower than a GPU.
//!
//! ```
//! use warpfold::simt::Device;
//! let device = Device::new();
//! let x = device.upload(&[1i32, 2, 3])?;
//! assert_eq!(device.reduce(&x).sum()?, 6);
//! assert_eq!(device.reduce(x.slice(1..)).argmax()?, 1);
//! # Ok::<(), warpfold::Error>(())
//! ```

mod device;
mod programs;
mod stream;

pub use crate::simulated::Memory;
pub use device::{Cost, Device, Run};
pub use stream::{AnyStream, Stream};
pub use warpfold_simt::{Counters, Counts, Detail, Observer, Settings};

use crate::kernel;

/// An array in the simulator's memory.
pub type Buffer<T> = kernel::Buffer<Device, T>;

/// A borrowed array in the simulator's memory.
pub type View<'a, T> = kernel::View<'a, Device, T>;

/// A reduction in the simulator being set up.
pub type Reduce<'a, T> = kernel::Reduce<'a, Device, T>;
