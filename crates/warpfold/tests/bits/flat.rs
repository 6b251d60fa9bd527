//! Whole arrays: reductions, partials, streams in uneven pieces, accumulators.

use warpfold::partial::Finish;
use warpfold::{
    Accuracy, DType, Dot, Exact, Moments, Nan, Op, Overflow, Policy, Stream, reduce, reduce_pair,
};

use crate::data::{KINDS, Make, array, of_every_type};
use crate::ledger::{Ledger, hex, outcome};

const LENGTHS: [usize; 7] = [0, 1, 2, 17, 64, 1000, 70_000];

/// What a caller may choose: the contract's way, and the other of each choice.
pub(crate) fn policies() -> [Policy; 2] {
    let (accuracy, nan, overflow) = (Accuracy::Fast, Nan::Ignore, Overflow::Wrap);
    [Policy::default(), Policy { accuracy, nan, overflow, ..Policy::default() }]
}

/// How a partial may be read.
pub(crate) fn finishes(op: Op) -> impl Iterator<Item = Finish> {
    let types = [None, Some(DType::BF16), Some(DType::F32), Some(DType::F64), Some(DType::I32)];
    let ddofs = if matches!(op, Op::Var | Op::Std) { 0..2 } else { 0..1 };
    types.into_iter().flat_map(move |round_to| {
        ddofs.clone().map(move |ddof| Finish { round_to, ddof, ..Finish::default() })
    })
}

pub(crate) fn record(ledger: &mut Ledger) {
    of_every_type!(of_type(ledger));
}

fn of_type<T: Make>(ledger: &mut Ledger) {
    for (kind, &n) in (0..KINDS).flat_map(|kind| LENGTHS.iter().map(move |n| (kind, n))) {
        // Long arrays take a while in a debug build.
        if n > 1000 && !matches!(kind, 0 | 3 | 8) {
            continue;
        }
        let (x, y) = (array::<T>(kind, n, 1), array::<T>(kind, n, 2));
        for policy in policies() {
            for &op in Op::ALL {
                of_op(ledger, op, policy, &x, &y, &format!("kind {kind}, {n}, {policy:?}"));
            }
        }
        let (mut sum, mut moments, mut dot) = (Exact::new(), Moments::new(), Dot::new());
        for (x, y) in x.chunks(7).zip(y.chunks(7)) {
            sum.extend(x);
            moments.extend(x);
            dot.extend(x, y).expect("they are of one length");
        }
        let all = [sum.to_bytes(), moments.to_bytes(), dot.to_bytes()].map(|bytes| hex(&bytes));
        ledger.enter(&format!("accumulators {}", T::DTYPE), &all.join(" "));
    }
}

fn of_op<T: Make>(ledger: &mut Ledger, op: Op, policy: Policy, x: &[T], y: &[T], what: &str) {
    let group = format!("{op} {}", T::DTYPE);
    let partial = match op {
        Op::Dot => reduce_pair(x, y).policy(policy).partial(op),
        _ => reduce(x).policy(policy).partial(op),
    };
    let partial = match partial {
        Ok(partial) => partial,
        Err(error) => return ledger.enter(&group, &format!("{what}: {error}")),
    };
    ledger.enter(&group, &format!("{what}: {}", hex(&partial.to_bytes())));
    for finish in finishes(op) {
        let finish = Finish { overflow: policy.overflow, ..finish };
        let line = format!("{what}, {finish:?}: {}", outcome(partial.finish(op, finish)));
        ledger.enter(&group, &line);
    }
    if op != Op::Dot && x.len() < 5000 {
        let mut stream = Stream::new(op, policy).expect("its partial is defined");
        let (mut rest, mut piece) = (x, 1);
        while !rest.is_empty() {
            let (first, others) = rest.split_at(piece.min(rest.len()));
            stream.push(first).expect("a stream of one array");
            (rest, piece) = (others, 3 * piece + 1);
        }
        let line =
            outcome(stream.finish(Finish { overflow: policy.overflow, ..Finish::default() }));
        ledger.enter(&format!("streamed {group}"), &format!("{what}: {line}"));
    }
}
