//! Extremes and their indices, and largest magnitudes.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use warpfold_exact::partial::Output;
use warpfold_num::element::{Float, Ordered};
use warpfold_num::{DType, Nan};

use super::{one, with_real};
use crate::batch::{AT_ONCE, Kept, Lone, Read, Widest, element, extreme};

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

/// Results of neighbours, and which of them are.
type AtOnce<R> = ([MaybeUninit<R>; AT_ONCE], [bool; AT_ONCE]);

/// Which inputs have an extreme.
#[inline(always)]
fn are_left<T: Ordered, S: Kept>(
    found: &[S; AT_ONCE],
    nan: Nan,
    counts: [u64; AT_ONCE],
) -> [bool; AT_ONCE] {
    let mut are_left = [true; AT_ONCE];
    for k in 0..AT_ONCE {
        are_left[k] = counts[k] > 0;
    }
    // Once for all: a question for each would be a branch for each.
    if nan == Nan::Ignore {
        for k in 0..AT_ONCE {
            are_left[k] &= !element::<T, S>(found[k]).is_nan();
        }
    }
    are_left
}

impl<T: Ordered, S: Kept> Read<S> for Extreme<T> {
    type Result = T;

    #[inline(always)]
    fn small(&self, found: &S, count: u64) -> Option<T> {
        extreme(*found, self.nan, count)
    }

    #[inline(always)]
    fn neighbours(&self, found: &[S; AT_ONCE], counts: [u64; AT_ONCE]) -> AtOnce<T> {
        let mut elements = [const { MaybeUninit::uninit() }; AT_ONCE];
        for k in 0..AT_ONCE {
            elements[k] = MaybeUninit::new(element(found[k]));
        }
        (elements, are_left::<T, S>(found, self.nan, counts))
    }

    fn finished(&self, output: Output) -> T {
        one(output)
    }

    fn lone(&self, inputs: Lone<'_, T>) {
        inputs.each(alone::<T>);
    }
}

impl<T: Ordered, S: Kept> Read<S> for Index<T> {
    type Result = u64;

    #[inline(always)]
    fn small(&self, found: &S, count: u64) -> Option<u64> {
        extreme::<T, S>(*found, self.nan, count).map(|_| found.arg_index())
    }

    #[inline(always)]
    fn neighbours(&self, found: &[S; AT_ONCE], counts: [u64; AT_ONCE]) -> AtOnce<u64> {
        let mut indices = [const { MaybeUninit::uninit() }; AT_ONCE];
        for k in 0..AT_ONCE {
            indices[k] = MaybeUninit::new(found[k].arg_index());
        }
        (indices, are_left::<T, S>(found, self.nan, counts))
    }

    fn finished(&self, output: Output) -> u64 {
        one(output)
    }

    fn lone(&self, inputs: Lone<'_, u64>) {
        inputs.each(|_: T| 0);
    }
}

impl<T: Ordered, S: Kept> Read<[S; 2]> for Both<T> {
    type Result = (T, T);

    #[inline(always)]
    fn small(&self, &[least, greatest]: &[S; 2], count: u64) -> Option<(T, T)> {
        Some((extreme(least, self.nan, count)?, extreme(greatest, self.nan, count)?))
    }

    #[inline(always)]
    fn neighbours(&self, found: &[[S; 2]; AT_ONCE], counts: [u64; AT_ONCE]) -> AtOnce<(T, T)> {
        let mut both = [const { MaybeUninit::uninit() }; AT_ONCE];
        let mut least = [found[0][0]; AT_ONCE];
        for k in 0..AT_ONCE {
            both[k] = MaybeUninit::new((element(found[k][0]), element(found[k][1])));
            least[k] = found[k][0];
        }
        (both, are_left::<T, S>(&least, self.nan, counts))
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
