//! f64 whose exponents lie near each other.

use std::arch::x86_64::*;

use super::{EACH, Limits, absolute, is_inside, load, store};
use crate::float::Lane;
use crate::float::near::Near;
use crate::memory::prefetch_at;

/// Registers that a value's lanes take: eight lanes.
const ABREAST: usize = 2;

/// Adds groups, their squares and perhaps their magnitudes, as `Levels` does; says which groups were left, as not all of their values lie in the window, unless they
/// are not looked at.
#[inline(never)]
#[target_feature(enable = "avx2,fma")]
pub(crate) fn near_squares<
    F: Lane,
    const LANES: usize,
    const NORMS: usize,
    const LOOKED_AT: bool,
>(
    groups: &[&[F; LANES]],
    near: &mut Near<F, NORMS>,
    ahead: usize,
) -> u32 {
    assert!(size_of::<F>() == 8 && LANES.is_multiple_of(4 * EACH) && NORMS < 2, "groups of f64");
    let limits = Limits::of(&near.window);
    let (of_sum, of_squares) = (near.sum.lanes(), near.squares.lanes());
    let mut first: [__m256d; ABREAST] = load(&of_sum[0], 0);
    // One for all, to which twice as many are added as to others: far fewer bits than it has room for.
    let [mut rest]: [__m256d; 1] = load(&of_sum[1], 0);
    let mut high: [__m256d; ABREAST] = load(&of_squares[0], 0);
    let mut middle: [__m256d; ABREAST] = load(&of_squares[1], 0);
    let mut low: [__m256d; ABREAST] = load(&of_squares[2], 0);
    let mut left = 0u32;
    for (at, &group) in groups.iter().enumerate() {
        prefetch_at(group, ahead);
        let registers: &[[f64; EACH]] = bytemuck::cast_slice::<F, f64>(group).as_chunks().0;
        let bytes = bytemuck::cast_slice::<F, u8>(group).as_chunks().0;
        if LOOKED_AT && !is_inside::<F>(&limits, bytes) {
            left |= 1 << at;
            continue;
        }
        for (r, register) in registers.iter().enumerate() {
            let (h, x): (usize, __m256d) = (r % ABREAST, bytemuck::cast(*register));
            let sum = _mm256_add_pd(first[h], x);
            rest = _mm256_add_pd(rest, _mm256_sub_pd(x, _mm256_sub_pd(sum, first[h])));
            first[h] = sum;
            let sum = _mm256_fmadd_pd(x, x, high[h]);
            let taken = _mm256_sub_pd(sum, high[h]);
            high[h] = sum;
            let product = _mm256_mul_pd(x, x);
            let error = _mm256_fmsub_pd(x, x, product);
            let begun = _mm256_add_pd(middle[h], _mm256_sub_pd(product, taken));
            middle[h] = _mm256_add_pd(begun, error);
            let error = _mm256_sub_pd(error, _mm256_sub_pd(middle[h], begun));
            low[h] = _mm256_add_pd(low[h], error);
        }
    }
    let (of_sum, of_squares) = (near.sum.lanes_mut(), near.squares.lanes_mut());
    store(&mut of_sum[0], 0, first);
    store(&mut of_sum[1], 0, [rest]);
    store(&mut of_squares[0], 0, high);
    store(&mut of_squares[1], 0, middle);
    store(&mut of_squares[2], 0, low);
    for norms in &mut near.norms {
        // Beside the others there is no room for these; the groups are in the nearest cache still.
        let (mut first, mut rest) = ([_mm256_setzero_pd(); 4], [_mm256_setzero_pd(); 4]);
        for (k, norm) in norms.iter().enumerate() {
            [first[2 * k], first[2 * k + 1]] = load(&norm.lanes()[0], 0);
            [rest[2 * k], rest[2 * k + 1]] = load(&norm.lanes()[1], 0);
        }
        for (at, &group) in groups.iter().enumerate() {
            if left >> at & 1 != 0 {
                continue;
            }
            let registers: &[[f64; EACH]] = bytemuck::cast_slice::<F, f64>(group).as_chunks().0;
            for (r, register) in registers.iter().enumerate() {
                let (h, x) = (r % first.len(), absolute(bytemuck::cast(*register)));
                let sum = _mm256_add_pd(first[h], x);
                rest[h] = _mm256_add_pd(rest[h], _mm256_sub_pd(x, _mm256_sub_pd(sum, first[h])));
                first[h] = sum;
            }
        }
        for (k, norm) in norms.iter_mut().enumerate() {
            let [of_first, of_rest] = norm.lanes_mut();
            store(of_first, 0, [first[2 * k], first[2 * k + 1]]);
            store(of_rest, 0, [rest[2 * k], rest[2 * k + 1]]);
        }
    }
    left
}
