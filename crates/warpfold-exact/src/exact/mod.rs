//! Exact accumulators: sums, moments and dot products that no rounding touches before they are read.
//!
//! # How
//! Every float is an integer times a power of two, and every finite value of a format is a multiple of the
//! format's smallest subnormal. So a sum of floats is a sum of integers in units of that lowest bit: an
//! integer of 40 bits for f16, 277 for f32, 2098 for f64, and twice that for products. Such an integer, with 64 more bits
//! so that 2^64 additions cannot overflow it and one for the sign, is a [`Fixed`]: 128, 384 and 2176 bits. Adding
//! integers is exact, associative and commutative, so order, threads, devices and files cannot matter.
//! Infinities and NaNs are kept beside it as a set ([`Special`]), whose union is as indifferent to order.
//!
//! # Reading it
//! A sum is rounded once, to nearest, ties to even. A mean divides the integer by the count before that one rounding; a
//! variance is the rational number `(n·Σx² - (Σx)²) / (n·(n - ddof))`, a deviation its root. A rounding needs no more
//! than the leading 64 bits and whether anything is left below them.
//!
//! # Carries
//! A [`Fixed`] is two's complement and carries at once: an addition touches two or three limbs, and a carry runs on with
//! a probability near 2^-64. The bulk kernels do not add here element by element: they collect in registers and in
//! bins (one integer of 64 or 128 bits an exponent: 2^21 products of f64, 2^39 values of f32 before it must be emptied)
//! and deposit integers.
//!
//! # Sources
//! U. Kulisch, *Computer Arithmetic and Validity* (the long accumulator); R. Neal, *Fast exact summation using small
//! and large superaccumulators* (2015); C. Collange, D. Defour, S. Graillat, R. Iakymchuk, *Numerical reproducibility
//! for the parallel reduction on multi- and many-core architectures* (2015).

mod bins;
mod dot;
mod moments;
mod short;
mod sum;

pub use bins::{Bin, Bins};
pub use dot::Dot;
pub use moments::{Moments, ProductLimbs};
#[doc(hidden)]
pub use short::round_moments;
pub use sum::{Exact, SumLimbs};

pub use crate::limbs::{
    Expansion, Fixed, Limbs, Pair, Register, Small, Special, round_ratio, round_root, tally,
    to_bigint,
};
