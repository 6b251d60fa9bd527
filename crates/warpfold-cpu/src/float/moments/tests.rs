use warpfold_exact::exact::Moments;
use warpfold_num::random::Words;
use warpfold_num::{Nan, Op, Policy, bf16, f16};
use warpfold_plan::plan::{Isa, Plan, Problem, choose};

use crate::kernels::Kernels;

fn agree<T: Kernels>(name: &str, x: &[T]) {
    let mut expected = Moments::<T>::new();
    x.iter().for_each(|&x| expected.add(x));
    for isa in [Isa::Baseline, Isa::Avx2, Isa::Avx512] {
        let policy = Policy { isa: Some(isa), nan: Nan::Propagate, ..Policy::default() };
        let of = |op| Problem { op, dtype: T::DTYPE, n: x.len() as u64, policy };
        let plan = |op| Plan { threads: 1, ..choose(of(op), crate::facts()) };
        assert_eq!(T::exact_moments(&plan(Op::Var), x, 0), expected, "{name} {} {isa}", T::DTYPE);
        let stats = T::stats(&plan(Op::Stats), x, 0);
        assert_eq!(stats.moments, expected, "stats of {name} {} {isa}", T::DTYPE);
        let norm1 = T::norm1(&plan(Op::L1), x);
        assert_eq!(stats.norm1, norm1, "norm of {name} {} {isa}", T::DTYPE);
    }
}

/// Short arrays, whole blocks, and where the window moves.
macro_rules! agree_on_16_bits {
    ($($ty:ident),+) => {$(
        #[test]
        fn $ty() {
            let mut words = Words(9);
            let mut units: Vec<$ty> = (0..70_000)
                .map(|_| $ty::from_f64(2.0 * words.fraction() - 1.0))
                .collect();
            for n in [0, 1, 31, 32, 127, 128, 129, 1000, 16_384, 70_000] {
                agree("units", &units[..n]);
            }
            // The longest mantissas at the ends of the window, which is chosen by the first: their sums are the largest that lanes hold.
            let longest = $ty::from_bits($ty::ONE.to_bits() - 1);
            let largest = $ty::from_f64(longest.to_f64() * 8.0);
            for value in [longest, -longest, largest, $ty::MIN_POSITIVE_SUBNORMAL, $ty::MAX] {
                units[64..].fill(value);
                units[..64].fill(longest);
                agree("alike", &units);
                units[..64].fill(value);
                agree("all alike", &units);
            }
            let any: Vec<$ty> = (0..70_000).map(|_| $ty::from_bits(words.next() as u16)).collect();
            agree("any", &any);
            let finite: Vec<$ty> = any.into_iter().filter(|x| x.is_finite()).collect();
            agree("finite", &finite);
            let magnitudes = (0..70_000).map(|k| [1.0, 0.0, -1e-3, 1e-4, 0.75][k * k % 5]);
            agree("zeros", &magnitudes.map($ty::from_f64).collect::<Vec<_>>());
        }
    )+};
}
agree_on_16_bits!(f16, bf16);
