//! Four lanes of AVX2.

use std::arch::x86_64::*;

use super::{MOST, Vector, first, zeros};
use crate::{bf16, f16};

/// Four numbers.
#[derive(Clone, Copy)]
pub(crate) struct Four(__m256d);

/// Sums of exponent fields with how many they are, and the least of the numbers that tell normal fields from others by not being zero.
#[derive(Clone, Copy)]
pub(crate) struct Fields {
    sum: __m256i,
    count: i64,
    least: __m256d,
}

/// Wraps an expression of intrinsics.
macro_rules! four {
    ($expression:expr) => {
        // SAFETY: the instructions were found where there is a vector, and pointers are the caller's to vouch for.
        Four(unsafe { $expression })
    };
}

const QUADS_EVEN: i32 = 0b10_00_10_00;
const QUADS_ODD: i32 = 0b11_01_11_01;
/// The bits of 2^52, among whose last bits an integer stands for itself.
const TWO_TO_52: i64 = 0x4330 << 48;

impl Four {
    /// Takes the exponent fields of numbers.
    #[inline(always)]
    fn fields(self, powers: &mut Fields) -> __m256i {
        // SAFETY: the instructions were found where there is a vector.
        unsafe {
            let bits = _mm256_castpd_si256(self.0);
            let fields = _mm256_srli_epi64::<53>(_mm256_add_epi64(bits, bits));
            powers.sum = _mm256_add_epi64(powers.sum, fields);
            // One more makes the last field the first, and then both are zero but for the lowest bit.
            let next = _mm256_add_epi64(bits, _mm256_set1_epi64x(1 << 52));
            let normal = _mm256_and_si256(next, _mm256_set1_epi64x(0x7fe << 52));
            powers.least = _mm256_min_pd(powers.least, _mm256_castsi256_pd(normal));
            powers.count += 1;
            fields
        }
    }
}

// Closures would not be inlined where the instructions are: functions are.

/// Two numbers from one place and two from another.
///
/// # Safety
/// They may be read, and the instructions were found.
#[inline(always)]
unsafe fn halves(a: *const f64, b: *const f64) -> __m256d {
    // SAFETY: as the caller says.
    unsafe { _mm256_insertf128_pd::<1>(_mm256_castpd128_pd256(_mm_loadu_pd(a)), _mm_loadu_pd(b)) }
}

/// The first four numbers.
///
/// # Safety
/// The instructions were found.
#[inline(always)]
unsafe fn low(x: __m256) -> __m256d {
    // SAFETY: as the caller says.
    unsafe { _mm256_cvtps_pd(_mm256_castps256_ps128(x)) }
}

/// The last four numbers.
///
/// # Safety
/// The instructions were found.
#[inline(always)]
unsafe fn high(x: __m256) -> __m256d {
    // SAFETY: as the caller says.
    unsafe { _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(x)) }
}

impl Vector for Four {
    const N: usize = 4;
    const INTERLEAVED: [usize; MOST] = [0, 2, 1, 3];
    type Powers = Fields;
    type Monitor = __m256i;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        four!(_mm256_set1_pd(x))
    }

    #[inline(always)]
    unsafe fn load(x: *const f64) -> Self {
        four!(_mm256_loadu_pd(x))
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        // SAFETY: as the caller says.
        unsafe { _mm256_storeu_pd(to, self.0) }
    }

    #[inline(always)]
    unsafe fn widen(x: *const f32) -> Self {
        four!(_mm256_cvtps_pd(_mm_loadu_ps(x)))
    }

    #[inline(always)]
    unsafe fn widen_f16(x: *const f16) -> Self {
        four!(_mm256_cvtps_pd(_mm_cvtph_ps(_mm_loadl_epi64(x.cast::<__m128i>()))))
    }

    #[inline(always)]
    unsafe fn widen_bf16(x: *const bf16) -> Self {
        four!({
            let words = _mm_cvtepu16_epi32(_mm_loadl_epi64(x.cast::<__m128i>()));
            _mm256_cvtps_pd(_mm_castsi128_ps(_mm_slli_epi32::<16>(words)))
        })
    }

    #[inline(always)]
    unsafe fn columns(rows: &[*const f64; MOST]) -> [Self; MOST] {
        // SAFETY: the instructions were found where there is a vector, and rows are the caller's to vouch for.
        unsafe {
            // Halves of rows 0 and 2, and of 1 and 3: two columns each.
            let (a, b) = (halves(rows[0], rows[2]), halves(rows[1], rows[3]));
            let (c, d) =
                (halves(rows[0].add(2), rows[2].add(2)), halves(rows[1].add(2), rows[3].add(2)));
            [
                Four(_mm256_unpacklo_pd(a, b)),
                Four(_mm256_unpackhi_pd(a, b)),
                Four(_mm256_unpacklo_pd(c, d)),
                Four(_mm256_unpackhi_pd(c, d)),
            ]
        }
    }

    #[inline(always)]
    unsafe fn pairs(x: *const f32) -> Self {
        // SAFETY: as the caller says.
        let (a, b) = unsafe { (Self::widen(x).0, Self::widen(x.add(4)).0) };
        four!(_mm256_mul_pd(_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b)))
    }

    #[inline(always)]
    unsafe fn fours_of_f16(x: *const f16) -> Self {
        four!({
            let a = _mm256_cvtph_ps(_mm_loadu_si128(x.cast::<__m128i>()));
            let b = _mm256_cvtph_ps(_mm_loadu_si128(x.add(8).cast::<__m128i>()));
            // Of each four elements of `a`, then of `b`, the first and the second pair's product, which f32 holds.
            let pairs = _mm256_mul_ps(
                _mm256_shuffle_ps::<QUADS_EVEN>(a, b),
                _mm256_shuffle_ps::<QUADS_ODD>(a, b),
            );
            let order = _mm256_setr_epi32(0, 4, 2, 6, 1, 5, 3, 7);
            let pairs = _mm256_permutevar8x32_ps(pairs, order);
            _mm256_mul_pd(low(pairs), high(pairs))
        })
    }

    #[inline(always)]
    unsafe fn fours_of_bf16(x: *const bf16) -> Self {
        four!({
            let words = _mm256_loadu_si256(x.cast::<__m256i>());
            let even = _mm256_castsi256_ps(_mm256_slli_epi32::<16>(words));
            let odd = _mm256_castsi256_ps(_mm256_and_si256(words, _mm256_set1_epi32(-1 << 16)));
            let a = _mm256_mul_pd(low(even), low(odd));
            let b = _mm256_mul_pd(high(even), high(odd));
            _mm256_mul_pd(_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b))
        })
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        four!(_mm256_mul_pd(self.0, other.0))
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        four!(_mm256_add_pd(self.0, other.0))
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        four!(_mm256_sub_pd(self.0, other.0))
    }

    #[inline(always)]
    fn fma(self, factor: Self, addend: Self) -> Self {
        four!(_mm256_fmadd_pd(self.0, factor.0, addend.0))
    }

    #[inline(always)]
    fn fms(self, factor: Self, subtrahend: Self) -> Self {
        four!(_mm256_fmsub_pd(self.0, factor.0, subtrahend.0))
    }

    #[inline(always)]
    fn negate(self) -> Self {
        four!(_mm256_xor_pd(self.0, _mm256_set1_pd(-0.0)))
    }

    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        four!({
            let sign = _mm256_set1_pd(-0.0);
            _mm256_max_pd(_mm256_andnot_pd(sign, self.0), _mm256_andnot_pd(sign, other.0))
        })
    }

    #[inline(always)]
    fn monitor() -> __m256i {
        // SAFETY: the instructions are found where vectors are made.
        unsafe { _mm256_setzero_si256() }
    }

    #[inline(always)]
    fn observe(self, seen: &mut __m256i, half: u64) {
        // SAFETY: the instructions were found where there is a vector.
        unsafe {
            let bits = _mm256_castpd_si256(self.0);
            let moved = _mm256_sub_epi64(bits, _mm256_set1_epi64x(first(half)));
            *seen = _mm256_or_si256(*seen, moved);
        }
    }

    #[inline(always)]
    fn are_within(seen: __m256i, half: u64) -> bool {
        // SAFETY: the instructions are found where vectors are made.
        unsafe { _mm256_testz_si256(seen, _mm256_set1_epi64x(zeros(half))) == 1 }
    }

    #[inline(always)]
    fn powers() -> Fields {
        // SAFETY: the instructions are found where vectors are made.
        unsafe { Fields { sum: _mm256_setzero_si256(), count: 0, least: _mm256_set1_pd(1.0) } }
    }

    #[inline(always)]
    fn split(self, powers: &mut Fields) -> Self {
        self.fields(powers);
        four!({
            let kept = _mm256_set1_epi64x((1 << 63) | ((1 << 52) - 1));
            let mantissas = _mm256_and_pd(self.0, _mm256_castsi256_pd(kept));
            _mm256_or_pd(mantissas, _mm256_set1_pd(1.0))
        })
    }

    #[inline(always)]
    fn exponents(self, powers: &mut Fields) -> Self {
        let fields = self.fields(powers);
        // 2^(1023 - field): of the largest numbers it would be subnormal, which is no normal power either.
        four!({
            let scale = _mm256_slli_epi64::<52>(_mm256_sub_epi64(_mm256_set1_epi64x(2046), fields));
            let normal = _mm256_and_si256(scale, _mm256_set1_epi64x(0x7ff << 52));
            powers.least = _mm256_min_pd(powers.least, _mm256_castsi256_pd(normal));
            _mm256_castsi256_pd(scale)
        })
    }

    #[inline(always)]
    fn scaled(self, exponents: Self) -> Self {
        self.mul(exponents)
    }

    #[inline(always)]
    fn sum(powers: Fields) -> Self {
        let Fields { sum, count, least } = powers;
        four!({
            let number = _mm256_castsi256_pd(_mm256_or_si256(sum, _mm256_set1_epi64x(TWO_TO_52)));
            let bias = 2f64.powi(52) + (1023 * count) as f64;
            let sum = _mm256_sub_pd(number, _mm256_set1_pd(bias));
            let is_zero = _mm256_cmp_pd::<_CMP_EQ_OQ>(least, _mm256_setzero_pd());
            _mm256_or_pd(sum, is_zero)
        })
    }

    #[inline(always)]
    fn are_finite(self) -> bool {
        // SAFETY: the instructions were found where there is a vector.
        unsafe {
            // Zero times what is not finite is no number.
            let zeros = _mm256_mul_pd(self.0, _mm256_setzero_pd());
            _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_UNORD_Q>(zeros, zeros)) == 0
        }
    }

    #[inline(always)]
    fn apart(low: Self, high: Self) -> [Self; 2] {
        // Halves of both beside each other, whose lanes then are those of the result.
        let first = four!(_mm256_permute2f128_pd::<0x20>(low.0, high.0));
        let second = four!(_mm256_permute2f128_pd::<0x31>(low.0, high.0));
        [four!(_mm256_unpacklo_pd(first.0, second.0)), four!(_mm256_unpackhi_pd(first.0, second.0))]
    }

    #[inline(always)]
    fn transpose(rows: &mut [Self; MOST]) {
        // SAFETY: the instructions were found where there is a vector.
        unsafe {
            let [a, b, c, d] = rows.map(|row| row.0);
            let (even, odd) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
            let (next_even, next_odd) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
            rows[0] = Four(_mm256_permute2f128_pd::<0x20>(even, next_even));
            rows[1] = Four(_mm256_permute2f128_pd::<0x20>(odd, next_odd));
            rows[2] = Four(_mm256_permute2f128_pd::<0x31>(even, next_even));
            rows[3] = Four(_mm256_permute2f128_pd::<0x31>(odd, next_odd));
        }
    }
}
