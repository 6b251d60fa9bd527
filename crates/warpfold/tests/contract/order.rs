//! Neither order nor split nor thread count can be seen in a result.

use warpfold::partial::{Finish, Output};
use warpfold::{Nan, Op, Result};

use crate::backend::{Ask, Backend};
use crate::oracle::cells;
use crate::sample::{Sample, Words};

on_every_backend!(permutations, pieces_of_a_stream, merged_partials, thread_counts);

/// Reductions whose bits depend on nothing but the elements.
const EXACT: [Op; 10] = {
    use Op::*;
    [Sum, Mean, Var, Std, L1, L2, Linf, MinMax, Count, Dot]
};

fn exact_ops<B: Backend>(backend: &B) -> impl Iterator<Item = Op> {
    EXACT.into_iter().filter(|op| backend.ops().contains(op))
}

/// An answer as bits, so that NaN equals NaN.
fn bits(answer: Result<Output>) -> Result<Vec<crate::oracle::Cell>> {
    answer.map(|output| cells(&output))
}

fn arrays<T: Sample>(n: usize, words: &mut Words) -> (Vec<T>, Vec<T>) {
    let x = (0..n).map(|_| T::finite(words)).collect();
    (x, (0..n).map(|_| T::finite(words)).collect())
}

fn permutations<B: Backend>(backend: &B) {
    fn body<T: Sample, B: Backend>(backend: &B) {
        let mut words = Words(21);
        let (x, y) = arrays::<T>(3000, &mut words);
        let mut pairs: Vec<(T, T)> = x.into_iter().zip(y).collect();
        let reduce = |pairs: &[(T, T)], op| {
            let (x, y): (Vec<T>, Vec<T>) = pairs.iter().copied().unzip();
            bits(backend.reduce(Ask::new(op), &x, &y))
        };
        let first: Vec<_> = exact_ops(backend).map(|op| reduce(&pairs, op)).collect();
        for _ in 0..4 {
            for k in (1..pairs.len()).rev() {
                pairs.swap(k, words.index(k + 1));
            }
            for (op, first) in exact_ops(backend).zip(&first) {
                assert_eq!(&reduce(&pairs, op), first, "{op} of {} in another order", T::DTYPE);
            }
        }
    }
    for_every_element!(body(backend));
}

fn pieces_of_a_stream<B: Backend>(backend: &B) {
    fn body<T: Sample, B: Backend>(backend: &B) {
        let mut words = Words(22);
        for n in [0, 1, 100, 5000] {
            let (x, y) = arrays::<T>(n, &mut words);
            for &op in backend.ops().iter().filter(|&&op| op != Op::Prod) {
                let ask = Ask::new(op);
                let whole = bits(backend.reduce(ask, &x, &y));
                for pieces in [1, 2, 7, 40] {
                    let mut cuts: Vec<usize> = (0..pieces).map(|_| words.index(n + 1)).collect();
                    cuts.sort_unstable();
                    let parts = bits(backend.stream(ask, &x, &y, &cuts));
                    assert_eq!(parts, whole, "{op} of {n} {} cut at {cuts:?}", T::DTYPE);
                }
            }
        }
    }
    for_every_element!(body(backend));
}

fn merged_partials<B: Backend>(backend: &B) {
    fn body<T: Sample, B: Backend>(backend: &B) {
        let mut words = Words(23);
        let (x, y) = arrays::<T>(2000, &mut words);
        for op in exact_ops(backend).filter(|&op| op != Op::MinMax) {
            let ask = Ask::new(op);
            let whole = bits(backend.reduce(ask, &x, &y));
            let mut partials: Vec<_> = (x.chunks(300).zip(y.chunks(300)))
                .map(|(x, y)| backend.partial(ask, x, y).expect("exact partials exist"))
                .collect();
            // Merged two by two in random order until one is left.
            while partials.len() > 1 {
                let taken = partials.swap_remove(words.index(partials.len()));
                let k = words.index(partials.len());
                partials[k].merge(&taken);
            }
            let merged = bits(partials[0].finish(op, Finish::default()));
            assert_eq!(merged, whole, "{op} of {} merged", T::DTYPE);
        }
    }
    for_every_element!(body(backend));
}

/// Arrays large enough that threads are used, with the first NaN and the first extreme in different grains.
fn thread_counts<B: Backend>(backend: &B) {
    fn body<T: Sample, B: Backend>(backend: &B) {
        let mut words = Words(24);
        let n = (2 << 20) / size_of::<T>() + 3;
        let (few, many) = (T::tame(&mut words), T::finite(&mut words));
        let (mut x, mut y) = (vec![few; n], vec![many; n]);
        for _ in 0..300 {
            x[words.index(n)] = T::any(&mut words);
            y[words.index(n)] = T::finite(&mut words);
        }
        for &op in backend.ops() {
            for nan in [Nan::Propagate, Nan::Ignore] {
                let mut ask = Ask::new(op);
                ask.policy.nan = nan;
                let answers = [1, 2, 8].map(|threads| {
                    ask.policy.threads = Some(threads);
                    bits(backend.reduce(ask, &x, &y))
                });
                for answer in &answers[1..] {
                    assert_eq!(answer, &answers[0], "{op} of {n} {}, {nan:?}", T::DTYPE);
                }
            }
        }
    }
    body::<i32, _>(backend);
    body::<u8, _>(backend);
    body::<warpfold::f16, _>(backend);
    body::<f32, _>(backend);
    body::<f64, _>(backend);
    body::<warpfold::Complex<f32>, _>(backend);
}
