//! Correctly rounded, reproducible reductions over arrays at memory speed.

mod cpu;
mod double_double;
pub mod element;
mod error;
pub mod exact;
mod op;
pub mod partial;
pub mod plan;
mod policy;
mod reduce;
mod stream;
mod value;

pub use half::{bf16, f16};
pub use num_complex::Complex;

pub use element::{DType, Element, Float, Integer, Ordered, Real, Scalar};
pub use error::{Error, Result};
pub use exact::{Dot, Exact, Moments};
pub use op::Op;
pub use partial::Partial;
pub use policy::{Accuracy, Nan, Overflow, Policy};
pub use reduce::{Reduce, reduce};
pub use stream::Stream;
pub use value::Value;

/// The sum: floats correctly rounded, integers checked.
///
/// ```
/// assert_eq!(warpfold::sum(&[0.1f64; 10]), 1.0);
/// assert_eq!(warpfold::sum(&[i32::MAX; 3])?, 3 * i64::from(i32::MAX));
/// # Ok::<(), warpfold::Error>(())
/// ```
pub fn sum<T: Element>(x: &[T]) -> T::Checked<T::Sum> {
    T::checked(reduce(x).sum())
}
