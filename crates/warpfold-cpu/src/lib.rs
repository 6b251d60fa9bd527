//! The CPU executor: SIMD kernels chosen at run time, threads, and the exact partials they leave.

#![allow(
    clippy::needless_range_loop,
    clippy::manual_range_contains,
    reason = "loops over lanes index several arrays alike, and comparisons without a branch are what the compiler vectorises"
)]

#[cfg(target_arch = "x86_64")]
mod avx512;
pub mod awake;
mod batch;
mod columns;
mod count;
mod executor;
mod fast;
mod float;
mod gate;
mod integer;
mod isa;
mod kernels;
pub mod keys;
mod made;
mod memory;
mod norm1;
mod norm_inf;
mod order;
mod pairs;
mod partials_by_key;
mod parts;
mod product;
mod read;
mod running;
mod short;
mod start;
mod stats;
pub mod threads;
mod whole;

pub use columns::Columns;
pub use isa::facts;
pub use keys::Mixing;
pub use memory::{ask_for, with_capacity};
pub use pairs::PairSums;
pub use partials_by_key::PartialsByKey;
pub use parts::{group_by, group_dense, runs_by_key, segments};
pub use running::Running;

use std::sync::Mutex;

use kernels::Kernels;
use warpfold_exact::AnyPartial;
use warpfold_exact::partial::{Finish, Output, Partial};
use warpfold_num::{
    Accuracy, DType, Element, Empty, Error, Nan, Op, PartialKind, Policy, Result, Value, bf16, f16,
    with_element,
};
use warpfold_plan::group::check_lengths;
use warpfold_plan::plan::{self, BatchPlan, Plan};
use warpfold_plan::{HostArray, Indices, OutputArray, Parts, Request};

/// What the executor reads: one array, or two of one length.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Input<'a, T> {
    /// One array.
    One(&'a [T]),
    /// Two arrays of one length.
    Two(&'a [T], &'a [T]),
}

/// Runs a plan over an array (or a piece of one that starts at index `first`).
pub(crate) fn run<T: Kernels>(plan: &Plan, input: Input<'_, T>, first: u64) -> Result<Partial<T>> {
    use PartialKind::{Count, Dot, Extremes, Magnitude, Moments, Norm1, Product, Stats, Sum};
    let op = plan.problem.op;
    Ok(match (op.partial(), input) {
        (Sum, Input::One(x)) => Partial::Sum(T::exact_sum(plan, x, first)),
        (Moments, Input::One(x)) => Partial::Moments(Box::new(T::exact_moments(plan, x, first))),
        (Extremes, Input::One(x)) if T::PARTS == 1 => {
            Partial::Extremes(order::extremes(plan, T::as_parts(x), first))
        }
        (Count, Input::One(x)) => Partial::Count(count::count(plan, x)),
        (Dot, Input::Two(x, y)) => Partial::Dot(Box::new(T::exact_dot(plan, x, y, first))),
        (Product, Input::One(x)) => Partial::Product(Box::new(T::product(plan, x, first))),
        (Norm1, Input::One(x)) => Partial::Norm1(Box::new(T::norm1(plan, x))),
        (Magnitude, Input::One(x)) => Partial::Magnitude(Box::new(T::norm_inf(plan, x))),
        (Stats, Input::One(x)) => Partial::Stats(Box::new(T::stats(plan, x, first))),
        _ => {
            return Err(Error::Undefined { op, dtype: T::DTYPE, why: "no kernel folds it" });
        }
    })
}

/// Whether the contract knows the reduction for a type.
///
/// # Errors
/// [`Error::Undefined`].
pub fn check(op: Op, dtype: DType) -> Result<()> {
    if op.is_ordered() && dtype.is_complex() {
        let why = "complex numbers have no order; take linf for the largest magnitude";
        return Err(Error::Undefined { op, dtype, why });
    }
    Ok(())
}

/// The elements of an array whose type the caller has asked for.
pub(crate) fn elements<'a, T: Element>(x: &HostArray<'a>) -> &'a [T] {
    x.slice().unwrap_or_else(|| unreachable!("an array of {} is one of {}", T::DTYPE, x.dtype()))
}

/// How a reduction of a whole array would run here.
pub fn plan(request: &Request<'_>) -> Plan {
    plan::choose(request.problem(), facts())
}

/// How the reductions of an array's parts would run here; `None` for a whole array.
pub fn plan_parts(request: &Request<'_>) -> Option<BatchPlan> {
    request.batch().map(|batch| plan::choose_batch(batch, facts()))
}

/// Folds a whole array, or two.
///
/// # Errors
/// [`Error::Undefined`], [`Error::LengthMismatch`]; [`Error::Shape`] if the array is in parts.
pub fn reduce(request: &Request<'_>) -> Result<AnyPartial> {
    let Request { op, x, y, start, parts, .. } = request;
    check(*op, x.dtype())?;
    if !matches!(**parts, Parts::Whole) {
        return Err(Error::Shape {
            requested: format!("{op} of a whole array"),
            obstacle: "the array is in parts".into(),
            remedy: "ask for the columns or the partials of its parts",
        });
    }
    if let Some(y) = y {
        if y.dtype() != x.dtype() {
            let why = "the two arrays must have one element type; convert one of them";
            return Err(Error::Undefined { op: *op, dtype: y.dtype(), why });
        }
        if y.len() != x.len() {
            return Err(Error::LengthMismatch { left: x.len() as u64, right: y.len() as u64 });
        }
    }
    with_element!(x.dtype(), T => {
        let input = match y {
            None => Input::One(elements::<T>(x)),
            Some(y) => Input::Two(elements::<T>(x), elements::<T>(y)),
        };
        run::<T>(&plan(request), input, *start).map(AnyPartial::from)
    })
}

/// A variance, deviation, Euclidean norm or sum of squares of a whole array of a few elements, without a partial; `None` where that is the way.
pub fn short(request: &Request<'_>, finish: Finish) -> Option<Value> {
    let Request { op, x, y, parts, .. } = request;
    let is_float = op.result_dtype(x.dtype(), finish.round_to).is_some_and(DType::is_float);
    if !op.is_of_squares() || !is_float || y.is_some() || !matches!(**parts, Parts::Whole) {
        return None;
    }
    with_element!(x.dtype(), T => {
        let to = finish.round_to.unwrap_or(<<T as Element>::Round as Element>::DTYPE);
        short::short_moment(*op, finish.ddof, to, elements::<T>(x))
    })
}

/// The results of the parts of an array, by name, in the outputs' order.
///
/// # Errors
/// [`Error::Output`] with the first output that has no value; [`Error::Undefined`], [`Error::Unsupported`]; [`Error::Shape`] if there is no
/// memory for so many outputs.
pub fn columns(request: &Request<'_>, finish: Finish) -> Result<Columns> {
    columns_and_gaps(request, finish).map(|(columns, _)| columns)
}

/// [`columns`], and of each the outputs that have no value, ascending: some where the request says [`Empty::None`]. What the column holds there
/// means nothing.
///
/// # Errors
/// As [`columns`].
pub fn columns_and_gaps(request: &Request<'_>, finish: Finish) -> Result<(Columns, Vec<Vec<u64>>)> {
    let finish = Finish { overflow: request.policy.overflow, ..finish };
    if request.op == Op::Stats {
        of_parts(request)?;
        return stats::stats(request, finish);
    }
    let (columns, gaps) = columns_of(request, finish, None)?;
    let all = vec![gaps; columns.len()];
    Ok((columns, all))
}

/// What stands for an output of a reduction that has no value, where `empty` makes that no error: NaN or, where nobody is to read it, anything of the
/// result's type.
pub fn stand_in(op: Op, dtype: DType, finish: Finish, empty: Empty) -> Option<Output> {
    with_element!(dtype, T => batch::Ending::of::<T>(op, finish, empty).stand_in)
}

/// [`columns_and_gaps`] of a reduction that has one number, into memory of the caller's: the outputs that have no value. If it fails, what the memory holds
/// means nothing.
///
/// # Errors
/// As [`columns`]; [`Error::Shape`] if the memory is not for so many results of their type.
pub fn columns_into(
    request: &Request<'_>,
    finish: Finish,
    out: &mut OutputArray<'_>,
) -> Result<Vec<u64>> {
    let finish = Finish { overflow: request.policy.overflow, ..finish };
    check(request.op, request.x.dtype())?;
    let types = (request.x.dtype(), finish.round_to);
    out.check(request.op, types, of_parts(request)?.batch.outputs())?;
    // Indices of the array are made of those of parts, which are all found first.
    let is_index = matches!(request.op, Op::ArgMin | Op::ArgMax);
    let at_once = !is_index || request.indices == Indices::OfInput;
    let (columns, gaps) = columns_of(request, finish, at_once.then_some(&*out))?;
    // What no reader wrote there.
    if let Some((_, column)) = columns.first()
        && !column.is_empty()
    {
        out.copy_from(column);
    }
    Ok(gaps)
}

/// [`columns`] of a reduction that has one or two, which have the same gaps; empty if they were written to the caller's memory.
fn columns_of(
    request: &Request<'_>,
    finish: Finish,
    out: Option<&OutputArray<'_>>,
) -> Result<(Columns, Vec<u64>)> {
    let Request { op, x, parts, indices, empty, .. } = request;
    check(*op, x.dtype())?;
    let (plan, indices, empty) = (&of_parts(request)?, *indices, *empty);
    let gaps = Mutex::new(Vec::new());
    let columns = with_element!(x.dtype(), T => {
        let x = elements::<T>(x);
        columns::columns(&read::Outputs { x, parts, plan, indices, finish, empty, gaps: &gaps, out })
    })?;
    Ok((columns, gaps.into_inner().unwrap_or_else(|poison| poison.into_inner())))
}

/// The partials of the parts of an array, in the outputs' order: large, for float sums, up to kilobytes each.
///
/// # Errors
/// As [`columns`].
pub fn partials(request: &Request<'_>) -> Result<Vec<AnyPartial>> {
    let Request { op, x, parts, indices, .. } = request;
    check(*op, x.dtype())?;
    let (plan, finish) = (&of_parts(request)?, Finish::default());
    with_element!(x.dtype(), T => {
        let (x, indices, empty, gaps) = (elements::<T>(x), *indices, request.empty, &Mutex::default());
        let outputs = read::Outputs { x, parts, plan, indices, finish, empty, gaps, out: None };
        Ok(outputs.partials().into_iter().map(AnyPartial::from).collect())
    })
}

fn of_parts(request: &Request<'_>) -> Result<BatchPlan> {
    let (op, dtype) = (request.op, request.x.dtype());
    if op == Op::Dot || request.y.is_some() {
        let why = "dot takes two arrays; see reduce_pair";
        return Err(Error::Undefined { op, dtype, why });
    }
    if request.start != 0 {
        let (option, why) = ("a start index", "indices of parts count from each part or array");
        return Err(Error::Unsupported { option, op, dtype, why });
    }
    if let Parts::Groups(grouping, _) = &*request.parts {
        check_lengths(grouping.elements() as usize, request.x.len())?;
    }
    plan_parts(request).ok_or_else(|| Error::Shape {
        requested: format!("{op} of each part of an array"),
        obstacle: "the array is in one part".into(),
        remedy: "reduce the whole array, or name axes, segments or keys",
    })
}
