//! The builder: one reduction of one array on a machine, with every choice of the contract.

use std::marker::PhantomData;

use super::buffer::View;
use super::machine::Machine;
use crate::element::{Element, Integer, Ordered, Scalar};
use crate::exact::Exact;
use crate::kernel::AnyReduce;
use crate::partial::{Finish, Output, Partial};
use crate::plan::{CudaPlan, Shape};
use crate::{Op, Result, Value};

/// A reduction on a machine being set up: choose, then call the reduction. It waits for the result.
#[must_use = "call a reduction, such as .sum()"]
pub struct Reduce<'a, M: Machine, T> {
    reduce: AnyReduce<'a>,
    of: PhantomData<(&'a M, T)>,
}

impl<M: Machine, T> Clone for Reduce<'_, M, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: Machine, T> Copy for Reduce<'_, M, T> {}

impl<'a, M: Machine, T: Element> Reduce<'a, M, T> {
    /// Of an array of the type.
    pub(super) fn new(reduce: AnyReduce<'a>) -> Self {
        Reduce { reduce, of: PhantomData }
    }

    pub(super) fn one(machine: &'a M, x: View<'a, M, T>) -> Self {
        Reduce::new(AnyReduce::new(machine, x.untyped()))
    }

    pub(super) fn two(machine: &'a M, x: View<'a, M, T>, y: View<'a, M, T>) -> Result<Self> {
        Ok(Reduce::new(AnyReduce::pair(machine, x.untyped(), y.untyped())?))
    }

    /// The same with its type inside.
    pub fn untyped(&self) -> AnyReduce<'a> {
        self.reduce
    }

    super::policy_methods!(reduce);

    /// Another shape of the launch than the planner's, to measure or test it.
    pub fn shape(mut self, shape: Shape) -> Self {
        self.reduce = self.reduce.shape(shape);
        self
    }

    /// Of as many elements as a `u64` in the machine's memory says when the reduction runs, and of no more than there are. In a queue that is being
    /// captured into a CUDA graph the length may change from one replay to the next.
    ///
    /// ```
    /// # #[cfg(feature = "simt")] {
    /// let device = warpfold::simt::Device::new();
    /// let (x, n) = (device.upload(&[1.0f32, 2.0, 4.0, 8.0])?, device.upload(&[3u64])?);
    /// assert_eq!(device.reduce(&x).len_on_device(&n).sum()?, 7.0);
    /// # }
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no `u64`.
    pub fn len_on_device(mut self, length: impl Into<View<'a, M, u64>>) -> Self {
        self.reduce = self.reduce.len_on_device(length.into().untyped());
        self
    }

    /// The same of a piece of an array, whose first element has this index in the whole: what its partial knows of indices counts from there.
    pub fn starting_at(mut self, first: u64) -> Self {
        self.reduce = self.reduce.starting_at(first);
        self
    }

    /// How a reduction would run here; of an array on several machines, on the first of them.
    ///
    /// # Errors
    /// [`Error::Undefined`](crate::Error::Undefined), [`Error::Unsupported`](crate::Error::Unsupported): see
    /// [`plan::choose_cuda`](crate::plan::choose_cuda); also if the number of arrays is not the reduction's.
    pub fn plan(&self, op: Op) -> Result<CudaPlan> {
        self.reduce.plan(op)
    }

    /// The exact partial result, to be merged with others or finished.
    ///
    /// # Errors
    /// As [`plan`](Self::plan); [`Error::Unsupported`](crate::Error::Unsupported) for fast float sums and the like, which leave none;
    /// [`Error::Device`](crate::Error::Device).
    pub fn partial(&self, op: Op) -> Result<Partial<T>> {
        let partial = self.reduce.partial(op)?.typed();
        Ok(partial.unwrap_or_else(|| unreachable!("the partial of an array has the array's type")))
    }

    fn exact_sum(&self) -> Result<Exact<T>> {
        match self.partial(Op::Sum)? {
            Partial::Sum(partial) => Ok(partial),
            other => unreachable!("a sum leaves a sum, not {other:?}"),
        }
    }

    /// The result of any reduction, by name.
    ///
    /// # Errors
    /// As [`partial`](Self::partial) and [`Partial::finish`].
    pub fn output(&self, op: Op, finish: Finish) -> Result<Output> {
        self.reduce.output(op, finish)
    }

    /// The one number of a reduction, of the type that the contract gives it.
    fn value<R: Scalar>(&self, op: Op) -> Result<R> {
        self.value_of(op, 0)
    }

    fn value_of<R: Scalar>(&self, op: Op, ddof: u64) -> Result<R> {
        match self.output(op, Finish { ddof, ..Finish::default() })? {
            Output::One(value) => Ok(number(value)),
            other => unreachable!("{op} has one number, not {other:?}"),
        }
    }

    /// The sum: integers exact and checked, floats as [`Accuracy`](crate::Accuracy) says.
    ///
    /// # Errors
    /// [`Error::Overflow`](crate::Error::Overflow), [`Error::Unsupported`](crate::Error::Unsupported), [`Error::Device`](crate::Error::Device).
    pub fn sum(&self) -> Result<T::Sum> {
        self.value(Op::Sum)
    }

    /// The arithmetic mean.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty), [`Error::Unsupported`](crate::Error::Unsupported), [`Error::Device`](crate::Error::Device).
    pub fn mean(&self) -> Result<T::With<T::Round>> {
        self.value(Op::Mean)
    }

    /// The variance over `n - ddof`.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty), [`Error::TooFew`](crate::Error::TooFew), [`Error::Unsupported`](crate::Error::Unsupported),
    /// [`Error::Device`](crate::Error::Device).
    pub fn var(&self, ddof: u64) -> Result<T::Round> {
        self.value_of(Op::Var, ddof)
    }

    /// The standard deviation over `n - ddof`.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty), [`Error::TooFew`](crate::Error::TooFew), [`Error::Unsupported`](crate::Error::Unsupported),
    /// [`Error::Device`](crate::Error::Device).
    pub fn std(&self, ddof: u64) -> Result<T::Round> {
        self.value_of(Op::Std, ddof)
    }

    /// The sum of magnitudes.
    ///
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported), [`Error::Device`](crate::Error::Device).
    pub fn l1(&self) -> Result<T::Round> {
        self.value(Op::L1)
    }

    /// The largest magnitude.
    ///
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported) for complex elements, [`Error::Device`](crate::Error::Device).
    pub fn linf(&self) -> Result<T::Linf> {
        self.value(Op::Linf)
    }

    /// The Euclidean norm.
    ///
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported), [`Error::Device`](crate::Error::Device).
    pub fn l2(&self) -> Result<T::Round> {
        self.value(Op::L2)
    }

    /// The sum of squared magnitudes: of floats rounded once, of integers checked.
    ///
    /// # Errors
    /// [`Error::Overflow`](crate::Error::Overflow), [`Error::Unsupported`](crate::Error::Unsupported), [`Error::Device`](crate::Error::Device).
    pub fn sumsq(&self) -> Result<T::Squares> {
        self.value(Op::Sumsq)
    }

    /// The product: integers checked, floats within one ulp.
    ///
    /// # Errors
    /// [`Error::Overflow`](crate::Error::Overflow), [`Error::Unsupported`](crate::Error::Unsupported) for complex elements,
    /// [`Error::Device`](crate::Error::Device).
    pub fn prod(&self) -> Result<T::Sum> {
        self.value(Op::Prod)
    }

    /// The dot product of the two arrays, without conjugation.
    ///
    /// # Errors
    /// [`Error::Undefined`](crate::Error::Undefined) for one array; [`Error::Overflow`](crate::Error::Overflow),
    /// [`Error::Unsupported`](crate::Error::Unsupported), [`Error::Device`](crate::Error::Device).
    pub fn dot(&self) -> Result<T::Sum> {
        self.value(Op::Dot)
    }

    /// Whether any element is nonzero.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub fn any(&self) -> Result<bool> {
        self.value(Op::Any)
    }

    /// Whether all elements are nonzero.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub fn all(&self) -> Result<bool> {
        self.value(Op::All)
    }

    /// How many elements are nonzero.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub fn count(&self) -> Result<u64> {
        self.value(Op::Count)
    }
}

impl<M: Machine, T: Integer> Reduce<'_, M, T> {
    /// The sum in 128 bits.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub fn sum_wide(&self) -> Result<T::Wide> {
        self.exact_sum()?.wide()
    }
}

impl<M: Machine, T: Ordered> Reduce<'_, M, T> {
    /// The smallest element: NaN propagates, -0 < +0.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty), [`Error::Device`](crate::Error::Device).
    pub fn min(&self) -> Result<T> {
        self.value(Op::Min)
    }

    /// The largest element: NaN propagates, -0 < +0.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty), [`Error::Device`](crate::Error::Device).
    pub fn max(&self) -> Result<T> {
        self.value(Op::Max)
    }

    /// The smallest and the largest element.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty), [`Error::Device`](crate::Error::Device).
    pub fn minmax(&self) -> Result<(T, T)> {
        match self.output(Op::MinMax, Finish::default())? {
            Output::Pair(min, max) => Ok((number(min), number(max))),
            other => unreachable!("minmax has two numbers, not {other:?}"),
        }
    }

    /// The first index of the smallest element, or of the first NaN.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty), [`Error::Device`](crate::Error::Device).
    pub fn argmin(&self) -> Result<u64> {
        self.value(Op::ArgMin)
    }

    /// The first index of the largest element, or of the first NaN.
    ///
    /// # Errors
    /// [`Error::Empty`](crate::Error::Empty), [`Error::Device`](crate::Error::Device).
    pub fn argmax(&self) -> Result<u64> {
        self.value(Op::ArgMax)
    }
}

/// A number as one of the type that it has.
fn number<R: Scalar>(value: Value) -> R {
    let typed = value.typed();
    typed.unwrap_or_else(|| unreachable!("{value:?} is of another type than the contract's"))
}
