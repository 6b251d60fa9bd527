//! The compact form: words in as few bytes as they need, and of a sum only the bytes between its lowest and its highest bit.
//!
//! What one number can be written as in two ways is refused when it is read, so that equal partials are equal bytes here as well.

use super::words::{Reader, Refused};
use crate::exact::{Fixed, Limbs, Register};

/// Bits of the first number of a sum that hold its special values; the others are the number of bytes that follow.
const SPECIAL_BITS: u32 = 3;

/// Writes seven bits a byte, lowest first; the top bit says that more follow.
pub(super) fn write_word(out: &mut Vec<u8>, mut word: u64) {
    while word >= 1 << 7 {
        out.push(word as u8 | 1 << 7);
        word >>= 7;
    }
    out.push(word as u8);
}

/// Reads what [`write_word`] writes, and no longer spelling of it.
pub(super) fn read_word(input: &mut Reader<'_>) -> Refused<u64> {
    let mut word = 0;
    for shift in (0..64).step_by(7) {
        let byte = input.bytes(1)?[0];
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            break;
        }
        word |= bits << shift;
        if byte < 1 << 7 {
            return match byte == 0 && shift > 0 {
                true => Err("a number has more bytes than it needs".into()),
                false => Ok(word),
            };
        }
    }
    Err("a number has more than 64 bits".into())
}

/// Writes a sum: its special values and number of bytes, how many bytes below them are zero, and the bytes.
pub(super) fn write_register<L: Limbs>(out: &mut Vec<u8>, register: &Register<L>) {
    let limbs = register.fixed.0.as_ref();
    let special = u64::from(register.special.bits());
    let Some(low) = limbs.iter().position(|&limb| limb != 0) else {
        return write_word(out, special);
    };
    let is_negative = register.fixed.is_negative();
    let extension = if is_negative { u64::MAX } else { 0 };
    // The highest limb that differs from what the sign says, or the lowest one.
    let high = limbs.iter().rposition(|&limb| limb != extension).unwrap_or(low).max(low);
    let start = 8 * low + (limbs[low].trailing_zeros() / 8) as usize;
    let differing = 64 - (limbs[high] ^ extension).leading_zeros();
    // One bit more, for the sign.
    let end = (8 * high + (differing / 8) as usize + 1).max(start + 1);
    write_word(out, special | ((end - start) as u64) << SPECIAL_BITS);
    write_word(out, start as u64);
    let byte = |k: usize| (limbs.get(k / 8).unwrap_or(&extension) >> (8 * (k % 8))) as u8;
    out.extend((start..end).map(byte));
}

/// Reads what [`write_register`] writes; the special values are not looked at.
pub(super) fn read_register<L: Limbs>(input: &mut Reader<'_>) -> Refused<(u64, Fixed<L>)> {
    let head = input.word()?;
    let (special, length) = (head & ((1 << SPECIAL_BITS) - 1), head >> SPECIAL_BITS);
    let mut limbs = L::ZERO;
    if length == 0 {
        return Ok((special, Fixed(limbs)));
    }
    let start = input.word()?;
    let room = 8 * limbs.as_ref().len() as u64;
    if start.checked_add(length).is_none_or(|end| end > room) {
        return Err(format!("a sum has more than the {room} bytes of its type"));
    }
    let (start, bytes) = (start as usize, input.bytes(length as usize)?);
    let (first, last) = (bytes[0], bytes[bytes.len() - 1]);
    let below = bytes.len().checked_sub(2).map(|k| bytes[k]);
    // A last byte that only repeats the sign of the one below it.
    let repeats = below.is_some_and(|below| last == if below >> 7 == 1 { 0xff } else { 0 });
    if first == 0 || repeats {
        return Err("a sum has more bytes than it needs".into());
    }
    let extension = if last >> 7 == 1 { u64::MAX } else { 0 };
    let end = start + bytes.len();
    for (k, limb) in limbs.as_mut().iter_mut().enumerate() {
        if 8 * k >= end {
            *limb = extension;
        } else if 8 * k + 8 > start {
            let byte = |at: usize| match at {
                at if at < start => 0,
                at if at >= end => extension as u8,
                at => bytes[at - start],
            };
            *limb = u64::from_le_bytes(std::array::from_fn(|j| byte(8 * k + j)));
        }
    }
    Ok((special, Fixed(limbs)))
}

#[cfg(test)]
mod tests {
    use super::super::words::Form;
    use super::*;
    use crate::exact::Special;

    fn register<L: Limbs>(limbs: L, special: Special) -> Register<L> {
        Register { fixed: Fixed(limbs), special }
    }

    /// Writes, reads back, and tells how many bytes it took.
    fn round_trip<L: Limbs>(register: &Register<L>) -> usize {
        let mut bytes = Vec::new();
        write_register(&mut bytes, register);
        let mut input = Reader::new(Form::Compact, &bytes);
        let (special, fixed) = read_register::<L>(&mut input).expect("just written");
        input.end().expect("nothing follows");
        assert_eq!((special, fixed), (u64::from(register.special.bits()), register.fixed));
        bytes.len()
    }

    #[test]
    fn words_of_every_length_are_read_back_and_longer_spellings_refused() {
        for bits in 0..64 {
            for word in [1u64 << bits, (1 << bits) - 1, u64::MAX >> bits] {
                let mut bytes = Vec::new();
                write_word(&mut bytes, word);
                let used = 64 - word.leading_zeros() as usize;
                assert_eq!(bytes.len(), used.div_ceil(7).max(1));
                assert_eq!(read_word(&mut Reader::new(Form::Compact, &bytes)), Ok(word));
                let last = bytes.len() - 1;
                bytes[last] |= 0x80;
                bytes.push(0);
                assert!(read_word(&mut Reader::new(Form::Compact, &bytes)).is_err());
            }
        }
        let too_long = [0xff; 9].iter().chain(&[2]).copied().collect::<Vec<u8>>();
        assert!(read_word(&mut Reader::new(Form::Compact, &too_long)).is_err());
    }

    #[test]
    fn sums_take_the_bytes_between_their_lowest_and_highest_bit() {
        let none = Special::NONE;
        assert_eq!(round_trip(&register([0u64; 34], none)), 1);
        assert_eq!(round_trip(&register([0u64; 34], Special::NAN)), 1);
        assert_eq!(round_trip(&register([1u64, 0], none)), 3);
        // -1 is one byte, as 127 is; 128 and -129 are two.
        assert_eq!(round_trip(&register([u64::MAX; 34], none)), 3);
        assert_eq!(round_trip(&register([127u64, 0], none)), 3);
        assert_eq!(round_trip(&register([128u64, 0], none)), 4);
        assert_eq!(round_trip(&register([-128i64 as u64, u64::MAX], none)), 3);
        assert_eq!(round_trip(&register([-129i64 as u64, u64::MAX], none)), 4);
        for bit in 0..191 {
            let mut limbs = [0u64; 3];
            limbs[bit / 64] = 1 << (bit % 64);
            round_trip(&register(limbs, Special::PLUS));
            let mut fixed = Fixed(limbs);
            fixed.subtract(&Fixed([1, 0, 0]));
            round_trip(&register(fixed.0, none));
            let mut negative = Fixed([0u64; 3]);
            negative.subtract(&Fixed(limbs));
            round_trip(&register(negative.0, Special::MINUS));
            negative.subtract(&Fixed([1, 0, 0]));
            round_trip(&register(negative.0, none));
        }
        round_trip(&register([0, 0, 1u64 << 63], none));
        round_trip(&register([0, 1u64 << 63], none));
    }

    #[test]
    fn what_could_be_said_shorter_or_does_not_fit_is_refused() {
        let read = |bytes: &[u8]| read_register::<[u64; 2]>(&mut Reader::new(Form::Compact, bytes));
        assert!(read(&[1 << 3, 0, 5]).is_ok());
        for bytes in [
            &[2 << 3, 0, 5, 0][..],
            &[2 << 3, 0, 0x85, 0xff],
            &[2 << 3, 0, 0, 5],
            &[1 << 3, 0, 0],
            &[1 << 3, 16, 5],
            &[17 << 3, 0, 5],
            &[1 << 3, 0],
        ] {
            assert!(read(bytes).is_err(), "{bytes:?}");
        }
    }
}
