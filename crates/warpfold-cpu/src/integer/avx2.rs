//! Moments of a block of integers, and all that stats tells of it, in one reading by registers of AVX2.
//!
//! The portable kernels say the same of moments. Of their lanes the compiler made more accumulators than there are registers, and multiplied bytes and 16-bit
//! numbers in 32 bits; and stats read a block once more for magnitudes and once more for extremes.

use std::arch::x86_64::*;

use super::word::{Group, join_halves, moments_of_halves};
use super::{Told, Word};
use crate::memory::{prefetch, streamed};

/// Bytes of a register.
const WIDTH: usize = size_of::<__m256i>();

/// Integers whose blocks are read by registers of AVX2.
pub(crate) trait Registers: Sized {
    /// The moments of a block, and where `STATS` asks for it all else.
    ///
    /// # Safety
    /// The machine has AVX2.
    unsafe fn tell<const STATS: bool>(x: &[Group<Self>]) -> Told<Self>;
}

/// What is read at once: two lines, so that more are asked for evenly.
type Lines = [[u8; WIDTH]; 4];

/// The lines of a block: none is left over, as a group has two at least.
#[inline(always)]
fn lines<W: bytemuck::Pod>(x: &[Group<W>]) -> &[Lines] {
    bytemuck::cast_slice::<W, u8>(x.as_flattened()).as_chunks::<WIDTH>().0.as_chunks().0
}

/// The lanes of a register.
#[inline(always)]
fn lanes<W: bytemuck::Pod>(register: &__m256i) -> &[W] {
    bytemuck::cast_slice(std::slice::from_ref(register))
}

/// The sum of lanes of 64 bits that stay below 2^63.
#[inline(always)]
fn total(register: __m256i) -> i128 {
    i128::from(lanes::<i64>(&register).iter().sum::<i64>())
}

/// The sum of signed lanes of 32 bits.
#[inline(always)]
fn total_of_words(register: __m256i) -> i128 {
    lanes::<i32>(&register).iter().map(|&lane| i128::from(lane)).sum()
}

/// The sum of 32-bit numbers of which `all` adds two as one of 64 bits, without its carry, and `odd` the upper.
#[inline(always)]
fn joined(all: __m256i, odd: __m256i) -> i128 {
    let pairs = lanes::<i64>(&all).iter().zip(lanes::<i64>(&odd));
    let even: i64 = pairs.map(|(all, odd)| all.wrapping_sub(odd << 32)).sum();
    i128::from(even) + total(odd)
}

/// The ends of a block by the lanes that held them.
#[inline(always)]
fn ends<W: Ord + bytemuck::Pod>([least, greatest]: [__m256i; 2]) -> (W, W) {
    let (least, greatest) = (lanes::<W>(&least).iter().min(), lanes::<W>(&greatest).iter().max());
    (*least.expect("a register has lanes"), *greatest.expect("a register has lanes"))
}

macro_rules! tell {
    ($ty:ty, |$x:ident, $stats:ident| $body:expr) => {
        impl Registers for $ty {
            // Apart, so that code for AVX-512 calls the same.
            #[inline(never)]
            #[target_feature(enable = "avx2")]
            unsafe fn tell<const $stats: bool>($x: &[Group<Self>]) -> Told<Self> {
                $body
            }
        }
    };
}
tell!(i8, |x, STATS| bytes::<Self, STATS>(x));
tell!(u8, |x, STATS| bytes::<Self, STATS>(x));
tell!(i16, |x, STATS| of_16_bits::<Self, STATS>(x));
tell!(u16, |x, STATS| of_16_bits::<Self, STATS>(x));
tell!(i32, |x, STATS| of_32_bits::<Self, STATS>(x));
tell!(u32, |x, STATS| of_32_bits::<Self, STATS>(x));
tell!(i64, |x, STATS| of_64_bits::<Self, STATS>(x));
tell!(u64, |x, STATS| of_64_bits::<Self, STATS>(x));

/// Bytes: magnitudes by sums of absolute differences, and squares of those at even and at odd places by products of 16 bits, two of which add up in 32.
#[inline]
#[target_feature(enable = "avx2")]
fn bytes<W: Word + Ord + bytemuck::Pod, const STATS: bool>(x: &[Group<W>]) -> Told<W> {
    let (zero, low) = (_mm256_setzero_si256(), _mm256_set1_epi16(0xff));
    // Signed numbers are summed as unsigned ones that lie 128 higher.
    let (bias, offset) = if W::SIGNED { (_mm256_set1_epi8(-128), 128) } else { (zero, 0) };
    let (mut sums, mut norms, mut squares) = (zero, zero, [zero; 2]);
    let mut extremes = match W::SIGNED {
        true => [_mm256_set1_epi8(i8::MAX), _mm256_set1_epi8(i8::MIN)],
        false => [_mm256_set1_epi8(-1), zero],
    };
    let lines = lines(x);
    for at in streamed(lines.len()) {
        prefetch(&lines[at]);
        for register in &lines[at] {
            let values: __m256i = bytemuck::cast(*register);
            let absolute = if W::SIGNED { _mm256_abs_epi8(values) } else { values };
            let sum = _mm256_sad_epu8(_mm256_xor_si256(values, bias), zero);
            sums = _mm256_add_epi64(sums, sum);
            let (even, odd) = (_mm256_and_si256(absolute, low), _mm256_srli_epi16::<8>(absolute));
            squares[0] = _mm256_add_epi32(squares[0], _mm256_madd_epi16(even, even));
            squares[1] = _mm256_add_epi32(squares[1], _mm256_madd_epi16(odd, odd));
            if STATS && W::SIGNED {
                norms = _mm256_add_epi64(norms, _mm256_sad_epu8(absolute, zero));
                extremes[0] = _mm256_min_epi8(extremes[0], values);
                extremes[1] = _mm256_max_epi8(extremes[1], values);
            } else if STATS {
                extremes[0] = _mm256_min_epu8(extremes[0], values);
                extremes[1] = _mm256_max_epu8(extremes[1], values);
            }
        }
    }
    let sum = total(sums) - offset * elements(x);
    let norm = if W::SIGNED { total(norms) } else { sum };
    let squares = total_of_words(squares[0]) + total_of_words(squares[1]);
    let (least, greatest) = ends(extremes);
    Told { moments: [sum.into(), squares.into()], norm: norm.into(), least, greatest }
}
const _: () = assert!(super::BLOCK_BYTES * 255 * 255 / 16 < 1 << 31, "squares add up in 32 bits");

/// 16-bit numbers, unsigned ones as signed ones that lie 2^15 lower: `Σx = Σy + n·B`, `Σx² = Σy² + 2B·Σy + n·B²`.
#[inline]
#[target_feature(enable = "avx2")]
fn of_16_bits<W: Word + Ord + bytemuck::Pod, const STATS: bool>(x: &[Group<W>]) -> Told<W> {
    const BIAS: i128 = 1 << 15;
    let (zero, ones) = (_mm256_setzero_si256(), _mm256_set1_epi16(1));
    let (flip, bias) = if W::SIGNED { (zero, 0) } else { (_mm256_set1_epi16(i16::MIN), BIAS) };
    let (mut sums, mut norms, mut squares, mut odd) = (zero, zero, zero, zero);
    let mut extremes = match W::SIGNED {
        true => [_mm256_set1_epi16(i16::MAX), _mm256_set1_epi16(i16::MIN)],
        false => [_mm256_set1_epi16(-1), zero],
    };
    let lines = lines(x);
    for at in streamed(lines.len()) {
        prefetch(&lines[at]);
        for register in &lines[at] {
            let values: __m256i = bytemuck::cast(*register);
            let signed = _mm256_xor_si256(values, flip);
            sums = _mm256_add_epi32(sums, _mm256_madd_epi16(signed, ones));
            // Two squares are 2^31 at most, and no sign.
            let pairs = _mm256_madd_epi16(signed, signed);
            squares = _mm256_add_epi64(squares, pairs);
            odd = _mm256_add_epi64(odd, _mm256_srli_epi64::<32>(pairs));
            if STATS && W::SIGNED {
                let absolute = _mm256_madd_epi16(signed, _mm256_sign_epi16(ones, signed));
                norms = _mm256_add_epi32(norms, absolute);
                extremes[0] = _mm256_min_epi16(extremes[0], values);
                extremes[1] = _mm256_max_epi16(extremes[1], values);
            } else if STATS {
                extremes[0] = _mm256_min_epu16(extremes[0], values);
                extremes[1] = _mm256_max_epu16(extremes[1], values);
            }
        }
    }
    let (of_signed, n) = (total_of_words(sums), elements(x));
    let sum = of_signed + bias * n;
    let squares = joined(squares, odd) + 2 * bias * of_signed + bias * bias * n;
    let norm = if W::SIGNED { total_of_words(norms) } else { sum };
    let (least, greatest) = ends(extremes);
    Told { moments: [sum.into(), squares.into()], norm: norm.into(), least, greatest }
}
const _: () = assert!(super::BLOCK_BYTES / WIDTH <= 1 << 14, "pairs add up in 32 bits");

/// 32-bit numbers, squared as signed and summed as unsigned ones: `Σx = Σy + n·B`, `Σx² = Σy² + 2B·Σy + n·B²` of unsigned `x = y + B`.
#[inline]
#[target_feature(enable = "avx2")]
fn of_32_bits<W: Word + Ord + bytemuck::Pod, const STATS: bool>(x: &[Group<W>]) -> Told<W> {
    const BIAS: i128 = 1 << 31;
    let (zero, flip) = (_mm256_setzero_si256(), _mm256_set1_epi32(i32::MIN));
    let (mut sums, mut sums_odd, mut norms, mut norms_odd) = (zero, zero, zero, zero);
    let (mut remainders, mut uppers) = (zero, zero);
    let mut extremes = match W::SIGNED {
        true => [_mm256_set1_epi32(i32::MAX), _mm256_set1_epi32(i32::MIN)],
        false => [_mm256_set1_epi32(-1), zero],
    };
    let lines = lines(x);
    for at in streamed(lines.len()) {
        prefetch(&lines[at]);
        for register in &lines[at] {
            let values: __m256i = bytemuck::cast(*register);
            let other = _mm256_xor_si256(values, flip);
            let (signed, unsigned) = if W::SIGNED { (values, other) } else { (other, values) };
            sums = _mm256_add_epi64(sums, unsigned);
            sums_odd = _mm256_add_epi64(sums_odd, _mm256_srli_epi64::<32>(unsigned));
            let upper = _mm256_srli_epi64::<32>(signed);
            // Two squares are 2^63 at most.
            let even = _mm256_mul_epi32(signed, signed);
            let both = _mm256_add_epi64(even, _mm256_mul_epi32(upper, upper));
            remainders = _mm256_add_epi64(remainders, both);
            uppers = _mm256_add_epi64(uppers, _mm256_srli_epi64::<32>(both));
            if STATS && W::SIGNED {
                let absolute = _mm256_abs_epi32(values);
                norms = _mm256_add_epi64(norms, absolute);
                norms_odd = _mm256_add_epi64(norms_odd, _mm256_srli_epi64::<32>(absolute));
                extremes[0] = _mm256_min_epi32(extremes[0], values);
                extremes[1] = _mm256_max_epi32(extremes[1], values);
            } else if STATS {
                extremes[0] = _mm256_min_epu32(extremes[0], values);
                extremes[1] = _mm256_max_epu32(extremes[1], values);
            }
        }
    }
    let (of_unsigned, n) = (joined(sums, sums_odd), elements(x));
    let of_signed = of_unsigned - BIAS * n;
    let (sum, bias) = if W::SIGNED { (of_signed, 0) } else { (of_unsigned, BIAS) };
    let squares = of_halves(remainders, uppers) + 2 * bias * of_signed + bias * bias * n;
    let norm = if W::SIGNED { joined(norms, norms_odd) } else { sum };
    let (least, greatest) = ends(extremes);
    Told { moments: [sum.into(), squares.into()], norm: norm.into(), least, greatest }
}

/// 64-bit numbers, by products of halves of unsigned `u = x + B` as the portable kernel adds them.
#[inline]
#[target_feature(enable = "avx2")]
fn of_64_bits<W: Word + Ord + bytemuck::Pod, const STATS: bool>(x: &[Group<W>]) -> Told<W> {
    let (zero, bias) = (_mm256_setzero_si256(), if W::SIGNED { i64::MIN } else { 0 });
    let (flip, sign) = (_mm256_set1_epi64x(bias), _mm256_set1_epi64x(i64::MIN));
    let (mut remainders, mut uppers) = ([zero; 4], [zero; 4]);
    let mut norms = [zero; 2];
    let mut extremes = [_mm256_set1_epi64x(i64::MAX), _mm256_set1_epi64x(i64::MIN)];
    let lines = lines(x);
    for at in streamed(lines.len()) {
        prefetch(&lines[at]);
        for register in &lines[at] {
            let values: __m256i = bytemuck::cast(*register);
            let a = _mm256_xor_si256(values, flip);
            let b = _mm256_srli_epi64::<32>(a);
            remainders[0] = _mm256_add_epi64(remainders[0], a);
            uppers[0] = _mm256_add_epi64(uppers[0], b);
            for (k, product) in
                [_mm256_mul_epu32(a, a), _mm256_mul_epu32(a, b), _mm256_mul_epu32(b, b)]
                    .into_iter()
                    .enumerate()
            {
                remainders[k + 1] = _mm256_add_epi64(remainders[k + 1], product);
                uppers[k + 1] = _mm256_add_epi64(uppers[k + 1], _mm256_srli_epi64::<32>(product));
            }
            if STATS {
                let signed = if W::SIGNED { values } else { _mm256_xor_si256(values, sign) };
                let below = _mm256_cmpgt_epi64(extremes[0], signed);
                let above = _mm256_cmpgt_epi64(signed, extremes[1]);
                extremes[0] = _mm256_blendv_epi8(extremes[0], signed, below);
                extremes[1] = _mm256_blendv_epi8(extremes[1], signed, above);
                if W::SIGNED {
                    let negative = _mm256_cmpgt_epi64(zero, values);
                    let absolute = _mm256_sub_epi64(_mm256_xor_si256(values, negative), negative);
                    norms[0] = _mm256_add_epi64(norms[0], absolute);
                    let upper = _mm256_srli_epi64::<32>(absolute);
                    norms[1] = _mm256_add_epi64(norms[1], upper);
                }
            }
        }
    }
    let n = elements(x);
    let (mut halves, mut k) = ([0; 4], 0);
    while k < halves.len() {
        halves[k] = of_halves(remainders[k], uppers[k]);
        k += 1;
    }
    let (sum, squares) = moments_of_halves(halves, n, W::SIGNED);
    let norm = if W::SIGNED { of_halves(norms[0], norms[1]) } else { sum };
    if !W::SIGNED {
        extremes[0] = _mm256_xor_si256(extremes[0], sign);
        extremes[1] = _mm256_xor_si256(extremes[1], sign);
    }
    let (least, greatest) = ends(extremes);
    Told { moments: [sum.into(), squares], norm: norm.into(), least, greatest }
}

/// The sum of unsigned 64-bit numbers by their remainders and upper halves.
#[inline(always)]
fn of_halves(remainders: __m256i, uppers: __m256i) -> i128 {
    join_halves::<4>(bytemuck::cast(remainders), bytemuck::cast(uppers))
}

/// How many elements a block has.
#[inline(always)]
fn elements<W>(x: &[Group<W>]) -> i128 {
    x.as_flattened().len() as i128
}
