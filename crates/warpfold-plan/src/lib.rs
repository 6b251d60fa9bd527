//! What is to be reduced, and how: layouts, segments, keys and requests as values, and the plans that are chosen for them.
//!
//! This crate is pure: it touches no device and no thread, so that any machine's plan is made and printed on any other. Programs use it
//! through `warpfold`.

pub mod group;
mod output;
pub mod plan;
pub mod request;
pub mod segment;
pub mod shape;

use warpfold_num::{Accuracy, DType, Error, Nan, Op, PartialKind, Policy, Result, Value};

pub use output::{OutputArray, Slot};
pub use request::{Grouping, HostArray, Indices, Names, Parts, Request};
