//! Every length across the kernels' blocks and tails, at every alignment.

use warpfold::partial::Finish;
use warpfold::{Nan, Op};

use crate::backend::{Ask, Backend};
use crate::oracle::{Expected, Oracle};
use crate::sample::{Sample, Words};

on_every_backend!(every_short_length, lengths_around_blocks);

/// Past two blocks of any kernel whose block is up to 256 elements.
const SHORT: usize = 600;

/// The reductions that fold floats with kernels of their own.
const FOLDS: [Op; 8] =
    [Op::Sum, Op::Var, Op::L2, Op::Sumsq, Op::Dot, Op::MinMax, Op::ArgMax, Op::Count];

/// Elements whose first one stands at every address that a 64-byte vector can tell apart.
fn offsets<T>() -> usize {
    64 / size_of::<T>()
}

/// Answers for `x[..0]`, `x[..1]` and so on.
fn for_each_prefix<T: Sample>(op: Op, x: &[T], y: &[T]) -> Vec<Expected> {
    let mut oracle = Oracle::new(op, Nan::Propagate);
    let mut answers = vec![oracle.expected(Finish::default())];
    for (&x, &y) in x.iter().zip(y) {
        oracle.push(x, Some(y));
        answers.push(oracle.expected(Finish::default()));
    }
    answers
}

fn check<T: Sample, B: Backend>(backend: &B, op: Op, x: &[T], y: &[T], expected: &Expected) {
    let answer = backend.reduce(Ask::new(op), x, y);
    if let Err(why) = expected.check(&answer) {
        panic!("{op} of {} {} at {:p}: {why}", x.len(), T::DTYPE, x);
    }
}

/// All lengths at an aligned address; all alignments at the lengths about the ends of vectors.
fn every_short_length_of<T: Sample, B: Backend>(backend: &B) {
    let mut words = Words(SHORT as u64);
    let margin = offsets::<T>();
    let values: [Vec<T>; 2] =
        std::array::from_fn(|_| (0..SHORT).map(|_| T::finite(&mut words)).collect());
    let [x, y] = &values;
    let mut buffers = [vec![x[0]; SHORT + margin], vec![y[0]; SHORT + margin]];
    for op in FOLDS {
        let expected = for_each_prefix(op, x, y);
        for offset in 0..margin {
            for (buffer, values) in buffers.iter_mut().zip(&values) {
                buffer[offset..offset + SHORT].copy_from_slice(values);
            }
            let [x, y] = buffers.each_ref().map(|buffer| &buffer[offset..]);
            let ends_vector = |n: usize| n < 4 || (n % 32).min(32 - n % 32) < 2;
            for n in (0..=SHORT).filter(|&n| offset == 0 || ends_vector(n)) {
                check(backend, op, &x[..n], &y[..n], &expected[n]);
            }
        }
    }
}

fn every_short_length<B: Backend>(backend: &B) {
    for_every_element!(every_short_length_of(backend));
}

fn lengths_around_blocks_of<T: Sample, B: Backend>(backend: &B) {
    const BLOCKS: [usize; 5] = [1 << 10, 1 << 12, 1 << 13, 1 << 14, 1 << 16];
    const LONGEST: usize = (2 << 16) + 1;
    let mut words = Words(LONGEST as u64);
    let x: Vec<T> = (0..LONGEST).map(|_| T::finite(&mut words)).collect();
    let y: Vec<T> = (0..LONGEST).map(|_| T::tame(&mut words)).collect();
    for op in FOLDS {
        let mut oracle = Oracle::new(op, Nan::Propagate);
        let mut n = 0;
        let mut lengths: Vec<usize> =
            BLOCKS.iter().flat_map(|b| [b - 1, *b, b + 1, 2 * b, 2 * b + 1]).collect();
        lengths.sort_unstable();
        for length in lengths {
            while n < length {
                oracle.push(x[n], Some(y[n]));
                n += 1;
            }
            let expected = oracle.expected(Finish::default());
            check(backend, op, &x[..n], &y[..n], &expected);
        }
    }
}

fn lengths_around_blocks<B: Backend>(backend: &B) {
    for_every_element!(lengths_around_blocks_of(backend));
}
