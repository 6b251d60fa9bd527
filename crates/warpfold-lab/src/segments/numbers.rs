//! Numbers whose sums are known: multiples of 2^-23 in [-1, 1), drawn by their index; and draws for lengths and keys.

use rayon::prelude::*;
use warpfold::random::word;

/// Units of the grid in one.
pub(super) const GRID: f64 = (1 << 23) as f64;

/// A fraction in [0, 1).
pub(super) fn fraction(seed: u64, index: u64) -> f64 {
    (word(seed, index) >> 11) as f64 / (1u64 << 53) as f64
}

/// Fills an array; the same seed gives the same numbers, whatever the threads.
pub fn numbers(x: &mut [f32], seed: u64) {
    x.par_iter_mut().enumerate().for_each(|(index, x)| {
        let units = (word(seed, index as u64) >> 40) as i64 - (1 << 23);
        *x = (units as f64 / GRID) as f32;
    });
}
