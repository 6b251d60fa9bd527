//! `cvt`: every conversion between integers and floats, with its rounding and saturation.

use super::soft::{Format, Number, Rounding};
use super::{low_bits, sign_extend};
use crate::ptx::Type;

/// What a `cvt` does, resolved from its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conversion {
    pub(crate) to: Type,
    pub(crate) from: Type,
    /// How a float result is rounded.
    pub(crate) rounding: Rounding,
    /// `.rni`, `.rzi`, …: to an integral value.
    pub(crate) integral: Option<Rounding>,
    pub(crate) flush: bool,
    pub(crate) saturate: bool,
    pub(crate) rectify: bool,
    /// Width of the destination register: a narrower signed result is extended to it.
    pub(crate) register_bits: u32,
}

/// The format of a float type's one element.
pub(crate) fn format_of(ty: Type) -> Option<Format> {
    match ty {
        Type::F16 | Type::F16x2 => Some(Format::F16),
        Type::Bf16 | Type::Bf16x2 => Some(Format::BF16),
        Type::F32 => Some(Format::F32),
        Type::F64 => Some(Format::F64),
        _ => None,
    }
}

/// The value of a float pattern; every format's values are f64 values.
pub(crate) fn value_of(bits: u64, format: Format) -> f64 {
    match format {
        Format::F16 => half::f16::from_bits(bits as u16).to_f64(),
        Format::BF16 => half::bf16::from_bits(bits as u16).to_f64(),
        Format::F32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

fn integral(value: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::Nearest => value.round_ties_even(),
        Rounding::Zero => value.trunc(),
        Rounding::Down => value.floor(),
        Rounding::Up => value.ceil(),
    }
}

/// The integers a type holds, least and greatest.
fn range(ty: Type) -> (i128, i128) {
    let bits = ty.bits();
    if ty.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

impl Conversion {
    /// One value converted.
    pub(crate) fn apply(&self, bits: u64) -> u64 {
        match (format_of(self.from), format_of(self.to)) {
            (None, None) => self.integer_to_integer(bits),
            (None, Some(format)) => {
                let bits = Number::integer(self.integer(bits)).pack(format, self.rounding);
                if self.saturate { format.saturated(bits) } else { bits }
            }
            (Some(format), None) => self.float_to_integer(bits, format),
            (Some(from), Some(to)) => self.float_to_float(bits, from, to),
        }
    }

    fn integer(&self, bits: u64) -> i128 {
        let width = self.from.bits();
        if self.from.is_signed() {
            i128::from(sign_extend(bits, width) as i64)
        } else {
            i128::from(bits & low_bits(width))
        }
    }

    /// A value of the integer type `to` as its register holds it.
    fn bits_of(&self, value: i128) -> u64 {
        let bits = value as u64 & low_bits(self.to.bits());
        let wide = if self.to.is_signed() { sign_extend(bits, self.to.bits()) } else { bits };
        wide & low_bits(self.register_bits)
    }

    fn integer_to_integer(&self, bits: u64) -> u64 {
        let value = self.integer(bits);
        if !self.saturate {
            return self.bits_of(value);
        }
        let (least, greatest) = range(self.to);
        self.bits_of(value.clamp(least, greatest))
    }

    fn float_to_integer(&self, bits: u64, format: Format) -> u64 {
        let value = value_of(if self.flush { format.flushed(bits) } else { bits }, format);
        if value.is_nan() {
            // PTX ISA: zero, unless the source is f64 or the destination 64 bits wide.
            let lead = self.from == Type::F64 || self.to.bits() == 64;
            return if lead { self.bits_of(1 << (self.to.bits() - 1)) } else { 0 };
        }
        let (least, greatest) = range(self.to);
        let value = integral(value, self.integral.unwrap_or(Rounding::Zero));
        self.bits_of((value as i128).clamp(least, greatest))
    }

    fn float_to_float(&self, bits: u64, from: Format, to: Format) -> u64 {
        let bits = if self.flush { from.flushed(bits) } else { bits };
        let mut result = match self.integral {
            Some(rounding) => {
                let value = integral(value_of(bits, from), rounding);
                Number::unpack(value.to_bits(), Format::F64).pack(to, self.rounding)
            }
            None => narrowed(bits, from, to, self.rounding),
        };
        if self.flush {
            result = if to == Format::F32 { to.flushed(result) } else { result };
        }
        if self.rectify && result >> (to.bits() - 1) & 1 == 1 {
            result = 0;
        }
        if self.saturate { to.saturated(result) } else { result }
    }
}

/// From one format to another, rounded once.
fn narrowed(bits: u64, from: Format, to: Format, rounding: Rounding) -> u64 {
    // The common ones on the host.
    if !value_of(bits, from).is_nan() {
        match (from, to, rounding) {
            (Format::F32, Format::F16, Rounding::Nearest) => {
                return u64::from(half::f16::from_f32(f32::from_bits(bits as u32)).to_bits());
            }
            (Format::F16, Format::F32, _) => {
                return u64::from(half::f16::from_bits(bits as u16).to_f32().to_bits());
            }
            (_, Format::F64, _) => return value_of(bits, from).to_bits(),
            (Format::F64, Format::F32, Rounding::Nearest) => {
                return u64::from((f64::from_bits(bits) as f32).to_bits());
            }
            _ => {}
        }
    }
    Number::unpack(bits, from).pack(to, rounding)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(to: Type, from: Type) -> Conversion {
        Conversion {
            to,
            from,
            rounding: Rounding::Nearest,
            integral: None,
            flush: false,
            saturate: false,
            rectify: false,
            register_bits: to.bits(),
        }
    }

    #[test]
    fn float_to_integer_clamps_and_names_nan_by_width() {
        let to_s32 = plain(Type::S32, Type::F32);
        assert_eq!(to_s32.apply(u64::from(3e9f32.to_bits())), i32::MAX as u32 as u64);
        assert_eq!(to_s32.apply(u64::from((-2.7f32).to_bits())), -2i32 as u32 as u64);
        assert_eq!(to_s32.apply(u64::from(f32::NAN.to_bits())), 0);
        assert_eq!(plain(Type::S64, Type::F32).apply(u64::from(f32::NAN.to_bits())), 1 << 63);
        assert_eq!(plain(Type::U8, Type::F64).apply((-1f64).to_bits()), 0);
    }

    #[test]
    fn every_f16_survives_a_trip_through_f32() {
        for bits in 0..=u16::MAX {
            let wide = plain(Type::F32, Type::F16).apply(u64::from(bits));
            let back = plain(Type::F16, Type::F32).apply(wide);
            let nan = bits & 0x7fff > 0x7c00;
            assert_eq!(back, if nan { 0x7fff } else { u64::from(bits) });
        }
    }

    #[test]
    fn narrow_signed_results_fill_their_register() {
        let conversion = Conversion { register_bits: 32, ..plain(Type::S8, Type::S32) };
        assert_eq!(conversion.apply(0x180), 0xffff_ff80);
        let clamped = Conversion { saturate: true, ..conversion };
        assert_eq!(clamped.apply(0x180), 0x7f);
    }

    #[test]
    fn integers_round_in_each_direction() {
        let value = (1u64 << 24) + 1;
        let at = |rounding| Conversion { rounding, ..plain(Type::F32, Type::U32) }.apply(value);
        assert_eq!(at(Rounding::Zero), at(Rounding::Nearest));
        assert_eq!(at(Rounding::Up), at(Rounding::Zero) + 1);
    }
}
