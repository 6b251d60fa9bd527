//! Numbers whose sums are known: multiples of 2^-23 in [-1, 1), drawn by their index; and draws for lengths and keys.

use rayon::prelude::*;

/// Units of the grid in one.
pub(super) const GRID: f64 = (1 << 23) as f64;

/// Sebastiano Vigna's splitmix64, by its place in the sequence.
pub(super) fn word(seed: u64, index: u64) -> u64 {
    let mut z = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

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
