//! Kernel launches as plain values, the arrays and reductions of a [`Machine`] that runs them, and how what they leave is read: shared by
//! everything that can run PTX.

mod buffer;
mod devices;
mod fast;
mod finish;
mod floats;
mod groups;
mod joined;
mod launch;
mod machine;
mod many;
mod record;
mod reduce;

use buffer::Untyped;
#[cfg(feature = "cuda")]
pub(crate) use buffer::elements;
pub use buffer::{Buffer, View};

pub use crate::plan::WORKSPACE_HEADER;
pub use devices::{Devices, Shards};
pub use fast::{FastMoments, FastSum};
pub use finish::{is_left_by_its_fold, value_bytes};
pub use groups::{DenseSort, DenseTables, Groups, ReduceDense};
pub use joined::{Joined, PIECE_BYTES};
pub use launch::{Arguments, FoldKernel, Kernel, Launch, record_offset, workspace_bytes};
#[cfg(any(feature = "cuda", feature = "simt"))]
pub(crate) use machine::machine_methods;
pub use machine::{Job, Machine, Memory};
pub use many::{DeviceSegments, ManyLaunch, ReduceMany};
pub use record::{Outcome, RECORD_WORDS, read, record_words};
pub use reduce::Reduce;
