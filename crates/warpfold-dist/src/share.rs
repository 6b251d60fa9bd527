//! Which rank takes which elements.

use std::ops::Range;

/// The elements of a rank: of `n`, in the order of ranks, as even as whole blocks of `grid` elements allow.
///
/// # Panics
/// If `rank` is none of `size`, or the grid is zero.
pub fn share(n: u64, grid: u64, rank: usize, size: usize) -> Range<u64> {
    assert!(rank < size && grid > 0, "rank {rank} of {size}, blocks of {grid}");
    let blocks = n.div_ceil(grid);
    let start = |rank: usize| {
        let block = u128::from(blocks) * rank as u128 / size as u128;
        (block as u64).saturating_mul(grid).min(n)
    };
    start(rank)..start(rank + 1)
}

/// The parts of several arrays, one after another, that a range of all their elements covers: which array, and its elements.
pub fn shares(lengths: &[u64], range: Range<u64>) -> Vec<(usize, Range<u64>)> {
    let mut parts = Vec::new();
    let mut before = 0;
    for (array, &n) in lengths.iter().enumerate() {
        let end = before + n;
        let (from, to) = (range.start.max(before), range.end.min(end));
        if from < to {
            parts.push((array, from - before..to - before));
        }
        before = end;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_cover_everything_once_and_evenly() {
        for size in [1, 2, 3, 4, 7, 1000] {
            for n in [0, 1, 5, 999, 1000, 12_345, u64::MAX] {
                for grid in [1, 64, 1000] {
                    let mut end = 0;
                    for rank in 0..size {
                        let range = share(n, grid, rank, size);
                        assert_eq!(range.start, end);
                        assert!(range.end == n || range.end.is_multiple_of(grid));
                        let even = (u128::from(n / grid / size as u64) + 2) * u128::from(grid);
                        assert!(u128::from(range.end - range.start) <= even);
                        end = range.end;
                    }
                    assert_eq!(end, n);
                }
            }
        }
    }

    #[test]
    fn several_arrays_are_one_after_another() {
        assert_eq!(shares(&[3, 0, 4], 2..5), [(0, 2..3), (2, 0..2)]);
        assert_eq!(shares(&[3, 0, 4], 3..3), []);
    }
}
