//! [`Number`]: one field turned into an element, rounded once.

mod decimal;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::num::IntErrorKind;
use std::str::FromStr;

use warpfold_num::{Complex, bf16, f16};

pub(crate) use decimal::Decimal;

use crate::narrow::narrow;

/// Why a field is no element of the type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberError {
    /// It is no number, or not one of this kind.
    NotANumber,
    /// It is an integer that the type cannot hold.
    OutOfRange,
}

/// An element type that can be read from text.
pub trait Number: Sized {
    /// Parses a field without blanks around it.
    ///
    /// # Errors
    /// [`NumberError`].
    fn parse(text: &[u8]) -> Result<Self, NumberError>;

    /// The element that a decimal is, where that is quickly told.
    #[doc(hidden)]
    fn of_decimal(_: Decimal) -> Option<Self> {
        None
    }

    /// Whether it is an infinity that stands for a number beyond the type, and not for one that the text names.
    #[doc(hidden)]
    fn is_beyond(&self, _text: &[u8]) -> bool {
        false
    }

    /// Whether it is a zero that stands for a number too small for the type, and not for one that the text writes.
    #[doc(hidden)]
    fn is_lost(&self, _text: &[u8]) -> bool {
        false
    }

    /// The range of the type in words; empty where every number can be rounded to it.
    fn range() -> String {
        String::new()
    }
}

/// Whether a cell says that there is no number.
pub fn is_missing(text: &[u8]) -> bool {
    text.is_empty()
        || [&b"na"[..], b"n/a", b"null", b"none"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

fn utf8(text: &[u8]) -> Result<&str, NumberError> {
    std::str::from_utf8(text).map_err(|_| NumberError::NotANumber)
}

/// The element that a text is, if it is a decimal and nothing else, and that is quickly told.
#[inline]
fn quickly<T: Number>(text: &[u8]) -> Option<T> {
    T::of_decimal(Decimal::of(text)?)
}

macro_rules! integer {
    ($of:ident: $($ty:ty),+) => {$(
        impl Number for $ty {
            fn parse(text: &[u8]) -> Result<Self, NumberError> {
                if let Some(number) = quickly(text) {
                    return Ok(number);
                }
                let text = utf8(text)?;
                <$ty>::from_str(text).map_err(|error| match error.kind() {
                    IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => NumberError::OutOfRange,
                    // Unsigned types call "-1" an invalid digit.
                    IntErrorKind::InvalidDigit if is_negative_integer(text) => NumberError::OutOfRange,
                    _ => NumberError::NotANumber,
                })
            }

            #[inline]
            fn of_decimal(decimal: Decimal) -> Option<Self> {
                <$ty>::try_from(decimal.$of()?).ok()
            }

            fn range() -> String {
                format!("{} to {}", <$ty>::MIN, <$ty>::MAX)
            }
        }
    )+};
}
integer!(to_integer: i8, i16, i32, i64);
integer!(to_unsigned: u8, u16, u32, u64);

fn is_negative_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

impl Number for bool {
    fn parse(text: &[u8]) -> Result<Self, NumberError> {
        match text {
            b"1" => Ok(true),
            b"0" => Ok(false),
            _ if text.eq_ignore_ascii_case(b"true") => Ok(true),
            _ if text.eq_ignore_ascii_case(b"false") => Ok(false),
            _ if i64::parse(text).is_ok() => Err(NumberError::OutOfRange),
            _ => Err(NumberError::NotANumber),
        }
    }

    fn range() -> String {
        "true, false, 1 or 0".into()
    }
}

/// A float type whose text is rounded once.
trait Rounded: Sized {
    fn round(text: &str) -> Option<Self>;

    fn is_infinity(&self) -> bool;

    fn is_nought(&self) -> bool;
}

/// How many infinities a text names.
fn named_infinities(text: &[u8]) -> usize {
    text.windows(3).filter(|word| word.eq_ignore_ascii_case(b"inf")).count()
}

/// Whether a decimal has a digit that is not 0, whatever its exponent is.
fn is_written_nonzero(text: &[u8]) -> bool {
    let mut digits = text.iter().take_while(|byte| !matches!(byte, b'e' | b'E'));
    digits.any(|byte| matches!(byte, b'1'..=b'9'))
}

macro_rules! wide {
    ($($ty:ty),+) => {$(
        impl Rounded for $ty {
            fn round(text: &str) -> Option<Self> {
                text.parse().ok()
            }

            fn is_infinity(&self) -> bool {
                self.is_infinite()
            }

            fn is_nought(&self) -> bool {
                *self == <$ty>::default()
            }
        }
    )+};
}
wide!(f32, f64);

macro_rules! narrow {
    ($($ty:ty),+) => {$(
        impl Rounded for $ty {
            /// Through f64, whose own rounding must not turn into a tie what is none: a decimal that rounds to a tie without
            /// being one is moved off it, to the side on which it lies.
            fn round(text: &str) -> Option<Self> {
                let near: f64 = text.parse().ok()?;
                let (down, up) = (near.next_down(), near.next_up());
                // Only at a tie (or at the edge of infinity) do the neighbours round differently.
                if near == 0.0 || !near.is_finite() || narrow::<$ty>(down).to_bits() == narrow::<$ty>(up).to_bits() {
                    return Some(narrow(near));
                }
                Some(narrow(match compare(text, near) {
                    Ordering::Less => down,
                    Ordering::Equal => near,
                    Ordering::Greater => up,
                }))
            }

            fn is_infinity(&self) -> bool {
                self.is_infinite()
            }

            fn is_nought(&self) -> bool {
                *self == <$ty>::default()
            }
        }
    )+};
}
narrow!(f16, bf16);

/// Compares the number that a decimal text is with a finite float, exactly, digit by digit.
fn compare(text: &str, with: f64) -> Ordering {
    // 1074 decimal places hold any f64 exactly.
    let exact = format!("{with:.1074}");
    let (a, b) = (Digits::of(text), Digits::of(&exact));
    let magnitude = a.exponent.cmp(&b.exponent).then_with(|| a.digits.cmp(&b.digits));
    if with.is_sign_negative() { magnitude.reverse() } else { magnitude }
}

/// A decimal magnitude `0.digits * 10^exponent`, without zeros at either end.
struct Digits {
    digits: Vec<u8>,
    exponent: i64,
}

impl Digits {
    fn of(text: &str) -> Digits {
        let text = text.trim_start_matches(['+', '-']);
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        let leading = all.iter().take_while(|&&digit| digit == b'0').count();
        let end = all.iter().rposition(|&digit| digit != b'0').map_or(leading, |at| at + 1);
        // An exponent beyond 64 bits never comes here: such numbers are zero or infinite.
        let exponent: i64 = exponent.parse().unwrap_or(0);
        Digits {
            digits: all[leading..end].to_vec(),
            exponent: exponent + whole.len() as i64 - leading as i64,
        }
    }
}

macro_rules! float {
    ($($ty:ty: $of:expr),+) => {$(
        impl Number for $ty {
            fn parse(text: &[u8]) -> Result<Self, NumberError> {
                match quickly(text) {
                    Some(number) => Ok(number),
                    None => <$ty as Rounded>::round(utf8(text)?).ok_or(NumberError::NotANumber),
                }
            }

            #[inline]
            fn of_decimal(decimal: Decimal) -> Option<Self> {
                $of(decimal)
            }

            fn is_beyond(&self, text: &[u8]) -> bool {
                self.is_infinity() && named_infinities(text) == 0
            }

            fn is_lost(&self, text: &[u8]) -> bool {
                self.is_nought() && is_written_nonzero(text)
            }
        }
    )+};
}
float!(f16: |_| None, bf16: |_| None, f32: Decimal::to_f32, f64: Decimal::to_f64);

/// The real and the imaginary part of a complex number as text; of a part that is not written, and of a lone sign or unit, what it means.
fn complex_parts(text: &str) -> (Cow<'_, str>, Cow<'_, str>) {
    const NONE: Cow<'static, str> = Cow::Borrowed("0");
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text);
    let Some(body) = inner.strip_suffix(['i', 'j']) else {
        return (inner.into(), NONE);
    };
    // The sign that starts the imaginary part is the last one that is no exponent's.
    let is_split = |&(at, byte): &(usize, u8)| {
        at > 0 && matches!(byte, b'+' | b'-') && !matches!(body.as_bytes()[at - 1], b'e' | b'E')
    };
    let split = body.bytes().enumerate().rfind(is_split).map_or(0, |(at, _)| at);
    let (re, im) = body.split_at(split);
    let re = if re.is_empty() { NONE } else { re.trim_ascii().into() };
    // Between the parts blanks may stand, as in "1 + 2i"; a lone sign is one.
    let im = im.trim_ascii();
    let spread = im.strip_prefix(['+', '-']).filter(|rest| rest.starts_with(' '));
    let im = match (im, spread) {
        ("" | "+", _) => "1".into(),
        ("-", _) => "-1".into(),
        (_, Some(rest)) => format!("{}{}", &im[..1], rest.trim_ascii()).into(),
        (im, None) => im.into(),
    };
    (re, im)
}

impl<F: Rounded> Number for Complex<F> {
    /// `1+2i`, `1+2j`, `(1+2j)`, `2j` or a real number.
    fn parse(text: &[u8]) -> Result<Self, NumberError> {
        let (re, im) = complex_parts(utf8(text)?);
        let number = |text: &str| F::round(text).ok_or(NumberError::NotANumber);
        Ok(Complex::new(number(&re)?, number(&im)?))
    }

    fn is_beyond(&self, text: &[u8]) -> bool {
        let infinities = usize::from(self.re.is_infinity()) + usize::from(self.im.is_infinity());
        infinities > 0 && infinities > named_infinities(text)
    }

    fn is_lost(&self, text: &[u8]) -> bool {
        if !self.re.is_nought() && !self.im.is_nought() {
            return false;
        }
        let Ok((re, im)) = utf8(text).map(complex_parts) else { return false };
        let is_lost =
            |part: &F, text: &str| part.is_nought() && is_written_nonzero(text.as_bytes());
        is_lost(&self.re, &re) || is_lost(&self.im, &im)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed<T: Number>(text: &str) -> Result<T, NumberError> {
        T::parse(text.as_bytes())
    }

    #[test]
    fn integers_keep_to_their_range() {
        assert_eq!(parsed::<i8>("-128"), Ok(-128));
        assert_eq!(parsed::<i8>("128"), Err(NumberError::OutOfRange));
        assert_eq!(parsed::<u8>("-1"), Err(NumberError::OutOfRange));
        assert_eq!(parsed::<u64>("18446744073709551615"), Ok(u64::MAX));
        for bad in ["", "1.0", "x", "-", "1 2", "0x10"] {
            assert_eq!(parsed::<i32>(bad), Err(NumberError::NotANumber), "{bad}");
        }
    }

    #[test]
    fn narrow_floats_are_rounded_once() {
        // Halfway between 1 and the next f16, 1 + 2^-10; the tail is far below f64's precision.
        assert_eq!(parsed::<f16>("1.00048828125"), Ok(f16::from_f32(1.0)));
        assert_eq!(
            parsed::<f16>("1.00048828125000000000000000000001").map(f16::to_bits),
            Ok(0x3c01)
        );
        assert_eq!(
            parsed::<f16>("-1.00048828125000000000000000000001").map(f16::to_bits),
            Ok(0xbc01)
        );
        // The tie above an odd neighbour, and just below it.
        assert_eq!(parsed::<f16>("1.00146484375").map(f16::to_bits), Ok(0x3c02));
        assert_eq!(
            parsed::<f16>("1.00146484374999999999999999999999").map(f16::to_bits),
            Ok(0x3c01)
        );
        // The edge of infinity: 65520 rounds up, what is below it does not.
        assert_eq!(parsed::<f16>("65519.999999999999999999999999").map(f16::to_bits), Ok(0x7bff));
        assert_eq!(parsed::<f16>("65520"), Ok(f16::INFINITY));
        assert_eq!(parsed::<bf16>("1.00390625e0").map(bf16::to_bits), Ok(0x3f80));
        assert_eq!(
            parsed::<bf16>("100390625.0000000000000000001E-8").map(bf16::to_bits),
            Ok(0x3f81)
        );
        assert_eq!(parsed::<f16>("1e-400"), Ok(f16::ZERO));
        assert!(parsed::<bf16>("nan").is_ok_and(bf16::is_nan));
        assert_eq!(parsed::<bf16>("-inf"), Ok(bf16::NEG_INFINITY));
    }

    #[test]
    fn every_narrow_float_reads_back() {
        for bits in 0..=u16::MAX {
            let (half, brain) = (f16::from_bits(bits), bf16::from_bits(bits));
            if half.is_finite() {
                assert_eq!(
                    parsed::<f16>(&format!("{:e}", half.to_f64())).map(f16::to_bits),
                    Ok(bits)
                );
            }
            if brain.is_finite() {
                assert_eq!(
                    parsed::<bf16>(&format!("{:e}", brain.to_f64())).map(bf16::to_bits),
                    Ok(bits)
                );
            }
        }
    }

    #[test]
    fn complex_numbers_in_all_their_spellings() {
        for (text, re, im) in [
            ("1+2i", 1.0, 2.0),
            ("(1-2j)", 1.0, -2.0),
            ("-1.5e-3-2E+4j", -1.5e-3, -2e4),
            ("2j", 0.0, 2.0),
            ("-j", 0.0, -1.0),
            ("3", 3.0, 0.0),
            ("1 + 2i", 1.0, 2.0),
            ("-inf+infj", f64::NEG_INFINITY, f64::INFINITY),
        ] {
            assert_eq!(parsed::<Complex<f64>>(text), Ok(Complex::new(re, im)), "{text}");
        }
        for bad in ["", "(", "()", "1+", "1+2", "i+1", "1++2i", "(1+2j", "1+2k"] {
            assert_eq!(parsed::<Complex<f64>>(bad), Err(NumberError::NotANumber), "{bad}");
        }
    }

    #[test]
    fn infinities_that_are_named_are_told_from_numbers_beyond() {
        fn is_beyond<T: Number>(text: &str) -> bool {
            parsed::<T>(text).map(|number| number.is_beyond(text.as_bytes())) == Ok(true)
        }
        for (text, wide, narrow, half) in [
            ("1e400", true, true, true),
            ("-1e309", true, true, true),
            ("1e39", false, true, true),
            ("3.4028235e38", false, false, true),
            ("65520", false, false, true),
            ("65519", false, false, false),
            ("-inf", false, false, false),
            ("Infinity", false, false, false),
            ("nan", false, false, false),
            ("1e-400", false, false, false),
        ] {
            let found = (is_beyond::<f64>(text), is_beyond::<f32>(text), is_beyond::<f16>(text));
            assert_eq!(found, (wide, narrow, half), "{text}");
        }
        for (text, expected) in
            [("1e400+2i", true), ("inf+2i", false), ("inf-1e400i", true), ("-inf+infj", false)]
        {
            assert_eq!(is_beyond::<Complex<f64>>(text), expected, "{text}");
        }
        assert!(is_beyond::<bf16>("1e39") && !is_beyond::<bf16>("3e38"));
    }

    #[test]
    fn zeros_that_are_written_are_told_from_numbers_too_small() {
        fn is_lost<T: Number>(text: &str) -> bool {
            parsed::<T>(text).map(|number| number.is_lost(text.as_bytes())) == Ok(true)
        }
        for (text, wide, narrow, half) in [
            ("1e-400", true, true, true),
            ("-0.0001E-330", true, true, true),
            // Half of the least f64 is a tie, and ties go to even; the least one is itself.
            ("2.4e-324", true, true, true),
            ("5e-324", false, true, true),
            ("1e-46", false, true, true),
            ("1e-45", false, false, true),
            ("1e-8", false, false, true),
            ("6e-8", false, false, false),
            ("0", false, false, false),
            ("-0.000", false, false, false),
            ("0e5", false, false, false),
            ("0.0e-999", false, false, false),
            ("inf", false, false, false),
        ] {
            let found = (is_lost::<f64>(text), is_lost::<f32>(text), is_lost::<f16>(text));
            assert_eq!(found, (wide, narrow, half), "{text}");
        }
        for (text, expected) in [
            ("1e-400+2i", true),
            ("1-2e-999j", true),
            ("0+2i", false),
            ("2j", false),
            ("1", false),
            ("0", false),
            ("1 - 3e-400i", true),
        ] {
            assert_eq!(is_lost::<Complex<f64>>(text), expected, "{text}");
        }
        assert!(is_lost::<bf16>("1e-46") && !is_lost::<bf16>("1e-38"));
    }

    #[test]
    fn bools_are_words_or_bits() {
        assert_eq!(parsed::<bool>("True"), Ok(true));
        assert_eq!(parsed::<bool>("0"), Ok(false));
        assert_eq!(parsed::<bool>("2"), Err(NumberError::OutOfRange));
        assert_eq!(parsed::<bool>("yes"), Err(NumberError::NotANumber));
    }
}
