//! Correctly rounded, reproducible reductions over arrays at memory speed.
//!
//! A reduction of floats returns the mathematical value of the whole reduction, rounded once: the same bits for any order, split, thread
//! count or machine. Integers are checked on the mathematical result. Partial results are exact and merge without loss.
//!
//! ```
//! // What plain loops get wrong: rounding on the way, and cancellation.
//! assert_eq!(warpfold::sum(&[0.1f64; 10]), 1.0);
//! assert_eq!(warpfold::sum(&[1e300f64, 1.0, -1e300]), 1.0);
//! // Integers do not wrap silently, and narrow ones do not overflow at all.
//! assert_eq!(warpfold::sum(&[i8::MAX; 1000])?, 127_000);
//! assert!(warpfold::sum(&[i64::MAX, 1]).is_err());
//! # Ok::<(), warpfold::Error>(())
//! ```
//!
//! # Features
//!
//! | feature | what it adds | what it needs |
//! |---|---|---|
//! | none (default) | everything on the CPU; instructions are chosen at run time | no C library |
//! | `cuda` | module `cuda`: reductions on NVIDIA GPUs | NVIDIA's driver, at run time only |
//! | `ndarray` | arrays and views of the crate `ndarray` wherever slices are taken | that crate |
//! | `serde` | partials, policies and plans as values of serde | that crate |
//! | `simt` | module `simt`: the GPU's kernels in a simulator that checks every access | nothing |
//!
//! ```toml
//! [dependencies]
//! warpfold = { version = "0.1", features = ["simt"] }
//! ```
//!
//! # Which call for what
//!
//! | you have | and want | take |
//! |---|---|---|
//! | a slice | one result by the contract | [`sum`], [`mean`], [`var`], [`std`](fn@std), [`l1`], [`l2`], [`sumsq`], [`linf`], [`prod`], [`min`], [`max`], [`minmax`], [`argmin`], [`argmax`], [`any`], [`all`], [`count`] |
//! | two slices | their dot product | [`dot`] |
//! | some slices | a reduction of an expression of their elements | [`map!`], [`reduce_map`] |
//! | a slice | many statistics in one pass | [`stats`] |
//! | a slice or two | NaN skipped, wrapping, fewer threads, another float type, a fast sum | [`reduce`](fn@reduce), [`reduce_pair`] |
//! | an array with axes, any strides | one result; one for each index that is kept | [`View`], [`reduce`](fn@reduce), [`reduce_axes`] |
//! | segments of a slice | one result for each segment | [`Segments`], [`reduce_segments`] |
//! | a key for each element | one result for each key | [`group_by`]; [`group_dense`] for keys that are numbers of groups; [`reduce_by_key`] for runs |
//! | numbers one by one, or parts on several threads | a sum, moments, a dot product | [`Exact`], [`Moments`], [`Dot`] |
//! | parts in several processes | any reduction | [`Reduce::partial`], [`Partial`] |
//! | pieces that arrive in turn | any reduction, resumable | [`Stream`] |
//! | an element type known at run time | any reduction | [`with_element!`], [`DType`], [`Op`] |
//!
//! Element types are `bool`, the integers of 8 to 64 bits, [`f16`](struct@f16), [`bf16`](struct@bf16), `f32`, `f64`, and [`Complex`] of `f32` and `f64`.
//!
//! # What a result is
//!
//! - Sums, means, moments, norms and dot products of floats are exact until one final rounding to nearest-even; [`prod`] is within 1 ulp.
//!   Floats of up to 32 bits give `f32`, `f64` gives `f64`; `sum_as::<f64>` and its like round the same exact value to another type.
//! - An integer result that does not fit is [`Error::Overflow`], or wraps under [`Overflow::Wrap`]. Means, deviations and norms of integers are `f64`.
//! - A NaN, ∞ − ∞ or 0·∞ gives NaN; [`Nan::Ignore`] skips NaN elements. [`min`] and [`max`] order −0 below +0, and indices are of the first extreme.
//! - Empty input: sum 0, product 1, norms 0, any false, all true, count 0. Anything else of nothing is [`Error::Empty`].
//! - A call that cannot fail returns a number, any other a [`Result`]. Messages say what was asked, what stood in the way, and what to do.
//!
//! # Cookbook
//!
//! Choices of the contract are options of the builder:
//!
//! ```
//! use warpfold::{Accuracy, Nan, Overflow, reduce};
//!
//! let x = [1.0f32, f32::NAN, 3.0];
//! assert_eq!(reduce(&x).nan(Nan::Ignore).threads(4).var(1)?, 2.0);
//! assert_eq!(reduce(&x).nan(Nan::Ignore).sum_as::<f64>()?, 4.0);
//! assert_eq!(reduce(&[i64::MAX, 1]).overflow(Overflow::Wrap).sum()?, i64::MIN);
//! assert_eq!(reduce(&[1.0f64, 2.0]).accuracy(Accuracy::Fast).mean()?, 1.5);
//! # Ok::<(), warpfold::Error>(())
//! ```
//!
//! One result for each row, segment or key:
//!
//! ```
//! use warpfold::{Segments, View, group_by, reduce_axes, reduce_segments};
//!
//! let x = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
//! let rows = View::new(&x, &[2, 3])?;
//! assert_eq!(reduce_axes(&rows, &[1])?.sum()?.values, [6.0, 15.0]);
//! assert_eq!(reduce_axes(&rows, &[0])?.keepdims().mean()?.shape, [1, 3]);
//! assert_eq!(reduce_segments(&x, Segments::offsets(&[0u32, 2, 2, 6]))?.sum()?, [3.0, 0.0, 18.0]);
//! let by_key = group_by(&[7i64, -1, 7], &[1u8, 2, 3])?.sum()?;
//! assert_eq!((by_key.keys, by_key.values), (vec![-1, 7], vec![2, 4]));
//! # Ok::<(), warpfold::Error>(())
//! ```
//!
//! Parts on threads of one's own, merged in any order:
//!
//! ```
//! use warpfold::Exact;
//!
//! let x: Vec<f64> = (1..=1000).map(|k| 1.0 / f64::from(k)).collect();
//! let mut total = Exact::<f64>::new();
//! std::thread::scope(|scope| {
//!     let fold = |part: &[f64]| {
//!         let mut sum = Exact::<f64>::new();
//!         sum.extend(part);
//!         sum
//!     };
//!     let parts: Vec<_> = x.chunks(300).map(|part| scope.spawn(move || fold(part))).collect();
//!     for part in parts.into_iter().rev() {
//!         total.merge(&part.join().expect("no thread panics"));
//!     }
//! });
//! assert_eq!(total.round(), warpfold::sum(&x));
//! ```
//!
//! Parts in other processes, sent as bytes:
//!
//! ```
//! use warpfold::partial::{Finish, Output};
//! use warpfold::{Op, Partial, reduce};
//!
//! let bytes = reduce(&[3.0f32, -5.0]).partial(Op::Max)?.to_bytes();
//! let mut all = reduce(&[4.0f32]).partial(Op::Max)?;
//! all.merge(&Partial::from_bytes(&bytes)?);
//! assert_eq!(all.finish(Op::Max, Finish::default())?, Output::One(4.0f32.into()));
//! # Ok::<(), warpfold::Error>(())
//! ```
//!
//! Data larger than memory, piece by piece:
//!
//! ```
//! use warpfold::{Op, Policy, Stream};
//!
//! let mut stream = Stream::<f64>::new(Op::Sum, Policy::default())?;
//! for piece in [[1e300, 1.0], [-1e300, 1.0]] {
//!     stream.push(&piece)?;
//! }
//! assert_eq!(stream.sum()?, 2.0);
//! # Ok::<(), warpfold::Error>(())
//! ```
//!
//! Generic code names [`Element`], or [`Ordered`] where elements are compared; result types are associated types of theirs:
//!
//! ```
//! use warpfold::{Element, Ordered};
//!
//! fn deviation<T: Element>(x: &[T]) -> warpfold::Result<T::Round> {
//!     warpfold::std(x, 0)
//! }
//! fn ends<T: Ordered>(x: &[T]) -> warpfold::Result<(T, T)> {
//!     warpfold::minmax(x)
//! }
//! assert_eq!(deviation(&[1.0f32, 3.0])?, 1.0);
//! assert_eq!(deviation(&[1i8, 3])?, 1.0f64);
//! assert_eq!(ends(&[2u16, 9, 4])?, (2, 9));
//! # Ok::<(), warpfold::Error>(())
//! ```
//!
//! How a reduction would run here is a plain value, which prints:
//!
//! ```
//! use warpfold::{Op, reduce};
//!
//! let plan = reduce(&[0.5f32; 1000]).plan(Op::Sum);
//! assert!(plan.to_string().contains("sum"));
//! ```
//!
//! The repository's folder `crates/warpfold/examples` has twelve lessons, from a first sum to maps, each a program of its own.

mod batch;
pub mod custom;
mod exact;
mod functions;
mod input;
mod mapped;
#[cfg(feature = "ndarray")]
mod ndarray;
mod reduce;
mod stream;

pub use warpfold_exact::partial;
#[cfg(feature = "cuda")]
pub use warpfold_gpu::cuda;
#[cfg(any(feature = "cuda", feature = "simt"))]
pub use warpfold_gpu::kernel;
#[cfg(feature = "simt")]
pub use warpfold_gpu::simt;
pub use warpfold_num::{bf16, element, f16, with_element};
#[doc(hidden)]
pub use warpfold_num::{limbs, random};
pub use warpfold_plan::{group, plan, segment, shape};

pub use batch::{
    ByAxes, ByGroups, ByNumbers, BySegments, Columns, Complete, OrNone, OutputArray, OutputShape,
    ReduceBatched, UnderPolicy, group_by, group_dense, reduce_axes, reduce_by_key, reduce_segments,
};
pub use exact::{Dot, Exact, Moments};
pub use functions::*;
pub use group::{Groups, Key};
pub use input::Input;
pub use mapped::{ReduceMap, Written, reduce_map};
pub use partial::Partial;
pub use reduce::{Reduce, ReducePair, reduce, reduce_pair};
pub use segment::Segments;
pub use shape::{Array, Layout, View};
pub use stream::Stream;
pub use warpfold_engine::map;
pub use warpfold_exact::AnyPartial;
pub use warpfold_num::element::{Decode, Nearest};
pub use warpfold_num::{
    Accuracy, At, Column, Complex, DType, Element, Empty, Error, Float, Integer, Nan, Op, Ordered,
    Overflow, Policy, Real, Result, Scalar, Value,
};

use warpfold_num::policy_methods;
