//! Types whose squares f64 holds.

use std::arch::x86_64::*;

use super::{EACH, Limits, WIDTH, absolute, is_inside, load, store};
use crate::float::window::Window;
use crate::float::{Cascade, Lane};
use crate::memory::prefetch_at;

/// Registers that a value's lanes take: an addition waits for the one before in the same lane.
const ABREAST: usize = 2;

/// Adds groups, their squares and perhaps their magnitudes to eight lanes from `first` on; says which groups were left, as not all of their values lie in the
/// window, unless they are not looked at.
#[inline(never)]
#[target_feature(enable = "avx2,fma,f16c")]
pub(crate) fn squares<
    F: Lane,
    const LEVELS: usize,
    const SQUARE_LEVELS: usize,
    const LANES: usize,
    const NORMS: usize,
    const LOOKED_AT: bool,
>(
    groups: &[&[F; LANES]],
    window: &Window<F>,
    (sum, square, norms): (
        &mut Cascade<LEVELS, LANES>,
        &mut Cascade<SQUARE_LEVELS, LANES>,
        &mut [Cascade<LEVELS, LANES>; NORMS],
    ),
    first: usize,
    ahead: usize,
) -> u32 {
    assert!(LEVELS == 0 && SQUARE_LEVELS == 1 && LANES == 32 && NORMS < 2, "a narrow type");
    let limits = Limits::of(window);
    let scale = _mm256_set1_pd(const { power(F::SCALE) });
    let mut sums: [__m256d; ABREAST] = load(sum.lanes().1, first);
    let mut levels: [__m256d; ABREAST] = load(square.lanes().0, first);
    let mut rests: [__m256d; ABREAST] = load(square.lanes().1, first);
    let mut absolutes = [_mm256_setzero_pd(); ABREAST];
    if NORMS == 1 {
        absolutes = load(norms[0].lanes().1, first);
    }
    let mut left = 0u32;
    for (at, &group) in groups.iter().enumerate() {
        prefetch_at(group, ahead);
        let registers = bytemuck::cast_slice::<F, u8>(group).as_chunks::<WIDTH>().0;
        if LOOKED_AT && !is_inside::<F>(&limits, registers) {
            left |= 1 << at;
            continue;
        }
        for k in 0..LANES / (ABREAST * EACH) {
            let values = match size_of::<F>() {
                4 => {
                    // Read by halves: a conversion from memory takes no shuffle.
                    let eight: &[[f32; EACH]] = bytemuck::cast_slice(&registers[k..=k]);
                    [
                        _mm256_cvtps_pd(bytemuck::cast(eight[0])),
                        _mm256_cvtps_pd(bytemuck::cast(eight[1])),
                    ]
                }
                _ => widen(shorts::<F>(registers)[k]),
            };
            for (h, value) in values.into_iter().enumerate() {
                let value = if F::SCALE == 0 { value } else { _mm256_mul_pd(value, scale) };
                sums[h] = _mm256_add_pd(sums[h], value);
                let level = _mm256_fmadd_pd(value, value, levels[h]);
                let rest = _mm256_fmsub_pd(value, value, _mm256_sub_pd(level, levels[h]));
                levels[h] = level;
                rests[h] = _mm256_add_pd(rests[h], rest);
                if NORMS == 1 {
                    absolutes[h] = _mm256_add_pd(absolutes[h], absolute(value));
                }
            }
        }
    }
    store(sum.lanes_mut().1, first, sums);
    store(square.lanes_mut().0, first, levels);
    store(square.lanes_mut().1, first, rests);
    if NORMS == 1 {
        store(norms[0].lanes_mut().1, first, absolutes);
    }
    left
}

/// Adds groups of 16-bit floats that lie near each other, by fours, to eight lanes from `first` on, and their squares without a level to the sixteen that these are
/// of; says which groups were left. A function of its own, as the accumulators of both ways are more than there are registers.
#[inline(never)]
#[target_feature(enable = "avx2,fma,f16c")]
pub(crate) fn squares_by_fours<
    F: Lane,
    const LEVELS: usize,
    const LANES: usize,
    const NORMS: usize,
>(
    groups: &[&[F; LANES]],
    near: &Window<F>,
    (sum, near_squares, norms): (
        &mut Cascade<LEVELS, LANES>,
        &mut Cascade<0, LANES>,
        &mut [Cascade<LEVELS, LANES>; NORMS],
    ),
    first: usize,
    ahead: usize,
) -> u32 {
    assert!(F::ADD_SHORT && LEVELS == 0 && LANES == 32 && NORMS < 2, "16-bit floats");
    let limits = Limits::of(near);
    let mut sums = [_mm256_setzero_pd(); ABREAST];
    let mut absolutes = [_mm256_setzero_pd(); ABREAST];
    let mut plain = [_mm256_setzero_pd(); 2 * ABREAST];
    let mut left = 0u32;
    for (at, &group) in groups.iter().enumerate() {
        prefetch_at(group, ahead);
        let registers = bytemuck::cast_slice::<F, u8>(group).as_chunks::<WIDTH>().0;
        if !is_inside::<F>(&limits, registers) {
            left |= 1 << at;
            continue;
        }
        let [a, b, c, d] = shorts::<F>(registers);
        let [low, high] = widen(_mm256_add_ps(_mm256_add_ps(a, b), _mm256_add_ps(c, d)));
        sums[0] = _mm256_add_pd(sums[0], low);
        sums[1] = _mm256_add_pd(sums[1], high);
        if NORMS == 1 {
            let both = _mm256_add_ps(absolute_short(a), absolute_short(b));
            let four = _mm256_add_ps(both, _mm256_add_ps(absolute_short(c), absolute_short(d)));
            let [low, high] = widen(four);
            absolutes[0] = _mm256_add_pd(absolutes[0], low);
            absolutes[1] = _mm256_add_pd(absolutes[1], high);
        }
        let [low, high] = widen(a);
        plain[0] = _mm256_fmadd_pd(low, low, plain[0]);
        plain[1] = _mm256_fmadd_pd(high, high, plain[1]);
        let [low, high] = widen(b);
        plain[2] = _mm256_fmadd_pd(low, low, plain[2]);
        plain[3] = _mm256_fmadd_pd(high, high, plain[3]);
        let [low, high] = widen(c);
        plain[0] = _mm256_fmadd_pd(low, low, plain[0]);
        plain[1] = _mm256_fmadd_pd(high, high, plain[1]);
        let [low, high] = widen(d);
        plain[2] = _mm256_fmadd_pd(low, low, plain[2]);
        plain[3] = _mm256_fmadd_pd(high, high, plain[3]);
    }
    // Not scaled before.
    add_scaled(sum.lanes_mut().1, first, sums, const { power(F::SCALE) });
    if NORMS == 1 {
        add_scaled(norms[0].lanes_mut().1, first, absolutes, const { power(F::SCALE) });
    }
    let first = first % (LANES / 2) / (ABREAST * EACH) * plain.len() * EACH;
    add_scaled(near_squares.lanes_mut().1, first, plain, const { power(2 * F::SCALE) });
    left
}

/// Adds registers times a power of two to lanes.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn add_scaled<const N: usize>(lanes: &mut [f64], first: usize, values: [__m256d; N], scale: f64) {
    let (mut all, scale): ([__m256d; N], _) = (load(lanes, first), _mm256_set1_pd(scale));
    for (all, value) in all.iter_mut().zip(values) {
        *all = _mm256_fmadd_pd(value, scale, *all);
    }
    store(lanes, first, all);
}

/// 32 floats of 16 bits as f32, in any order.
#[inline]
#[target_feature(enable = "avx2,f16c")]
pub(super) fn shorts<F: Lane>(registers: &[[u8; WIDTH]]) -> [__m256; 4] {
    let mut all = [_mm256_setzero_ps(); 4];
    for (half, register) in all.as_chunks_mut::<2>().0.iter_mut().zip(registers) {
        let x: __m256i = bytemuck::cast(*register);
        *half = if F::MANTISSA_BITS == 11 {
            let [low, high]: [__m128i; 2] = bytemuck::cast(*register);
            [_mm256_cvtph_ps(low), _mm256_cvtph_ps(high)]
        } else {
            let odd = _mm256_and_si256(x, _mm256_set1_epi32(!0xffff));
            [_mm256_castsi256_ps(_mm256_slli_epi32::<16>(x)), _mm256_castsi256_ps(odd)]
        };
    }
    all
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn widen(x: __m256) -> [__m256d; 2] {
    let (low, high) = (_mm256_castps256_ps128(x), _mm256_extractf128_ps::<1>(x));
    [_mm256_cvtps_pd(low), _mm256_cvtps_pd(high)]
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn absolute_short(x: __m256) -> __m256 {
    _mm256_andnot_ps(_mm256_set1_ps(-0.0), x)
}

/// `2^exponent` of a normal number.
pub(super) const fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}
