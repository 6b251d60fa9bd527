//! The engine: a [`Request`] goes in, a partial, a value or a column comes out.
//!
//! Nothing here is generic: an array, a partial and a result are values with their element type inside, so that the typed API, the program
//! and every other front run the very same code.

pub mod cut;
pub mod map;
pub mod operator;
mod reduce;
mod stream;

pub use reduce::{
    columns, columns_and_gaps, columns_into, output, partials, plan, plan_parts, reduce, stand_in,
};
pub use stream::Stream;
pub use warpfold_cpu::{
    Columns, Mixing, PartialsByKey, check, facts, group_by, group_dense, runs_by_key, segments,
    threads,
};
pub use warpfold_expr::map;
pub use warpfold_plan::group::Key;
pub use warpfold_plan::{HostArray, Indices, Names, OutputArray, Parts, Request};
