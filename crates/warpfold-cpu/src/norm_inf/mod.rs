//! The largest magnitude: an integer maximum for reals, exact comparisons of the few candidates for complex numbers.

mod complex;
mod real;

pub(super) use complex::LargestComplex;
pub(super) use real::LargestReal;

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;

    use crate::{Nan, Op, Policy, bf16, f16};
    use warpfold_exact::partial::Magnitude;
    use warpfold_num::Complex;
    use warpfold_num::element::{Decode, Decoded};
    use warpfold_plan::plan::{Isa, Plan, Problem, choose};

    fn found<T: crate::kernels::Kernels>(x: &[T], nan: Nan) -> Magnitude<T> {
        let run = |isa, threads| {
            let policy = Policy { nan, isa: Some(isa), ..Policy::default() };
            let problem = Problem { op: Op::Linf, dtype: T::DTYPE, n: x.len() as u64, policy };
            let plan = Plan { threads, grain: 1000, ..choose(problem, crate::facts()) };
            T::norm_inf(&plan, x)
        };
        let first = run(Isa::Baseline, 1);
        assert_eq!(run(Isa::Avx2, 3), first);
        assert_eq!(run(Isa::Avx512, 3), first);
        first
    }

    #[test]
    fn reals() {
        for n in 0..150 {
            let x: Vec<i8> = (0..n).map(|i| (i * 37 % 256) as u8 as i8).collect();
            let expected = x.iter().map(|x| u64::from(x.unsigned_abs())).max().unwrap_or(0);
            assert_eq!(found(&x, Nan::Propagate).value(), expected);
            let x: Vec<f32> = (0..n).map(|i| (i as f32 * 0.7).sin()).collect();
            let expected = x.iter().fold(0.0f32, |m, x| m.max(x.abs()));
            assert_eq!(found(&x, Nan::Propagate).value(), expected);
        }
        assert_eq!(found(&[i64::MIN, 5], Nan::Propagate).value(), 1 << 63);
        assert_eq!(found(&[true], Nan::Propagate).value(), 1);
        assert!(found(&[f32::INFINITY, f32::NAN], Nan::Propagate).value().is_nan());
        assert_eq!(found(&[f16::NEG_INFINITY, f16::NAN], Nan::Ignore).value(), f32::INFINITY);
        assert_eq!(found(&[bf16::NAN; 3], Nan::Ignore).value(), 0.0);
        assert_eq!(found(&[f64::from_bits(1)], Nan::Ignore).value(), f64::from_bits(1));
    }

    /// The exact square of each magnitude, compared as integers.
    #[test]
    fn complex_candidates_are_compared_exactly() {
        let square = |z: &Complex<f64>| {
            let part = |x: f64| match x.decode() {
                Decoded::Finite { mantissa, shift, .. } => (BigInt::from(mantissa) << shift).pow(2),
                _ => unreachable!("finite"),
            };
            part(z.re) + part(z.im)
        };
        let circle = |i: usize, scale: f64| {
            let (s, c) = (i as f64 * 0.37).sin_cos();
            Complex::new(c * scale, s * scale)
        };
        for scale in [1.0, 1e308, 1e-308, 5e-324] {
            for n in [1, 2, 7, 100, 3000] {
                let x: Vec<_> = (0..n).map(|i| circle(i, scale)).collect();
                let largest = x.iter().max_by_key(|z| square(z)).expect("not empty");
                assert_eq!(found(&x, Nan::Propagate), found(&[*largest], Nan::Propagate));
                let expected = x.iter().map(square).max().expect("not empty");
                let found = found(&x, Nan::Propagate).square.fixed;
                assert_eq!(warpfold_exact::exact::to_bigint(&found), expected, "{scale:e} {n}");
            }
        }
        let nan = Complex::new(f32::NAN, 9.0);
        assert!(found(&[nan, Complex::new(3.0, 4.0)], Nan::Propagate).value().is_nan());
        assert_eq!(found(&[nan, Complex::new(3.0, 4.0)], Nan::Ignore).value(), 5.0);
        assert_eq!(found(&[Complex::new(f64::MAX, f64::MAX)], Nan::Ignore).value(), f64::INFINITY);
    }
}
