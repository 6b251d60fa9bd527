//! [`Running`]: a fold that is given an array piece after piece, and keeps what it has learnt between them.

use warpfold_exact::AnyPartial;
use warpfold_exact::partial::Partial;
use warpfold_num::{Accuracy, DType, Element, Op, Policy, with_element};
use warpfold_plan::HostArray;
use warpfold_plan::plan::{self, Isa, Plan, Problem};

use super::executor::{Fold, Pieces};
use super::kernels::Kernels;
use super::order::Order;
use super::{elements, facts};

/// A reduction in progress on one thread, whose pieces may be as short as a few thousand elements, fresh in the cache: the window of a sum and
/// the best so far of an extreme stay from one to the next.
#[derive(Debug)]
pub struct Running(Box<dyn Untyped>);

impl Running {
    /// Begins a reduction; `None` of those that have no such fold: fast ones, and all but sums, moments, dot products and extremes.
    pub fn start(op: Op, dtype: DType, policy: Policy) -> Option<Self> {
        if policy.accuracy != Accuracy::Exact {
            return None;
        }
        let problem = Problem { op, dtype, n: 0, policy: Policy { threads: Some(1), ..policy } };
        let plan = plan::choose(problem, facts());
        with_element!(dtype, T => {
            let is_ordered = matches!(op, Op::Min | Op::Max | Op::MinMax | Op::ArgMin | Op::ArgMax);
            let fold = match op {
                _ if is_ordered && T::PARTS == 1 => Some(of_extremes::<T>(&plan)),
                _ => T::running(&plan),
            };
            fold.map(|fold| Running(Box::new(fold)))
        })
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

    /// What is left of all pieces.
    pub fn finish(self) -> AnyPartial {
        self.0.finish()
    }
}

/// A fold of an element type.
pub(crate) trait Typed<T: Kernels>: Send {
    /// Folds in a piece: of one array the first, which is the second too.
    fn take(&mut self, x: &[T], y: &[T], first: u64);
    /// What is left.
    fn finish(self: Box<Self>) -> Partial<T>;
}

trait Untyped: Send {
    fn take(&mut self, x: HostArray<'_>, y: HostArray<'_>, first: u64);
    fn finish(self: Box<Self>) -> AnyPartial;
}

impl std::fmt::Debug for dyn Untyped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a fold")
    }
}

impl<T: Kernels> Untyped for Box<dyn Typed<T>>
where
    AnyPartial: From<Partial<T>>,
{
    fn take(&mut self, x: HostArray<'_>, y: HostArray<'_>, first: u64) {
        (**self).take(elements::<T>(&x), elements::<T>(&y), first);
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
    T: Kernels,
    F: for<'a> Fold<&'a [T::Part], Partial = P> + Send + 'static,
    P: 'static,
{
    Box::new(Ongoing::<_, _, 1> { fold, isa: plan.isa, end })
}

/// A fold of two arrays.
pub(crate) fn two<T, F, P>(plan: &Plan, fold: F, end: fn(P) -> Partial<T>) -> Box<dyn Typed<T>>
where
    T: Kernels,
    F: for<'a> Fold<(&'a [T::Part], &'a [T::Part]), Partial = P> + Send + 'static,
    P: 'static,
{
    Box::new(Ongoing::<_, _, 2> { fold, isa: plan.isa, end })
}

impl<T, F, P> Typed<T> for Ongoing<F, fn(P) -> Partial<T>, 1>
where
    T: Kernels,
    F: for<'a> Fold<&'a [T::Part], Partial = P> + Send,
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
    T: Kernels,
    F: for<'a> Fold<(&'a [T::Part], &'a [T::Part]), Partial = P> + Send,
{
    fn take(&mut self, x: &[T], y: &[T], first: u64) {
        self.fold.fold(self.isa, (T::as_parts(x), T::as_parts(y)), first);
    }

    fn finish(self: Box<Self>) -> Partial<T> {
        finished(self.fold, self.end)
    }
}

fn finished<I: Pieces, F: Fold<I>, T: Element>(
    fold: F,
    end: fn(F::Partial) -> Partial<T>,
) -> Partial<T> {
    end(fold.finish())
}

fn of_extremes<T: Kernels>(plan: &Plan) -> Box<dyn Typed<T>> {
    one(plan, Order::<T::Part>::new(plan), |found| Partial::Extremes(found.extremes))
}
