//! `Pair`: an exact sum that two f64 hold, and how it is rounded once.
//!
//! What many short inputs leave is small: a few f64 additions were exact, or lost no more than a second f64 holds. Rounding such a sum, or
//! such a sum over a count, takes a few instructions where the wide accumulators take hundreds.

use crate::binary::Nearest;
use crate::double_double::{fast_two_sum, two_sum};

/// The exact number `high + low`, whose sum no f64 operation here overflows or underflows.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Pair {
    /// The larger part.
    pub high: f64,
    /// What it leaves.
    pub low: f64,
}

impl Pair {
    /// The nearest value of a type. An exact zero is +0.0.
    #[inline(always)]
    pub fn round<F: Nearest>(self) -> F {
        let sum = two_sum(self.high, self.low);
        if F::PRECISION == f64::PRECISION { F::of(sum.high) } else { F::of(odd(sum.high, sum.low)) }
    }

    /// The nearest value to the number over a count; `None` where this way cannot tell, which is rare.
    #[inline(always)]
    pub fn mean<F: Nearest>(self, count: u64) -> Option<F> {
        let sum = two_sum(self.high, self.low);
        let n = count as f64;
        let quotient = sum.high / n;
        // What rounds to zero keeps its sign, and goes the way of all small quotients.
        if sum.high == 0.0 {
            return Some(F::ZERO);
        }
        // The remainders of smaller quotients might underflow, and counts beyond have no f64.
        if quotient.abs() < 2f64.powi(-900) || count > 1 << 53 {
            return None;
        }
        if count.is_power_of_two() {
            return Some(Pair { high: quotient, low: sum.low / n }.round());
        }
        let rest = (-quotient).mul_add(n, sum.high) + sum.low;
        if rest == 0.0 {
            return Some(F::of(quotient));
        }
        // The correction is known to a few units in its own last place; if that does not matter for the result, it is right.
        let correction = rest / n;
        let rounded = |correction| {
            let sum = fast_two_sum(quotient, correction);
            match F::PRECISION == f64::PRECISION {
                true => F::of(sum.high),
                false => F::of(odd(sum.high, sum.low)),
            }
        };
        let spread = 2f64.powi(-48);
        let (less, more) =
            (rounded(correction * (1.0 - spread)), rounded(correction * (1.0 + spread)));
        (less == more).then_some(less)
    }
}

/// `high + low`, `high` being the nearest f64, rounded to the odd one of its two neighbours unless it is exact: rounding that again to a
/// type of two bits less is rounding once (S. Boldo, G. Melquiond, *Emulation of FMA and correctly rounded sums*, 2008).
#[inline(always)]
fn odd(high: f64, low: f64) -> f64 {
    let bits = high.to_bits();
    let towards_zero = bits - u64::from((low < 0.0) != (high < 0.0));
    if low == 0.0 { high } else { f64::from_bits(towards_zero | 1) }
}

#[cfg(test)]
mod tests {
    use num_bigint::{BigInt, BigUint};

    use super::*;
    use crate::bf16;
    use crate::binary::{Decode, Decoded};
    use crate::limbs::round_ratio;
    use crate::random::Words;

    fn exact<F: Nearest>(pair: Pair, count: u64) -> F {
        let integer = |x: f64| -> BigInt {
            match x.decode() {
                Decoded::Finite { negative, mantissa, shift } => {
                    (BigInt::from(mantissa) << shift) * if negative { -1 } else { 1 }
                }
                _ => unreachable!("finite"),
            }
        };
        let sum = integer(pair.high) + integer(pair.low);
        round_ratio(&sum, &BigUint::from(count), i64::from(f64::UNIT))
    }

    fn agree<F: Nearest>(pair: Pair) {
        assert_eq!(pair.round::<F>(), exact(pair, 1), "{pair:?}");
        let mut unsure = 0;
        for count in 1..40 {
            match pair.mean::<F>(count) {
                Some(mean) => assert_eq!(mean, exact(pair, count), "{pair:?} / {count}"),
                None => unsure += 1,
            }
        }
        assert!(unsure <= 4, "{pair:?}");
    }

    #[test]
    fn sums_and_means_are_rounded_once() {
        let mut words = Words(7);
        let mut random = |bits: u32| {
            (words.next() >> 11) as i64 as f64 * 2f64.powi(-(bits as i32))
                - 2f64.powi(52 - bits as i32)
        };
        for round in 0..3000 {
            let (high, low) = (random(20), random(60 + round % 50));
            for pair in [Pair { high, low }, Pair { high, low: 0.0 }, Pair { high: low, low: high }]
            {
                agree::<f64>(pair);
                agree::<f32>(pair);
                agree::<bf16>(pair);
            }
        }
    }

    #[test]
    fn ties_are_decided_by_what_lies_below() {
        let tie = 1.0 + 2f64.powi(-24);
        for low in [0.0, 2f64.powi(-60), -2f64.powi(-60), 2f64.powi(-1000)] {
            agree::<f32>(Pair { high: tie, low });
            agree::<f32>(Pair { high: -tie, low });
            agree::<f32>(Pair { high: 3.0 * tie, low });
        }
        assert_eq!(Pair { high: 1.0, low: -1.0 }.round::<f32>().to_bits(), 0);
        assert_eq!(Pair { high: -1e-300, low: 0.0 }.round::<f32>().to_bits(), 0x8000_0000);
        // A mean that rounds to zero has the sign of the sum: this way does not tell.
        let least = Pair { high: -5e-324, low: 0.0 };
        assert_eq!(least.mean::<f64>(3).map(f64::is_sign_negative), None);
        assert_eq!(Pair { high: 0.0, low: -0.0 }.mean::<f64>(3).map(f64::to_bits), Some(0));
    }
}
