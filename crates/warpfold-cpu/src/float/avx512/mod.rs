//! The kernels inside the window in registers of AVX-512. The portable ones say the same, for the same bits, but the compiler widens
//! narrow floats with shuffles and multiplies before it adds, where one instruction does both.

mod dot;
mod moments;
mod pairs;
mod sum;

use std::arch::x86_64::*;

pub(super) use dot::{complex_products, products};
pub(super) use moments::squares;
pub(super) use pairs::{Registers, pairs};
pub(super) use sum::windowed;

use super::sum::{Term, Values};
use super::window::Window;
use super::{Cascade, Lane};
use crate::avx512::{WIDTH, splat};

/// The most registers of 64-bit lanes that accumulate.
const REGISTERS: usize = 8;

/// A window as registers.
struct Limits {
    low: __m512i,
    span: __m512i,
    magnitude: __m512i,
}

impl Limits {
    #[inline(always)]
    fn of<F: Lane>(window: &Window<F>) -> Self {
        let (low, span) = window.words();
        Limits { low: splat(low), span: splat(span), magnitude: splat(F::ABS_MASK) }
    }

    /// The lanes among some whose values are not zero.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn nonzero<F: Lane>(&self, among: u32, x: __m512i) -> u32 {
        match size_of::<F>() {
            2 => _mm512_mask_test_epi16_mask(among, x, self.magnitude),
            4 => _mm512_mask_test_epi32_mask(among as u16, x, self.magnitude).into(),
            _ => _mm512_mask_test_epi64_mask(among as u8, x, self.magnitude).into(),
        }
    }

    /// The lanes among some whose values lie inside.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn within<F: Lane>(&self, among: u32, x: __m512i) -> u32 {
        self.holds::<F>(among, _mm512_and_si512(x, self.magnitude))
    }

    /// The lanes among some whose bits lie inside: no negative value's do, as a sign is far above.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn holds<F: Lane>(&self, among: u32, x: __m512i) -> u32 {
        match size_of::<F>() {
            2 => _mm512_mask_cmplt_epu16_mask(among, _mm512_sub_epi16(x, self.low), self.span),
            4 => {
                let above = _mm512_sub_epi32(x, self.low);
                _mm512_mask_cmplt_epu32_mask(among as u16, above, self.span).into()
            }
            _ => {
                let above = _mm512_sub_epi64(x, self.low);
                _mm512_mask_cmplt_epu64_mask(among as u8, above, self.span).into()
            }
        }
    }

    /// The values that may be added, others replaced by zero; and whether there are others.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn take<F: Lane>(&self, x: __m512i) -> (__m512i, bool) {
        let holds = self.within::<F>(u32::MAX, x);
        let (kept, lost) = match size_of::<F>() {
            2 => (
                _mm512_maskz_mov_epi16(holds, x),
                !holds & _mm512_test_epi16_mask(x, self.magnitude),
            ),
            4 => {
                let holds = holds as u16;
                let lost = !holds & _mm512_test_epi32_mask(x, self.magnitude);
                (_mm512_maskz_mov_epi32(holds, x), lost.into())
            }
            _ => {
                let holds = holds as u8;
                let lost = !holds & _mm512_test_epi64_mask(x, self.magnitude);
                (_mm512_maskz_mov_epi64(holds, x), lost.into())
            }
        };
        (kept, lost != 0)
    }
}

/// All lanes of a register of `F`.
const fn all<F>() -> u32 {
    (u64::MAX >> (WIDTH - WIDTH / size_of::<F>())) as u32
}

/// Accumulators of one level and a rest, of which narrow types use the rest alone.
#[derive(Clone, Copy)]
struct Sums {
    level: [__m512d; REGISTERS],
    rest: [__m512d; REGISTERS],
}

impl Sums {
    #[inline(always)]
    fn of<const LEVELS: usize, const LANES: usize>(cascade: &Cascade<LEVELS, LANES>) -> Self {
        let zero: __m512d = bytemuck::Zeroable::zeroed();
        let mut sums = Sums { level: [zero; REGISTERS], rest: [zero; REGISTERS] };
        let (level, rest) = cascade.lanes();
        for (register, lanes) in sums.rest.iter_mut().zip(rest.as_chunks::<8>().0) {
            *register = bytemuck::cast(*lanes);
        }
        for (register, lanes) in sums.level.iter_mut().zip(level.as_chunks::<8>().0) {
            *register = bytemuck::cast(*lanes);
        }
        sums
    }

    #[inline(always)]
    fn store<const LEVELS: usize, const LANES: usize>(&self, cascade: &mut Cascade<LEVELS, LANES>) {
        let (level, rest) = cascade.lanes_mut();
        for (register, lanes) in self.rest.iter().zip(rest.as_chunks_mut::<8>().0) {
            *lanes = bytemuck::cast(*register);
        }
        for (register, lanes) in self.level.iter().zip(level.as_chunks_mut::<8>().0) {
            *lanes = bytemuck::cast(*register);
        }
    }

    /// Adds one value a lane, as [`Cascade::deposit`] does.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn deposit<F: Lane, T: Term, const LEVELS: usize>(&mut self, r: usize, value: __m512d) {
        let value = if T::ABSOLUTE { _mm512_abs_pd(value) } else { value };
        if LEVELS == 0 {
            let scale = _mm512_set1_pd(const { power(F::SCALE) });
            self.rest[r] = match F::SCALE {
                0 => _mm512_add_pd(self.rest[r], value),
                _ => _mm512_fmadd_pd(value, scale, self.rest[r]),
            };
        } else {
            let sum = _mm512_add_pd(self.level[r], value);
            let rest = _mm512_sub_pd(value, _mm512_sub_pd(sum, self.level[r]));
            self.level[r] = sum;
            self.rest[r] = _mm512_add_pd(self.rest[r], rest);
        }
    }

    /// Adds one value a lane without a level.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn plain(&mut self, r: usize, value: __m512d) {
        self.rest[r] = _mm512_add_pd(self.rest[r], value);
    }

    /// Adds an exact product to one level as one instruction each: the sum, what of it went in, and what is left.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn deposit_product(&mut self, r: usize, a: __m512d, b: __m512d) {
        let sum = _mm512_fmadd_pd(a, b, self.level[r]);
        let rest = _mm512_fmsub_pd(a, b, _mm512_sub_pd(sum, self.level[r]));
        self.level[r] = sum;
        self.rest[r] = _mm512_add_pd(self.rest[r], rest);
    }

    /// Adds the values of some registers.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn add<F: Lane, T: Term, const LEVELS: usize>(&mut self, registers: &[[u8; WIDTH]]) {
        let each = 8 / size_of::<F>();
        for (r, register) in registers.iter().enumerate() {
            for (k, value) in values::<F>(register).into_iter().take(each).enumerate() {
                self.deposit::<F, T, LEVELS>(each * r + k, value);
            }
        }
    }

    /// Adds four registers whose values four at a time, one of each, add up in f32 without rounding.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn add_fours<F: Lane, T: Term>(&mut self, registers: &[[u8; WIDTH]; 4]) {
        let [a, b, c, d] = registers.each_ref().map(|register| halves::<F>(register));
        for half in 0..2 {
            let [a, b, c, d] = [a, b, c, d].map(|x| match T::ABSOLUTE {
                true => _mm512_abs_ps(x[half]),
                false => x[half],
            });
            let four = _mm512_add_ps(_mm512_add_ps(a, b), _mm512_add_ps(c, d));
            for (k, value) in widen(four).into_iter().enumerate() {
                self.deposit::<F, Values, 0>(2 * half + k, value);
            }
        }
    }

    /// Adds registers whose values four at a time add up in f32 without rounding.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn add_short<F: Lane, T: Term, const LEVELS: usize>(&mut self, registers: &[[u8; WIDTH]]) {
        let sum = |bytes| {
            let [a, b] = halves::<F>(bytes);
            if T::ABSOLUTE {
                _mm512_add_ps(_mm512_abs_ps(a), _mm512_abs_ps(b))
            } else {
                _mm512_add_ps(a, b)
            }
        };
        for (r, pair) in registers.as_chunks::<2>().0.iter().enumerate() {
            let four = _mm512_add_ps(sum(&pair[0]), sum(&pair[1]));
            for (k, value) in widen(four).into_iter().enumerate() {
                self.deposit::<F, T, LEVELS>(2 * r + k, value);
            }
        }
    }
}

/// `2^exponent` of a normal number.
const fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// The values of a register in f64, as many as it has; of 16-bit floats in any order.
#[inline]
#[target_feature(enable = "avx512f")]
fn values<F: Lane>(register: &[u8; WIDTH]) -> [__m512d; 4] {
    let zero = _mm512_setzero_pd();
    match size_of::<F>() {
        8 => [bytemuck::cast(*register), zero, zero, zero],
        4 => {
            let [a, b] = widen(bytemuck::cast(*register));
            [a, b, zero, zero]
        }
        _ => {
            let [[a, b], [c, d]] = halves::<F>(register).map(|half| widen(half));
            [a, b, c, d]
        }
    }
}

/// The value as cascades hold it, times 2^[`SCALE`](Lane::SCALE).
#[inline]
#[target_feature(enable = "avx512f")]
fn scaled<F: Lane>(value: __m512d) -> __m512d {
    match F::SCALE {
        0 => value,
        _ => _mm512_mul_pd(value, _mm512_set1_pd(const { power(F::SCALE) })),
    }
}

/// 32 narrow floats as f32, in any order.
#[inline]
#[target_feature(enable = "avx512f")]
fn halves<F: Lane>(bytes: &[u8; WIDTH]) -> [__m512; 2] {
    if F::MANTISSA_BITS == 11 {
        let x: __m512i = bytemuck::cast(*bytes);
        let (low, high) = (_mm512_castsi512_si256(x), _mm512_extracti64x4_epi64::<1>(x));
        [_mm512_cvtph_ps(low), _mm512_cvtph_ps(high)]
    } else {
        let x = bytemuck::cast(*bytes);
        let odd = _mm512_and_si512(x, _mm512_set1_epi32(!0xffff));
        [_mm512_castsi512_ps(_mm512_slli_epi32::<16>(x)), _mm512_castsi512_ps(odd)]
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn widen(x: __m512) -> [__m512d; 2] {
    let high =
        _mm512_castpd_ps(_mm512_castpd256_pd512(_mm512_extractf64x4_pd::<1>(_mm512_castps_pd(x))));
    [_mm512_cvtps_pd(_mm512_castps512_ps256(x)), _mm512_cvtps_pd(_mm512_castps512_ps256(high))]
}
