//! Sums.

use super::{Limits, REGISTERS, Sums, all};
use crate::avx512::WIDTH;
use crate::float::sum::Term;
use crate::float::window::Window;
use crate::float::{Cascade, Lane};
use crate::memory::{prefetch, streamed};

/// Adds the groups up: what lies in the window into the cascade, the rest as `spill` does it, which returns how many that was.
#[target_feature(enable = "avx512f,avx512bw")]
pub(crate) fn windowed<F: Lane, T: Term, const LEVELS: usize, const LANES: usize>(
    groups: &[[F; LANES]],
    [window, short]: [&Window<F>; 2],
    cascade: &mut Cascade<LEVELS, LANES>,
    mut spill: impl FnMut(&[F; LANES]) -> usize,
) -> usize {
    let (window, short) = (Limits::of(window), Limits::of(short));
    let mut sums = Sums::of(cascade);
    let mut misses = 0;
    for at in streamed(groups.len()) {
        let group = &groups[at];
        prefetch(group);
        let registers = bytemuck::cast_slice::<F, u8>(group).as_chunks::<WIDTH>().0;
        let limits = if F::ADD_SHORT { &short } else { &window };
        let mut inside = u32::MAX;
        for register in registers {
            inside = limits.within::<F>(inside, bytemuck::cast(*register));
        }
        if inside == all::<F>() {
            match F::ADD_SHORT {
                true => sums.add_short::<F, T, LEVELS>(registers),
                false => sums.add::<F, T, LEVELS>(registers),
            }
            continue;
        }
        let (mut kept, mut missed) = ([[0; WIDTH]; REGISTERS], false);
        for (kept, register) in kept.iter_mut().zip(registers) {
            let (taken, lost) = window.take::<F>(bytemuck::cast(*register));
            *kept = bytemuck::cast(taken);
            missed |= lost;
        }
        sums.add::<F, T, LEVELS>(&kept[..registers.len()]);
        if missed {
            misses += spill(group);
        }
    }
    sums.store(cascade);
    misses
}
