//! The span of a block of 64-bit integers in registers of AVX2.
//!
//! The portable kernel says the same, but of these the compiler compares one at a time: AVX2 has no minimum of 64 bits, only a comparison of signed ones.

use std::arch::x86_64::*;

use super::Span;
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
