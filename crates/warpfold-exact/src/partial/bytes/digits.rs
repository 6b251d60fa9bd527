//! Partials that are sums as digits, which are added up by whoever adds 64-bit integers: MPI, NCCL, a switch.
//!
//! # Layout
//! The words of [the saved form](super) behind its header, each of them as 32-bit digits in numbers of 64 bits, low digit first: a count is two digits, a
//! limb of a sum is two digits, and the special values before a sum's limbs are one number, of three fields of 21 bits that count the partials
//! with a NaN, with +∞ and with -∞. So digits of up to 2^21 - 1 partials add up without a carry from one to the next; what is read back
//! from the sums carries, modulo the accumulator's width as merging does, and is the merged partial to the last bit.
//!
//! | partial | digits of f32 | of f64 |
//! |---|---|---|
//! | [`Exact`](crate::Exact) | 15 | 71 |
//! | [`Moments`](crate::Moments) | 36 | 206 |
//! | [`Dot`](crate::Dot), [`Norm1`](crate::partial::Norm1) | 23 | 137 |
//! | [`Count`](crate::partial::Count) | 4 | 4 |

use crate::exact::Special;

/// The largest digit of one partial.
pub(super) const LARGEST: u64 = u32::MAX as u64;
/// Bits of a counter of special values.
const FIELD: u32 = 21;
/// The most partials whose digits are added up.
pub const MOST: u64 = (1 << FIELD) - 1;

pub(super) fn of_word(word: u64) -> [u64; 2] {
    [word & LARGEST, word >> 32]
}

/// One partial with these special values.
pub(super) fn of_special(special: Special) -> u64 {
    let bits = u64::from(special.bits());
    (0..3).map(|field| (bits >> field & 1) << (field * FIELD)).sum()
}

/// The special values of the sum of so many partials; `None` if it counts more.
pub(super) fn special(word: u64, world: u64) -> Option<Special> {
    let count = |field: u32| word >> (field * FIELD) & MOST;
    let all = [Special::NAN, Special::PLUS, Special::MINUS];
    let specials = (0..).zip(all).filter(|&(field, _)| count(field) > 0);
    let is_possible = word >> (3 * FIELD) == 0 && (0..3).all(|field| count(field) <= world);
    is_possible.then(|| specials.fold(Special::NONE, |set, (_, special)| set.union(special)))
}

/// The next limb of a sum of limbs, from its digits.
pub(super) fn limb([low, high]: [u64; 2], carry: &mut u64) -> u64 {
    let low = low + *carry;
    let high = high + (low >> 32);
    *carry = high >> 32;
    low & LARGEST | high << 32
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;
    use warpfold_num::random::Words;

    use super::*;
    use crate::exact::{Exact, to_bigint};
    use crate::partial::{Count, Partial};
    use crate::{AnyPartial, DType, Op};

    fn added(all: &[Vec<u64>]) -> Vec<u64> {
        (0..all[0].len()).map(|k| all.iter().map(|digits| digits[k]).sum()).collect()
    }

    /// Floats as integers in units of the smallest subnormal, by their bits alone.
    fn integer(x: f64) -> BigInt {
        let bits = x.to_bits();
        let (exponent, mantissa) = (bits >> 52 & 0x7ff, bits & ((1 << 52) - 1));
        let magnitude = match exponent {
            0 => BigInt::from(mantissa),
            _ => BigInt::from(mantissa | 1 << 52) << (exponent - 1),
        };
        if x.is_sign_negative() { -magnitude } else { magnitude }
    }

    #[test]
    fn sums_of_digits_are_sums_of_integers() {
        let mut words = Words(1);
        for world in [1usize, 2, 3, 7, 64] {
            let mut expected = BigInt::ZERO;
            let mut all = Vec::new();
            for _ in 0..world {
                let mut sum = Exact::<f64>::new();
                for _ in 0..5 {
                    let x = f64::from_bits(words.next());
                    if x.is_finite() {
                        sum.add(x);
                        expected += integer(x);
                    }
                }
                all.push(sum.to_digits());
            }
            let total = Exact::<f64>::from_digits(&added(&all), world as u64).unwrap();
            assert_eq!(to_bigint(&total.parts[0].fixed), expected, "{world} partials");
        }
    }

    #[test]
    fn counts_stop_at_the_top_and_special_values_are_joined() {
        let count = |seen, nonzero| Count { seen, nonzero }.to_digits();
        let total = added(&[count(u64::MAX, 1 << 40), count(5, u64::MAX - (1 << 40)), count(0, 1)]);
        let total = Count::from_digits(&total, 3).unwrap();
        assert_eq!(total, Count { seen: u64::MAX, nonzero: u64::MAX });
        let of = |x: f32| {
            let mut sum = Exact::<f32>::new();
            sum.add(x);
            sum.to_digits()
        };
        let total = |x: &[f32]| {
            let digits: Vec<_> = x.iter().map(|&x| of(x)).collect();
            Exact::<f32>::from_digits(&added(&digits), x.len() as u64).unwrap().round()
        };
        let (inf, nan) = (f32::INFINITY, f32::NAN);
        assert_eq!(total(&[1.0, inf, inf, -5.0]), inf);
        assert_eq!(total(&[-inf, 2.0]), -inf);
        assert!(total(&[inf, 1.0, -inf]).is_nan() && total(&[1.0, nan]).is_nan());
        assert_eq!(total(&[f32::MAX, f32::MAX, -f32::MAX]), f32::MAX);
    }

    #[test]
    fn digits_that_cannot_be_are_refused() {
        let mut sum = Exact::<f32>::new();
        sum.add(1.0);
        let good = sum.to_digits();
        assert_eq!(Exact::<f32>::from_digits(&good, 1).unwrap(), sum);
        assert!(Exact::<f32>::from_digits(&good[1..], 1).is_err(), "one less");
        assert!(Exact::<f32>::from_digits(&[&good[..], &[0]].concat(), 1).is_err(), "one more");
        assert!(Exact::<f32>::from_digits(&good, MOST + 1).is_err(), "too many partials");
        for (at, digit) in [(0, 1 << 32), (2, 2), (2, 1 << 63), (14, 1 << 32), (14, 1 << 20)] {
            let mut bad = good.clone();
            bad[at] = digit;
            assert!(Exact::<f32>::from_digits(&bad, 1).is_err(), "{digit:#x} at {at}");
        }
    }

    /// The table above, and that every other reduction says that it is no sum.
    #[test]
    fn lengths_are_those_of_the_table() {
        let length =
            |op, dtype| AnyPartial::empty(op, dtype).to_digits().map(|digits| digits.len());
        let of = |dtype| [Op::Sum, Op::Var, Op::Dot, Op::L1, Op::Count].map(|op| length(op, dtype));
        assert_eq!(of(DType::F32), [15, 36, 23, 23, 4].map(Some));
        assert_eq!(of(DType::F64), [71, 206, 137, 137, 4].map(Some));
        for op in [Op::Max, Op::Prod, Op::Linf, Op::Stats] {
            assert_eq!(length(op, DType::F64), None);
            assert!(Partial::<f64>::from_digits(op, &[0; 71], 1).is_err());
        }
    }
}
