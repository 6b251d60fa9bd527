//! Products of floats along the canonical tree ([`crate::tree`]): what a run, a block and a join are, to the bit.
//!
//! # Real numbers
//! A run multiplies factors, in order, into `high + low`, beginning with 1 + 0:
//!
//! ```text
//! p = high · m        e = fma(high, m, −p)        low = fma(low, m, e)        high = p
//! ```
//!
//! A factor `m` is one element of f64, the product of two of f32, of four of f16 or bf16: f64 holds those exactly. A block does the same with the
//! runs' results `m + n`, where `low = fma(low, m, fma(high, n, e))`. Then `high + low` is made a double-double whose high part lies in [1, 2), with
//! an exponent and a sign apart.
//!
//! *Theorem.* Whenever the numbers on the way are multiplied by powers of two, and whichever signs are kept apart, the result has the same bits, as
//! long as `2^-800 <= |high| <= 2^1000`. *Proof.* Each operation rounds once, and rounding to nearest commutes with a change of sign, and with a power of
//! two unless a result leaves the normal numbers. So it is enough that every `low` that is not zero is at least `2^-213 |high|`. Where `e` is
//! not zero it is a multiple of `2^-104` of a number no smaller than `high / 4`, so at least `2^-106 |high|`. If `low · m` cancels more than half of it, `low`
//! was at least `2^-107 |high|`; what is left is a multiple of the last place of `low` times that of `m`, `2^-105` of it, and so at least
//! `2^-212 |high|`. If it does not, more than `2^-107 |high|` is left. Where `e` is zero, `low / high` stays as it is but for rounding. In a block
//! `fma(high, n, e)` may cancel once more in the same way, which leaves at least `2^-321 |high|`, and `high` stays below 2^33 there. ∎
//!
//! Kernels therefore take exponents from factors or from products, when it suits them, in lanes or one by one. A product of 32 elements of f16 needs
//! no care at all: all numbers on the way are multiples of `2^-768`, the product of the elements' units, and below `2^513`.
//!
//! A run with a zero, an infinity or a NaN in it is that alone ([`SpecialFlags`]).
//!
//! # Complex numbers
//! One part may be far smaller than the other and underflow, so that scaling shows: it is part of the definition. `(a + bi)(c + di)`, parts of sums
//! of two f64, is computed by `times` and `sum` below. Of complex64 a factor is the product of two elements, each part of which is the sum
//! of two exact products, by TwoSum; after each two factors all is scaled so that the larger part lies in [1, 2). Of complex128 a factor is
//! one element, scaled in that way itself. A block multiplies runs. A run with a number in it that is zero or not finite multiplies elements
//! one by one as double-doubles, and so does a block with such a run.
//!
//! # Both
//! Joins multiply double-doubles ([`RealProduct::merge`], [`ComplexProduct::merge`]). A last factor that has too few elements, as a last run, is
//! what ones in their places would make it.

use super::{ComplexProduct, RealProduct, SpecialFlags};
use crate::double_double::{DoubleDouble, exponent, power_of_two, two_product, two_sum};
use crate::element::Element;
use crate::tree::Operator;

/// Products of real floats; leaves are elements as f64.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reals {
    /// Elements of a factor.
    pub join: usize,
}

/// Products of complex floats; leaves are elements as pairs of f64.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Complexes {
    /// Elements of a factor.
    pub join: usize,
}

/// Elements of a factor: as many as f64 multiplies exactly.
pub const fn join_of<T: Element>() -> usize {
    match size_of::<T::Component>() {
        2 => 4,
        4 => 2,
        _ => 1,
    }
}

/// A subnormal number brought among the normal ones, and what it lacks then.
fn among_normals(x: f64) -> (f64, i64) {
    if x.abs() < f64::MIN_POSITIVE { (x * 2f64.powi(64), -64) } else { (x, 0) }
}

impl Operator for Reals {
    type Leaf = f64;
    type Node = RealProduct;

    fn is_same(one: &f64, other: &f64) -> bool {
        one.to_bits() == other.to_bits()
    }

    fn run(&self, leaves: &[f64]) -> RealProduct {
        let mut specials = SpecialFlags::default();
        let mut negative = false;
        for x in leaves {
            specials.zero |= *x == 0.0;
            specials.infinity |= x.is_infinite();
            specials.nan |= x.is_nan();
            negative ^= x.is_sign_negative() & !x.is_nan();
        }
        if specials.any() {
            return RealProduct { specials, negative, ..RealProduct::ONE };
        }
        let (mut high, mut low, mut power) = (1.0f64, 0.0f64, 0);
        for factor in leaves.chunks(self.join) {
            let (factor, shift) = among_normals(factor.iter().product());
            let by = exponent(factor);
            // The power that scales the very largest numbers is itself subnormal: two steps.
            let m = factor * power_of_two(-by / 2) * power_of_two(-(by - by / 2));
            power += by + shift;
            let p = high * m;
            let e = high.mul_add(m, -p);
            low = low.mul_add(m, e);
            high = p;
        }
        RealProduct::of_chain(high, low, power)
    }

    fn block(&self, runs: &[RealProduct]) -> RealProduct {
        if runs.iter().any(|run| run.specials.any()) {
            let mut all = runs[0];
            runs[1..].iter().for_each(|run| all.merge(run));
            return all;
        }
        let (mut high, mut low) = (runs[0].mantissa.high, runs[0].mantissa.low);
        let (mut power, mut negative) = (runs[0].exponent, runs[0].negative);
        for run in &runs[1..] {
            let DoubleDouble { high: m, low: n } = run.mantissa;
            let p = high * m;
            let e = high.mul_add(m, -p);
            low = low.mul_add(m, high.mul_add(n, e));
            high = p;
            power = power.saturating_add(run.exponent);
            negative ^= run.negative;
        }
        let product = RealProduct::of_chain(high, low, power);
        RealProduct { negative, ..product }
    }

    #[inline(always)]
    fn join(&self, left: &RealProduct, right: &RealProduct) -> RealProduct {
        let mut both = *left;
        both.merge(right);
        both
    }
}

/// The parts of a chain of complex factors: sums of two f64 that are not in order, times a power of two.
#[derive(Clone, Copy)]
struct Chain {
    re: DoubleDouble,
    im: DoubleDouble,
    exponent: i64,
}

impl Chain {
    fn of(product: &ComplexProduct) -> Self {
        Chain { re: product.re, im: product.im, exponent: product.exponent }
    }

    fn multiply(&mut self, c: DoubleDouble, d: DoubleDouble) {
        let (a, b) = (self.re, self.im);
        self.re = sum(times(a, c), times(b, d.negate()));
        self.im = sum(times(a, d), times(b, c));
    }

    /// Brings the larger part to `1 <= |high| < 2`.
    fn rescale(&mut self) {
        let shift = exponent(self.re.high.abs().max(self.im.high.abs()));
        let by = power_of_two(-shift);
        (self.re, self.im) = (self.re.scale(by), self.im.scale(by));
        self.exponent = self.exponent.saturating_add(shift);
    }

    fn finish(self) -> ComplexProduct {
        let in_order = |part: DoubleDouble| two_sum(part.high, part.low);
        let (re, im) = (in_order(self.re), in_order(self.im));
        ComplexProduct::of_parts(re, im, self.exponent)
    }
}

/// A product of sums of two f64; what both low parts make is left out.
fn times(a: DoubleDouble, b: DoubleDouble) -> DoubleDouble {
    let product = two_product(a.high, b.high);
    let error = a.low.mul_add(b.high, product.low);
    DoubleDouble { high: product.high, low: a.high.mul_add(b.low, error) }
}

fn sum(a: DoubleDouble, b: DoubleDouble) -> DoubleDouble {
    let sum = two_sum(a.high, b.high);
    DoubleDouble { high: sum.high, low: sum.low + (a.low + b.low) }
}

fn exactly(high: f64) -> DoubleDouble {
    DoubleDouble { high, low: 0.0 }
}

/// The product of two, whose products of parts f64 holds.
fn pair([a, b]: [f64; 2], [c, d]: [f64; 2]) -> [DoubleDouble; 2] {
    [two_sum(a * c, -(b * d)), two_sum(a * d, b * c)]
}

/// An element whose larger part is brought to [1, 2), and the power of two that it lacks then.
fn scaled([re, im]: [f64; 2]) -> ([f64; 2], i64) {
    let mut parts = [re, im];
    let larger = |parts: [f64; 2]| parts[0].abs().max(parts[1].abs());
    let mut power = 0;
    // Numbers at the ends of the range come nearer to 1 first, so that the power that scales them is a normal number.
    if larger(parts) < f64::MIN_POSITIVE {
        (parts, power) = (parts.map(|part| part * power_of_two(64)), -64);
    } else if larger(parts) >= power_of_two(1023) {
        (parts, power) = (parts.map(|part| part * power_of_two(-64)), 64);
    }
    let by = exponent(larger(parts));
    (parts.map(|part| part * power_of_two(-by)), power + by)
}

impl Operator for Complexes {
    type Leaf = [f64; 2];
    type Node = ComplexProduct;

    fn is_same(one: &[f64; 2], other: &[f64; 2]) -> bool {
        one.map(f64::to_bits) == other.map(f64::to_bits)
    }

    fn run(&self, leaves: &[[f64; 2]]) -> ComplexProduct {
        let is_plain =
            |&[re, im]: &[f64; 2]| re.is_finite() && im.is_finite() && (re != 0.0 || im != 0.0);
        if !leaves.iter().all(is_plain) {
            let mut all = ComplexProduct::ONE;
            leaves.iter().for_each(|[re, im]| all.merge(&ComplexProduct::of(*re, *im)));
            return all.without_signs_of_zeros();
        }
        let mut chain = Chain::of(&ComplexProduct::ONE);
        match self.join {
            1 => {
                for leaf in leaves {
                    let ([re, im], power) = scaled(*leaf);
                    chain.multiply(exactly(re), exactly(im));
                    chain.exponent = chain.exponent.saturating_add(power);
                }
            }
            _ => {
                for group in leaves.chunks(4) {
                    for two in group.chunks(2) {
                        let [re, im] = pair(two[0], two.get(1).copied().unwrap_or([1.0, 0.0]));
                        chain.multiply(re, im);
                    }
                    chain.rescale();
                }
            }
        }
        chain.finish()
    }

    fn block(&self, runs: &[ComplexProduct]) -> ComplexProduct {
        if !runs.iter().all(ComplexProduct::is_plain) {
            let mut all = runs[0];
            runs[1..].iter().for_each(|run| all.merge(run));
            return all.without_signs_of_zeros();
        }
        let mut chain = Chain::of(&runs[0]);
        for run in &runs[1..] {
            chain.multiply(run.re, run.im);
            chain.exponent = chain.exponent.saturating_add(run.exponent);
        }
        chain.finish()
    }

    #[inline(always)]
    fn join(&self, left: &ComplexProduct, right: &ComplexProduct) -> ComplexProduct {
        let mut both = *left;
        both.merge(right);
        both.without_signs_of_zeros()
    }
}
