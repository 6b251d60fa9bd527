//! Making blocks fit the kernels: tails padded with zeros, NaNs to be ignored replaced by zeros, which no sum notices.

use super::Lane;

/// What is left after whole groups, as one more group, or none.
#[inline(always)]
pub(super) fn padded<F: Lane, const LANES: usize>(tail: &[F]) -> Option<[F; LANES]> {
    if tail.is_empty() {
        return None;
    }
    let mut group = [F::default(); LANES];
    group[..tail.len()].copy_from_slice(tail);
    Some(group)
}

/// Whether any value of a block is a NaN.
#[inline(always)]
pub(super) fn any_nan<F: Lane>(x: &[F]) -> bool {
    x.iter().fold(false, |any, x| any | x.is_nan())
}

/// A copy in which every number with a NaN part is zero; adds up how many parts that were.
#[inline(never)]
pub(super) fn without_nan<F: Lane, const PARTS: usize>(x: &[F], skipped: &mut u64) -> Vec<F> {
    let mut kept = x.to_vec();
    for number in kept.as_chunks_mut::<PARTS>().0 {
        let nan = number.iter().fold(false, |any, x| any | x.is_nan());
        *skipped += u64::from(nan) * PARTS as u64;
        *number = if nan { [F::default(); PARTS] } else { *number };
    }
    kept
}

/// Copies of two arrays in which every pair of numbers with a NaN part on either side is zero; adds up how many parts of one array
/// that were.
#[inline(never)]
pub(super) fn pairs_without_nan<F: Lane, const PARTS: usize>(
    x: &[F],
    y: &[F],
    skipped: &mut u64,
) -> (Vec<F>, Vec<F>) {
    let (mut kept_x, mut kept_y) = (x.to_vec(), y.to_vec());
    let numbers =
        kept_x.as_chunks_mut::<PARTS>().0.iter_mut().zip(kept_y.as_chunks_mut::<PARTS>().0);
    for (a, b) in numbers {
        if a.iter().chain(b.iter()).any(|x| x.is_nan()) {
            *skipped += PARTS as u64;
            *a = [F::default(); PARTS];
            *b = [F::default(); PARTS];
        }
    }
    (kept_x, kept_y)
}
