//! The CPU executor: SIMD kernels chosen at run time, threads, and the exact partials they leave.

#![allow(
    clippy::needless_range_loop,
    clippy::manual_range_contains,
    reason = "loops over lanes index several arrays alike, and comparisons without a branch are what the compiler vectorises"
)]

#[cfg(target_arch = "x86_64")]
mod avx512;
pub(crate) mod batch;
mod count;
pub(crate) mod crew;
mod executor;
mod fast;
mod float;
mod integer;
mod isa;
mod kernels;
mod magnitude;
mod memory;
mod norm1;
mod order;
mod product;

pub(crate) use batch::Leaves;
pub(crate) use isa::facts;
pub(crate) use kernels::Kernels;
pub(crate) use memory::room;

use crate::element::Element;
use crate::exact::{Dot, Exact, Moments};
use crate::partial::Partial;
use crate::plan::{Plan, Problem};
use crate::{Error, Op, Policy, Result, plan};

/// What the executor reads: one array, or two of one length.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Input<'a, T> {
    /// One array.
    One(&'a [T]),
    /// Two arrays of one length.
    Two(&'a [T], &'a [T]),
}

/// Whether the contract knows the reduction for the type.
pub(crate) fn check<T: Element>(op: Op) -> Result<()> {
    let ordered = matches!(op, Op::Min | Op::Max | Op::MinMax | Op::ArgMin | Op::ArgMax);
    if ordered && T::DTYPE.is_complex() {
        let why = "complex numbers have no order; take linf for the largest magnitude";
        return Err(Error::Undefined { op, dtype: T::DTYPE, why });
    }
    Ok(())
}

/// Runs a plan over an array (or a piece of one that starts at index `first`).
pub(crate) fn run<T: Element>(plan: &Plan, input: Input<'_, T>, first: u64) -> Result<Partial<T>> {
    check::<T>(plan.problem.op)?;
    Ok(match (plan.problem.op, input) {
        (Op::Sum | Op::Mean, Input::One(x)) => Partial::Sum(T::exact_sum(plan, x, first)),
        (Op::Var | Op::Std | Op::L2, Input::One(x)) => {
            Partial::Moments(Box::new(T::exact_moments(plan, x, first)))
        }
        (Op::Min | Op::Max | Op::MinMax | Op::ArgMin | Op::ArgMax, Input::One(x))
            if T::PARTS == 1 =>
        {
            Partial::Extremes(order::extremes(plan, T::as_parts(x), first))
        }
        (Op::Any | Op::All | Op::Count, Input::One(x)) => Partial::Count(count::count(plan, x)),
        (Op::Dot, Input::Two(x, y)) => Partial::Dot(Box::new(T::exact_dot(plan, x, y, first))),
        (Op::Prod, Input::One(x)) => Partial::Product(Box::new(T::product(plan, x))),
        (Op::L1, Input::One(x)) => Partial::Norm1(Box::new(T::norm1(plan, x))),
        (Op::Linf, Input::One(x)) => Partial::Magnitude(Box::new(T::largest_magnitude(plan, x))),
        (Op::Stats, Input::One(x)) => Partial::Stats(Box::new(T::stats(plan, x, first))),
        (op, _) => {
            return Err(Error::Undefined { op, dtype: T::DTYPE, why: "no kernel folds it" });
        }
    })
}

fn on_this_thread<T: Element>(op: Op, n: usize) -> Plan {
    let policy = Policy { threads: Some(1), ..Policy::default() };
    plan::choose(Problem { op, dtype: T::DTYPE, n: n as u64, policy }, facts())
}

/// The exact sum of a slice on the calling thread.
pub(crate) fn sum<T: Element>(x: &[T]) -> Exact<T> {
    match run(&on_this_thread::<T>(Op::Sum, x.len()), Input::One(x), 0) {
        Ok(Partial::Sum(partial)) => partial,
        other => unreachable!("a sum leaves a sum, not {other:?}"),
    }
}

/// The exact moments of a slice on the calling thread.
pub(crate) fn moments<T: Element>(x: &[T]) -> Moments<T> {
    match run(&on_this_thread::<T>(Op::Var, x.len()), Input::One(x), 0) {
        Ok(Partial::Moments(partial)) => *partial,
        other => unreachable!("var leaves moments, not {other:?}"),
    }
}

/// The exact dot product of two slices on the calling thread.
pub(crate) fn dot<T: Element>(x: &[T], y: &[T]) -> Result<Dot<T>> {
    if x.len() != y.len() {
        return Err(Error::LengthMismatch { left: x.len() as u64, right: y.len() as u64 });
    }
    match run(&on_this_thread::<T>(Op::Dot, x.len()), Input::Two(x, y), 0) {
        Ok(Partial::Dot(partial)) => Ok(*partial),
        other => unreachable!("dot leaves a dot, not {other:?}"),
    }
}
