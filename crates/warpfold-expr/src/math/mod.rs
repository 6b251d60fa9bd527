//! exp, log, sin and their like: one algorithm a function, of fused multiply-adds, additions, products, quotients, selections and integer
//! operations alone, so that every machine that rounds those correctly has the same bits.
//!
//! Those of `f64` are within one ulp. Those of `f32` are computed in `f64` and **correctly rounded**: each was compared over all 2^32 inputs
//! with arithmetic of several hundred bits (`examples/all_f32.rs`), and the few inputs whose results lie too near the middle of two
//! numbers for an `f64` to tell are listed with their results.
//!
//! They are written for a trait, `Number`: for an `f64`, and for a register of a kernel.
//!
//! There are no tables but 160 bytes of the digits of 2/π, for sines of large numbers, and no branches but for those: a loop over any of
//! these functions is vectorised.

mod circle;
pub mod double;
mod exponential;
mod logarithm;
pub(crate) mod number;
mod power;
pub mod single;
pub(crate) mod soon;
pub(crate) mod wide;

use number::{Bits, Number};

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
fn polynomial<N: Number, const C: usize>(x: N, coefficients: &[f64; C]) -> N {
    let mut value = N::of(coefficients[C - 1]);
    for k in (0..C - 1).rev() {
        value = value.mul_add(x, N::of(coefficients[k]));
    }
    value
}

/// The sum of a larger and a smaller number, and what it lacks (Dekker 1971).
#[inline(always)]
fn ordered_sum<N: Number>(large: N, small: N) -> (N, N) {
    let sum = large + small;
    (sum, small - (sum - large))
}

/// The sum of two numbers, and what it lacks (Knuth).
#[inline(always)]
fn sum<N: Number>(a: N, b: N) -> (N, N) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

/// `x`, but no less and no more than two bounds; NaN stays.
#[inline(always)]
fn within<N: Number>(x: N, least: f64, most: f64) -> N {
    let (least, most) = (N::of(least), N::of(most));
    let x = N::select(x.is_less(least), least, x);
    N::select(most.is_less(x), most, x)
}

/// A number, but `x` where that is no more than a zero or has no room for what is computed of it.
#[inline(always)]
fn unless_tiny<N: Number>(x: N, value: N) -> N {
    N::select(x.abs().is_less(N::of(1e-300)), x, value)
}

/// The bits of a number's exponent.
#[inline(always)]
fn exponent<B: Bits>(biased: B) -> B {
    biased.up(B::of(52))
}

/// 2 to an integer that lies in the last bits of a sum with [`MAGIC`], from -1022 to 1023.
#[inline(always)]
fn two_to<N: Number>(rounded: N, more: i64) -> N {
    (exponent(rounded.to_bits()) + N::Bits::of(((1023 + more) as u64) << 52)).number()
}

/// `x` times 2 to such an integer, from -2040 to 2040, rounded once if at all.
#[inline(always)]
fn scaled<N: Number>(x: N, rounded: N) -> N {
    // Two factors, as one number does not hold them all: the first product is exact.
    let biased = rounded.to_bits() - N::Bits::of(MAGIC.to_bits()) + N::Bits::of(2046);
    let first = biased.down(N::Bits::of(1));
    x * exponent(first).number() * exponent(biased - first).number()
}
