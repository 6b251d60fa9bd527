//! Random numbers as an input: the same seed gives the same numbers on every machine and for any number of threads.
//!
//! The array is cut into chunks of [`CHUNK`] elements. Chunk `k` of array `a` (dot takes two, 0 and 1) is made, in order, from the
//! ChaCha8 stream whose key is the seed (8 bytes, little-endian, then zeros) and whose nonce is `a * 2^63 + k`; so the first
//! numbers do not depend on how many follow. From its words:
//!
//! | distribution | elements |
//! |---|---|
//! | uniform, integers | the low bits of a 32- or 64-bit word: uniform over the type's range; bool: its lowest bit |
//! | uniform, floats | in [0, 1): the top bits of a word, as many as the type has significant bits, times a power of two |
//! | normal | mean 0, deviation 1: Marsaglia's polar method in f64 (two numbers a pair), rounded to the type |
//! | loguniform | a 64-bit word gives a random sign, a fraction, and an exponent uniform over all those of normal numbers |
//!
//! Complex numbers take two such numbers each. The logarithm is `libm`'s, because the system's differs between systems.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;
use warpfold_num::{Complex, DType, bf16, f16, with_element};

use crate::narrow::narrow;
use crate::{Error, Produce};

/// Elements made from one stream. A power of two, so that a piece of any type is a whole number of chunks.
pub(super) const CHUNK: usize = 1 << 16;

/// How random numbers are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Distribution {
    /// Floats in [0, 1), integers over their whole range
    #[default]
    Uniform,
    /// Floats with mean 0 and deviation 1
    Normal,
    /// Floats of either sign, their exponents uniform over the type's whole range: adversarial to sums
    Loguniform,
}

/// An array of random numbers.
#[derive(Debug, Clone, Copy)]
pub struct Random {
    fill: fn(&mut ChaCha8Rng, Distribution, &mut [u8]),
    distribution: Distribution,
    seed: u64,
    array: u64,
    dtype: DType,
    /// Elements.
    n: u64,
    made: u64,
}

impl Random {
    /// `n` numbers of a type; `array` tells several arrays of one seed apart.
    ///
    /// # Errors
    /// [`Error::Usage`] where the type has no such distribution, or the array's size overflows.
    pub fn new(
        dtype: DType,
        n: u64,
        distribution: Distribution,
        seed: u64,
        array: u64,
    ) -> Result<Random, Error> {
        if !dtype.is_float() && distribution != Distribution::Uniform {
            return Err(Error::Usage(format!(
                "--dist normal and --dist loguniform make floats, and --dtype is {dtype}; leave --dist out or choose a float type"
            )));
        }
        if n.checked_mul(dtype.size() as u64).is_none() {
            return Err(Error::Usage(format!(
                "--random {n}: so many {dtype} elements overflow 64 bits"
            )));
        }
        let fill = with_element!(dtype, T => fill::<T>);
        Ok(Random { fill, distribution, seed, array, dtype, n, made: 0 })
    }

    /// The numbers' type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// How many there are.
    pub fn elements(&self) -> u64 {
        self.n
    }

    /// Those of a range, which begins with a chunk.
    pub(super) fn range(self, range: std::ops::Range<u64>) -> Random {
        debug_assert!(range.start.is_multiple_of(CHUNK as u64) || range.is_empty());
        Random { n: range.end, made: range.start, ..self }
    }

    fn stream(&self, chunk: u64) -> ChaCha8Rng {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&self.seed.to_le_bytes());
        let mut rng = ChaCha8Rng::from_seed(key);
        rng.set_stream(self.array << 63 | chunk);
        rng
    }
}

impl Produce for Random {
    fn fill(&mut self, piece: &mut [u8]) -> Result<usize, Error> {
        let size = self.dtype.size();
        let elements = (self.n - self.made).min((piece.len() / size) as u64);
        let bytes = elements as usize * size;
        let first = self.made / CHUNK as u64;
        let this = *self;
        piece[..bytes].par_chunks_mut(CHUNK * size).enumerate().for_each(|(k, chunk)| {
            (this.fill)(&mut this.stream(first + k as u64), this.distribution, chunk);
        });
        self.made += elements;
        Ok(bytes)
    }
}

/// An element type of which there are random numbers.
trait Sample: bytemuck::NoUninit {
    fn uniform(rng: &mut ChaCha8Rng) -> Self;
    fn normal(normals: &mut Normals<'_>) -> Self;
    fn loguniform(rng: &mut ChaCha8Rng) -> Self;
}

fn fill<T: Sample>(rng: &mut ChaCha8Rng, distribution: Distribution, out: &mut [u8]) {
    fn write<T: Sample>(out: &mut [u8], mut next: impl FnMut() -> T) {
        for bytes in out.chunks_exact_mut(size_of::<T>()) {
            bytes.copy_from_slice(bytemuck::bytes_of(&next()));
        }
    }
    match distribution {
        Distribution::Uniform => write(out, || T::uniform(rng)),
        Distribution::Loguniform => write(out, || T::loguniform(rng)),
        Distribution::Normal => {
            let mut normals = Normals { rng, spare: None };
            write(out, || T::normal(&mut normals));
        }
    }
}

/// Standard normal numbers by Marsaglia's polar method (Marsaglia and Bray, SIAM Review 6, 1964).
struct Normals<'a> {
    rng: &'a mut ChaCha8Rng,
    spare: Option<f64>,
}

impl Normals<'_> {
    fn next(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            // In [-1, 1), with 53 bits.
            let mut side = || (self.rng.next_u64() as i64 >> 10) as f64 * 2f64.powi(-53);
            let (u, v) = (side(), side());
            let s = u * u + v * v;
            if s < 1.0 && s > 0.0 {
                let scale = (-2.0 * libm::log(s) / s).sqrt();
                self.spare = Some(v * scale);
                return u * scale;
            }
        }
    }
}

macro_rules! integer {
    ($($ty:ty: $word:ident, $from:expr;)+) => {$(
        impl Sample for $ty {
            fn uniform(rng: &mut ChaCha8Rng) -> $ty {
                $from(rng.$word())
            }

            fn normal(_: &mut Normals<'_>) -> $ty {
                unreachable!("Random::new refuses normal integers")
            }

            fn loguniform(_: &mut ChaCha8Rng) -> $ty {
                unreachable!("Random::new refuses log-uniform integers")
            }
        }
    )+};
}
integer! {
    bool: next_u32, |word| word & 1 == 1;
    i8: next_u32, |word| word as i8;
    i16: next_u32, |word| word as i16;
    i32: next_u32, |word| word as i32;
    i64: next_u64, |word| word as i64;
    u8: next_u32, |word| word as u8;
    u16: next_u32, |word| word as u16;
    u32: next_u32, |word| word;
    u64: next_u64, |word| word;
}

macro_rules! float {
    ($($ty:ty: $bits:ty, $fraction:literal, $uniform:expr, $narrow:expr;)+) => {$(
        impl Sample for $ty {
            fn uniform(rng: &mut ChaCha8Rng) -> $ty {
                $uniform(rng)
            }

            fn normal(normals: &mut Normals<'_>) -> $ty {
                $narrow(normals.next())
            }

            fn loguniform(rng: &mut ChaCha8Rng) -> $ty {
                const SIGN: u32 = <$bits>::BITS - 1;
                const EXPONENTS: u64 = (1 << (SIGN - $fraction)) - 2;
                let word = rng.next_u64();
                let exponent = 1 + ((word >> 32) * EXPONENTS >> 32);
                let sign = word >> 31 & 1;
                // A 64-bit float needs more random bits than the first word has left.
                let fraction = if $fraction > 31 { rng.next_u64() } else { word } & ((1 << $fraction) - 1);
                <$ty>::from_bits((sign << SIGN | exponent << $fraction | fraction) as $bits)
            }
        }
    )+};
}
float! {
    f16: u16, 10, |rng: &mut ChaCha8Rng| f16::from_f32((rng.next_u32() >> 21) as f32 / 2048.0), narrow;
    bf16: u16, 7, |rng: &mut ChaCha8Rng| bf16::from_f32((rng.next_u32() >> 24) as f32 / 256.0), narrow;
    f32: u32, 23, |rng: &mut ChaCha8Rng| (rng.next_u32() >> 8) as f32 / 16_777_216.0, |x| x as f32;
    f64: u64, 52, |rng: &mut ChaCha8Rng| (rng.next_u64() >> 11) as f64 * 2f64.powi(-53), |x| x;
}

impl<F: Sample> Sample for Complex<F>
where
    Complex<F>: bytemuck::NoUninit,
{
    fn uniform(rng: &mut ChaCha8Rng) -> Self {
        let re = F::uniform(rng);
        Complex::new(re, F::uniform(rng))
    }

    fn normal(normals: &mut Normals<'_>) -> Self {
        let re = F::normal(normals);
        Complex::new(re, F::normal(normals))
    }

    fn loguniform(rng: &mut ChaCha8Rng) -> Self {
        let re = F::loguniform(rng);
        Complex::new(re, F::loguniform(rng))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(dtype: DType, n: u64, distribution: Distribution, seed: u64) -> Vec<u8> {
        let mut random = Random::new(dtype, n, distribution, seed, 0).unwrap();
        // A buffer of whole chunks, as pieces are; the array's end cuts the last one.
        let mut bytes = vec![0; (n as usize).next_multiple_of(CHUNK) * dtype.size()];
        let filled = random.fill(&mut bytes).unwrap();
        bytes.truncate(filled);
        bytes
    }

    fn f64s(distribution: Distribution) -> Vec<f64> {
        let bytes = numbers(DType::F64, 200_000, distribution, 1);
        bytes.as_chunks().0.iter().map(|&b| f64::from_ne_bytes(b)).collect()
    }

    /// The first words of ChaCha8, computed by another implementation: the numbers must never change, on any machine.
    #[test]
    fn the_stream_is_fixed() {
        let words = |seed, array, chunk| {
            let random = Random::new(DType::U32, 1, Distribution::Uniform, seed, array).unwrap();
            let mut rng = random.stream(chunk);
            [rng.next_u32(), rng.next_u32()]
        };
        assert_eq!(words(0, 0, 0), [0x2fef_003e, 0xd640_5f89]);
        assert_eq!(words(42, 0, 0), [0x198f_a887, 0x5927_3471]);
        assert_eq!(words(42, 0, 1), [0xe846_98be, 0xc6e0_8c69]);
        assert_eq!(words(42, 1, 0), [0x3f7d_c520, 0x9aff_edb4]);
        let bytes = numbers(DType::F32, 2, Distribution::Uniform, 42);
        let expected = [0x198fa8 as f32 / 16_777_216.0, 0x592734 as f32 / 16_777_216.0];
        assert_eq!(bytes, expected.map(f32::to_ne_bytes).concat());
        let normal = numbers(DType::F64, 2, Distribution::Normal, 42);
        let normal: Vec<u64> =
            normal.as_chunks().0.iter().map(|&b| u64::from_ne_bytes(b)).collect();
        // fdlibm's logarithm is one ulp off the correctly rounded one here, which would end in 89 and 33.
        assert_eq!(normal, [0x3fdf_f81b_ccb0_ac87, 0x3fda_3a05_9bd7_c132]);
    }

    #[test]
    fn neither_length_nor_threads_nor_pieces_matter() {
        for &dtype in DType::ALL {
            let all = numbers(dtype, 3 * CHUNK as u64 + 5, Distribution::Uniform, 9);
            assert_eq!(all[..1000 * dtype.size()], numbers(dtype, 1000, Distribution::Uniform, 9));
            let mut pieces =
                Random::new(dtype, 3 * CHUNK as u64 + 5, Distribution::Uniform, 9, 0).unwrap();
            let mut joined = Vec::new();
            let mut piece = vec![0; CHUNK * dtype.size()];
            let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            while let n @ 1.. = pool.install(|| pieces.fill(&mut piece)).unwrap() {
                joined.extend_from_slice(&piece[..n]);
            }
            assert!(joined == all, "{dtype}");
        }
    }

    #[test]
    fn distributions_are_what_they_say() {
        let uniform = f64s(Distribution::Uniform);
        let mean = uniform.iter().sum::<f64>() / uniform.len() as f64;
        assert!((mean - 0.5).abs() < 0.005 && uniform.iter().all(|x| (0.0..1.0).contains(x)));
        let normal = f64s(Distribution::Normal);
        let mean = normal.iter().sum::<f64>() / normal.len() as f64;
        let var = normal.iter().map(|x| x * x).sum::<f64>() / normal.len() as f64;
        assert!(mean.abs() < 0.02 && (var - 1.0).abs() < 0.03, "{mean} {var}");
        let log = f64s(Distribution::Loguniform);
        assert!(log.iter().all(|x| x.is_normal()));
        let exponents: std::collections::BTreeSet<u64> =
            log.iter().map(|x| x.to_bits() >> 52 & 0x7ff).collect();
        assert_eq!(exponents.len(), 2046);
        assert!(log.iter().any(|x| *x < 0.0));
    }
}
