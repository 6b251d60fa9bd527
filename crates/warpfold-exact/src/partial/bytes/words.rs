//! Reading and writing the words of a saved partial in either form, and nothing that knows what they mean.

use super::compact;
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

/// Collects words.
#[derive(Debug)]
pub(super) struct Writer {
    form: Form,
    pub(super) bytes: Vec<u8>,
}

impl Writer {
    pub(super) fn new(form: Form, start: &[u8]) -> Self {
        let mut bytes = Vec::with_capacity(32);
        bytes.extend_from_slice(start);
        Writer { form, bytes }
    }

    pub(super) fn word(&mut self, word: u64) {
        match self.form {
            Form::Words => self.bytes.extend_from_slice(&word.to_le_bytes()),
            Form::Compact => compact::write_word(&mut self.bytes, word),
        }
    }

    pub(super) fn register<L: Limbs>(&mut self, register: &Register<L>) {
        if self.form == Form::Compact {
            return compact::write_register(&mut self.bytes, register);
        }
        self.word(u64::from(register.special.bits()));
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

/// Takes words from the front of untrusted bytes.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    form: Form,
    rest: &'a [u8],
    length: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(form: Form, bytes: &'a [u8]) -> Self {
        Reader { form, rest: bytes, length: bytes.len() }
    }

    /// The next bytes as they are.
    pub(super) fn bytes(&mut self, n: usize) -> Refused<&'a [u8]> {
        let early = || format!("they end too early, after {} bytes", self.length);
        let (bytes, rest) = self.rest.split_at_checked(n).ok_or_else(early)?;
        self.rest = rest;
        Ok(bytes)
    }

    pub(super) fn word(&mut self) -> Refused<u64> {
        match self.form {
            Form::Words => {
                let word = self.bytes(8)?.try_into().expect("eight bytes");
                Ok(u64::from_le_bytes(word))
            }
            Form::Compact => compact::read_word(self),
        }
    }

    /// A sum whose magnitude has at most `bits` bits.
    pub(super) fn register<L: Limbs>(&mut self, bits: u32) -> Refused<Register<L>> {
        let (special, fixed) = match self.form {
            Form::Compact => compact::read_register(self)?,
            Form::Words => {
                let special = self.word()?;
                let mut limbs = L::ZERO;
                for limb in limbs.as_mut() {
                    *limb = self.word()?;
                }
                (special, Fixed(limbs))
            }
        };
        let special = u8::try_from(special).ok().and_then(Special::from_bits);
        let special = special.ok_or("a special value is none of NaN, +inf and -inf")?;
        if bit_length(fixed.sign_magnitude().magnitude.as_ref()) > bits {
            return Err("a sum is larger than so many elements can make it".into());
        }
        Ok(Register { fixed, special })
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
        match self.rest.len() {
            0 => Ok(()),
            more => Err(format!("{more} bytes follow the end")),
        }
    }
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
