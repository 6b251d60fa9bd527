//! Moments by registers of AVX2, step by step.

#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(dead_code, reason = "other machines take portable kernels")
)]

use super::MomentsFold;
use crate::float::Lane;
use crate::float::near::Near;
use crate::float::steps::additions;
use crate::isa::Target;
use crate::memory::AHEAD;
#[cfg(target_arch = "x86_64")]
use crate::{float::steps::STEP, memory::streamed};

/// Bytes of which four streams are read at once by steps, and the same place of the next as many asked for.
const BLOCK_BYTES: usize = 16 << 10;
/// Lanes that take all groups of a step.
const STEP_LANES: usize = 8;

/// How far ahead of themselves blocks of so many bytes ask for memory: of short ones, the next is asked for.
pub(super) const fn ahead_of(bytes: usize) -> usize {
    if bytes > BLOCK_BYTES { AHEAD } else { BLOCK_BYTES }
}

impl<
    F: Lane,
    const SUM_LEVELS: usize,
    const SQUARE_LEVELS: usize,
    const LANES: usize,
    const PARTS: usize,
    const NORMS: usize,
> MomentsFold<F, SUM_LEVELS, SQUARE_LEVELS, LANES, PARTS, NORMS>
{
    /// Whether AVX2 takes steps: f16 is converted by an instruction that Zen 4 is slower at than at shifts, which fewer accumulators in memory outweigh for stats
    /// alone.
    pub(super) const STEPS: bool = F::MANTISSA_BITS != 11 || NORMS > 0;

    /// Additions that the busiest lane takes of so many groups: where they go in steps, a step's are those of a few lanes.
    #[inline(always)]
    pub(super) fn additions<C: Target>(groups: usize) -> usize {
        if !cfg!(target_arch = "x86_64") || SQUARE_LEVELS != 1 || C::AVX512 || !Self::STEPS {
            return groups;
        }
        additions(groups, LANES, STEP_LANES)
    }

    /// The same by registers of AVX2, step by step. Of f64 in AVX-512 as well.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn in_steps<C: Target>(&mut self, groups: &[[F; LANES]]) -> usize {
        let step = match Near::<F, NORMS>::IS_USED {
            true => Near::<F, NORMS>::ADDITIONS * STEP_LANES / LANES,
            false => STEP,
        };
        let (mut misses, mut first) = (0, 0);
        for groups in groups.chunks(BLOCK_BYTES / size_of::<[F; LANES]>()) {
            let mut order = streamed(groups.len());
            for start in (0..groups.len()).step_by(step) {
                let mut of_step = [&groups[0]; STEP];
                let count = step.min(groups.len() - start);
                for (group, at) in of_step.iter_mut().zip(order.by_ref().take(count)) {
                    *group = &groups[at];
                }
                let left = self.step::<true>(&of_step[..count], first);
                if left != 0 {
                    misses += self.left(&of_step[..count], left, first);
                }
                if Near::<F, NORMS>::IS_USED {
                    self.narrower.drain();
                }
                first = (first + STEP_LANES) % LANES;
            }
        }
        misses
    }

    /// Adds the groups of a step to lanes from `first` on; says which of them were left, where they are looked at.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn step<const LOOKED_AT: bool>(&mut self, groups: &[&[F; LANES]], first: usize) -> u32 {
        if Near::<F, NORMS>::IS_USED {
            // SAFETY: code for AVX2, or for AVX-512, which has it, runs where that was found.
            return unsafe {
                crate::float::avx2::near_squares::<F, LANES, NORMS, LOOKED_AT>(
                    groups,
                    &mut self.narrower,
                    BLOCK_BYTES,
                )
            };
        }
        if LOOKED_AT && F::ADD_SHORT {
            let cascades = (&mut self.sum, &mut self.near_squares, &mut self.norms);
            // SAFETY: code for AVX2 runs where that was found.
            return unsafe {
                crate::float::avx2::squares_by_fours(
                    groups,
                    &self.near,
                    cascades,
                    first,
                    BLOCK_BYTES,
                )
            };
        }
        let cascades = (&mut self.sum, &mut self.squares, &mut self.norms);
        // SAFETY: as above.
        unsafe {
            crate::float::avx2::squares::<F, SUM_LEVELS, SQUARE_LEVELS, LANES, NORMS, LOOKED_AT>(
                groups,
                &self.window,
                cascades,
                first,
                BLOCK_BYTES,
            )
        }
    }

    /// The groups of a step that were left: zeros are added as others are, and f64 outside of their narrower window by levels.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn left(&mut self, groups: &[&[F; LANES]], mut left: u32, first: usize) -> usize {
        let is_used = Near::<F, NORMS>::IS_USED;
        let window = if is_used { self.narrower.window } else { self.window };
        let (mut kept, mut count, mut misses) = ([[F::default(); LANES]; STEP], 0, 0);
        while left != 0 {
            let group = groups[left.trailing_zeros() as usize];
            left &= left - 1;
            let mut missed = false;
            for (kept, &x) in kept[count].iter_mut().zip(group) {
                let takes = window.takes(x);
                missed |= !takes;
                *kept = if takes { x } else { F::default() };
            }
            if !(is_used && missed) {
                count += 1;
            } else {
                let cascades = (&mut self.sum, &mut self.squares, &mut self.norms);
                missed = Self::deposit_group(&self.window, cascades, group);
            }
            if missed {
                misses += self.spill(group);
            }
        }
        let mut all = [&kept[0]; STEP];
        for (all, kept) in all.iter_mut().zip(&kept) {
            *all = kept;
        }
        self.step::<false>(&all[..count], first);
        misses
    }
}
