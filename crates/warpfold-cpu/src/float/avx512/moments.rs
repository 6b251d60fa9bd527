//! Sums of values, of their squares and perhaps of their magnitudes, of types whose squares f64 holds.

use std::arch::x86_64::_mm512_abs_pd;

use super::{Limits, REGISTERS, Sums, all, scaled, values};
use crate::avx512::WIDTH;
use crate::float::window::Window;
use crate::float::{Cascade, Lane};
use crate::memory::{prefetch, streamed};

/// Adds the groups and their squares up: what lies in the window into the cascades, the rest as `spill` does it, which returns how
/// many that was.
#[target_feature(enable = "avx512f,avx512bw")]
pub(crate) fn squares<
    F: Lane,
    const LEVELS: usize,
    const SQUARE_LEVELS: usize,
    const LANES: usize,
    const NORMS: usize,
>(
    groups: &[[F; LANES]],
    window: &Window<F>,
    (sum, square, norms): (
        &mut Cascade<LEVELS, LANES>,
        &mut Cascade<SQUARE_LEVELS, LANES>,
        &mut [Cascade<LEVELS, LANES>; NORMS],
    ),
    mut spill: impl FnMut(&[F; LANES]) -> usize,
) -> usize {
    let limits = Limits::of(window);
    let (mut sums, mut squares) = (Sums::of(sum), Sums::of(square));
    let mut absolute = norms.each_ref().map(Sums::of);
    let mut misses = 0;
    for at in streamed(groups.len()) {
        let group = &groups[at];
        prefetch(group);
        let registers = bytemuck::cast_slice::<F, u8>(group).as_chunks::<WIDTH>().0;
        let mut inside = u32::MAX;
        for register in registers {
            inside = limits.within::<F>(inside, bytemuck::cast(*register));
        }
        let mut add = |registers: &[[u8; WIDTH]]| {
            let each = 8 / size_of::<F>();
            for (r, register) in registers.iter().enumerate() {
                for (k, value) in values::<F>(register).into_iter().take(each).enumerate() {
                    let value = scaled::<F>(value);
                    sums.plain(each * r + k, value);
                    squares.deposit_product(each * r + k, value, value);
                    for norm in &mut absolute {
                        norm.plain(each * r + k, _mm512_abs_pd(value));
                    }
                }
            }
        };
        if inside == all::<F>() {
            add(registers);
            continue;
        }
        let (mut kept, mut missed) = ([[0; WIDTH]; REGISTERS], false);
        for (kept, register) in kept.iter_mut().zip(registers) {
            let (taken, lost) = limits.take::<F>(bytemuck::cast(*register));
            *kept = bytemuck::cast(taken);
            missed |= lost;
        }
        add(&kept[..registers.len()]);
        if missed {
            misses += spill(group);
        }
    }
    sums.store(sum);
    squares.store(square);
    for (sums, norm) in absolute.iter().zip(norms) {
        sums.store(norm);
    }
    misses
}
