//! Numbers as text and as bits: the shortest decimal that reads back as the same value, and the value's own bits.

use warpfold::{Complex, Float, Value};

use warpfold_io::narrow;

/// One real number of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Number {
    /// The shortest decimal that reads back; `NaN`, `inf`, `-inf`, `true`, `false`.
    pub(super) decimal: String,
    /// Hexadecimal, as many digits as the type has.
    pub(super) bits: String,
    pub(super) kind: NumberClass,
}

/// What a number is to a format that tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberClass {
    Bool,
    /// An integer that a double holds exactly (less than 2^53 in magnitude).
    Integer,
    /// An integer that it does not.
    WideInteger,
    Finite,
    NotFinite,
}

/// A number of a result: real, or complex.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shown {
    Real(Number),
    Complex(Number, Number),
}

/// Shows a value.
pub(super) fn show(value: Value) -> Shown {
    macro_rules! integer {
        ($value:expr) => {{
            let narrow = i64::try_from($value).is_ok_and(|v| v.unsigned_abs() < 1 << 53);
            let bits = format!("{:#0width$x}", $value, width = 2 + 2 * size_of_val(&$value));
            let kind = if narrow { NumberClass::Integer } else { NumberClass::WideInteger };
            Shown::Real(Number { decimal: $value.to_string(), bits, kind })
        }};
    }
    match value {
        Value::Bool(v) => {
            let bits = format!("{:#04x}", u8::from(v));
            Shown::Real(Number { decimal: v.to_string(), bits, kind: NumberClass::Bool })
        }
        Value::I8(v) => integer!(v),
        Value::I16(v) => integer!(v),
        Value::I32(v) => integer!(v),
        Value::I64(v) => integer!(v),
        Value::I128(v) => integer!(v),
        Value::U8(v) => integer!(v),
        Value::U16(v) => integer!(v),
        Value::U32(v) => integer!(v),
        Value::U64(v) => integer!(v),
        Value::U128(v) => integer!(v),
        Value::F16(v) => Shown::Real(v.number()),
        Value::BF16(v) => Shown::Real(v.number()),
        Value::F32(v) => Shown::Real(v.number()),
        Value::F64(v) => Shown::Real(v.number()),
        Value::ComplexF16(v) => complex(v),
        Value::ComplexBF16(v) => complex(v),
        Value::Complex64(v) => complex(v),
        Value::Complex128(v) => complex(v),
    }
}

fn complex<F: Decimal>(value: Complex<F>) -> Shown {
    Shown::Complex(value.re.number(), value.im.number())
}

/// The name of the type of a value.
pub(crate) fn type_name(value: Value) -> &'static str {
    match (value.dtype(), value) {
        (Some(dtype), _) => dtype.name(),
        (_, Value::I128(_)) => "i128",
        (_, Value::U128(_)) => "u128",
        (_, Value::ComplexF16(_)) => "complex<f16>",
        _ => "complex<bf16>",
    }
}

/// A float that can be shown.
trait Decimal: Float {
    fn bits(self) -> String;
    fn wide(self) -> f64;
    /// The shortest digits of a finite value that read back as it.
    fn shortest(self) -> String;

    fn number(self) -> Number {
        let wide = self.wide();
        let decimal = if wide.is_finite() { self.shortest() } else { format!("{wide:?}") };
        let kind = if wide.is_finite() { NumberClass::Finite } else { NumberClass::NotFinite };
        Number { decimal, bits: self.bits(), kind }
    }
}

macro_rules! decimal {
    ($($ty:ty: $digits:literal, $wide:expr, $shortest:expr;)+) => {$(
        impl Decimal for $ty {
            fn bits(self) -> String {
                format!("{:#0width$x}", self.to_bits(), width = 2 + $digits)
            }

            fn wide(self) -> f64 {
                $wide(self)
            }

            fn shortest(self) -> String {
                $shortest(self)
            }
        }
    )+};
}
decimal! {
    warpfold::f16: 4, |x: Self| x.to_f64(), shortest_narrow;
    warpfold::bf16: 4, |x: Self| x.to_f64(), shortest_narrow;
    f32: 8, |x: Self| f64::from(x), |x| format!("{x:?}");
    f64: 16, |x: Self| x, |x| format!("{x:?}");
}

/// Rust prints f32 and f64 as shortly as they read back; the narrow formats need fewer digits than either.
fn shortest_narrow<F: Decimal + std::ops::Neg<Output = F>>(x: F) -> String {
    let wide = x.wide();
    // Five digits tell any two values of 11 significant bits apart.
    let shorter = (0..5).map(|digits| format!("{wide:.digits$e}").parse().unwrap_or(wide));
    let decimal =
        shorter.into_iter().find(|&decimal: &f64| narrow::<F>(decimal) == x).unwrap_or(wide);
    format!("{decimal:?}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpfold::{bf16, f16};

    fn decimal(value: Value) -> String {
        match show(value) {
            Shown::Real(number) => number.decimal,
            Shown::Complex(..) => unreachable!("the tests show real numbers"),
        }
    }

    #[test]
    fn narrow_floats_are_short_and_read_back() {
        for bits in 0..=u16::MAX {
            for (value, back) in [
                (
                    Value::F16(f16::from_bits(bits)),
                    narrow::<f16>(f16::from_bits(bits).to_f64()).to_bits(),
                ),
                (
                    Value::BF16(bf16::from_bits(bits)),
                    narrow::<bf16>(bf16::from_bits(bits).to_f64()).to_bits(),
                ),
            ] {
                let text = decimal(value);
                let wide: f64 = text.parse().unwrap();
                if wide.is_nan() {
                    continue;
                }
                let read = match value {
                    Value::F16(_) => narrow::<f16>(wide).to_bits(),
                    _ => narrow::<bf16>(wide).to_bits(),
                };
                assert_eq!((back, read), (bits, bits), "{text}");
                let digits =
                    text.split('e').next().unwrap().trim_matches(['-', '0', '.']).replace('.', "");
                assert!(digits.trim_end_matches('0').len() <= 5, "{text}");
            }
        }
        assert_eq!(decimal(Value::F16(f16::from_f32(0.1))), "0.1");
        assert_eq!(decimal(Value::BF16(bf16::MAX)), "3.39e38");
        assert_eq!(decimal(Value::F16(f16::NEG_INFINITY)), "-inf");
        assert_eq!(decimal(Value::F32(0.1)), "0.1");
        assert_eq!(decimal(Value::F64(-0.0)), "-0.0");
    }

    #[test]
    fn bits_have_the_width_of_the_type() {
        for (value, bits) in [
            (Value::Bool(true), "0x01"),
            (Value::I8(-1), "0xff"),
            (Value::I64(-2), "0xfffffffffffffffe"),
            (Value::F16(f16::from_f32(1.0)), "0x3c00"),
            (Value::F64(1.0), "0x3ff0000000000000"),
        ] {
            assert!(matches!(show(value), Shown::Real(number) if number.bits == bits), "{value:?}");
        }
    }

    #[test]
    fn wide_integers_are_known() {
        let kind = |value| match show(value) {
            Shown::Real(number) => number.kind,
            Shown::Complex(..) => unreachable!("integers are real"),
        };
        assert_eq!(kind(Value::I64((1 << 53) - 1)), NumberClass::Integer);
        assert_eq!(kind(Value::I64(-(1 << 53))), NumberClass::WideInteger);
        assert_eq!(kind(Value::U64(u64::MAX)), NumberClass::WideInteger);
    }
}
