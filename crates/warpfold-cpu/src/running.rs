//! [`Running`]: a fold that is given an array piece after piece, and keeps what it has learnt between them.

use std::ops::Range;

use warpfold_exact::AnyPartial;
use warpfold_exact::partial::Partial;
use warpfold_num::Element;
use warpfold_plan::HostArray;
use warpfold_plan::plan::{Isa, Plan};

use super::elements;
use super::executor::{ArrayFold, Split};
use super::made::{Made, Make};
use super::order::Order;

/// A reduction in progress on one thread, whose pieces may be as short as a few thousand elements, fresh in the cache: the window of a sum and
/// the best so far of an extreme stay from one to the next.
#[derive(Debug)]
pub struct Running(Box<dyn Untyped>);

impl Running {
    /// A fold of an element type, as one of any.
    pub(crate) fn of<T: Element + 'static>(fold: Box<dyn Typed<T>>) -> Self
    where
        AnyPartial: From<Partial<T>>,
    {
        Running(Box::new(fold))
    }

    /// Folds in the next piece, whose first element has an index.
    ///
    /// # Panics
    /// If it is of another type, or one that wants two arrays.
    pub fn take(&mut self, x: HostArray<'_>, first: u64) {
        self.0.take(x, x, first);
    }

    /// Folds in the next piece of two arrays.
    ///
    /// # Panics
    /// If they are of another type or of two lengths.
    pub fn take_pair(&mut self, x: HostArray<'_>, y: HostArray<'_>) {
        assert_eq!(x.len(), y.len(), "pairs are of one length");
        self.0.take(x, y, 0);
    }

    /// Whether it takes values that are [made](Self::take_made) as it folds them: sums and extremes of floats.
    pub fn takes_made(&self) -> bool {
        self.0.takes_made()
    }

    /// Folds in so many values, which something writes as numbers of the type a few at a time, those at a range of positions; in any order, and some twice.
    ///
    /// # Panics
    /// If it does not [take such](Self::takes_made).
    pub fn take_made(&mut self, len: usize, first: u64, make: &Make<'_, u8>) {
        self.0.take_made(len, first, make);
    }

    /// What is left of all pieces.
    pub fn finish(self) -> AnyPartial {
        self.0.finish()
    }
}

/// A fold of an element type.
pub(crate) trait Typed<T: Element>: Send {
    /// Folds in a piece: of one array the first, which is the second too.
    fn take(&mut self, x: &[T], y: &[T], first: u64);
    /// Whether it takes values that are made.
    fn takes_made(&self) -> bool {
        false
    }
    /// Folds in so many of such.
    fn take_made(&mut self, _len: usize, _first: u64, _make: &Make<'_, u8>) {
        unreachable!("a fold of values that are there");
    }
    /// What is left.
    fn finish(self: Box<Self>) -> Partial<T>;
}

trait Untyped: Send {
    fn take(&mut self, x: HostArray<'_>, y: HostArray<'_>, first: u64);
    fn takes_made(&self) -> bool;
    fn take_made(&mut self, len: usize, first: u64, make: &Make<'_, u8>);
    fn finish(self: Box<Self>) -> AnyPartial;
}

impl std::fmt::Debug for dyn Untyped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a fold")
    }
}

impl<T: Element> Untyped for Box<dyn Typed<T>>
where
    AnyPartial: From<Partial<T>>,
{
    fn take(&mut self, x: HostArray<'_>, y: HostArray<'_>, first: u64) {
        (**self).take(elements::<T>(&x), elements::<T>(&y), first);
    }

    fn takes_made(&self) -> bool {
        (**self).takes_made()
    }

    fn take_made(&mut self, len: usize, first: u64, make: &Make<'_, u8>) {
        (**self).take_made(len, first, make);
    }

    fn finish(self: Box<Self>) -> AnyPartial {
        (*self).finish().into()
    }
}

/// A fold of one array, or of two, and what its end is made into.
struct Ongoing<F, E, const ARRAYS: usize> {
    fold: F,
    isa: Isa,
    end: E,
}

/// A fold of one array.
pub(crate) fn one<T, F, P>(plan: &Plan, fold: F, end: fn(P) -> Partial<T>) -> Box<dyn Typed<T>>
where
    T: Element,
    F: for<'a> ArrayFold<&'a [T::Component], Partial = P> + Send + 'static,
    P: 'static,
{
    Box::new(Ongoing::<_, _, 1> { fold, isa: plan.isa, end })
}

/// A fold of one array of floats, which may be made as it is folded.
pub(crate) fn made<T, F, P>(plan: &Plan, fold: F, end: fn(P) -> Partial<T>) -> Box<dyn Typed<T>>
where
    T: Element<Component: bytemuck::Pod>,
    F: for<'a> ArrayFold<&'a [T::Component], Partial = P>
        + for<'a> ArrayFold<Made<'a, T::Component>, Partial = P>
        + Send
        + 'static,
    P: 'static,
{
    Box::new(Making(Ongoing::<_, _, 1> { fold, isa: plan.isa, end }))
}

/// A fold that takes values that are made.
struct Making<F, E>(Ongoing<F, E, 1>);

impl<T, F, P> Typed<T> for Making<F, fn(P) -> Partial<T>>
where
    T: Element<Component: bytemuck::Pod>,
    F: for<'a> ArrayFold<&'a [T::Component], Partial = P>
        + for<'a> ArrayFold<Made<'a, T::Component>, Partial = P>
        + Send,
    P: 'static,
{
    fn take(&mut self, x: &[T], y: &[T], first: u64) {
        self.0.take(x, y, first);
    }

    fn takes_made(&self) -> bool {
        true
    }

    fn take_made(&mut self, len: usize, first: u64, make: &Make<'_, u8>) {
        let make = |range: Range<usize>, values: &mut [T::Component]| {
            make(range, bytemuck::cast_slice_mut(values));
        };
        self.0.fold.fold(self.0.isa, Made::new(len, &make), first);
    }

    fn finish(self: Box<Self>) -> Partial<T> {
        finished::<&[T::Component], _, _>(self.0.fold, self.0.end)
    }
}

/// A fold of two arrays.
pub(crate) fn two<T, F, P>(plan: &Plan, fold: F, end: fn(P) -> Partial<T>) -> Box<dyn Typed<T>>
where
    T: Element,
    F: for<'a> ArrayFold<(&'a [T::Component], &'a [T::Component]), Partial = P> + Send + 'static,
    P: 'static,
{
    Box::new(Ongoing::<_, _, 2> { fold, isa: plan.isa, end })
}

impl<T, F, P> Typed<T> for Ongoing<F, fn(P) -> Partial<T>, 1>
where
    T: Element,
    F: for<'a> ArrayFold<&'a [T::Component], Partial = P> + Send,
{
    fn take(&mut self, x: &[T], _: &[T], first: u64) {
        self.fold.fold(self.isa, T::as_parts(x), first);
    }

    fn finish(self: Box<Self>) -> Partial<T> {
        finished(self.fold, self.end)
    }
}

impl<T, F, P> Typed<T> for Ongoing<F, fn(P) -> Partial<T>, 2>
where
    T: Element,
    F: for<'a> ArrayFold<(&'a [T::Component], &'a [T::Component]), Partial = P> + Send,
{
    fn take(&mut self, x: &[T], y: &[T], first: u64) {
        self.fold.fold(self.isa, (T::as_parts(x), T::as_parts(y)), first);
    }

    fn finish(self: Box<Self>) -> Partial<T> {
        finished(self.fold, self.end)
    }
}

fn finished<I: Split, F: ArrayFold<I>, T: Element>(
    fold: F,
    end: fn(F::Partial) -> Partial<T>,
) -> Partial<T> {
    end(fold.finish())
}

pub(crate) fn of_extremes<T: Element>(plan: &Plan) -> Box<dyn Typed<T>> {
    one(plan, Order::<T::Component, false>::new(plan), |found| Partial::Extremes(found.extremes))
}

#[cfg(test)]
mod tests {
    use warpfold_exact::exact::{Dot, Exact, Moments};
    use warpfold_exact::partial::Extremes;
    use warpfold_num::random::Words;
    use warpfold_num::{Accuracy, DType, Nan, Op, Policy};

    use super::*;

    /// Numbers whose magnitudes move, so that windows do; now and then one far off.
    fn numbers(n: usize) -> Vec<f64> {
        let mut words = Words(5);
        (0..n)
            .map(|k| {
                let far = if words.below(128) == 0 { 60 } else { 0 };
                let scale = (k / 2000 % 9) as i32 * 6 - 20 + far;
                (2.0 * words.fraction() - 1.0) * 2f64.powi(scale)
            })
            .collect()
    }

    macro_rules! check {
        ($ty:ty) => {{
            let x: Vec<$ty> = numbers(40_000).into_iter().map(|x| x as $ty).collect();
            let y: Vec<$ty> = x.iter().rev().copied().collect();
            let (mut sum, mut moments, mut dot, mut extremes) =
                (Exact::<$ty>::new(), Moments::<$ty>::new(), Dot::<$ty>::new(), Extremes::new());
            for (k, (&x, &y)) in x.iter().zip(&y).enumerate() {
                sum.add(x);
                moments.add(x);
                dot.add(x, y);
                extremes.add(x, 3 + k as u64);
            }
            for isa in [Isa::Baseline, Isa::Avx2, Isa::Avx512] {
                for step in [1, 64, 700, 2048, 40_000] {
                    let policy = Policy { isa: Some(isa), ..Policy::default() };
                    let start =
                        |op| Running::start(op, <$ty>::DTYPE, policy).expect("it has such a fold");
                    let mut folds = [Op::Sum, Op::Var, Op::ArgMax, Op::Dot].map(start);
                    let mut first = 3;
                    for (x, y) in x.chunks(step).zip(y.chunks(step)) {
                        let (x, y) = (HostArray::of(x), HostArray::of(y));
                        folds[..3].iter_mut().for_each(|fold| fold.take(x, first));
                        folds[3].take_pair(x, y);
                        first += step as u64;
                    }
                    let found = folds.map(|fold| fold.finish().typed::<$ty>());
                    let expected = [
                        Partial::Sum(sum.clone()),
                        Partial::Moments(Box::new(moments.clone())),
                        Partial::Extremes(extremes.clone()),
                        Partial::Dot(Box::new(dot.clone())),
                    ];
                    assert_eq!(found, expected.map(Some), "{isa:?} {step}");
                }
            }
        }};
    }

    macro_rules! check_made {
        ($ty:ty) => {{
            let mut x: Vec<$ty> = numbers(140_000).into_iter().map(|x| x as $ty).collect();
            for special in [0.0, -0.0, <$ty>::INFINITY, <$ty>::NAN] {
                x[100_000] = special;
                for (n, nan) in
                    [(140_000, Nan::Propagate), (133_333, Nan::Ignore), (77, Nan::Propagate)]
                {
                    let x = &x[..n];
                    let make = |range: Range<usize>, values: &mut [u8]| {
                        values.copy_from_slice(bytemuck::cast_slice(&x[range]));
                    };
                    let sizes: Vec<$ty> = x.iter().map(|x| x.abs()).collect();
                    for isa in [Isa::Baseline, Isa::Avx2, Isa::Avx512] {
                        for op in [Op::Sum, Op::ArgMax, Op::Min] {
                            let policy = Policy { isa: Some(isa), nan, ..Policy::default() };
                            let start =
                                || Running::start(op, <$ty>::DTYPE, policy).expect("it has a fold");
                            let (mut there, mut made) = (start(), start());
                            assert!(made.takes_made());
                            for first in [3, 3 + n as u64] {
                                there.take(HostArray::of(x), first);
                                made.take_made(n, first, &make);
                            }
                            assert_eq!(made.finish(), there.finish(), "{op} {isa:?} {n} {special}");
                            let mut there = start();
                            there.take(HostArray::of(&sizes), 3);
                            let of = Running::of_magnitudes(op, <$ty>::DTYPE, policy);
                            let mut of = of.expect("it has a fold");
                            of.take(HostArray::of(x), 3);
                            assert_eq!(of.finish(), there.finish(), "{op} {isa:?} {n} {special}");
                        }
                    }
                }
            }
        }};
    }

    #[test]
    fn values_that_are_made_and_magnitudes_are_folded_as_values_that_are_there() {
        check_made!(f64);
        check_made!(f32);
    }

    #[test]
    fn pieces_of_any_length_leave_what_each_element_does() {
        check!(f64);
        check!(f32);
    }

    #[test]
    fn what_has_no_such_fold_is_none() {
        let fast = Policy { accuracy: Accuracy::Fast, ..Policy::default() };
        assert!(Running::start(Op::Sum, DType::F32, fast).is_none());
        assert!(Running::start(Op::Prod, DType::F32, Policy::default()).is_none());
        assert!(Running::start(Op::Sum, DType::I64, Policy::default()).is_none());
        assert!(Running::start(Op::Max, DType::I64, Policy::default()).is_some());
    }
}
