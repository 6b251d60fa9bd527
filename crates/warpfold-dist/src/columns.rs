//! Sums of short columns, one element of every rank in each, rounded once: by two floats where that is certain, and exactly where it is not.
//!
//! A column is added up with the error of each addition (Knuth's TwoSum), the errors beside it in the same way, as Ogita, Rump and Oishi's SumK does
//! for K = 3, and the magnitudes of what these leave. Where nothing is left, the exact sum is that of two floats, and one addition rounds it. Else it lies
//! between two numbers; where both round to the same result, that is the exact sum's, as rounding is monotonic (Ziv's test). All other columns,
//! special values among them, are summed exactly.

use std::sync::Mutex;

use warpfold_engine::threads;
use warpfold_num::double_double::two_sum;

/// Columns that are added up at once: their sums and errors stay in the first cache.
const BLOCK: usize = 512;
/// Columns that a thread takes at once.
const GRAIN: usize = 16 * BLOCK;

/// A float of which columns are made.
pub(crate) trait Real: Copy + PartialEq + Send + Sync + 'static {
    /// The same number.
    fn wide(self) -> f64;

    /// What `sum + rest` rounds to, if that is certain where it is off by `bound` at most.
    fn between(sum: f64, rest: f64, bound: f64) -> Option<Self>;
}

/// Numbers on either side of all that are within a bound of `sum + rest`, but for one rounding to nearest.
#[inline(always)]
fn sides(sum: f64, rest: f64, bound: f64) -> (f64, f64) {
    if bound == 0.0 {
        return (sum + rest, sum + rest);
    }
    // Twice the bound covers the roundings in it, and half an ulp of the rest that of adding it.
    let bound = 2.0 * bound + f64::EPSILON * rest.abs();
    (sum + (rest - bound), sum + (rest + bound))
}

impl Real for f64 {
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }

    #[inline(always)]
    fn between(sum: f64, rest: f64, bound: f64) -> Option<f64> {
        let (low, high) = sides(sum, rest, bound);
        // An exact zero is +0.0, and floats add up to no other.
        (low == high && low.is_finite()).then_some(low + 0.0)
    }
}

impl Real for f32 {
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn between(sum: f64, rest: f64, bound: f64) -> Option<f32> {
        if rest == 0.0 && bound == 0.0 {
            let sum = sum as f32 + 0.0;
            return sum.is_finite().then_some(sum);
        }
        // Rounded twice, but from numbers that are beyond the exact sum on either side.
        let (low, high) = sides(sum, rest, bound);
        let (low, high) = (low.next_down() as f32, high.next_up() as f32);
        (low == high && low.is_finite()).then_some(low + 0.0)
    }
}

/// The sums of columns; `rows` holds a row of every rank, one behind the other. `exactly` gets those whose sums are not certain, as rows again.
pub(crate) fn sums<T: Real>(
    rows: &[T],
    sums: &mut [T],
    workers: usize,
    exactly: impl Fn(&[T], usize) -> Vec<T>,
) {
    let share = sums.len();
    if share == 0 {
        return;
    }
    let uncertain = Mutex::new(Vec::new());
    let grains = sums.chunks_mut(GRAIN).enumerate();
    threads::each(workers.min(share.div_ceil(GRAIN)), grains, |(grain, sums)| {
        let mut found = Vec::new();
        for (block, sums) in sums.chunks_mut(BLOCK).enumerate() {
            sum_block(rows, share, grain * GRAIN + block * BLOCK, sums, &mut found);
        }
        uncertain.lock().unwrap_or_else(|poison| poison.into_inner()).append(&mut found);
    });
    let uncertain = uncertain.into_inner().unwrap_or_else(|poison| poison.into_inner());
    if uncertain.is_empty() {
        return;
    }
    let of = |row: &[T]| uncertain.iter().map(|&column| row[column]).collect::<Vec<T>>();
    let remainder: Vec<T> = rows.chunks_exact(share).flat_map(of).collect();
    for (&column, sum) in uncertain.iter().zip(exactly(&remainder, uncertain.len())) {
        sums[column] = sum;
    }
}

/// Adds up some columns, and lists those that are not certain.
fn sum_block<T: Real>(
    rows: &[T],
    share: usize,
    first: usize,
    sums: &mut [T],
    uncertain: &mut Vec<usize>,
) {
    let n = sums.len();
    let [mut sum, mut rest, mut remainder] = [[0.0; BLOCK]; 3];
    let mut rows = rows.chunks_exact(share).map(|row| &row[first..first + n]);
    for (sum, x) in sum.iter_mut().zip(rows.next().unwrap_or_default()) {
        *sum = x.wide();
    }
    for row in rows {
        let all = sum.iter_mut().zip(&mut rest).zip(&mut remainder).zip(row);
        for (((sum, rest), remainder), x) in all {
            let both = two_sum(*sum, x.wide());
            let errors = two_sum(*rest, both.low);
            (*sum, *rest) = (both.high, errors.high);
            *remainder += errors.low.abs();
        }
    }
    let each = sums.iter_mut().zip(&sum).zip(&rest).zip(&remainder).enumerate();
    for (column, (((found, &sum), &rest), &remainder)) in each {
        match T::between(sum, rest, remainder) {
            Some(certain) => *found = certain,
            None => uncertain.push(first + column),
        }
    }
}

#[cfg(test)]
mod tests {
    use warpfold_num::random::Words;

    use super::*;

    /// Few columns of random numbers are uncertain, or the test would be of no use.
    #[test]
    fn random_columns_are_certain() {
        for ranks in [1, 2, 3, 4, 7, 64] {
            let mut words = Words(9);
            let rows: Vec<f64> = (0..ranks * 5000).map(|_| words.fraction() - 0.5).collect();
            let requested = Mutex::new(0);
            let mut found = vec![0.0; 5000];
            sums(&rows, &mut found, 2, |remainder, columns| {
                *requested.lock().unwrap() += columns;
                assert_eq!(remainder.len(), columns * ranks);
                vec![0.0; columns]
            });
            assert!(requested.into_inner().unwrap() < 50, "{ranks}");
        }
    }

    /// What may be half-way between two floats is never taken for certain.
    #[test]
    fn ties_and_special_values_are_left_to_the_exact_sum() {
        for column in [[f64::NAN, 1.0, 1.0], [f64::INFINITY, 1.0, 1.0], [f64::MAX, f64::MAX, 1.0]] {
            assert_uncertain(&column);
        }
        // Half-way, but for what the errors' own sum leaves.
        assert_uncertain(&[1.0, f64::EPSILON / 2.0, 1e-60, -1e-90]);
        let zero = f64::between(0.0, 0.0, 0.0).map(f64::to_bits);
        assert_eq!((zero, f64::between(-0.0, 0.0, 0.0).map(f64::to_bits)), (Some(0), Some(0)));
        assert_eq!(f32::between(-0.0, 0.0, 0.0).map(f32::to_bits), Some(0));
    }

    fn assert_uncertain(column: &[f64]) {
        let mut found = [0.0];
        sums(column, &mut found, 1, |_, columns| vec![77.0; columns]);
        assert_eq!(found, [77.0], "{column:?}");
    }
}
