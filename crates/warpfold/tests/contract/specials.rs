//! Infinities, NaNs and zeros of either sign, at every place of a vector, propagated and ignored.

use warpfold::{Complex, Nan, Op, bf16, f16};

use crate::backend::{Ask, Backend};
use crate::oracle::expected;
use crate::sample::{Sample, Words};

on_every_backend!(
    one_special_anywhere,
    two_specials_anywhere,
    nan_payloads_never_show,
    zero_times_infinity,
    ignoring_leaves_the_rest,
    nan_is_nonzero,
);

fn check<T: Sample, B: Backend>(backend: &B, op: Op, nan: Nan, x: &[T], y: &[T]) {
    let mut ask = Ask::new(op);
    ask.policy.nan = nan;
    let answer = backend.reduce(ask, x, y);
    if let Err(why) = expected(op, nan, x, y, ask.finish).check(&answer) {
        panic!("{op} of {x:?} and {y:?} with {nan:?}: {why}");
    }
}

fn check_all<T: Sample, B: Backend>(backend: &B, x: &[T], y: &[T]) {
    for nan in [Nan::Propagate, Nan::Ignore] {
        for &op in backend.ops() {
            check(backend, op, nan, x, if op == Op::Dot { y } else { &[] });
        }
    }
}

macro_rules! for_floats {
    ($function:ident($backend:ident)) => {
        $function::<f16, _>($backend);
        $function::<bf16, _>($backend);
        $function::<f32, _>($backend);
        $function::<f64, _>($backend);
        $function::<Complex<f32>, _>($backend);
        $function::<Complex<f64>, _>($backend);
    };
}

/// An infinity of either sign, a NaN, zeros, the largest and the smallest number.
const SPECIALS: [f64; 6] = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -0.0, 0.0, f64::MAX];

fn one_special_anywhere<B: Backend>(backend: &B) {
    fn body<T: Sample, B: Backend>(backend: &B) {
        let mut words = Words(1);
        let x: Vec<T> = (0..131).map(|_| T::tame(&mut words)).collect();
        for special in SPECIALS {
            for k in (0..x.len()).filter(|&k| !(70..128).contains(&k)) {
                let mut x = x.clone();
                x[k] = T::near(special);
                let mut reversed = x.clone();
                reversed.reverse();
                check_all(backend, &x, &reversed);
            }
        }
    }
    for_floats!(body(backend));
}

fn two_specials_anywhere<B: Backend>(backend: &B) {
    fn body<T: Sample, B: Backend>(backend: &B) {
        let mut words = Words(2);
        for n in [2, 3, 17, 70, 700] {
            let x: Vec<T> = (0..n).map(|_| T::tame(&mut words)).collect();
            for one in SPECIALS {
                for other in SPECIALS {
                    let mut x = x.clone();
                    x[words.index(n)] = T::near(one);
                    x[words.index(n)] = T::near(other);
                    let y = x.clone();
                    x[words.index(n)] = T::near(other);
                    check_all(backend, &x, &y);
                }
            }
        }
    }
    for_floats!(body(backend));
}

/// Whatever NaN goes in, the positive quiet one without payload comes out.
fn nan_payloads_never_show<B: Backend>(backend: &B) {
    fn body<T: Sample, B: Backend>(backend: &B) {
        for edge in T::edges() {
            let nan = T::from_words([edge, edge]);
            if nan.numbers()[0].is_nan() {
                for n in [1, 5, 40, 300] {
                    let mut x = vec![T::near(1.0); n];
                    x[n / 2] = nan;
                    check_all(backend, &x, &x);
                    check_all(backend, &vec![nan; n], &x);
                }
            }
        }
    }
    for_floats!(body(backend));
}

fn zero_times_infinity<B: Backend>(backend: &B) {
    fn body<T: Sample, B: Backend>(backend: &B) {
        let special = [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        for n in [1, 9, 130] {
            for a in special {
                for b in special {
                    let (mut x, mut y) = (vec![T::near(2.0); n], vec![T::near(-3.0); n]);
                    (x[n / 2], y[n / 2]) = (T::near(a), T::near(b));
                    check(backend, Op::Dot, Nan::Propagate, &x, &y);
                    check(backend, Op::Dot, Nan::Ignore, &x, &y);
                }
            }
        }
    }
    for_floats!(body(backend));
}

/// With every second or every single element a NaN.
fn ignoring_leaves_the_rest<B: Backend>(backend: &B) {
    fn body<T: Sample, B: Backend>(backend: &B) {
        let mut words = Words(3);
        for n in [1, 2, 3, 33, 64, 257, 5000] {
            let mut x: Vec<T> = (0..n).map(|_| T::finite(&mut words)).collect();
            let y: Vec<T> = (0..n).map(|_| T::finite(&mut words)).collect();
            x.iter_mut().step_by(2).for_each(|x| *x = T::near(f64::NAN));
            check_all(backend, &x, &y);
            x.fill(T::near(f64::NAN));
            check_all(backend, &x, &y);
        }
    }
    for_floats!(body(backend));
}

fn nan_is_nonzero<B: Backend>(backend: &B) {
    fn body<T: Sample, B: Backend>(backend: &B) {
        for n in [1, 20, 400] {
            let mut x = vec![T::near(-0.0); n];
            for op in [Op::Any, Op::All, Op::Count] {
                check(backend, op, Nan::Propagate, &x, &[]);
                x[n - 1] = T::near(f64::NAN);
                check(backend, op, Nan::Propagate, &x, &[]);
                check(backend, op, Nan::Ignore, &x, &[]);
            }
        }
    }
    for_floats!(body(backend));
}
