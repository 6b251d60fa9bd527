//! [`Number`] and [`Bits`]: what functions are written for, once. An `f64` is one; so is a register of a kernel whose instructions are being
//! printed (`ptx/symbol.rs`).

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Sub};

/// What an `f64` can do: each operation rounded once, to nearest-even.
pub trait Number:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// Its bits.
    type Bits: Bits<Number = Self, Truth = Self::Truth>;
    /// Whether something holds of it.
    type Truth: Truth;

    /// A constant.
    fn of(value: f64) -> Self;
    /// `self · by + more`, rounded once.
    fn mul_add(self, by: Self, more: Self) -> Self;
    /// The magnitude.
    fn abs(self) -> Self;
    /// Its bits.
    fn to_bits(self) -> Self::Bits;
    /// Less; false of NaN.
    fn is_less(self, than: Self) -> Self::Truth;
    /// Less or equal; false of NaN.
    fn is_at_most(self, bound: Self) -> Self::Truth;
    /// Equal; false of NaN.
    fn equals(self, other: Self) -> Self::Truth;
    /// One of two, both of which are there.
    fn select(condition: Self::Truth, yes: Self, no: Self) -> Self;
    /// One of two, of which only that is computed, if this is a number; a machine may skip the other one too.
    fn choose(
        condition: Self::Truth,
        yes: impl FnOnce() -> Self,
        no: impl FnOnce() -> Self,
    ) -> Self;

    /// Whether it is NaN.
    #[inline(always)]
    fn is_nan(self) -> Self::Truth {
        self.equals(self).not()
    }
}

/// What a `u64` can do: sums, differences and products modulo 2^64.
pub trait Bits:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
{
    /// The number that has such bits.
    type Number;
    /// Whether something holds of it.
    type Truth: Truth;

    /// A constant.
    fn of(value: u64) -> Self;
    /// The number that has these bits.
    fn number(self) -> Self::Number;
    /// As a number, if it is below 2^53.
    fn converted(self) -> Self::Number;
    /// Moved up; nothing is left from 64 on.
    fn up(self, by: Self) -> Self;
    /// Moved down; nothing is left from 64 on.
    fn down(self, by: Self) -> Self;
    /// The upper word of a product.
    fn upper_product(self, by: Self) -> Self;
    /// How many zeros it begins with.
    fn leading_zeros(self) -> Self;
    /// Less, both without a sign.
    fn is_less(self, than: Self) -> Self::Truth;
    /// Equal.
    fn equals(self, other: Self) -> Self::Truth;
    /// One of two.
    fn select(condition: Self::Truth, yes: Self, no: Self) -> Self;
    /// The word of a table at such a place, which it has.
    fn of_table(self, table: &'static [u64]) -> Self;
}

/// What a `bool` can do.
pub trait Truth: Copy {
    /// Both.
    fn and(self, other: Self) -> Self;
    /// One of them, or both.
    fn or(self, other: Self) -> Self;
    /// The contrary.
    fn not(self) -> Self;
}

impl Truth for bool {
    #[inline(always)]
    fn and(self, other: bool) -> bool {
        self & other
    }
    #[inline(always)]
    fn or(self, other: bool) -> bool {
        self | other
    }
    #[inline(always)]
    fn not(self) -> bool {
        !self
    }
}

impl Number for f64 {
    type Bits = Word;
    type Truth = bool;

    #[inline(always)]
    fn of(value: f64) -> f64 {
        value
    }
    #[inline(always)]
    fn mul_add(self, by: f64, more: f64) -> f64 {
        f64::mul_add(self, by, more)
    }
    #[inline(always)]
    fn abs(self) -> f64 {
        f64::abs(self)
    }
    #[inline(always)]
    fn to_bits(self) -> Word {
        Word(f64::to_bits(self))
    }
    #[inline(always)]
    fn is_less(self, than: f64) -> bool {
        self < than
    }
    #[inline(always)]
    fn is_at_most(self, bound: f64) -> bool {
        self <= bound
    }
    #[inline(always)]
    fn equals(self, other: f64) -> bool {
        self == other
    }
    #[inline(always)]
    fn select(condition: bool, yes: f64, no: f64) -> f64 {
        if condition { yes } else { no }
    }
    #[inline(always)]
    fn choose(condition: bool, yes: impl FnOnce() -> f64, no: impl FnOnce() -> f64) -> f64 {
        if condition { yes() } else { no() }
    }
}

/// A `u64` whose sums, differences and products are modulo 2^64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word(pub u64);

macro_rules! operators {
    ($($operator:ident, $name:ident, $way:expr;)*) => {$(
        impl $operator for Word {
            type Output = Word;
            #[inline(always)]
            fn $name(self, other: Word) -> Word {
                Word($way(self.0, other.0))
            }
        }
    )*};
}
operators! {
    Add, add, u64::wrapping_add;
    Sub, sub, u64::wrapping_sub;
    Mul, mul, u64::wrapping_mul;
    BitAnd, bitand, |a, b| a & b;
    BitOr, bitor, |a, b| a | b;
    BitXor, bitxor, |a, b| a ^ b;
}

impl Bits for Word {
    type Number = f64;
    type Truth = bool;

    #[inline(always)]
    fn of(value: u64) -> Word {
        Word(value)
    }
    #[inline(always)]
    fn number(self) -> f64 {
        f64::from_bits(self.0)
    }
    #[inline(always)]
    fn converted(self) -> f64 {
        self.0 as f64
    }
    #[inline(always)]
    fn up(self, by: Word) -> Word {
        Word(if by.0 < 64 { self.0 << by.0 } else { 0 })
    }
    #[inline(always)]
    fn down(self, by: Word) -> Word {
        Word(if by.0 < 64 { self.0 >> by.0 } else { 0 })
    }
    #[inline(always)]
    fn upper_product(self, by: Word) -> Word {
        Word(((u128::from(self.0) * u128::from(by.0)) >> 64) as u64)
    }
    #[inline(always)]
    fn leading_zeros(self) -> Word {
        Word(u64::from(self.0.leading_zeros()))
    }
    #[inline(always)]
    fn is_less(self, than: Word) -> bool {
        self.0 < than.0
    }
    #[inline(always)]
    fn equals(self, other: Word) -> bool {
        self == other
    }
    #[inline(always)]
    fn select(condition: bool, yes: Word, no: Word) -> Word {
        if condition { yes } else { no }
    }
    #[inline(always)]
    fn of_table(self, table: &'static [u64]) -> Word {
        Word(table[self.0 as usize])
    }
}
