//! Groups that are added step by step: a step's go to a few lanes, whose accumulators are registers, and the steps take all lanes in turn.

#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(dead_code, reason = "other machines take portable kernels")
)]

/// Groups of a step.
pub(super) const STEP: usize = 32;

/// Additions that the busiest of all lanes takes of so many groups, where each step takes a few of these.
#[inline(always)]
pub(super) const fn additions(groups: usize, lanes: usize, few: usize) -> usize {
    let first = if groups < STEP { groups } else { STEP };
    groups.div_ceil(STEP).div_ceil(lanes / few) * first * (lanes / few)
}

/// Whether steps are worth trying: not for a while after a block of which they left most to the portable kernel.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tries {
    pause: u32,
}

impl Tries {
    /// Blocks that are not tried.
    const PAUSE: u32 = 15;

    /// Whether the next block, of so many groups, is tried: not where a step's own cost, and its call, are much of it.
    #[inline(always)]
    pub(super) fn next(&mut self, groups: usize) -> bool {
        let is_tried = self.pause == 0 && groups >= STEP / 2;
        self.pause = self.pause.saturating_sub(1);
        is_tried
    }

    /// Learns how many groups of a block were left.
    #[inline(always)]
    pub(super) fn note(&mut self, left: usize, groups: usize) {
        if 2 * left > groups {
            self.pause = Self::PAUSE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_lane_takes_more_than_is_counted() {
        for (lanes, few) in [(64, 16), (32, 16), (32, 8), (16, 8)] {
            for groups in 1..600 {
                let mut taken = vec![0; lanes / few];
                for (step, start) in (0..groups).step_by(STEP).enumerate() {
                    let count = STEP.min(groups - start);
                    taken[step % (lanes / few)] += count * (lanes / few);
                }
                let most = taken.into_iter().max().unwrap_or(0);
                let counted = additions(groups, lanes, few);
                assert!(most <= counted, "{groups} groups of {lanes}");
                assert!(groups % (lanes / few * STEP) != 0 || counted == groups);
            }
        }
    }

    #[test]
    fn steps_pause_where_they_leave_most() {
        let mut tries = Tries::default();
        assert!(!tries.next(1));
        assert!(tries.next(STEP));
        tries.note(50, 100);
        assert!(tries.next(STEP));
        tries.note(51, 100);
        assert_eq!((0..20).filter(|_| tries.next(STEP)).count(), 5);
    }
}
