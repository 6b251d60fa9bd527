//! How the arrays of the CUDA benchmark are made from random words.
//!
//! The peer program makes the same arrays from the same words (`bench/peers/cuda/data.cuh`); what one of them changes the other has to.

use std::f64::consts::TAU;

use warpfold::DType;

use super::data::Data;

/// The numbers that the bytes of an array are; types that share them share arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    Bools,
    Integers,
    F16,
    BF16,
    F32,
    F64,
}

/// A binary interchange format.
#[derive(Clone, Copy)]
struct Float {
    bits: u32,
    fraction: u32,
}

impl Float {
    /// The number of that sign, exponent field and fraction; bits beyond their places are dropped.
    fn of(self, sign: u64, field: u64, fraction: u64) -> u64 {
        let below = (1 << self.fraction) - 1;
        ((sign & 1) << (self.bits - 1)) | (field << self.fraction) | (fraction & below)
    }

    /// The exponent field of infinities.
    fn fields(self) -> u64 {
        (1 << (self.bits - 1 - self.fraction)) - 1
    }
}

impl Numbers {
    pub(super) fn of(dtype: DType) -> Numbers {
        match dtype {
            DType::Bool => Numbers::Bools,
            DType::F16 => Numbers::F16,
            DType::BF16 => Numbers::BF16,
            DType::F32 | DType::Complex64 => Numbers::F32,
            DType::F64 | DType::Complex128 => Numbers::F64,
            _ => Numbers::Integers,
        }
    }

    fn float(self) -> Option<Float> {
        let (bits, fraction) = match self {
            Numbers::F16 => (16, 10),
            Numbers::BF16 => (16, 7),
            Numbers::F32 => (32, 23),
            Numbers::F64 => (64, 52),
            Numbers::Bools | Numbers::Integers => return None,
        };
        Some(Float { bits, fraction })
    }

    /// `count` words of 64 bits, each of as many numbers as fit, lowest bits first.
    pub(super) fn words(self, data: Data, count: usize) -> Vec<u64> {
        // Marsaglia's xorshift64 (2003): timing asks no more of it.
        let mut state = 1u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let Some(float) = self.float() else {
            let mask = if self == Numbers::Bools { 0x0101_0101_0101_0101 } else { u64::MAX };
            return (0..count).map(|_| random() & mask).collect();
        };
        let each = (64 / float.bits) as usize;
        let word = |at: usize| {
            let number = |k| self.number(float, data, (at * each + k) as u64, &mut random);
            (0..each)
                .map(number)
                .enumerate()
                .fold(0, |word, (k, n)| word | (n << (k as u32 * float.bits)))
        };
        (0..count).map(word).collect()
    }

    /// The `index`-th number's bits.
    fn number(self, float: Float, data: Data, index: u64, random: &mut impl FnMut() -> u64) -> u64 {
        let word = random();
        let unit = (word >> 11) as f64 / (1u64 << 53) as f64;
        let (fraction, sign, fields) = (word >> 12, word >> 11, float.fields());
        match data {
            Data::Uniform => self.bits_of(2.0 * unit - 1.0),
            Data::Positive => self.bits_of(unit),
            // Box and Muller (1958).
            Data::Normal => {
                let radius = ((1.0 - unit).ln() * -2.0).sqrt();
                self.bits_of(radius * (TAU * ((random() >> 11) as f64 / (1u64 << 53) as f64)).cos())
            }
            Data::Wide => float.of(sign, ((word & 0x7ff) * fields) >> 11, fraction),
            Data::Alternating => {
                let far = if self == Numbers::F64 { 900 } else { 100 };
                let field = fields / 2 + far - index % 2 * 2 * far;
                float.of(sign, field, fraction)
            }
            Data::Subnormal => float.of(sign, 0, fraction | 1),
            Data::Limbs => {
                let digit = if self == Numbers::F64 { 53 } else { 16 };
                float.of(sign, 1 + index * digit % (fields - 1), 0)
            }
        }
    }

    /// A number of moderate size in the type, as its bits.
    fn bits_of(self, x: f64) -> u64 {
        match self {
            Numbers::F16 => warpfold::f16::from_f64(x).to_bits().into(),
            Numbers::BF16 => warpfold::bf16::from_f64(x).to_bits().into(),
            Numbers::F32 => (x as f32).to_bits().into(),
            Numbers::F64 | Numbers::Bools | Numbers::Integers => x.to_bits(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn singles(data: Data) -> Vec<f32> {
        let words = Numbers::F32.words(data, 4096);
        words.iter().flat_map(|&w| [w as u32, (w >> 32) as u32]).map(f32::from_bits).collect()
    }

    #[test]
    fn every_kind_is_what_it_says() {
        for data in
            [Data::Uniform, Data::Normal, Data::Positive].into_iter().chain(Data::ADVERSARIAL)
        {
            assert!(singles(data).iter().all(|x| x.is_finite()), "{}", data.name());
        }
        assert!(singles(Data::Positive).iter().all(|&x| (0.0..=1.0).contains(&x)));
        assert!(singles(Data::Subnormal).iter().all(|x| x.is_subnormal()));
        let fields = singles(Data::Wide)
            .iter()
            .map(|x| x.to_bits() >> 23 & 255)
            .collect::<std::collections::BTreeSet<_>>();
        assert_eq!((fields.len(), fields.last()), (255, Some(&254)));
        let spread =
            singles(Data::Normal).iter().map(|&x| f64::from(x).powi(2)).sum::<f64>() / 8192.0;
        assert!((spread - 1.0).abs() < 0.1, "{spread}");
        let limbs = singles(Data::Limbs);
        assert!(limbs.windows(2).all(|pair| pair[0].abs() != pair[1].abs()));
        let far = singles(Data::Alternating);
        assert!(far.chunks(2).all(|pair| pair[0].abs() / 2f32.powi(100) >= 1.0 && pair[1].abs() < 2f32.powi(-98)));
    }

    #[test]
    fn halves_and_doubles_are_of_their_own_format() {
        let words = Numbers::BF16.words(Data::Uniform, 64);
        let halves = words
            .iter()
            .flat_map(|&w| (0..4).map(move |k| warpfold::bf16::from_bits((w >> (16 * k)) as u16)));
        assert!(
            halves.clone().all(|x| x.to_f32().abs() <= 1.0)
                && halves.clone().any(|x| x.to_f32() > 0.5)
        );
        let doubles = Numbers::F64.words(Data::Alternating, 64);
        assert!(doubles.iter().step_by(2).all(|&w| f64::from_bits(w).abs() >= 2f64.powi(900)));
    }
}
