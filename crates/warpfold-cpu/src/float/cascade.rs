//! Biased accumulators: f64 additions that lose nothing.
//!
//! A level starts at `bias = 1.5 · 2^M` and stays between `2^M` and `2^(M+1)`, so that it always lies on the grid
//! `2^(M-52)`. Adding `z` to it rounds to that grid: `s = q + z; h = s - q` is the part that went in, exactly, and
//! `z - h`, at most half a grid step, is exact as well and goes on to the next level. The last takes what is
//! left by plain addition, exact as long as the sum of all leftovers stays below 2^53 of their common grid.
//!
//! With `2^k` deposits of magnitudes below `2^H` the first level needs `M = H + k + 1`, each next one
//! `M' = M - 52 + k + 2` (two deposits may reach it for each value), and the last addition is exact if
//! `k + 1 + M_last - 53 <= grid + 53`. The widths of the windows in this folder follow from that.
//! (The splitting is that of S. Rump, T. Ogita, S. Oishi, *Accurate floating-point summation*, 2008.)

use super::LOG_ADDS;
use warpfold_exact::exact::{Fixed, Limbs};

/// `LEVELS` biased accumulators and a plain one, `LANES` abreast; on lines of the cache, as arrays of them are read and written in whole registers.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Cascade<const LEVELS: usize, const LANES: usize> {
    levels: [[f64; LANES]; LEVELS],
    rest: [f64; LANES],
    bias: [f64; LEVELS],
    /// The exponent of the grid of the rest.
    grid: i32,
}

/// The exponent M of the first level for magnitudes below `2^end`.
pub(super) const fn first_level(end: i32) -> i32 {
    end + LOG_ADDS as i32 + 1
}

const NEXT_LEVEL: i32 = 52 - LOG_ADDS as i32 - 2;

impl<const LEVELS: usize, const LANES: usize> Cascade<LEVELS, LANES> {
    /// Empty, for values below `2^end` whose leftovers are multiples of `2^grid`.
    pub(crate) fn new(end: i32, grid: i32) -> Self {
        let bias = std::array::from_fn(|k| {
            let exponent = first_level(end) - NEXT_LEVEL * k as i32;
            f64::from_bits(((exponent + 1023) as u64) << 52 | 1 << 51)
        });
        Cascade { levels: bias.map(|bias| [bias; LANES]), rest: [0.0; LANES], bias, grid }
    }

    /// Adds a value to a lane, entering at a level.
    #[inline(always)]
    pub(crate) fn deposit(&mut self, first: usize, lane: usize, value: f64) {
        let mut value = value;
        for level in &mut self.levels[first..] {
            let sum = level[lane] + value;
            value -= sum - level[lane];
            level[lane] = sum;
        }
        self.rest[lane] += value;
    }

    /// Adds squares to a lane that holds them without a level.
    #[inline(always)]
    pub(super) fn add_squares<const N: usize>(&mut self, lane: usize, values: [f64; N]) {
        for value in values {
            self.rest[lane] = value.mul_add(value, self.rest[lane]);
        }
    }

    /// Adds an exact product, whose error goes straight to the second level.
    #[inline(always)]
    pub(super) fn deposit_product(&mut self, lane: usize, (product, error): (f64, f64)) {
        self.deposit(0, lane, product);
        // With one level the factors are narrow and there is no error.
        if LEVELS > 1 {
            self.deposit(1, lane, error);
        }
    }

    /// What went into lanes `part, part + step, …`: the sum of their only level, if there is one, and of their rests. Both are exact where
    /// all that went into these lanes could have gone into one.
    #[inline(always)]
    pub(crate) fn exact(&self, part: usize, step: usize) -> (f64, f64) {
        let (levels, rests) = self.exact_lanes();
        (added_by_halves(levels, step)[part], added_by_halves(rests, step)[part])
    }

    /// What went into each lane: the sums of the only level, if there is one, and the rests.
    #[inline(always)]
    pub(crate) fn exact_lanes(&self) -> ([f64; LANES], [f64; LANES]) {
        const { assert!(LEVELS < 2, "sums of more levels are not of two f64") };
        let mut levels = [0.0; LANES];
        for (lanes, bias) in self.levels.iter().zip(&self.bias) {
            for lane in 0..LANES {
                levels[lane] = lanes[lane] - bias;
            }
        }
        (levels, self.rest)
    }

    /// The accumulators of the first level, if there is one, and the rests.
    pub(super) fn lanes(&self) -> (&[f64], &[f64; LANES]) {
        (self.levels.first().map_or(&[], |level| level), &self.rest)
    }

    /// The same to be written.
    pub(super) fn lanes_mut(&mut self) -> (&mut [f64], &mut [f64; LANES]) {
        (self.levels.first_mut().map_or(&mut [], |level| level), &mut self.rest)
    }

    /// Moves all lanes `part, part + step, …` into an integer of unit `2^unit`, and empties them.
    #[inline(always)]
    pub(super) fn drain_into<L: Limbs>(
        &mut self,
        fixed: &mut Fixed<L>,
        unit: i32,
        part: usize,
        step: usize,
    ) {
        for (level, &bias) in self.levels.iter_mut().zip(&self.bias) {
            // One binade, one exponent: the difference of the bits counts grid steps.
            let zero = bias.to_bits() as i64;
            let mut steps = 0;
            for lane in level.iter_mut().skip(part).step_by(step) {
                steps += lane.to_bits() as i64 - zero;
                *lane = bias;
            }
            let grid = (zero >> 52) as i32 - 1023 - 52;
            add_on_grid(fixed, steps, grid - unit);
        }
        // In two factors, since 2^-grid alone can overflow.
        let (one, two) = (power(-(self.grid / 2)), power(self.grid / 2 - self.grid));
        let mut steps = 0;
        for lane in self.rest.iter_mut().skip(part).step_by(step) {
            // An integer below 2^53 on the grid: the module's bound.
            steps += (*lane * one * two) as i64;
            *lane = 0.0;
        }
        add_on_grid(fixed, steps, self.grid - unit);
    }
}

/// Lanes added by halves, several at once, until `step` are left; an exact zero is +0.0.
#[inline(always)]
pub(crate) fn added_by_halves<const LANES: usize>(
    mut lanes: [f64; LANES],
    step: usize,
) -> [f64; LANES] {
    let mut left = LANES;
    while left > step {
        left /= 2;
        for lane in 0..left {
            lanes[lane] += lanes[lane + left];
        }
    }
    lanes
}

/// `2^exponent` for exponents of normal numbers.
#[inline(always)]
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

#[inline(always)]
fn add_on_grid<L: Limbs>(fixed: &mut Fixed<L>, steps: i64, shift: i32) {
    if steps == 0 {
        return;
    }
    if shift >= 0 {
        fixed.add_signed(i128::from(steps), shift as u32);
    } else {
        // A grid below the unit: all values are multiples of the unit, so the low bits are zero.
        debug_assert_eq!(steps & ((1 << -shift) - 1), 0, "steps below the unit");
        fixed.add_signed(i128::from(steps >> -shift), 0);
    }
}
