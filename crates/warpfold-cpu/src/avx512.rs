//! Registers of AVX-512 whose lanes are elements. Sizes and signs of types are known where these functions are compiled, so that
//! each is an instruction or two.

use std::arch::x86_64::*;

use warpfold_num::element::Ordered;

/// Bytes of a register.
pub(super) const WIDTH: usize = size_of::<__m512i>();

/// The same bits in every lane.
#[inline(always)]
pub(super) fn splat<W: bytemuck::Pod>(word: W) -> __m512i {
    let mut lanes: __m512i = bytemuck::Zeroable::zeroed();
    bytemuck::cast_slice_mut(std::slice::from_mut(&mut lanes)).fill(word);
    lanes
}

/// The keys of elements: themselves, or of negative floats all bits but the sign turned over.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn keys<R: Ordered>(x: __m512i) -> __m512i {
    // The table of a ^ (b & c).
    const FLIP: i32 = 0b0111_1000;
    let signs = match (R::INFINITE, size_of::<R>()) {
        (None, _) => return x,
        (_, 2) => _mm512_srai_epi16::<15>(x),
        (_, 4) => _mm512_srai_epi32::<31>(x),
        _ => _mm512_srai_epi64::<63>(x),
    };
    _mm512_ternarylogic_epi64::<FLIP>(x, signs, splat(R::KEY_MAX))
}

/// The magnitudes of elements.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn absolute<R: Ordered>(x: __m512i) -> __m512i {
    match (R::INFINITE, R::KEY_MIN < R::Key::default(), size_of::<R>()) {
        (Some(_), ..) => _mm512_and_si512(x, splat(R::MAGNITUDE_MAX)),
        (_, false, _) => x,
        (.., 1) => _mm512_abs_epi8(x),
        (.., 2) => _mm512_abs_epi16(x),
        (.., 4) => _mm512_abs_epi32(x),
        _ => _mm512_abs_epi64(x),
    }
}

macro_rules! extremes {
    ($($name:ident: $i8:ident $u8:ident $i16:ident $u16:ident $i32:ident $u32:ident $i64:ident $u64:ident;)+) => {$(
        /// Of each lane of integers of a type whose least value is given: whether it is signed.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        pub(super) fn $name<K: Ord + Default>(least: K, a: __m512i, b: __m512i) -> __m512i {
            match (size_of::<K>(), least < K::default()) {
                (1, true) => $i8(a, b),
                (1, false) => $u8(a, b),
                (2, true) => $i16(a, b),
                (2, false) => $u16(a, b),
                (4, true) => $i32(a, b),
                (4, false) => $u32(a, b),
                (_, true) => $i64(a, b),
                (_, false) => $u64(a, b),
            }
        }
    )+};
}
extremes! {
    min: _mm512_min_epi8 _mm512_min_epu8 _mm512_min_epi16 _mm512_min_epu16
        _mm512_min_epi32 _mm512_min_epu32 _mm512_min_epi64 _mm512_min_epu64;
    max: _mm512_max_epi8 _mm512_max_epu8 _mm512_max_epi16 _mm512_max_epu16
        _mm512_max_epi32 _mm512_max_epu32 _mm512_max_epi64 _mm512_max_epu64;
}
