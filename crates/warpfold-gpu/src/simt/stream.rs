//! [`Stream`]: an array from the host, piece by piece.

use super::device::Device;
use crate::element::Element;
use crate::kernel::{self, Joined, Machine, PIECE_BYTES};
use crate::partial::{Finish, Output};
use crate::plan::{CudaPlan, Problem};
use crate::{Error, Op, Policy, Result};

/// One reduction over host memory that arrives in turn, like `warpfold::Stream`, in the simulator.
///
/// Pieces are those that a GPU is given, and are joined in the same way: so results are the bits that a GPU of the device's facts would
/// give.
///
/// ```
/// use warpfold::{Op, Policy, Value, partial::{Finish, Output}, simt::{Device, Stream}};
/// let mut stream = Stream::<i32>::new(&Device::new(), Op::Sum, Policy::default())?;
/// for piece in [[1, 2], [3, 4]] {
///     stream.push(&piece)?;
/// }
/// assert_eq!(stream.finish(Finish::default())?, Output::One(Value::I64(10)));
/// # Ok::<(), warpfold::Error>(())
/// ```
pub struct Stream<T: Element> {
    device: Device,
    op: Op,
    policy: Policy,
    /// What was pushed since the last whole piece, of each array.
    x: Vec<T>,
    y: Vec<T>,
    seen: u64,
    joined: Joined<T>,
}

impl<T: Element> Stream<T> {
    /// Elements of a piece.
    const PIECE: usize = PIECE_BYTES / size_of::<T>();

    /// An empty stream.
    ///
    /// # Errors
    /// [`Error::Undefined`] and [`Error::Unsupported`] as [`plan::choose_cuda`](crate::plan::choose_cuda).
    pub fn new(device: &Device, op: Op, policy: Policy) -> Result<Self> {
        let stream = Stream {
            device: device.clone(),
            op,
            policy,
            x: Vec::new(),
            y: Vec::new(),
            seen: 0,
            joined: Joined::default(),
        };
        stream.plan(Self::PIECE as u64)?;
        Ok(stream)
    }

    /// How a piece of `n` elements is folded.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn plan(&self, n: u64) -> Result<CudaPlan> {
        let problem = Problem { op: self.op, dtype: T::DTYPE, n, policy: self.policy };
        Machine::plan(&self.device, problem)
    }

    /// Elements of a piece.
    pub const fn piece(&self) -> u64 {
        Self::PIECE as u64
    }

    /// Takes in the next elements.
    ///
    /// # Errors
    /// [`Error::Undefined`] if the reduction is dot, which takes two arrays; [`Error::Device`].
    pub fn push(&mut self, x: &[T]) -> Result<()> {
        if self.op == Op::Dot {
            let why = "dot takes pieces of two arrays";
            return Err(Error::Undefined { op: self.op, dtype: T::DTYPE, why });
        }
        self.take(x, &[])
    }

    /// Takes in the next elements of each of two arrays (dot).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; [`Error::Undefined`] if the reduction takes one array; [`Error::Device`].
    pub fn push_pair(&mut self, x: &[T], y: &[T]) -> Result<()> {
        if x.len() != y.len() {
            return Err(Error::LengthMismatch { left: x.len() as u64, right: y.len() as u64 });
        }
        if self.op != Op::Dot {
            let why = "only dot takes two arrays";
            return Err(Error::Undefined { op: self.op, dtype: T::DTYPE, why });
        }
        self.take(x, y)
    }

    /// Elements taken in so far (pairs, for dot).
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// The result.
    ///
    /// # Errors
    /// As [`Partial::finish`](crate::partial::Partial::finish); [`Error::Device`].
    pub fn finish(mut self, finish: Finish) -> Result<Output> {
        if !self.x.is_empty() || self.seen == 0 {
            self.fold()?;
        }
        let outcome = self.joined.outcome().expect("a piece was folded, if an empty one");
        outcome.finish(self.op, finish).map_err(|error| match error {
            Error::Empty { .. } => Error::Empty { op: self.op, ignored: self.seen > 0 },
            other => other,
        })
    }

    fn take(&mut self, mut x: &[T], mut y: &[T]) -> Result<()> {
        while !x.is_empty() {
            let n = (Self::PIECE - self.x.len()).min(x.len());
            self.x.extend_from_slice(&x[..n]);
            self.y.extend_from_slice(&y[..n.min(y.len())]);
            (x, y) = (&x[n..], &y[n.min(y.len())..]);
            self.seen += n as u64;
            if self.x.len() == Self::PIECE {
                self.fold()?;
            }
        }
        Ok(())
    }

    /// Folds the piece that was gathered.
    fn fold(&mut self) -> Result<()> {
        let first = self.seen - self.x.len() as u64;
        let plan = self.plan(self.x.len() as u64)?;
        let x = self.device.upload(&self.x)?;
        let y = if self.op == Op::Dot { Some(self.device.upload(&self.y)?) } else { None };
        let record = self.device.run(&plan, x.view(), y.as_ref().map(|y| y.view()))?;
        self.joined.push(kernel::read(&plan, &record), first);
        self.x.clear();
        self.y.clear();
        Ok(())
    }
}
