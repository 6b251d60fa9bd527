//! Reductions over many processes, with the same bits at any number of ranks.
//!
//! Every rank folds its share of the data to an exact partial. Partials are gathered as bytes, in rank order, and each rank merges all of
//! them: [`all_merge`]. Because partials are exact, neither the number of ranks nor the shares show in the result; nor in products of floats, which
//! are multiplied along one tree of all elements' indices.
//!
//! ```
//! use warpfold_dist::{Agreement, Threads, all_merge};
//! use warpfold_exact::{AnyPartial, Exact, Partial};
//! use warpfold_num::{DType, Op};
//!
//! let sum = |rank: usize| {
//!     let mut sum = Exact::<f64>::new();
//!     sum.add([1e300, 1.0, -1e300][rank]);
//!     AnyPartial::from(Partial::Sum(sum))
//! };
//! let agreement = Agreement::new(Op::Sum, DType::F64);
//! let totals = Threads::run(3, |comm| all_merge(&comm, &agreement, Ok(&sum(warpfold_dist::Comm::rank(&comm)))));
//! for total in totals {
//!     let AnyPartial::F64(Partial::Sum(total)) = total.unwrap() else { unreachable!() };
//!     assert_eq!(total.round(), 1.0);
//! }
//! ```
//!
//! Many outputs (axes, segments, groups) are merged by [`all_merge_batched`] and [`all_merge_keyed`], tensors are summed over ranks by [`all_reduce`].
//!
//! Who carries the bytes is a [`Comm`]: [`Mpi`], [`Nccl`], [`Tcp`], or [`Threads`] of one process.

mod batched;
mod columns;
mod comm;
mod contribution;
mod error;
mod exchange;
pub mod frame;
mod meanwhile;
mod merge;
mod mpi;
pub mod nccl;
mod reduce;
mod share;
mod sums;
pub mod tcp;
mod threads;

pub use batched::{Keyed, Way, all_merge_batched, all_merge_keyed};
pub use comm::{Comm, Meanwhile};
pub use error::{Error, Result};
pub use exchange::{Agreement, exchange, exchange_agreed};
pub use merge::all_merge;
pub use mpi::Mpi;
pub use nccl::Nccl;
pub use reduce::all_reduce;
pub use share::{share, shares};
pub use tcp::Tcp;
pub use threads::Threads;
pub use warpfold_exact::AnyPartial;
