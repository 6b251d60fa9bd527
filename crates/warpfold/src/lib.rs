//! Correctly rounded, reproducible reductions over arrays at memory speed.

mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;
mod double_double;
pub mod element;
mod error;
pub mod exact;
mod functions;
#[cfg(any(feature = "cuda", feature = "simt"))]
pub mod kernel;
mod op;
pub mod partial;
pub mod plan;
mod policy;
mod reduce;
#[cfg(feature = "simt")]
pub mod simt;
mod stream;
mod value;

pub use half::{bf16, f16};
pub use num_complex::Complex;

pub use element::{DType, Element, Float, Integer, Ordered, Real, Scalar};
pub use error::{Error, Result};
pub use exact::{Dot, Exact, Moments};
pub use functions::*;
pub use op::Op;
pub use partial::Partial;
pub use policy::{Accuracy, Nan, Overflow, Policy};
pub use reduce::{Reduce, ReducePair, reduce, reduce_pair};
pub use stream::Stream;
pub use value::Value;
