//! The builder, the free functions and the accumulators answer as the backend does.

use warpfold::partial::{Finish, Output};
use warpfold::{
    Complex, DType, Exact, Integer, Moments, Nan, Op, Ordered, Overflow, Policy, Result, Value,
};
use warpfold::{Reduce, bf16, f16, reduce};

use crate::backend::{Ask, Backend, Cpu};
use crate::oracle::{Cell, cells};
use crate::sample::{Sample, Words};

const CPU: Cpu = Cpu(warpfold::plan::Isa::Avx512);

fn policies() -> impl Iterator<Item = Policy> {
    [Nan::Propagate, Nan::Ignore].into_iter().flat_map(|nan| {
        [Overflow::Error, Overflow::Wrap].map(|overflow| Policy {
            nan,
            overflow,
            ..Policy::default()
        })
    })
}

/// A policy, set choice by choice.
fn chosen<T: Sample>(x: &[T], policy: Policy) -> Reduce<'_, T> {
    reduce(x).nan(policy.nan).overflow(policy.overflow).accuracy(policy.accuracy)
}

fn ask(op: Op, policy: Policy, ddof: u64) -> Ask {
    Ask { op, policy, finish: Finish { ddof, overflow: policy.overflow, round_to: None } }
}

fn same<V: Into<Value>>(value: Result<V>, answer: Result<Output>) {
    let value = value.map(|value| vec![Cell::from(value.into())]);
    assert_eq!(value, answer.map(|output| cells(&output)));
}

fn arrays<T: Sample>() -> impl Iterator<Item = Vec<T>> {
    let mut words = Words(41);
    let edges = T::edges();
    [0, 1, 2, 50, 3000].into_iter().flat_map(move |n| {
        let finite = (0..n).map(|_| T::finite(&mut words)).collect();
        let tame = (0..n).map(|_| T::tame(&mut words)).collect();
        let edges = (0..n).map(|k| T::from_words([edges[k % edges.len()]; 2])).collect();
        [finite, tame, edges]
    })
}

#[test]
fn every_method_is_its_reduction() {
    fn body<T: Sample, B: Backend>(backend: &B) {
        for x in arrays::<T>() {
            for policy in policies() {
                let r = chosen(&x, policy);
                let answer = |op, ddof| backend.reduce(ask(op, policy, ddof), &x, &[]);
                same(r.sum(), answer(Op::Sum, 0));
                same(r.mean(), answer(Op::Mean, 0));
                for ddof in [0, 1, 2] {
                    same(r.var(ddof), answer(Op::Var, ddof));
                    same(r.std(ddof), answer(Op::Std, ddof));
                }
                same(Ok(r.l2()), answer(Op::L2, 0));
                same(r.sumsq(), answer(Op::Sumsq, 0));
                same(Ok(r.any()), answer(Op::Any, 0));
                same(Ok(r.all()), answer(Op::All, 0));
                same(Ok(r.count()), answer(Op::Count, 0));
            }
        }
    }
    for_every_element!(body(&CPU));
}

#[test]
fn every_ordered_method_is_its_reduction() {
    fn body<T: Sample + Ordered, B: Backend>(backend: &B) {
        for x in arrays::<T>() {
            for policy in policies() {
                let r = chosen(&x, policy);
                let answer = |op| backend.reduce(ask(op, policy, 0), &x, &[]);
                same(r.min(), answer(Op::Min));
                same(r.max(), answer(Op::Max));
                same(r.argmin(), answer(Op::ArgMin));
                same(r.argmax(), answer(Op::ArgMax));
                let both = r.minmax().map(|(a, b)| [a, b].map(|v| Cell::from(v.into())).to_vec());
                assert_eq!(both, answer(Op::MinMax).map(|output| cells(&output)));
            }
        }
    }
    for_real_elements!(body(&CPU));
}

/// The same exact value rounded to each float type.
#[test]
fn sum_as_rounds_the_same_value() {
    fn body<T: Sample, B: Backend>(backend: &B) {
        for x in arrays::<T>() {
            let answer = |round_to| {
                let finish = Finish { round_to: Some(round_to), ..Finish::default() };
                backend.reduce(Ask { finish, ..Ask::new(Op::Sum) }, &x, &[])
            };
            same(reduce(&x).sum_as::<f16>(), answer(DType::F16));
            same(reduce(&x).sum_as::<bf16>(), answer(DType::BF16));
            same(reduce(&x).sum_as::<f32>(), answer(DType::F32));
            same(reduce(&x).sum_as::<f64>(), answer(DType::F64));
        }
    }
    for_every_element!(body(&CPU));
}

/// One by one, a slice at a time, or merged: the accumulators hold the same.
#[test]
fn accumulators_hold_what_they_were_given() {
    fn body<T: Sample, B: Backend>(backend: &B) {
        for x in arrays::<T>() {
            let count = x.len() as u64;
            let mut one_by_one = (Exact::<T>::new(), Moments::<T>::new());
            for &x in &x {
                one_by_one.0.add(x);
                one_by_one.1.add(x);
            }
            let mut at_once = (Exact::new(), Moments::new());
            at_once.0.extend(&x);
            at_once.1.extend(&x);
            let mut merged = (Exact::new(), Moments::new());
            for piece in x.chunks(7) {
                let mut part = (Exact::new(), Moments::new());
                part.0.extend(piece);
                part.1.extend(piece);
                merged.0.merge(&part.0);
                merged.1.merge(&part.1);
            }
            let exact = one_by_one.0.to_bytes();
            for (sum, moments) in [&one_by_one, &at_once, &merged] {
                assert_eq!((sum.count(), moments.count()), (count, count));
                assert!(sum.to_bytes() == exact && moments.to_sum().to_bytes() == exact);
                assert_eq!(moments.to_bytes(), one_by_one.1.to_bytes());
            }
            let partial = backend.partial(Ask::new(Op::Sum), &x, &[]).unwrap();
            assert_eq!(partial.to_bytes(), exact);
        }
    }
    for_every_element!(body(&CPU));
}

#[test]
fn wide_sums_are_the_mathematical_ones() {
    fn body<T: Sample + Integer, B: Backend>(_: &B) {
        for x in arrays::<T>() {
            let wide = reduce(&x).sum_wide().unwrap().to_string();
            let exact = x.iter().flat_map(|x| x.numbers()).map(|number| number.to_i128());
            assert_eq!(wide, exact.sum::<i128>().to_string());
        }
    }
    for_integers!(body(&CPU));
}

#[test]
fn the_free_sum_unwraps_where_it_can() {
    let _: f32 = warpfold::sum(&[f16::ONE]);
    let _: Complex<f64> = warpfold::sum(&[Complex::new(1.0, 2.0)]);
    let _: Result<u64> = warpfold::sum(&[true]);
    assert_eq!(warpfold::sum(&[-1i8, -2]), Ok(-3));
}
