//! [`Decimal`]: a number as most texts have it, a sign, digits and a point, read eight digits at a time. Where it ends is found for all its bytes at once, and
//! no branch depends on how many digits it has, as no processor foresees that.
//!
//! What has more than nineteen digits, an exponent that leaves no fraction of few places, or anything else in it is left to the standard library's parser, and
//! so is what lies so near to the middle of two floats that its product does not tell which is nearer. So all results are rounded once, and few take
//! the long way.
//! After Lemire, *Number Parsing at a Gigabyte per Second* (2021).

/// Digits at most: as many as 64 bits always hold.
const DIGITS: usize = 19;
/// Digits behind the point at most: five to their number fits 64 bits.
const PLACES: usize = 27;

/// `digits / 10^places`, or less than nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    is_negative: bool,
    has_point: bool,
    digits: u64,
    places: u32,
}

impl Decimal {
    /// Reads one where some bytes begin, and says how many it takes; `None` for what is no such number.
    #[inline(always)]
    pub(crate) fn read(bytes: &[u8]) -> Option<(Decimal, usize)> {
        let usual = bytes.first_chunk().and_then(Decimal::read_usual);
        usual.or_else(|| Decimal::read_any(bytes))
    }

    /// The one that a text is, which may have an exponent; `None` where that takes more to tell.
    pub(crate) fn of(text: &[u8]) -> Option<Decimal> {
        let (decimal, end) = Decimal::read(text)?;
        match text.get(end) {
            None => Some(decimal),
            Some(b'e' | b'E') => decimal.scaled(&text[end + 1..]),
            _ => None,
        }
    }

    /// The same with an exponent of up to two digits, where that leaves a fraction of few places.
    fn scaled(self, exponent: &[u8]) -> Option<Decimal> {
        let (sign, digits) = match exponent {
            [b'-', digits @ ..] => (-1, digits),
            [b'+', digits @ ..] => (1, digits),
            digits => (1, digits),
        };
        if !(1..=2).contains(&digits.len()) || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let number = digits.iter().fold(0, |all, byte| 10 * all + i64::from(byte - b'0'));
        let places = u32::try_from(i64::from(self.places) - sign * number).ok()?;
        (places as usize <= PLACES).then_some(Decimal { places, has_point: true, ..self })
    }

    /// The same of most numbers, without a branch that their lengths decide: nobody can tell those beforehand.
    #[inline(always)]
    fn read_usual(bytes: &[u8; WIDE]) -> Option<(Decimal, usize)> {
        let is_negative = bytes[0] == b'-';
        let start = usize::from(is_negative);
        let others = others(bytes) & !(start as u32);
        let point = others.trailing_zeros() as usize;
        let wholes = point - start;
        if wholes > 8 {
            return None;
        }
        let whole = some(bytes, start, wholes);
        let mut read = Decimal { is_negative, has_point: false, digits: whole, places: 0 };
        if bytes[point] != b'.' {
            return (wholes > 0).then_some((read, point));
        }
        let end = (others & (others - 1)).trailing_zeros() as usize;
        let places = end - point - 1;
        let digits = if whole == 0 { places } else { wholes + places };
        if end == 32 || digits > DIGITS || wholes + places == 0 {
            return None;
        }
        let first = places.min(8);
        read.digits = whole * TENS[first] + some(bytes, point + 1, first);
        if places > 8 {
            let (second, third) = ((places - 8).min(8), places.saturating_sub(16));
            read.digits = read.digits * TENS[second] + some(bytes, point + 9, second);
            read.digits = read.digits * TENS[third] + some(bytes, point + 17, third);
        }
        (read.places, read.has_point) = (places as u32, true);
        Some((read, end))
    }

    #[inline(never)]
    fn read_any(bytes: &[u8]) -> Option<(Decimal, usize)> {
        let is_negative = *bytes.first()? == b'-';
        let start = usize::from(is_negative);
        let (whole, mut at) = digits(bytes, start, 0)?;
        let mut read = Decimal { is_negative, has_point: false, digits: whole, places: 0 };
        let mut count = at - start;
        if bytes.get(at) == Some(&b'.') {
            let (all, end) = digits(bytes, at + 1, whole)?;
            read.places = (end - at - 1) as u32;
            (read.digits, read.has_point, at) = (all, true, end);
            count += read.places as usize;
        }
        (0 < count && count <= DIGITS).then_some((read, at))
    }

    /// The nearest float with so many bits of a significand, ties to even, as bits of a type with so large an exponent of 1; `None` where that takes more
    /// than a product to tell.
    #[inline]
    fn float<const SIGNIFICAND: u32, const ONE: i32>(self) -> Option<u64> {
        let shift = self.digits.leading_zeros();
        let (reciprocal, bits) = RECIPROCALS.get(self.places as usize)?;
        // The upper 128 bits of a product of 192: at most two below what they would be if nothing had been cut off.
        let normal = u128::from(self.digits << shift);
        let low = normal * (reciprocal & u128::from(u64::MAX));
        let product = normal * (reciprocal >> 64) + (low >> 64);
        let (upper, lower) = ((product >> 64) as u64, product as u64);
        let cut = 64 - SIGNIFICAND - upper.leading_zeros();
        let (rest, half) = (upper & ((1 << cut) - 1), 1u64 << (cut - 1));
        // The product is up to two below what it would be.
        let is_middle = rest == half && lower == 0;
        if is_middle || rest + 1 == half && lower >= u64::MAX - 1 {
            return None;
        }
        let significand = (upper >> cut) + u64::from(rest >= half);
        let exponent = cut as i32 + 1 - *bits as i32 - shift as i32 - self.places as i32;
        // The leading bit of the significand is one more in the exponent; carried over, it is two.
        let field = (exponent + SIGNIFICAND as i32 - 1 + ONE - 1) as u64;
        Some((field << (SIGNIFICAND - 1)) + significand)
    }

    /// The nearest f64.
    #[inline]
    pub(super) fn to_f64(self) -> Option<f64> {
        let magnitude = match self.places {
            // The processor rounds integers as it must.
            _ if self.digits == 0 => 0.0,
            0 => self.digits as f64,
            // Both are floats, so that their quotient is rounded once. Numbers of sixteen digits or so would be on either side of a bound at 2^53, and no
            // processor could foresee which.
            places if self.digits < 1 << 40 && places < 23 => {
                self.digits as f64 / POWERS[places as usize]
            }
            _ => f64::from_bits(self.float::<53, 1023>()?),
        };
        Some(if self.is_negative { -magnitude } else { magnitude })
    }

    /// The nearest f32.
    #[inline]
    pub(super) fn to_f32(self) -> Option<f32> {
        let magnitude = match self.places {
            _ if self.digits == 0 => 0.0,
            0 => self.digits as f32,
            _ => f32::from_bits(self.float::<24, 127>()? as u32),
        };
        Some(if self.is_negative { -magnitude } else { magnitude })
    }

    /// The integer that it is, if it is written as one; none but 0 and above has no sign.
    #[inline]
    pub(super) fn to_integer(self) -> Option<i64> {
        let digits = i64::try_from(self.digits).ok().filter(|_| !self.has_point)?;
        Some(if self.is_negative { -digits } else { digits })
    }

    /// The same of one without a sign.
    #[inline]
    pub(super) fn to_unsigned(self) -> Option<u64> {
        (!self.has_point && !self.is_negative).then_some(self.digits)
    }
}

/// Powers of ten that f64 holds.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// Bytes in which a usual number is read: 32 in which it ends, and what is read of words that begin in them.
const WIDE: usize = 64;

const TENS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// Of 32 bytes those that are no digits, as bits.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn others(bytes: &[u8; WIDE]) -> u32 {
    use std::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_min_epu8, _mm_movemask_epi8, _mm_set1_epi8, _mm_sub_epi8,
    };
    // SAFETY: every x86-64 has SSE2, and these read and write nothing but their arguments.
    let digits = |bytes: [u8; 16]| unsafe {
        let values = _mm_sub_epi8(bytemuck::cast::<_, __m128i>(bytes), _mm_set1_epi8(0x30));
        _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(values, _mm_set1_epi8(9)), values)) as u32
    };
    let [low, high, ..] = bytemuck::cast::<[u8; WIDE], [[u8; 16]; 4]>(*bytes);
    !(digits(low) | digits(high) << 16)
}

/// Of 32 bytes those that are no digits, as bits.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn others(bytes: &[u8; WIDE]) -> u32 {
    (0..4).fold(0, |all, at| {
        // The upper bits of eight bytes, side by side.
        let bits = (not_digits(word(bytes, 8 * at) ^ ZEROS) >> 7)
            .wrapping_mul(0x0102_0408_1020_4080)
            >> 56;
        all | (bits as u32) << (8 * at)
    })
}

/// The number that up to eight digits are, which begin in the first of these bytes but the last eight.
#[inline(always)]
fn some(bytes: &[u8; WIDE], at: usize, digits: usize) -> u64 {
    let Some(word) = bytes[at.min(WIDE - 8)..].first_chunk() else { return 0 };
    eight((u64::from_le_bytes(*word) ^ ZEROS).unbounded_shl(64 - 8 * digits as u32))
}

/// Eight zeros as text.
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// The upper bit of each byte of eight that is no digit, less that of `0`.
#[inline]
fn not_digits(word: u64) -> u64 {
    (((word & 0x7f7f_7f7f_7f7f_7f7f) + 0x7676_7676_7676_7676) | word) & 0x8080_8080_8080_8080
}

/// Digits from a place on, behind those that are there already, and where they end; `None` if they are more than 64 bits hold.
#[inline]
fn digits(bytes: &[u8], mut at: usize, mut value: u64) -> Option<(u64, usize)> {
    let end = at + DIGITS + PLACES;
    loop {
        let word = word(bytes, at) ^ ZEROS;
        let others = not_digits(word);
        let count = (others.trailing_zeros() / 8) as usize;
        if count > 0 {
            let some = eight(word << (64 - 8 * count));
            value = value.wrapping_mul(TENS[count]).wrapping_add(some);
            at += count;
        }
        if count < 8 {
            return Some((value, at));
        }
        if at >= end {
            return None;
        }
    }
}

/// Eight bytes from a place on, the first in the lowest; those behind the end are blanks.
#[inline]
fn word(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        Some(eight) => u64::from_le_bytes(*eight),
        None => {
            let (mut some, rest) = ([b' '; 8], bytes.get(at..).unwrap_or_default());
            some[..rest.len()].copy_from_slice(rest);
            u64::from_le_bytes(some)
        }
    }
}

/// The number that eight digits are, the first in the lowest byte.
#[inline]
fn eight(digits: u64) -> u64 {
    let pairs = (digits * 10 + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    (fours * 10_000 + (fours >> 32)) & 0xffff_ffff
}

/// `2^(127 + bits) / 5^places`, rounded down to 128 bits, and the bits of the power of five, by places. The first is not used.
static RECIPROCALS: [(u128, u32); PLACES + 1] = {
    let mut table = [(0, 0); PLACES + 1];
    let (mut places, mut power) = (1, 5u128);
    while places <= PLACES {
        let bits = 128 - power.leading_zeros();
        // Bit by bit, as the dividend has more than 128.
        let (mut quotient, mut rest, mut left) = (0u128, 1u128, 127 + bits);
        while left > 0 {
            rest *= 2;
            quotient *= 2;
            if rest >= power {
                (rest, quotient) = (rest - power, quotient + 1);
            }
            left -= 1;
        }
        table[places] = (quotient, bits);
        places += 1;
        power *= 5;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> bool {
        let (found, length) = match Decimal::read(text.as_bytes()) {
            Some(found) => found,
            None => return false,
        };
        assert_eq!(length, text.len(), "{text}");
        // What is not at the end of all that is there is read another way.
        for more in ["\n", ",1.5,-2.25e7,12345678901234567890,x\n0.1\n0.2\n0.3\n0.4\n0.5\n0.6\n"] {
            assert_eq!(Decimal::read(format!("{text}{more}").as_bytes()), Some((found, length)));
        }
        let (wide, narrow): (f64, f32) = (text.parse().unwrap(), text.parse().unwrap());
        let (found64, found32) = (found.to_f64(), found.to_f32());
        assert!(found64.is_none_or(|found| found.to_bits() == wide.to_bits()), "{text}");
        assert!(found32.is_none_or(|found| found.to_bits() == narrow.to_bits()), "{text}");
        found64.is_some()
    }

    /// Numbers that a generator makes, of every length and place of the point, beside the standard library's parser.
    #[test]
    fn every_result_is_the_nearest_float() {
        let mut state = 1u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state >> 20
        };
        let (mut quick, mut all) = (0, 0);
        for length in 1..=DIGITS {
            for place in 0..=length {
                for _ in 0..500 {
                    let mut digits: String =
                        (0..length).map(|_| char::from(b'0' + (next() % 10) as u8)).collect();
                    digits.insert(place, '.');
                    let text = if next() % 2 == 0 { digits } else { format!("-{digits}") };
                    quick += u32::from(check(&text));
                    all += 1;
                }
            }
        }
        assert!(quick * 1000 > all * 999, "{quick} of {all}");
    }

    /// Exponents of two digits or fewer that leave a fraction are read, beside the standard library's parser, whatever follows.
    #[test]
    fn exponents_are_read_where_they_leave_a_fraction() {
        let mut state = 3u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        let (mut read, mut all) = (0, 0);
        for _ in 0..20_000 {
            let places = next(17) as usize;
            let number = (next(1 << 30) as f64 / 1e3) * if next(2) == 0 { 1.0 } else { -1.0 };
            let exponent = next(40) as i64 - 25;
            let mark =
                ["e", "E", "e+"][if exponent < 0 { next(2) as usize } else { next(3) as usize }];
            let text = format!("{number:.places$}{mark}{exponent}");
            all += 1;
            let Some(found) = Decimal::of(text.as_bytes()) else { continue };
            let expected: f64 = text.parse().unwrap();
            assert!(found.to_f64().is_none_or(|f| f.to_bits() == expected.to_bits()), "{text}");
            assert_eq!((found.to_integer(), found.to_unsigned()), (None, None));
            read += 1;
        }
        assert!(read * 4 > all, "{read} of {all}");
    }

    /// Middles of two floats, and what lies next to them.
    #[test]
    fn middles_are_rounded_as_they_must_or_left() {
        for exponent in 0..70 {
            for significand in [1u64 << 52, (1 << 52) + 1, (1 << 53) - 1, 0x1a_bcde_f012_3457] {
                let middle = (2 * u128::from(significand) + 1) as f64 / 2f64.powi(exponent);
                for digits in 10..=18 {
                    let text = format!("{middle:.*}", digits);
                    check(&text);
                    for last in '0'..='9' {
                        check(&format!("{}{last}", &text[..text.len() - 1]));
                    }
                }
            }
        }
        for text in ["9007199254740993.0", "9007199254740993", "4503599627370496.5", "0.5", "1.5"] {
            check(text);
        }
    }

    #[test]
    fn what_is_no_such_number_is_left() {
        for text in ["", "-", ".", "-.", "+1", "x", " 1", "12345678901234567890", "\u{e9}"] {
            assert_eq!(Decimal::read(text.as_bytes()), None, "{text}");
        }
        assert_eq!(Decimal::read("1".repeat(1000).as_bytes()), None);
        for text in ["1e5", "1.5e-30", "1.5e", "1.5e-", "1.5e-012", "1.5e1e1", "1.5x", "1.5e-x"] {
            assert_eq!(Decimal::of(text.as_bytes()), None, "{text}");
        }
        for (text, length) in [("1e5", 1), ("1.5x", 3), ("1.2.3", 3), ("12,3", 2), ("5.\n", 2)] {
            assert_eq!(Decimal::read(text.as_bytes()).map(|(_, n)| n), Some(length), "{text}");
        }
        let zero = Decimal::read(b"-0.0").and_then(|(zero, _)| zero.to_f64());
        assert_eq!(zero.map(f64::to_bits), Some((-0.0f64).to_bits()));
    }

    #[test]
    fn integers_have_no_point() {
        let read = |text: &str| Decimal::read(text.as_bytes()).expect("a number").0;
        assert_eq!(read("-9223372036854775807").to_integer(), Some(-i64::MAX));
        assert_eq!(
            (read("9999999999999999999").to_integer(), read("5.").to_integer()),
            (None, None)
        );
        assert_eq!(read("9999999999999999999").to_unsigned(), Some(9_999_999_999_999_999_999));
        assert_eq!((read("-0").to_unsigned(), read("-0").to_integer()), (None, Some(0)));
    }
}
