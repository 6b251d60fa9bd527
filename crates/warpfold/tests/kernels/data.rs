//! Arrays to reduce: random in many ways, reproducible by seed.

pub(crate) use warpfold::random::Words as Random;
use warpfold::{Element, with_element};

/// What an array holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Contents {
    /// Values of moderate size: floats in [-1, 1), integers over their whole range.
    Plain,
    /// Few different values, so that extremes repeat.
    Ties,
    /// Zeros of both signs, and a few other values.
    Zeros,
    /// NaNs of every sort (floats; integers as plain) among infinities and plain values.
    Specials,
    /// NaN everywhere.
    AllNan,
    /// The least value everywhere: where a fold might start from.
    Lowest,
    /// Floats of every exponent, subnormals too (integers as plain).
    Wide,
}

impl Contents {
    /// What fast sums are compared with, too.
    pub(crate) const ALL: [Contents; 6] = [
        Contents::Plain,
        Contents::Ties,
        Contents::Zeros,
        Contents::Specials,
        Contents::AllNan,
        Contents::Lowest,
    ];
}

/// So many elements of a kind.
pub(crate) fn array<T: Element>(kind: Contents, n: usize, random: &mut Random) -> Vec<T> {
    (0..n * T::PARTS).map(|_| part::<T>(kind, random)).collect::<Vec<_>>().concat_parts()
}

trait ConcatParts<T> {
    fn concat_parts(self) -> Vec<T>;
}

impl<T: Element> ConcatParts<T> for Vec<Vec<u8>> {
    fn concat_parts(self) -> Vec<T> {
        let bytes: Vec<u8> = self.concat();
        let size = size_of::<T>();
        bytes.chunks_exact(size).map(|b| bytemuck::checked::pod_read_unaligned(b)).collect()
    }
}

/// The bytes of one real number of the element's part type.
fn part<T: Element>(kind: Contents, random: &mut Random) -> Vec<u8> {
    let bits = random.next();
    let unit = (bits >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
    macro_rules! float {
        ($F:ty) => {{
            let value = match kind {
                Contents::Plain => <$F>::from_f64(unit),
                Contents::Ties => <$F>::from_f64((bits % 3) as f64 - 1.0),
                Contents::Zeros if bits % 8 < 7 => {
                    <$F>::from_f64(if bits & 8 == 0 { 0.0 } else { -0.0 })
                }
                Contents::Zeros => <$F>::from_f64(unit),
                Contents::Specials => match bits % 97 {
                    0 => <$F>::from_f64(f64::NAN),
                    1 => <$F>::from_f64(-f64::NAN),
                    2 => <$F>::from_f64(f64::INFINITY),
                    3 => <$F>::from_f64(f64::NEG_INFINITY),
                    _ => <$F>::from_f64(unit),
                },
                Contents::AllNan => {
                    <$F>::from_f64(if bits & 1 == 0 { f64::NAN } else { -f64::NAN })
                }
                Contents::Lowest => <$F>::from_f64(f64::NEG_INFINITY),
                Contents::Wide => {
                    let x = <$F>::from_bits(bits as _);
                    if x.is_finite() { x } else { <$F>::from_f64(unit) }
                }
            };
            value.to_le_bytes().to_vec()
        }};
    }
    use warpfold::DType::*;
    match T::DTYPE {
        Bool => vec![match kind {
            Contents::Lowest => 0,
            Contents::Zeros => u8::from(bits.is_multiple_of(64)),
            _ => (bits & 1) as u8,
        }],
        F16 => float!(warpfold::f16),
        BF16 => float!(warpfold::bf16),
        F32 | Complex64 => {
            use FromF64 as _;
            float!(f32)
        }
        F64 | Complex128 => {
            use FromF64 as _;
            float!(f64)
        }
        other => with_element!(other, I => {
            let value: u64 = match kind {
                Contents::Ties => bits % 3,
                Contents::Zeros => if bits % 8 < 7 { 0 } else { bits >> 7 },
                Contents::Lowest if other.name().starts_with('i') => 0x80 << (8 * (size_of::<I>() - 1)),
                Contents::Lowest => 0,
                _ => bits,
            };
            value.to_le_bytes()[..size_of::<I>()].to_vec()
        }),
    }
}

trait FromF64 {
    fn from_f64(value: f64) -> Self;
}

impl FromF64 for f32 {
    fn from_f64(value: f64) -> f32 {
        value as f32
    }
}

impl FromF64 for f64 {
    fn from_f64(value: f64) -> f64 {
        value
    }
}
