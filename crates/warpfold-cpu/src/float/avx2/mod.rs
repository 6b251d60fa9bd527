//! The kernels inside the window in registers of AVX2. The portable ones say the same, but of their lanes the compiler makes more accumulators than there are
//! registers: each addition reads and writes memory. Here a step's groups share the accumulators of few lanes, and the steps take these in turn.

mod dot;
mod narrow;
mod sum;
mod wide;

use std::arch::x86_64::*;

pub(super) use dot::{DOT_LANES, products};
pub(super) use narrow::{squares, squares_by_fours};
pub(super) use sum::{SUM_LANES, sums};
pub(super) use wide::near_squares;

use super::Lane;
use super::window::Window;

/// Bytes of a register.
const WIDTH: usize = size_of::<__m256i>();
/// Lanes of a register.
const EACH: usize = 4;

/// A window as registers; of 64-bit floats the upper halves, as it begins and ends with whole exponents.
#[derive(Clone, Copy)]
struct Limits {
    low: __m256i,
    /// The last that is above the least.
    last: __m256i,
    magnitude: __m256i,
}

impl Limits {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn of<F: Lane>(window: &Window<F>) -> Self {
        let (low, span) = window.words();
        let (low, span, magnitude): (u64, u64, u64) = (low.into(), span.into(), F::ABS_MASK.into());
        if size_of::<F>() == 2 {
            let all = |word: u64| _mm256_set1_epi16(word as i16);
            return Limits { low: all(low), last: all(span - 1), magnitude: all(magnitude) };
        }
        let upper = 8 * size_of::<F>() - 32;
        let all = |word: u64| _mm256_set1_epi32((word >> upper) as i32);
        Limits { low: all(low), last: all(span - (1 << upper)), magnitude: all(magnitude) }
    }

    /// How far above the window's beginning the magnitudes of a register lie, or of one before: what lies below is far above.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn above<F: Lane>(&self, before: __m256i, x: __m256i) -> __m256i {
        let magnitudes = _mm256_and_si256(x, self.magnitude);
        match size_of::<F>() {
            2 => _mm256_max_epu16(before, _mm256_sub_epi16(magnitudes, self.low)),
            _ => _mm256_max_epu32(before, _mm256_sub_epi32(magnitudes, self.low)),
        }
    }

    /// Whether all of these are inside.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn hold<F: Lane>(&self, above: __m256i) -> bool {
        let inside = match size_of::<F>() {
            2 => _mm256_cmpeq_epi16(_mm256_max_epu16(above, self.last), self.last),
            _ => _mm256_cmpeq_epi32(_mm256_max_epu32(above, self.last), self.last),
        };
        _mm256_movemask_epi8(inside) == -1
    }
}

/// The registers of lanes from `first` on.
#[inline(always)]
fn load<const N: usize>(lanes: &[f64], first: usize) -> [__m256d; N] {
    let mut registers = [bytemuck::Zeroable::zeroed(); N];
    for (register, lanes) in registers.iter_mut().zip(lanes[first..].as_chunks::<EACH>().0) {
        *register = bytemuck::cast(*lanes);
    }
    registers
}

/// Takes them back.
#[inline(always)]
fn store<const N: usize>(lanes: &mut [f64], first: usize, registers: [__m256d; N]) {
    for (register, lanes) in registers.iter().zip(lanes[first..].as_chunks_mut::<EACH>().0) {
        *lanes = bytemuck::cast(*register);
    }
}

/// The magnitudes of a register.
#[inline]
#[target_feature(enable = "avx2")]
fn absolute(x: __m256d) -> __m256d {
    _mm256_andnot_pd(_mm256_set1_pd(-0.0), x)
}

/// Whether all values of a group lie inside.
#[inline]
#[target_feature(enable = "avx2")]
fn is_inside<F: Lane>(limits: &Limits, registers: &[[u8; WIDTH]]) -> bool {
    let mut above = _mm256_setzero_si256();
    if size_of::<F>() == 8 {
        for [a, b] in registers.as_chunks::<2>().0 {
            above = limits.above::<F>(above, uppers(bytemuck::cast(*a), bytemuck::cast(*b)));
        }
    } else {
        for register in registers {
            above = limits.above::<F>(above, bytemuck::cast(*register));
        }
    }
    limits.hold::<F>(above)
}

/// The upper halves of eight f64, in any order.
#[inline]
#[target_feature(enable = "avx2")]
fn uppers(a: __m256d, b: __m256d) -> __m256i {
    const ODD: i32 = 0b11_01_11_01;
    let (a, b) = (_mm256_castpd_ps(a), _mm256_castpd_ps(b));
    _mm256_castps_si256(_mm256_shuffle_ps::<ODD>(a, b))
}
