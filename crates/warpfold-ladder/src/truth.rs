//! Is a rung's result right? Judged by the exact value and a bound on what rounding may have done: no tolerance is chosen by hand.
//!
//! Integers are compared bit by bit, modulo 2^32 or 2^64, and extremes exactly. Of a float sum in any order, each element passes through
//! at most k additions, and |computed − exact| ≤ γ_k · Σ|x| with γ_k = k·u / (1 − k·u), u the unit roundoff (Higham, *Accuracy and Stability of Numerical
//! Algorithms*, 2nd ed. 2002, section 4.2). A product of n factors takes n − 1 roundings in any order: γ_{n−1} · |exact| (section 3.1); a complex
//! multiplication counts as one rounding of √8·u (lemma 3.5). Where k is so large that this says little, the bound that holds but for a
//! probability below 2·e^{-λ²/2} takes its place: γ̃_k = exp(λ·√k·u + k·u² / (1 − u)) − 1 (Higham and Mary, *SIAM J. Sci. Comput.* 41, 2019,
//! theorem 2.4), with λ = 10.

use rayon::prelude::*;
use warpfold::Op;

use crate::number::{Component, Number};
use warpfold_lab::oracle::{Bins, Double, Exact, Split, product_of};

/// The exact result of an array, and what its bound is made of.
#[derive(Debug, Clone)]
pub enum Truth<T> {
    /// The result is this element.
    Equal(T),
    /// A float sum, by parts: its value, and the sum of the parts' magnitudes.
    Sum(Vec<(Exact, f64)>),
    /// A float product of so many factors.
    Product {
        /// The product to about 2^-70, real and imaginary.
        parts: [Double; 2],
        /// Factors.
        factors: u64,
    },
}

/// What a result is worth.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Whether it is within the bound. A NaN never is.
    pub verified: bool,
    /// What is right, to about 16 digits.
    pub exact: String,
    /// The distance from it; infinite for what is no finite number.
    pub error: f64,
    /// The distance that rounding can account for.
    pub bound: f64,
}

/// Elements that one task reads.
const CHUNK: usize = 1 << 16;

impl<T: Number> Truth<T> {
    /// Reads an array of finite numbers.
    pub fn of(op: Op, x: &[T]) -> Truth<T> {
        if x.is_empty() || T::Component::ROUNDOFF.is_none() || matches!(op, Op::Min | Op::Max) {
            let fold = |a, b| Number::fold(op, a, b);
            let chunks =
                x.par_chunks(CHUNK).map(|chunk| chunk.iter().copied().fold(T::identity(op), fold));
            return Truth::Equal(chunks.reduce(|| T::identity(op), fold));
        }
        match op {
            Op::Prod => Truth::Product { parts: product_of(x).value(), factors: x.len() as u64 },
            _ => {
                Truth::Sum((0..T::PARTS).map(|part| sum(T::as_parts(x), part, T::PARTS)).collect())
            }
        }
    }

    /// Judges a result of a rung in which each element passes through at most so many operations.
    pub fn judge(&self, value: T, steps: f64) -> Verdict {
        let u = T::Component::ROUNDOFF.unwrap_or(0.0);
        match self {
            Truth::Equal(exact) => equal(value, *exact),
            Truth::Sum(sums) => {
                let bounds = sums.iter().map(|(_, magnitude)| gamma(steps, u) * magnitude);
                judge_parts(T::as_parts(&[value]), sums, bounds)
            }
            Truth::Product { parts, factors } => {
                let u = if T::PARTS == 2 { 8f64.sqrt() * u } else { u };
                judge_product::<T>(value, parts, gamma(*factors as f64, u))
            }
        }
    }

    /// Judges a result of the library under its contract: the exact sum rounded once, and a product within a unit in the last place.
    pub fn judge_rounded(&self, value: T) -> Verdict {
        match self {
            Truth::Sum(sums) => {
                let parts = T::as_parts(std::slice::from_ref(&value));
                let nearest =
                    parts.iter().zip(sums).all(|(part, (exact, _))| part.is_nearest_to(exact));
                let u = T::Component::ROUNDOFF.unwrap_or(0.0);
                let bounds = sums.iter().map(|(exact, _)| u * exact.approximate().abs());
                Verdict { verified: nearest, ..judge_parts(parts, sums, bounds) }
            }
            Truth::Product { parts, .. } => {
                let ulp = 2.0 * T::Component::ROUNDOFF.unwrap_or(0.0);
                judge_product::<T>(value, parts, ulp)
            }
            Truth::Equal(exact) => equal(value, *exact),
        }
    }
}

fn equal<T: Number>(value: T, exact: T) -> Verdict {
    let verified = value == exact;
    let error = if verified { 0.0 } else { f64::INFINITY };
    Verdict { verified, exact: exact.to_string(), error, bound: 0.0 }
}

/// The exact sum of every `parts`-th number from `part` on, and the sum of their magnitudes, rounded up.
fn sum<P: Split>(x: &[P], part: usize, parts: usize) -> (Exact, f64) {
    let chunks = x.par_chunks(CHUNK * parts).fold(
        || (Bins::default(), 0.0),
        |(mut bins, mut magnitude), chunk| {
            for x in chunk.iter().skip(part).step_by(parts) {
                let (mantissa, exponent) = x.split();
                bins.add(mantissa, exponent);
                magnitude += x.approximate().abs();
            }
            (bins, magnitude)
        },
    );
    let merged = chunks.reduce(
        || (Bins::default(), 0.0),
        |(mut bins, magnitude), (more, other)| {
            bins.merge(&more);
            (bins, magnitude + other)
        },
    );
    (merged.0.value(), merged.1 * (1.0 + x.len() as f64 * f64::EPSILON))
}

fn judge_parts<P: Split>(
    parts: &[P],
    sums: &[(Exact, f64)],
    bounds: impl Iterator<Item = f64>,
) -> Verdict {
    let distance = |part: P, exact: &Exact| match part.approximate().is_finite() {
        true => (Exact::of(part) - exact.clone()).approximate().abs(),
        false => f64::INFINITY,
    };
    let errors: Vec<f64> =
        parts.iter().zip(sums).map(|(part, (exact, _))| distance(*part, exact)).collect();
    let bounds: Vec<f64> = bounds.collect();
    let exact: Vec<String> =
        sums.iter().map(|(exact, _)| format!("{:?}", exact.approximate())).collect();
    Verdict {
        verified: errors.iter().zip(&bounds).all(|(error, bound)| allowed(*error, *bound)),
        exact: shown(&exact),
        error: norm(&errors),
        bound: norm(&bounds),
    }
}

fn judge_product<T: Number>(value: T, exact: &[Double; 2], relative: f64) -> Verdict {
    let parts = T::as_parts(std::slice::from_ref(&value));
    let distance = |part: &T::Component, exact: &Double| {
        let difference = Double::new(part.approximate()) + -*exact;
        difference.high.abs()
    };
    let errors: Vec<f64> =
        parts.iter().zip(exact).map(|(part, exact)| distance(part, exact)).collect();
    let (error, size) = (norm(&errors), norm(&exact.map(|part| part.high)));
    let bound = relative * size;
    let digits: Vec<String> =
        exact[..T::PARTS].iter().map(|part| format!("{:?}", part.high)).collect();
    let verified = allowed(error, bound);
    Verdict { verified, exact: shown(&digits), error: finite(error), bound }
}

/// Written so that no NaN and no infinity is, whatever the bound.
fn allowed(error: f64, bound: f64) -> bool {
    error.is_finite() && error <= bound
}

fn norm(parts: &[f64]) -> f64 {
    match parts {
        [x] => x.abs(),
        parts => parts.iter().fold(0.0, |norm: f64, part| norm.hypot(*part)),
    }
}

fn finite(error: f64) -> f64 {
    if error.is_nan() { f64::INFINITY } else { error }
}

fn shown(parts: &[String]) -> String {
    match parts {
        [re, im] if im.starts_with('-') => format!("{re}{im}i"),
        [re, im] => format!("{re}+{im}i"),
        parts => parts.concat(),
    }
}

/// The relative error that `k` roundings of `u` each can add up to: the lesser of what is certain and what is as good as certain of numbers
/// whose rounding errors have nothing to do with each other (those of many equal numbers do).
pub fn gamma(k: f64, u: f64) -> f64 {
    const LAMBDA: f64 = 10.0;
    let likely = (LAMBDA * k.sqrt() * u + k * u * u / (1.0 - u)).exp_m1();
    if k * u < 1.0 { (k * u / (1.0 - k * u)).min(likely) } else { likely }
}

#[cfg(test)]
mod tests {
    use warpfold::Complex;

    use super::*;

    #[test]
    fn integers_are_right_or_wrong() {
        let truth = Truth::of(Op::Sum, &[i32::MAX, 1, 5]);
        assert!(truth.judge(i32::MIN + 5, 2.0).verified);
        assert!(!truth.judge(i32::MIN + 4, 2.0).verified);
        assert_eq!(
            Truth::of(Op::Prod, &[i64::MAX, 3]).judge(i64::MAX.wrapping_mul(3), 1.0).error,
            0.0
        );
        assert!(Truth::of(Op::Min, &[] as &[i32]).judge(i32::MAX, 0.0).verified);
    }

    #[test]
    fn a_nan_and_an_infinity_never_pass() {
        let x = [1.0f32, 2.0, 3.0];
        for op in [Op::Sum, Op::Min, Op::Max, Op::Prod] {
            let truth = Truth::of(op, &x);
            for wrong in [f32::NAN, f32::INFINITY, -f32::NAN] {
                for steps in [2.0, 1e30, f64::INFINITY] {
                    let verdict = truth.judge(wrong, steps);
                    assert!(
                        !verdict.verified && verdict.error == f64::INFINITY,
                        "{op} {verdict:?}"
                    );
                }
                assert!(!truth.judge_rounded(wrong).verified, "{op}");
            }
        }
        let z = [Complex::new(1.0f64, 1.0); 3];
        for op in [Op::Sum, Op::Prod] {
            assert!(!Truth::of(op, &z).judge(Complex::new(3.0, f64::NAN), 2.0).verified);
        }
    }

    #[test]
    fn sums_are_allowed_what_their_roundings_explain_and_no_more() {
        let x: Vec<f32> = (0..1u64 << 16).map(|k| (k * 7919 % 1000) as f32 * 0.001).collect();
        let truth = Truth::of(Op::Sum, &x);
        let exact: f64 = x.iter().map(|&x| f64::from(x)).sum();
        // A tree of 16 steps is within 16 units of 2^-24 of the magnitudes; a loop is allowed more.
        let tree = truth.judge(exact as f32, 16.0);
        assert!(tree.verified && tree.bound < exact * 1.01e-6, "{tree:?}");
        let serial = truth.judge(x.iter().fold(0.0f32, |sum, x| sum + x), 65535.0);
        assert!(serial.verified && serial.bound > 100.0 * tree.bound, "{serial:?}");
        // One element more or less is no rounding.
        assert!(!truth.judge((exact - 0.1) as f32, 16.0).verified);
        assert!(truth.judge_rounded(exact as f32).verified);
        assert!(!truth.judge_rounded((exact as f32).next_up()).verified);
    }

    #[test]
    fn products_are_judged_by_norm() {
        let z = [Complex::new(0.6f32, 0.8); 4];
        let product = z.iter().skip(1).fold(z[0], |p, z| p * z);
        let truth = Truth::of(Op::Prod, &z);
        assert!(truth.judge(product, 2.0).verified);
        assert!(!truth.judge(product * z[0], 2.0).verified);
        assert!(!truth.judge(product + Complex::new(1e-5, 0.0), 2.0).verified);
    }

    #[test]
    fn gamma_grows_with_the_root_where_it_must() {
        let u = 2f64.powi(-24);
        assert!((gamma(20.0, u) / (20.0 * u) - 1.0).abs() < 1e-5);
        assert!(gamma(2f64.powi(25), u) < 0.004);
        assert!(gamma(1e6, u) > gamma(1e5, u));
    }
}
