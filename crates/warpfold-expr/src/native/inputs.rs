//! The inputs of a body: elements of several arrays.

use half::{bf16, f16};
use warpfold_num::{DType, Element};

use super::numbers::Number;
use crate::slice::Slice;

/// An element type, and what its elements compute in.
pub trait Given: Element {
    /// The number that an element is.
    type Number;

    /// It.
    fn number(self) -> Self::Number;

    /// The elements of a slice of the type.
    #[doc(hidden)]
    fn elements(slice: Slice<'_>) -> &[Self];
}

macro_rules! given {
    ($($ty:ty, $variant:ident, $number:ty, $of:expr;)+) => { $(
        impl Given for $ty {
            type Number = $number;

            #[inline(always)]
            fn number(self) -> $number {
                $of(self)
            }

            #[inline(always)]
            fn elements(slice: Slice<'_>) -> &[Self] {
                match slice {
                    Slice::$variant(x) => x,
                    other => unreachable!("elements of {} are not of {}", other.dtype(), <$ty>::DTYPE),
                }
            }
        }
    )+ };
}
given! {
    bool, Bool, bool, std::convert::identity;
    i8, I8, Number<i64>, |x| Number::of(i64::from(x));
    i16, I16, Number<i64>, |x| Number::of(i64::from(x));
    i32, I32, Number<i64>, |x| Number::of(i64::from(x));
    i64, I64, Number<i64>, Number::of;
    u8, U8, Number<u64>, |x| Number::of(u64::from(x));
    u16, U16, Number<u64>, |x| Number::of(u64::from(x));
    u32, U32, Number<u64>, |x| Number::of(u64::from(x));
    u64, U64, Number<u64>, Number::of;
    f16, F16, Number<f32>, |x| Number::of(f32::from(x));
    bf16, BF16, Number<f32>, |x| Number::of(f32::from(x));
    f32, F32, Number<f32>, Number::of;
    f64, F64, Number<f64>, Number::of;
}

/// Elements of several arrays at one index.
pub trait Inputs: Copy {
    /// The arrays.
    type Slices<'a>: Copy;
    /// The types.
    const DTYPES: &'static [DType];

    /// So many elements of arrays that have these types.
    fn slices<'a>(inputs: &[Slice<'a>], first: usize, n: usize) -> Self::Slices<'a>;
    /// The elements at an index.
    fn at(slices: Self::Slices<'_>, k: usize) -> Self;
}

macro_rules! tuples {
    ($($ty:ident $index:tt),+) => {
        impl<$($ty: Given),+> Inputs for ($($ty,)+) {
            type Slices<'a> = ($(&'a [$ty],)+);
            const DTYPES: &'static [DType] = &[$($ty::DTYPE),+];

            #[inline(always)]
            fn slices<'a>(inputs: &[Slice<'a>], first: usize, n: usize) -> Self::Slices<'a> {
                // As long as what is written, as the compiler sees, so that a loop has no bounds to check: with those, it left the last vector to scalars.
                ($(&$ty::elements(inputs[$index])[first..][..n],)+)
            }

            #[inline(always)]
            fn at(slices: Self::Slices<'_>, k: usize) -> Self {
                ($(slices.$index[k],)+)
            }
        }
    };
}
tuples!(A 0);
tuples!(A 0, B 1);
tuples!(A 0, B 1, C 2);
tuples!(A 0, B 1, C 2, D 3);
tuples!(A 0, B 1, C 2, D 3, E 4);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
