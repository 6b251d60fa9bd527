//! The functions of the language, by their names, as bodies call them.

use super::numbers::{Meet, Number};
use crate::math::{double, single};
use crate::scalar::{self, Checked};

/// Floats: what functions of them are called by.
pub trait Real: Sized {
    #[doc(hidden)]
    fn call(self, function: Of) -> Self;
    #[doc(hidden)]
    fn raised(self, n: i8) -> Self;
    #[doc(hidden)]
    fn fused(self, b: Self, c: Self) -> Self;
    #[doc(hidden)]
    fn class(self) -> [bool; 3];
}

/// A function of one float.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub enum Of {
    Sqrt,
    Exp,
    Exp2,
    Expm1,
    Log,
    Log2,
    Log1p,
    Tanh,
    Sigmoid,
    Sin,
    Cos,
}

/// All numbers: what floats and integers have.
pub trait Any: Sized {
    #[doc(hidden)]
    fn magnitude(self) -> Self;
    #[doc(hidden)]
    fn round_to_integer(self, to: To) -> Self;
}

/// The next integer: which.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub enum To {
    Below,
    Above,
    Zero,
    Nearest,
}

macro_rules! real {
    ($($ty:ident, $math:ident;)+) => { $(
        impl Real for Number<$ty> {
            #[inline(always)]
            fn call(self, function: Of) -> Self {
                let x = self.value;
                Number::of(match function {
                    Of::Sqrt => x.sqrt(),
                    Of::Exp => $math::exp(x),
                    Of::Exp2 => $math::exp2(x),
                    Of::Expm1 => $math::expm1(x),
                    Of::Log => $math::log(x),
                    Of::Log2 => $math::log2(x),
                    Of::Log1p => $math::log1p(x),
                    Of::Tanh => $math::tanh(x),
                    Of::Sigmoid => $math::sigmoid(x),
                    Of::Sin => $math::sin(x),
                    Of::Cos => $math::cos(x),
                })
            }

            #[inline(always)]
            fn raised(self, n: i8) -> Self {
                let x = self.value;
                Number::of(match n {
                    1 => x,
                    2 => x * x,
                    n => $math::power(x, n),
                })
            }

            #[inline(always)]
            fn fused(self, b: Self, c: Self) -> Self {
                Number::of(self.value.mul_add(b.value, c.value))
            }

            #[inline(always)]
            fn class(self) -> [bool; 3] {
                [self.value.is_nan(), self.value.is_infinite(), self.value.is_finite()]
            }
        }

        impl Any for Number<$ty> {
            #[inline(always)]
            fn magnitude(self) -> Self {
                Number::of(self.value.abs())
            }

            #[inline(always)]
            fn round_to_integer(self, to: To) -> Self {
                Number::of(match to {
                    To::Below => self.value.floor(),
                    To::Above => self.value.ceil(),
                    To::Zero => self.value.trunc(),
                    To::Nearest => self.value.round_ties_even(),
                })
            }
        }

        impl Convert for Number<$ty> {
            converts!($ty, |x: $ty| x != 0.0);
        }

        impl Power for Number<$ty> {
            #[inline(always)]
            fn power(self, n: i8) -> Self {
                self.raised(n)
            }
        }
    )+ };
}

/// Numbers and conditions, as other numbers.
pub trait Convert: Sized {
    #[doc(hidden)]
    fn to_f32(self) -> Number<f32>;
    #[doc(hidden)]
    fn to_f64(self) -> Number<f64>;
    #[doc(hidden)]
    fn to_i64(self) -> Number<i64>;
    #[doc(hidden)]
    fn to_u64(self) -> Number<u64>;
    #[doc(hidden)]
    fn to_bool(self) -> bool;
}

macro_rules! converts {
    ($ty:ty, $truth:expr) => {
        #[inline(always)]
        fn to_f32(self) -> Number<f32> {
            Number::of(self.value as f32)
        }

        #[inline(always)]
        fn to_f64(self) -> Number<f64> {
            Number::of(self.value as f64)
        }

        #[inline(always)]
        fn to_i64(self) -> Number<i64> {
            Number::of(self.value as i64)
        }

        #[inline(always)]
        fn to_u64(self) -> Number<u64> {
            Number::of(self.value as u64)
        }

        #[inline(always)]
        fn to_bool(self) -> bool {
            let truth: fn($ty) -> bool = $truth;
            truth(self.value)
        }
    };
}

/// Powers with a whole exponent.
pub trait Power: Sized {
    #[doc(hidden)]
    fn power(self, n: i8) -> Self;
}

real! {
    f32, single;
    f64, double;
}

macro_rules! integer {
    ($($ty:ident, $magnitude:expr;)+) => { $(
        impl Any for Number<$ty> {
            #[inline(always)]
            fn magnitude(self) -> Self {
                let magnitude: fn($ty) -> $ty = $magnitude;
                Number::of(magnitude(self.value))
            }

            #[inline(always)]
            fn round_to_integer(self, _: To) -> Self {
                self
            }
        }

        impl Convert for Number<$ty> {
            converts!($ty, |x: $ty| x != 0);
        }

        impl Power for Number<$ty> {
            #[inline(always)]
            fn power(self, n: i8) -> Self {
                Number::of(self.value.wrapping_pow(n.unsigned_abs().into()))
            }
        }
    )+ };
}
integer! {
    i64, i64::wrapping_abs;
    u64, std::convert::identity;
}

impl Convert for bool {
    #[inline(always)]
    fn to_f32(self) -> Number<f32> {
        Number::of(f32::from(u8::from(self)))
    }

    #[inline(always)]
    fn to_f64(self) -> Number<f64> {
        Number::of(f64::from(u8::from(self)))
    }

    #[inline(always)]
    fn to_i64(self) -> Number<i64> {
        Number::of(i64::from(self))
    }

    #[inline(always)]
    fn to_u64(self) -> Number<u64> {
        Number::of(u64::from(self))
    }

    #[inline(always)]
    fn to_bool(self) -> bool {
        self
    }
}

macro_rules! functions {
    ($($(#[$doc:meta])+ $name:ident, $of:ident;)+) => { $(
        $(#[$doc])+
        #[inline(always)]
        pub fn $name<X: Real>(x: X) -> X {
            x.call(Of::$of)
        }
    )+ };
}
functions! {
    /// The root.
    sqrt, Sqrt;
    /// A power of e.
    exp, Exp;
    /// A power of 2.
    exp2, Exp2;
    /// A power of e less 1.
    expm1, Expm1;
    /// The natural logarithm.
    log, Log;
    /// The logarithm to base 2.
    log2, Log2;
    /// The natural logarithm of 1 more.
    log1p, Log1p;
    /// The hyperbolic tangent.
    tanh, Tanh;
    /// 1 / (1 + e^-x).
    sigmoid, Sigmoid;
    /// The sine.
    sin, Sin;
    /// The cosine.
    cos, Cos;
}

macro_rules! wholes {
    ($($(#[$doc:meta])+ $name:ident, $to:ident;)+) => { $(
        $(#[$doc])+
        #[inline(always)]
        pub fn $name<X: Any>(x: X) -> X {
            x.round_to_integer(To::$to)
        }
    )+ };
}
wholes! {
    /// The largest integer that is not above.
    floor, Below;
    /// The smallest integer that is not below.
    ceil, Above;
    /// The integer next to it towards zero.
    trunc, Zero;
    /// The nearest integer, the even one of two.
    round, Nearest;
}

macro_rules! conversions {
    ($($(#[$doc:meta])+ $name:ident, $to:ident, $out:ty;)+) => { $(
        $(#[$doc])+
        #[inline(always)]
        pub fn $name<X: Convert>(x: X) -> $out {
            x.$to()
        }
    )+ };
}
conversions! {
    /// A number as `f32`.
    f32, to_f32, Number<f32>;
    /// A number as `f64`.
    f64, to_f64, Number<f64>;
    /// A number as `i64`.
    i64, to_i64, Number<i64>;
    /// A number as `u64`.
    u64, to_u64, Number<u64>;
    /// Whether a number is not zero.
    bool, to_bool, core::primitive::bool;
}

/// The magnitude.
#[inline(always)]
pub fn abs<X: Any>(x: X) -> X {
    x.magnitude()
}

/// Whether it is NaN.
#[inline(always)]
pub fn isnan<X: Real>(x: X) -> bool {
    x.class()[0]
}

/// Whether it is infinite.
#[inline(always)]
pub fn isinf<X: Real>(x: X) -> bool {
    x.class()[1]
}

/// Whether it is neither NaN nor infinite.
#[inline(always)]
pub fn isfinite<X: Real>(x: X) -> bool {
    x.class()[2]
}

/// The power with a whole exponent.
#[inline(always)]
pub fn pow<X: Power>(x: X, n: i8) -> X {
    x.power(n)
}

/// The value, rounded: what a product at the top is not.
#[inline(always)]
pub fn rounded<X: Any>(x: X) -> X {
    x
}

/// `a * b + c`, rounded once.
#[inline(always)]
pub fn fma<A, B, C, T>(a: A, b: B, c: C) -> Number<T>
where
    A: Meet<B, Of = Number<T>>,
    Number<T>: Meet<C, Of = Number<T>> + Real + Copy,
{
    let (a, b) = a.meet(b);
    let (_, c) = a.meet(c);
    a.fused(b, c)
}

/// Numbers that have a smaller and a larger one.
#[doc(hidden)]
pub trait Compared: Copy {
    fn least(self, other: Self) -> Self;
    fn greatest(self, other: Self) -> Self;
}

macro_rules! compared {
    ($($ty:ty),+) => { $(
        impl Compared for $ty {
            #[inline(always)]
            fn least(self, other: Self) -> Self {
                scalar::Scalar::min(self, other)
            }

            #[inline(always)]
            fn greatest(self, other: Self) -> Self {
                scalar::Scalar::max(self, other)
            }
        }
    )+ };
}
compared!(f32, f64, i64, u64);

/// The smaller: NaN propagates, -0 < +0.
#[inline(always)]
pub fn min<A, B, T: Compared>(a: A, b: B) -> Number<T>
where
    A: Meet<B, Of = Number<T>>,
{
    let (a, b) = a.meet(b);
    Number::of(a.value.least(b.value))
}

/// The larger: NaN propagates, -0 < +0.
#[inline(always)]
pub fn max<A, B, T: Compared>(a: A, b: B) -> Number<T>
where
    A: Meet<B, Of = Number<T>>,
{
    let (a, b) = a.meet(b);
    Number::of(a.value.greatest(b.value))
}

/// The quotient of integers, rounded down.
#[inline(always)]
pub fn floor_div<A, B, T>(a: A, b: B) -> Number<T>
where
    A: Meet<B, Of = Number<T>>,
    T: Quotient,
{
    let (a, b) = a.meet(b);
    Number::of(a.value.quotient(b.value))
}

/// Integers that are divided.
#[doc(hidden)]
pub trait Quotient: Copy {
    fn quotient(self, other: Self) -> Self;
}

macro_rules! quotients {
    ($($ty:ty),+) => { $(
        impl Quotient for $ty {
            #[inline(always)]
            fn quotient(self, other: Self) -> Self {
                Checked::floor_div(self, other).0
            }
        }
    )+ };
}
quotients!(i64, u64);

/// What a choice is of.
#[doc(hidden)]
pub trait Condition: Copy {
    fn chosen(self) -> Self;
}

impl<T: Copy> Condition for Number<T> {
    #[inline(always)]
    fn chosen(self) -> Self {
        Number::of(self.value)
    }
}

impl Condition for core::primitive::bool {
    #[inline(always)]
    fn chosen(self) -> Self {
        self
    }
}

/// The first of two values where the condition holds, else the second.
#[inline(always)]
pub fn select<A: Meet<B>, B>(condition: core::primitive::bool, a: A, b: B) -> A::Of
where
    A::Of: Condition,
{
    let (a, b) = a.meet(b);
    if condition { a.chosen() } else { b.chosen() }
}
