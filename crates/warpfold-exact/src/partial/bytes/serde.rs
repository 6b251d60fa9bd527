//! `serde` for every partial, through its bytes.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserializer, Error as _, SeqAccess, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use crate::element::{Element, Ordered};
use crate::exact::{Dot, Exact, Moments};
use crate::partial::{Count, Extremes, Magnitude, Norm1, Partial, Product, Stats};
use crate::{Error, Result};

macro_rules! through_bytes {
    ($([$($generics:tt)*] $ty:ty;)+) => {$(
        impl<$($generics)*> Serialize for $ty {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let bytes = self.to_bytes();
                if serializer.is_human_readable() {
                    serializer.serialize_str(&to_hex(&bytes))
                } else {
                    serializer.serialize_bytes(&bytes)
                }
            }
        }

        impl<'de, $($generics)*> Deserialize<'de> for $ty {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let visitor = Bytes { read: Self::from_bytes, partial: PhantomData };
                if deserializer.is_human_readable() {
                    deserializer.deserialize_str(visitor)
                } else {
                    deserializer.deserialize_bytes(visitor)
                }
            }
        }
    )+};
}
through_bytes! {
    [T: Element] Exact<T>;
    [T: Element] Moments<T>;
    [T: Element] Dot<T>;
    [T: Ordered] Extremes<T>;
    [] Count;
    [T: Element] Product<T>;
    [T: Element] Norm1<T>;
    [T: Element] Magnitude<T>;
    [T: Element] Stats<T>;
    [T: Element] Partial<T>;
}

/// Takes bytes however the format hands them out.
struct Bytes<P, R> {
    read: R,
    partial: PhantomData<P>,
}

impl<'de, P, R: Fn(&[u8]) -> Result<P, Error>> Visitor<'de> for Bytes<P, R> {
    type Value = P;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of a saved partial, or their hexadecimal digits")
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<P, E> {
        (self.read)(bytes).map_err(E::custom)
    }

    fn visit_str<E: serde::de::Error>(self, digits: &str) -> Result<P, E> {
        let bytes = from_hex(digits).ok_or_else(|| E::custom("not hexadecimal digits in pairs"))?;
        self.visit_bytes(&bytes)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<P, A::Error> {
        // An endless sequence must not fill memory. Products of floats in many intervals are the longest partials that are worth saving.
        const LONGEST: usize = 1 << 28;
        let mut bytes = Vec::new();
        while let Some(byte) = sequence.next_element()? {
            if bytes.len() == LONGEST {
                return Err(A::Error::custom("longer than any saved partial"));
            }
            bytes.push(byte);
        }
        self.visit_bytes(&bytes)
    }
}

fn to_hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from(b"0123456789abcdef"[usize::from(nibble)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn from_hex(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|value| value as u8);
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let bytes = pairs.iter().map(|&[high, low]| Some(digit(high)? << 4 | digit(low)?));
    rest.is_empty().then(|| bytes.collect())?
}
