//! Everything that stats tells of each output, a column each: by the reductions that tell one column, one after another.
//!
//! A pass for each reads memory ten times, and is still many times faster than wide accumulators for outputs of few elements: what is short is
//! read from a near cache.

use warpfold_exact::partial::{Finish, refuse_rounding};
use warpfold_num::{Accuracy, Column, Empty, Policy};
use warpfold_plan::group::for_each;
use warpfold_plan::{Parts, Request};

use crate::columns::Columns;
use crate::{DType, Nan, Op, Result, columns_of};

/// Everything that stats tells, a column each, and the gaps of each. A mean, variance or deviation that does not exist is NaN, unless it is to be a gap.
pub(crate) fn stats(request: &Request<'_>, finish: Finish) -> Result<(Columns, Vec<Vec<u64>>)> {
    let (Request { x, parts, indices, empty, .. }, dtype) = (request, request.x.dtype());
    refuse_rounding(finish, dtype)?;
    // Exact at any accuracy, as of a whole array.
    let policy = Policy { accuracy: Accuracy::Exact, ..request.policy };
    let of =
        |op, policy| Request::new(op, *x).parts(parts.clone()).policy(policy).indices(*indices);
    let (count, nans) =
        (sizes(parts, x.len()), nans(|nan| of(Op::Count, Policy { nan, ..policy }), dtype)?);
    let nans = nans.unwrap_or_else(|| vec![0; count.len()]);
    let mut all = vec![("count", Column::of(count)), ("nan_count", Column::of(nans))];
    let mut gaps = vec![Vec::new(); all.len()];
    for op in Op::of_stats(dtype) {
        let empty = match (op, empty) {
            (op, Empty::Error) if op.divides() => Empty::Nan,
            _ => *empty,
        };
        let (columns, none) = columns_of(&of(op, policy).empty(empty), finish)?;
        all.extend(columns);
        gaps.push(none);
    }
    Ok((all, gaps))
}

/// Elements of each part of an array of `n`.
fn sizes(parts: &Parts<'_>, n: usize) -> Vec<u64> {
    match parts {
        Parts::Whole => vec![n as u64],
        Parts::Axes(form, _) => vec![form.inputs; form.outputs as usize],
        Parts::Segments(bounds, _) => {
            (0..bounds.count() as usize).map(|segment| bounds.range(segment).len() as u64).collect()
        }
        Parts::Groups(grouping, _) => {
            let mut sizes = vec![0; grouping.groups() as usize];
            for_each(grouping.numbers(), 0..n, |_, group| sizes[group] += 1);
            sizes
        }
    }
}

/// NaNs in each part, where the type has any: they count as nonzero, unless they are ignored.
fn nans<'a>(count: impl Fn(Nan) -> Request<'a>, dtype: DType) -> Result<Option<Vec<u64>>> {
    if !(dtype.is_float() || dtype.is_complex()) {
        return Ok(None);
    }
    let nonzero = |nan| -> Result<Vec<u64>> {
        let [(_, column)] = &columns_of(&count(nan), Finish::default())?.0[..] else {
            unreachable!("a count is one column")
        };
        let Column::U64(counts) = column else { unreachable!("counts are u64") };
        Ok(counts.clone())
    };
    let (all, others) = (nonzero(Nan::Propagate)?, nonzero(Nan::Ignore)?);
    Ok(Some(all.into_iter().zip(others).map(|(all, others)| all - others).collect()))
}
