//! Many reductions of one array by the kernels on some machine, each compared with the CPU's of its elements alone and, some of them, with the oracle's.

use warpfold::kernel::{DeviceSegments, Machine, ReduceBatched, View};
use warpfold::partial::{Finish, Output};
use warpfold::{Accuracy, DType, Element, Error, Nan, Op, Policy, Result, Value, with_element};

use crate::compare::{near, same};
use crate::sample::Sample;
use crate::{bound, ops, truth};

/// The results of an op, as values.
fn outputs<M: Machine, T: Element>(reduce: &ReduceBatched<'_, M, T>, op: Op) -> Result<Vec<Value>> {
    with_element!(reduce.plan(op)?.output(), R => {
        let values = reduce.on_device::<R>(op)?.download()?;
        Ok(R::as_parts(&values).iter().map(|&part| part.into()).collect())
    })
}

fn reference<T: Element>(x: &[T], op: Op, policy: Policy) -> Result<Output> {
    warpfold::reduce(x).policy(policy).partial(op)?.finish(op, Finish::default()).map_err(|error| {
        match error {
            Error::Empty { .. } => Error::Empty { op, ignored: !x.is_empty() },
            other => other,
        }
    })
}

/// Every reduction of the segments between offsets.
pub(crate) fn check_segments<'a, M: Machine + 'a, T: Sample>(
    machine: &M,
    x: &[T],
    view: View<'_, M, T>,
    offsets: &[u64],
    segments: impl Fn() -> DeviceSegments<'a, M>,
    grid: Option<u32>,
    what: &str,
) {
    // Moments and statistics, and both extremes at once, have tests of their own.
    let apart = |op: &Op| matches!(op, Op::Var | Op::Std | Op::Stats | Op::MinMax);
    for op in ops::of_one_array().filter(|op| !apart(op)) {
        let rounds = ops::rounds(op);
        if matches!(op, Op::L2 | Op::Sumsq) && !T::DTYPE.is_float() {
            continue;
        }
        for nan in [Nan::Propagate, Nan::Ignore] {
            let ignores = nan == Nan::Ignore;
            // Means that count what they skip take a block a segment: slow in a simulator.
            if ignores && (!T::DTYPE.is_float() || (op == Op::Mean && offsets.len() > 400)) {
                continue;
            }
            let exact = Policy { nan, ..Policy::default() };
            let policy = Policy { accuracy: Accuracy::Fast, ..exact };
            let mut reduce = machine.reduce_segments(view, segments()).policy(policy);
            if let Some(blocks) = grid {
                reduce = reduce.grid(blocks);
            }
            let found = outputs(&reduce, op);
            let parts = offsets.windows(2).map(|pair| &x[pair[0] as usize..pair[1] as usize]);
            let expected: Vec<Result<Output>> =
                parts.clone().map(|x| reference(x, op, exact)).collect();
            let of = format!("{op} of {} {} ({what}, {nan:?}, {grid:?})", x.len(), T::DTYPE);
            let failed = expected.iter().position(|result| result.is_err());
            let found = match (found, failed) {
                (Err(Error::Output { output, error }), Some(at)) => {
                    assert_eq!(output, warpfold::At::Segment(at as u64), "{of}");
                    match (&*error, expected[at].as_ref().unwrap_err()) {
                        (Error::Overflow { .. }, Error::Overflow { .. }) => {}
                        (a, b) => assert_eq!(a, b, "{of}"),
                    }
                    continue;
                }
                (Ok(found), None) => found,
                (found, failed) => panic!("{of}: {found:?} where the CPU says {failed:?}"),
            };
            assert_eq!(found.len(), expected.len(), "{of}");
            for (at, ((found, expected), part)) in
                found.iter().zip(&expected).zip(parts).enumerate()
            {
                let found = Ok(Output::One(*found));
                let agree = if rounds && T::DTYPE.is_float() && !is_integer(expected) {
                    near(&found, expected, bound::of(op, part, part.len() as u64))
                } else {
                    same(&found, expected)
                };
                if !(rounds && T::DTYPE.is_float()) {
                    truth::check_output(at, &found, op, nan, part, Finish::default(), &of);
                }
                assert!(
                    agree,
                    "{of}: segment {at} of {part:?}: kernel {found:?}, cpu {expected:?}"
                );
            }
        }
    }
}

fn is_integer(result: &Result<Output>) -> bool {
    matches!(result, Ok(Output::One(value)) if !matches!(value, Value::F32(_) | Value::F64(_)))
}

/// Whether kernels of segments take the type.
pub(crate) fn takes(dtype: DType) -> bool {
    !dtype.is_complex()
}

/// Correctly rounded results of segments: the CPU's bits.
#[allow(clippy::too_many_arguments, reason = "an array, how it is cut, and what is asked")]
pub(crate) fn check_exact_segments<'a, M: Machine + 'a, T: Sample>(
    machine: &M,
    x: &[T],
    view: View<'_, M, T>,
    offsets: &[u64],
    segments: impl Fn() -> DeviceSegments<'a, M>,
    grid: Option<u32>,
    ops: &[(Op, u64)],
    what: &str,
) {
    let requested = ops.iter().flat_map(|&op| [(op, Nan::Propagate), (op, Nan::Ignore)]);
    for ((op, ddof), nan) in requested {
        let policy = Policy { nan, ..Policy::default() };
        let mut reduce = machine.reduce_segments(view, segments()).policy(policy).ddof(ddof);
        if let Some(blocks) = grid {
            reduce = reduce.grid(blocks);
        }
        let parts = offsets.windows(2).map(|pair| &x[pair[0] as usize..pair[1] as usize]);
        let expected: Vec<Result<Output>> = parts
            .clone()
            .map(|x| {
                let finish = Finish { ddof, ..Finish::default() };
                let partial = warpfold::reduce(x).policy(policy).partial(op)?;
                partial.finish(op, finish)
            })
            .collect();
        let of = format!("exact {op} of {} ({what}, {nan:?}, {grid:?})", T::DTYPE);
        let failed = expected.iter().position(|result| result.is_err());
        let found = match (outputs(&reduce, op), failed) {
            (Err(Error::Output { output, error }), Some(at)) => {
                assert_eq!(output, warpfold::At::Segment(at as u64), "{of}");
                match (*error, expected[at].as_ref().unwrap_err()) {
                    (Error::Empty { op: a, .. }, &Error::Empty { op: b, .. }) => assert_eq!(a, b),
                    (a, b) => assert_eq!(a, *b, "{of}"),
                }
                continue;
            }
            (Ok(found), None) => found,
            (found, failed) => panic!("{of}: {found:?} where the CPU says {failed:?}"),
        };
        assert_eq!(found.len() + 1, offsets.len());
        for (at, ((found, expected), part)) in found.iter().zip(&expected).zip(parts).enumerate() {
            let found = Ok(Output::One(*found));
            truth::check_output(
                at,
                &found,
                op,
                nan,
                part,
                Finish { ddof, ..Finish::default() },
                &of,
            );
            assert!(
                same(&found, expected),
                "{of}: segment {at} of {part:?}: kernel {found:?}, cpu {expected:?}"
            );
        }
    }
}
