//! Extremes and their indices, and largest magnitudes.

use std::marker::PhantomData;

use warpfold_exact::partial::Output;
use warpfold_num::element::{Float, Ordered};
use warpfold_num::{DType, Nan};

use super::{one, with_real};
use crate::batch::{Lone, Ranked, Read, Widest};

/// The least or the greatest element.
pub(crate) struct Extreme<T> {
    pub(crate) nan: Nan,
    pub(crate) element: PhantomData<T>,
}

/// The index of the least or of the greatest element.
pub(crate) struct Index<T> {
    pub(crate) nan: Nan,
    pub(crate) element: PhantomData<T>,
}

/// The least and the greatest element.
pub(crate) struct Both<T> {
    pub(crate) nan: Nan,
    pub(crate) element: PhantomData<T>,
}

/// The largest magnitude of integers.
pub(crate) struct LargestInteger;

/// The largest magnitude of floats.
pub(crate) struct LargestFloat<T>(pub(crate) PhantomData<T>);

/// The least and the greatest of one element.
#[inline(always)]
fn alone<T: Ordered>(x: T) -> T {
    if x.is_nan() { T::nan() } else { x }
}

impl<T: Ordered> Read<Ranked> for Extreme<T> {
    type Result = T;

    #[inline(always)]
    fn small(&self, ranked: &Ranked, count: u64) -> Option<T> {
        ranked.extreme(self.nan, count)
    }

    fn finished(&self, output: Output) -> T {
        one(output)
    }

    fn lone(&self, inputs: Lone<'_, T>) {
        inputs.each(alone::<T>);
    }
}

impl<T: Ordered> Read<Ranked> for Index<T> {
    type Result = u64;

    #[inline(always)]
    fn small(&self, ranked: &Ranked, count: u64) -> Option<u64> {
        ranked.extreme::<T>(self.nan, count).map(|_| ranked.arg_index)
    }

    fn finished(&self, output: Output) -> u64 {
        one(output)
    }

    fn lone(&self, inputs: Lone<'_, u64>) {
        inputs.each(|_: T| 0);
    }
}

impl<T: Ordered> Read<[Ranked; 2]> for Both<T> {
    type Result = (T, T);

    #[inline(always)]
    fn small(&self, [least, greatest]: &[Ranked; 2], count: u64) -> Option<(T, T)> {
        Some((least.extreme(self.nan, count)?, greatest.extreme(self.nan, count)?))
    }

    fn finished(&self, output: Output) -> (T, T) {
        match output {
            Output::Pair(min, max) => (one(Output::One(min)), one(Output::One(max))),
            other => unreachable!("minmax has two numbers, not {other:?}"),
        }
    }

    fn lone(&self, inputs: Lone<'_, (T, T)>) {
        inputs.each(|x: T| (alone(x), alone(x)));
    }
}

impl Read<Widest> for LargestInteger {
    type Result = u64;

    #[inline(always)]
    fn small(&self, largest: &Widest, _: u64) -> Option<u64> {
        Some(largest.0)
    }

    fn finished(&self, output: Output) -> u64 {
        one(output)
    }

    #[allow(clippy::useless_conversion, reason = "of the widest type alone")]
    fn lone(&self, inputs: Lone<'_, u64>) {
        with_real!(inputs.dtype(), [Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64],
            T => inputs.each(|x: T| x.magnitude().into()), else inputs.defer());
    }
}

impl<T: Float + Ordered> Read<Widest> for LargestFloat<T> {
    type Result = T::Linf;

    #[inline(always)]
    fn small(&self, largest: &Widest, _: u64) -> Option<T::Linf> {
        Some(T::linf_of(largest.magnitude::<T>()))
    }

    fn finished(&self, output: Output) -> T::Linf {
        one(output)
    }

    fn lone(&self, inputs: Lone<'_, T::Linf>) {
        match inputs.dtype() == T::DTYPE {
            true => inputs.each(|x: T| T::linf_of(x.magnitude())),
            false => inputs.defer(),
        }
    }
}
