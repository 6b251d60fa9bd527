//! Reductions of arrays that are there as a whole.

use warpfold_exact::AnyPartial;
use warpfold_exact::partial::{Finish, Output};
use warpfold_num::{Error, Result};
use warpfold_plan::{Parts, Request};

pub use warpfold_cpu::{columns, columns_and_gaps, partials, plan, plan_parts};

/// Folds a whole array, or two; or an array of which all axes are folded.
///
/// # Errors
/// [`Error::Undefined`], [`Error::LengthMismatch`]; [`Error::Shape`] if the array is in parts.
pub fn reduce(request: &Request<'_>) -> Result<AnyPartial> {
    match &*request.parts {
        Parts::Axes(form, folding)
            if folding.folded().iter().all(|&is| is) && form.outputs == 1 =>
        {
            partials(request).map(|mut partials| partials.swap_remove(0))
        }
        _ => warpfold_cpu::reduce(request),
    }
}

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
