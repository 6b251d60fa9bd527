//! Real element types, and how wide their exact sums are.

use half::{bf16, f16};

use super::Element;
use crate::binary::Decode;
use crate::limbs::Limbs;

/// A real element type: an integer, a bool or a float.
pub trait Real: Element<Component = Self> + Decode + Default {
    /// Storage of an exact sum of 2^64 values.
    type SumLimbs: Limbs;
    /// Storage of an exact sum of 2^64 products of two values.
    type ProductLimbs: Limbs;
}

macro_rules! real {
    ($($ty:ty: $sum:literal, $product:literal;)+) => {$(
        impl Real for $ty {
            type SumLimbs = [u64; $sum];
            type ProductLimbs = [u64; $product];
        }
    )+};
}
// Of integers |v| < 2^bits, so 2^64 of them stay below 2^(bits + 64), products below 2^(2 bits + 64); one bit is the sign.
real! {
    bool: 2, 2;
    i8: 2, 2;
    i16: 2, 2;
    i32: 2, 3;
    i64: 3, 4;
    u8: 2, 2;
    u16: 2, 2;
    u32: 2, 3;
    u64: 3, 4;
}
// Of floats 2^exponent + fraction bits span all finite values; 64 more hold 2^64 of them, one is the sign.
real! {
    f16: 2, 3;
    bf16: 6, 10;
    f32: 6, 10;
    f64: 34, 67;
}
