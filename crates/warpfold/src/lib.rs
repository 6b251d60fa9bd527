//! Correctly rounded, reproducible reductions over arrays at memory speed.

mod batch;
mod exact;
mod functions;
mod reduce;
mod stream;

pub use warpfold_exact::partial;
#[cfg(feature = "cuda")]
pub use warpfold_gpu::cuda;
#[cfg(any(feature = "cuda", feature = "simt"))]
pub use warpfold_gpu::kernel;
#[cfg(feature = "simt")]
pub use warpfold_gpu::simt;
#[doc(hidden)]
pub use warpfold_num::limbs;
pub use warpfold_num::{bf16, element, f16, with_element};
pub use warpfold_plan::{group, plan, segment, shape};

pub use batch::{
    Arrange, ByAxes, ByGroups, ByNumbers, BySegments, Columns, ReduceMany, UnderPolicy, group_by,
    group_dense, reduce_axes, reduce_by_key, reduce_segments,
};
pub use exact::{Dot, Exact, Moments};
pub use functions::*;
pub use group::{Groups, Key};
pub use partial::Partial;
pub use reduce::{Reduce, ReducePair, reduce, reduce_pair};
pub use segment::Segments;
pub use shape::{Array, Layout, View};
pub use stream::Stream;
pub use warpfold_exact::AnyPartial;
pub use warpfold_num::{
    Accuracy, At, Column, Complex, DType, Element, Error, Float, Integer, Nan, Op, Ordered,
    Overflow, Policy, Real, Result, Scalar, Value,
};

use warpfold_num::policy_methods;
