//! A reduction fed piece by piece: files larger than memory, sockets, iterators of chunks.

use crate::cpu::{self, Input};
use crate::element::Element;
use crate::exact::tally;
use crate::partial::{Finish, Output, Partial};
use crate::plan::{self, Plan, Problem};
use crate::{Error, Nan, Op, Policy, Result};

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
    /// Where the stream's first element stands in the whole.
    first: u64,
    seen: u64,
}

impl<T: Element> Stream<T> {
    /// An empty stream.
    ///
    /// # Errors
    /// [`Error::Undefined`] where the contract knows no such reduction for the type.
    pub fn new(op: Op, policy: Policy) -> Result<Self> {
        cpu::check::<T>(op)?;
        Ok(Stream { op, policy, partial: None, first: 0, seen: 0 })
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
    /// [`Error::Undefined`] as for [`new`](Self::new), and if the partial is that of another reduction;
    /// [`Error::Unsupported`] if it holds more elements than were seen, or if some were seen and there is none.
    pub fn resume(op: Op, policy: Policy, partial: Option<Partial<T>>, seen: u64) -> Result<Self> {
        let refused = |why| {
            let option = "Stream::resume with this partial";
            Err(Error::Unsupported { option, op, dtype: T::DTYPE, why })
        };
        match &partial {
            Some(partial) if !partial.serves(op) => {
                let why = "the partial is that of another reduction; resume that one";
                return Err(Error::Undefined { op, dtype: T::DTYPE, why });
            }
            Some(partial) if partial.count().is_some_and(|count| count > seen) => {
                return refused(
                    "it holds more elements than were seen; save Stream::seen beside the partial",
                );
            }
            Some(Partial::Count(count)) if policy.nan == Nan::Propagate || !T::DTYPE.is_float() => {
                // Any and all stop where they know, and count one element then.
                let decided = match op {
                    Op::Any => count.any(),
                    Op::All => !count.all(),
                    _ => false,
                };
                if !decided && count.seen < seen {
                    return refused(
                        "it holds fewer elements than were seen, as those of any and all do; resume the reduction that it came from",
                    );
                }
            }
            None if seen > 0 => {
                return refused("elements were seen and nothing of them is left; start anew");
            }
            _ => {}
        }
        Ok(Stream { partial, seen, ..Self::new(op, policy)? })
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
        self.first = index;
        self
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
        let partial = cpu::run(&self.plan(n as u64), input, self.next(n as u64)?)?;
        tally(&mut self.seen, n as u64);
        match &mut self.partial {
            Some(all) => all.merge(&partial),
            none => *none = Some(partial),
        }
        Ok(())
    }

    /// The index of the next element, if indices of so many more fit in 64 bits.
    fn next(&self, n: u64) -> Result<u64> {
        let first = self.first.checked_add(self.seen);
        first.filter(|first| first.checked_add(n).is_some()).ok_or(Error::Unsupported {
            option: "so long a stream",
            op: self.op,
            dtype: T::DTYPE,
            why: "indices end at 2^64 - 1; check what Stream::resume and starting_at were given",
        })
    }

    /// Elements taken in so far (pairs, for dot), those before [`resume`](Self::resume) among them.
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
