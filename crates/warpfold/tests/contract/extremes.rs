//! The order of the contract: NaN, zeros of either sign, ties, and the first index, wherever they stand.

use warpfold::{Nan, Op};

use crate::backend::{Ask, Backend};
use crate::oracle::expected;
use crate::sample::{Sample, Words};

on_every_backend!(one_extreme_anywhere, ties_take_the_first, zeros_have_signs, orders_of_edges);

const OPS: [Op; 5] = [Op::Min, Op::Max, Op::MinMax, Op::ArgMin, Op::ArgMax];

fn check<T: Sample, B: Backend>(backend: &B, x: &[T]) {
    for op in OPS {
        for nan in [Nan::Propagate, Nan::Ignore] {
            let mut ask = Ask::new(op);
            ask.policy.nan = nan;
            let answer = backend.reduce(ask, x, &[]);
            if let Err(why) = expected(op, nan, x, &[], ask.finish).check(&answer) {
                panic!("{op} of {x:?} with {nan:?}: {why}");
            }
        }
    }
}

fn one_extreme_anywhere<B: Backend>(backend: &B) {
    fn body<T: Sample, B: Backend>(backend: &B) {
        for n in [1, 2, 65, 260] {
            for k in (0..n).filter(|k| k % 64 < 4 || k % 16 > 14) {
                for edge in T::edges() {
                    let mut x = vec![T::near(1.0); n];
                    x[k] = T::from_words([edge; 2]);
                    check(backend, &x);
                }
            }
        }
    }
    body::<bool, _>(backend);
    body::<i8, _>(backend);
    body::<u16, _>(backend);
    body::<i64, _>(backend);
    body::<warpfold::bf16, _>(backend);
    body::<f32, _>(backend);
    body::<f64, _>(backend);
}

fn ties_take_the_first<B: Backend>(backend: &B) {
    fn body<T: Sample, B: Backend>(backend: &B) {
        let mut words = Words(11);
        for n in [2, 40, 129, 1000, 70_000] {
            // Few values, so that each stands often.
            let x: Vec<T> = (0..n).map(|_| T::near((words.index(3) as f64) - 1.0)).collect();
            check(backend, &x);
            check(backend, &vec![x[0]; n]);
        }
    }
    for_real_elements!(body(backend));
}

fn zeros_have_signs<B: Backend>(backend: &B) {
    fn body<T: Sample, B: Backend>(backend: &B) {
        for n in [2, 17, 64, 300] {
            for k in 0..n {
                let mut x = vec![T::near(0.0); n];
                x[k] = T::near(-0.0);
                check(backend, &x);
                x.fill(T::near(-0.0));
                x[k] = T::near(0.0);
                check(backend, &x);
            }
        }
    }
    body::<warpfold::f16, _>(backend);
    body::<warpfold::bf16, _>(backend);
    body::<f32, _>(backend);
    body::<f64, _>(backend);
}

/// Every pair of edges, far apart in the array and next to each other.
fn orders_of_edges<B: Backend>(backend: &B) {
    fn body<T: Sample, B: Backend>(backend: &B) {
        for a in T::edges() {
            for b in T::edges() {
                let [a, b] = [a, b].map(|word| T::from_words([word; 2]));
                check(backend, &[a, b]);
                let mut x = vec![a; 200];
                x[150] = b;
                check(backend, &x);
            }
        }
    }
    for_real_elements!(body(backend));
}
