use warpfold_exact::exact::{Dot, Exact, Moments};
use warpfold_num::random::Words;
use warpfold_num::{Complex, Nan, Op, Policy, bf16, f16};
use warpfold_plan::plan::{Isa, Plan, Problem, choose};

use crate::kernels::Kernels;

fn agree<T: Kernels>(name: &str, x: &[T]) {
    let mut expected = Moments::<T>::new();
    x.iter().for_each(|&x| expected.add(x));
    let y: Vec<T> = x.iter().cycle().skip(2).take(x.len()).copied().collect();
    let (mut sum, mut dot) = (Exact::<T>::new(), Dot::<T>::new());
    for (&x, &y) in x.iter().zip(&y) {
        sum.add(x);
        dot.add(x, y);
    }
    for isa in [Isa::Baseline, Isa::Avx2, Isa::Avx512] {
        let policy = Policy { isa: Some(isa), nan: Nan::Propagate, ..Policy::default() };
        let of = |op| Problem { op, dtype: T::DTYPE, n: x.len() as u64, policy };
        let plan = |op| Plan { threads: 1, ..choose(of(op), crate::facts()) };
        assert_eq!(T::exact_moments(&plan(Op::Var), x, 0), expected, "{name} {} {isa}", T::DTYPE);
        assert_eq!(T::exact_sum(&plan(Op::Sum), x, 0), sum, "sum of {name} {} {isa}", T::DTYPE);
        let found = T::exact_dot(&plan(Op::Dot), x, &y, 0);
        assert_eq!(found, dot, "dot of {name} {} {isa}", T::DTYPE);
        let stats = T::stats(&plan(Op::Stats), x, 0);
        assert_eq!(stats.moments, expected, "stats of {name} {} {isa}", T::DTYPE);
        let norm1 = T::norm1(&plan(Op::L1), x);
        assert_eq!(stats.norm1, norm1, "norm of {name} {} {isa}", T::DTYPE);
    }
}

/// Short arrays, whole blocks, and where the window moves.
macro_rules! agree_on_floats {
    ($($ty:ident: $bits:ident, $from:expr, $least:expr;)+) => {$(
        #[test]
        fn $ty() {
            let (mut words, from) = (Words(9), $from);
            let mut units: Vec<$ty> =
                (0..70_000).map(|_| from(2.0 * words.fraction() - 1.0)).collect();
            for n in [0, 1, 31, 32, 127, 128, 129, 1000, 16_384, 70_000] {
                agree("units", &units[..n]);
            }
            // The longest mantissas at the ends of the window, which is chosen by the first: their sums are the largest that lanes hold.
            let longest = $ty::from_bits(from(1.0).to_bits() - 1);
            let largest = longest * from(8.0);
            for value in [longest, -longest, largest, $least, $ty::MAX] {
                units[64..].fill(value);
                units[..64].fill(longest);
                agree("alike", &units);
                units[..64].fill(value);
                agree("all alike", &units);
            }
            let any: Vec<$ty> = (0..70_000).map(|_| $ty::from_bits(words.next() as $bits)).collect();
            agree("any", &any);
            let finite: Vec<$ty> = any.into_iter().filter(|x| x.is_finite()).collect();
            agree("finite", &finite);
            let magnitudes = (0..70_000).map(|k| [1.0, 0.0, -1e-3, 1e-4, 0.75][k * k % 5]);
            agree("zeros", &magnitudes.map(from).collect::<Vec<_>>());
            // Of all widths: some groups within the narrowest window, some across its end, and some across those of all.
            for binades in [8, 16, 24, 40, 80] {
                let mut scaled = || {
                    let down = (words.next() % binades) as i32;
                    from((2.0 * words.fraction() - 1.0) * 2f64.powi(-down))
                };
                let few: Vec<$ty> =
                    (0..70_000).map(|k| if k % 37 == 0 { scaled() } else { from(0.75) }).collect();
                agree("few spread", &few);
                agree("all spread", &(0..20_000).map(|_| scaled()).collect::<Vec<_>>());
            }
        }
    )+};
}
agree_on_floats! {
    f16: u16, f16::from_f64, f16::MIN_POSITIVE_SUBNORMAL;
    bf16: u16, bf16::from_f64, bf16::MIN_POSITIVE_SUBNORMAL;
    f32: u32, |x: f64| x as f32, f32::from_bits(1);
    f64: u64, |x: f64| x, f64::from_bits(1);
}

#[test]
fn complex() {
    let mut words = Words(11);
    for binades in [1, 16, 40] {
        let mut part = || {
            let down = (words.next() % binades) as i32;
            (2.0 * words.fraction() - 1.0) * 2f64.powi(-down)
        };
        let wide: Vec<_> = (0..30_001).map(|_| Complex::new(part(), part())).collect();
        let narrow = |z: &Complex<f64>| Complex::new(z.re as f32, z.im as f32);
        for n in [0, 1, 15, 16, 17, 100, 4096, 30_001] {
            agree("complex", &wide[..n]);
            agree("complex", &wide[..n].iter().map(narrow).collect::<Vec<_>>());
        }
    }
}
