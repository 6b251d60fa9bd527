//! The builder: one reduction of one array on a machine, with every choice of the contract.

use super::buffer::View;
use super::devices::Sharded;
use super::machine::Machine;
use super::record::{self, Outcome};
use crate::element::{Element, Integer, Ordered};
use crate::exact::Exact;
use crate::partial::{Count, Extremes, Finish, Output, Partial};
use crate::plan::{self, CudaPlan, Problem, Shape};
use crate::{Accuracy, Error, Nan, Op, Overflow, Policy, Result};

/// A reduction on a machine being set up: choose, then call the reduction. It waits for the result.
#[must_use = "call a reduction, such as .sum()"]
pub struct Reduce<'a, M: Machine, T> {
    machine: &'a M,
    input: View<'a, M, T>,
    other: Option<View<'a, M, T>>,
    /// All ranges, of arrays that lie on several machines; machine and input are the first of them then.
    sharded: Option<Sharded<'a, M, T>>,
    policy: Policy,
    shape: Option<Shape>,
}

impl<M: Machine, T> Clone for Reduce<'_, M, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: Machine, T> Copy for Reduce<'_, M, T> {}

/// An array, and the other one of a dot product.
#[cfg(any(feature = "cuda", feature = "simt"))]
type Inputs<'a, M, T> = (View<'a, M, T>, Option<View<'a, M, T>>);

impl<'a, M: Machine, T: Element> Reduce<'a, M, T> {
    pub(super) fn new(
        machine: &'a M,
        input: View<'a, M, T>,
        other: Option<View<'a, M, T>>,
    ) -> Self {
        Reduce { machine, input, other, sharded: None, policy: Policy::default(), shape: None }
    }

    pub(super) fn sharded(sharded: Sharded<'a, M, T>) -> Self {
        let (machine, input, other) = sharded.first();
        Reduce { sharded: Some(sharded), ..Reduce::new(machine, input, other) }
    }

    /// Exact (the default) or fast float sums.
    pub fn accuracy(mut self, accuracy: Accuracy) -> Self {
        self.policy.accuracy = accuracy;
        self
    }

    /// NaN propagates (the default) or is ignored.
    pub fn nan(mut self, nan: Nan) -> Self {
        self.policy.nan = nan;
        self
    }

    /// Integer overflow is an error (the default) or wraps.
    pub fn overflow(mut self, overflow: Overflow) -> Self {
        self.policy.overflow = overflow;
        self
    }

    /// All choices at once.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Another shape of the launch than the planner's, to measure or test it.
    pub fn shape(mut self, shape: Shape) -> Self {
        self.shape = Some(shape);
        self
    }

    /// How a reduction would run here; of an array on several machines, on the first of them.
    ///
    /// # Errors
    /// [`Error::Undefined`], [`Error::Unsupported`]: see [`plan::choose_cuda`]; also if the number of arrays is not the reduction's.
    pub fn plan(&self, op: Op) -> Result<CudaPlan> {
        let n = self.input.len() as u64;
        self.plan_on(self.machine, Problem { op, dtype: T::DTYPE, n, policy: self.policy })
    }

    fn plan_on(&self, machine: &M, problem: Problem) -> Result<CudaPlan> {
        let Problem { op, dtype, .. } = problem;
        if (op == Op::Dot) != self.other.is_some() {
            let why = "dot takes two arrays (reduce_two), every other reduction one";
            return Err(Error::Undefined { op, dtype, why });
        }
        let plan = machine.plan(problem)?;
        let Some(shape) = self.shape else { return Ok(plan) };
        shape.check().map_err(|why| Error::Device {
            asked: format!("{op} of {dtype} in a shape of its own"),
            obstacle: why,
            remedy: "choose another shape, or the planner's",
        })?;
        Ok(plan::shaped(problem, plan.fold, machine.facts(), shape))
    }

    /// The arrays, if they lie on one machine.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for arrays on several machines.
    #[cfg(any(feature = "cuda", feature = "simt"))]
    pub(crate) fn inputs(&self, op: Op) -> Result<Inputs<'a, M, T>> {
        match self.sharded {
            None => Ok((self.input, self.other)),
            Some(_) => Err(Error::Unsupported {
                option: "a queue, with an array on several devices",
                op,
                dtype: T::DTYPE,
                why: "a queue is that of one device; reduce without one, or each part in a queue of its device",
            }),
        }
    }

    /// The exact partial result, to be merged with others or finished.
    ///
    /// # Errors
    /// As [`plan`](Self::plan); [`Error::Unsupported`] for fast float sums and the like, which leave none; [`Error::Device`].
    pub fn partial(&self, op: Op) -> Result<Partial<T>> {
        // A partial of extremes knows where they stand, so that it can be merged and asked; only the value needs no index.
        match op {
            Op::Min => self.exact(Op::ArgMin),
            Op::Max => self.exact(Op::ArgMax),
            Op::MinMax => {
                let mut both = self.exact(Op::ArgMin)?;
                both.merge(&self.exact(Op::ArgMax)?);
                Ok(both)
            }
            other => self.exact(other),
        }
    }

    fn exact(&self, op: Op) -> Result<Partial<T>> {
        match self.run(op)? {
            Outcome::Exact(partial) => Ok(partial),
            _ => Err(Error::Unsupported {
                option: "an exact partial on CUDA",
                op,
                dtype: T::DTYPE,
                why: "its kernel leaves the result only; take that, or the partial on the CPU",
            }),
        }
    }

    /// What the reduction's own kernel leaves.
    fn run(&self, op: Op) -> Result<Outcome<T>> {
        if let Some(sharded) = self.sharded {
            return sharded.run(op, self.policy, |machine, problem| self.plan_on(machine, problem));
        }
        let plan = self.plan(op)?;
        let record = self.machine.run(&plan, self.input, self.other)?;
        Ok(record::read(&plan, &record))
    }

    /// The result of any reduction, by name.
    ///
    /// # Errors
    /// As [`partial`](Self::partial) and [`Partial::finish`].
    pub fn output(&self, op: Op, finish: Finish) -> Result<Output> {
        let finish = Finish { overflow: self.policy.overflow, ..finish };
        self.run(op)?.finish(op, finish).map_err(|e| self.explain(e, op))
    }

    /// The sum: integers exact and checked, floats as [`Accuracy`] says.
    ///
    /// # Errors
    /// [`Error::Overflow`], [`Error::Unsupported`], [`Error::Device`].
    pub fn sum(&self) -> Result<T::Sum> {
        match self.run(Op::Sum)? {
            Outcome::Exact(Partial::Sum(partial)) => partial.sum(self.policy.overflow),
            Outcome::Sum(sum) => Ok(T::from_fast(sum.parts)),
            other => unreachable!("a sum leaves a sum, not {other:?}"),
        }
    }

    /// The arithmetic mean.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::Unsupported`], [`Error::Device`].
    pub fn mean(&self) -> Result<T::With<T::Round>> {
        let mean = match self.run(Op::Mean)? {
            Outcome::Exact(Partial::Sum(partial)) => partial.mean(),
            Outcome::Sum(sum) => sum.mean_as(),
            other => unreachable!("a mean leaves a sum, not {other:?}"),
        };
        mean.map_err(|e| self.explain(e, Op::Mean))
    }

    /// The variance over `n - ddof`.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::TooFew`], [`Error::Unsupported`], [`Error::Device`].
    pub fn var(&self, ddof: u64) -> Result<T::Round> {
        let var = match self.run(Op::Var)? {
            Outcome::Exact(Partial::Moments(partial)) => partial.var(ddof),
            Outcome::Moments(moments) => moments.var_as(ddof),
            other => unreachable!("var leaves moments, not {other:?}"),
        };
        var.map_err(|e| self.explain(e, Op::Var))
    }

    /// The standard deviation over `n - ddof`.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::TooFew`], [`Error::Unsupported`], [`Error::Device`].
    pub fn std(&self, ddof: u64) -> Result<T::Round> {
        let std = match self.run(Op::Std)? {
            Outcome::Exact(Partial::Moments(partial)) => partial.std(ddof),
            Outcome::Moments(moments) => moments.std_as(ddof),
            other => unreachable!("std leaves moments, not {other:?}"),
        };
        std.map_err(|e| self.explain(e, Op::Std))
    }

    /// The sum of magnitudes.
    ///
    /// # Errors
    /// [`Error::Unsupported`], [`Error::Device`].
    pub fn l1(&self) -> Result<T::Round> {
        match self.run(Op::L1)? {
            Outcome::Exact(Partial::Norm1(partial)) => Ok(partial.round()),
            Outcome::Sum(sum) => Ok(sum.real_as()),
            other => unreachable!("l1 leaves magnitudes, not {other:?}"),
        }
    }

    /// The largest magnitude.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for complex elements, [`Error::Device`].
    pub fn linf(&self) -> Result<T::Linf> {
        match self.run(Op::Linf)? {
            Outcome::Exact(Partial::Magnitude(partial)) => Ok(partial.value()),
            other => unreachable!("linf leaves a magnitude, not {other:?}"),
        }
    }

    /// The Euclidean norm.
    ///
    /// # Errors
    /// [`Error::Unsupported`], [`Error::Device`].
    pub fn l2(&self) -> Result<T::Round> {
        match self.run(Op::L2)? {
            Outcome::Exact(Partial::Moments(partial)) => Ok(partial.l2()),
            Outcome::Sum(squares) => Ok(squares.root_as()),
            other => unreachable!("l2 leaves squares, not {other:?}"),
        }
    }

    /// The sum of squared magnitudes: of floats rounded once, of integers checked.
    ///
    /// # Errors
    /// [`Error::Overflow`], [`Error::Unsupported`], [`Error::Device`].
    pub fn sumsq(&self) -> Result<T::Squares> {
        match self.run(Op::Sumsq)? {
            Outcome::Exact(Partial::Moments(partial)) => partial.sumsq(self.policy.overflow),
            Outcome::Sum(squares) => Ok(T::squares_from_fast(squares.real_as::<f64>())),
            other => unreachable!("sumsq leaves squares, not {other:?}"),
        }
    }

    /// The product: integers checked, floats within one ulp.
    ///
    /// # Errors
    /// [`Error::Overflow`], [`Error::Unsupported`] for complex elements, [`Error::Device`].
    pub fn prod(&self) -> Result<T::Sum> {
        match self.run(Op::Prod)? {
            Outcome::Exact(Partial::Product(partial)) => partial.value(self.policy.overflow),
            other => unreachable!("a product leaves a product, not {other:?}"),
        }
    }

    /// The dot product of the two arrays, without conjugation.
    ///
    /// # Errors
    /// [`Error::Undefined`] for one array; [`Error::Overflow`], [`Error::Unsupported`], [`Error::Device`].
    pub fn dot(&self) -> Result<T::Sum> {
        match self.run(Op::Dot)? {
            Outcome::Exact(Partial::Dot(partial)) => partial.value(self.policy.overflow),
            Outcome::Sum(sum) => Ok(T::from_fast(sum.parts)),
            other => unreachable!("dot leaves a dot, not {other:?}"),
        }
    }

    /// Whether any element is nonzero.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn any(&self) -> Result<bool> {
        Ok(self.counted(Op::Any)?.any())
    }

    /// Whether all elements are nonzero.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn all(&self) -> Result<bool> {
        Ok(self.counted(Op::All)?.all())
    }

    /// How many elements are nonzero.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn count(&self) -> Result<u64> {
        Ok(self.counted(Op::Count)?.nonzero)
    }

    fn exact_sum(&self) -> Result<Exact<T>> {
        match self.run(Op::Sum)? {
            Outcome::Exact(Partial::Sum(partial)) => Ok(partial),
            other => unreachable!("an integer sum leaves a sum, not {other:?}"),
        }
    }

    fn counted(&self, op: Op) -> Result<Count> {
        match self.run(op)? {
            Outcome::Exact(Partial::Count(partial)) => Ok(partial),
            other => unreachable!("{op} leaves a count, not {other:?}"),
        }
    }

    /// Says that NaNs were ignored where that is why nothing is left.
    fn explain(&self, error: Error, op: Op) -> Error {
        match error {
            Error::Empty { .. } => {
                let empty = self.sharded.map_or(self.input.is_empty(), Sharded::is_empty);
                Error::Empty { op, ignored: !empty }
            }
            other => other,
        }
    }
}

impl<M: Machine, T: Integer> Reduce<'_, M, T> {
    /// The sum in 128 bits.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn sum_wide(&self) -> Result<T::Wide> {
        self.exact_sum()?.wide()
    }
}

impl<M: Machine, T: Ordered> Reduce<'_, M, T> {
    /// The smallest element: NaN propagates, -0 < +0.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::Device`].
    pub fn min(&self) -> Result<T> {
        self.extremes(Op::Min)?.min().map_err(|e| self.explain(e, Op::Min))
    }

    /// The largest element: NaN propagates, -0 < +0.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::Device`].
    pub fn max(&self) -> Result<T> {
        self.extremes(Op::Max)?.max().map_err(|e| self.explain(e, Op::Max))
    }

    /// The smallest and the largest element.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::Device`].
    pub fn minmax(&self) -> Result<(T, T)> {
        let extremes = self.extremes(Op::MinMax)?;
        let both = extremes.min().and_then(|min| Ok((min, extremes.max()?)));
        both.map_err(|e| self.explain(e, Op::MinMax))
    }

    /// The first index of the smallest element, or of the first NaN.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::Device`].
    pub fn argmin(&self) -> Result<u64> {
        self.extremes(Op::ArgMin)?.argmin().map_err(|e| self.explain(e, Op::ArgMin))
    }

    /// The first index of the largest element, or of the first NaN.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::Device`].
    pub fn argmax(&self) -> Result<u64> {
        self.extremes(Op::ArgMax)?.argmax().map_err(|e| self.explain(e, Op::ArgMax))
    }

    fn extremes(&self, op: Op) -> Result<Extremes<T>> {
        match self.run(op)? {
            Outcome::Exact(Partial::Extremes(partial)) => Ok(partial),
            other => unreachable!("{op} leaves extremes, not {other:?}"),
        }
    }
}
