//! Reading and writing the words of a saved partial in either form, and nothing that knows what they mean.

use super::{compact, digits};
use crate::element::Ordered;
use crate::exact::{Fixed, Limbs};
use crate::exact::{Register, Special};

/// Why bytes are refused, as the end of a sentence.
pub(super) type Refused<T> = Result<T, String>;

/// How words become bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Eight bytes each, and every limb.
    Words,
    /// As few bytes as they need, and the limbs in use.
    Compact,
}

/// Collects words: as bytes, or as digits that add up.
#[derive(Debug)]
pub(super) enum Writer {
    Bytes(Form, Vec<u8>),
    Digits(Vec<u64>),
}

impl Writer {
    pub(super) fn new(form: Form, start: &[u8]) -> Self {
        let mut bytes = Vec::with_capacity(32);
        bytes.extend_from_slice(start);
        Writer::Bytes(form, bytes)
    }

    /// The bytes, where they are bytes.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        match self {
            Writer::Bytes(_, bytes) => bytes,
            Writer::Digits(_) => unreachable!("it began as bytes"),
        }
    }

    pub(super) fn word(&mut self, word: u64) {
        match self {
            Writer::Bytes(Form::Words, bytes) => bytes.extend_from_slice(&word.to_le_bytes()),
            Writer::Bytes(Form::Compact, bytes) => compact::write_word(bytes, word),
            Writer::Digits(digits) => digits.extend(digits::of_word(word)),
        }
    }

    pub(super) fn register<L: Limbs>(&mut self, register: &Register<L>) {
        match self {
            Writer::Bytes(Form::Compact, bytes) => return compact::write_register(bytes, register),
            Writer::Bytes(Form::Words, _) => self.word(u64::from(register.special.bits())),
            Writer::Digits(digits) => digits.push(digits::of_special(register.special)),
        }
        register.fixed.0.as_ref().iter().for_each(|&limb| self.word(limb));
    }

    /// An element's bits, zero-extended.
    pub(super) fn element<T: Ordered>(&mut self, x: T) {
        let mut word = [0; 8];
        let bytes = &mut word[..size_of::<T>()];
        bytes.copy_from_slice(bytemuck::bytes_of(&x));
        little_endian(bytes);
        self.word(u64::from_le_bytes(word));
    }
}

/// Takes words from the front of what is not trusted.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    rest: Rest<'a>,
    length: usize,
}

#[derive(Debug)]
enum Rest<'a> {
    Bytes(Form, &'a [u8]),
    /// Sums of digits of so many partials.
    Digits(&'a [u64], u64),
}

impl<'a> Reader<'a> {
    pub(super) fn new(form: Form, bytes: &'a [u8]) -> Self {
        Reader { rest: Rest::Bytes(form, bytes), length: bytes.len() }
    }

    /// Of digits that were added up over so many partials.
    pub(super) fn of_digits(digits: &'a [u64], world: u64) -> Self {
        Reader { rest: Rest::Digits(digits, world), length: 8 * digits.len() }
    }

    fn too_early(&self) -> String {
        format!("they end too early, after {} bytes", self.length)
    }

    /// The next bytes as they are.
    pub(super) fn bytes(&mut self, n: usize) -> Refused<&'a [u8]> {
        let Rest::Bytes(_, all) = &mut self.rest else {
            unreachable!("digits are no bytes");
        };
        let Some((bytes, rest)) = all.split_at_checked(n) else {
            return Err(self.too_early());
        };
        *all = rest;
        Ok(bytes)
    }

    /// A number; a sum of numbers that is none of 64 bits is the largest of them, as counts are.
    pub(super) fn word(&mut self) -> Refused<u64> {
        match self.rest {
            Rest::Bytes(Form::Words, _) => {
                let word = self.bytes(8)?.try_into().expect("eight bytes");
                Ok(u64::from_le_bytes(word))
            }
            Rest::Bytes(Form::Compact, _) => compact::read_word(self),
            Rest::Digits(..) => {
                let [low, high] = self.digits()?;
                let sum = u128::from(low) + (u128::from(high) << 32);
                Ok(u64::try_from(sum).unwrap_or(u64::MAX))
            }
        }
    }

    /// The next two digits.
    fn digits(&mut self) -> Refused<[u64; 2]> {
        let Rest::Digits(digits, world) = &mut self.rest else {
            unreachable!("bytes are read as words")
        };
        let Some((pair, rest)) = digits.split_first_chunk::<2>() else {
            return Err(self.too_early());
        };
        *digits = rest;
        match pair.iter().all(|&digit| digit <= *world * digits::LARGEST) {
            true => Ok(*pair),
            false => Err("a digit is larger than so many partials can make it".into()),
        }
    }

    /// A sum whose magnitude has at most `bits` bits.
    pub(super) fn register<L: Limbs>(&mut self, bits: u32) -> Refused<Register<L>> {
        let register = match self.rest {
            Rest::Bytes(Form::Words, _) => {
                let special = special(self.word()?)?;
                let mut limbs = L::ZERO;
                for limb in limbs.as_mut() {
                    *limb = self.word()?;
                }
                Register { fixed: Fixed(limbs), special }
            }
            Rest::Bytes(Form::Compact, _) => {
                let (word, fixed) = compact::read_register(self)?;
                Register { fixed, special: special(word)? }
            }
            Rest::Digits(..) => self.sum_of_registers()?,
        };
        if bit_length(register.fixed.sign_magnitude().magnitude.as_ref()) > bits {
            return Err("a sum is larger than so many elements can make it".into());
        }
        Ok(register)
    }

    /// The sum of sums, from their digits.
    fn sum_of_registers<L: Limbs>(&mut self) -> Refused<Register<L>> {
        let Rest::Digits(digits, world) = &mut self.rest else {
            unreachable!("bytes are read as words")
        };
        let (&word, rest) = digits.split_first().ok_or("they end too early")?;
        *digits = rest;
        let special = digits::special(word, *world);
        let special = special.ok_or("more partials are special than there are")?;
        let (mut limbs, mut carry) = (L::ZERO, 0);
        for limb in limbs.as_mut() {
            *limb = digits::limb(self.digits()?, &mut carry);
        }
        Ok(Register { fixed: Fixed(limbs), special })
    }

    /// An element from its zero-extended bits.
    pub(super) fn element<T: Ordered>(&mut self) -> Refused<T> {
        let mut word = self.word()?.to_le_bytes();
        let (bytes, padding) = word.split_at_mut(size_of::<T>());
        little_endian(bytes);
        match bytemuck::checked::try_pod_read_unaligned(bytes) {
            Ok(element) if padding.iter().all(|&byte| byte == 0) => Ok(element),
            _ => Err(format!("a value is no {}", T::DTYPE)),
        }
    }

    pub(super) fn end(&self) -> Refused<()> {
        let more = match self.rest {
            Rest::Bytes(_, bytes) => bytes.len(),
            Rest::Digits(digits, _) => 8 * digits.len(),
        };
        match more {
            0 => Ok(()),
            more => Err(format!("{more} bytes follow the end")),
        }
    }
}

fn special(word: u64) -> Refused<Special> {
    let special = u8::try_from(word).ok().and_then(Special::from_bits);
    special.ok_or_else(|| "a special value is none of NaN, +inf and -inf".into())
}

/// Turns an element's bytes in memory to little-endian order, or back.
fn little_endian(bytes: &mut [u8]) {
    if cfg!(target_endian = "big") {
        bytes.reverse();
    }
}

fn bit_length(limbs: &[u64]) -> u32 {
    match limbs.iter().rposition(|&limb| limb != 0) {
        Some(k) => 64 * k as u32 + 64 - limbs[k].leading_zeros(),
        None => 0,
    }
}
