//! Exact, reproducible reductions of [Arrow](https://arrow.apache.org) arrays where they lie, of Arrow files, and of Parquet.
//!
//! A [`ColumnReducer`] takes the arrays of a column one after another, and gives what the column says, rounded once. Values that are null are left out,
//! and what lies in their slots is never read as data; indices count them all the same.
//!
//! ```
//! use arrow_array::{ArrayRef, Float64Array};
//! use std::sync::Arc;
//! use warpfold_arrow::{Cell, reduce};
//! use warpfold_num::{Op, Value};
//! let prices: ArrayRef = Arc::new(Float64Array::from(vec![Some(0.1), None, Some(0.2), Some(0.3)]));
//! assert_eq!(reduce(Op::Sum, &[prices])?.one(), Some(&Cell::Value(Value::F64(0.6))));
//! # Ok::<(), warpfold_arrow::Error>(())
//! ```
//!
//! | column | result |
//! |---|---|
//! | integers, floats (f16 to f64), bool | as the contract has it for arrays |
//! | decimals of up to 128 bits | sum: a decimal of 38 digits and the same scale, exact, checked; min, max: decimals; mean: f64, rounded once |
//! | dates, times, timestamps | min, max, mean: of the same type, the mean rounded once to the unit; count: values that are there; no sum |
//! | durations | as timestamps, and the sum, checked |
//! | dictionaries | as what they stand for |
//!
//! [`Dot`] multiplies the values of two columns, row by row, and sums the products.
//!
//! [`Mapped`] reduces expressions of several columns, such as `price * qty` where `qty > 3`, of the rows in which all of them have a value; [`MappedGroups`] by key.
//!
//! Strings are keys of groups ([`Groups`]), and have no reductions. Nested columns are refused.

mod cell;
mod decimal;
mod dot;
mod error;
#[cfg(feature = "parquet")]
pub mod files;
mod fold;
mod form;
mod groups;
mod mapped;
mod masked;
mod saved;

pub use arrow_schema::DataType;
pub use cell::{Cell, Fields};
pub use dot::Dot;
pub use error::{Error, Result};
pub use fold::{ColumnReducer, reduce};
pub use form::{check, number_type};
pub use groups::{Grouped, Groups, Joined, Keys, MappedGroups, MappedResults, Named};
pub use mapped::Mapped;
