//! The sum of the magnitudes of complex numbers.
//!
//! Norms `√(re² + im²)` are taken a buffer at a time, in vectors, and added exactly by the fold for sums of f64. For
//! `Complex<f32>` one f64 holds each norm to 2^-52; for `Complex<f64>` a double-double holds it to about 2^-100.
//! Numbers too large, too small or too special for that go one by one, scaled.

use super::executor::ArrayFold;
use super::float::Factor;
use super::float::{SumFold, Values};
use super::isa::Target;
use super::memory::prefetch;
use crate::Nan;
use warpfold_exact::exact::{Register, Special};
use warpfold_exact::partial::Norm1;
use warpfold_num::double_double::{DoubleDouble, power_of_two, two_product};
use warpfold_num::element::{Decode, Decoded, Element};
use warpfold_plan::plan::Isa;

/// Norms in a buffer.
const BUFFER: usize = 4096;
const LANES: usize = 16;

type Sum = SumFold<f64, Values, 1, 32, 1>;

/// The sum so far, over interleaved real and imaginary parts.
pub(super) struct NormSum<T: Element> {
    nan: Nan,
    high: Sum,
    low: Sum,
    buffer: Box<Buffer>,
    /// What was added one by one.
    apart: Norm1<T>,
    seen: u64,
    skipped: u64,
}

struct Buffer {
    high: [f64; BUFFER],
    low: [f64; BUFFER],
}

impl<T: Element<Component: Factor>> NormSum<T> {
    /// Whether an f64 alone holds a norm as well as need be.
    pub(super) const NARROW: bool = T::Component::MANTISSA_BITS <= 24;

    pub(super) fn new(isa: Isa, nan: Nan) -> Self {
        NormSum {
            nan,
            high: Sum::new(isa, Nan::Propagate),
            low: Sum::new(isa, Nan::Propagate),
            buffer: Box::new(Buffer { high: [0.0; BUFFER], low: [0.0; BUFFER] }),
            apart: Norm1::new(),
            seen: 0,
            skipped: 0,
        }
    }

    /// Puts the norms of a block into the buffer; says whether they may be trusted.
    #[inline(always)]
    fn fill(Buffer { high, low }: &mut Buffer, x: &[[T::Component; 2]]) -> bool {
        let (groups, rest) = x.as_chunks::<LANES>();
        let mut plain = [true; LANES];
        for (group, (high, low)) in
            groups.iter().zip(high.as_chunks_mut().0.iter_mut().zip(low.as_chunks_mut().0))
        {
            prefetch(group);
            Self::norms(group, high, low, &mut plain);
        }
        if !rest.is_empty() {
            let mut group = [[T::Component::default(); 2]; LANES];
            group[..rest.len()].copy_from_slice(rest);
            let at = groups.len();
            let (high, low) = (high.as_chunks_mut().0, low.as_chunks_mut().0);
            Self::norms(&group, &mut high[at], &mut low[at], &mut plain);
        }
        plain == [true; LANES]
    }

    /// The norms of a group, and whether they may be trusted.
    #[inline(always)]
    fn norms(
        x: &[[T::Component; 2]; LANES],
        high: &mut [f64; LANES],
        low: &mut [f64; LANES],
        plain: &mut [bool; LANES],
    ) {
        for l in 0..LANES {
            let (re, im) = (x[l][0].factor(), x[l][1].factor());
            let norm = Self::norm(re, im);
            (high[l], low[l]) = (norm.high, norm.low);
            plain[l] &= Self::is_plain(norm.high, re, im);
        }
    }

    #[inline(never)]
    fn one_by_one(&mut self, x: &[[T::Component; 2]]) {
        for &[re, im] in x {
            match (re.decode(), im.decode()) {
                (Decoded::Nan, _) | (_, Decoded::Nan) => match self.nan {
                    Nan::Propagate => self.apart.total.note(Special::NAN),
                    Nan::Ignore => self.skipped += 1,
                },
                (Decoded::Infinite { .. }, _) | (_, Decoded::Infinite { .. }) => {
                    self.apart.total.note(Special::PLUS);
                }
                (Decoded::Finite { .. }, Decoded::Finite { .. }) => {
                    self.add_norm(re.factor(), im.factor());
                }
            }
        }
    }

    /// Adds the norm of finite parts of any size: exactly as the vectors would, where they can.
    fn add_norm(&mut self, re: f64, im: f64) {
        let larger = re.abs().max(im.abs());
        if larger == 0.0 {
            return;
        }
        let plain = Self::norm(re, im);
        let (norm, exponent) = if Self::is_plain(plain.high, re, im) {
            (plain, 0)
        } else {
            // Brought near 1; 2^-1023 would not be normal, and subnormals come up to at least 2^-52.
            let exponent = warpfold_num::double_double::exponent(larger).clamp(-1022, 1022);
            let scale = power_of_two(-exponent);
            (Self::norm(re * scale, im * scale), exponent)
        };
        for part in [norm.high, norm.low] {
            let Decoded::Finite { negative, mantissa, shift } = part.decode() else {
                unreachable!("finite numbers have a root");
            };
            let mut sum = Register::<[u64; 34]>::default();
            sum.fixed.add(u128::from(mantissa), shift, negative);
            self.apart.merge(&Norm1::from_sum(&sum, f64::UNIT + exponent as i32, 0));
        }
    }

    /// `√(re² + im²)`; all of it in the high part for narrow types.
    #[inline(always)]
    pub(super) fn norm(re: f64, im: f64) -> DoubleDouble {
        if Self::NARROW {
            DoubleDouble { high: (re * re + im * im).sqrt(), low: 0.0 }
        } else {
            two_product(re, re).add(two_product(im, im)).sqrt()
        }
    }

    /// Whether a norm may be trusted: neither the squares nor their errors overflowed or underflowed to any effect.
    #[inline(always)]
    pub(super) fn is_plain(norm: f64, re: f64, im: f64) -> bool {
        const LEAST: f64 = f64::from_bits((1023 - 450) << 52);
        const MOST: f64 = f64::from_bits((1023 + 500) << 52);
        let inside = (norm >= LEAST) & (norm <= MOST);
        inside | ((re == 0.0) & (im == 0.0))
    }
}

impl<T: Element<Component: Factor>> ArrayFold<&[T::Component]> for NormSum<T> {
    type Partial = Norm1<T>;

    #[inline(always)]
    fn take<C: Target>(&mut self, piece: &[T::Component], _first: u64) {
        let (pairs, _) = piece.as_chunks::<2>();
        self.seen += pairs.len() as u64;
        for block in pairs.chunks(BUFFER) {
            if !Self::fill(&mut self.buffer, block) {
                self.one_by_one(block);
                continue;
            }
            self.high.fold(C::ISA, &self.buffer.high[..block.len()], 0);
            if !Self::NARROW {
                self.low.fold(C::ISA, &self.buffer.low[..block.len()], 0);
            }
        }
    }

    fn finish(self) -> Norm1<T> {
        let mut all = self.apart;
        for sum in [self.high, self.low].map(ArrayFold::<&[f64]>::finish) {
            all.merge(&Norm1::from_sum(&sum.parts[0], f64::UNIT, 0));
        }
        all.count = self.seen - self.skipped;
        all
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::{BigInt, BigUint};

    use super::*;
    use crate::kernels::Kernels;
    use crate::{Op, Policy};
    use warpfold_exact::exact::round_ratio;
    use warpfold_num::Complex;
    use warpfold_plan::plan::{Isa, Plan, Problem, choose};

    fn found<T: Kernels>(x: &[T], nan: Nan) -> Norm1<T> {
        let run = |isa, threads, grain| {
            let policy = Policy { nan, isa: Some(isa), ..Policy::default() };
            let problem = Problem { op: Op::L1, dtype: T::DTYPE, n: x.len() as u64, policy };
            T::norm1(&Plan { threads, grain, ..choose(problem, crate::facts()) }, x)
        };
        let first = run(Isa::Baseline, 1, 1 << 20);
        for (isa, grain) in [(Isa::Avx2, 7), (Isa::Avx512, 100)] {
            assert_eq!(run(isa, 3, grain), first, "{isa} {grain}");
        }
        first
    }

    /// The sum of integer roots of the exact squares, with 400 bits below the lowest bit.
    fn expected(x: &[Complex<f64>]) -> f64 {
        let square = |x: f64| match x.decode() {
            Decoded::Finite { mantissa, shift, .. } => {
                BigUint::from(mantissa).pow(2) << (2 * shift)
            }
            _ => unreachable!("finite"),
        };
        let roots = x.iter().map(|z| ((square(z.re) + square(z.im)) << 800u32).sqrt());
        round_ratio(&BigInt::from(roots.sum::<BigUint>()), &BigUint::from(1u32), -1074 - 400)
    }

    #[test]
    fn roots_of_any_size_add_up_to_an_ulp() {
        let number = |i: usize, scale: f64| {
            let (s, c) = (i as f64 * 0.61).sin_cos();
            Complex::new(c * scale * (i % 5) as f64, s * scale)
        };
        for scale in [1.0, 1e307, 1e-160, 1e-300, 1e-323] {
            for n in [0, 1, 2, 15, 16, 33, 5000] {
                let x: Vec<_> = (0..n).map(|i| number(i, scale)).collect();
                let (found, expected) = (found(&x, Nan::Propagate).round(), expected(&x));
                let apart = found.to_bits().abs_diff(expected.to_bits());
                assert!(apart <= 1, "{scale:e} {n}: {found:e} {expected:e}");
                let x: Vec<_> = x.iter().map(|z| Complex::new(z.re as f32, z.im as f32)).collect();
                let wide: Vec<_> =
                    x.iter().map(|z| Complex::new(z.re.into(), z.im.into())).collect();
                if wide.iter().all(|z: &Complex<f64>| z.is_finite()) {
                    let (found, expected) =
                        (self::found(&x, Nan::Propagate), self::expected(&wide));
                    let apart = found.round().to_bits().abs_diff((expected as f32).to_bits());
                    assert!(apart <= 1, "{scale:e} {n}: {found:?} {expected:e}");
                }
            }
        }
    }

    #[test]
    fn mixed_sizes_and_specials() {
        let mut x: Vec<Complex<f64>> = (0..500).map(|i| Complex::new(i as f64, 0.5)).collect();
        x[77] = Complex::new(1e-320, -1e-200);
        x[300] = Complex::new(1e305, 1e-305);
        assert_eq!(found(&x, Nan::Propagate).round(), expected(&x));
        x[5] = Complex::new(f64::NAN, f64::INFINITY);
        assert!(found(&x, Nan::Propagate).round().is_nan());
        assert_eq!(found(&x, Nan::Ignore).count(), 499);
        x[6] = Complex::new(f64::NEG_INFINITY, 0.0);
        assert_eq!(found(&x, Nan::Ignore).round(), f64::INFINITY);
    }
}
