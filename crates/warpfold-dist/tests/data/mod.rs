//! Arrays of every type, with and without special values, from a seed.

use warpfold_num::DType;
use warpfold_num::random::Words;

/// What is among the elements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Style {
    /// Random bits without NaN and infinities.
    Finite,
    /// NaN, infinities, zeros of both signs, subnormals and the largest numbers among them.
    Special,
    /// Infinities of one sign only.
    Infinite,
    /// Zeros of both signs.
    Zeros,
    /// One element.
    Single,
}

impl Style {
    pub(crate) const ALL: [Style; 5] =
        [Style::Finite, Style::Special, Style::Infinite, Style::Zeros, Style::Single];
}

/// The parts of an element: width in bytes, bits of the mantissa where they are floats.
fn parts(dtype: DType) -> (usize, Option<u32>) {
    match dtype {
        DType::F16 => (2, Some(10)),
        DType::BF16 => (2, Some(7)),
        DType::F32 | DType::Complex64 => (4, Some(23)),
        DType::F64 | DType::Complex128 => (8, Some(52)),
        other => (other.size(), None),
    }
}

/// The bytes of so many elements.
pub(crate) fn bytes(dtype: DType, style: Style, n: usize) -> Vec<u8> {
    let (width, mantissa) = parts(dtype);
    let n = if style == Style::Single { 1 } else { n };
    let mut words = Words(1);
    let mut random = || words.next();
    let mut out = Vec::new();
    for at in 0..n * dtype.size() / width {
        let all = u64::MAX >> (64 - 8 * width);
        let bits = match (dtype, mantissa) {
            (_, Some(mantissa)) => float(random(), all, mantissa, style, at),
            _ if style == Style::Zeros => 0,
            (DType::Bool, _) => random() >> 40 & 1,
            _ => random() & all,
        };
        out.extend_from_slice(&bits.to_le_bytes()[..width]);
    }
    out
}

fn float(random: u64, all: u64, mantissa: u32, style: Style, at: usize) -> u64 {
    let sign = all ^ all >> 1;
    let exponent = all >> 1 & !((1 << mantissa) - 1);
    let bits = random & all;
    let finite = if bits & exponent == exponent { bits & !(1 << mantissa) } else { bits };
    match (style, at % 97) {
        (Style::Zeros, _) => finite & sign,
        (Style::Special, 3) => exponent | sign,
        (Style::Special, 50) => exponent,
        (Style::Special, 60) => exponent | 1 | 1 << (mantissa - 1),
        (Style::Special, 5 | 70) => sign,
        (Style::Special, 7) => 0,
        (Style::Special, 9) => 1,
        (Style::Special, 11) => exponent - 1,
        (Style::Infinite, 40) => exponent,
        _ => finite,
    }
}

/// Evaluates an expression over an array of the type that a `DType` names.
macro_rules! with_array {
    ($dtype:expr, $style:expr, $n:expr, $T:ident, $x:ident => $body:expr) => {
        warpfold_num::with_element!($dtype, $T => {
            let bytes = crate::data::bytes($dtype, $style, $n);
            let $x: Vec<$T> = bytes
                .chunks_exact(size_of::<$T>())
                .map(|element| bytemuck::checked::try_pod_read_unaligned(element).expect("a value"))
                .collect();
            $body
        })
    };
}
pub(crate) use with_array;
