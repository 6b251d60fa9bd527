//! Arrays of every type and of every kind of data, from a generator whose numbers never change.

use warpfold::random::word;
use warpfold::{Complex, Element, bf16, f16};

/// Kinds of data.
pub(crate) const KINDS: usize = 9;

/// An element of a kind of data, from a random number and its index.
pub(crate) trait Make: Element {
    fn make(kind: usize, random: u64, index: usize) -> Self;
}

/// An array.
pub(crate) fn array<T: Make>(kind: usize, n: usize, seed: u64) -> Vec<T> {
    (0..n).map(|k| T::make(kind, word(seed ^ ((kind as u64) << 40) ^ k as u64, 0), k)).collect()
}

impl Make for bool {
    fn make(kind: usize, random: u64, _: usize) -> bool {
        match kind {
            0 => random & 1 == 1,
            1 => true,
            _ => random.is_multiple_of(97),
        }
    }
}

macro_rules! integers {
    ($($ty:ty),+) => {$(
        impl Make for $ty {
            fn make(kind: usize, random: u64, index: usize) -> $ty {
                match kind {
                    0 => (random % 100) as $ty,
                    1 => random as $ty,
                    2 if index % 5 == 0 => <$ty>::MAX,
                    2 => <$ty>::MIN,
                    3 => (random % 3) as $ty,
                    _ if random.is_multiple_of(1000) => <$ty>::MIN,
                    _ => 1,
                }
            }
        }
    )+};
}
integers!(i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! floats {
    ($($ty:ty, $bits:ty, $of:expr;)+) => {$(
        impl Make for $ty {
            fn make(kind: usize, random: u64, index: usize) -> $ty {
                let uniform = $of((random >> 11) as f64 / (1u64 << 53) as f64 - 0.5);
                let any = <$ty>::from_bits(random as $bits);
                match (kind, random % 300) {
                    (0, _) => uniform,
                    // Every exponent, NaN and infinities among them.
                    (1, _) => any,
                    (2, 0) => <$ty>::INFINITY,
                    (2, 1) => <$ty>::from_bits(1),
                    (2, 2..10) => $of(-0.0),
                    (3, 0) => <$ty>::NAN,
                    (3, 1..10) => $of(0.0),
                    // Sums that cancel and products that overflow on the way.
                    (4, _) if index % 2 == 0 => <$ty>::MAX,
                    (4, _) => -<$ty>::MAX,
                    (5, _) => $of(-0.0),
                    // Subnormal numbers.
                    (6, _) => <$ty>::from_bits((random % 64) as $bits),
                    (7, 0) => <$ty>::INFINITY,
                    (7, 1) => <$ty>::NEG_INFINITY,
                    (8, _) if any.is_finite() => any,
                    _ => uniform,
                }
            }
        }
    )+};
}
floats! {
    f16, u16, f16::from_f64;
    bf16, u16, bf16::from_f64;
    f32, u32, |x: f64| x as f32;
    f64, u64, |x: f64| x;
}

macro_rules! complex {
    ($($part:ty),+) => {$(
        impl Make for Complex<$part> {
            fn make(kind: usize, random: u64, index: usize) -> Self {
                let part = |random| <$part>::make(kind, random, index);
                Complex::new(part(random), part(word(random, 0)))
            }
        }
    )+};
}
complex!(f32, f64);

/// Calls a function of an element type with every one.
macro_rules! of_every_type {
    ($function:ident($($argument:expr),*)) => {
        $crate::data::of_every_type!(@[bool, i8, i16, i32, i64, u8, u16, u32, u64, warpfold::f16, warpfold::bf16, f32, f64,
            warpfold::Complex<f32>, warpfold::Complex<f64>] $function($($argument),*))
    };
    (@[$($ty:ty),+] $function:ident $arguments:tt) => {
        $($crate::data::of_every_type!(# $ty, $function $arguments);)+
    };
    (# $ty:ty, $function:ident($($argument:expr),*)) => {
        $function::<$ty>($($argument),*)
    };
}
pub(crate) use of_every_type;
