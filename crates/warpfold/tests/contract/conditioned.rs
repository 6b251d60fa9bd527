//! Sums that ordinary arithmetic gets wrong: ill-conditioned, cancelling, tied, carrying, overflowing on the way.

use num_bigint::BigInt;
use warpfold::{Nan, Op, bf16, f16};

use crate::backend::{Ask, Backend};
use crate::oracle::{Number, expected};
use crate::sample::{Sample, Words};

on_every_backend!(
    ill_conditioned_sums,
    cancellation_to_zero,
    carries_through_every_limb,
    overflow_that_comes_back,
    long_runs_near_overflow,
    ties_decided_far_below,
    ties_of_roots_and_quotients,
    ill_conditioned_dots,
    variance_beside_a_large_mean,
);

/// Sums-like reductions that a float array has.
const SUMS: [Op; 6] = [Op::Sum, Op::Mean, Op::Var, Op::Std, Op::L2, Op::Sumsq];

fn check<T: Sample, B: Backend>(backend: &B, op: Op, x: &[T], y: &[T]) {
    let ask = Ask::new(op);
    let answer = backend.reduce(ask, x, y);
    if let Err(why) = expected(op, Nan::Propagate, x, y, ask.finish).check(&answer) {
        panic!("{op} of {} {}: {why}", x.len(), T::DTYPE);
    }
}

fn shuffle<T>(x: &mut [T], words: &mut Words) {
    for k in (1..x.len()).rev() {
        x.swap(k, words.index(k + 1));
    }
}

/// log10 of Σ|x| / |Σx|, by exact arithmetic.
fn condition<T: Sample>(x: &[T]) -> f64 {
    let (mut sum, mut magnitudes) = (BigInt::ZERO, BigInt::ZERO);
    for number in x.iter().flat_map(|x| x.numbers()) {
        if let Number::Finite { negative, mantissa, exponent } = number {
            let integer = BigInt::from(mantissa) << (exponent - T::UNIT) as u64;
            magnitudes += &integer;
            sum += if negative { -integer } else { integer };
        }
    }
    (magnitudes.bits() as f64 - sum.bits() as f64) * 2f64.log10()
}

/// Numbers over all exponents beside their negations, and one that is left over.
fn remainder_under_noise<T: Sample>(n: usize, remainder: f64, negate: fn(T) -> T) -> Vec<T> {
    let mut words = Words(n as u64);
    let mut x: Vec<T> = (0..n).map(|_| T::finite(&mut words)).collect();
    x.extend(x.clone().into_iter().map(negate));
    x.push(T::near(remainder));
    shuffle(&mut x, &mut words);
    x
}

fn ill_conditioned_sums<B: Backend>(backend: &B) {
    for n in [2, 30, 1000, 20_000] {
        let x = remainder_under_noise::<f64>(n, 1e-5, |x| -x);
        assert!(n < 1000 || condition(&x) > 300.0, "condition 1e{}", condition(&x));
        let y = remainder_under_noise::<f32>(n, 1e-30, |x| -x);
        assert!(n < 1000 || condition(&y) > 65.0, "condition 1e{}", condition(&y));
        for op in SUMS {
            check(backend, op, &x, &[]);
            check(backend, op, &y, &[]);
            check(backend, op, &remainder_under_noise::<f16>(n, 6e-8, |x| -x), &[]);
            check(backend, op, &remainder_under_noise::<bf16>(n, 1e-38, |x| -x), &[]);
        }
    }
}

fn cancellation_to_zero<B: Backend>(backend: &B) {
    fn cancelled<T: Sample, B: Backend>(backend: &B, negate: fn(T) -> T) {
        for n in [1, 64, 5000] {
            let mut x = remainder_under_noise::<T>(n, 0.0, negate);
            check(backend, Op::Sum, &x, &[]);
            // Zeros alone, of either sign, sum to +0.
            x.fill(negate(T::near(0.0)));
            check(backend, Op::Sum, &x, &[]);
            check(backend, Op::Dot, &x, &x);
        }
    }
    cancelled::<f16, _>(backend, |x| -x);
    cancelled::<bf16, _>(backend, |x| -x);
    cancelled::<f32, _>(backend, |x| -x);
    cancelled::<f64, _>(backend, |x| -x);
    cancelled::<warpfold::Complex<f64>, _>(backend, |x| -x);
}

/// A borrow from the top to the bottom and the carry back, in both the sum and the squares.
fn carries_through_every_limb<B: Backend>(backend: &B) {
    let tiny = f64::from_bits(1);
    let powers: Vec<f64> = (-1074..1024).map(exp2).collect();
    let mut all_ones = powers.clone();
    for x in [
        vec![-tiny],
        vec![-tiny, tiny],
        vec![-tiny, tiny, tiny],
        vec![f64::MAX, -tiny],
        vec![-f64::MAX, tiny],
        powers.iter().map(|&x| -x).collect(),
        powers.iter().flat_map(|&x| [x, -x]).collect(),
        // 2^1024 - 2^-1074, less half of it, and then one more unit to carry to the top.
        [&powers[..], &[-exp2(1023), -exp2(1022)]].concat(),
        [&powers[..], &[tiny, -exp2(1023), -exp2(1022)]].concat(),
    ] {
        for op in SUMS {
            check(backend, op, &x, &[]);
        }
        check(backend, Op::Dot, &x, &x);
    }
    // The same carries at every limb boundary and beside it.
    for e in (-1074..1020).step_by(16) {
        all_ones.clear();
        all_ones.extend([exp2(e), -exp2(-1074), exp2(1000), -exp2(e), -exp2(1000)]);
        check(backend, Op::Sum, &all_ones, &[]);
        all_ones.extend([exp2(-1074), -exp2(-1073)]);
        check(backend, Op::Sum, &all_ones, &[]);
    }
    let narrow: Vec<f32> = (-149..128).map(|e| exp2(e) as f32).collect();
    check(backend, Op::Sum, &narrow, &[]);
    check(backend, Op::Sum, &[&narrow[..], &[-exp2(127) as f32, -exp2(126) as f32]].concat(), &[]);
}

fn overflow_that_comes_back<B: Backend>(backend: &B) {
    for copies in [1, 40, 3000] {
        let mut x = vec![f64::MAX; copies];
        check(backend, Op::Sum, &x, &[]);
        check(backend, Op::Mean, &x, &[]);
        check(backend, Op::L2, &x, &[]);
        check(backend, Op::Sumsq, &x, &[]);
        check(backend, Op::Var, &x, &[]);
        x.extend(vec![-f64::MAX; copies]);
        x.push(1.0);
        for op in SUMS {
            check(backend, op, &x, &[]);
        }
        // MAX is the sum again, or just rounds to infinity, or just does not.
        let half_ulp = exp2(970);
        for last in [0.0, half_ulp, half_ulp * 0.75, -half_ulp] {
            check(backend, Op::Sum, &[&x[..2 * copies], &[f64::MAX, last]].concat(), &[]);
            check(backend, Op::Sum, &[&x[..2 * copies], &[-f64::MAX, -last]].concat(), &[]);
        }
        let narrow = vec![f16::MAX; copies];
        check(backend, Op::Sum, &narrow, &[]);
        check(backend, Op::L2, &narrow, &[]);
        check(backend, Op::Sumsq, &narrow, &[]);
        let single = [vec![f32::MAX; copies], vec![-f32::MAX; copies], vec![1e-45]].concat();
        SUMS.iter().for_each(|&op| check(backend, op, &single, &[]));
    }
}

/// The greatest number of every binade near the end, so often that anything that adds up to more than the format holds
/// has done so, while the sum (or a sum with its negations) still is a number.
fn long_runs_near_overflow<B: Backend>(backend: &B) {
    fn runs<T: Sample, B: Backend>(
        backend: &B,
        below: impl Fn(i32) -> T,
        ends: std::ops::Range<i32>,
    ) {
        const N: usize = 64 << 9;
        for end in ends {
            let up = vec![below(end); N];
            for op in SUMS {
                check(backend, op, &up, &[]);
            }
            check(backend, Op::Dot, &up, &[T::near(1.0); N]);
            check(backend, Op::Dot, &up, &[T::near(-2.0); N]);
        }
    }
    // The float just below 2^end.
    runs(backend, |end| exp2(end).next_down(), 1011..1016);
    runs(backend, |end| (exp2(end) as f32).next_down(), 116..121);
}

/// Exactly half an ulp, and a last bit anywhere below it.
fn ties_decided_far_below<B: Backend>(backend: &B) {
    for base in [1.0, 1.0 + f64::EPSILON, 2f64 - f64::EPSILON, exp2(-1022), exp2(1000)] {
        let half_ulp = ulp(base) / 2.0;
        for e in [-1074, -1073, -1010, -600, -200, -117, -64] {
            for tail in [0.0, exp2(e), -exp2(e)] {
                for sign in [1.0, -1.0] {
                    let x = [base * sign, half_ulp * sign, tail];
                    check(backend, Op::Sum, &x, &[]);
                    check(backend, Op::Mean, &x, &[]);
                    check(backend, Op::Sum, &x.map(|x| x as f32), &[]);
                }
            }
        }
    }
}

/// Roots and quotients half an ulp between two floats, and a last bit below: far under what is divided and rooted.
fn ties_of_roots_and_quotients<B: Backend>(backend: &B) {
    fn ties<T: Sample, B: Backend>(backend: &B, tiny: T) {
        // t = 2^p + 1 is a tie, and t² = (2^p)² + 2·(2^(p / 2))² + 1.
        let p = T::ROUND.fraction_bits as i32 + 1;
        let roots = [p, p / 2, p / 2, 0];
        let squares =
            if p % 2 == 0 { roots.to_vec() } else { vec![p, p / 2, p / 2, p / 2, p / 2, 0] };
        let norm: Vec<T> = squares.iter().map(|&e| T::near(exp2(e))).collect();
        // Twice those and their negations: eight times t² over eight.
        let pairs = squares.iter().flat_map(|&e| [exp2(e + 1), -exp2(e + 1)]);
        let spread: Vec<T> = pairs.map(T::near).collect();
        let quotient = [4.0, exp2(2 - p), 0.0].map(T::near).to_vec();
        for tail in [vec![T::near(0.0); 2], vec![tiny, tiny]] {
            let zero = T::near(0.0);
            check(backend, Op::L2, &[&norm[..], &tail].concat(), &[]);
            check(backend, Op::Mean, &[&quotient[..], &tail[..1]].concat(), &[]);
            check(backend, Op::L2, &[&norm[..], &tail, &[zero]].concat(), &[]);
            for op in [Op::Var, Op::Std] {
                let x = [&spread[..], &tail].concat();
                let mut ask = Ask::new(op);
                // So that the divisor is eight, whatever the number of squares.
                ask.finish.ddof = x.len() as u64 - 8;
                let answer = backend.reduce(ask, &x, &[]);
                let expected = expected(op, Nan::Propagate, &x, &[], ask.finish);
                expected.check(&answer).unwrap_or_else(|why| panic!("{op} of {x:?}: {why}"));
            }
        }
    }
    ties::<f32, _>(backend, f32::from_bits(1));
    ties::<f64, _>(backend, f64::from_bits(1));
}

/// Products that leave the range of the format, and cancel.
fn ill_conditioned_dots<B: Backend>(backend: &B) {
    let mut words = Words(7);
    for n in [1, 50, 4000] {
        let mut x: Vec<f64> = (0..n).map(|_| f64::finite(&mut words)).collect();
        let mut y: Vec<f64> = (0..n).map(|_| f64::finite(&mut words)).collect();
        x.extend(x.clone());
        y.extend(y.clone().iter().map(|y| -y));
        x.push(exp2(-537));
        y.push(exp2(-537));
        check(backend, Op::Dot, &x, &y);
        let narrow = |x: &[f64]| {
            x.iter()
                .map(|&x| f32::from_bits((x.to_bits() >> 32) as u32 & 0xbfff_ffff))
                .collect::<Vec<_>>()
        };
        check(backend, Op::Dot, &narrow(&x), &narrow(&y));
    }
}

fn variance_beside_a_large_mean<B: Backend>(backend: &B) {
    for offset in [1e9, 1e15, 1e100, 1e300] {
        let x: Vec<f64> = (0..1001).map(|k| offset + ulp(offset) * f64::from(k % 7)).collect();
        check(backend, Op::Var, &x, &[]);
        check(backend, Op::Std, &x, &[]);
        let y: Vec<f32> = x.iter().map(|&x| (x / offset * 1e7) as f32).collect();
        check(backend, Op::Var, &y, &[]);
    }
}

/// `2^e`, subnormal or not.
fn exp2(e: i32) -> f64 {
    if e < -1022 {
        f64::from_bits(1 << (e + 1074))
    } else {
        f64::from_bits(((e + 1023) as u64) << 52)
    }
}

fn ulp(x: f64) -> f64 {
    f64::from_bits(x.to_bits() + 1) - x
}
