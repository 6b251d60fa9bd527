//! Several sums of pairs at once.

use std::arch::x86_64::*;

use super::{Limits, values};
use crate::avx512::WIDTH;
use crate::float::Lane;
use crate::float::pairs::{GROUP, Terms};
use crate::float::window::Window;
use crate::memory::prefetch;

/// Accumulators in registers.
#[derive(Clone, Copy)]
pub(crate) struct Registers<const LEVELS: usize>(pub(crate) [__m512d; LEVELS]);

impl<const LEVELS: usize> Registers<LEVELS> {
    /// Adds values, as `Levels::add` does.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn add(&mut self, value: __m512d) {
        let mut value = value;
        if LEVELS == 2 {
            let sum = _mm512_add_pd(self.0[0], value);
            value = _mm512_sub_pd(value, _mm512_sub_pd(sum, self.0[0]));
            self.0[0] = sum;
        }
        self.0[LEVELS - 1] = _mm512_add_pd(self.0[LEVELS - 1], value);
    }

    /// Adds products, as `Levels::add_products` does.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(crate) fn add_products(&mut self, x: __m512d, y: __m512d) {
        let sum = _mm512_fmadd_pd(x, y, self.0[0]);
        if LEVELS == 2 {
            let rest = _mm512_fmsub_pd(x, y, _mm512_sub_pd(sum, self.0[0]));
            self.0[1] = _mm512_add_pd(self.0[1], rest);
        } else {
            let taken = _mm512_sub_pd(sum, self.0[0]);
            let product = _mm512_mul_pd(x, y);
            let error = _mm512_fmsub_pd(x, y, product);
            let first = _mm512_add_pd(self.0[1], _mm512_sub_pd(product, taken));
            let both = _mm512_add_pd(first, error);
            let rest = _mm512_sub_pd(error, _mm512_sub_pd(both, first));
            self.0[1] = both;
            self.0[LEVELS - 1] = _mm512_add_pd(self.0[LEVELS - 1], rest);
        }
        self.0[0] = sum;
    }
}

/// Adds the groups that lie inside the windows, and says whether there were others; the accumulators are drained after `step` groups each, 32 at most.
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
pub(crate) fn pairs<F: Lane, T: Terms<F>>(
    (xs, ys): (&[[F; GROUP]], &[[F; GROUP]]),
    [of_x, of_y]: &[Window<F>; 2],
    inside: &mut T::Inside,
    step: usize,
    mut other: impl FnMut(&[F; GROUP], &[F; GROUP]),
) {
    let limits = [Limits::of(of_x), Limits::of(of_y)];
    // One stream of each array: two, as products of two arrays have, were a seventh slower, as these are bound by their additions.
    for (xs, ys) in xs.chunks(step).zip(ys.chunks(step)) {
        let (mut registers, mut others) = (T::registers(inside), 0u32);
        for (k, (x, y)) in xs.iter().zip(ys).enumerate() {
            prefetch(x);
            prefetch(y);
            if !fit::<F, T>(&limits, x, y, false) && !fit::<F, T>(&limits, x, y, true) {
                others |= 1 << k;
                continue;
            }
            for (x, y) in registers_of(x).iter().zip(registers_of(y)) {
                let (x, y) = (values::<F>(x), values::<F>(y));
                for k in 0..8 / size_of::<F>() {
                    // SAFETY: this code runs where AVX-512 was found.
                    unsafe { T::add_to_registers(&mut registers, x[k], y[k]) };
                }
            }
        }
        T::store(registers, inside);
        T::drain(inside);
        // Behind the loop: a call in it would keep the accumulators in memory.
        while others != 0 {
            let k = others.trailing_zeros() as usize;
            others &= others - 1;
            other(&xs[k], &ys[k]);
        }
    }
}

/// Whether a group lies inside, or is zero outside where that is asked.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
fn fit<F: Lane, T: Terms<F>>(
    [of_x, of_y]: &[Limits; 2],
    x: &[F; GROUP],
    y: &[F; GROUP],
    or_zero: bool,
) -> bool {
    let mut outside = 0;
    for (x, y) in registers_of(x).iter().zip(registers_of(y)) {
        let (x, y): (__m512i, __m512i) = (bytemuck::cast(*x), bytemuck::cast(*y));
        let inside = match T::SIGNED {
            true => of_x.within::<F>(u32::MAX, x),
            false => of_x.holds::<F>(u32::MAX, x),
        };
        if or_zero {
            outside |= of_x.nonzero::<F>(!inside, x)
                | of_y.nonzero::<F>(!of_y.within::<F>(u32::MAX, y), y);
        } else {
            outside |= !of_y.within::<F>(inside, y);
        }
    }
    outside & super::all::<F>() == 0
}

/// A group as registers.
#[inline(always)]
fn registers_of<F: Lane>(group: &[F; GROUP]) -> &[[u8; WIDTH]] {
    bytemuck::cast_slice::<F, u8>(group).as_chunks().0
}
