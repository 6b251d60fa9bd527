//! Numbers that have the operations of the language, and no others.

use std::cmp::Ordering;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Sub};

use crate::program::Type;
use crate::scalar::Checked;

/// A number of a body. A product holds its factors, as a sum of products does not round them; of everything else the compiler leaves those out.
#[derive(Debug, Clone, Copy)]
pub struct Number<T> {
    pub(super) value: T,
    left: T,
    right: T,
}

impl<T: Copy> Number<T> {
    #[inline(always)]
    pub(super) fn of(value: T) -> Self {
        Number { value, left: value, right: value }
    }
}

/// Two operands that have one type, or one of which is a constant that takes the other's.
pub trait Meet<B> {
    /// The type.
    type Of;

    /// Both in it.
    fn meet(self, other: B) -> (Self::Of, Self::Of);
}

impl<T: Copy> Meet<Number<T>> for Number<T> {
    type Of = Number<T>;

    #[inline(always)]
    fn meet(self, other: Number<T>) -> (Self, Self) {
        (self, other)
    }
}

impl Meet<bool> for bool {
    type Of = bool;

    #[inline(always)]
    fn meet(self, other: bool) -> (bool, bool) {
        (self, other)
    }
}

macro_rules! constants {
    ($($constant:ty => $ty:ty),+) => { $(
        impl Meet<$constant> for Number<$ty> {
            type Of = Number<$ty>;

            #[inline(always)]
            fn meet(self, other: $constant) -> (Self, Self) {
                (self, Number::of(other as $ty))
            }
        }

        impl Meet<Number<$ty>> for $constant {
            type Of = Number<$ty>;

            #[inline(always)]
            fn meet(self, other: Number<$ty>) -> (Number<$ty>, Number<$ty>) {
                (Number::of(self as $ty), other)
            }
        }
    )+ };
}
// A decimal is rounded once, by the compiler, to the type that it meets; a whole one by the conversion.
constants!(f32 => f32, i32 => f32, f64 => f64, i32 => f64, i64 => i64, u64 => u64);

macro_rules! constants_alone {
    ($($ty:ty),+) => { $(
        impl Meet<$ty> for $ty {
            type Of = Number<$ty>;

            #[inline(always)]
            fn meet(self, other: $ty) -> (Number<$ty>, Number<$ty>) {
                (Number::of(self), Number::of(other))
            }
        }
    )+ };
}
// What constants alone are: choices between them.
constants_alone!(f64, i64);

/// The arithmetic of a type: floats rounded once, integers wrapped. Bodies whose integers could be wrong run as text.
pub trait Arithmetic: Copy {
    #[doc(hidden)]
    fn plus(self, other: Self) -> Self;
    #[doc(hidden)]
    fn minus(self, other: Self) -> Self;
    #[doc(hidden)]
    fn times(self, other: Self) -> Self;
}

macro_rules! floats {
    ($($ty:ty),+) => { $(
        impl Arithmetic for $ty {
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self - other
            }

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }
        }

        impl<B> Div<B> for Number<$ty>
        where
            Number<$ty>: Meet<B, Of = Number<$ty>>,
        {
            type Output = Number<$ty>;

            #[inline(always)]
            fn div(self, other: B) -> Number<$ty> {
                let (a, b) = self.meet(other);
                Number::of(a.value / b.value)
            }
        }

        impl Neg for Number<$ty> {
            type Output = Number<$ty>;

            #[inline(always)]
            fn neg(self) -> Number<$ty> {
                Number::of(-self.value)
            }
        }
    )+ };
}
floats!(f32, f64);

macro_rules! integers {
    ($($ty:ty),+) => { $(
        impl Arithmetic for $ty {
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
        }

        impl<B> Rem<B> for Number<$ty>
        where
            Number<$ty>: Meet<B, Of = Number<$ty>>,
        {
            type Output = Number<$ty>;

            #[inline(always)]
            fn rem(self, other: B) -> Number<$ty> {
                let (a, b) = self.meet(other);
                Number::of(Checked::rem(a.value, b.value).0)
            }
        }

        impl Not for Number<$ty> {
            type Output = Number<$ty>;

            #[inline(always)]
            fn not(self) -> Number<$ty> {
                Number::of(!self.value)
            }
        }

        bits!($ty, BitAnd, bitand, BitOr, bitor, BitXor, bitxor);
    )+ };
}

macro_rules! bits {
    ($ty:ty, $($op:ident, $name:ident),+) => { $(
        impl<B> $op<B> for Number<$ty>
        where
            Number<$ty>: Meet<B, Of = Number<$ty>>,
        {
            type Output = Number<$ty>;

            #[inline(always)]
            fn $name(self, other: B) -> Number<$ty> {
                let (a, b) = self.meet(other);
                Number::of(a.value.$name(b.value))
            }
        }
    )+ };
}
integers!(i64, u64);

impl Neg for Number<i64> {
    type Output = Number<i64>;

    #[inline(always)]
    fn neg(self) -> Number<i64> {
        Number::of(self.value.wrapping_neg())
    }
}

impl<T: Arithmetic, B> Add<B> for Number<T>
where
    Number<T>: Meet<B, Of = Number<T>>,
{
    type Output = Number<T>;

    #[inline(always)]
    fn add(self, other: B) -> Number<T> {
        let (a, b) = self.meet(other);
        Number::of(a.value.plus(b.value))
    }
}

impl<T: Arithmetic, B> Sub<B> for Number<T>
where
    Number<T>: Meet<B, Of = Number<T>>,
{
    type Output = Number<T>;

    #[inline(always)]
    fn sub(self, other: B) -> Number<T> {
        let (a, b) = self.meet(other);
        Number::of(a.value.minus(b.value))
    }
}

impl<T: Arithmetic, B> Mul<B> for Number<T>
where
    Number<T>: Meet<B, Of = Number<T>>,
{
    type Output = Number<T>;

    #[inline(always)]
    fn mul(self, other: B) -> Number<T> {
        let (a, b) = self.meet(other);
        Number { value: a.value.times(b.value), left: a.value, right: b.value }
    }
}

/// Operators whose left operand is a constant.
macro_rules! from_the_left {
    ($($constant:ty => $ty:ty: $($op:ident $name:ident),+;)+) => { $($(
        impl $op<Number<$ty>> for $constant {
            type Output = Number<$ty>;

            #[inline(always)]
            fn $name(self, other: Number<$ty>) -> Number<$ty> {
                Number::of(self as $ty).$name(other)
            }
        }
    )+)+ };
}
from_the_left! {
    f32 => f32: Add add, Sub sub, Mul mul, Div div;
    i32 => f32: Add add, Sub sub, Mul mul, Div div;
    f64 => f64: Add add, Sub sub, Mul mul, Div div;
    i32 => f64: Add add, Sub sub, Mul mul, Div div;
    i64 => i64: Add add, Sub sub, Mul mul, Rem rem, BitAnd bitand, BitOr bitor, BitXor bitxor;
    u64 => u64: Add add, Sub sub, Mul mul, Rem rem, BitAnd bitand, BitOr bitor, BitXor bitxor;
}

impl<T: Copy + PartialEq, B: Copy> PartialEq<B> for Number<T>
where
    Number<T>: Meet<B, Of = Number<T>>,
{
    #[inline(always)]
    fn eq(&self, other: &B) -> bool {
        let (a, b) = self.meet(*other);
        a.value == b.value
    }
}

impl<T: Copy + PartialOrd, B: Copy> PartialOrd<B> for Number<T>
where
    Number<T>: Meet<B, Of = Number<T>>,
{
    #[inline(always)]
    fn partial_cmp(&self, other: &B) -> Option<Ordering> {
        let (a, b) = self.meet(*other);
        a.value.partial_cmp(&b.value)
    }

    #[inline(always)]
    fn lt(&self, other: &B) -> bool {
        let (a, b) = self.meet(*other);
        a.value < b.value
    }

    #[inline(always)]
    fn le(&self, other: &B) -> bool {
        let (a, b) = self.meet(*other);
        a.value <= b.value
    }

    #[inline(always)]
    fn gt(&self, other: &B) -> bool {
        let (a, b) = self.meet(*other);
        a.value > b.value
    }

    #[inline(always)]
    fn ge(&self, other: &B) -> bool {
        let (a, b) = self.meet(*other);
        a.value >= b.value
    }
}

/// What a body comes to.
pub trait Root {
    /// How it is held: conditions as 0 and 1.
    type Word: bytemuck::Pod;
    /// Its type in the language.
    #[doc(hidden)]
    const TYPE: Type;

    /// The value.
    fn value(self) -> Self::Word;
    /// The left factor of a product.
    fn left(self) -> Self::Word;
    /// The right factor.
    fn right(self) -> Self::Word;
}

macro_rules! roots {
    ($($ty:ty, $of:ident;)+) => { $(
        impl Root for Number<$ty> {
            type Word = $ty;
            const TYPE: Type = Type::$of;

            #[inline(always)]
            fn value(self) -> $ty {
                self.value
            }

            #[inline(always)]
            fn left(self) -> $ty {
                self.left
            }

            #[inline(always)]
            fn right(self) -> $ty {
                self.right
            }
        }
    )+ };
}
roots! {
    f32, F32;
    f64, F64;
    i64, I64;
    u64, U64;
}

impl Root for bool {
    type Word = u8;
    const TYPE: Type = Type::Bool;

    #[inline(always)]
    fn value(self) -> u8 {
        u8::from(self)
    }

    #[inline(always)]
    fn left(self) -> u8 {
        u8::from(self)
    }

    #[inline(always)]
    fn right(self) -> u8 {
        u8::from(self)
    }
}
