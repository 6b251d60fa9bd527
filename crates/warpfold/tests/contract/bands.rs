//! Bands of exponents: as wide as a kernel's window and a little wider or narrower, at either end of the format, filled with
//! the mantissas that carry most. A kernel that counts its bits wrongly by one fails here.

use num_bigint::BigInt;
use warpfold::partial::Finish;
use warpfold::{Complex, DType, Nan, Op, bf16, f16};

use crate::backend::{Ask, Backend};
use crate::oracle::{BF16, F16, F32, F64, Format, Oracle};
use crate::sample::{Sample, Words};

on_every_backend!(half_floats, brain_floats, floats, doubles, complex_floats, complex_doubles);

/// Which mantissas stand in a band.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Mantissa {
    Ones,
    /// So many ones at the low end: below a coarser grid they are almost half of its step, all on one side.
    LowOnes(u32),
    Random,
}

/// Which signs.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Sign {
    Positive,
    Negative,
    Random,
}

/// How exponents stand in a band.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Shape {
    /// Anywhere within four binades of the top, with some at the bottom and some at the very top.
    Mixed,
    /// All at the top, but two binades lower where a kernel that samples at regular steps looks, and a few anywhere below.
    Shy,
    /// All at the top.
    Flat,
}

/// Exponent fields from `low` on, `width` of them.
#[derive(Debug, Clone, Copy)]
struct Band {
    format: Format,
    low: u64,
    width: u64,
    shape: Shape,
    mantissa: Mantissa,
    sign: Sign,
    /// One element in so many is not as the others.
    rare: usize,
}

impl Band {
    fn random(format: Format, words: &mut Words) -> Band {
        let fields = (1u64 << format.exponent_bits) - 1;
        let width = 1 + words.next() % 70.min(fields);
        // Often at an end of the format, where arithmetic underflows or overflows.
        let free = fields - width;
        let low = match words.index(5) {
            0 => words.next() % 3,
            1 => free.saturating_sub(words.next() % 14),
            // Where squares and products are about to underflow, or their errors do.
            2 => fields / 4 + words.next() % 48,
            _ => words.next() % (free + 1),
        };
        Band {
            format,
            low: low.min(free),
            width,
            shape: [Shape::Mixed, Shape::Shy, Shape::Shy, Shape::Flat][words.index(4)],
            mantissa: match words.index(5) {
                0 | 1 => Mantissa::Ones,
                2 => Mantissa::Random,
                _ => Mantissa::LowOnes((1 + words.index(14) as u32).min(format.fraction_bits)),
            },
            sign: [Sign::Positive, Sign::Positive, Sign::Negative, Sign::Random][words.index(4)],
            rare: [7, 64, 200, 1000][words.index(4)],
        }
    }

    fn field(&self, k: usize, words: &mut Words) -> u64 {
        let top = self.low + self.width - 1;
        match (self.shape, k % self.rare) {
            (Shape::Flat, _) => top,
            (Shape::Mixed, 0) => self.low,
            (Shape::Mixed, 1) => top,
            (Shape::Mixed, _) => top - words.next() % self.width.min(4),
            (Shape::Shy, _) if k.is_multiple_of(64) => self.low.max(top.saturating_sub(2)),
            (Shape::Shy, 1) => self.low + words.next() % self.width,
            (Shape::Shy, _) => top,
        }
    }

    fn bits(&self, k: usize, words: &mut Words) -> u64 {
        let field = self.field(k, words);
        let ones = (1 << self.format.fraction_bits) - 1;
        let fraction = match self.mantissa {
            Mantissa::Ones => ones,
            Mantissa::LowOnes(k) => (1 << k) - 1,
            Mantissa::Random => words.next() & ones,
        };
        let negative = match self.sign {
            Sign::Positive => false,
            Sign::Negative => true,
            Sign::Random => words.next() & 1 == 1,
        };
        let sign = if negative { self.format.sign() } else { 0 };
        field << self.format.fraction_bits | fraction | sign
    }

    fn array<T: Sample>(&self, n: usize, words: &mut Words) -> Vec<T> {
        (0..n).map(|k| T::from_words([self.bits(k, words), self.bits(k, words)])).collect()
    }
}

fn check_bands<T: Sample, B: Backend>(backend: &B, format: Format) {
    const OPS: [Op; 4] = [Op::Sum, Op::Var, Op::L1, Op::Dot];
    let mut words = Words(u64::from(format.fraction_bits) + T::PARTS as u64);
    for _ in 0..24 {
        let (band, other) = (Band::random(format, &mut words), Band::random(format, &mut words));
        // Past one block of a lane's 512 additions in 64 lanes, and into the next.
        let n = 33_000 + words.index(3000);
        let (x, y) = (band.array::<T>(n, &mut words), other.array::<T>(n, &mut words));
        for op in OPS.into_iter().filter(|op| backend.ops().contains(op)) {
            let y = if op == Op::Dot { y.as_slice() } else { &[] };
            let mut oracle = Oracle::new(op, Nan::Propagate);
            (0..n).for_each(|k| oracle.push(x[k], y.get(k).copied()));
            let answer = backend.reduce(Ask::new(op), &x, y);
            if let Err(why) = oracle.expected(Finish::default()).check(&answer) {
                panic!("{op} of {n} {} in {band:?} (and {other:?}): {why}", T::DTYPE);
            }
            // A rounded result forgives what is far below it; the sums behind it must be exact to the last bit.
            if op != Op::L1 {
                let partial = backend.partial(Ask::new(op), &x, y).expect("these have partials");
                let (held, exact) = (saved_sums::<T>(op, &partial.to_bytes()), oracle.sums());
                assert!(held == exact, "{op} of {n} {} in {band:?} (and {other:?})", T::DTYPE);
            }
        }
    }
}

/// The sums that saved bytes hold, read by the layout's documentation.
pub fn saved_sums<T: Sample>(op: Op, bytes: &[u8]) -> Vec<BigInt> {
    let (sum, products) = match T::DTYPE {
        DType::F16 => (2, 3),
        DType::BF16 | DType::F32 | DType::Complex64 => (6, 10),
        _ => (34, 67),
    };
    let limbs = match op {
        Op::Sum => vec![sum; T::PARTS],
        Op::Dot => vec![products; T::PARTS],
        _ => [vec![sum; T::PARTS], vec![products]].concat(),
    };
    let mut rest = &bytes[16..];
    let mut read = |limbs: usize| {
        let (this, others) = rest.split_at(8 * (1 + limbs));
        rest = others;
        BigInt::from_signed_bytes_le(&this[8..])
    };
    limbs.into_iter().map(&mut read).collect()
}

fn half_floats<B: Backend>(backend: &B) {
    check_bands::<f16, _>(backend, F16);
}

fn brain_floats<B: Backend>(backend: &B) {
    check_bands::<bf16, _>(backend, BF16);
}

fn floats<B: Backend>(backend: &B) {
    check_bands::<f32, _>(backend, F32);
}

fn doubles<B: Backend>(backend: &B) {
    check_bands::<f64, _>(backend, F64);
}

fn complex_floats<B: Backend>(backend: &B) {
    check_bands::<Complex<f32>, _>(backend, F32);
}

fn complex_doubles<B: Backend>(backend: &B) {
    check_bands::<Complex<f64>, _>(backend, F64);
}
