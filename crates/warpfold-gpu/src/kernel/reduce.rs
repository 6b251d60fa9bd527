//! The builder: one reduction of one array on a machine, with every choice of the contract, whatever the element type.

use super::array::AnyView;
use super::executor::Executor;
use super::joined::from_index;
use super::record::{self, Outcome};
use super::sharded::Sharded;
use crate::partial::{Finish, Output};
use crate::plan::{self, CudaPlan, Problem, Shape};
use crate::{AnyPartial, Error, Op, Policy, Result};

/// A reduction on a machine being set up: choose, then call for its output. It waits for the result.
#[derive(Clone, Copy)]
#[must_use = "call for the reduction's output"]
pub struct AnyReduce<'a> {
    machine: &'a dyn Executor,
    input: AnyView<'a>,
    other: Option<AnyView<'a>>,
    /// All ranges, of arrays that lie on several machines; machine and input are the first of them then.
    sharded: Option<Sharded<'a>>,
    policy: Policy,
    shape: Option<Shape>,
    first: u64,
    /// How many elements there are, if that is known on the machine only.
    length: Option<AnyView<'a>>,
}

/// An array, and the other one of a dot product.
pub(crate) type Inputs<'a> = (AnyView<'a>, Option<AnyView<'a>>);

impl<'a> AnyReduce<'a> {
    /// Of an array in the machine's memory.
    pub fn new(machine: &'a dyn Executor, input: AnyView<'a>) -> Self {
        let policy = Policy::default();
        let (other, sharded, shape) = (None, None, None);
        AnyReduce { machine, input, other, sharded, policy, shape, first: 0, length: None }
    }

    /// Of two arrays of one length and type: dot.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`].
    ///
    /// # Panics
    /// If their types differ.
    pub fn pair(machine: &'a dyn Executor, x: AnyView<'a>, y: AnyView<'a>) -> Result<Self> {
        assert_eq!(x.dtype, y.dtype, "a dot product is of two arrays of one type");
        if x.len != y.len {
            return Err(Error::LengthMismatch { left: x.len as u64, right: y.len as u64 });
        }
        Ok(AnyReduce { other: Some(y), ..AnyReduce::new(machine, x) })
    }

    pub(super) fn sharded(sharded: Sharded<'a>) -> Self {
        let (machine, input, other) = sharded.first();
        AnyReduce { sharded: Some(sharded), other, ..AnyReduce::new(machine, input) }
    }

    /// All choices.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// The choices so far.
    pub(super) fn policy_mut(&mut self) -> &mut Policy {
        &mut self.policy
    }

    /// Another shape of the launch than the planner's, to measure or test it.
    pub fn shape(mut self, shape: Shape) -> Self {
        self.shape = Some(shape);
        self
    }

    /// Of as many elements as a `u64` in the machine's memory says when the reduction runs, and of no more than there are: a queue that is being
    /// captured into a graph captures a reduction whose length may change between replays.
    ///
    /// # Panics
    /// If the array of the length is of another type, or has no element.
    pub fn len_on_device(mut self, length: AnyView<'a>) -> Self {
        assert!(length.dtype == crate::DType::U64 && length.len > 0, "a length is a u64");
        self.length = Some(length);
        self
    }

    /// The array of the length on the machine, if there is one.
    #[cfg(any(feature = "cuda", feature = "simt"))]
    pub(crate) fn length(&self) -> Option<AnyView<'a>> {
        self.length
    }

    /// The same of as many elements as the machine's memory says now, if they are counted there.
    pub(crate) fn resolved(&self) -> Result<Self> {
        let Some(length) = self.length else { return Ok(*self) };
        length.check(self.machine)?;
        let bytes = self.machine.bytes_of(length.slice(..1))?;
        let bytes = bytes.try_into().unwrap_or_else(|_| unreachable!("a length is eight bytes"));
        let n = u64::from_ne_bytes(bytes);
        let n = n.min(self.input.len as u64) as usize;
        let other = self.other.map(|other| other.slice(..n));
        Ok(AnyReduce { input: self.input.slice(..n), other, length: None, ..*self })
    }

    /// The same of a piece of an array, whose first element has this index in the whole: what its partial knows of indices counts from there.
    pub fn starting_at(mut self, first: u64) -> Self {
        self.first = first;
        self
    }

    /// How a reduction would run here; of an array on several machines, on the first of them.
    ///
    /// # Errors
    /// [`Error::Undefined`], [`Error::Unsupported`]: see [`plan::choose_cuda`]; also if the number of arrays is not the reduction's.
    pub fn plan(&self, op: Op) -> Result<CudaPlan> {
        let AnyView { len, dtype, .. } = self.input;
        self.plan_on(self.machine, Problem { op, dtype, n: len as u64, policy: self.policy })
    }

    fn plan_on(&self, machine: &dyn Executor, problem: Problem) -> Result<CudaPlan> {
        let Problem { op, dtype, .. } = problem;
        if (op == Op::Dot) != self.other.is_some() {
            let why = "dot takes two arrays (reduce_two), every other reduction one";
            return Err(Error::Undefined { op, dtype, why });
        }
        let plan = machine.plan(problem)?.starting_at(self.first);
        let Some(shape) = self.shape else { return Ok(plan) };
        shape.check().map_err(|why| Error::Device {
            requested: format!("{op} of {dtype} in a shape of its own"),
            obstacle: why,
            remedy: "choose another shape, or the planner's",
        })?;
        Ok(plan::shaped(problem, plan.fold, machine.facts(), shape).starting_at(self.first))
    }

    /// The arrays, if they lie on one machine.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for arrays on several machines.
    #[cfg(any(feature = "cuda", feature = "simt"))]
    pub(crate) fn inputs(&self, op: Op) -> Result<Inputs<'a>> {
        match self.sharded {
            None => Ok((self.input, self.other)),
            Some(_) => Err(Error::Unsupported {
                option: "a queue, with an array on several devices",
                op,
                dtype: self.input.dtype,
                why: "a queue is that of one device; reduce without one, or each part in a queue of its device",
            }),
        }
    }

    /// The exact partial result, to be merged with others or finished.
    ///
    /// # Errors
    /// As [`plan`](Self::plan); [`Error::Unsupported`] for fast float sums and the like, which leave none; [`Error::Device`].
    pub fn partial(&self, op: Op) -> Result<AnyPartial> {
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

    fn exact(&self, op: Op) -> Result<AnyPartial> {
        match self.run(op)? {
            Outcome::Exact(partial) => Ok(partial),
            _ => Err(Error::Unsupported {
                option: "an exact partial on CUDA",
                op,
                dtype: self.input.dtype,
                why: "its kernel leaves the result only; take that, or the partial on the CPU",
            }),
        }
    }

    /// What the reduction's own kernel leaves.
    fn run(&self, op: Op) -> Result<Outcome> {
        if self.length.is_some() && self.sharded.is_some() {
            return Err(Error::Unsupported {
                option: "a length on the device, with an array on several devices",
                op,
                dtype: self.input.dtype,
                why: "each has elements of its own to count; reduce the parts, or read the length first",
            });
        }
        if let Some(sharded) = self.sharded {
            let planned = |machine: &dyn Executor, problem| self.plan_on(machine, problem);
            return sharded.run(op, self.policy, self.first, planned);
        }
        if self.length.is_some() {
            return self.resolved()?.run(op);
        }
        let plan = self.plan(op)?;
        let record = self.machine.begin(&plan, self.input, self.other)?.wait(&plan)?;
        Ok(from_index(record::read(&plan, &record), self.first))
    }

    /// The result.
    ///
    /// # Errors
    /// As [`partial`](Self::partial) and [`AnyPartial::finish`].
    pub fn output(&self, op: Op, finish: Finish) -> Result<Output> {
        if self.length.is_some() && self.sharded.is_none() {
            return self.resolved()?.output(op, finish);
        }
        self.finished(&self.run(op)?, op, finish)
    }

    /// The result that a kernel's outcome is.
    pub(crate) fn finished(&self, outcome: &Outcome, op: Op, finish: Finish) -> Result<Output> {
        let finish = Finish { overflow: self.policy.overflow, ..finish };
        outcome.finish(op, finish).map_err(|error| match error {
            // Where NaNs were ignored, that may be why nothing is left.
            Error::Empty { .. } => {
                let empty = self.sharded.map_or(self.input.is_empty(), Sharded::is_empty);
                Error::Empty { op, ignored: !empty }
            }
            other => other,
        })
    }
}
