//! The span of a block of 64-bit integers, or of floats, in registers of AVX2.
//!
//! The portable kernel says the same, but of 64-bit integers the compiler compares one at a time: AVX2 has no minimum of them, only a comparison of signed ones.
//! Of floats it makes each a key; here their bits are compared as they are.

use std::arch::x86_64::*;

use super::{Bits, Span, key_of_bits};
use crate::memory::{prefetch, streamed};
use warpfold_num::element::Ordered;

/// Registers at once: their comparisons hide each other's latency.
const REGISTERS: usize = 4;

/// The least and greatest of all groups of 128 bytes, and the elements left over.
#[target_feature(enable = "avx2")]
pub(super) fn span<R: Ordered>(x: &[R]) -> (Span<R::Key>, &[R]) {
    assert!(size_of::<R::Key>() == size_of::<i64>(), "keys of 64 bits");
    // With their upper bits turned over, unsigned numbers are in the order of signed ones.
    let bias = if R::KEY_MIN == R::Key::default() { i64::MIN } else { 0 };
    let flip = _mm256_set1_epi64x(bias);
    let groups = bytemuck::cast_slice::<R, i64>(x).as_chunks::<{ 4 * REGISTERS }>().0;
    let mut low = [_mm256_set1_epi64x(i64::MAX); REGISTERS];
    let mut high = [_mm256_set1_epi64x(i64::MIN); REGISTERS];
    for at in streamed(groups.len()) {
        let group = &groups[at];
        prefetch(group);
        let group: [__m256i; REGISTERS] = bytemuck::cast(*group);
        for r in 0..REGISTERS {
            let keys = _mm256_xor_si256(group[r], flip);
            let (below, above) =
                (_mm256_cmpgt_epi64(low[r], keys), _mm256_cmpgt_epi64(keys, high[r]));
            low[r] = _mm256_blendv_epi8(low[r], keys, below);
            high[r] = _mm256_blendv_epi8(high[r], keys, above);
        }
    }
    let lanes = bytemuck::cast_slice::<__m256i, i64>;
    let key = |biased: i64| -> R::Key { bytemuck::cast(biased ^ bias) };
    let span = Span {
        low: key(lanes(&low).iter().copied().fold(i64::MAX, Ord::min)),
        high: key(lanes(&high).iter().copied().fold(i64::MIN, Ord::max)),
    };
    (span, &x[size_of_val(groups) / size_of::<R>()..])
}

/// The span of all groups of floats of 16 and 32 bits by the greatest of their bits, as signed and as unsigned numbers, and the least; and the elements left over.
#[target_feature(enable = "avx2")]
pub(super) fn span_of_bits<R: Ordered>(x: &[R]) -> (Span<R::Key>, &[R]) {
    assert!(size_of::<R>() < 8, "bits that have a minimum");
    let groups = bytemuck::cast_slice::<R, u8>(x).as_chunks::<{ 32 * REGISTERS }>().0;
    let mut signed = [_mm256_set1_epi32(i32::MIN); REGISTERS];
    if size_of::<R>() == 2 {
        signed = [_mm256_set1_epi16(i16::MIN); REGISTERS];
    }
    let mut unsigned = [_mm256_setzero_si256(); REGISTERS];
    let mut least = [_mm256_set1_epi32(-1); REGISTERS];
    for at in streamed(groups.len()) {
        let group = &groups[at];
        prefetch(group);
        let group: [__m256i; REGISTERS] = bytemuck::cast(*group);
        for r in 0..REGISTERS {
            if size_of::<R>() == 2 {
                signed[r] = _mm256_max_epi16(signed[r], group[r]);
                unsigned[r] = _mm256_max_epu16(unsigned[r], group[r]);
                least[r] = _mm256_min_epu16(least[r], group[r]);
            } else {
                signed[r] = _mm256_max_epi32(signed[r], group[r]);
                unsigned[r] = _mm256_max_epu32(unsigned[r], group[r]);
                least[r] = _mm256_min_epu32(least[r], group[r]);
            }
        }
    }
    let bits = Bits::of::<R>(
        bytemuck::cast_slice(&signed),
        bytemuck::cast_slice(&unsigned),
        bytemuck::cast_slice(&least),
    );
    let span = match groups.is_empty() {
        true => Span { low: R::KEY_MAX, high: R::KEY_MIN },
        false => bits.span::<R>(),
    };
    (span, &x[size_of_val(groups) / size_of::<R>()..])
}

/// The span of all groups of f64 by their values; `None` where one is infinite or no number, or where the greatest may be a zero of either sign. And the elements
/// left over.
#[target_feature(enable = "avx2,fma")]
pub(super) fn span_of_f64<R: Ordered>(x: &[R]) -> (Option<Span<R::Key>>, &[R]) {
    let groups = bytemuck::cast_slice::<R, f64>(x).as_chunks::<{ 4 * REGISTERS }>().0;
    let (zero, mut signs) = (_mm256_setzero_pd(), _mm256_setzero_pd());
    let mut low = [_mm256_set1_pd(f64::INFINITY); REGISTERS];
    let mut high = [_mm256_set1_pd(f64::NEG_INFINITY); REGISTERS];
    // Zero times what is not finite is no number, and nothing is one with it.
    let mut finite = [zero; REGISTERS];
    for at in streamed(groups.len()) {
        let group = &groups[at];
        prefetch(group);
        let group: [__m256d; REGISTERS] = bytemuck::cast(*group);
        for r in 0..REGISTERS {
            low[r] = _mm256_min_pd(group[r], low[r]);
            high[r] = _mm256_max_pd(group[r], high[r]);
            finite[r] = _mm256_fmadd_pd(group[r], zero, finite[r]);
            signs = _mm256_or_pd(signs, group[r]);
        }
    }
    let rest = &x[size_of_val(groups) / size_of::<R>()..];
    let lanes = bytemuck::cast_slice::<__m256d, f64>;
    let low = lanes(&low).iter().copied().fold(f64::INFINITY, f64::min);
    let high = lanes(&high).iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if groups.is_empty() {
        return (Some(Span { low: R::KEY_MAX, high: R::KEY_MIN }), rest);
    }
    if high == 0.0 || !lanes(&finite).iter().all(|&lane| lane == 0.0) {
        return (None, rest);
    }
    // Where none is negative but zero, a sign is of such a zero.
    let low = match low == 0.0 {
        true if _mm256_movemask_pd(signs) != 0 => -0.0,
        true => 0.0,
        false => low,
    };
    let key = |x: f64| key_of_bits::<R>(x.to_bits());
    (Some(Span { low: key(low), high: key(high) }), rest)
}
