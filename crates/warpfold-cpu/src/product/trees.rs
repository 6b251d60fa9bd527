//! What lanes make of pieces and of short inputs, beside the same tree leaf by leaf: bit for bit, on every instruction set.

use super::fold::{ElementProduct, OfComplexes, OfReals, Scratch};
use super::{FoldRange, Several};
use crate::isa::{Job, Target, with_isa, with_lanes};
use crate::{Nan, bf16, f16};
use warpfold_exact::tree::Interval;
use warpfold_num::random::Words;
use warpfold_plan::plan::Isa;

const ISAS: [Isa; 3] = [Isa::Baseline, Isa::Avx2, Isa::Avx512];

/// Numbers about one; over a hundred binades; with zeros; with NaNs and infinities; of any bits.
fn number(words: &mut Words, data: usize) -> f64 {
    let bits = words.next();
    let mantissa = 1.0 + (bits >> 12) as f64 / (1u64 << 52) as f64;
    let mantissa = if bits & 1 == 0 { -mantissa } else { mantissa };
    match (data, words.next() % 300) {
        (0, _) => mantissa * 0.7,
        (1, power) => mantissa * 2f64.powi((power % 100) as i32 - 50),
        (2, 0..3) => 0.0,
        (3, 0) => f64::NAN,
        (3, 1) => f64::NEG_INFINITY,
        (4, _) => f64::from_bits(words.next()),
        _ => mantissa,
    }
}

fn array<K: ElementProduct>(
    data: usize,
    n: usize,
    of: fn(f64, u64) -> K::Component,
) -> Vec<K::Component> {
    let mut words = Words(7 + data as u64);
    let mut part = || {
        let x = number(&mut words, data);
        of(if data == 4 { f64::NAN } else { x }, words.next())
    };
    (0..n * K::PARTS).map(|_| part()).collect()
}

fn piece<K: ElementProduct>(
    isa: Isa,
    scratch: &mut Scratch<K>,
    x: &[K::Component],
    first: u64,
) -> String {
    format!("{:?}", with_isa(isa, FoldRange { scratch, x, first }))
}

fn pieces<K: ElementProduct>(of: fn(f64, u64) -> K::Component) {
    let of_elements = |x: &[K::Component], n: usize| x[..n * K::PARTS].to_vec();
    for data in 0..5 {
        for nan in [Nan::Propagate, Nan::Ignore] {
            let x = array::<K>(data, 20_000, of);
            let mut rooms = ISAS.map(|isa| (isa, Scratch::<K>::new(nan)));
            // As text, in which a NaN is itself.
            let mut check = |x: &[K::Component], first: u64, expected: &Interval<K::Operator>| {
                let expected = format!("{expected:?}");
                for (isa, scratch) in &mut rooms {
                    let found = piece(*isa, scratch, x, first);
                    assert!(found == expected, "{isa} {data} {nan:?} {} from {first}", x.len());
                }
            };
            let mut leaves = Interval::new(0);
            for (n, parts) in (1..=2049).zip(x.chunks_exact(K::PARTS)) {
                leaves.leaf(K::OPERATOR, K::leaf(parts, nan));
                if n < 100 || n % 61 == 0 || n % 1024 < 2 {
                    check(&of_elements(&x, n), 0, &leaves);
                }
            }
            for (first, n) in [(1, 40), (31, 1100), (33, 3000), (999, 20_000), (8192, 20_000)] {
                let mut leaves = Interval::new(first);
                let x = of_elements(&x, n);
                x.chunks_exact(K::PARTS).for_each(|x| leaves.leaf(K::OPERATOR, K::leaf(x, nan)));
                check(&x, first, &leaves);
            }
        }
    }
}

struct Inputs<'i, K: ElementProduct>(&'i mut Several<K>, &'i [K::Component], &'i [(usize, usize)]);

impl<K: ElementProduct> Job for Inputs<'_, K> {
    type Output = Vec<[f64; 5]>;

    #[inline(always)]
    fn run<C: Target>(self) -> Vec<[f64; 5]> {
        let Inputs(several, x, inputs) = self;
        let mut found = Vec::new();
        for &(from, to) in inputs {
            let input = &x[from * K::PARTS..to * K::PARTS];
            if !several.fits(input) {
                several.multiply::<C>(|product| found.push(product));
            }
            // SAFETY: the elements are borrowed until the end of the function.
            unsafe { several.take(input, &x[from * K::PARTS..]) };
        }
        several.multiply::<C>(|product| found.push(product));
        found
    }
}

fn inputs<K: ElementProduct>(of: fn(f64, u64) -> K::Component) {
    const N: usize = 30_000;
    let lengths: [fn(u64) -> usize; 5] =
        [|_| 4, |k| k as usize % 40, |_| 64, |k| k as usize % 3000, |_| 4096];
    for data in 0..5 {
        for (nan, length) in [Nan::Propagate, Nan::Ignore]
            .into_iter()
            .zip(lengths.iter().cycle())
            .chain(lengths.iter().map(|length| (Nan::Propagate, length)))
        {
            let x = array::<K>(data, N, of);
            let (mut words, mut bounds, mut at) = (Words(3), Vec::new(), 0);
            loop {
                let to = at + length(words.next() >> 7);
                if to > N {
                    break;
                }
                bounds.push((at, to));
                at = to;
            }
            let mut several = Several::<K>::new(nan);
            for isa in ISAS.into_iter().filter(|&isa| crate::isa::has_lanes(isa)) {
                let found = with_lanes(isa, Inputs(&mut several, &x, &bounds));
                assert_eq!(found.len(), bounds.len());
                for (found, &(from, to)) in found.iter().zip(&bounds) {
                    let exponent = if K::PARTS == 1 { 2 } else { 4 };
                    if from == to || !found[exponent].is_finite() {
                        assert!(from == to || data > 0, "{isa}: numbers about one have a product");
                        continue;
                    }
                    let mut leaves = Interval::new(0);
                    let x = &x[from * K::PARTS..to * K::PARTS];
                    x.chunks_exact(K::PARTS)
                        .for_each(|x| leaves.leaf(K::OPERATOR, K::leaf(x, nan)));
                    let expected = K::numbers(&leaves.value(K::OPERATOR));
                    let bits = |numbers: &[f64; 5]| numbers.map(|x| (x + 0.0).to_bits());
                    assert_eq!(bits(found), bits(&expected), "{isa} {data} {nan:?} {from} to {to}");
                }
            }
        }
    }
}

macro_rules! each_type {
    ($check:ident) => {
        $check::<OfReals<f16>>(|x, bits| {
            if x.is_nan() { f16::from_bits(bits as u16) } else { f16::from_f64(x) }
        });
        $check::<OfReals<bf16>>(|x, bits| {
            if x.is_nan() { bf16::from_bits(bits as u16) } else { bf16::from_f64(x) }
        });
        $check::<OfReals<f32>>(
            |x, bits| if x.is_nan() { f32::from_bits(bits as u32) } else { x as f32 },
        );
        $check::<OfReals<f64>>(|x, bits| if x.is_nan() { f64::from_bits(bits) } else { x });
        $check::<OfComplexes<f32>>(
            |x, bits| if x.is_nan() { f32::from_bits(bits as u32) } else { x as f32 },
        );
        $check::<OfComplexes<f64>>(|x, bits| if x.is_nan() { f64::from_bits(bits) } else { x });
    };
}

#[test]
fn pieces_of_any_length_and_start_are_those_of_their_leaves() {
    each_type!(pieces);
}

#[test]
fn short_inputs_are_those_of_their_leaves() {
    each_type!(inputs);
}
