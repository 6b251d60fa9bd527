//! Partials as bytes: saved by one process, machine or version of today, merged by another.
//!
//! [`to_bytes`](crate::Exact::to_bytes) and [`from_bytes`](crate::Exact::from_bytes) of every partial speak the layout below;
//! so does `serde`, as bytes in binary formats and as lower-case hexadecimal in formats that people read. Merging
//! what was read back equals merging the original, to the last bit.
//!
//! # Layout, versions 1 and 2
//! A sequence of little-endian 64-bit words, as many as kind and element type prescribe, and nothing after them.
//!
//! | bytes | content |
//! |---|---|
//! | 0–3 | magic: `WFPT` |
//! | 4 | version: 1; 2 for products of floats that know the indices of their elements |
//! | 5 | kind, see below |
//! | 6 | element type: 0 `bool`, 1–4 `i8` to `i64`, 5–8 `u8` to `u64`, 9 `f16`, 10 `bf16`, 11 `f32`, 12 `f64`, 13 `complex64`, 14 `complex128`; 255 where the kind knows none |
//! | 7 | zero |
//! | 8–15 | how many elements (dot: pairs) went in; zero for products and linf, which do not count |
//! | 16– | the kind's own words |
//!
//! | kind | partial | its words |
//! |---|---|---|
//! | 1 | [`Exact`](crate::Exact) | a sum for each part (complex: real, imaginary) |
//! | 2 | [`Moments`](crate::Moments) | a sum for each part, then one sum of products: the squares |
//! | 3 | [`Dot`](crate::Dot) | a sum of products for each part |
//! | 4 | [`Extremes`](super::Extremes) | presence (bit 0: minimum and maximum, bit 1: a NaN); minimum, its index, maximum, its index, index of the first NaN; zero where absent. Values are the element's bits, zero-extended |
//! | 5 | [`Count`](super::Count) | how many elements are nonzero |
//! | 6 | [`Product`](super::Product) | version 1: flags (bit 0: below zero, 1: a zero was met, 2: an infinity, 3: a NaN); integers: the magnitude up to 2^64 in two words, low first, and the magnitude modulo 2^64; floats: the exponent and, for each part, the two f64 whose sum is the mantissa. Flags 1 to 3 are those of real floats. Such a product of floats is merged in order. Version 2: see below |
//! | 7 | [`Norm1`](super::Norm1) | a sum of products: the magnitudes, in units of the square of the smallest subnormal |
//! | 8 | [`Magnitude`](super::Magnitude) | a sum of products: the square of the largest magnitude, zero once anything special was met |
//! | 9 | [`Stats`](super::Stats) | how many of the elements are NaN; then what follows the header of [`Moments`](crate::Moments), of `Norm1` and, for real elements, of `Extremes` |
//!
//! A sum is one word with the special values met (bit 0: NaN, 1: +∞, 2: −∞; the others zero) and then the limbs of a
//! two's-complement integer, lowest first, in units of the element type's smallest subnormal (integers: 1; products: its
//! square). The limbs are these:
//!
//! | element | sum | sum of products |
//! |---|---|---|
//! | `bool`, `i8`, `u8`, `i16`, `u16` | 2 | 2 |
//! | `i32`, `u32` | 2 | 3 |
//! | `i64`, `u64` | 3 | 4 |
//! | `f16` | 2 | 3 |
//! | `bf16`, `f32`, `complex64` | 6 | 10 |
//! | `f64`, `complex128` | 34 | 67 |
//!
//! A product of floats of version 2 is a set of intervals of the canonical [tree](crate::tree): the first and the end of the elements that were
//! handed in twice (both zero if none were), the number of intervals, and each of them, ascending and with gaps between: its first element, its end, and
//! the largest aligned spans of the tree that it covers, in order. A span of one element is the element's parts, each as an f64; a larger one is what
//! version 1 has for a product: of reals flags, exponent and mantissa, of complex numbers exponent and mantissas.
//!
//! # Compact form
//! The same words in fewer bytes, written by [`to_compact`](crate::Exact::to_compact) for places where partials are many, such as the groups of
//! a database; `from_bytes` reads both. A sum of f64 takes some 15 bytes in place of 296.
//!
//! | bytes | content |
//! |---|---|
//! | 0 | 193 (hexadecimal c1), which tells the form, of words of version 1; 194 of version 2 |
//! | 1, 2 | kind and element type, as above |
//! | 3– | the count, then the kind's own words |
//!
//! A word is seven bits a byte, lowest first, the top bit of a byte saying that another one follows. A sum is a word that holds the special
//! values in its lowest three bits and above them the number of bytes of the integer; unless that number is zero, a word that says
//! how many bytes of the integer's low end are left out because they are zero; and the bytes of the two's-complement integer from there on, up to
//! the first that has its sign. Nothing may be written longer than it needs to be.
//!
//! # Reading
//! Bytes may come from anywhere, so reading checks all of it: magic, version, kind, element type, length, bits that must be
//! zero, and that the numbers agree with one another (no sum is larger than so many elements can make it). What
//! does not hold is [`Error::BadPartial`](crate::Error::BadPartial). Memory is bounded by the kind, not by the bytes; that of products of floats of version 2 by
//! a small multiple of the bytes.

mod compact;
pub mod digits;
mod exact;
mod intervals;
mod norms;
mod order;
mod product;
mod saved;
#[cfg(feature = "serde")]
mod serde;
mod words;

pub use saved::Header;
pub use warpfold_num::PartialKind;
