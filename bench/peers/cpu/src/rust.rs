//! Contestants of this process: the library itself, ndarray, accurate and xsum.

use accurate::sum::{OnlineExactSum, Sum2};
use accurate::traits::ParallelSumWithAccumulator;
use ndarray::ArrayView1;
use rayon::prelude::*;
use warpfold::partial::Output;
use warpfold::{DType, Element, Op, Policy, Value};
use warpfold_lab::cpu;
use xsum::{Xsum, XsumLarge, XsumSmall};

use crate::contestant::{Contestant, Outcome};

const NDARRAY: &str = "ndarray 0.17.2";
const ACCURATE: &str = "accurate 0.4.1";
const XSUM: &str = "xsum 0.1.6";

/// The library itself, by its general entry: as it plans by itself, and on one thread.
pub fn ours<T: Element>(op: Op, x: &[T]) -> Vec<Contestant<'_>> {
    let library = format!("warpfold {}", warpfold_lab::VERSION);
    let contestant = |threads: Option<usize>, name: &str| {
        let policy = Policy { threads, ..Policy::default() };
        let run = move || match cpu::reduce(op, policy, x) {
            Ok(Output::One(value)) => outcome(value),
            other => panic!("{op} gave {other:?}"),
        };
        Contestant::here(&library, name, run)
    };
    vec![contestant(None, "all threads"), contestant(Some(1), "1 thread")]
}

fn outcome(value: Value) -> Outcome {
    match value {
        Value::F32(x) => Outcome::Float(x.into()),
        Value::F64(x) => Outcome::Float(x),
        Value::I64(x) => Outcome::Integer(x.into()),
        Value::U64(x) => Outcome::Integer(x.into()),
        Value::I8(x) => Outcome::Integer(x.into()),
        Value::I16(x) => Outcome::Integer(x.into()),
        Value::I32(x) => Outcome::Integer(x.into()),
        Value::F16(x) => Outcome::Float(x.into()),
        other => panic!("no contest has a result like {other:?}"),
    }
}

/// Rust libraries that have the reduction for the type.
pub fn peers<T: Element>(op: Op, x: &[T]) -> Vec<Contestant<'_>> {
    match T::DTYPE {
        DType::F32 => f32_peers(op, bytemuck::cast_slice(x)),
        DType::F64 => {
            let x = bytemuck::cast_slice(x);
            let mut all = f64_peers(op, x);
            if op == Op::Sum {
                all.push(Contestant::here(XSUM, "XsumLarge", move || {
                    let mut sum = XsumLarge::new();
                    sum.add_list(x);
                    Outcome::Float(sum.sum())
                }));
                all.push(Contestant::here(XSUM, "XsumSmall", move || {
                    let mut sum = XsumSmall::new();
                    sum.add_list(x);
                    Outcome::Float(sum.sum())
                }));
            }
            all
        }
        _ => Vec::new(),
    }
}

macro_rules! float_peers {
    ($($name:ident: $ty:ty;)+) => {$(
        fn $name(op: Op, x: &[$ty]) -> Vec<Contestant<'_>> {
            let array = ArrayView1::from(x);
            let float = |x: $ty| Outcome::Float(x.into());
            match op {
                Op::Sum => vec![
                    Contestant::here(NDARRAY, "x.sum()", move || float(array.sum())),
                    Contestant::here(ACCURATE, "Sum2, all threads", move || {
                        float(x.par_iter().copied().parallel_sum_with_accumulator::<Sum2<_>>())
                    }),
                    Contestant::here(ACCURATE, "OnlineExactSum, all threads", move || {
                        float(x.par_iter().copied().parallel_sum_with_accumulator::<OnlineExactSum<_>>())
                    }),
                ],
                Op::Prod => vec![Contestant::here(NDARRAY, "x.product()", move || float(array.product()))],
                Op::Var => vec![Contestant::here(NDARRAY, "x.var(0)", move || float(array.var(0.0)))],
                Op::Dot => {
                    let half = x.len() / 2;
                    let (x, y) = (ArrayView1::from(&x[..half]), ArrayView1::from(&x[half..2 * half]));
                    vec![Contestant::here(NDARRAY, "x.dot(&y)", move || float(x.dot(&y)))]
                }
                _ => Vec::new(),
            }
        }
    )+};
}
float_peers! {
    f32_peers: f32;
    f64_peers: f64;
}
