//! Moments of f64 whose exponents lie near each other: half as many operations as a [`Cascade`](super::Cascade) of three levels takes.

#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(dead_code, reason = "other machines take portable kernels")
)]

use super::Lane;
use super::pairs::{Levels, bounds_of_products, log_adds};
use super::window::{Bounds, Window};
use crate::float::Spill;
use warpfold_exact::exact::Limbs;

/// Accumulators of a square.
const LEVELS: usize = 3;

/// Sums of values, of their squares and perhaps of their magnitudes, for values inside a window.
pub(super) struct Near<F: Lane, const NORMS: usize> {
    pub(super) window: Window<F>,
    pub(super) sum: Levels<2>,
    pub(super) squares: Levels<LEVELS>,
    /// Two of each, so that additions wait less for those before.
    pub(super) norms: [[Levels<2>; 2]; NORMS],
}

impl<F: Lane, const NORMS: usize> Near<F, NORMS> {
    /// Whether these are of use: of f64 alone.
    pub(super) const IS_USED: bool = size_of::<F>() == 8;
    const BOUNDS: Bounds = bounds_of_products::<F>(LEVELS);
    /// Additions that a lane takes before it is drained.
    pub(super) const ADDITIONS: usize = 1 << log_adds(LEVELS);

    /// Empty, for values below the greatest of a sample.
    pub(super) fn below(top: u32) -> Self {
        let window = Window::below(top, Self::BOUNDS);
        let sum = Levels::new(window.end(), window.grid(), log_adds(LEVELS));
        let squares = Levels::new(2 * window.end(), 2 * window.grid(), log_adds(LEVELS));
        Near { window, sum, squares, norms: [[sum; 2]; NORMS] }
    }

    /// Makes room for more.
    #[inline(always)]
    pub(super) fn drain(&mut self) {
        self.sum.drain();
        self.squares.drain();
        for norm in self.norms.as_flattened_mut() {
            norm.drain();
        }
    }

    /// Moves what the drained accumulators have given up to the registers.
    pub(super) fn empty_into<L: Limbs, M: Limbs, B, const PARTS: usize>(
        &mut self,
        sums: &mut [Spill<L, B>; PARTS],
        norms: &mut [Spill<L, B>; NORMS],
        squares: &mut Spill<M>,
    ) {
        for (part, spill) in sums.iter_mut().enumerate() {
            self.sum.empty_part_into(&mut spill.register.fixed, F::UNIT, part, PARTS);
        }
        for (levels, spill) in self.norms.iter_mut().zip(norms) {
            for levels in levels {
                levels.empty_into(&mut spill.register.fixed, F::UNIT);
            }
        }
        self.squares.empty_into(&mut squares.register.fixed, 2 * F::UNIT);
    }
}
