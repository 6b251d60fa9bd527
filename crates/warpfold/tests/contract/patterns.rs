//! Arbitrary bit patterns, shrunk to the least that fails: every reduction, option and element type.
//!
//! The cases are the same in every run; `PROPTEST_CASES` asks for more of them.

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use warpfold::partial::Finish;
use warpfold::{DType, Nan, Op, Overflow};

use crate::backend::{Ask, Backend};
use crate::oracle::expected;
use crate::sample::Sample;

on_every_backend!(
    booleans,
    bytes,
    halves,
    words,
    double_words,
    half_floats,
    brain_floats,
    floats,
    doubles,
    complex_floats,
    complex_doubles
);

/// What kind of elements an array is made of.
#[derive(Debug, Clone, Copy)]
enum Mix {
    /// Any bits: mostly specials decide the result.
    Any,
    /// Edges of the format, finite or not.
    Edges,
    /// Finite bits, exponents from end to end.
    Finite,
    /// Each element beside its negation, but for the last bit of some: what is left is tiny.
    Cancelling,
    /// Everyday numbers.
    Tame,
}

/// An array described by words, so that shrinking is that of integers.
fn arrays() -> impl Strategy<Value = (Mix, Vec<[u64; 3]>)> {
    use Mix::*;
    let mix = prop::sample::select(vec![Any, Edges, Finite, Cancelling, Tame]);
    let lengths = prop_oneof![4 => 0..12usize, 2 => 12..150usize, 1 => 150..700usize];
    (mix, lengths.prop_flat_map(|n| prop::collection::vec(any::<[u64; 3]>(), n)))
}

fn build<T: Sample>(mix: Mix, words: &[[u64; 3]]) -> Vec<T> {
    let edges = T::edges();
    let mut previous = [0; 2];
    let mut build = |&[a, b, choice]: &[u64; 3]| match mix {
        Mix::Any => T::from_words([a, b]),
        Mix::Edges => T::from_words([a, b].map(|word| edges[word as usize % edges.len()])),
        Mix::Finite => finite([a, b]),
        Mix::Cancelling if choice & 1 == 0 => {
            previous = [a, b];
            finite(previous)
        }
        Mix::Cancelling => finite(previous.map(|word| word ^ sign::<T>() ^ (choice >> 1 & 1))),
        Mix::Tame => T::tame(&mut crate::sample::Words(a)),
    };
    words.iter().map(&mut build).collect()
}

/// The sign bit of a part (integers: none; they cancel by themselves).
fn sign<T: Sample>() -> u64 {
    if T::DTYPE.is_float() { 1 << (8 * size_of::<T::Component>() - 1) } else { 0 }
}

/// The element of these bits, or of the largest finite exponent where they are not finite.
fn finite<T: Sample>(words: [u64; 2]) -> T {
    let x = T::from_words(words);
    match x.numbers().iter().all(|number| number.is_finite()) {
        true => x,
        false => T::from_words(words.map(|word| word & !T::lowest_exponent_bit())),
    }
}

fn options() -> impl Strategy<Value = (Nan, Finish)> {
    let nan = prop::sample::select(vec![Nan::Propagate, Nan::Ignore]);
    let overflow = prop::sample::select(vec![Overflow::Error, Overflow::Wrap]);
    let floats =
        vec![None, Some(DType::F16), Some(DType::BF16), Some(DType::F32), Some(DType::F64)];
    let finish = (0..4u64, overflow, prop::sample::select(floats))
        .prop_map(|(ddof, overflow, round_to)| Finish { ddof, overflow, round_to });
    (nan, finish)
}

fn every_reduction_of<T: Sample, B: Backend>(backend: &B) {
    let ops = backend.ops();
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) };
    let config = match std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()) {
        Some(cases) => ProptestConfig { cases, ..config },
        None => config,
    };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let cases = (arrays(), arrays(), options());
    let result = runner.run(&cases, |((mix, x), (other_mix, mut y), (nan, finish))| {
        y.resize(x.len(), [0x3f80_0000_3c00_3f80; 3]);
        let (x, y) = (build::<T>(mix, &x), build::<T>(other_mix, &y));
        for &op in ops {
            let mut ask = Ask::new(op);
            ask.policy.nan = nan;
            ask.finish = finish;
            let y = if op == Op::Dot { y.as_slice() } else { &[] };
            let answer = backend.reduce(ask, &x, y);
            expected(op, nan, &x, y, finish).check(&answer).map_err(|why| {
                TestCaseError::fail(format!("{op} of {x:?} and {y:?} by {ask:?}: {why}"))
            })?;
        }
        Ok(())
    });
    // The reason names the shrunk arrays; the words they were made of tell nothing more.
    match result {
        Err(TestError::Fail(why, _)) => panic!("{}: {why}", T::DTYPE),
        other => other.unwrap_or_else(|abort| panic!("{}: {abort}", T::DTYPE)),
    }
}

pub fn booleans<B: Backend>(backend: &B) {
    every_reduction_of::<bool, _>(backend);
}

pub fn bytes<B: Backend>(backend: &B) {
    every_reduction_of::<i8, _>(backend);
    every_reduction_of::<u8, _>(backend);
}

pub fn halves<B: Backend>(backend: &B) {
    every_reduction_of::<i16, _>(backend);
    every_reduction_of::<u16, _>(backend);
}

pub fn words<B: Backend>(backend: &B) {
    every_reduction_of::<i32, _>(backend);
    every_reduction_of::<u32, _>(backend);
}

pub fn double_words<B: Backend>(backend: &B) {
    every_reduction_of::<i64, _>(backend);
    every_reduction_of::<u64, _>(backend);
}

pub fn half_floats<B: Backend>(backend: &B) {
    every_reduction_of::<warpfold::f16, _>(backend);
}

pub fn brain_floats<B: Backend>(backend: &B) {
    every_reduction_of::<warpfold::bf16, _>(backend);
}

pub fn floats<B: Backend>(backend: &B) {
    every_reduction_of::<f32, _>(backend);
}

pub fn doubles<B: Backend>(backend: &B) {
    every_reduction_of::<f64, _>(backend);
}

pub fn complex_floats<B: Backend>(backend: &B) {
    every_reduction_of::<warpfold::Complex<f32>, _>(backend);
}

pub fn complex_doubles<B: Backend>(backend: &B) {
    every_reduction_of::<warpfold::Complex<f64>, _>(backend);
}
