//! Reductions of arrays that are there as a whole.

use warpfold_exact::AnyPartial;
use warpfold_exact::partial::{Finish, Output};
use warpfold_num::{DType, Error, Op, Result};
use warpfold_plan::{Parts, Request};

pub use warpfold_cpu::{
    columns, columns_and_gaps, columns_into, partials, plan, plan_parts, stand_in,
};

/// Folds a whole array, or two; or an array of which all axes are folded.
///
/// # Errors
/// [`Error::Undefined`], [`Error::LengthMismatch`]; [`Error::Shape`] if the array is in parts; [`Error::Unsupported`] if indices of elements would go past 2^64.
pub fn reduce(request: &Request<'_>) -> Result<AnyPartial> {
    check_indices(request.op, request.x.dtype(), request.start, request.x.len() as u64)?;
    match &*request.parts {
        Parts::Axes(form, folding)
            if folding.folded().iter().all(|&is| is) && form.outputs == 1 =>
        {
            partials(request).map(|mut partials| partials.swap_remove(0))
        }
        _ => warpfold_cpu::reduce(request),
    }
}

/// Refuses elements whose indices would go past the last that there is.
pub(crate) fn check_indices(op: Op, dtype: DType, start: u64, n: u64) -> Result<()> {
    match start.checked_add(n) {
        Some(_) => Ok(()),
        None => Err(Error::Unsupported {
            option: "so late a start",
            op,
            dtype,
            why: "indices end at 2^64 - 1; check where the piece is said to start",
        }),
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
