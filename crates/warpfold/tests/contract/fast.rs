//! `Accuracy::Fast`: the same bits for the same plan, an error within what one block of plain additions can make, and the
//! exact rules for special values.

use num_bigint::{BigInt, Sign};
use warpfold::{Accuracy, Complex, Nan, Op, Policy, bf16, f16};

use crate::backend::{Ask, Backend};
use crate::oracle::{Cell, Format, Number, cells, expected};
use crate::sample::{Class, Sample, Words};

on_every_backend!(
    within_the_bound,
    same_bits_for_the_same_plan,
    sums_without_rounding_are_exact,
    specials_keep_their_rules,
    overflow_on_the_way_does_not_show,
    integers_and_the_rest_stay_exact,
);

fn fast(op: Op) -> Ask {
    Ask { policy: Policy { accuracy: Accuracy::Fast, ..Policy::default() }, ..Ask::new(op) }
}

/// The additions that one value can go through in plain arithmetic: a block of 8192 in 32 lanes is 256 groups and the rest, the
/// lanes' tree five more, and a product is rounded once itself.
const ROUNDINGS: u32 = 8192 / 32 + 1 + 5 + 1;

/// The fast reductions of one type: those whose result the policy may touch.
fn reductions<T: Sample>() -> &'static [Op] {
    match T::PARTS {
        1 => &[Op::Sum, Op::L1, Op::Dot],
        _ => &[Op::Sum, Op::Dot],
    }
}

/// `number` in units of `2^unit`, which it is a multiple of.
fn integer(number: Number, unit: i64) -> BigInt {
    match number {
        Number::Finite { mantissa: 0, .. } => BigInt::ZERO,
        Number::Finite { negative, mantissa, exponent } => {
            let sign = if negative { Sign::Minus } else { Sign::Plus };
            BigInt::from_biguint(sign, mantissa.into()) << (exponent - unit) as u64
        }
        other => panic!("{other:?} is not finite"),
    }
}

/// The terms of each part of the result, exactly.
fn terms<T: Sample>(op: Op, x: T, y: T) -> Vec<Vec<Number>> {
    let (a, b) = (x.numbers(), y.numbers());
    match (op, a.as_slice(), b.as_slice()) {
        (Op::Sum, _, _) => a.into_iter().map(|number| vec![number]).collect(),
        (Op::L1, [a], _) => vec![vec![a.magnitude()]],
        (Op::Dot, [a], [c]) => vec![vec![a.times(*c)]],
        (Op::Dot, [a, b], [c, d]) => {
            vec![vec![a.times(*c), b.times(*d).negate_if(true)], vec![a.times(*d), b.times(*c)]]
        }
        _ => panic!("{op} has no such terms"),
    }
}

/// Holds `|fast - exact| <= γ · Σ|term| + ½ ulp(fast)` for each part, with `γ = k·u / (1 - k·u)` of the accumulator type (Higham,
/// *Accuracy and Stability of Numerical Algorithms*, section 4.2). Products that underflow add half the smallest
/// subnormal each.
fn check_bound<T: Sample, B: Backend>(backend: &B, ask: Ask, x: &[T], y: &[T]) {
    let format = match T::CLASS {
        Class::Float(format) => format,
        _ => panic!("only floats are summed fast"),
    };
    // Below every bit that a term or a result can have.
    let unit = 2 * format.unit() - 64;
    let (mut exact, mut magnitudes) = ([BigInt::ZERO, BigInt::ZERO], [BigInt::ZERO, BigInt::ZERO]);
    for (k, &x) in x.iter().enumerate() {
        let terms = terms(ask.op, x, y.get(k).copied().unwrap_or(x));
        for (part, terms) in terms.into_iter().enumerate() {
            for term in terms {
                exact[part] += integer(term, unit);
                magnitudes[part] += integer(term.magnitude(), unit);
            }
        }
    }
    let y = if ask.op == Op::Dot { y } else { &[] };
    let answer = backend.reduce(ask, x, y).expect("a float result cannot fail");
    let [Cell { words, .. }] = &cells(&answer)[..] else { panic!("one result") };
    for (part, &word) in words.iter().enumerate() {
        let found = format.number(word);
        let context = || format!("{} of {} {} by {ask:?}: {found:?}", ask.op, x.len(), T::DTYPE);
        assert!(found.is_finite(), "{}", context());
        let error = integer(found, unit) - &exact[part];
        let half_ulp = half_ulp(format, word, unit);
        let underflow = match ask.op {
            Op::Dot => BigInt::from(x.len()) << (format.unit() - 1 - unit) as u64,
            _ => BigInt::ZERO,
        };
        // With u = 2^-p: γ = k / (2^p - k).
        let scale = BigInt::from((1u64 << (format.fraction_bits + 1)) - u64::from(ROUNDINGS));
        let allowed = &magnitudes[part] * ROUNDINGS + (half_ulp + underflow) * &scale;
        assert!(BigInt::from(error.magnitude().clone()) * &scale <= allowed, "{}", context());
    }
}

fn half_ulp(format: Format, word: u64, unit: i64) -> BigInt {
    let (_, exponent) = format.finite(word & (format.sign() - 1));
    BigInt::from(1) << (exponent - 1 - unit) as u64
}

macro_rules! for_floats {
    ($function:ident($($argument:expr),*)) => {
        $function::<f16, _>($($argument),*);
        $function::<bf16, _>($($argument),*);
        $function::<f32, _>($($argument),*);
        $function::<f64, _>($($argument),*);
        $function::<Complex<f32>, _>($($argument),*);
        $function::<Complex<f64>, _>($($argument),*);
    };
}

fn within_the_bound<B: Backend>(backend: &B) {
    fn body<T: Sample, B: Backend>(backend: &B) {
        let mut words = Words(81);
        for n in [1, 31, 33, 1000, 8191, 8193, 30_000] {
            let x: Vec<T> = (0..n).map(|_| T::tame(&mut words)).collect();
            let y: Vec<T> = (0..n).map(|_| T::tame(&mut words)).collect();
            // All of one sign and nearly one size: every addition rounds the same way.
            let rising: Vec<T> = (0..n).map(|k| T::near(1.1 + f64::from(k % 3) / 7.0)).collect();
            // Small numbers, whose products underflow.
            let small: Vec<T> = (0..n).map(|k| T::near(1.3e-23 * f64::from(k % 5))).collect();
            for &op in reductions::<T>() {
                check_bound(backend, fast(op), &x, &y);
                check_bound(backend, fast(op), &rising, &rising);
                check_bound(backend, fast(op), &small, &small);
            }
        }
    }
    for_floats!(body(backend));
}

fn same_bits_for_the_same_plan<B: Backend>(backend: &B) {
    fn body<T: Sample, B: Backend>(backend: &B) {
        let mut words = Words(82);
        let n = 200_003;
        let x: Vec<T> = (0..n).map(|_| T::tame(&mut words)).collect();
        for &op in [reductions::<T>(), &[Op::Mean]].concat().iter() {
            let y = if op == Op::Dot { &x[..] } else { &[] };
            let of = |threads| {
                let mut ask = fast(op);
                ask.policy.threads = threads;
                cells(&backend.reduce(ask, &x, y).unwrap())
            };
            let alone = of(Some(1));
            for threads in (2..=8).map(Some).chain([None]) {
                assert_eq!(of(threads), alone, "{op} of {} on {threads:?} threads", T::DTYPE);
            }
            // Nor does the instruction set decide the bits.
            let baseline = crate::backend::Cpu(warpfold::plan::Isa::Baseline);
            assert_eq!(cells(&baseline.reduce(fast(op), &x, y).unwrap()), alone, "{op}");
        }
    }
    for_floats!(body(backend));
}

/// Small whole numbers are added without rounding, so that fast and exact agree to the bit; a sum of many, if one went
/// missing or was counted twice, would not.
fn sums_without_rounding_are_exact<B: Backend>(backend: &B) {
    fn body<T: Sample, B: Backend>(backend: &B) {
        for n in [0, 1, 2, 31, 32, 33, 64, 8192, 8193, 50_000] {
            let x: Vec<T> = (0..n).map(|k| T::near(f64::from(3 * (k % 4)) - 3.0)).collect();
            for &op in [reductions::<T>(), &[Op::Mean]].concat().iter() {
                let y = if op == Op::Dot { &x[..] } else { &[] };
                let ask = fast(op);
                let answer = backend.reduce(ask, &x, y);
                let expected = expected(op, Nan::Propagate, &x, y, ask.finish);
                expected.check(&answer).unwrap_or_else(|why| panic!("{op} of {n}: {why}"));
            }
        }
    }
    for_floats!(body(backend));
}

/// A block with anything special in it is added exactly, so that an array of one block answers as the contract has it.
fn specials_keep_their_rules<B: Backend>(backend: &B) {
    fn body<T: Sample, B: Backend>(backend: &B) {
        let mut words = Words(83);
        for n in [1, 3, 40, 1000] {
            let x: Vec<T> = (0..n).map(|_| T::tame(&mut words)).collect();
            for specials in [
                vec![f64::INFINITY],
                vec![f64::NEG_INFINITY],
                vec![f64::NAN],
                vec![f64::INFINITY, f64::NEG_INFINITY],
                vec![f64::INFINITY, f64::NAN],
            ] {
                let mut x = x.clone();
                specials.iter().for_each(|&special| x[words.index(n)] = T::near(special));
                let mut zeros = x.clone();
                zeros.fill(T::near(0.0));
                for &op in [reductions::<T>(), &[Op::Mean]].concat().iter() {
                    for nan in [Nan::Propagate, Nan::Ignore] {
                        for y in if op == Op::Dot { vec![&x[..], &zeros] } else { vec![&[][..]] } {
                            let mut ask = fast(op);
                            ask.policy.nan = nan;
                            let answer = backend.reduce(ask, &x, y);
                            let expected = expected(op, nan, &x, y, ask.finish);
                            expected.check(&answer).unwrap_or_else(|why| {
                                panic!("{op} of {n} {} with {specials:?}: {why}", T::DTYPE)
                            });
                        }
                    }
                }
            }
        }
    }
    for_floats!(body(backend));
}

fn overflow_on_the_way_does_not_show<B: Backend>(backend: &B) {
    fn body<T: Sample, B: Backend>(backend: &B, largest: T, negative: T) {
        // At least two in each lane: all lanes overflow, and the block's plain sum is no number.
        for n in [64, 3000, 4096] {
            let mut x = vec![largest; n];
            x.extend(vec![negative; n]);
            x.push(T::near(1.0));
            for op in [Op::Sum, Op::Mean, Op::L1, Op::Dot] {
                let ones = vec![T::near(1.0); x.len()];
                let y = if op == Op::Dot { &ones[..] } else { &[] };
                let ask = fast(op);
                let answer = backend.reduce(ask, &x, y);
                let expected = expected(op, Nan::Propagate, &x, y, ask.finish);
                expected.check(&answer).unwrap_or_else(|why| panic!("{op} of {n}: {why}"));
            }
        }
    }
    body::<f32, B>(backend, f32::MAX, -f32::MAX);
    body::<f64, B>(backend, f64::MAX, -f64::MAX);
}

/// What would gain nothing by it is not made less exact.
fn integers_and_the_rest_stay_exact<B: Backend>(backend: &B) {
    fn body<T: Sample, B: Backend>(backend: &B) {
        let mut words = Words(84);
        let x: Vec<T> = (0..20_000).map(|_| T::tame(&mut words)).collect();
        for &op in backend.ops() {
            if T::DTYPE.is_float() && matches!(op, Op::Sum | Op::Mean | Op::L1 | Op::Dot) {
                continue;
            }
            let y = if op == Op::Dot { &x[..] } else { &[] };
            let bits = |ask| backend.reduce(ask, &x, y).map(|output| cells(&output));
            assert_eq!(bits(fast(op)), bits(Ask::new(op)), "{op} of {}", T::DTYPE);
        }
    }
    for_every_element!(body(backend));
}
