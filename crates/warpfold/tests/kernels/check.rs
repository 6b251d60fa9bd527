//! One array reduced by the kernels on some machine and by the CPU: every reduction there is, compared, and held against the oracle.

use warpfold::kernel::View;
use warpfold::partial::{Finish, Output};
use warpfold::plan::Shape;
use warpfold::{Accuracy, Element, Error, Nan, Op, Policy, Result};

use crate::compare::{near, same};
use crate::on_device::{OnDevice, check_on_device};
use crate::sample::Sample;
use crate::{bound, ops, truth};

/// The CPU's result.
fn reference<T: Element>(x: &[T], op: Op, policy: Policy) -> Result<Output> {
    let partial = warpfold::reduce(x).policy(policy).partial(op)?;
    partial.finish(op, Finish::default()).map_err(|error| match error {
        Error::Empty { .. } => Error::Empty { op, ignored: !x.is_empty() },
        other => other,
    })
}

/// Every reduction of one array.
pub(crate) fn check<M: OnDevice, T: Sample>(
    machine: &M,
    x: &[T],
    view: View<'_, M, T>,
    shape: Option<Shape>,
    what: &str,
) {
    for nan in [Nan::Propagate, Nan::Ignore] {
        if nan == Nan::Ignore && !T::DTYPE.is_float() {
            continue;
        }
        for op in ops::of_one_array() {
            let rounds = ops::rounds(op);
            let ordered = matches!(op, Op::Min | Op::Max | Op::MinMax | Op::ArgMin | Op::ArgMax);
            if ordered && T::DTYPE.is_complex() {
                continue;
            }
            let policy = Policy { nan, ..Policy::default() };
            let cpu = reference(x, op, policy);
            let fast = Policy { accuracy: Accuracy::Fast, ..policy };
            let mut reduce = machine.reduce(view).policy(fast);
            if let Some(shape) = shape {
                reduce = reduce.shape(shape);
            }
            let found = reduce.output(op, Finish::default());
            let agree = if rounds && T::DTYPE.is_float() {
                let plan = reduce.plan(op).unwrap();
                let additions = bound::additions(x.len(), plan.grid, plan.block);
                near(&found, &cpu, bound::of(op, x, additions))
            } else {
                same(&found, &cpu)
            };
            assert!(
                agree,
                "{op} of {} {} ({what}, {nan:?}, {shape:?}): kernel {found:?}, cpu {cpu:?}",
                x.len(),
                T::DTYPE
            );
            if !(rounds && T::DTYPE.is_float()) && op != Op::Stats {
                let what = format!("{what}, {shape:?}");
                truth::check(&found, op, nan, [x, &[]], Finish::default(), &what);
            }
            // What stays on the device takes the same kernels and a short one more: a quarter of the cases will do.
            if op != Op::Stats && (x.len() + op as usize).is_multiple_of(4) {
                check_on_device(
                    machine,
                    &reduce,
                    op,
                    0,
                    &format!("fast, {what}, {nan:?}, {shape:?}"),
                );
            }
            if op == Op::Stats {
                let partial = warpfold::reduce(x).policy(policy).partial(op);
                assert_eq!(reduce.partial(op), partial, "{op} ({what}, {nan:?}, {shape:?})");
            }
        }
    }
}

/// Dot, of arrays aligned alike and not.
pub(crate) fn check_dot<M: OnDevice, T: Sample>(
    machine: &M,
    x: &[T],
    y: &[T],
    views: (View<'_, M, T>, View<'_, M, T>),
    wide: bool,
    what: &str,
) {
    for nan in [Nan::Propagate, Nan::Ignore] {
        let keep = |x: &T| {
            nan == Nan::Propagate
                || !T::as_parts(&[*x]).iter().any(|p| warpfold::Decode::is_nan(*p))
        };
        let mut exact = warpfold::Dot::<T>::new();
        for (x, y) in x.iter().zip(y).filter(|(x, y)| keep(x) && keep(y)) {
            exact.add(*x, *y);
        }
        let cpu = warpfold::Partial::Dot(Box::new(exact.into())).finish(Op::Dot, Finish::default());
        let policy = Policy { nan, accuracy: Accuracy::Fast, ..Policy::default() };
        let reduce = machine.reduce_two(views.0, views.1).unwrap();
        let exact = reduce.nan(nan).output(Op::Dot, Finish::default());
        check_on_device(machine, &reduce.nan(nan), Op::Dot, 0, what);
        truth::check(&exact, Op::Dot, nan, [x, y], Finish::default(), what);
        assert!(
            same(&exact, &cpu),
            "exact dot of {} {} ({what}, {nan:?}): kernel {exact:?}, cpu {cpu:?}",
            x.len(),
            T::DTYPE
        );
        if wide {
            continue;
        }
        let found = reduce.policy(policy).output(Op::Dot, Finish::default());
        let agree = if T::DTYPE.is_float() {
            let plan = reduce.policy(policy).plan(Op::Dot).unwrap();
            let additions = bound::additions(x.len(), plan.grid, plan.block);
            let products = bound::products(x, y);
            near(
                &found,
                &cpu,
                bound::sums::<T>(Op::Dot, [0.0, products], x.len() as u64, additions),
            )
        } else {
            same(&found, &cpu)
        };
        assert!(
            agree,
            "dot of {} {} ({what}, {nan:?}): kernel {found:?}, cpu {cpu:?}",
            x.len(),
            T::DTYPE
        );
    }
}

/// Every reduction that rounds once, of floats: the same bits as the CPU.
pub(crate) fn check_exact<M: OnDevice, T: Sample>(
    machine: &M,
    x: &[T],
    view: View<'_, M, T>,
    shape: Option<Shape>,
    what: &str,
) {
    if !T::DTYPE.is_float() {
        return;
    }
    for nan in [Nan::Propagate, Nan::Ignore] {
        let policy = Policy { nan, ..Policy::default() };
        for op in
            [Op::Sum, Op::Mean, Op::L1, Op::L2, Op::Sumsq, Op::Var, Op::Std, Op::Stats, Op::Linf]
        {
            let finish = Finish { ddof: 1, ..Finish::default() };
            let partial = warpfold::reduce(x).policy(policy).partial(op).unwrap();
            let cpu = partial.finish(op, finish).map_err(|error| match error {
                Error::Empty { .. } => Error::Empty { op, ignored: !x.is_empty() },
                other => other,
            });
            let mut reduce = machine.reduce(view).policy(policy);
            if let Some(shape) = shape {
                reduce = reduce.shape(shape);
            }
            let found = reduce.output(op, finish);
            assert!(
                same(&found, &cpu),
                "exact {op} of {} {} ({what}, {nan:?}, {shape:?}): kernel {found:?}, cpu {cpu:?}",
                x.len(),
                T::DTYPE
            );
            truth::check(&found, op, nan, [x, &[]], finish, &format!("{what}, {shape:?}"));
            if op != Op::Stats {
                check_on_device(machine, &reduce, op, 1, &format!("{what}, {nan:?}, {shape:?}"));
            }
            // The partial too, to its last bit, but for how an undefined sum came about.
            let defined = op == Op::Stats || !format!("{found:?}").contains("NaN");
            if found.is_ok() && defined {
                assert_eq!(
                    reduce.partial(op).unwrap(),
                    partial,
                    "{op} ({what}, {nan:?}, {shape:?})"
                );
            }
        }
    }
}
