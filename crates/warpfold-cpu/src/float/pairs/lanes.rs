//! Accumulators whose emptying is a few vector instructions, so that they are emptied often and their window is wide.
//!
//! As a [`Cascade`](super::super::Cascade)'s they are biased, and here the last one is too: each starts at 1.5 · 2^M and stays between 2^M and 2^(M+1), so that
//! the difference of its bits to those of the bias is the number of grid steps that went in. These are kept as integers, lane by lane.

use super::EACH;
#[cfg(target_arch = "x86_64")]
use crate::float::avx512::Registers;
use warpfold_exact::exact::{Fixed, Limbs};

/// log2 of the deposits that a lane takes before it is emptied.
pub(in super::super) const fn log_adds(levels: usize) -> u32 {
    if levels > 2 { 5 } else { 6 }
}

/// Emptyings after which the integers are: each adds less than 2^51.
const MOST: u32 = 1 << 11;

/// `LEVELS` biased accumulators, the last of which takes what is left.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Levels<const LEVELS: usize> {
    sums: [[f64; EACH]; LEVELS],
    steps: [[i64; EACH]; LEVELS],
    bias: [f64; LEVELS],
}

impl<const LEVELS: usize> Levels<LEVELS> {
    /// Empty, for values below `2^end` whose last bits are multiples of `2^grid`. With 2^k deposits the first needs M = end + k + 1, each next one
    /// M - 52 + k + 2, and the last the grid itself; it holds what is left, 2^k halves of a step of the one before, as long as that is below 2^51 of
    /// the grid's steps.
    pub(in super::super) fn new(end: i32, grid: i32, log_adds: u32) -> Self {
        let k = log_adds as i32;
        let bias = std::array::from_fn(|level| {
            let exponent = match level + 1 == LEVELS {
                true => grid + 52,
                false => end + k + 1 - (50 - k) * level as i32,
            };
            f64::from_bits(((exponent + 1023) as u64) << 52 | 1 << 51)
        });
        Levels { sums: bias.map(|bias| [bias; EACH]), steps: [[0; EACH]; LEVELS], bias }
    }

    /// Adds values whose last bits are on the grid; with one accumulator before the last, what does not fit its grid goes there.
    #[inline(always)]
    pub(super) fn add(&mut self, x: &[f64; EACH]) {
        const { assert!(LEVELS <= 2, "values take one level") };
        for lane in 0..EACH {
            let mut value = x[lane];
            if LEVELS == 2 {
                let sum = self.sums[0][lane] + value;
                value -= sum - self.sums[0][lane];
                self.sums[0][lane] = sum;
            }
            self.sums[LEVELS - 1][lane] += value;
        }
    }

    /// Adds products: of narrow factors by one level, of `f64` by two, where what the first leaves of the rounded product is a multiple of the second's step.
    #[inline(always)]
    pub(super) fn add_products(&mut self, x: &[f64; EACH], y: &[f64; EACH]) {
        const { assert!(LEVELS == 2 || LEVELS == 3, "products take one level or two") };
        for lane in 0..EACH {
            let (x, y) = (x[lane], y[lane]);
            let sum = x.mul_add(y, self.sums[0][lane]);
            let taken = sum - self.sums[0][lane];
            self.sums[0][lane] = sum;
            if LEVELS == 2 {
                self.sums[1][lane] += x.mul_add(y, -taken);
            } else {
                let product = x * y;
                let error = x.mul_add(y, -product);
                let first = self.sums[1][lane] + (product - taken);
                let both = first + error;
                self.sums[1][lane] = both;
                self.sums[LEVELS - 1][lane] += error - (both - first);
            }
        }
    }

    /// The accumulators as registers.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn registers(&self) -> Registers<LEVELS> {
        Registers(self.bias.map(|bias| bytemuck::cast([bias; EACH])))
    }

    /// Takes them back.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn store(&mut self, Registers(sums): Registers<LEVELS>) {
        self.sums = sums.map(bytemuck::cast);
    }

    /// Moves all that went in to the integers.
    #[inline(always)]
    pub(in super::super) fn drain(&mut self) {
        for level in 0..LEVELS {
            let bias = self.bias[level];
            for lane in 0..EACH {
                let steps = self.sums[level][lane].to_bits() as i64 - bias.to_bits() as i64;
                self.steps[level][lane] += steps;
                self.sums[level][lane] = bias;
            }
        }
    }

    /// The accumulators, level by level.
    #[cfg(target_arch = "x86_64")]
    pub(in super::super) fn lanes(&self) -> &[[f64; EACH]; LEVELS] {
        &self.sums
    }

    /// The same to be written.
    #[cfg(target_arch = "x86_64")]
    pub(in super::super) fn lanes_mut(&mut self) -> &mut [[f64; EACH]; LEVELS] {
        &mut self.sums
    }

    /// Moves the integers to a number of unit `2^unit`.
    pub(in super::super) fn empty_into<L: Limbs>(&mut self, fixed: &mut Fixed<L>, unit: i32) {
        self.empty_part_into(fixed, unit, 0, 1);
    }

    /// Moves those of lanes `part, part + step, …`.
    pub(in super::super) fn empty_part_into<L: Limbs>(
        &mut self,
        fixed: &mut Fixed<L>,
        unit: i32,
        part: usize,
        step: usize,
    ) {
        for (steps, bias) in self.steps.iter_mut().zip(&self.bias) {
            let mut sum = 0;
            for steps in steps.iter_mut().skip(part).step_by(step) {
                sum += i128::from(std::mem::take(steps));
            }
            // No window's grid lies below the unit.
            let shift = (bias.to_bits() >> 52) as i32 - 1023 - 52 - unit;
            if sum != 0 {
                fixed.add_signed(sum, shift as u32);
            }
        }
    }
}

/// Counts emptyings, so that the integers do not overflow.
#[derive(Debug, Default)]
pub(super) struct Drains(u32);

impl Drains {
    /// Counts so many; whether the integers have to be emptied first.
    pub(super) fn note(&mut self, drains: u32) -> bool {
        let is_full = self.0 + drains > MOST;
        self.0 = if is_full { drains } else { self.0 + drains };
        is_full
    }
}
