//! Order as integers: floats map to keys that compare as IEEE 754 `totalOrder` does.

use half::{bf16, f16};

use super::{Decode, Decoded, Float, Real, Rounding};

/// A real type whose values have an order: everything but complex numbers.
pub trait Ordered: Real + Into<crate::Value> {
    /// A signed or unsigned integer of the element's own width.
    type Key: Ord + Default + bytemuck::Pod + std::fmt::Debug + Send + Sync;
    /// The unsigned integer of the element's own width.
    type Magnitude: Ord + Default + bytemuck::Pod + Into<u64> + std::fmt::Debug + Send + Sync;
    /// The positive quiet NaN; only asked of types that have one.
    fn nan() -> Self;

    /// The least key.
    const KEY_MIN: Self::Key;
    /// The greatest key.
    const KEY_MAX: Self::Key;

    /// The greatest magnitude.
    const MAGNITUDE_MAX: Self::Magnitude;
    /// The magnitude of the infinities, where the type has any; NaNs lie above.
    const INFINITE: Option<Self::Magnitude>;

    /// An integer that grows with |x|: |x| of an integer, the bits without the sign of a float.
    fn magnitude(self) -> Self::Magnitude;

    /// The number that a magnitude stands for.
    fn decode_magnitude(magnitude: Self::Magnitude) -> Decoded;

    /// The nearest value of a float type to the number that a magnitude stands for.
    #[doc(hidden)]
    #[inline(always)]
    fn round_magnitude<F: Float>(magnitude: Self::Magnitude) -> F {
        match Self::decode_magnitude(magnitude) {
            Decoded::Nan => F::NAN,
            Decoded::Infinite { .. } => F::INFINITY,
            Decoded::Finite { mantissa: 0, .. } => F::ZERO,
            Decoded::Finite { mantissa, shift, .. } => {
                let zeros = mantissa.leading_zeros();
                let exponent = i64::from(shift) + i64::from(Self::UNIT) + 63 - i64::from(zeros);
                let (negative, sticky) = (false, false);
                F::nearest(Rounding { negative, top: mantissa << zeros, exponent, sticky })
            }
        }
    }

    /// The value's place in the order, with -0 below +0 and NaNs outside the infinities.
    fn key(self) -> Self::Key;

    /// The value at that place.
    fn from_key(key: Self::Key) -> Self;

    /// The key with the order turned over; its own inverse.
    fn turned(key: Self::Key) -> Self::Key;
}

macro_rules! integer {
    ($($ty:ty: $magnitude:ty),+) => {$(
        impl Ordered for $ty {
            type Key = $ty;
            type Magnitude = $magnitude;
            const MAGNITUDE_MAX: $magnitude = <$magnitude>::MAX;
            const INFINITE: Option<$magnitude> = None;
            const KEY_MIN: $ty = <$ty>::MIN;
            const KEY_MAX: $ty = <$ty>::MAX;

            fn nan() -> Self {
                unreachable!("an integer is never NaN")
            }

            #[inline(always)]
            fn magnitude(self) -> $magnitude {
                self.abs_diff(0)
            }

            fn decode_magnitude(magnitude: $magnitude) -> Decoded {
                magnitude.decode()
            }

            #[inline(always)]
            fn key(self) -> $ty {
                self
            }

            #[inline(always)]
            fn turned(key: $ty) -> $ty {
                !key
            }

            #[inline(always)]
            fn from_key(key: $ty) -> $ty {
                key
            }
        }
    )+};
}
integer!(i8: u8, i16: u16, i32: u32, i64: u64, u8: u8, u16: u16, u32: u32, u64: u64);

impl Ordered for bool {
    type Key = u8;
    type Magnitude = u8;
    const MAGNITUDE_MAX: u8 = 1;
    const INFINITE: Option<u8> = None;
    const KEY_MIN: u8 = 0;
    const KEY_MAX: u8 = 1;

    fn nan() -> Self {
        unreachable!("a bool is never NaN")
    }

    #[inline(always)]
    fn magnitude(self) -> u8 {
        self as u8
    }

    fn decode_magnitude(magnitude: u8) -> Decoded {
        magnitude.decode()
    }

    #[inline(always)]
    fn key(self) -> u8 {
        self as u8
    }

    #[inline(always)]
    fn turned(key: u8) -> u8 {
        !key
    }

    #[inline(always)]
    fn from_key(key: u8) -> bool {
        key != 0
    }
}

macro_rules! float {
    ($($ty:ty: $key:ty, $bits:ty;)+) => {$(
        impl Ordered for $ty {
            type Key = $key;
            type Magnitude = $bits;
            const MAGNITUDE_MAX: $bits = <$key>::MAX as $bits;
            const INFINITE: Option<$bits> = Some(<$ty>::INFINITY.to_bits());
            const KEY_MIN: $key = <$key>::MIN;
            const KEY_MAX: $key = <$key>::MAX;

            fn nan() -> Self {
                <Self as super::Nearest>::NAN
            }

            #[inline(always)]
            fn magnitude(self) -> $bits {
                self.to_bits() & <$key>::MAX as $bits
            }

            fn decode_magnitude(magnitude: $bits) -> Decoded {
                <$ty>::from_bits(magnitude).decode()
            }

            // Negative floats grow downwards: flipping all bits but the sign turns them over. The map is its own inverse.
            #[inline(always)]
            fn key(self) -> $key {
                let bits = self.to_bits() as $key;
                bits ^ ((bits >> (<$key>::BITS - 1)) & <$key>::MAX)
            }

            #[inline(always)]
            fn turned(key: $key) -> $key {
                !key
            }

            #[inline(always)]
            fn from_key(key: $key) -> $ty {
                <$ty>::from_bits((key ^ ((key >> (<$key>::BITS - 1)) & <$key>::MAX)) as $bits)
            }
        }
    )+};
}
float! {
    f16: i16, u16;
    bf16: i16, u16;
    f32: i32, u32;
    f64: i64, u64;
}
