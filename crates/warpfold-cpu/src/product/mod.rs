//! Products: of floats along the canonical tree, a run of elements in each lane; of integers only as far as they can matter.

mod chains;
mod columns;
mod fold;
mod integer;
mod lanes;
mod runs;
mod several;
mod survey;
#[cfg(test)]
mod trees;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) use columns::{Columns, Rows, Spans, WIDTH};
pub(crate) use fold::{ElementProduct, OfComplexes, OfReals};
use fold::{Scratch, UNIT};
pub(super) use integer::IntegerFactors;
pub(crate) use several::Several;
use survey::Survey;

use crate::isa::{Job, Target, with_isa};
use crate::threads::share;
use warpfold_exact::tree::Interval;
use warpfold_plan::plan::Plan;

/// A piece for one instruction set.
struct FoldRange<'p, K: ElementProduct> {
    scratch: &'p mut Scratch<K>,
    x: &'p [K::Component],
    first: u64,
}

impl<K: ElementProduct> Job for FoldRange<'_, K> {
    type Output = Interval<K::Operator>;

    #[inline(always)]
    fn run<C: Target>(self) -> Self::Output {
        self.scratch.fold::<C>(self.x, self.first)
    }
}

/// The intervals of an array whose first element has an index, in any order. Threads take pieces between multiples of a number of elements; where those
/// are does not show in the product.
pub(crate) fn intervals<K: ElementProduct>(
    plan: &Plan,
    x: &[K::Component],
    first: u64,
) -> Vec<Interval<K::Operator>> {
    let nan = plan.problem.policy.nan;
    let end = first + (x.len() / K::PARTS) as u64;
    if plan.threads <= 1 {
        return vec![with_isa(
            plan.isa,
            FoldRange { scratch: &mut Scratch::<K>::new(nan), x, first },
        )];
    }
    let grain = plan.grain.max(1).next_multiple_of(UNIT);
    let next = AtomicU64::new(first / grain);
    let intervals = Mutex::new(Vec::new());
    share(plan.threads, &|| {
        let (mut scratch, mut mine) = (Scratch::<K>::new(nan), Vec::new());
        loop {
            let from = next.fetch_add(1, Ordering::Relaxed).saturating_mul(grain);
            if from >= end {
                break;
            }
            let (from, to) = (from.max(first), from.saturating_add(grain).min(end));
            let at = |index: u64| (index - first) as usize * K::PARTS;
            let piece = FoldRange { scratch: &mut scratch, x: &x[at(from)..at(to)], first: from };
            mine.push(with_isa(plan.isa, piece));
        }
        intervals.lock().unwrap_or_else(|poison| poison.into_inner()).append(&mut mine);
    });
    intervals.into_inner().unwrap_or_else(|poison| poison.into_inner())
}

#[cfg(test)]
mod tests {
    use num_bigint::{BigInt, BigUint};

    use crate::kernels::Kernels;
    use crate::{Nan, Op, Policy, f16};
    use warpfold_exact::exact::round_ratio;
    use warpfold_exact::partial::Product;
    use warpfold_num::Complex;
    use warpfold_num::Overflow;
    use warpfold_num::element::{Decoded, Float, Real};
    use warpfold_num::random::Words;
    use warpfold_plan::plan::{Isa, Plan, Problem, choose};

    fn product<T: Kernels>(x: &[T], policy: Policy, threads: usize) -> Product<T> {
        let problem = Problem { op: Op::Prod, dtype: T::DTYPE, n: x.len() as u64, policy };
        let plan = Plan { threads, grain: 5000, ..choose(problem, crate::facts()) };
        T::product(&plan, x, 0)
    }

    /// The same bits for every instruction set and number of threads.
    fn value<T: Kernels>(x: &[T], policy: Policy) -> T::Sum {
        let first = product(x, policy, 1);
        for isa in [Isa::Baseline, Isa::Avx2, Isa::Avx512] {
            assert_eq!(product(x, Policy { isa: Some(isa), ..policy }, 3), first, "{isa}");
        }
        first.value(policy.overflow).expect("no overflow")
    }

    fn exact<R: Real>(x: &[R]) -> (BigInt, i64) {
        x.iter().fold((BigInt::from(1), 0), |(product, exponent), x| match x.decode() {
            Decoded::Finite { negative, mantissa, shift } => {
                let factor = BigInt::from(mantissa) * if negative { -1 } else { 1 };
                (product * factor, exponent + i64::from(shift) + i64::from(R::UNIT))
            }
            _ => unreachable!("finite factors"),
        })
    }

    fn nearest<F: Float>((product, exponent): (BigInt, i64)) -> F {
        round_ratio(&product, &BigUint::from(1u32), exponent)
    }

    #[test]
    fn reals_at_every_length_and_scale() {
        let mut words = Words(3);
        for n in (0..200).chain([2049, 6000]) {
            for spread in [0, 10, 900] {
                let x: Vec<f64> = (0..n)
                    .map(|_| {
                        let bits = words.next();
                        let exponent = (bits >> 52) as i64 % (spread + 1) - spread / 2;
                        let mantissa = 1.0 + (bits >> 12) as f64 / (1u64 << 52) as f64;
                        mantissa
                            * 2f64.powi(exponent as i32)
                            * if bits & 1 == 0 { -1.0 } else { 1.0 }
                    })
                    .collect();
                let (found, expected) = (value(&x, Policy::default()), nearest::<f64>(exact(&x)));
                let apart = (found.to_bits() as i64).abs_diff(expected.to_bits() as i64);
                assert!(apart <= 1, "{n} {spread}: {found:e} {expected:e}");
                let x: Vec<f32> = x.iter().map(|&x| x as f32).filter(|x| x.is_normal()).collect();
                let (found, expected) = (value(&x, Policy::default()), nearest::<f32>(exact(&x)));
                assert!(
                    found.to_bits().abs_diff(expected.to_bits()) <= 1,
                    "{n} {found} {expected}"
                );
                let x: Vec<f16> = x.iter().map(|&x| f16::from_f32(x.clamp(-6e4, 6e4))).collect();
                if x.iter().all(|x| x.to_f32() != 0.0) {
                    let (found, expected) =
                        (value(&x, Policy::default()), nearest::<f32>(exact(&x)));
                    assert!(found.to_bits().abs_diff(expected.to_bits()) <= 1, "{n} {found}");
                }
            }
        }
    }

    #[test]
    fn nothing_overflows_or_underflows_on_the_way() {
        let mut x = vec![1e300f64; 1000];
        x.extend([1e-300; 1000]);
        assert!((value(&x, Policy::default()) - 1.0).abs() < 1e-10);
        x.push(f64::from_bits(1));
        assert_eq!(value(&x, Policy::default()), f64::from_bits(1));
        x.push(-0.25);
        let result = value(&x, Policy::default());
        assert!(result == 0.0 && result.is_sign_negative());
        assert_eq!(value(&[-1e200f64, 1e200], Policy::default()), f64::NEG_INFINITY);
    }

    #[test]
    fn specials() {
        let (inf, nan) = (f32::INFINITY, f32::NAN);
        let default = Policy::default();
        assert!(value(&[0.0, inf], default).is_nan());
        assert!(value(&[1.0, nan], default).is_nan());
        assert_eq!(value(&[-2.0, inf, 1.0], default), -inf);
        assert!(value(&[0.0f32, -1.0], default).is_sign_positive());
        let ignore = Policy { nan: Nan::Ignore, ..default };
        assert_eq!(value(&[nan, 3.0, nan, 2.0], ignore), 6.0);
        assert_eq!(value(&[f16::INFINITY, f16::ONE], default), inf);
    }

    #[test]
    fn integers_are_checked_on_the_mathematical_result() {
        let default = Policy::default();
        assert_eq!(value(&[i32::MIN, i32::MIN], default), 1 << 62);
        assert_eq!(value(&[i64::MIN, 1, 1], default), i64::MIN);
        assert_eq!(value(&[&[i64::MAX; 100][..], &[0]].concat(), default), 0);
        assert_eq!(value(&[-1i8; 10_001], default), -1);
        assert_eq!(value(&[true, false], default), 0);
        assert!(product(&[2u8; 64], default, 1).value(Overflow::Error).is_err());
        let message = product(&[-2i64; 65], default, 1).value(Overflow::Error).unwrap_err();
        assert!(message.to_string().contains("-18446744073709551616 or beyond"), "{message}");
        let wrap = Policy { overflow: Overflow::Wrap, ..default };
        let x: Vec<i64> = (0..5000).map(|i| 2 * i + 1 - 5000).collect();
        assert_eq!(value(&x, wrap), x.iter().fold(1, |p: i64, &x| p.wrapping_mul(x)));
    }

    #[test]
    fn complex_numbers_stay_within_an_ulp_of_their_norm() {
        let mut words = Words(5);
        for n in (0..40).chain([1000]) {
            let mut part = || (words.next() >> 40) as f64 / (1 << 23) as f64 - 1.0;
            let scale = |i| 2f64.powi(if i % 2 == 0 { 400 } else { -400 });
            let x: Vec<Complex<f64>> =
                (0..n).map(|i| Complex::new(part(), part()) * scale(i)).collect();
            let found = value(&x, Policy::default());
            let (mut re, mut im, mut unit) = (BigInt::from(1), BigInt::from(0), 0);
            for z in &x {
                let ((c, s), (d, t)) = (exact(&[z.re]), exact(&[z.im]));
                let (c, d) = (c << (s - s.min(t)), d << (t - s.min(t)));
                (re, im) = (&re * &c - &im * &d, re * d + im * c);
                unit += s.min(t);
            }
            let (re, im): (f64, f64) = (nearest((re, unit)), nearest((im, unit)));
            let error = (re - found.re).abs().max((im - found.im).abs());
            assert!(error <= f64::EPSILON * re.abs().max(im.abs()), "{n}: {found} {re} {im}");
        }
        assert_eq!(
            value(&[Complex::new(0.0, 1.0f32); 6], Policy::default()),
            Complex::new(-1.0, 0.0)
        );
    }
}
