//! Sums of values, of their squares and perhaps of their magnitudes, of types whose squares f64 holds.

use std::arch::x86_64::*;

use super::{Limits, REGISTERS, Sums, all, power, scaled, values};
use crate::avx512::WIDTH;
use crate::float::sum::{AbsoluteValues, Values};
use crate::float::window::Window;
use crate::float::{Cascade, Lane};
use crate::memory::{prefetch_at, streamed_by};

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
    [window, near]: &[Window<F>; 2],
    (sum, square, norms, near_squares): (
        &mut Cascade<LEVELS, LANES>,
        &mut Cascade<SQUARE_LEVELS, LANES>,
        &mut [Cascade<LEVELS, LANES>; NORMS],
        &mut Cascade<0, LANES>,
    ),
    ahead: usize,
    mut spill: impl FnMut(&[F; LANES]) -> usize,
) -> usize {
    let (limits, near) = (Limits::of(window), Limits::of(near));
    let (mut sums, mut squares) = (Sums::of(sum), Sums::of(square));
    let mut absolute = norms.each_ref().map(Sums::of);
    // Not scaled before the end.
    let mut plain = [_mm512_setzero_pd(); 4];
    let mut misses = 0;
    for (at, count) in streamed_by(F::ADD_SHORT, groups.len()) {
        let registers = |at: usize| bytemuck::cast_slice::<F, u8>(&groups[at]).as_chunks().0;
        if F::ADD_SHORT && count == at.len() {
            let four: [[u8; WIDTH]; 4] = at.map(|at| registers(at)[0]);
            let mut inside = u32::MAX;
            for register in &four {
                inside = near.within::<F>(inside, bytemuck::cast(*register));
            }
            at.into_iter().for_each(|at| prefetch_at(&groups[at], ahead));
            if inside == all::<F>() {
                sums.add_fours::<F, Values>(&four);
                for norm in &mut absolute {
                    norm.add_fours::<F, AbsoluteValues>(&four);
                }
                for register in &four {
                    for (plain, value) in plain.iter_mut().zip(values::<F>(register)) {
                        *plain = _mm512_fmadd_pd(value, value, *plain);
                    }
                }
                continue;
            }
        }
        for &at in &at[..count] {
            let group = &groups[at];
            prefetch_at(group, ahead);
            let registers: &[[u8; WIDTH]] = registers(at);
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
    }
    if F::ADD_SHORT {
        let scale = _mm512_set1_pd(const { power(2 * F::SCALE) });
        let mut all = Sums::of(near_squares);
        for (all, plain) in all.rest.iter_mut().zip(plain) {
            *all = _mm512_fmadd_pd(plain, scale, *all);
        }
        all.store(near_squares);
    }
    sums.store(sum);
    squares.store(square);
    for (sums, norm) in absolute.iter().zip(norms) {
        sums.store(norm);
    }
    misses
}
