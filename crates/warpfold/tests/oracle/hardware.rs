//! The oracle against the hardware, where the hardware rounds once too: casts, divisions, roots.

use num_bigint::BigUint;

use super::format::{BF16, F16, F32, F64, Format, Magnitude, Number};
use crate::sample::{Sample, Words};

/// The exact value of a positive finite f64.
fn exact(x: f64) -> Magnitude {
    match F64.number(x.to_bits()) {
        Number::Finite { mantissa, exponent, .. } => Magnitude::dyadic(mantissa.into(), exponent),
        special => panic!("{special:?}"),
    }
}

/// Positive numbers: any at all, and those at which the narrower formats round, overflow and underflow.
fn numbers() -> impl Iterator<Item = f64> {
    let mut words = Words(51);
    let any: Vec<f64> = (0..3000).map(|_| f64::finite(&mut words).abs()).collect();
    let narrow = (0..3000).map(move |k| {
        let [x, step] = [words.next(), words.next()].map(|word| f32::from_bits(word as u32 >> 1));
        let x = if x.is_finite() { f64::from(x) } else { f64::from(f32::MAX) };
        // At a float, half way to the next, and one step of f64 beside that.
        let half = f64::from(f32::from_bits((x as f32).to_bits() ^ 1)).midpoint(x);
        [x, half, half.next_up(), half.next_down(), f64::from(step).abs()][k % 5]
    });
    any.into_iter().chain(narrow).filter(|x| x.is_finite())
}

fn bits(format: Format, exact: &Magnitude) -> u64 {
    format.round(false, exact)
}

#[test]
fn rounds_as_casts_do() {
    for x in numbers() {
        let exact = exact(x.abs());
        let x = x.abs();
        assert_eq!(bits(F64, &exact), x.to_bits(), "{x:e}");
        assert_eq!(bits(F32, &exact), u64::from((x as f32).to_bits()), "{x:e}");
        // `half` rounds f32 once, and f64 twice.
        let single = x as f32;
        if single.is_finite() {
            let exact = self::exact(single.into());
            let narrow = warpfold::f16::from_f32(single).to_bits();
            assert_eq!(bits(F16, &exact), u64::from(narrow), "{single:e}");
            let brain = warpfold::bf16::from_f32(single).to_bits();
            assert_eq!(bits(BF16, &exact), u64::from(brain), "{single:e}");
        }
    }
    for k in 0..64 {
        for near in [1u64 << k, (1 << k) + 1, (1 << k) - 1, u64::MAX >> k, 3 << k] {
            let exact = Magnitude::dyadic(near.into(), 0);
            assert_eq!(bits(F64, &exact), (near as f64).to_bits());
            assert_eq!(bits(F32, &exact), u64::from((near as f32).to_bits()));
        }
    }
}

#[test]
fn rounds_as_division_and_root_do() {
    let all: Vec<f64> = numbers().map(f64::abs).filter(|&x| x > 0.0).collect();
    for pair in all.windows(2) {
        let [x, y] = [pair[0], pair[1]];
        let (a, b) = (exact(x), exact(y));
        let quotient =
            Magnitude { exponent: a.exponent - b.exponent, ..a.clone() }.over(b.numerator);
        assert_eq!(bits(F64, &quotient), (x / y).to_bits(), "{x:e} / {y:e}");
        assert_eq!(bits(F64, &a.clone().root()), x.sqrt().to_bits(), "root of {x:e}");
        let product = Magnitude::dyadic(a.numerator * exact(y).numerator, a.exponent + b.exponent);
        assert_eq!(bits(F64, &product), (x * y).to_bits(), "{x:e} · {y:e}");
    }
    assert_eq!(bits(F64, &Magnitude::dyadic(BigUint::ZERO, -1074).root()), 0);
}

#[test]
fn specials_are_those_of_the_hardware() {
    assert_eq!(F64.infinity(), f64::INFINITY.to_bits());
    assert_eq!(F32.nan(), 0x7fc0_0000);
    assert_eq!(F16.nan(), u64::from(warpfold::f16::NAN.to_bits()));
    assert!(F32.number(u64::from((-0f32).to_bits())).is_negative());
    for bits in 0..=u16::MAX {
        let h = warpfold::f16::from_bits(bits);
        assert_eq!(F16.number(bits.into()).is_nan(), h.is_nan());
        assert_eq!(F16.number(bits.into()).is_finite(), h.is_finite());
    }
}
