//! Element types and what each of them yields: one table, from which every other place derives.

mod float;
mod ordered;
mod real;

use std::fmt::Debug;

use bytemuck::{CheckedBitPattern, NoUninit, Zeroable};
use half::{bf16, f16};
use num_complex::Complex;

pub use crate::binary::{Decode, Decoded, Nearest, Rounding};
pub use crate::dtype::DType;
pub use float::Float;
pub use ordered::Ordered;
pub use real::Real;

use num_bigint::BigUint;

use crate::limbs::{Fixed, Limbs, Pair, Register, Small, Special, round_root, to_bigint};
use crate::{Error, Op, Overflow, Value};

/// One or two of something: a real element has one part, a complex one two.
pub trait Components<X>: AsRef<[X]> + AsMut<[X]> + Clone + Debug + PartialEq + Send + Sync {
    /// Builds the parts from their index.
    fn from_fn(f: impl FnMut(usize) -> X) -> Self;
}

impl<X: Clone + Debug + PartialEq + Send + Sync, const N: usize> Components<X> for [X; N] {
    fn from_fn(f: impl FnMut(usize) -> X) -> Self {
        std::array::from_fn(f)
    }
}

/// A single number that a reduction can return.
pub trait Scalar: Copy + Debug + PartialEq + Into<Value> + Send + Sync + 'static {}
impl<T: Copy + Debug + PartialEq + Into<Value> + Send + Sync + 'static> Scalar for T {}

mod sealed {
    pub trait Sealed {}
}

/// A type whose arrays can be reduced.
///
/// Implemented for `bool`, the integers of 8 to 64 bits, [`f16`](struct@f16), [`bf16`], `f32`, `f64`,
/// `Complex<f32>` and `Complex<f64>`; sealed, because the contract names its types.
pub trait Element:
    sealed::Sealed + CheckedBitPattern + NoUninit + Zeroable + Debug + PartialEq + Send + Sync
{
    /// The type's name as data.
    const DTYPE: DType;
    /// The real number it is made of: itself, or the component of a complex number.
    type Component: Ordered;
    /// One or two of something, as many as the element has parts.
    type Components<X: Clone + Debug + PartialEq + Send + Sync>: Components<X>;
    /// How many parts an element has.
    const PARTS: usize;
    /// A float, or a complex number of floats where the element is complex.
    type With<F: Float>: Scalar;
    /// The float type of means, variances, norms: `f64` for integers, `f32` for floats up to 32 bits, `f64` for 64.
    type Round: Float;
    /// The result of sum, prod and dot: `i64`, `u64`, or a float or complex number of [`Self::Round`].
    type Sum: Scalar;
    /// The result of linf: `u64` for integers, else [`Self::Round`].
    type Linf: Scalar;
    /// The result of sumsq: `i64` or `u64` for integers, else [`Self::Round`].
    type Squares: Scalar;
    /// `Result<R>` where a sum can overflow (integers); plain `R` where it cannot fail (floats).
    type Checked<R>;

    /// The slice as parts: twice as many for complex numbers, real and imaginary in turn.
    fn as_parts(x: &[Self]) -> &[Self::Component];

    /// Puts the parts together again, in a float type of choice.
    fn join<F: Float>(parts: Self::Components<F>) -> Self::With<F>;

    /// Rounds or narrows exact parts to the result type; `op` names the reduction in an overflow error.
    #[doc(hidden)]
    fn finish<L: Limbs>(
        parts: &Self::Components<Register<L>>,
        unit: i32,
        op: Op,
        overflow: Overflow,
    ) -> Result<Self::Sum, Error>;

    /// The same of an exact sum of squared magnitudes.
    #[doc(hidden)]
    fn finish_squares<L: Limbs>(
        squares: &Register<L>,
        unit: i32,
        overflow: Overflow,
    ) -> Result<Self::Squares, Error>;

    /// What a sum of a part fits while it is short.
    #[doc(hidden)]
    type Small: Small;

    /// Such sums, of each part.
    #[doc(hidden)]
    type Sums: AsRef<[Self::Small]>;

    /// The sum of this element alone.
    #[doc(hidden)]
    fn alone(self) -> Self::Sum;

    /// The same rounded to a float type of choice.
    #[doc(hidden)]
    fn alone_as<F: Float>(self) -> Self::With<F>;

    /// A float result from parts that were summed fast; integers have none.
    #[doc(hidden)]
    fn from_fast(parts: Self::Components<f64>) -> Self::Sum;

    /// The same of squares.
    #[doc(hidden)]
    fn squares_from_fast(sum: f64) -> Self::Squares;

    /// The root of the exact square of a magnitude, in units of the square of the lowest bit.
    #[doc(hidden)]
    fn linf(special: Special, square: &BigUint) -> Self::Linf;

    /// The magnitude that [`Ordered::magnitude`] gives of a real element, as a result.
    #[doc(hidden)]
    fn linf_of(magnitude: <Self::Component as Ordered>::Magnitude) -> Self::Linf;

    /// Turns a result into what the free functions return: itself, or its value where no error is possible.
    #[doc(hidden)]
    fn checked<R>(result: Result<R, Error>) -> Self::Checked<R>;
}

/// Where an integer result that overflows would fit.
pub const fn overflow_remedy(op: Op) -> &'static str {
    match op {
        Op::Sum => {
            "sum_wide holds it in 128 bits, sum_as::<f64> rounds it, Overflow::Wrap keeps the low 64 bits"
        }
        Op::Sumsq => "sumsq_as::<f64> rounds the exact value, Overflow::Wrap keeps the low 64 bits",
        Op::Dot => "dot_as::<f64> rounds the exact value, Overflow::Wrap keeps the low 64 bits",
        _ => "prod_as::<f64> gives an infinity, Overflow::Wrap keeps the low 64 bits",
    }
}

macro_rules! real_element {
    ($($ty:ty: $variant:ident, $round:ty, $sum:ty, $linf:ty, $class:ident;)+) => {$(
        impl sealed::Sealed for $ty {}
        impl Element for $ty {
            const DTYPE: DType = DType::$variant;
            const PARTS: usize = 1;
            type Component = Self;
            type Components<X: Clone + Debug + PartialEq + Send + Sync> = [X; 1];
            type With<F: Float> = F;
            type Round = $round;
            type Sum = $sum;
            type Linf = $linf;
            real_element!(@$class, $sum);

            #[inline(always)]
            fn as_parts(x: &[Self]) -> &[Self] {
                x
            }

            #[inline(always)]
            fn join<F: Float>([value]: [F; 1]) -> F {
                value
            }
        }
    )+};
    (@integer, $sum:ty) => {
        type Checked<R> = Result<R, Error>;

        fn finish<L: Limbs>(
            [register]: &[Register<L>; 1],
            _unit: i32,
            op: Op,
            overflow: Overflow,
        ) -> Result<$sum, Error> {
            let fixed = &register.fixed;
            let narrow = match fixed.to_i128() {
                Some(value) => <$sum>::try_from(value).ok(),
                None => None,
            };
            match (narrow, overflow) {
                (Some(value), _) => Ok(value),
                (None, Overflow::Wrap) => Ok(fixed.0.as_ref()[0] as $sum),
                (None, Overflow::Error) => Err(Error::Overflow {
                    op,
                    dtype: Self::DTYPE,
                    result: <$sum>::DTYPE.name(),
                    value: to_bigint(fixed).to_string(),
                    remedy: overflow_remedy(op),
                }),
            }
        }

        type Squares = $sum;

        fn finish_squares<L: Limbs>(
            squares: &Register<L>,
            unit: i32,
            overflow: Overflow,
        ) -> Result<$sum, Error> {
            Self::finish(&[*squares], unit, Op::Sumsq, overflow)
        }

        type Small = i128;
        type Sums = [i128; 1];

        #[inline(always)]
        fn alone(self) -> $sum {
            self.into()
        }

        #[inline(always)]
        fn alone_as<F: Float>(self) -> F {
            i128::from(self).round()
        }

        fn from_fast(_parts: [f64; 1]) -> $sum {
            unreachable!("integer sums are exact")
        }

        fn squares_from_fast(_sum: f64) -> $sum {
            unreachable!("integer sums are exact")
        }

        fn linf(_special: Special, square: &BigUint) -> u64 {
            square.sqrt().try_into().expect("the magnitude of an integer of at most 64 bits")
        }

        #[inline(always)]
        fn linf_of(magnitude: <Self as Ordered>::Magnitude) -> u64 {
            magnitude.into()
        }

        fn checked<R>(result: Result<R, Error>) -> Result<R, Error> {
            result
        }
    };
    (@float, $sum:ty) => {
        type Checked<R> = R;

        fn finish<L: Limbs>(
            parts: &Self::Components<Register<L>>,
            unit: i32,
            _op: Op,
            _overflow: Overflow,
        ) -> Result<$sum, Error> {
            Ok(Self::join(Components::from_fn(|k| parts[k].round::<Self::Round>(unit))))
        }

        type Squares = Self::Round;

        fn finish_squares<L: Limbs>(
            squares: &Register<L>,
            unit: i32,
            _overflow: Overflow,
        ) -> Result<Self::Round, Error> {
            Ok(squares.round(unit))
        }

        type Small = Pair;
        type Sums = Self::Components<Pair>;

        #[inline(always)]
        fn alone(self) -> $sum {
            self.alone_as::<Self::Round>()
        }

        #[inline(always)]
        fn alone_as<F: Float>(self) -> Self::With<F> {
            let parts = Self::as_parts(std::slice::from_ref(&self));
            // The sum of -0 is +0.
            Self::join(Components::from_fn(|k| F::of(f64::from(parts[k]) + 0.0)))
        }

        fn from_fast(parts: Self::Components<f64>) -> $sum {
            Self::join(Components::from_fn(|k| <Self::Round as Nearest>::of(parts[k])))
        }

        fn squares_from_fast(sum: f64) -> Self::Round {
            Self::Round::of(sum)
        }

        fn linf(special: Special, square: &BigUint) -> Self::Linf {
            let unit = 2 * i64::from(<Self::Component as Decode>::UNIT);
            special.value().unwrap_or_else(|| round_root(square, &BigUint::from(1u32), unit))
        }

        #[inline(always)]
        fn linf_of(magnitude: <Self::Component as Ordered>::Magnitude) -> Self::Linf {
            <Self::Component as Ordered>::round_magnitude(magnitude)
        }

        fn checked<R>(result: Result<R, Error>) -> R {
            result.unwrap_or_else(|error| unreachable!("a float result cannot fail: {error}"))
        }
    };
}
real_element! {
    bool: Bool, f64, u64, u64, integer;
    i8: I8, f64, i64, u64, integer;
    i16: I16, f64, i64, u64, integer;
    i32: I32, f64, i64, u64, integer;
    i64: I64, f64, i64, u64, integer;
    u8: U8, f64, u64, u64, integer;
    u16: U16, f64, u64, u64, integer;
    u32: U32, f64, u64, u64, integer;
    u64: U64, f64, u64, u64, integer;
    f16: F16, f32, f32, f32, float;
    bf16: BF16, f32, f32, f32, float;
    f32: F32, f32, f32, f32, float;
    f64: F64, f64, f64, f64, float;
}

/// An integer element type, whose sums fit in 128 bits.
pub trait Integer: Real {
    /// `i128` for signed, `u128` for unsigned elements.
    type Wide: Scalar + std::fmt::Display;

    /// Narrows an exact sum.
    #[doc(hidden)]
    fn wide<L: Limbs>(fixed: &Fixed<L>) -> Result<Self::Wide, Error>;
}

macro_rules! integer_element {
    ($($wide:ident, $narrow:ident: $($ty:ty),+;)+) => {$($(
        impl Integer for $ty {
            type Wide = $wide;

            fn wide<L: Limbs>(fixed: &Fixed<L>) -> Result<$wide, Error> {
                fixed.$narrow().ok_or_else(|| Error::Overflow {
                    op: Op::Sum,
                    dtype: Self::DTYPE,
                    result: stringify!($wide),
                    value: to_bigint(fixed).to_string(),
                    remedy: "merge fewer partials",
                })
            }
        }
    )+)+};
}
integer_element! {
    i128, to_i128: i8, i16, i32, i64;
    u128, to_u128: bool, u8, u16, u32, u64;
}

macro_rules! complex_element {
    ($($part:ty: $variant:ident;)+) => {$(
        impl sealed::Sealed for Complex<$part> {}
        impl Element for Complex<$part> {
            const DTYPE: DType = DType::$variant;
            const PARTS: usize = 2;
            type Component = $part;
            type Components<X: Clone + Debug + PartialEq + Send + Sync> = [X; 2];
            type With<F: Float> = Complex<F>;
            type Round = $part;
            type Sum = Complex<$part>;
            type Linf = $part;
            real_element!(@float, Complex<$part>);

            #[inline(always)]
            fn as_parts(x: &[Self]) -> &[$part] {
                bytemuck::cast_slice(x)
            }

            #[inline(always)]
            fn join<F: Float>([re, im]: [F; 2]) -> Complex<F> {
                Complex::new(re, im)
            }
        }
    )+};
}
complex_element! {
    f32: Complex64;
    f64: Complex128;
}
