//! exp, log, sin and their like: one algorithm a function, of fused multiply-adds, additions, products, quotients, selections and integer
//! operations alone, so that every machine that rounds those correctly has the same bits.
//!
//! Those of `f64` are within one ulp. Those of `f32` are computed in `f64` and **correctly rounded**: each was compared over all 2^32 inputs
//! with arithmetic of several hundred bits (`examples/all_f32.rs`), and the few inputs whose results lie too near the middle of two
//! numbers for an `f64` to tell are listed with their results.
//!
//! There are no tables but 160 bytes of the digits of 2/π, for sines of large numbers, and no branches but for those: a loop over any of
//! these functions is vectorised.

mod circle;
pub mod double;
mod exponential;
mod logarithm;
mod power;
pub mod single;

pub use power::{LARGEST, SMALLEST};

/// 1.5 · 2^52: added to a number below 2^51, it leaves the nearest integer in the last bits of the sum.
const MAGIC: f64 = 6_755_399_441_055_744.0;

/// The high and the low part of log 2, the first with 33 bits.
const LN2_SHORT: (f64, f64) =
    (f64::from_bits(0x3fe6_2e42_fef0_0000), f64::from_bits(0x3dd4_73de_6af2_78ed));

/// log 2 and what an `f64` lacks of it.
const LN2: (f64, f64) =
    (f64::from_bits(0x3fe6_2e42_fefa_39ef), f64::from_bits(0x3c7a_bc9e_3b39_803f));

/// 1 / log 2 and what an `f64` lacks of it.
const LOG2_E: (f64, f64) =
    (f64::from_bits(0x3ff7_1547_652b_82fe), f64::from_bits(0x3c77_77d0_ffda_0d24));

/// A polynomial, the lowest coefficient first, by Horner's rule.
#[inline(always)]
fn polynomial<const N: usize>(x: f64, coefficients: &[f64; N]) -> f64 {
    let mut value = coefficients[N - 1];
    for k in (0..N - 1).rev() {
        value = value.mul_add(x, coefficients[k]);
    }
    value
}

/// The sum of a larger and a smaller number, and what it lacks (Dekker 1971).
#[inline(always)]
fn ordered_sum(large: f64, small: f64) -> (f64, f64) {
    let sum = large + small;
    (sum, small - (sum - large))
}

/// The sum of two numbers, and what it lacks (Knuth).
#[inline(always)]
fn sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

/// `x`, but no less and no more than two bounds; NaN stays.
#[inline(always)]
fn within(x: f64, least: f64, most: f64) -> f64 {
    let x = if x < least { least } else { x };
    if x > most { most } else { x }
}

/// 2 to an integer that lies in the last bits of a sum with [`MAGIC`], from -1022 to 1023.
#[inline(always)]
fn two_to(rounded: f64, more: i64) -> f64 {
    f64::from_bits((rounded.to_bits() << 52).wrapping_add(((1023 + more) as u64) << 52))
}

/// `x` times 2 to such an integer, from -2040 to 2040, rounded once if at all.
#[inline(always)]
fn scaled(x: f64, rounded: f64) -> f64 {
    // Two factors, as one number does not hold them all: the first product is exact.
    let exponent = rounded.to_bits().wrapping_sub(MAGIC.to_bits()).wrapping_add(2046);
    let first = exponent >> 1;
    x * f64::from_bits(first << 52) * f64::from_bits((exponent - first) << 52)
}
