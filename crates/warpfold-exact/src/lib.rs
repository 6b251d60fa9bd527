//! The state of every reduction: exact, mergeable, saved as bytes, and rounded once when it is read.
//!
//! This crate knows what a partial result is, and not how an array is folded into one fast. Programs use it through `warpfold`.

mod any;
pub mod exact;
pub mod partial;
pub mod tree;

use warpfold_num::{
    Complex, DType, Element, Error, Op, Ordered, Overflow, PartialKind, Result, Value, bf16,
    double_double, element, f16, limbs,
};

pub use any::AnyPartial;
pub use exact::{Dot, Exact, Moments};
pub use partial::Partial;
