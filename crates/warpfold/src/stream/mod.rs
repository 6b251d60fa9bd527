//! A reduction fed piece by piece: files larger than memory, sockets, iterators of chunks.

mod values;

use std::marker::PhantomData;

use warpfold_engine::{self as engine, HostArray};

use crate::element::Element;
use crate::partial::{Finish, Output, Partial};
use crate::plan::{self, Plan, Problem};
use crate::{Op, Policy, Result};

/// One reduction over pieces that arrive in turn; the result is that of the pieces joined.
///
/// ```
/// use warpfold::{Op, Policy, Stream};
/// let mut stream = Stream::<f64>::new(Op::Sum, Policy::default())?;
/// for piece in [[1e300, 1.0], [-1e300, 1.0]] {
///     stream.push(&piece)?;
/// }
/// assert_eq!(stream.sum()?, 2.0);
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Stream<T: Element> {
    stream: engine::Stream,
    op: Op,
    policy: Policy,
    element: PhantomData<T>,
}

impl<T: Element> Stream<T> {
    /// An empty stream.
    ///
    /// # Errors
    /// [`Error::Undefined`](crate::Error::Undefined) where the contract knows no such reduction for the type.
    pub fn new(op: Op, policy: Policy) -> Result<Self> {
        let stream = engine::Stream::new(op, T::DTYPE, policy)?;
        Ok(Stream { stream, op, policy, element: PhantomData })
    }

    /// A stream that goes on where another one stopped: with its [`partial`](Self::partial), perhaps saved by another process,
    /// after as many elements as it had [`seen`](Self::seen). Reduction and policy are those of the stream that stopped.
    ///
    /// ```
    /// use warpfold::{Op, Partial, Policy, Stream, partial::{Finish, Output}};
    /// let mut before = Stream::<f32>::new(Op::ArgMax, Policy::default())?;
    /// before.push(&[1.0, 2.0])?;
    /// let saved = (before.partial().map(Partial::to_bytes), before.seen());
    ///
    /// let partial = saved.0.map(|bytes| Partial::from_bytes(&bytes)).transpose()?;
    /// let mut after = Stream::<f32>::resume(Op::ArgMax, Policy::default(), partial, saved.1)?;
    /// after.push(&[0.0, 3.0])?;
    /// assert_eq!(after.finish(Finish::default())?, Output::One(3u64.into()));
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Undefined`](crate::Error::Undefined) as for [`new`](Self::new), and if the partial is that of another reduction;
    /// [`Error::Unsupported`](crate::Error::Unsupported) if it holds more elements than were seen, or if some were seen and there is none.
    pub fn resume(op: Op, policy: Policy, partial: Option<Partial<T>>, seen: u64) -> Result<Self> {
        let partial = partial.map(Partial::untyped);
        let stream = engine::Stream::resume(op, T::DTYPE, policy, partial, seen)?;
        Ok(Stream { stream, op, policy, element: PhantomData })
    }

    /// Says where in the whole the stream's first element stands, 0 if nothing is said: indices (argmin, argmax) count from the
    /// whole's start, so that partials of streams over several parts of one array can be merged.
    ///
    /// ```
    /// use warpfold::{Op, Policy, Stream, partial::{Finish, Output}};
    /// let mut second_half = Stream::<i32>::new(Op::ArgMin, Policy::default())?.starting_at(1000);
    /// second_half.push(&[7, 5])?;
    /// assert_eq!(second_half.finish(Finish::default())?, Output::One(1001u64.into()));
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    #[must_use]
    pub fn starting_at(mut self, index: u64) -> Self {
        self.stream = self.stream.starting_at(index);
        self
    }

    /// How a piece of `n` elements is folded.
    pub fn plan(&self, n: u64) -> Plan {
        let problem = Problem { op: self.op, dtype: T::DTYPE, n, policy: self.policy };
        plan::choose(problem, engine::facts())
    }

    /// Takes in the next piece.
    ///
    /// # Errors
    /// [`Error::Undefined`](crate::Error::Undefined) if the reduction is dot, which takes pieces of two arrays.
    pub fn push(&mut self, x: &[T]) -> Result<()> {
        self.stream.push(HostArray::of(x))
    }

    /// Takes in the next piece of each of two arrays (dot).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`](crate::Error::LengthMismatch); [`Error::Undefined`](crate::Error::Undefined) if the reduction takes one array.
    pub fn push_pair(&mut self, x: &[T], y: &[T]) -> Result<()> {
        self.stream.push_pair(HostArray::of(x), HostArray::of(y))
    }

    /// Elements taken in so far (pairs, for dot), those before [`resume`](Self::resume) among them.
    pub fn seen(&self) -> u64 {
        self.stream.seen()
    }

    /// The exact partial so far, to be saved or merged elsewhere; `None` before the first piece.
    pub fn partial(&self) -> Option<&Partial<T>> {
        self.stream.partial().and_then(|partial| partial.typed_ref())
    }

    /// The result, of a type known at run time.
    ///
    /// # Errors
    /// As [`Partial::finish`].
    pub fn finish(self, finish: Finish) -> Result<Output> {
        self.stream.finish(finish)
    }
}
