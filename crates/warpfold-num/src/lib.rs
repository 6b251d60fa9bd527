//! What the rest of warpfold computes with: element types, reductions and policies by name, limbs, rounding, and the one error.
//!
//! This crate knows numbers one at a time: neither arrays nor threads. Programs use it through `warpfold`.

pub mod binary;
pub mod double_double;
mod dtype;
pub mod element;
pub mod error;
mod isa;
pub mod laws;
pub mod limbs;
mod op;
mod partial_kind;
mod policy;
#[doc(hidden)]
pub mod random;
pub mod ties;
pub mod value;

pub use half::{bf16, f16};
pub use num_complex::Complex;

pub use dtype::DType;
pub use element::{Element, Float, Integer, Ordered, Real, Scalar};
pub use error::{At, Error, Result};
pub use isa::Isa;
pub use op::{Op, ResultKind};
pub use partial_kind::PartialKind;
pub use policy::{Accuracy, Empty, Nan, Overflow, Policy};
pub use value::{Column, Value};
