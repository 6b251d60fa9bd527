//! f32 and f64 on the host where it rounds as PTX asks: to nearest, subnormals kept.
//!
//! An f32 result that is a NaN is `0x7fffffff`, as the hardware's. The approximate functions
//! (`ex2.approx`, `rcp.approx`, `div.full`, …) are computed in f64 and rounded to nearest, so they are
//! at least as accurate as the hardware's and may differ from it in the last bits. `rcp.approx.ftz.f64` and
//! `rsqrt.approx.ftz.f64` take and give upper words alone, as the hardware's.

use super::soft::Format;
use super::{Binary, Compare, Ternary, Unary, binary, compare, ternary, unary};
use crate::ptx::{Mnemonic, Type};

fn single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn double(bits: u64) -> f64 {
    f64::from_bits(bits)
}

fn from_single(value: f32) -> u64 {
    if value.is_nan() { 0x7fff_ffff } else { u64::from(value.to_bits()) }
}

/// A NaN result takes the first NaN operand's payload, quieted, or the default NaN.
fn from_double(value: f64, operands: [f64; 3]) -> u64 {
    if !value.is_nan() {
        return value.to_bits();
    }
    match operands.iter().find(|x| x.is_nan()) {
        Some(nan) => nan.to_bits() | 1 << 51,
        None => 0xfff8_0000_0000_0000,
    }
}

/// `add`, `sub`, `mul`, `div`, to nearest.
pub(crate) fn binary(mnemonic: Mnemonic, ty: Type) -> Option<Binary> {
    match (mnemonic, ty) {
        (Mnemonic::Add, Type::F32) => binary!(|x, y| from_single(single(x) + single(y))),
        (Mnemonic::Sub, Type::F32) => binary!(|x, y| from_single(single(x) - single(y))),
        (Mnemonic::Mul, Type::F32) => binary!(|x, y| from_single(single(x) * single(y))),
        (Mnemonic::Div, Type::F32) => binary!(|x, y| from_single(single(x) / single(y))),
        (Mnemonic::Add, Type::F64) => binary!(|x, y| {
            let (x, y) = (double(x), double(y));
            from_double(x + y, [x, y, 0.0])
        }),
        (Mnemonic::Sub, Type::F64) => binary!(|x, y| {
            let (x, y) = (double(x), double(y));
            from_double(x - y, [x, y, 0.0])
        }),
        (Mnemonic::Mul, Type::F64) => binary!(|x, y| {
            let (x, y) = (double(x), double(y));
            from_double(x * y, [x, y, 0.0])
        }),
        (Mnemonic::Div, Type::F64) => binary!(|x, y| {
            let (x, y) = (double(x), double(y));
            from_double(x / y, [x, y, 0.0])
        }),
        _ => None,
    }
}

/// `fma`, to nearest.
pub(crate) fn fused(ty: Type) -> Option<Ternary> {
    match ty {
        Type::F32 => ternary!(|x, y, z| from_single(single(x).mul_add(single(y), single(z)))),
        Type::F64 => ternary!(|x, y, z| {
            let (x, y, z) = (double(x), double(y), double(z));
            from_double(x.mul_add(y, z), [x, y, z])
        }),
        _ => None,
    }
}

/// `sqrt` and `rcp`, to nearest.
pub(crate) fn unary(mnemonic: Mnemonic, ty: Type) -> Option<Unary> {
    match (mnemonic, ty) {
        (Mnemonic::Sqrt, Type::F32) => unary!(|x| from_single(single(x).sqrt())),
        (Mnemonic::Sqrt, Type::F64) => {
            unary!(|x| from_double(double(x).sqrt(), [double(x), 0.0, 0.0]))
        }
        (Mnemonic::Rcp, Type::F32) => unary!(|x| from_single(1.0 / single(x))),
        (Mnemonic::Rcp, Type::F64) => {
            unary!(|x| from_double(1.0 / double(x), [double(x), 0.0, 0.0]))
        }
        _ => None,
    }
}

/// Sign operations, which touch no other bit: `neg`, `abs`. Packed types change both halves.
pub(crate) fn sign(mnemonic: Mnemonic, ty: Type) -> Option<Unary> {
    match (mnemonic, ty) {
        (Mnemonic::Neg, Type::F32) => unary!(|x| x ^ 0x8000_0000),
        (Mnemonic::Neg, Type::F64) => unary!(|x| x ^ 1 << 63),
        (Mnemonic::Neg, Type::F16 | Type::Bf16) => unary!(|x| x ^ 0x8000),
        (Mnemonic::Neg, Type::F16x2 | Type::Bf16x2) => unary!(|x| x ^ 0x8000_8000),
        (Mnemonic::Abs, Type::F32) => unary!(|x| x & 0x7fff_ffff),
        (Mnemonic::Abs, Type::F64) => unary!(|x| x & !(1 << 63)),
        (Mnemonic::Abs, Type::F16 | Type::Bf16) => unary!(|x| x & 0x7fff),
        (Mnemonic::Abs, Type::F16x2 | Type::Bf16x2) => unary!(|x| x & 0x7fff_7fff),
        _ => None,
    }
}

/// `ex2`, `lg2`, `sin`, `cos`, `tanh`, `rsqrt`, `rcp`, `sqrt` where PTX says `.approx`.
pub(crate) fn approximate(mnemonic: Mnemonic, ty: Type, flush: bool) -> Option<Unary> {
    macro_rules! through_f64 {
        (|$x:ident| $e:expr) => {
            unary!(|bits| {
                let $x = f64::from(single(bits));
                from_single(($e) as f32)
            })
        };
    }
    match (mnemonic, ty) {
        (Mnemonic::Ex2, Type::F32) => through_f64!(|x| x.exp2()),
        (Mnemonic::Lg2, Type::F32) => through_f64!(|x| x.log2()),
        (Mnemonic::Sin, Type::F32) => through_f64!(|x| x.sin()),
        (Mnemonic::Cos, Type::F32) => through_f64!(|x| x.cos()),
        (Mnemonic::Tanh, Type::F32) => through_f64!(|x| x.tanh()),
        (Mnemonic::Rsqrt, Type::F32) => through_f64!(|x| 1.0 / x.sqrt()),
        (Mnemonic::Rcp, Type::F32) => through_f64!(|x| 1.0 / x),
        (Mnemonic::Sqrt, Type::F32) => through_f64!(|x| x.sqrt()),
        (Mnemonic::Rsqrt, Type::F64) if flush => {
            unary!(|x| upper_word(1.0 / double(upper_word(double(x))).sqrt()))
        }
        (Mnemonic::Rsqrt, Type::F64) => unary!(|x| (1.0 / double(x).sqrt()).to_bits()),
        (Mnemonic::Rcp, Type::F64) => {
            unary!(|x| upper_word(1.0 / double(upper_word(double(x)))))
        }
        _ => None,
    }
}

/// Its upper 32 bits, zeros for the lower ones; a zero of its sign for a subnormal number.
fn upper_word(x: f64) -> u64 {
    let bits = x.to_bits();
    if x.is_nan() {
        0x7fff_ffff << 32
    } else if x.is_normal() || x.is_infinite() {
        bits >> 32 << 32
    } else {
        bits & 1 << 63
    }
}

/// How `min` and `max` treat NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NanRule {
    /// A number wins over NaN (IEEE 754-2019 `minimumNumber`).
    Number,
    /// NaN wins (`.NaN`; IEEE 754-2019 `minimum`).
    Propagate,
}

/// The lesser (or greater) of two patterns of `format`; −0 is below +0.
pub(crate) fn extreme(a: u64, b: u64, format: Format, greatest: bool, rule: NanRule) -> u64 {
    let bits = format.bits();
    let sign = 1u64 << (bits - 1);
    let infinity = match format {
        Format::F16 => 0x7c00,
        Format::BF16 => 0x7f80,
        Format::F32 => 0x7f80_0000,
        _ => 0x7ff0_0000_0000_0000,
    };
    match (a & !sign > infinity, b & !sign > infinity) {
        (true, true) => return format.nan(),
        (true, false) | (false, true) if rule == NanRule::Propagate => return format.nan(),
        (true, false) => return b,
        (false, true) => return a,
        (false, false) => {}
    }
    // Sign and magnitude to an order of integers.
    let order = |x: u64| if x & sign != 0 { !x & (sign | (sign - 1)) } else { x | sign };
    if (order(a) > order(b)) == greatest { a } else { b }
}

/// `min` and `max` of f32 and f64, subnormals kept.
pub(crate) fn extremes(mnemonic: Mnemonic, ty: Type, rule: NanRule) -> Option<Binary> {
    use NanRule::{Number, Propagate};
    let max = mnemonic == Mnemonic::Max;
    match (ty, max, rule) {
        (Type::F32, false, Number) => binary!(|x, y| extreme(x, y, Format::F32, false, Number)),
        (Type::F32, true, Number) => binary!(|x, y| extreme(x, y, Format::F32, true, Number)),
        (Type::F32, false, Propagate) => {
            binary!(|x, y| extreme(x, y, Format::F32, false, Propagate))
        }
        (Type::F32, true, Propagate) => binary!(|x, y| extreme(x, y, Format::F32, true, Propagate)),
        (Type::F64, false, Number) => binary!(|x, y| extreme(x, y, Format::F64, false, Number)),
        (Type::F64, true, Number) => binary!(|x, y| extreme(x, y, Format::F64, true, Number)),
        _ => None,
    }
}

/// Every comparison, by value: the types differ only in how their bits become an f64.
macro_rules! comparisons {
    ($word:expr, $value:expr) => {
        match $word {
            "eq" => compare!(|x, y| $value(x) == $value(y)),
            "ne" => compare!(|x, y| {
                let order = $value(x).partial_cmp(&$value(y));
                order.is_some_and(std::cmp::Ordering::is_ne)
            }),
            "lt" => compare!(|x, y| $value(x) < $value(y)),
            "le" => compare!(|x, y| $value(x) <= $value(y)),
            "gt" => compare!(|x, y| $value(x) > $value(y)),
            "ge" => compare!(|x, y| $value(x) >= $value(y)),
            "equ" => compare!(|x, y| {
                let (x, y) = ($value(x), $value(y));
                x == y || x.is_nan() || y.is_nan()
            }),
            "neu" => compare!(|x, y| $value(x) != $value(y)),
            "ltu" => compare!(|x, y| {
                let (x, y) = ($value(x), $value(y));
                x < y || x.is_nan() || y.is_nan()
            }),
            "leu" => compare!(|x, y| {
                let (x, y) = ($value(x), $value(y));
                x <= y || x.is_nan() || y.is_nan()
            }),
            "gtu" => compare!(|x, y| {
                let (x, y) = ($value(x), $value(y));
                x > y || x.is_nan() || y.is_nan()
            }),
            "geu" => compare!(|x, y| {
                let (x, y) = ($value(x), $value(y));
                x >= y || x.is_nan() || y.is_nan()
            }),
            "num" => compare!(|x, y| !$value(x).is_nan() && !$value(y).is_nan()),
            "nan" => compare!(|x, y| $value(x).is_nan() || $value(y).is_nan()),
            _ => None,
        }
    };
}

fn flushed_single(bits: u64) -> f32 {
    single(Format::F32.flushed(bits))
}

fn half_value(bits: u64) -> f32 {
    half::f16::from_bits(bits as u16).to_f32()
}

fn bf16_value(bits: u64) -> f32 {
    half::bf16::from_bits(bits as u16).to_f32()
}

/// The comparison that `word` names; with `flush`, subnormal f32 operands count as zeros.
pub(crate) fn comparison(word: &str, ty: Type, flush: bool) -> Option<Compare> {
    match ty {
        Type::F32 if flush => comparisons!(word, flushed_single),
        Type::F32 => comparisons!(word, single),
        Type::F64 => comparisons!(word, double),
        Type::F16 => comparisons!(word, half_value),
        Type::Bf16 => comparisons!(word, bf16_value),
        _ => None,
    }
}

/// `testp`: a property of one float.
pub(crate) fn property(word: &str, ty: Type) -> Option<Compare> {
    macro_rules! properties {
        ($value:expr) => {
            match word {
                "finite" => compare!(|x, _y| $value(x).is_finite()),
                "infinite" => compare!(|x, _y| $value(x).is_infinite()),
                "number" => compare!(|x, _y| !$value(x).is_nan()),
                "notanumber" => compare!(|x, _y| $value(x).is_nan()),
                "normal" => compare!(|x, _y| $value(x).is_normal()),
                "subnormal" => compare!(|x, _y| $value(x).is_subnormal()),
                _ => None,
            }
        };
    }
    match ty {
        Type::F32 => properties!(single),
        Type::F64 => properties!(double),
        _ => None,
    }
}

/// `copysign`: the sign of `a` on `b`.
pub(crate) fn copysign(ty: Type) -> Option<Binary> {
    match ty {
        Type::F32 => binary!(|a, b| (a & 0x8000_0000) | (b & 0x7fff_ffff)),
        Type::F64 => binary!(|a, b| (a & 1 << 63) | (b & !(1 << 63))),
        _ => None,
    }
}
