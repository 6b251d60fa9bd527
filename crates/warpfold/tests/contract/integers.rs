//! Integers at the edge of their results and beyond: checked on the mathematical value, or wrapped.

use warpfold::partial::Finish;
use warpfold::{Nan, Op, Overflow};

use crate::backend::{Ask, Backend};
use crate::oracle::expected;
use crate::sample::{Sample, Words};

on_every_backend!(at_the_edge, over_and_back, long_runs_of_extremes);

/// Reductions whose integer results can overflow, and those that must be exact where an `f64` would not be.
const WIDE: [Op; 10] = {
    use Op::*;
    [Sum, Dot, Mean, Var, Std, L1, L2, Linf, Prod, MinMax]
};

fn check<T: Sample, B: Backend>(backend: &B, x: &[T], y: &[T]) {
    for op in WIDE.into_iter().filter(|op| backend.ops().contains(op)) {
        for overflow in [Overflow::Error, Overflow::Wrap] {
            let mut ask = Ask::new(op);
            ask.finish.overflow = overflow;
            ask.policy.overflow = overflow;
            let y = if op == Op::Dot { y } else { &[] };
            let answer = backend.reduce(ask, x, y);
            if let Err(why) = expected(op, Nan::Propagate, x, y, ask.finish).check(&answer) {
                panic!("{op} of {} {}, {overflow:?}: {why}", x.len(), T::DTYPE);
            }
        }
    }
}

fn at_the_edge<B: Backend>(backend: &B) {
    for last in [0, 1, 2, -1, -2] {
        check(backend, &[i64::MAX - 1, last], &[1, 1]);
        check(backend, &[i64::MIN + 1, last], &[1, -1]);
        check(backend, &[1 << 32, 1 << 31, last], &[1 << 31, -1, last]);
        check(backend, &[i64::MIN, last], &[-1, i64::MIN]);
    }
    for last in [0, 1, 2, 3] {
        check(backend, &[u64::MAX - 1, last], &[1, 1]);
        check(backend, &[1 << 32, last], &[(1 << 32) - 1, (1 << 32) - 1]);
        check(backend, &[u64::MAX, last], &[u64::MAX, u64::MAX]);
    }
    check(backend, &[i32::MIN; 2], &[i32::MIN; 2]);
    check(backend, &[i32::MIN; 3], &[i32::MAX; 3]);
    check(backend, &[u32::MAX; 3], &[u32::MAX; 3]);
}

/// Partial sums out of range, and the total in it.
fn over_and_back<B: Backend>(backend: &B) {
    for copies in [1, 100, 3000] {
        let ups = vec![i64::MAX; copies];
        let downs = vec![-i64::MAX; copies];
        let x = [&ups[..], &downs, &[7]].concat();
        check(backend, &x, &vec![i64::MAX; x.len()]);
        let y = [&ups[..], &ups, &[1]].concat();
        check(backend, &x, &y);
    }
}

fn long_runs_of_extremes<B: Backend>(backend: &B) {
    fn body<T: Sample, B: Backend>(backend: &B) {
        let mut words = Words(5);
        for n in [1, 127, 128, 129, 255, 256, 257, 258, 4096, 33_000, 70_000] {
            for edge in T::edges() {
                let x = vec![T::from_words([edge; 2]); n];
                check_long(backend, &x);
            }
            let edges = T::edges();
            let mixed = (0..n).map(|_| T::from_words([edges[words.index(edges.len())]; 2]));
            check_long(backend, &mixed.collect::<Vec<T>>());
        }
    }
    for_integers!(body(backend));
}

/// All but the product, which soon has millions of bits.
fn check_long<T: Sample, B: Backend>(backend: &B, x: &[T]) {
    for op in [Op::Sum, Op::Dot, Op::Var, Op::L1, Op::Count] {
        if backend.ops().contains(&op) {
            let y = if op == Op::Dot { x } else { &[] };
            let answer = backend.reduce(Ask::new(op), x, y);
            let expected = expected(op, Nan::Propagate, x, y, Finish::default());
            expected.check(&answer).unwrap_or_else(|why| panic!("{op} of {}: {why}", T::DTYPE));
        }
    }
}
