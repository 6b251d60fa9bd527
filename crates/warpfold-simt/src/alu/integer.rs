//! Integer arithmetic: wrapping, division, comparison, carries.

use super::{Binary, Compare, Ternary, Unary, WARP, binary, compare, ternary, unary};
use super::{Lanes, low_bits, sign_extend};
use crate::ptx::{Mnemonic, Type};

/// Picks by the type's width and sign: `unsigned` and `signed` are written for a type `T`.
macro_rules! by_type {
    ($ty:expr, $make:ident!, $($args:tt)*) => {
        match $ty {
            Type::U16 | Type::B16 => $make!(u16, u16, $($args)*),
            Type::U32 | Type::B32 => $make!(u32, u32, $($args)*),
            Type::U64 | Type::B64 => $make!(u64, u64, $($args)*),
            Type::S16 => $make!(i16, u16, $($args)*),
            Type::S32 => $make!(i32, u32, $($args)*),
            Type::S64 => $make!(i64, u64, $($args)*),
            _ => None,
        }
    };
}

macro_rules! one {
    ($t:ty, $u:ty, |$x:ident| $e:expr) => {
        unary!(|v| {
            let $x = v as $t;
            ($e) as $u as u64
        })
    };
}

macro_rules! two {
    ($t:ty, $u:ty, |$x:ident, $y:ident| $e:expr) => {
        binary!(|v, w| {
            let ($x, $y) = (v as $t, w as $t);
            ($e) as $u as u64
        })
    };
}

macro_rules! test {
    ($t:ty, $u:ty, |$x:ident, $y:ident| $e:expr) => {
        compare!(|v, w| {
            let ($x, $y) = (v as $t, w as $t);
            $e
        })
    };
}

/// Halves of a word, each by itself.
macro_rules! halves {
    ($t:ty, |$x:ident, $y:ident| $e:expr) => {
        binary!(|v, w| {
            let half = |at: u32| {
                let ($x, $y) = ((v >> at) as $t, (w >> at) as $t);
                u64::from(($e) as u16) << at
            };
            half(0) | half(16)
        })
    };
}

/// What a quotient by zero is: all ones, as the hardware gives.
macro_rules! quotient {
    ($t:ty, $u:ty, ) => {
        binary!(|v, w| {
            let (x, y) = (v as $t, w as $t);
            if y == 0 { <$u>::MAX as u64 } else { x.wrapping_div(y) as $u as u64 }
        })
    };
}

macro_rules! remainder {
    ($t:ty, $u:ty, ) => {
        binary!(|v, w| {
            let (x, y) = (v as $t, w as $t);
            if y == 0 { x as $u as u64 } else { x.wrapping_rem(y) as $u as u64 }
        })
    };
}

macro_rules! absolute_difference {
    ($t:ty, $u:ty, ) => {
        ternary!(|v, w, z| {
            let (x, y) = (v as $t, w as $t);
            (x.abs_diff(y) as $u).wrapping_add(z as $u) as u64
        })
    };
}

/// `neg`, `abs`, `not`, `cnot`.
pub(crate) fn unary(mnemonic: Mnemonic, ty: Type) -> Option<Unary> {
    match mnemonic {
        Mnemonic::Neg => by_type!(ty, one!, |x| x.wrapping_neg()),
        Mnemonic::Abs => match ty {
            Type::S16 => one!(i16, u16, |x| x.wrapping_abs()),
            Type::S32 => one!(i32, u32, |x| x.wrapping_abs()),
            Type::S64 => one!(i64, u64, |x| x.wrapping_abs()),
            _ => None,
        },
        Mnemonic::Not => by_type!(ty, one!, |x| !x),
        Mnemonic::Cnot => by_type!(ty, one!, |x| u8::from(x == 0)),
        _ => None,
    }
}

/// Two operands to a result of the same type.
pub(crate) fn binary(mnemonic: Mnemonic, ty: Type) -> Option<Binary> {
    match (mnemonic, ty) {
        (Mnemonic::Add, Type::U16x2 | Type::S16x2) => {
            return halves!(u16, |x, y| x.wrapping_add(y));
        }
        (Mnemonic::Min, Type::U16x2) => return halves!(u16, |x, y| x.min(y)),
        (Mnemonic::Max, Type::U16x2) => return halves!(u16, |x, y| x.max(y)),
        (Mnemonic::Min, Type::S16x2) => return halves!(i16, |x, y| x.min(y)),
        (Mnemonic::Max, Type::S16x2) => return halves!(i16, |x, y| x.max(y)),
        _ => {}
    }
    match mnemonic {
        Mnemonic::Add => by_type!(ty, two!, |x, y| x.wrapping_add(y)),
        Mnemonic::Sub => by_type!(ty, two!, |x, y| x.wrapping_sub(y)),
        Mnemonic::Mul => by_type!(ty, two!, |x, y| x.wrapping_mul(y)),
        Mnemonic::Div => by_type!(ty, quotient!,),
        Mnemonic::Rem => by_type!(ty, remainder!,),
        Mnemonic::Min => by_type!(ty, two!, |x, y| x.min(y)),
        Mnemonic::Max => by_type!(ty, two!, |x, y| x.max(y)),
        Mnemonic::And => by_type!(ty, two!, |x, y| x & y),
        Mnemonic::Or => by_type!(ty, two!, |x, y| x | y),
        Mnemonic::Xor => by_type!(ty, two!, |x, y| x ^ y),
        _ => None,
    }
}

/// `sad`: |a − b| + c.
pub(crate) fn sum_of_difference(ty: Type) -> Option<Ternary> {
    by_type!(ty, absolute_difference!,)
}

/// Saturating `add.sat.s32` and `sub.sat.s32`.
pub(crate) fn saturating(mnemonic: Mnemonic) -> Option<Binary> {
    match mnemonic {
        Mnemonic::Add => two!(i32, u32, |x, y| x.saturating_add(y)),
        Mnemonic::Sub => two!(i32, u32, |x, y| x.saturating_sub(y)),
        _ => None,
    }
}

/// `mul.hi`: the upper half of the double-width product.
pub(crate) fn multiply_high(ty: Type) -> Option<Binary> {
    match ty {
        Type::U16 => binary!(|x, y| ((x & 0xffff) * (y & 0xffff)) >> 16),
        Type::S16 => {
            binary!(|x, y| ((i32::from(x as i16) * i32::from(y as i16)) >> 16) as u16 as u64)
        }
        Type::U32 => binary!(|x, y| (u64::from(x as u32) * u64::from(y as u32)) >> 32),
        Type::S32 => {
            binary!(|x, y| ((i64::from(x as i32) * i64::from(y as i32)) >> 32) as u32 as u64)
        }
        Type::U64 => binary!(|x, y| ((u128::from(x) * u128::from(y)) >> 64) as u64),
        Type::S64 => {
            binary!(|x, y| ((i128::from(x as i64) * i128::from(y as i64)) >> 64) as u64)
        }
        _ => None,
    }
}

/// `mul.wide`: the whole product, twice as wide.
pub(crate) fn multiply_wide(ty: Type) -> Option<Binary> {
    match ty {
        Type::U16 => binary!(|x, y| (x & 0xffff) * (y & 0xffff)),
        Type::S16 => binary!(|x, y| (i32::from(x as i16) * i32::from(y as i16)) as u32 as u64),
        Type::U32 => binary!(|x, y| u64::from(x as u32) * u64::from(y as u32)),
        Type::S32 => binary!(|x, y| (i64::from(x as i32) * i64::from(y as i32)) as u64),
        _ => None,
    }
}

/// The product of the low 24 bits: `mul24.lo` or, shifted by 16, `mul24.hi`.
pub(crate) fn multiply_24(ty: Type, high: bool) -> Option<Binary> {
    match (ty, high) {
        (Type::U32, false) => binary!(|x, y| u64::from(((x & 0xff_ffff) * (y & 0xff_ffff)) as u32)),
        (Type::U32, true) => binary!(|x, y| ((x & 0xff_ffff) * (y & 0xff_ffff)) >> 16),
        (Type::S32, false) => {
            binary!(|x, y| sign_extend(x, 24).wrapping_mul(sign_extend(y, 24)) & 0xffff_ffff)
        }
        (Type::S32, true) => binary!(|x, y| {
            ((sign_extend(x, 24) as i64).wrapping_mul(sign_extend(y, 24) as i64) >> 16) as u32
                as u64
        }),
        _ => None,
    }
}

/// The comparison that `word` names. For unsigned types `lo`, `ls`, `hi`, `hs` are the same orders.
pub(crate) fn comparison(word: &str, ty: Type) -> Option<Compare> {
    match word {
        "eq" => by_type!(ty, test!, |x, y| x == y),
        "ne" => by_type!(ty, test!, |x, y| x != y),
        "lt" | "lo" => by_type!(ty, test!, |x, y| x < y),
        "le" | "ls" => by_type!(ty, test!, |x, y| x <= y),
        "gt" | "hi" => by_type!(ty, test!, |x, y| x > y),
        "ge" | "hs" => by_type!(ty, test!, |x, y| x >= y),
        _ => None,
    }
}

/// What an extended-precision instruction computes before the carry is taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extended {
    /// a + b
    Add,
    /// a − b, where the carry is a borrow
    Subtract,
    /// low half of a · b, plus c
    MultiplyLow,
    /// high half of a · b, plus c
    MultiplyHigh,
}

/// `add.cc`, `addc`, `sub.cc`, `subc`, `mad.cc`, `madc`: the sum and each lane's carry out.
pub(crate) fn extended(
    kind: Extended,
    ty: Type,
    operands: [&Lanes; 3],
    carry_in: u32,
    out: &mut Lanes,
) -> u32 {
    let bits = ty.bits();
    let mask = u128::from(low_bits(bits));
    let mut carry_out = 0;
    for lane in 0..WARP {
        let [a, b, c] = operands.map(|lanes| u128::from(lanes[lane]) & mask);
        let carry = u128::from(carry_in >> lane & 1);
        let wide = match kind {
            Extended::Add => a + b + carry,
            // A borrow shows as a carry out of the wrapped difference.
            Extended::Subtract => a.wrapping_sub(b).wrapping_sub(carry),
            Extended::MultiplyLow => ((a * b) & mask) + c + carry,
            Extended::MultiplyHigh if ty.is_signed() => {
                let signed = |v: u128| i128::from(sign_extend(v as u64, bits) as i64);
                ((signed(a) * signed(b)) >> bits) as u128 % (mask + 1) + c + carry
            }
            Extended::MultiplyHigh => ((a * b) >> bits) + c + carry,
        };
        out[lane] = (wide & mask) as u64;
        carry_out |= u32::from(wide & !mask != 0) << lane;
    }
    carry_out
}
