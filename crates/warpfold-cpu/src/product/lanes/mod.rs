//! Vectors of f64 for products: arithmetic that rounds as f64 does, exponents apart, and squares of numbers turned in registers.
//!
//! A lane owns a run of 32 consecutive elements, so rows of memory have to become columns of vectors. Through memory that costs more than the
//! multiplications; in registers it is two shuffles a vector of four lanes, one of which loads do for f64. Eight lanes of AVX-512 need three, and were no
//! faster: see docs/lab-notes/products.md.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
pub(crate) mod portable;

use crate::{bf16, f16};

/// The most lanes that a vector has.
pub(crate) const MOST: usize = 4;

/// What is taken from the bits of numbers from `2^-half` to `2^half`, so that they begin with zeros, the sign apart.
const fn first(half: u64) -> i64 {
    ((1023 - half) << 52) as i64
}

/// Where those zeros are.
const fn zeros(half: u64) -> i64 {
    ((1 << 63) - (half << 53)) as i64
}

/// `N` numbers side by side. All of it must be `#[inline(always)]`: it is compiled inside of functions that have the instructions.
///
/// # Safety
/// Values are made only where the instructions of the type were found: kernels are generic in it, and [`Job`](crate::isa::Job)s choose it by
/// their target. So every operation may use these instructions.
pub(crate) trait Vector: Copy {
    /// Lanes.
    const N: usize;
    /// Where the factors of a row lie that two vectors of elements were interleaved for.
    const INTERLEAVED: [usize; MOST];
    /// Sums of exponents in progress, and whether all were those of normal numbers.
    type Powers: Copy;
    /// What was seen of factors that are multiplied as they are.
    type Monitor: Copy;

    /// The same number in all lanes.
    fn splat(x: f64) -> Self;

    /// Loads `N` numbers.
    ///
    /// # Safety
    /// They may be read.
    unsafe fn load(x: *const f64) -> Self;

    /// Stores `N` numbers.
    ///
    /// # Safety
    /// They may be written.
    unsafe fn store(self, to: *mut f64);

    /// Loads `N` numbers of f32.
    ///
    /// # Safety
    /// They may be read.
    unsafe fn widen(x: *const f32) -> Self;

    /// Loads `N` numbers of f16.
    ///
    /// # Safety
    /// They may be read.
    unsafe fn widen_f16(x: *const f16) -> Self;

    /// Loads `N` numbers of bf16.
    ///
    /// # Safety
    /// They may be read.
    unsafe fn widen_bf16(x: *const bf16) -> Self;

    /// Loads `N` numbers of each row, as columns.
    ///
    /// # Safety
    /// They may be read.
    unsafe fn columns(rows: &[*const f64; MOST]) -> [Self; MOST];

    /// Loads `2 N` numbers; the products of neighbours, [interleaved](Self::INTERLEAVED).
    ///
    /// # Safety
    /// They may be read.
    unsafe fn pairs(x: *const f32) -> Self;

    /// Loads `4 N` numbers; the products of four neighbours.
    ///
    /// # Safety
    /// They may be read.
    unsafe fn fours_of_f16(x: *const f16) -> Self;

    /// Loads `4 N` numbers; the products of four neighbours, [interleaved](Self::INTERLEAVED).
    ///
    /// # Safety
    /// They may be read.
    unsafe fn fours_of_bf16(x: *const bf16) -> Self;

    /// The product.
    fn mul(self, other: Self) -> Self;
    /// The sum.
    fn add(self, other: Self) -> Self;
    /// The difference.
    fn sub(self, other: Self) -> Self;
    /// `self · factor + addend`, rounded once.
    fn fma(self, factor: Self, addend: Self) -> Self;
    /// `self · factor − subtrahend`, rounded once.
    fn fms(self, factor: Self, subtrahend: Self) -> Self;
    /// The number with the other sign.
    fn negate(self) -> Self;
    /// The larger magnitude of two numbers; of a NaN and a number either.
    fn larger(self, other: Self) -> Self;

    /// No exponent yet.
    fn powers() -> Self::Powers;

    /// Nothing seen yet.
    fn monitor() -> Self::Monitor;

    /// Looks whether numbers lie from `2^-half` to `2^half`, which is a power of two itself.
    fn observe(self, seen: &mut Self::Monitor, half: u64);

    /// Whether all did.
    fn are_within(seen: Self::Monitor, half: u64) -> bool;

    /// Takes the exponents of numbers: leaves them between 1 and 2, with their signs.
    fn split(self, powers: &mut Self::Powers) -> Self;

    /// Takes the exponents of magnitudes: the powers of two by which [`scaled`](Self::scaled) divides.
    fn exponents(self, powers: &mut Self::Powers) -> Self;

    /// Divides by the powers of two that [`exponents`](Self::exponents) left.
    fn scaled(self, exponents: Self) -> Self;

    /// The sums of the exponents as numbers; what is no number where one was not that of a normal number, or of the very largest.
    fn sum(powers: Self::Powers) -> Self;

    /// Whether all are finite.
    fn are_finite(self) -> bool;

    /// The numbers at even and at odd places of two vectors, one after the other.
    fn apart(low: Self, high: Self) -> [Self; 2];

    /// Turns rows of lanes into columns, of the first `N` vectors.
    fn transpose(rows: &mut [Self; MOST]);

    /// The sum and its rounding error, where the first number is no smaller.
    #[inline(always)]
    fn fast_two_sum(self, other: Self) -> (Self, Self) {
        let sum = self.add(other);
        (sum, other.sub(sum.sub(self)))
    }

    /// The sum and its rounding error.
    #[inline(always)]
    fn two_sum(self, other: Self) -> (Self, Self) {
        let sum = self.add(other);
        let other_in = sum.sub(self);
        (sum, self.sub(sum.sub(other_in)).add(other.sub(other_in)))
    }
}
