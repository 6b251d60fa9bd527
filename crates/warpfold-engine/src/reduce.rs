//! Reductions of arrays that are there as a whole.

use warpfold_exact::AnyPartial;
use warpfold_exact::partial::{Finish, Output};
use warpfold_num::{Error, Result};
use warpfold_plan::Request;

pub use warpfold_cpu::{columns, partials, plan, plan_parts, reduce};

/// The result of the reduction of a whole array; what integers that overflow do is the policy's to say.
///
/// # Errors
/// As [`reduce`] and [`AnyPartial::finish`].
pub fn output(request: &Request<'_>, finish: Finish) -> Result<Output> {
    let finish = Finish { overflow: request.policy.overflow, ..finish };
    if let Some(value) = warpfold_cpu::short(request, finish) {
        return Ok(Output::One(value));
    }
    finished(&reduce(request)?, request, finish)
}

/// What a partial of a request's array says; an error about an empty input tells whether NaNs were ignored.
fn finished(partial: &AnyPartial, request: &Request<'_>, finish: Finish) -> Result<Output> {
    partial.finish(request.op, finish).map_err(|error| match error {
        Error::Empty { .. } => Error::Empty { op: request.op, ignored: !request.x.is_empty() },
        other => other,
    })
}
