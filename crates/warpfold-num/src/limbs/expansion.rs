//! [`Expansion`]: an exact sum as a few f64, for where a wide accumulator for each of many sums would be too much memory.
//!
//! A floating-point addition loses a float, which another addition finds (O. Møller 1965, D. Knuth). Each term takes what those before it
//! lost, so nothing is lost as long as the last term loses nothing. J. Shewchuk, *Adaptive precision floating-point arithmetic* (1997).

use super::fixed::{Fixed, Limbs, SignMagnitude};
use super::register::Register;
use crate::double_double::{power_of_two, two_sum};

/// The exact sum of its `N` terms. What they cannot hold is not taken in, and left to the caller's wide accumulator.
///
/// ```
/// use warpfold_num::limbs::Expansion;
/// let mut sum = Expansion::<2>::default();
/// assert!(sum.add(1e16) && sum.add(1.0) && sum.add(-1e16));
/// assert_eq!(sum.terms().iter().sum::<f64>(), 1.0);
/// assert!(!sum.add(f64::INFINITY));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expansion<const N: usize>([f64; N]);

impl<const N: usize> Default for Expansion<N> {
    fn default() -> Self {
        Self::ZERO
    }
}

impl<const N: usize> Expansion<N> {
    /// The sum of nothing.
    pub const ZERO: Self = Expansion([0.0; N]);

    /// The terms, whose exact sum is the number; all are finite.
    pub fn terms(&self) -> &[f64; N] {
        &self.0
    }

    /// Adds a float; says whether it could, and is as before if not.
    #[inline(always)]
    #[must_use = "what did not fit has to go elsewhere"]
    pub fn add(&mut self, x: f64) -> bool {
        let (mut terms, mut rest) = (self.0, x);
        for term in &mut terms {
            let sum = two_sum(*term, rest);
            (*term, rest) = (sum.high, sum.low);
        }
        // An infinity or a sum beyond the largest float leaves a NaN, which is no zero.
        let fits = rest == 0.0;
        if fits {
            self.0 = terms;
        }
        fits
    }

    /// Adds a product; says whether it could, and is as before if not.
    #[inline(always)]
    #[must_use = "what did not fit has to go elsewhere"]
    pub fn add_product(&mut self, x: f64, y: f64) -> bool {
        let product = x * y;
        // The error of a smaller product may lie below the smallest float.
        if product.abs() < 2f64.powi(-960) && x != 0.0 && y != 0.0 {
            return false;
        }
        let before = *self;
        let fits = self.add(product) && self.add(product_error(x, y, product));
        if !fits {
            *self = before;
        }
        fits
    }

    /// Adds what another holds; says whether it could, and is as before if not.
    #[inline(always)]
    #[must_use = "what did not fit has to go elsewhere"]
    pub fn add_all(&mut self, other: &Self) -> bool {
        let mut all = *self;
        let fits = other.0.iter().all(|&term| all.add(term));
        if fits {
            *self = all;
        }
        fits
    }

    /// Adds an integer in units of `2^unit`; says whether it could, and is as before if not.
    #[must_use = "what did not fit has to go elsewhere"]
    pub fn add_fixed<L: Limbs>(&mut self, fixed: &Fixed<L>, unit: i32) -> bool {
        let SignMagnitude { negative, magnitude } = fixed.sign_magnitude();
        let mut all = *self;
        for (k, &limb) in magnitude.as_ref().iter().enumerate() {
            if limb == 0 {
                continue;
            }
            for (half, bit) in [(limb as u32, 0), ((limb >> 32) as u32, 32)] {
                let exponent = unit + 64 * k as i32 + bit;
                if half == 0 {
                    continue;
                }
                // 2^-1074 is the lowest bit of a float, and its powers below 2^-1022 take two steps.
                if !(-1074..=990).contains(&exponent) {
                    return false;
                }
                let lift = if exponent < -1022 { 64 } else { 0 };
                let power =
                    power_of_two(i64::from(exponent + lift)) * power_of_two(-i64::from(lift));
                let term = f64::from(half) * power;
                if !all.add(if negative { -term } else { term }) {
                    return false;
                }
            }
        }
        *self = all;
        true
    }

    /// Adds the number to a register in units of `2^unit`, of which all that was added is a multiple.
    pub fn add_to<L: Limbs>(&self, register: &mut Register<L>, unit: i32) {
        self.0.iter().filter(|&&term| term != 0.0).for_each(|&term| register.add_f64(term, unit));
    }
}

/// What a product lost in its rounding: exact where nothing over- or underflows, and NaN where something overflows (T. Dekker 1971).
#[inline(always)]
fn product_error(x: f64, y: f64, product: f64) -> f64 {
    let ((a, b), (c, d)) = (halves(x), halves(y));
    b * d - (((product - a * c) - b * c) - a * d)
}

/// A float as a sum of two of 26 bits each (G. Veltkamp 1968).
#[inline(always)]
fn halves(x: f64) -> (f64, f64) {
    let scaled = x * ((1u64 << 27) + 1) as f64;
    let high = scaled - (scaled - x);
    (high, x - high)
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;

    use super::*;
    use crate::binary::{Decode, Decoded};
    use crate::limbs::to_bigint;
    use crate::random::Words;

    /// A float in units of 2^-2148, of which every float and every product of two is a multiple.
    fn integer(x: f64) -> BigInt {
        let Decoded::Finite { negative, mantissa, shift } = x.decode() else { panic!("{x}") };
        (BigInt::from(mantissa) << (shift + 1074)) * if negative { -1 } else { 1 }
    }

    fn value<const N: usize>(x: &Expansion<N>) -> BigInt {
        x.terms().iter().map(|&term| integer(term)).sum()
    }

    /// Numbers of any sign whose exponents lie within a range.
    fn numbers(seed: u64, low: i32, high: i32) -> impl Iterator<Item = f64> {
        let mut words = Words(seed);
        std::iter::repeat_with(move || {
            let word = words.next();
            let exponent = low + words.below((high - low + 1) as u64) as i32;
            let mantissa = 1.0 + (word >> 12) as f64 * 2f64.powi(-52);
            let sign = if word & 1 == 1 { -1.0 } else { 1.0 };
            sign * mantissa * 2f64.powi(exponent)
        })
    }

    fn adds_or_leaves<const N: usize>() {
        for (low, high) in [(0, 0), (-20, 4), (-60, 60), (-1022, 1023), (-1022, -990)] {
            let (mut sum, mut exact, mut taken) = (Expansion::<N>::default(), BigInt::ZERO, 0);
            for x in numbers(high as u64 + 9, low, high).take(2000) {
                if sum.add(x) {
                    exact += integer(x);
                    taken += 1;
                }
                assert_eq!(value(&sum), exact, "{x:e} added to {sum:?}");
            }
            assert!(taken >= 2, "{low} to {high}: {taken} of 2000");
            assert!(high - low > 30 || N < 2 || taken == 2000, "{N} terms: {taken} of 2000");
        }
    }

    #[test]
    fn sums_are_exact_or_left_alone() {
        adds_or_leaves::<1>();
        adds_or_leaves::<2>();
        adds_or_leaves::<3>();
    }

    #[test]
    fn products_are_exact_or_left_alone() {
        for (low, high) in [(0, 0), (-20, 4), (-480, -470), (-540, -500), (480, 511), (500, 1023)] {
            let (mut sum, mut exact, mut taken) = (Expansion::<3>::default(), BigInt::ZERO, 0);
            let pairs = numbers(3, low, high).zip(numbers(77, low, high));
            for (x, y) in pairs.take(2000) {
                if sum.add_product(x, y) {
                    exact += (integer(x) * integer(y)) >> 2148;
                    taken += 1;
                }
                assert_eq!(value(&sum), exact, "{x:e} · {y:e}");
            }
            assert!(taken > 1900 || !matches!(high, 0 | 4), "{low} to {high}: {taken} of 2000");
        }
        let mut sum = Expansion::<3>::default();
        assert!(sum.add_product(0.0, 1e-300) && sum.add_product(-1e-300, 0.0));
        assert!(!sum.add_product(1e-300, 1e-300) && !sum.add_product(1e300, 1e300));
        assert!(!sum.add_product(f64::INFINITY, 0.0) && !sum.add_product(f64::NAN, 1.0));
        assert_eq!(sum.terms(), &[0.0; 3]);
    }

    #[test]
    fn what_another_holds_is_added_or_left_alone() {
        let sum = |terms: &[f64]| {
            let mut sum = Expansion::<2>::default();
            assert!(terms.iter().all(|&term| sum.add(term)));
            sum
        };
        let mut all = sum(&[1e16, 1.0]);
        assert!(all.add_all(&sum(&[-1e16, 0.5])));
        assert_eq!(value(&all), integer(1.5));
        let before = all;
        assert!(!all.add_all(&sum(&[1e200, 1e150])));
        assert_eq!(all, before);
    }

    #[test]
    fn specials_and_overflow_are_left_to_others() {
        let mut sum = Expansion::<2>::default();
        assert!(sum.add(f64::MAX) && sum.add(-0.0));
        let before = sum;
        for x in [f64::MAX, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            assert!(!sum.add(x), "{x}");
            assert_eq!(sum, before);
        }
    }

    #[test]
    fn wide_integers_come_back() {
        for unit in [-1074, -149, 0] {
            for (low, high) in [(unit, unit + 20), (unit.max(-1000), 900), (-30, 4)] {
                let (mut expansion, mut register) =
                    (Expansion::<3>::default(), Register::<[u64; 34]>::default());
                for x in numbers(5, low.max(unit + 52).max(-1022), high.max(unit + 60)).take(3) {
                    register.add_f64(x, unit);
                    let mut again = Expansion::<3>::default();
                    if again.add_fixed(&register.fixed, unit) {
                        let found = to_bigint(&register.fixed) << (unit + 2148);
                        assert_eq!(value(&again), found);
                        let mut back = Register::<[u64; 34]>::default();
                        again.add_to(&mut back, unit);
                        assert_eq!(back, register);
                        expansion = again;
                    }
                }
                assert_ne!(expansion, Expansion::default(), "{unit}: {low} to {high}");
            }
        }
        let mut tiny = Register::<[u64; 67]>::default();
        tiny.add_product(1e-300, 1e-300, false);
        assert!(!Expansion::<3>::default().add_fixed(&tiny.fixed, -2148));
    }
}
