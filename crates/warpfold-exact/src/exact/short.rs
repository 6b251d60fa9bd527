//! Moments of a few elements of like size, as integers of one grid: what a wide accumulator would tell, sooner.

use crate::Op;
use crate::element::{Decode, Decoded, Element, Float, Real, Rounding};

/// Elements at most: the root of a quotient keeps enough bits then.
const MOST: usize = 256;

/// Bits that differences from the first element may have, so that sums of their squares, times their number, fit 127.
const BITS: u32 = 54;

/// Bits that elements may have, so that their differences fit 64.
const REACH: u32 = 62;

/// The variance, deviation, norm or sum of squares of a few elements, rounded once; `None` where that takes a wide accumulator, or is no number.
pub fn round_moments<T: Element, F: Float>(op: Op, ddof: u64, x: &[T]) -> Option<F> {
    let n = x.len();
    if n == 0 || n > MOST || (op.is_spread() && ddof >= n as u64) {
        return None;
    }
    let parts = T::as_parts(x);
    // Where significands begin alike, their ends need not be looked for.
    let mut found = None;
    let (mut low, mut most, mut all) = (u32::MAX, 0, 0);
    for &part in parts {
        let Decoded::Finite { mantissa, shift, .. } = part.decode() else { return None };
        if mantissa != 0 {
            (low, most, all) = (low.min(shift), most.max(shift), all | mantissa);
        }
    }
    if all == 0 {
        return Some(F::ZERO);
    }
    if most - low + 64 - all.leading_zeros() <= REACH {
        found = sums::<T>(op, parts, low);
    }
    if found.is_none() {
        low = grid(parts)?;
        found = sums::<T>(op, parts, low);
    }
    let (sums, squares) = found?;
    let unit = 2 * (i64::from(T::Component::UNIT) + i64::from(low));
    let n = n as u64;
    let spread = |sum: i64| u128::from(sum.unsigned_abs()).pow(2);
    let spreads = || u128::from(n) * squares - spread(sums[0]) - spread(sums[1]);
    Some(match op {
        Op::Var => round_quotient(spreads(), n * (n - ddof), unit),
        Op::Std => round_root(spreads(), n * (n - ddof), unit),
        Op::L2 => round_root(squares, 1, unit),
        Op::Sumsq => round_quotient(squares, 1, unit),
        _ => return None,
    })
}

/// The greatest grid that all finite elements are on; `None` where [`REACH`] bits do not reach over them.
fn grid<P: Real>(parts: &[P]) -> Option<u32> {
    let (mut low, mut top) = (u32::MAX, 0);
    for part in parts {
        if let Decoded::Finite { mantissa: mantissa @ 1.., shift, .. } = part.decode() {
            low = low.min(shift + mantissa.trailing_zeros());
            top = top.max(shift + 64 - mantissa.leading_zeros());
        }
    }
    (top - low <= REACH).then_some(low)
}

/// Sums and the sum of squares of elements of a grid, less the first element if a variance is asked for; `None` where they are too far from it.
fn sums<T: Element>(op: Op, parts: &[T::Component], low: u32) -> Option<([i64; 2], u128)> {
    let value = |part: T::Component| match part.decode() {
        Decoded::Finite { negative, mantissa, shift } => {
            // A zero's shift says nothing; other mantissas have zeros where they are shifted out.
            let size = match shift >= low {
                true => mantissa << ((shift - low) & 63),
                false => mantissa >> ((low - shift) & 63),
            } as i64;
            if negative { -size } else { size }
        }
        _ => 0,
    };
    let mut origin = [0; 2];
    // Variances do not change where all elements are moved; norms do.
    if op.is_spread() {
        (0..T::PARTS).for_each(|k| origin[k] = value(parts[k]));
    }
    // As many differences as there may be, each of so many bits, sum up to 62.
    let (mut sums, mut squares) = ([0i64; 2], 0u128);
    for element in parts.chunks_exact(T::PARTS) {
        for (k, &part) in element.iter().enumerate() {
            let difference = value(part) - origin[k];
            let size = difference.unsigned_abs();
            if size >> BITS != 0 {
                return None;
            }
            sums[k] += difference;
            squares += u128::from(size) * u128::from(size);
        }
    }
    Some((sums, squares))
}

/// A quotient with all its leading bits, the unit of its last one, and whether something is left.
fn quotient(numerator: u128, denominator: u64, unit: i64, zeros: u32) -> (u128, i64, bool) {
    let (scaled, denominator) = (numerator << zeros, u128::from(denominator));
    let quotient = scaled / denominator;
    (quotient, unit - i64::from(zeros), quotient * denominator != scaled)
}

fn round_quotient<F: Float>(numerator: u128, denominator: u64, unit: i64) -> F {
    if numerator == 0 {
        return F::ZERO;
    }
    let (quotient, unit, rest) = quotient(numerator, denominator, unit, numerator.leading_zeros());
    nearest(quotient, unit, rest)
}

fn round_root<F: Float>(numerator: u128, denominator: u64, unit: i64) -> F {
    if numerator == 0 {
        return F::ZERO;
    }
    // The unit stays even, to be halved. The quotient has 111 bits or more, its root 56.
    let (quotient, unit, rest) =
        quotient(numerator, denominator, unit, numerator.leading_zeros() & !1);
    let root = quotient.isqrt();
    nearest(root, unit / 2, rest || root * root != quotient)
}

/// Rounds `(integer + ε) · 2^unit`, where `0 < ε < 1` if there is a rest.
fn nearest<F: Float>(integer: u128, unit: i64, rest: bool) -> F {
    let zeros = integer.leading_zeros();
    let bits = integer << zeros;
    F::nearest(Rounding {
        negative: false,
        top: (bits >> 64) as u64,
        exponent: unit + 127 - i64::from(zeros),
        sticky: rest || bits as u64 != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::Moments;
    use warpfold_num::Complex;
    use warpfold_num::random::Words;

    fn agree<T: Element, F: Float>(x: &[T], must: bool) {
        let mut exact = Moments::<T>::new();
        x.iter().for_each(|&x| exact.add(x));
        for ddof in [0, 1] {
            let found =
                [Op::Var, Op::Std, Op::L2, Op::Sumsq].map(|op| round_moments::<T, F>(op, ddof, x));
            let expected = [
                exact.var_as::<F>(ddof).ok(),
                exact.std_as::<F>(ddof).ok(),
                Some(exact.l2_as::<F>()),
            ];
            for (found, expected) in found.iter().zip(&expected) {
                assert!(found.is_some() || !must || expected.is_none(), "{x:?}");
                assert!(found.is_none() || found == expected, "{x:?}: {found:?}, {expected:?}");
            }
        }
    }

    #[test]
    fn short_moments_are_those_of_wide_accumulators() {
        let mut words = Words(1);
        for n in [1, 2, 3, 4, 7, 64, 255, 256] {
            for bits in [1, 4, 12, 20, 26, 31] {
                let mask = (1u64 << bits) - 1;
                let x: Vec<i64> =
                    (0..n).map(|_| (words.next() & mask) as i64 - (mask / 2) as i64).collect();
                agree::<f32, f32>(&x.iter().map(|&x| x as f32).collect::<Vec<_>>(), true);
                agree::<f64, f64>(
                    &x.iter().map(|&x| x as f64 * 2f64.powi(-500)).collect::<Vec<_>>(),
                    true,
                );
                agree::<i64, f64>(&x, true);
                agree::<u8, f64>(&x.iter().map(|&x| x as u8).collect::<Vec<_>>(), true);
                let pairs: Vec<_> =
                    x.iter().map(|&x| Complex::new(x as f32, -3.0 * x as f32)).collect();
                agree::<Complex<f32>, f32>(&pairs, false);
            }
        }
        // The greatest that there is room for.
        for size in [1i64 << 53, (1 << 54) - 1] {
            agree::<i64, f64>(&[0, size].repeat(128), true);
            agree::<i64, f64>(&[size, -size].repeat(128), false);
            agree::<u64, f64>(&[u64::MAX >> 1, (u64::MAX >> 1) - size as u64].repeat(128), false);
        }
        agree::<f64, f64>(&[1e300, 1e-300], false);
        agree::<f64, f64>(&[0.0, -0.0], true);
        agree::<f64, f64>(&[f64::NAN, 1.0], false);
        agree::<f64, f64>(&[f64::MIN_POSITIVE / 8.0, f64::from_bits(1)], true);
    }
}
