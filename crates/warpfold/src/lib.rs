//! Correctly rounded, reproducible reductions over arrays at memory speed.

mod batch;
mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;
mod double_double;
pub mod element;
mod error;
pub mod exact;
mod functions;
pub mod group;
#[cfg(any(feature = "cuda", feature = "simt"))]
pub mod kernel;
mod op;
pub mod partial;
pub mod plan;
mod policy;
mod reduce;
pub mod segment;
pub mod shape;
#[cfg(feature = "simt")]
pub mod simt;
mod stream;
mod value;

pub use half::{bf16, f16};
pub use num_complex::Complex;

pub use batch::{
    Arrange, ByAxes, ByGroups, ByNumbers, BySegments, Columns, ReduceMany, group_by, group_dense,
    reduce_axes, reduce_by_key, reduce_segments,
};
pub use element::{DType, Element, Float, Integer, Ordered, Real, Scalar};
pub use error::{At, Error, Result};
pub use exact::{Dot, Exact, Moments};
pub use functions::*;
pub use group::{Groups, Key};
pub use op::Op;
pub use partial::Partial;
pub use policy::{Accuracy, Nan, Overflow, Policy};
pub use reduce::{Reduce, ReducePair, reduce, reduce_pair};
pub use segment::Segments;
pub use shape::{Array, Layout, View};
pub use stream::Stream;
pub use value::{Column, Value};
