//! Products of two arrays, of types whose products f64 holds.

use std::arch::x86_64::*;

use super::{Limits, Sums, halves, values, widen};
use crate::avx512::WIDTH;
use crate::float::window::Window;
use crate::float::{Cascade, Lane};
use crate::memory::{prefetch, streamed_in_pairs};

/// Adds the products up: what lies in the window into the cascade, the rest as `spill` does it, which returns how many that was.
#[target_feature(enable = "avx512f,avx512bw")]
pub(crate) fn products<F: Lane, const LEVELS: usize, const LANES: usize>(
    (xs, ys): (&[[F; LANES]], &[[F; LANES]]),
    window: &Window<F::Product>,
    cascade: &mut Cascade<LEVELS, LANES>,
    mut spill: impl FnMut(&[F; LANES], &[F; LANES]) -> usize,
) -> usize {
    let limits = Limits::of(window);
    let mut sums = Sums::of(cascade);
    let mut misses = 0;
    for at in streamed_in_pairs(xs.len().min(ys.len())) {
        let (x, y) = (&xs[at], &ys[at]);
        prefetch(x);
        prefetch(y);
        let registers = |group: &[F; LANES]| -> [[u8; WIDTH]; 2] {
            let registers = bytemuck::cast_slice::<F, u8>(group).as_chunks().0;
            [registers[0], registers[1]]
        };
        let missed = match LEVELS {
            0 => narrow::<F>(&mut sums, &limits, registers(x), registers(y)),
            _ => wide::<F>(&mut sums, &limits, registers(x), registers(y)),
        };
        if missed {
            misses += spill(x, y);
        }
    }
    sums.store(cascade);
    misses
}

/// The products of interleaved complex numbers of f32, of equal lanes and of those swapped in pairs, likewise.
#[target_feature(enable = "avx512f,avx512bw")]
pub(crate) fn complex_products<F: Lane, const LEVELS: usize, const LANES: usize>(
    (xs, ys): (&[[F; LANES]], &[[F; LANES]]),
    window: &Window<F::Product>,
    [straight, crossed]: [&mut Cascade<LEVELS, LANES>; 2],
    mut spill: impl FnMut(&[F; LANES], &[F; LANES]) -> usize,
) -> usize {
    /// Registers of a group, as f64.
    const EACH: usize = 2;
    let limits = Limits::of(window);
    let (mut sums, of_crossed) = (Sums::of(straight), Sums::of(crossed));
    for r in 0..EACH {
        sums.level[EACH + r] = of_crossed.level[r];
        sums.rest[EACH + r] = of_crossed.rest[r];
    }
    let mut misses = 0;
    for at in streamed_in_pairs(xs.len().min(ys.len())) {
        let (x, y) = (&xs[at], &ys[at]);
        prefetch(x);
        prefetch(y);
        let widened = |group: &[F; LANES]| {
            let [low, high, ..] =
                values::<F>(&bytemuck::cast_slice::<F, u8>(group).as_chunks().0[0]);
            [low, high]
        };
        let ([a, b], [c, d]) = (widened(x), widened(y));
        let swapped = [c, d].map(|y| _mm512_permute_pd::<0b0101_0101>(y));
        if exact(&mut sums, &limits, [a, b, a, b], [c, d, swapped[0], swapped[1]]) {
            misses += spill(x, y);
        }
    }
    sums.store(straight);
    sums.level.rotate_left(EACH);
    sums.rest.rotate_left(EACH);
    sums.store(crossed);
    misses
}

/// 16-bit floats: products in f32, widened. Returns whether any other than zero missed the window.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn narrow<F: Lane>(
    sums: &mut Sums,
    limits: &Limits,
    x: [[u8; WIDTH]; 2],
    y: [[u8; WIDTH]; 2],
) -> bool {
    let [[a0, a1], [a2, a3]] = x.map(|x| halves::<F>(&x));
    let [[b0, b1], [b2, b3]] = y.map(|y| halves::<F>(&y));
    let (a, b) = ([a0, a1, a2, a3], [b0, b1, b2, b3]);
    let mut products = [_mm512_setzero_ps(); 4];
    let mut inside = u32::MAX;
    for r in 0..4 {
        products[r] = _mm512_mul_ps(a[r], b[r]);
        inside = limits.within::<f32>(inside, _mm512_castps_si512(products[r]));
    }
    let mut missed = 0;
    if inside != 0xffff {
        for r in 0..4 {
            let holds = limits.within::<f32>(u32::MAX, _mm512_castps_si512(products[r])) as u16;
            let zero = _mm512_setzero_ps();
            let vanishes = _mm512_cmpeq_ps_mask(products[r], zero)
                & (_mm512_cmpeq_ps_mask(a[r], zero) | _mm512_cmpeq_ps_mask(b[r], zero));
            missed |= !(holds | vanishes);
            products[r] = _mm512_maskz_mov_ps(holds, products[r]);
        }
    }
    for r in 0..4 {
        for (k, product) in widen(products[r]).into_iter().enumerate() {
            sums.plain(2 * r + k, product);
        }
    }
    missed != 0
}

/// f32: products in f64.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn wide<F: Lane>(
    sums: &mut Sums,
    limits: &Limits,
    x: [[u8; WIDTH]; 2],
    y: [[u8; WIDTH]; 2],
) -> bool {
    let [[a0, a1, ..], [a2, a3, ..]] = x.map(|x| values::<F>(&x));
    let [[b0, b1, ..], [b2, b3, ..]] = y.map(|y| values::<F>(&y));
    exact(sums, limits, [a0, a1, a2, a3], [b0, b1, b2, b3])
}

/// Products that f64 holds, added by one level. Returns whether any other than zero missed the window.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn exact(sums: &mut Sums, limits: &Limits, mut a: [__m512d; 4], mut b: [__m512d; 4]) -> bool {
    let mut inside = u32::MAX;
    for r in 0..4 {
        let product = _mm512_mul_pd(a[r], b[r]);
        inside = limits.within::<f64>(inside, _mm512_castpd_si512(product));
    }
    let mut missed = 0;
    if inside != 0xff {
        for r in 0..4 {
            let product = _mm512_mul_pd(a[r], b[r]);
            let holds = limits.within::<f64>(u32::MAX, _mm512_castpd_si512(product)) as u8;
            missed |= !holds & _mm512_cmp_pd_mask::<_CMP_NEQ_UQ>(product, _mm512_setzero_pd());
            (a[r], b[r]) = (_mm512_maskz_mov_pd(holds, a[r]), _mm512_maskz_mov_pd(holds, b[r]));
        }
    }
    for r in 0..4 {
        sums.deposit_product(r, a[r], b[r]);
    }
    missed != 0
}
