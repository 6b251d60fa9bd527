//! Sums.

use std::arch::x86_64::*;

use super::narrow::{absolute_short, power, shorts, widen};
use super::{EACH, Limits, WIDTH, absolute, is_inside, load, store};
use crate::float::sum::Term;
use crate::float::window::Window;
use crate::float::{Cascade, Lane};
use crate::memory::prefetch;

/// Registers that a value's lanes take.
const ABREAST: usize = 4;
/// Lanes that take all groups of a call.
pub(crate) const SUM_LANES: usize = ABREAST * EACH;

/// Adds groups of 16-bit floats or of f64 to lanes from `first` on; says which were left, as not all of their values lie in the window: of 16-bit floats in the
/// one in which four add up in f32.
#[inline(never)]
#[target_feature(enable = "avx2,fma,f16c")]
pub(crate) fn sums<F: Lane, T: Term, const LEVELS: usize, const LANES: usize>(
    groups: &[&[F; LANES]],
    window: &Window<F>,
    sum: &mut Cascade<LEVELS, LANES>,
    first: usize,
) -> u32 {
    assert!(
        LANES.is_multiple_of(SUM_LANES)
            && (LEVELS == 0) == F::ADD_SHORT
            && (LEVELS == 0 || LEVELS == 1 && size_of::<F>() == 8),
        "a width"
    );
    let limits = Limits::of(window);
    let scale = _mm256_set1_pd(const { power(F::SCALE) });
    let mut rests: [__m256d; ABREAST] = load(sum.lanes().1, first);
    let mut levels = [_mm256_setzero_pd(); ABREAST];
    if LEVELS == 1 {
        levels = load(sum.lanes().0, first);
    }
    let mut left = 0u32;
    for (at, &group) in groups.iter().enumerate() {
        prefetch(group);
        let registers = bytemuck::cast_slice::<F, u8>(group).as_chunks::<WIDTH>().0;
        if !is_inside::<F>(&limits, registers) {
            left |= 1 << at;
            continue;
        }
        if LEVELS == 0 {
            for (half, registers) in registers.as_chunks::<2>().0.iter().enumerate() {
                let mut four = shorts::<F>(registers);
                if T::ABSOLUTE {
                    for short in &mut four {
                        *short = absolute_short(*short);
                    }
                }
                let [a, b, c, d] = four;
                let four = _mm256_add_ps(_mm256_add_ps(a, b), _mm256_add_ps(c, d));
                for (k, value) in widen(four).into_iter().enumerate() {
                    let rest = &mut rests[2 * half + k];
                    *rest = _mm256_fmadd_pd(value, scale, *rest);
                }
            }
            continue;
        }
        for (r, register) in registers.iter().enumerate() {
            let (h, x): (usize, __m256d) = (r % ABREAST, bytemuck::cast(*register));
            let x = if T::ABSOLUTE { absolute(x) } else { x };
            let level = _mm256_add_pd(levels[h], x);
            let rest = _mm256_sub_pd(x, _mm256_sub_pd(level, levels[h]));
            rests[h] = _mm256_add_pd(rests[h], rest);
            levels[h] = level;
        }
    }
    store(sum.lanes_mut().1, first, rests);
    if LEVELS == 1 {
        store(sum.lanes_mut().0, first, levels);
    }
    left
}
