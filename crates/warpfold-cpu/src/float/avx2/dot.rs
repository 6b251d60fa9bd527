//! Products of two arrays of 16-bit floats.

use std::arch::x86_64::*;

use super::narrow::{shorts, widen};
use super::{EACH, Limits, WIDTH, load, store};
use crate::float::window::Window;
use crate::float::{Cascade, Lane};
use crate::memory::prefetch;

/// Registers that a product's lanes take: an addition waits for the one before in the same lane.
const ABREAST: usize = 4;
/// Lanes that take all groups of a call.
pub(crate) const DOT_LANES: usize = ABREAST * EACH;

/// Adds the products of groups to lanes from `first` on; says which were left, as not all of them lie in the window.
#[inline(never)]
#[target_feature(enable = "avx2,fma,f16c")]
pub(crate) fn products<F: Lane, const LEVELS: usize, const LANES: usize>(
    groups: &[(&[F; LANES], &[F; LANES])],
    window: &Window<F::Product>,
    sum: &mut Cascade<LEVELS, LANES>,
    first: usize,
) -> u32 {
    assert!(size_of::<F>() == 2 && LEVELS == 0 && LANES == 64, "16-bit floats");
    let limits = Limits::of(window);
    let mut rests: [__m256d; ABREAST] = load(sum.lanes().1, first);
    let mut left = 0u32;
    for (at, &(x, y)) in groups.iter().enumerate() {
        prefetch(x);
        prefetch(y);
        let xs = bytemuck::cast_slice::<F, u8>(x).as_chunks::<WIDTH>().0;
        let ys = bytemuck::cast_slice::<F, u8>(y).as_chunks::<WIDTH>().0;
        let mut above = _mm256_setzero_si256();
        let mut all = [_mm256_setzero_ps(); 8];
        for (half, all) in all.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            let (x, y) = (shorts::<F>(&xs[2 * half..]), shorts::<F>(&ys[2 * half..]));
            for k in 0..4 {
                all[k] = _mm256_mul_ps(x[k], y[k]);
                above = limits.above::<f32>(above, _mm256_castps_si256(all[k]));
            }
        }
        if !limits.hold::<f32>(above) {
            left |= 1 << at;
            continue;
        }
        for (k, product) in all.into_iter().enumerate() {
            for (h, value) in widen(product).into_iter().enumerate() {
                let rest = &mut rests[2 * (k % 2) + h];
                *rest = _mm256_add_pd(*rest, value);
            }
        }
    }
    store(sum.lanes_mut().1, first, rests);
    left
}
