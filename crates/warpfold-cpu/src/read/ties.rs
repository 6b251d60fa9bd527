//! Variances and sums of squares of few elements of few bits, many of which lie right between two floats: no bound on an error tells how they round, but sums that are exact do.
//!
//! All f16 are multiples of 2^-24 and their squares of 2^-48, so that f64 adds squares exactly up to 32. What is rounded then is a quotient of whole numbers, and the middle between two
//! floats is compared with it exactly. (A root is in the middle seldom: where it is, its square has twice the bits.)

use warpfold_num::double_double::{fast_two_sum, two_product, two_sum};

use super::moments::Moment;
use super::nearly::{Certain, Nearly};
use crate::batch::Approximate;

/// Elements at most: of more, too few are ties for what this costs all of them. So many times a sum of squares below 32 is less than 2^56 units, which two f64 hold.
pub(super) const MOST: u64 = 8;

/// The variances or sums of squares of neighbours, and of which of them they are known as all sums are exact. Each step of all together, as registers hold several.
#[inline(always)]
pub(super) fn moments<F: Certain, X: Nearly, const PARTS: usize, const N: usize>(
    what: Moment,
    smalls: &[Approximate<X, PARTS>; N],
    counts: [u64; N],
) -> ([F; N], [bool; N]) {
    let Moment { op, ddof, exact_below, .. } = what;
    let (mut square, mut n, mut are_exact) = ([0.0; N], [0.0; N], [false; N]);
    for k in 0..N {
        square[k] = smalls[k].squares.double().high;
        n[k] = counts[k] as f64;
    }
    for k in 0..N {
        are_exact[k] = (square[k] < exact_below) & (counts[k] <= MOST);
    }
    let (mut high, mut low, mut divisor) = (square, [0.0; N], [1.0; N]);
    if op.is_spread() {
        // n·Σx² - (Σx)².
        for k in 0..N {
            let sum = smalls[k].sum[0].double().high;
            let (all, taken) = (two_product(n[k], square[k]), two_product(sum, sum));
            let left = two_sum(all.high, -taken.high);
            let left = fast_two_sum(left.high, left.low + (all.low - taken.low));
            (high[k], low[k]) = left.into();
        }
        for k in 0..N {
            divisor[k] = n[k] * (n[k] - ddof as f64);
            are_exact[k] &= divisor[k] > 0.0;
        }
    }
    let (mut found, mut results) = ([0.0; N], [F::ZERO; N]);
    for k in 0..N {
        // Of inputs of one length there is one reciprocal for all.
        found[k] = high[k] * (1.0 / divisor[k]);
    }
    for k in 0..N {
        // Off by less than four units, it may be on the wrong side of a middle as near as that, and no other: there it is put on the side where the exact number is.
        let middle = F::middle(found[k]);
        // Exact where both are so near each other.
        let beyond = middle.mul_add(divisor[k], -high[k]) - low[k];
        let (at, units) = (middle.to_bits() as i64, found[k].to_bits() as i64);
        let side = i64::from(beyond < 0.0) - i64::from(beyond > 0.0);
        let nearest = if (units - at).abs() <= 4 { at + side } else { units };
        results[k] = F::of(f64::from_bits(nearest as u64));
    }
    (results, are_exact)
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpfold_exact::exact::round_moments;
    use warpfold_num::DType;
    use warpfold_num::f16;
    use warpfold_num::random::Words;
    use warpfold_plan::plan::Way;

    use crate::Op;
    use crate::batch::AT_ONCE;

    /// Holds the moments of some f16 to exact ones; how many are known, and how many of these are ties.
    fn known(op: Op, ddof: u64, next: &mut dyn FnMut() -> f16, n: usize) -> [usize; 2] {
        let all: [Vec<f16>; AT_ONCE] = std::array::from_fn(|_| (0..n).map(|_| next()).collect());
        let smalls = std::array::from_fn(|k| {
            let values = || all[k].iter().map(|x| x.to_f64());
            Approximate { sum: [values().sum::<f64>()], squares: values().map(|x| x * x).sum() }
        });
        let what = Moment::of(op, ddof, DType::F16, Way::Columns);
        let (found, are_known) =
            moments::<f32, f64, 1, AT_ONCE>(what, &smalls, [n as u64; AT_ONCE]);
        let mut count = [0; 2];
        for (k, x) in all.iter().enumerate().filter(|(k, _)| are_known[*k]) {
            let exact = round_moments::<f16, f32>(op, ddof, x).expect("few elements");
            assert_eq!(found[k].to_bits(), exact.to_bits(), "{op}, {ddof} of {x:?}");
            let wide = round_moments::<f16, f64>(op, ddof, x).expect("few elements");
            count[0] += 1;
            count[1] += usize::from(wide.to_bits() << 35 == 1 << 63);
        }
        count
    }

    #[test]
    fn ties_are_rounded_as_exact_moments_are() {
        let mut words = Words(7);
        // Numbers near each other, numbers of all sizes, and few whole ones.
        let mut near = {
            let mut words = Words(8);
            move || f16::from_f64((words.next() >> 11) as f64 * 2f64.powi(-53) * 2.0 - 1.0)
        };
        let mut any = || f16::from_bits(words.next() as u16 & 0xbfff);
        let mut whole = {
            let mut words = Words(9);
            move || f16::from_f64((words.next() % 5) as f64 - 2.0)
        };
        for op in [Op::Var, Op::Sumsq] {
            let mut ties = 0;
            for n in 2..=MOST as usize {
                for ddof in [0, 1] {
                    for _ in 0..64 {
                        let [all, some] = known(op, ddof, &mut near, n);
                        assert_eq!(all, AT_ONCE, "{op} of {n}");
                        ties += some;
                        known(op, ddof, &mut any, n);
                        known(op, ddof, &mut whole, n);
                    }
                }
            }
            assert!(ties > 100, "{op}: {ties} ties");
        }
    }

    #[test]
    fn what_is_not_known_is_left() {
        for (n, ddof, x) in [(1, 1, 1.0), (2, 3, 1.0), (4, 0, 65504.0), (3, 0, f64::NAN)] {
            let found = known(Op::Var, ddof, &mut || f16::from_f64(x), n);
            assert_eq!(found, [0, 0], "{n} of {x}, {ddof} less");
        }
    }
}
