//! Kernel launches as plain values, the arrays and reductions of a machine that runs them, and how what they leave is read: shared by
//! everything that can run PTX.
//!
//! What runs has no type parameters: an [`Executor`] is an object, an array ([`AnyBuffer`], [`AnyView`]) and what is asked of it
//! ([`AnyReduce`], [`AnyReduceBatched`], [`AnyGroups`]) have their element types inside. Around it, [`Buffer`], [`Reduce`] and their like are the
//! same with types outside, for Rust programs that know theirs.

mod array;
mod batched;
#[cfg(any(feature = "cuda", feature = "simt"))]
pub(crate) mod counted;
mod executor;
mod fast;
mod finish;
mod floats;
mod groups;
mod joined;
mod launch;
pub mod map;
pub mod operator;
mod rank_sums;
mod record;
mod reduce;
mod sharded;
mod template;
mod typed;

#[cfg(feature = "cuda")]
pub(crate) use array::elements;
pub use array::{AnyBuffer, AnyView};

pub use crate::home::Home;
pub use crate::plan::WORKSPACE_HEADER;
pub use batched::{AnyReduceBatched, AnySegments, BatchedLaunch, Code, is_faulted};
#[cfg(any(feature = "cuda", feature = "simt"))]
pub(crate) use executor::check_arrays;
pub use executor::{Executor, Memory, Ready, Record, Running, Started};
pub use fast::{FastMoments, FastSum};
pub use finish::{is_finished_by_its_fold, value_bytes};
pub use groups::{AnyDenseSort, AnyDenseTables, AnyGroups, AnyReduceDense};
#[cfg(any(feature = "cuda", feature = "simt"))]
pub(crate) use joined::check_piece;
pub use joined::{Joined, PIECE_BYTES};
pub use launch::{Arguments, FoldKernel, Kernel, Launch, record_offset, workspace_bytes};
pub use map::{
    AnyMap, AnyMapBatched, AnyOperand, MapBatchedLaunch, MapGrid, MapGroups, MapLaunches, MapParts,
    Spliced,
};
pub use rank_sums::RankSums;
pub use record::{Outcome, RECORD_WORDS, read, record_words};
pub use reduce::AnyReduce;
pub use typed::{
    Buffer, DenseSort, DenseTables, DeviceSegments, Devices, Groups, Machine, OrNone, Reduce,
    ReduceBatched, ReduceDense, Shards, View,
};
#[cfg(any(feature = "cuda", feature = "simt"))]
pub(crate) use typed::{machine_methods, typed_stream};
