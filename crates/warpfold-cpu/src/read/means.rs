//! Means of neighbours, whose divisions fill registers.
//!
//! A quotient of f64 and a bound on what it is off by leave no doubt where both ends of what the mean may be round to the same float. What is left,
//! ties above all, is divided by itself.

use std::mem::MaybeUninit;

use warpfold_exact::exact::{Pair, Small};
use warpfold_num::double_double::two_sum;
use warpfold_num::element::Float;

use crate::batch::{AT_ONCE, Read, one_by_one};

/// What means are made of.
pub(super) trait Sums<const PARTS: usize>: Small {
    /// A part of neighbours, in two f64 each, of which the second are mostly zero where elements are narrow; `None` where these do not hold all.
    fn pairs(
        sums: &[[Self; PARTS]; AT_ONCE],
        part: usize,
        are_narrow: bool,
    ) -> Option<[Pair; AT_ONCE]>;
}

impl<const PARTS: usize> Sums<PARTS> for Pair {
    #[inline(always)]
    fn pairs(
        sums: &[[Pair; PARTS]; AT_ONCE],
        part: usize,
        are_narrow: bool,
    ) -> Option<[Pair; AT_ONCE]> {
        let mut pairs = [Pair { high: 0.0, low: 0.0 }; AT_ONCE];
        if are_narrow {
            let mut low = 0;
            for k in 0..AT_ONCE {
                pairs[k].high = sums[k][part].high;
                low |= sums[k][part].low.to_bits();
            }
            // Nothing is to be added.
            if low << 1 == 0 {
                return Some(pairs);
            }
        }
        for k in 0..AT_ONCE {
            let sum = two_sum(sums[k][part].high, sums[k][part].low);
            pairs[k] = Pair { high: sum.high, low: sum.low };
        }
        Some(pairs)
    }
}

impl<const PARTS: usize> Sums<PARTS> for i128 {
    #[inline(always)]
    fn pairs(sums: &[[i128; PARTS]; AT_ONCE], part: usize, _: bool) -> Option<[Pair; AT_ONCE]> {
        let (mut words, mut beyond) = ([0i64; AT_ONCE], 0);
        for k in 0..AT_ONCE {
            let sum = sums[k][part];
            words[k] = sum as i64;
            // What lies above 63 bits, and whether the rest is one that f64 has.
            beyond |= (sum >> 64) as i64 ^ words[k] >> 63;
            beyond |= (words[k] >> 53) ^ (words[k] >> 63);
        }
        let mut pairs = [Pair { high: 0.0, low: 0.0 }; AT_ONCE];
        for k in 0..AT_ONCE {
            pairs[k].high = words[k] as f64;
        }
        (beyond == 0).then_some(pairs)
    }
}

/// The means of pairs that are no sums of other pairs, and which of them are certain.
#[inline(always)]
fn means<F: Float>(
    sums: &[Pair; AT_ONCE],
    counts: &[u64; AT_ONCE],
) -> ([F; AT_ONCE], [bool; AT_ONCE]) {
    let (mut means, mut are_certain) = ([F::ZERO; AT_ONCE], [false; AT_ONCE]);
    for k in 0..AT_ONCE {
        let (Pair { high, low }, n) = (sums[k], counts[k] as f64);
        // Of inputs of one length there is one reciprocal for all.
        let is_double = F::PRECISION == f64::MANTISSA_DIGITS;
        let quotient = if is_double { high / n } else { high * (1.0 / n) };
        // Exact: a multiple of the quotient's last place, and no more than 2n of these, as high/n and a product with 1/n are off by no more than two. So it is zero only
        // if the quotient is the mean.
        let rest = two_sum((-quotient).mul_add(n, high), low);
        let (rest, beyond) = (rest.high, rest.low);
        // Of four roundings (two of a product, of the pair's second number, and of either end) each is half a unit, so four of 2^-53; twice that is room. A
        // correction is known to a few units in its own last place.
        let (least, greatest) = if is_double {
            let correction = rest / n;
            // A correction that is known is rounded right even where it is half a unit, as one of 2n may be that few elements have.
            let is_known = (beyond == 0.0) & ((-correction).mul_add(n, rest) == 0.0);
            let spread = if is_known { 0.0 } else { correction * 2f64.powi(-48) };
            (quotient + (correction - spread), quotient + (correction + spread))
        } else {
            let error = if rest == 0.0 { 0.0 } else { quotient.abs() * 2f64.powi(-50) };
            (quotient - error, quotient + error)
        };
        let (least, greatest) = (F::of(least), F::of(greatest));
        // Remainders of smaller quotients might underflow, and those of counts beyond need not be exact. A zero is left, too: it may have a sign here.
        let is_sound = (quotient.abs() >= 2f64.powi(-900)) & (counts[k] <= 1 << 52);
        (means[k], are_certain[k]) = (least, (least == greatest) & is_sound);
    }
    (means, are_certain)
}

/// Means of neighbours by their parts: what is in doubt by the reader of one.
#[inline(always)]
pub(super) fn neighbours<D, S, F, const PARTS: usize>(
    reader: &D,
    sums: &[[S; PARTS]; AT_ONCE],
    counts: [u64; AT_ONCE],
    of_parts: impl Fn([F; PARTS]) -> D::Result,
) -> ([MaybeUninit<D::Result>; AT_ONCE], [bool; AT_ONCE])
where
    D: Read<[S; PARTS]>,
    S: Sums<PARTS>,
    F: Float,
{
    let (mut all, mut are_certain) = ([[F::ZERO; PARTS]; AT_ONCE], [true; AT_ONCE]);
    for part in 0..PARTS {
        let are_narrow = F::PRECISION < f64::MANTISSA_DIGITS;
        let Some(pairs) = S::pairs(sums, part, are_narrow) else {
            return one_by_one(reader, sums, counts);
        };
        let (means, are) = means::<F>(&pairs, &counts);
        for k in 0..AT_ONCE {
            all[k][part] = means[k];
            are_certain[k] &= are[k];
        }
    }
    let mut results = [const { MaybeUninit::uninit() }; AT_ONCE];
    for k in 0..AT_ONCE {
        results[k] = MaybeUninit::new(of_parts(all[k]));
    }
    if are_certain != [true; AT_ONCE] {
        for k in 0..AT_ONCE {
            if !are_certain[k]
                && let Some(mean) = reader.small(&sums[k], counts[k])
            {
                (results[k], are_certain[k]) = (MaybeUninit::new(mean), true);
            }
        }
    }
    (results, are_certain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpfold_exact::exact::Exact;
    use warpfold_num::random::Words;

    /// The sum of a pair over a number, rounded once.
    fn mean<F: Float>(Pair { high, low }: Pair, n: u64) -> F {
        let mut sum = Exact::<f64>::default();
        sum.add(high);
        sum.add(low);
        Exact { count: n, ..sum }.mean_as().expect("a number of elements")
    }

    /// Holds means to those by arbitrary precision; how many of 16 are certain.
    fn check<F: Float>(sums: [Pair; AT_ONCE], n: u64) -> usize {
        let [pairs] = [<Pair as Sums<1>>::pairs(&sums.map(|sum| [sum]), 0, F::PRECISION < 53)
            .expect("always there")];
        let (found, are_certain) = means::<F>(&pairs, &[n; AT_ONCE]);
        for k in (0..AT_ONCE).filter(|&k| are_certain[k]) {
            assert_eq!(found[k], mean::<F>(sums[k], n), "{:?} over {n}", sums[k]);
        }
        are_certain.iter().filter(|&&certain| certain).count()
    }

    #[test]
    fn means_are_rounded_once_and_ties_are_known() {
        let mut words = Words(3);
        for n in [1, 2, 3, 5, 6, 7, 10, 49, 1000, 65_537, 1 << 52] {
            // Halfway between neighbours, and by a little more or less than that.
            let ties = std::array::from_fn(|k| {
                let odd = (1u64 << 52) + (words.next() >> 40) * 2 + k as u64 % 2;
                let sum = u128::from(2 * odd + 1) * u128::from(n);
                let high = sum as f64;
                Pair { high, low: (sum as i128 - high as i128) as f64 }
            });
            if n < 1 << 20 {
                assert_eq!(check::<f64>(ties, n), AT_ONCE, "{n}");
            }
            for beyond in [2f64.powi(-60), -2f64.powi(-60), 2f64.powi(-1000)] {
                let near = ties.map(|pair| {
                    let low = if pair.low == 0.0 { beyond } else { pair.low };
                    Pair { low, ..pair }
                });
                check::<f64>(near, n);
                check::<f32>(near, n);
            }
            let any = std::array::from_fn(|_| Pair {
                high: (words.next() >> 11) as f64 - 2f64.powi(52),
                low: (words.next() >> 40) as f64 * 2f64.powi(-24),
            });
            check::<f64>(any, n);
            check::<f32>(any, n);
            let narrow = std::array::from_fn(|_| Pair {
                high: (words.next() >> 34) as f64 * n as f64,
                low: 0.0,
            });
            check::<f32>(narrow, n);
        }
        // 2^53 + 1 + 2^-60 over 3, beside what it would be as a tie.
        let close = Pair { high: 2f64.powi(53), low: 1.0 + 2f64.powi(-52) };
        check::<f64>([close; AT_ONCE], 3);
        check::<f64>([close; AT_ONCE], 2);
    }
}
