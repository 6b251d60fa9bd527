//! The shipped kernels as launches, and what runs them: a GPU by its driver, or the simulator.
#![cfg_attr(
    not(any(feature = "cuda", feature = "simt")),
    allow(
        dead_code,
        unreachable_code,
        unused_imports,
        unused_variables,
        reason = "without a feature there is no machine, and nothing is ever run"
    )
)]

#[cfg(feature = "cuda")]
pub mod cuda;
#[cfg(feature = "cuda")]
mod driver;
mod home;
pub mod kernel;
#[cfg(feature = "simt")]
pub mod simt;
#[cfg(feature = "simt")]
mod simulated;

use warpfold_engine::Columns;
use warpfold_exact::{AnyPartial, exact, partial};
use warpfold_num::{
    Accuracy, Column, Complex, DType, Element, Error, Nan, Op, Ordered, Overflow, PartialKind,
    Policy, Result, ResultKind, Value, double_double, element, error, value, with_element,
};
use warpfold_plan::group::{self, Key};
use warpfold_plan::{plan, shape};
