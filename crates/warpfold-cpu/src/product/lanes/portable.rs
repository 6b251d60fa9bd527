//! Lanes in plain Rust: four for machines without vectors that are known here, and one wherever a vector would be mostly empty.

use super::{MOST, Vector, first, zeros};
use crate::float::{bf16_value, f16_value};
use crate::{bf16, f16};

/// Numbers.
#[derive(Clone, Copy)]
pub(crate) struct Plain<const N: usize>([f64; N]);

/// Sums of exponents, and whether all were those of normal numbers.
#[derive(Clone, Copy)]
pub(crate) struct Exponents<const N: usize> {
    sums: [i64; N],
    normal: [bool; N],
}

impl<const N: usize> Plain<N> {
    #[inline(always)]
    fn with(self, other: Self, combine: impl Fn(f64, f64) -> f64) -> Self {
        Plain(std::array::from_fn(|l| combine(self.0[l], other.0[l])))
    }

    #[inline(always)]
    fn fields(self, powers: &mut Exponents<N>) -> [u64; N] {
        std::array::from_fn(|l| {
            let field = self.0[l].to_bits() >> 52 & 0x7ff;
            powers.sums[l] += field as i64 - 1023;
            powers.normal[l] &= field.wrapping_sub(1) < 0x7fd;
            field
        })
    }
}

/// The products of `JOIN` neighbours each.
#[inline(always)]
unsafe fn products<F: Copy, const JOIN: usize, const N: usize>(
    x: *const F,
    value: impl Fn(F) -> f64,
) -> Plain<N> {
    // SAFETY: as the caller says, there are so many factors.
    let element = |k: usize| value(unsafe { *x.add(k) });
    let product = |first: usize| (1..JOIN).fold(element(first), |all, k| all * element(first + k));
    Plain(std::array::from_fn(|l| product(JOIN * l)))
}

impl<const N: usize> Vector for Plain<N> {
    const N: usize = N;
    const INTERLEAVED: [usize; MOST] = [0, 1, 2, 3];
    type Powers = Exponents<N>;
    type Monitor = u64;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Plain([x; N])
    }

    #[inline(always)]
    unsafe fn load(x: *const f64) -> Self {
        // SAFETY: as the caller says.
        Plain(unsafe { x.cast::<[f64; N]>().read() })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f64) {
        // SAFETY: as the caller says.
        unsafe { to.cast::<[f64; N]>().write(self.0) }
    }

    #[inline(always)]
    unsafe fn widen(x: *const f32) -> Self {
        // SAFETY: as the caller says.
        unsafe { products::<_, 1, N>(x, f64::from) }
    }

    #[inline(always)]
    unsafe fn widen_f16(x: *const f16) -> Self {
        // SAFETY: as the caller says.
        unsafe { products::<_, 1, N>(x, f16_value) }
    }

    #[inline(always)]
    unsafe fn widen_bf16(x: *const bf16) -> Self {
        // SAFETY: as the caller says.
        unsafe { products::<_, 1, N>(x, bf16_value) }
    }

    #[inline(always)]
    unsafe fn columns(rows: &[*const f64; MOST]) -> [Self; MOST] {
        // SAFETY: as the caller says.
        let mut square = rows.map(|row| unsafe { Self::load(row) });
        Self::transpose(&mut square);
        square
    }

    #[inline(always)]
    unsafe fn pairs(x: *const f32) -> Self {
        // SAFETY: as the caller says.
        unsafe { products::<_, 2, N>(x, f64::from) }
    }

    #[inline(always)]
    unsafe fn fours_of_f16(x: *const f16) -> Self {
        // SAFETY: as the caller says.
        unsafe { products::<_, 4, N>(x, f16_value) }
    }

    #[inline(always)]
    unsafe fn fours_of_bf16(x: *const bf16) -> Self {
        // SAFETY: as the caller says.
        unsafe { products::<_, 4, N>(x, bf16_value) }
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.with(other, |a, b| a * b)
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.with(other, |a, b| a + b)
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.with(other, |a, b| a - b)
    }

    #[inline(always)]
    fn fma(self, factor: Self, addend: Self) -> Self {
        Plain(std::array::from_fn(|l| self.0[l].mul_add(factor.0[l], addend.0[l])))
    }

    #[inline(always)]
    fn fms(self, factor: Self, subtrahend: Self) -> Self {
        self.fma(factor, subtrahend.negate())
    }

    #[inline(always)]
    fn negate(self) -> Self {
        Plain(self.0.map(|x| -x))
    }

    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        self.with(other, |a, b| if a.abs() > b.abs() { a.abs() } else { b.abs() })
    }

    #[inline(always)]
    fn monitor() -> u64 {
        0
    }

    #[inline(always)]
    fn observe(self, seen: &mut u64, half: u64) {
        for x in self.0 {
            *seen |= x.to_bits().wrapping_sub(first(half) as u64);
        }
    }

    #[inline(always)]
    fn are_within(seen: u64, half: u64) -> bool {
        seen & zeros(half) as u64 == 0
    }

    #[inline(always)]
    fn powers() -> Exponents<N> {
        Exponents { sums: [0; N], normal: [true; N] }
    }

    #[inline(always)]
    fn split(self, powers: &mut Exponents<N>) -> Self {
        self.fields(powers);
        let one = 1f64.to_bits();
        Plain(self.0.map(|x| f64::from_bits(x.to_bits() & !(0x7ff << 52) | one)))
    }

    #[inline(always)]
    fn exponents(self, powers: &mut Exponents<N>) -> Self {
        let fields = self.fields(powers);
        Plain(fields.map(|field| f64::from_bits(2046u64.wrapping_sub(field) << 52)))
    }

    #[inline(always)]
    fn scaled(self, exponents: Self) -> Self {
        self.mul(exponents)
    }

    #[inline(always)]
    fn sum(powers: Exponents<N>) -> Self {
        let sum = |l: usize| if powers.normal[l] { powers.sums[l] as f64 } else { f64::NAN };
        Plain(std::array::from_fn(sum))
    }

    #[inline(always)]
    fn are_finite(self) -> bool {
        self.0.iter().all(|x| x.is_finite())
    }

    #[inline(always)]
    fn apart(low: Self, high: Self) -> [Self; 2] {
        let number = |k: usize| if k < N { low.0[k] } else { high.0[k - N] };
        [0, 1].map(|odd| Plain(std::array::from_fn(|l| number(2 * l + odd))))
    }

    #[inline(always)]
    fn transpose(rows: &mut [Self; MOST]) {
        let columns: [Self; N] =
            std::array::from_fn(|c| Plain(std::array::from_fn(|r| rows[r].0[c])));
        rows[..N].copy_from_slice(&columns);
    }
}
