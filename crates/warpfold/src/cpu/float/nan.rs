//! Skipping NaNs: they become zeros, which no sum notices, and are counted.

use super::Lane;

/// Whether any value of a block is a NaN.
#[inline(always)]
pub(super) fn any_nan<F: Lane>(x: &[F]) -> bool {
    x.iter().fold(false, |any, x| any | x.is_nan())
}

/// A copy in which every number with a NaN part is zero, and how many parts that were.
#[inline(never)]
pub(super) fn without_nan<F: Lane, const PARTS: usize>(x: &[F]) -> (Vec<F>, u64) {
    let mut kept = x.to_vec();
    let mut skipped = 0;
    for number in kept.as_chunks_mut::<PARTS>().0 {
        let nan = number.iter().fold(false, |any, x| any | x.is_nan());
        skipped += u64::from(nan) * PARTS as u64;
        *number = if nan { [F::default(); PARTS] } else { *number };
    }
    (kept, skipped)
}

/// Copies of two arrays in which every pair of numbers with a NaN part on either side is zero, and how many parts of one array that were.
#[inline(never)]
pub(super) fn pairs_without_nan<F: Lane, const PARTS: usize>(
    x: &[F],
    y: &[F],
) -> (Vec<F>, Vec<F>, u64) {
    let (mut kept_x, mut kept_y) = (x.to_vec(), y.to_vec());
    let mut skipped = 0;
    let numbers =
        kept_x.as_chunks_mut::<PARTS>().0.iter_mut().zip(kept_y.as_chunks_mut::<PARTS>().0);
    for (a, b) in numbers {
        if a.iter().chain(b.iter()).any(|x| x.is_nan()) {
            skipped += PARTS as u64;
            *a = [F::default(); PARTS];
            *b = [F::default(); PARTS];
        }
    }
    (kept_x, kept_y, skipped)
}
