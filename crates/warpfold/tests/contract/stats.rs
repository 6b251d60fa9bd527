//! `stats`, field by field: each is what the reduction of its name answers, for every element type.

use warpfold::partial::{Finish, Output};
use warpfold::{Error, Nan, Op, Ordered, Overflow, Policy, Value, reduce};

use crate::backend::{Ask, Backend, Cpu};
use crate::oracle::{Expected, Refusal, check_summary};
use crate::sample::{Sample, Words};

on_every_backend!(nothing_to_tell, few_elements, edges_of_every_type, any_bits, several_threads);

/// Takes the stats of an array in pieces, and holds each field against the oracle.
fn check<T: Sample, B: Backend>(
    backend: &B,
    x: &[T],
    cuts: &[usize],
    policy: Policy,
    finish: Finish,
) {
    let context = format!("stats of {} {} by {policy:?}, {finish:?}", x.len(), T::DTYPE);
    let ask = Ask { policy, finish, ..Ask::new(Op::Stats) };
    check_summary(backend.stream(ask, x, &[], cuts), policy.nan, x, finish)
        .unwrap_or_else(|why| panic!("{context}: {why}"));
}

fn check_all<T: Sample, B: Backend>(backend: &B, x: &[T], cuts: &[usize]) {
    for nan in [Nan::Propagate, Nan::Ignore] {
        for (ddof, overflow) in [(0, Overflow::Error), (1, Overflow::Wrap), (3, Overflow::Wrap)] {
            let policy = Policy { nan, overflow, ..Policy::default() };
            check(backend, x, cuts, policy, Finish { ddof, overflow, round_to: None });
        }
    }
}

fn nothing_to_tell<B: Backend>(backend: &B) {
    fn body<T: Sample, B: Backend>(backend: &B) {
        check_all::<T, B>(backend, &[], &[]);
        check_all::<T, B>(backend, &[], &[0, 0]);
        check_all(backend, &[T::near(f64::NAN); 5], &[2]);
        check_all(backend, &[T::near(f64::NAN), T::near(1.0)], &[1]);
    }
    for_every_element!(body(backend));
}

fn few_elements<B: Backend>(backend: &B) {
    fn body<T: Sample, B: Backend>(backend: &B) {
        let mut words = Words(61);
        for n in 1..40 {
            let x: Vec<T> = (0..n).map(|_| T::tame(&mut words)).collect();
            check_all(backend, &x, &[n / 2]);
        }
    }
    for_every_element!(body(backend));
}

fn edges_of_every_type<B: Backend>(backend: &B) {
    fn body<T: Sample, B: Backend>(backend: &B) {
        let edges = T::edges();
        for (i, &first) in edges.iter().enumerate() {
            for &second in &edges[i..] {
                let x = [[first, second], [second, first]].map(T::from_words);
                check_all(backend, &x, &[]);
            }
        }
        // Sums beyond 64 bits of either sign, and equal extremes far apart.
        for &edge in &edges {
            let mut x = vec![T::from_words([edge; 2]); 700];
            x[300] = T::near(1.0);
            check_all(backend, &x, &[100, 101]);
        }
    }
    for_every_element!(body(backend));
}

fn any_bits<B: Backend>(backend: &B) {
    fn body<T: Sample, B: Backend>(backend: &B) {
        let mut words = Words(62);
        for n in [65, 1000, 5000] {
            let any: Vec<T> = (0..n).map(|_| T::any(&mut words)).collect();
            let finite: Vec<T> = (0..n).map(|_| T::finite(&mut words)).collect();
            let mut holed: Vec<T> = (0..n).map(|_| T::tame(&mut words)).collect();
            holed.iter_mut().step_by(9).for_each(|x| *x = T::near(f64::NAN));
            for x in [any, finite, holed] {
                check_all(backend, &x, &[n / 7, n / 2]);
            }
        }
    }
    for_every_element!(body(backend));
}

/// Past the size at which threads are worth their start.
fn several_threads<B: Backend>(backend: &B) {
    fn body<T: Sample, B: Backend>(backend: &B) {
        let mut words = Words(63);
        let few: Vec<T> = (0..4096).map(|_| T::tame(&mut words)).collect();
        let mut x: Vec<T> = few.iter().cycle().take(60_000).copied().collect();
        x[59_999] = T::near(100.0);
        x[41_000] = T::near(f64::NAN);
        for threads in [1, 4] {
            for nan in [Nan::Propagate, Nan::Ignore] {
                let policy = Policy { nan, threads: Some(threads), ..Policy::default() };
                check(backend, &x, &[], policy, Finish::default());
            }
        }
    }
    body::<i16, B>(backend);
    body::<f32, B>(backend);
    body::<f64, B>(backend);
    body::<warpfold::Complex<f32>, B>(backend);
}

/// The typed methods read the same partial, with the same choices.
#[test]
fn methods_read_what_the_summary_says() {
    fn body<T: Sample + Ordered, B: Backend>(_: &B) {
        let mut words = Words(64);
        for n in [1, 2, 500] {
            let x: Vec<T> = (0..n).map(|_| T::any(&mut words)).collect();
            for overflow in [Overflow::Error, Overflow::Wrap] {
                let stats = reduce(&x).overflow(overflow).stats();
                let finish = Finish { ddof: 1, overflow, round_to: None };
                let bits = |value: Value| crate::oracle::Cell::from(value);
                let sum = stats.sum(overflow).map(|sum| bits(sum.into()));
                assert_eq!(sum, reduce(&x).overflow(overflow).sum().map(|sum| bits(sum.into())));
                let Ok(summary) = stats.summary(finish) else {
                    assert!(matches!(sum, Err(Error::Overflow { .. })), "{sum:?}");
                    continue;
                };
                assert_eq!(sum, Ok(bits(summary.sum)));
                let same = |field: Option<Value>, value: Option<Value>| {
                    assert_eq!(field.map(bits), value.map(bits), "{}", T::DTYPE);
                };
                same(summary.mean, stats.mean().ok().map(Into::into));
                same(summary.var, stats.var(1).ok().map(Into::into));
                same(summary.std, stats.std(1).ok().map(Into::into));
                same(summary.min, stats.min().ok().map(Into::into));
                same(summary.max, stats.max().ok().map(Into::into));
                assert_eq!(summary.argmin, stats.argmin().ok());
                assert_eq!(summary.argmax, stats.argmax().ok());
                same(Some(summary.l1), Some(stats.l1().into()));
                same(Some(summary.l2), Some(stats.l2().into()));
            }
        }
    }
    for_real_elements!(body(&Cpu(warpfold::plan::Isa::Avx512)));
}

/// An integer sum too large wraps if that was chosen, and is an error if not.
#[test]
fn the_sum_of_stats_wraps_where_that_is_chosen() {
    let stats = reduce(&[i64::MIN, -1, -1]).stats();
    assert_eq!(stats.sum(Overflow::Wrap), Ok(i64::MAX - 1));
    let error = stats.sum(Overflow::Error);
    assert!(matches!(error, Err(Error::Overflow { op: Op::Sum, result: "i64", .. })), "{error:?}");
    let refused = Expected::Refused(Refusal::Overflow, Op::Sum);
    refused.check(&error.map(|sum| Output::One(sum.into()))).unwrap();
    assert_eq!(reduce(&[u64::MAX, 2]).stats().sum(Overflow::Wrap), Ok(1));
}
