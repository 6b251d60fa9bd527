//! A reduction fed piece by piece: files larger than memory, sockets, iterators of chunks.

use crate::cpu::{self, Input};
use crate::element::Element;
use crate::partial::{Finish, Output, Partial};
use crate::plan::{self, Plan, Problem};
use crate::{Error, Op, Policy, Result};

/// One reduction over pieces that arrive in turn; the result is that of the pieces joined.
///
/// ```
/// use warpfold::{Op, Policy, Stream, partial::{Finish, Output}};
/// let mut stream = Stream::<f64>::new(Op::Sum, Policy::default())?;
/// for piece in [[1e300, 1.0], [-1e300, 1.0]] {
///     stream.push(&piece)?;
/// }
/// assert_eq!(stream.finish(Finish::default())?, Output::One(2.0f64.into()));
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Stream<T: Element> {
    op: Op,
    policy: Policy,
    partial: Option<Partial<T>>,
    seen: u64,
}

impl<T: Element> Stream<T> {
    /// An empty stream.
    ///
    /// # Errors
    /// [`Error::Undefined`] where the contract knows no such reduction for the type.
    pub fn new(op: Op, policy: Policy) -> Result<Self> {
        cpu::check::<T>(op)?;
        Ok(Stream { op, policy, partial: None, seen: 0 })
    }

    /// How a piece of `n` elements is folded.
    pub fn plan(&self, n: u64) -> Plan {
        let problem = Problem { op: self.op, dtype: T::DTYPE, n, policy: self.policy };
        plan::choose(problem, cpu::facts())
    }

    /// Takes in the next piece.
    ///
    /// # Errors
    /// [`Error::Undefined`] if the reduction is dot, which takes pieces of two arrays.
    pub fn push(&mut self, x: &[T]) -> Result<()> {
        self.take(Input::One(x), x.len())
    }

    /// Takes in the next piece of each of two arrays (dot).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; [`Error::Undefined`] if the reduction takes one array.
    pub fn push_pair(&mut self, x: &[T], y: &[T]) -> Result<()> {
        if x.len() != y.len() {
            return Err(Error::LengthMismatch { left: x.len() as u64, right: y.len() as u64 });
        }
        self.take(Input::Two(x, y), x.len())
    }

    fn take(&mut self, input: Input<'_, T>, n: usize) -> Result<()> {
        let partial = cpu::run(&self.plan(n as u64), input, self.seen)?;
        self.seen += n as u64;
        match &mut self.partial {
            Some(all) => all.merge(&partial),
            none => *none = Some(partial),
        }
        Ok(())
    }

    /// Elements taken in so far (pairs, for dot).
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// The exact partial so far, to be saved or merged elsewhere; `None` before the first piece.
    pub fn partial(&self) -> Option<&Partial<T>> {
        self.partial.as_ref()
    }

    /// The result.
    ///
    /// # Errors
    /// As [`Partial::finish`].
    pub fn finish(mut self, finish: Finish) -> Result<Output> {
        if self.partial.is_none() {
            match self.op {
                Op::Dot => self.push_pair(&[], &[])?,
                _ => self.push(&[])?,
            }
        }
        let partial = self.partial.expect("a piece was taken in, if an empty one");
        partial.finish(self.op, finish).map_err(|error| match error {
            Error::Empty { .. } => Error::Empty { op: self.op, ignored: self.seen > 0 },
            other => other,
        })
    }
}
