//! Shifts, bit fields, permutes and small dot products.

use super::{Binary, Ternary, Unary, binary, low_bits, sign_extend, ternary, unary};
use crate::ptx::{Mnemonic, Type};

/// `popc`, `clz`, `brev`, `bfind` on 32 or 64 bits.
pub(crate) fn unary(mnemonic: Mnemonic, ty: Type) -> Option<Unary> {
    match (mnemonic, ty.bits()) {
        (Mnemonic::Popc, 32) => unary!(|x| u64::from((x as u32).count_ones())),
        (Mnemonic::Popc, 64) => unary!(|x| u64::from(x.count_ones())),
        (Mnemonic::Clz, 32) => unary!(|x| u64::from((x as u32).leading_zeros())),
        (Mnemonic::Clz, 64) => unary!(|x| u64::from(x.leading_zeros())),
        (Mnemonic::Brev, 32) => unary!(|x| u64::from((x as u32).reverse_bits())),
        (Mnemonic::Brev, 64) => unary!(|x| x.reverse_bits()),
        _ => None,
    }
}

/// The highest bit that differs from the sign, `0xffffffff` where there is none.
fn highest(value: u64, ty: Type) -> u64 {
    let bits = ty.bits();
    let wide = if ty.is_signed() { sign_extend(value, bits) } else { value & low_bits(bits) };
    let magnitude = if ty.is_signed() && (wide as i64) < 0 { !wide } else { wide };
    if magnitude == 0 { 0xffff_ffff } else { 63 - u64::from(magnitude.leading_zeros()) }
}

/// `bfind`, and `bfind.shiftamt`: how far left to shift so that the bit leads.
pub(crate) fn find_highest(ty: Type, shift_amount: bool) -> Option<Unary> {
    match (ty, shift_amount) {
        (Type::U32, false) => unary!(|x| highest(x, Type::U32)),
        (Type::S32, false) => unary!(|x| highest(x, Type::S32)),
        (Type::U64, false) => unary!(|x| highest(x, Type::U64)),
        (Type::S64, false) => unary!(|x| highest(x, Type::S64)),
        (Type::U32, true) => unary!(|x| shift_to(highest(x, Type::U32), 31)),
        (Type::S32, true) => unary!(|x| shift_to(highest(x, Type::S32), 31)),
        (Type::U64, true) => unary!(|x| shift_to(highest(x, Type::U64), 63)),
        (Type::S64, true) => unary!(|x| shift_to(highest(x, Type::S64), 63)),
        _ => None,
    }
}

fn shift_to(highest: u64, top: u64) -> u64 {
    if highest == 0xffff_ffff { highest } else { top - highest }
}

/// `shl` and `shr`: an amount past the width gives zero, or copies of the sign.
pub(crate) fn shift(mnemonic: Mnemonic, ty: Type) -> Option<Binary> {
    use Type::*;
    match (mnemonic, ty) {
        (Mnemonic::Shl, B16) => binary!(|x, n| shift_left(x, n, 16)),
        (Mnemonic::Shl, B32) => binary!(|x, n| shift_left(x, n, 32)),
        (Mnemonic::Shl, B64) => binary!(|x, n| shift_left(x, n, 64)),
        (Mnemonic::Shr, B16 | U16) => binary!(|x, n| right(x & 0xffff, n)),
        (Mnemonic::Shr, B32 | U32) => binary!(|x, n| right(u64::from(x as u32), n)),
        (Mnemonic::Shr, B64 | U64) => binary!(|x, n| right(x, n)),
        (Mnemonic::Shr, S16) => binary!(|x, n| right_signed(x, n, 16)),
        (Mnemonic::Shr, S32) => binary!(|x, n| right_signed(x, n, 32)),
        (Mnemonic::Shr, S64) => binary!(|x, n| right_signed(x, n, 64)),
        _ => None,
    }
}

fn shift_left(x: u64, n: u64, bits: u32) -> u64 {
    let n = n as u32;
    if n >= bits { 0 } else { x << n & low_bits(bits) }
}

fn right(x: u64, n: u64) -> u64 {
    let n = n as u32;
    if n >= 64 { 0 } else { x >> n }
}

fn right_signed(x: u64, n: u64, bits: u32) -> u64 {
    ((sign_extend(x, bits) as i64) >> (n as u32).min(63)) as u64 & low_bits(bits)
}

/// `shf`: a 32-bit window of the 64 bits `b:a`, amount wrapped or clamped.
pub(crate) fn funnel(left: bool, wrap: bool) -> Option<Ternary> {
    fn amount(n: u64, wrap: bool) -> u32 {
        if wrap { n as u32 & 31 } else { (n as u32).min(32) }
    }
    fn window(a: u64, b: u64) -> u64 {
        (b << 32) | u64::from(a as u32)
    }
    match (left, wrap) {
        (true, true) => ternary!(|a, b, n| (window(a, b) << amount(n, true)) >> 32),
        (true, false) => {
            ternary!(|a, b, n| (window(a, b).checked_shl(amount(n, false)).unwrap_or(0)) >> 32)
        }
        (false, true) => ternary!(|a, b, n| (window(a, b) >> amount(n, true)) & 0xffff_ffff),
        (false, false) => ternary!(|a, b, n| (window(a, b) >> amount(n, false)) & 0xffff_ffff),
    }
}

/// `bfe`: the field of length `c` at position `b`.
pub(crate) fn extract(ty: Type) -> Option<Ternary> {
    fn field(value: u64, position: u64, length: u64, ty: Type) -> u64 {
        let bits = ty.bits();
        let (position, length) = ((position & 0xff) as u32, (length & 0xff) as u32);
        let value = value & low_bits(bits);
        if length == 0 {
            return 0;
        }
        // Past the top a signed field repeats its highest bit that exists.
        let wide =
            if ty.is_signed() { sign_extend(value, bits) as i64 as i128 } else { value as i128 };
        let shifted = (wide >> position.min(127)) as u128;
        let length = length.min(bits);
        let kept = (shifted & ((1u128 << length) - 1)) as u64;
        let signed = if ty.is_signed() {
            let top = (position + length - 1).min(bits - 1);
            let sign = value >> top & 1;
            if sign == 1 { kept | !low_bits(length) } else { kept }
        } else {
            kept
        };
        signed & low_bits(bits)
    }
    match ty {
        Type::U32 => ternary!(|a, b, c| field(a, b, c, Type::U32)),
        Type::S32 => ternary!(|a, b, c| field(a, b, c, Type::S32)),
        Type::U64 => ternary!(|a, b, c| field(a, b, c, Type::U64)),
        Type::S64 => ternary!(|a, b, c| field(a, b, c, Type::S64)),
        _ => None,
    }
}

/// `bfi`: the low `length` bits of `a` put into `b` at `position`.
pub(crate) fn insert(a: u64, b: u64, position: u64, length: u64, bits: u32) -> u64 {
    let (position, length) = ((position & 0xff) as u32, (length & 0xff) as u32);
    if position >= bits {
        return b & low_bits(bits);
    }
    let field = low_bits(length.min(bits)) << position & low_bits(bits);
    if length == 0 {
        b & low_bits(bits)
    } else {
        (a << position & field) | (b & !field & low_bits(bits))
    }
}

/// `prmt` in its default mode: four bytes picked out of eight, or copies of their signs.
pub(crate) fn permute() -> Option<Ternary> {
    ternary!(|a, b, selector| {
        let bytes = (b << 32) | u64::from(a as u32);
        let mut result = 0;
        for i in 0..4 {
            let pick = selector >> (4 * i) & 0xf;
            let byte = bytes >> (8 * (pick & 7)) & 0xff;
            let byte = if pick & 8 != 0 { (byte >> 7) * 0xff } else { byte };
            result |= byte << (8 * i);
        }
        result
    })
}

/// The other modes of `prmt`, which pick bytes by a pattern and the selector's low two bits.
pub(crate) fn permute_mode(word: &str) -> Option<Ternary> {
    fn picked(a: u64, b: u64, picks: [u64; 4]) -> u64 {
        let bytes = (b << 32) | u64::from(a as u32);
        (0..4).map(|i| (bytes >> (8 * picks[i]) & 0xff) << (8 * i)).sum()
    }
    match word {
        "f4e" => ternary!(|a, b, c| picked(a, b, [0, 1, 2, 3].map(|i| (c & 3) + i))),
        "b4e" => ternary!(|a, b, c| picked(a, b, [8u64, 7, 6, 5].map(|i| ((c & 3) + i) & 7))),
        "rc8" => ternary!(|a, b, c| picked(a, b, [c & 3; 4])),
        "ecl" => ternary!(|a, b, c| picked(a, b, [0, 1, 2, 3].map(|i: u64| i.max(c & 3)))),
        "ecr" => ternary!(|a, b, c| picked(a, b, [0, 1, 2, 3].map(|i: u64| i.min(c & 3)))),
        "rc16" => {
            ternary!(|a, b, c| picked(a, b, [0, 1, 0, 1].map(|i: u64| i + 2 * (c & 1))))
        }
        _ => None,
    }
}

/// `lop3`: the truth table `table` over three words, bit by bit.
pub(crate) fn logic3(a: u64, b: u64, c: u64, table: u8) -> u64 {
    let mut result = 0;
    for row in 0..8 {
        if table >> row & 1 == 1 {
            let pick = |value: u64, bit: u8| if row & bit != 0 { value } else { !value };
            result |= pick(a, 4) & pick(b, 2) & pick(c, 1);
        }
    }
    result & 0xffff_ffff
}

/// `dp4a`: four products of bytes, added to `c`. Signs of `a` and `b` as the types say.
pub(crate) fn dot4(a_type: Type, b_type: Type) -> Option<Ternary> {
    fn dot(a: u64, b: u64, c: u64, a_signed: bool, b_signed: bool) -> u64 {
        let byte = |v: u64, i: u32, signed: bool| {
            let byte = (v >> (8 * i)) as u8;
            if signed { i32::from(byte as i8) } else { i32::from(byte) }
        };
        let sum = (0..4).fold(c as i32, |sum: i32, i| {
            sum.wrapping_add(byte(a, i, a_signed) * byte(b, i, b_signed))
        });
        sum as u32 as u64
    }
    match (a_type, b_type) {
        (Type::S32, Type::S32) => ternary!(|a, b, c| dot(a, b, c, true, true)),
        (Type::S32, Type::U32) => ternary!(|a, b, c| dot(a, b, c, true, false)),
        (Type::U32, Type::S32) => ternary!(|a, b, c| dot(a, b, c, false, true)),
        (Type::U32, Type::U32) => ternary!(|a, b, c| dot(a, b, c, false, false)),
        _ => None,
    }
}

/// `dp2a`: two products of 16-bit halves of `a` and the low or high bytes of `b`, added to `c`.
pub(crate) fn dot2(a_type: Type, b_type: Type, high: bool) -> Option<Ternary> {
    fn dot(a: u64, b: u64, c: u64, a_signed: bool, b_signed: bool, high: bool) -> u64 {
        let sum = (0..2).fold(c as i32, |sum: i32, i| {
            let half = (a >> (16 * i)) as u16;
            let byte = (b >> (8 * (i + 2 * u32::from(high)))) as u8;
            let x = if a_signed { i32::from(half as i16) } else { i32::from(half) };
            let y = if b_signed { i32::from(byte as i8) } else { i32::from(byte) };
            sum.wrapping_add(x * y)
        });
        sum as u32 as u64
    }
    match (a_type, b_type, high) {
        (Type::S32, Type::S32, false) => ternary!(|a, b, c| dot(a, b, c, true, true, false)),
        (Type::S32, Type::S32, true) => ternary!(|a, b, c| dot(a, b, c, true, true, true)),
        (Type::U32, Type::U32, false) => ternary!(|a, b, c| dot(a, b, c, false, false, false)),
        (Type::U32, Type::U32, true) => ternary!(|a, b, c| dot(a, b, c, false, false, true)),
        (Type::S32, Type::U32, false) => ternary!(|a, b, c| dot(a, b, c, true, false, false)),
        (Type::S32, Type::U32, true) => ternary!(|a, b, c| dot(a, b, c, true, false, true)),
        _ => None,
    }
}
