//! The definition beside exact products, and the theorem that powers of two and signs do not show.

use num_bigint::{BigInt, BigUint};
use proptest::prelude::*;
use warpfold_num::Complex;

use super::*;
use crate::double_double::{exponent, fast_two_sum, power_of_two, two_product};
use crate::tree::Operator;

/// A chain of factors that are multiplied as they are, with no exponent apart.
fn unscaled(factors: &[f64]) -> DoubleDouble {
    let (mut high, mut low) = (1.0, 0.0);
    for m in factors {
        let p = two_product(high, *m);
        low = f64::mul_add(low, *m, p.low);
        high = p.high;
    }
    fast_two_sum(high, low)
}

fn exact(product: &RealProduct) -> (BigInt, i64) {
    let part = |x: f64| -> BigInt {
        let bits = x.to_bits();
        let field = (bits >> 52 & 0x7ff) as i64;
        let mantissa = BigInt::from(bits & ((1 << 52) - 1) | u64::from(field > 0) << 52);
        // In units of 2^-1300.
        (mantissa << (field.max(1) - 1075 + 1300)) * if x < 0.0 { -1 } else { 1 }
    };
    let sum: BigInt = part(product.mantissa.high) + part(product.mantissa.low);
    (if product.negative { -sum } else { sum }, product.exponent - 1300)
}

/// A factor with few digits, so that rounding errors vanish and cancel often, or with many.
fn factor() -> impl Strategy<Value = f64> {
    let odd = prop_oneof![1u64..8, (1u64 << 26)..(1 << 27), (1u64 << 52)..(1 << 53)];
    (odd, -20i64..20, any::<bool>()).prop_map(|(odd, power, negative)| {
        let x = odd as f64;
        x * power_of_two(power - exponent(x)) * if negative { -1.0 } else { 1.0 }
    })
}

proptest! {
    #[test]
    fn powers_of_two_and_signs_do_not_show(factors in prop::collection::vec(factor(), 1..=32)) {
        let defined = Reals { join: 1 }.run(&factors);
        let DoubleDouble { high, low } = unscaled(&factors);
        let scale = power_of_two(defined.exponent) * if defined.negative { -1.0 } else { 1.0 };
        prop_assert_eq!(defined.mantissa.high * scale, high);
        prop_assert_eq!(defined.mantissa.low * scale, low);
    }

    #[test]
    fn runs_and_blocks_are_exact_to_ninety_bits(factors in prop::collection::vec(factor(), 1..=200)) {
        let reals = Reals { join: 1 };
        let runs: Vec<RealProduct> = factors.chunks(32).map(|run| reals.run(run)).collect();
        let found = reals.block(&runs);
        let expected = factors.iter().fold((BigInt::from(1), 0i64), |(all, power), x| {
            let bits = x.to_bits();
            let mantissa = BigInt::from(bits & ((1 << 52) - 1) | 1 << 52);
            let signed = if *x < 0.0 { -mantissa } else { mantissa };
            (all * signed, power + (bits >> 52 & 0x7ff) as i64 - 1075)
        });
        let (a, e) = exact(&found);
        let (b, f) = expected;
        let least = e.min(f);
        let (a, b) = (a << (e - least), b << (f - least));
        let apart: BigUint = (&a - &b).magnitude() << 90;
        prop_assert!(apart <= *b.magnitude());
    }

    #[test]
    fn pieces_in_any_order_are_the_whole(
        parts in prop::collection::vec((factor(), factor()), 1..3000),
        cuts in prop::collection::vec(0usize..3000, 0..6),
        reversed in any::<bool>(),
    ) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % parts.len()).collect();
        cuts.extend([0, parts.len()]);
        cuts.sort_unstable();
        let complexes = Complexes { join: 1 };
        let piece = |from: usize, to: usize| {
            let mut interval = Interval::new(from as u64);
            parts[from..to].iter().for_each(|(re, im)| interval.leaf(complexes, [*re, *im]));
            Product::<crate::Complex<f64>>::of_complexes([interval])
        };
        let whole = piece(0, parts.len());
        let mut pieces: Vec<_> = cuts.windows(2).map(|cut| piece(cut[0], cut[1])).collect();
        if reversed {
            pieces.reverse();
        }
        let mut merged = Product::new();
        pieces.iter().for_each(|piece| merged.merge(piece));
        prop_assert_eq!(merged.to_bytes(), whole.to_bytes());
        prop_assert_eq!(Product::from_bytes(&merged.to_bytes()), Ok(merged));
    }
}

#[test]
fn pieces_that_are_missing_or_there_twice_are_named() {
    let reals = Reals { join: 2 };
    let piece = |from: u64, to: u64| {
        let mut interval = Interval::new(from);
        (from..to).for_each(|k| interval.leaf(reals, k as f64 + 1.0));
        Product::<f32>::of_reals([interval])
    };
    let mut all = piece(0, 3);
    all.merge(&piece(4, 5));
    let error = all.value(Overflow::Error).unwrap_err().to_string();
    assert_eq!(
        error,
        "prod of f32: elements 3 to 4 are in none of the pieces that were merged; merge the pieces that have them, or say where each piece starts"
    );
    all.merge(&piece(3, 4));
    assert_eq!(all.value(Overflow::Error), Ok(120.0));
    all.merge(&piece(0, 3));
    let error = all.value(Overflow::Error).unwrap_err().to_string();
    assert!(error.contains("elements 0 to 3 are in more than one of the pieces"), "{error}");
    assert_eq!(Product::from_bytes(&all.to_bytes()), Ok(all));
}

#[test]
fn products_without_indices_merge_in_order() {
    let two = Product::<f64>::real(RealProduct::of(2.0));
    let mut three = Interval::new(7);
    three.leaf(Reals { join: 1 }, -3.0);
    let mut all = Product::of_reals([three]);
    all.merge(&two);
    assert!(all.is_ordered());
    let mut again = two.clone();
    again.merge(&Product::from_bytes(&all.to_bytes()).unwrap());
    assert_eq!(again.value(Overflow::Error), Ok(-12.0));
}

/// What was there twice is not forgotten when a partial joins whose indices are not known.
#[test]
fn pieces_that_are_there_twice_stay_so_beside_what_merges_in_order() {
    let mut twice = Interval::new(0);
    [3.0, 5.0].into_iter().for_each(|x| twice.leaf(Reals { join: 1 }, x));
    let mut all = Product::<f64>::of_reals([twice.clone()]);
    all.merge(&Product::of_reals([twice]));
    let ordered = Product::<f64>::real(RealProduct::of(1.0));
    let (mut before, mut behind) = (ordered.clone(), all.clone());
    before.merge(&all);
    behind.merge(&ordered);
    for found in [before, behind, all.without_indices()] {
        let error = found.value(Overflow::Error).unwrap_err();
        assert!(matches!(error, Error::Pieces { .. }), "{error}");
    }
}

/// A finite part beside one that is no number is what the element has, however large or small.
#[test]
fn parts_beside_infinities_and_nans_are_those_of_the_element() {
    for part in [0.0, -1.5, 1e308, -1e20, 5e-324, 1e-310] {
        for other in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            for (re, im) in [(part, other), (other, part)] {
                let mut one = Interval::new(0);
                one.leaf(Complexes { join: 1 }, [re, im]);
                let product = Product::<Complex<f64>>::of_complexes([one]);
                let found = product.value(Overflow::Error).expect("there is no gap");
                let is_same = |a: f64, b: f64| a == b || a.is_nan() && b.is_nan();
                assert!(is_same(found.re, re) && is_same(found.im, im), "{found} of {re} {im}");
                assert_eq!(Product::from_bytes(&product.to_bytes()), Ok(product));
            }
        }
    }
}

/// Bytes of any origin name no exponent that sums of a few wrap, nor scale a part that has no scale.
#[test]
fn exponents_beyond_any_product_are_refused() {
    for exponent in [i64::MIN, i64::MAX, 1 << 61] {
        let product = RealProduct { exponent, ..RealProduct::ONE };
        assert!(Product::<f64>::from_bytes(&Product::<f64>::real(product).to_bytes()).is_err());
        let product = ComplexProduct { exponent, ..ComplexProduct::ONE };
        let bytes = Product::<Complex<f64>>::complex(product).to_bytes();
        assert!(Product::<Complex<f64>>::from_bytes(&bytes).is_err());
    }
    let large = DoubleDouble { high: 1e308, low: 1e291 };
    let infinite = DoubleDouble { high: f64::INFINITY, low: 0.0 };
    let bytes =
        Product::<Complex<f64>>::complex(ComplexProduct { re: infinite, im: large, exponent: 0 })
            .to_bytes();
    assert!(Product::<Complex<f64>>::from_bytes(&bytes).is_err());
}
