//! Real numbers as the exact accumulators see them: a sign, an integer mantissa and a shift.

use half::{bf16, f16};

/// A number taken apart: a finite value is `mantissa · 2^(shift + UNIT)` of its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decoded {
    /// A finite number.
    Finite {
        /// Whether the sign bit is set.
        negative: bool,
        /// The magnitude as an integer of at most [`Decode::MANTISSA_BITS`] bits.
        mantissa: u64,
        /// Position of the mantissa's bit 0 above the type's lowest bit.
        shift: u32,
    },
    /// An infinity.
    Infinite {
        /// Whether it is the negative one.
        negative: bool,
    },
    /// Any NaN.
    Nan,
}

/// A real number type that can be taken apart: an integer, a bool or a float.
pub trait Decode: Copy {
    /// The exponent of the lowest bit that a value of the type can have.
    const UNIT: i32;
    /// Bits of the largest mantissa.
    const MANTISSA_BITS: u32;
    /// The largest shift plus one: how many positions a mantissa can stand at.
    const SHIFTS: u32;

    /// Takes the number apart without loss.
    fn decode(self) -> Decoded;

    /// Whether the value is a NaN.
    #[inline(always)]
    fn is_nan(self) -> bool {
        matches!(self.decode(), Decoded::Nan)
    }
}

macro_rules! integer {
    ($($ty:ty: $bits:literal;)+) => {$(
        impl Decode for $ty {
            const UNIT: i32 = 0;
            const MANTISSA_BITS: u32 = $bits;
            const SHIFTS: u32 = 1;

            #[inline(always)]
            fn decode(self) -> Decoded {
                let value = self as i128;
                Decoded::Finite {
                    negative: value < 0,
                    mantissa: value.unsigned_abs() as u64,
                    shift: 0,
                }
            }

            #[inline(always)]
            fn is_nan(self) -> bool {
                false
            }
        }
    )+};
}
integer! {
    bool: 1;
    i8: 8;
    i16: 16;
    i32: 32;
    i64: 64;
    u8: 8;
    u16: 16;
    u32: 32;
    u64: 64;
}

macro_rules! float {
    ($($ty:ty: $bits:ty, $fraction:literal, $exponent:literal;)+) => {$(
        impl Decode for $ty {
            // The lowest bit of the smallest subnormal.
            const UNIT: i32 = 2 - (1 << ($exponent - 1)) - $fraction;
            const MANTISSA_BITS: u32 = $fraction + 1;
            // Exponent fields 0 and 1 share shift 0; the last field is no finite number.
            const SHIFTS: u32 = (1 << $exponent) - 2;

            #[inline(always)]
            fn decode(self) -> Decoded {
                const FIELD: u32 = (1 << $exponent) - 1;
                let bits = self.to_bits();
                let negative = bits >> ($fraction + $exponent) != 0;
                let field = (bits >> $fraction) as u32 & FIELD;
                let fraction = (bits & (((1 as $bits) << $fraction) - 1)) as u64;
                if field == FIELD {
                    if fraction == 0 { Decoded::Infinite { negative } } else { Decoded::Nan }
                } else {
                    let implicit = u64::from(field != 0) << $fraction;
                    let shift = field.saturating_sub(1);
                    Decoded::Finite { negative, mantissa: fraction | implicit, shift }
                }
            }

            #[inline(always)]
            fn is_nan(self) -> bool {
                <$ty>::is_nan(self)
            }
        }
    )+};
}
float! {
    f16: u16, 10, 5;
    bf16: u16, 7, 8;
    f32: u32, 23, 8;
    f64: u64, 52, 11;
}
