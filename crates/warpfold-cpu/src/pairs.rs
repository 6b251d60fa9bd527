//! [`PairSums`]: several exact sums of two arrays that are given piece after piece, in one reading.

use warpfold_exact::AnyPartial;
use warpfold_exact::exact::{Dot, Exact};
use warpfold_exact::partial::Partial;
use warpfold_num::{Accuracy, DType, Element, Op, Policy};
use warpfold_plan::HostArray;
use warpfold_plan::plan::{self, Isa, Problem};

use super::executor::ArrayFold;
use super::float::{PairFold, Squares, Terms, Weighted};
use super::{elements, facts};

/// Sums of pairs in progress on one thread.
#[derive(Debug)]
pub struct PairSums(Box<dyn Sums>);

macro_rules! dot {
    ($ty:ty, $summed:expr) => {{
        let summed = $summed;
        Partial::<$ty>::Dot(Box::new(Dot { parts: summed.parts, count: summed.counted })).untyped()
    }};
}

macro_rules! begun {
    ($policy:expr, $op:expr, $ty:ty, $terms:ty, $end:expr) => {{
        let problem = Problem { op: $op, dtype: <$ty>::DTYPE, n: 0, policy: $policy };
        let isa = plan::choose(problem, facts()).isa;
        let fold = PairFold::<$ty, $terms>::new(isa, $policy.nan);
        let end: fn(<$terms as Terms<$ty>>::Partial) -> Vec<AnyPartial> = $end;
        Box::new(Ongoing { fold, isa, end }) as Box<dyn Sums>
    }};
}

macro_rules! squares {
    ($policy:expr, $ty:ty, $terms:ty) => {
        begun!($policy, Op::Dot, $ty, $terms, |sums| sums.map(|sum| dot!($ty, sum)).into())
    };
}

macro_rules! weighted {
    ($policy:expr, $ty:ty, $terms:ty) => {
        begun!($policy, Op::Dot, $ty, $terms, |(weights, products)| {
            let sum = Exact { parts: weights.parts, count: weights.counted };
            vec![Partial::<$ty>::Sum(sum).untyped(), dot!($ty, products)]
        })
    };
}

impl PairSums {
    /// Begins the sums of the squares of the first, of the products, and of the squares of the second; `None` of types that have no such fold, and of
    /// sums that are not exact.
    pub fn squares(dtype: DType, policy: Policy) -> Option<Self> {
        match dtype {
            _ if policy.accuracy != Accuracy::Exact => None,
            DType::F32 => Some(PairSums(squares!(policy, f32, Squares<f32, 2, 1, 32>))),
            DType::F64 => Some(PairSums(squares!(policy, f64, Squares<f64, 3, 3, 16>))),
            _ => None,
        }
    }

    /// Begins the sum of the first, which are weights, and that of the products; `None` as [`squares`](Self::squares).
    pub fn weighted(dtype: DType, policy: Policy) -> Option<Self> {
        match dtype {
            _ if policy.accuracy != Accuracy::Exact => None,
            DType::F32 => Some(PairSums(weighted!(policy, f32, Weighted<f32, 2, 1, 1, 32, 0, 64>))),
            DType::F64 => Some(PairSums(weighted!(policy, f64, Weighted<f64, 3, 2, 3, 16, 1, 32>))),
            _ => None,
        }
    }

    /// Folds in the next piece of both. Returns whether all of it is known to be finite, and of weights not to be negative.
    ///
    /// # Panics
    /// If it is of another type or of two lengths.
    pub fn take(&mut self, x: HostArray<'_>, y: HostArray<'_>) -> bool {
        assert_eq!(x.len(), y.len(), "pairs are of one length");
        self.0.take(x, y)
    }

    /// What is left of all pieces, in the order in which the sums are told above.
    pub fn finish(self) -> Vec<AnyPartial> {
        self.0.finish()
    }
}

trait Sums: Send {
    fn take(&mut self, x: HostArray<'_>, y: HostArray<'_>) -> bool;
    fn finish(self: Box<Self>) -> Vec<AnyPartial>;
}

impl std::fmt::Debug for dyn Sums {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("sums of pairs")
    }
}

/// A fold, and what its end is made into.
struct Ongoing<F: super::float::Lane, T: Terms<F>> {
    fold: PairFold<F, T>,
    isa: Isa,
    end: fn(T::Partial) -> Vec<AnyPartial>,
}

impl<F: super::float::Lane + Element, T: Terms<F>> Sums for Ongoing<F, T> {
    fn take(&mut self, x: HostArray<'_>, y: HostArray<'_>) -> bool {
        self.fold.fold(self.isa, (elements::<F>(&x), elements::<F>(&y)), 0);
        self.fold.were_inside()
    }

    fn finish(self: Box<Self>) -> Vec<AnyPartial> {
        (self.end)(self.fold.finish())
    }
}

#[cfg(test)]
mod tests {
    use warpfold_num::random::Words;

    use super::*;

    /// Numbers of a few binades that move now and then, with zeros among some, numbers far off among others, and at last what is not finite.
    fn numbers(n: usize, seed: u64, sign: f64) -> Vec<f64> {
        let mut words = Words(seed);
        let mut number = |k: usize| {
            let far = if words.below(512) == 0 { 40 } else { 0 };
            let scale = (k / 5000 % 4) as i32 * 25 - 60 - far;
            let is_zero = k / 3000 % 2 == 1 && words.below(3) == 0;
            let x = (1.0 - (1.0 - sign) * words.fraction()) * 2f64.powi(scale);
            match k {
                _ if is_zero => 0.0 * sign,
                38_500 => f64::INFINITY,
                39_900 => f64::NAN,
                _ => x,
            }
        };
        (0..n).map(&mut number).collect()
    }

    macro_rules! check {
        ($ty:ty, $n:expr) => {{
            let numbers = |seed, sign| -> Vec<$ty> {
                numbers($n, seed, sign).into_iter().map(|x| x as $ty).collect()
            };
            let (x, y, w) = (numbers(1, -1.0), numbers(2, -1.0), numbers(3, 0.0));
            let dot = |x: &[$ty], y: &[$ty]| {
                let mut dot = Dot::<$ty>::new();
                x.iter().zip(y).for_each(|(&x, &y)| dot.add(x, y));
                Partial::Dot(Box::new(dot)).untyped()
            };
            let mut sum = Exact::<$ty>::new();
            w.iter().for_each(|&w| sum.add(w));
            let sums = [Partial::Sum(sum).untyped(), dot(&w, &y)];
            let squares = [dot(&x, &x), dot(&x, &y), dot(&y, &y)];
            for isa in [Isa::Baseline, Isa::Avx2, Isa::Avx512] {
                for step in [1, 700, 1024, 40_000] {
                    let policy = Policy { isa: Some(isa), ..Policy::default() };
                    let dtype = <$ty>::DTYPE;
                    let mut of_squares = PairSums::squares(dtype, policy).expect("it is a float");
                    let mut of_weights = PairSums::weighted(dtype, policy).expect("it is a float");
                    for ((x, y), w) in x.chunks(step).zip(y.chunks(step)).zip(w.chunks(step)) {
                        let (x, y, w) = (HostArray::of(x), HostArray::of(y), HostArray::of(w));
                        of_squares.take(x, y);
                        of_weights.take(w, y);
                    }
                    assert_eq!(of_squares.finish(), squares, "{isa:?} {step}");
                    assert_eq!(of_weights.finish(), sums, "{isa:?} {step}");
                }
            }
        }};
    }

    #[test]
    fn sums_of_pairs_are_those_of_each_element() {
        for n in [38_000, 39_000, 40_000] {
            check!(f64, n);
            check!(f32, n);
        }
    }

    #[test]
    fn lanes_hold_the_largest_of_a_window_as_often_as_they_are_said_to() {
        for least in [1.0, f64::from(f32::MAX) / 2f64.powi(15)] {
            // All mantissa bits, and both ends of a window, whose top is seen in the first block.
            for exponent in [0, 5, 10, 14] {
                let x = (least * 2f64.powi(exponent)) as f32;
                let x = f32::from_bits(x.to_bits() | 0x007f_ffff);
                let x = vec![x; 20_000];
                let y: Vec<f64> =
                    x.iter().map(|&x| f64::from(x) * (2.0 - 2f64.powi(-52))).collect();
                let mut pairs = PairSums::squares(DType::F32, Policy::default()).expect("a float");
                assert!(pairs.take(HostArray::of(&x[..16_384]), HostArray::of(&x[..16_384])));
                let mut dot = Dot::<f32>::new();
                x[..16_384].iter().for_each(|&x| dot.add(x, x));
                assert_eq!(pairs.finish()[1], Partial::Dot(Box::new(dot)).untyped());
                let mut pairs = PairSums::squares(DType::F64, Policy::default()).expect("a float");
                assert!(pairs.take(HostArray::of(&y[..16_384]), HostArray::of(&y[..16_384])));
                let mut dot = Dot::<f64>::new();
                y[..16_384].iter().for_each(|&y| dot.add(y, y));
                assert_eq!(pairs.finish()[2], Partial::Dot(Box::new(dot)).untyped());
            }
        }
    }

    #[test]
    fn what_is_not_known_to_be_a_weight_is_told() {
        let y = vec![0.5f64; 1024];
        for (weight, is_known) in [(1.0, true), (0.0, true), (-0.25, false), (f64::NAN, false)] {
            let mut w = vec![1.0f64; 1024];
            w[77] = weight;
            let policy = Policy::default();
            let mut pairs = PairSums::weighted(DType::F64, policy).expect("it is a float");
            let has_vectors = facts().isa != Isa::Baseline || cfg!(not(target_arch = "x86_64"));
            let told = pairs.take(HostArray::of(&w), HostArray::of(&y));
            assert_eq!(told, is_known && has_vectors, "{weight}");
        }
    }

    #[test]
    fn integers_have_no_such_fold() {
        assert!(PairSums::squares(DType::I64, Policy::default()).is_none());
        assert!(PairSums::weighted(DType::I64, Policy::default()).is_none());
    }
}
