//! What is asked of all values of a tile at once, by the widest instructions of the machine.

use crate::isa::{Job, widest};

/// Numbers that may be infinite or NaN.
pub trait Float: Copy + PartialOrd + Default {
    #[doc(hidden)]
    const INFINITY: Self;
    #[doc(hidden)]
    fn magnitude(self) -> Self;
}

macro_rules! floats {
    ($($ty:ty),+) => { $(
        impl Float for $ty {
            const INFINITY: Self = <$ty>::INFINITY;

            #[inline(always)]
            fn magnitude(self) -> Self {
                self.abs()
            }
        }
    )+ };
}
floats!(f32, f64);

/// A condition on a value. Types, not closures: only `#[inline(always)]` code is compiled for the instruction set.
trait Test<T> {
    fn holds(&self, value: T) -> bool;
}

/// Whether all values pass a test.
struct All<'v, T, C>(&'v [T], C);

impl<T: Copy, C: Test<T>> Job for All<'_, T, C> {
    type Output = bool;

    #[inline(always)]
    fn run<const AVX512: bool>(self) -> bool {
        // Groups without a branch inside, that a machine's lanes take side by side.
        const GROUP: usize = 256;
        let (groups, rest) = self.0.as_chunks::<GROUP>();
        let mut fails = 0u32;
        for group in groups {
            for &value in group {
                fails |= u32::from(!self.1.holds(value));
            }
        }
        for &value in rest {
            fails |= u32::from(!self.1.holds(value));
        }
        fails == 0
    }
}

struct IsFinite;

impl<T: Float> Test<T> for IsFinite {
    #[inline(always)]
    fn holds(&self, value: T) -> bool {
        value.magnitude() < T::INFINITY
    }
}

struct IsWithin<T>(T);

impl<T: Float> Test<T> for IsWithin<T> {
    #[inline(always)]
    fn holds(&self, value: T) -> bool {
        value.magnitude() <= self.0
    }
}

struct IsWeight;

impl<T: Float> Test<T> for IsWeight {
    #[inline(always)]
    fn holds(&self, value: T) -> bool {
        (value >= T::default()) & (value < T::INFINITY)
    }
}

struct HasHalves;

impl Test<f64> for HasHalves {
    #[inline(always)]
    fn holds(&self, value: f64) -> bool {
        has_halves(value)
    }
}

/// The least magnitude that [has halves](has_halves) beside zero, and the first that has none.
pub const HALVES: [f64; 2] =
    [f64::from_bits((1023 - 480) << 52), f64::from_bits((1023 + 510) << 52)];

/// Whether the square of a number is the sum of two `f64`, as nothing of it lies outside their range.
#[inline(always)]
pub fn has_halves(x: f64) -> bool {
    let ([least, end], size) = (HALVES, x.abs());
    (size == 0.0) | (least..end).contains(&size)
}

/// Whether all squares [have halves](has_halves).
pub fn all_have_halves(values: &[f64]) -> bool {
    widest(All(values, HasHalves))
}

/// Whether all numbers are finite.
pub fn are_finite<T: Float>(values: &[T]) -> bool {
    widest(All(values, IsFinite))
}

/// Whether no magnitude is above a bound, and none is NaN.
pub fn all_within<T: Float>(values: &[T], bound: T) -> bool {
    widest(All(values, IsWithin(bound)))
}

/// Whether all numbers are weights: finite, and not negative.
pub fn are_weights<T: Float>(values: &[T]) -> bool {
    widest(All(values, IsWeight))
}

/// How many of some zeros and ones are ones.
pub fn ones(conditions: &[u8]) -> u64 {
    widest(Ones(conditions))
}

struct Ones<'c>(&'c [u8]);

impl Job for Ones<'_> {
    type Output = u64;

    #[inline(always)]
    fn run<const AVX512: bool>(self) -> u64 {
        // Sums of up to 255 bytes each fit one.
        let mut count = 0;
        for chunk in self.0.chunks(255 * 64) {
            let mut sums = [0u8; 64];
            let (whole, rest) = chunk.as_chunks::<64>();
            for bytes in whole {
                for (sum, byte) in sums.iter_mut().zip(bytes) {
                    *sum += byte;
                }
            }
            for &byte in sums.iter().chain(rest) {
                count += u64::from(byte);
            }
        }
        count
    }
}

/// Clears the conditions of values that are NaN.
pub fn clear_nans<T: Float>(values: &[T], conditions: &mut [u8]) {
    widest(ClearNans(values, conditions));
}

struct ClearNans<'v, T>(&'v [T], &'v mut [u8]);

impl<T: Float> Job for ClearNans<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const AVX512: bool>(self) {
        for (condition, value) in self.1.iter_mut().zip(self.0) {
            *condition &= u8::from(value.partial_cmp(value).is_some());
        }
    }
}
