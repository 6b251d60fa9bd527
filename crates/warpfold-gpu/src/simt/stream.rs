//! [`Stream`]: an array from the host, piece by piece.

use super::device::Device;
#[cfg(doc)]
use crate::Error;
use crate::element::Element;
use crate::kernel::{self, AnyBuffer, Executor, Joined, PIECE_BYTES, typed_stream};
use crate::partial::{Finish, Output};
use crate::plan::{CudaPlan, Problem};
use crate::{AnyPartial, DType, Op, Policy, Result};

/// One reduction over host memory that arrives in turn, whatever the element type; see [`Stream`].
pub struct AnyStream {
    device: Device,
    op: Op,
    dtype: DType,
    policy: Policy,
    /// Bytes of what was pushed since the last whole piece, of each array.
    x: Vec<u8>,
    y: Vec<u8>,
    seen: u64,
    /// The index of the first element.
    first: u64,
    joined: Joined,
}

impl AnyStream {
    /// An empty stream.
    ///
    /// # Errors
    /// [`Error::Undefined`] and [`Error::Unsupported`] as [`plan::choose_cuda`](crate::plan::choose_cuda).
    pub fn new(device: &Device, op: Op, dtype: DType, policy: Policy) -> Result<Self> {
        let device = device.clone();
        let (x, y) = (Vec::new(), Vec::new());
        let joined = Joined::default();
        let stream = AnyStream { device, op, dtype, policy, x, y, seen: 0, first: 0, joined };
        stream.plan(stream.piece())?;
        Ok(stream)
    }

    /// How a piece of `n` elements is folded.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn plan(&self, n: u64) -> Result<CudaPlan> {
        let AnyStream { op, dtype, policy, .. } = *self;
        Executor::plan(&self.device, Problem { op, dtype, n, policy })
    }

    /// Says which index the first element has in the whole; before any is pushed.
    #[must_use]
    pub fn starting_at(self, first: u64) -> Self {
        AnyStream { first, ..self }
    }

    /// Elements of a piece.
    pub fn piece(&self) -> u64 {
        (PIECE_BYTES / self.dtype.size()) as u64
    }

    /// Takes in the next elements, given as their bytes.
    ///
    /// # Errors
    /// [`Error::Undefined`] if the reduction is dot, which takes two arrays; [`Error::Device`].
    ///
    /// # Panics
    /// If these are no whole elements.
    pub fn push(&mut self, x: &[u8]) -> Result<()> {
        kernel::check_piece(self.op, self.dtype, &[x])?;
        self.take(x, &[])
    }

    /// Takes in the next elements of each of two arrays (dot).
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; [`Error::Undefined`] if the reduction takes one array; [`Error::Device`].
    ///
    /// # Panics
    /// As [`push`](Self::push).
    pub fn push_pair(&mut self, x: &[u8], y: &[u8]) -> Result<()> {
        kernel::check_piece(self.op, self.dtype, &[x, y])?;
        self.take(x, y)
    }

    /// Elements taken in so far (pairs, for dot).
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// The exact partial of all elements, to be merged elsewhere; indices count from that of the stream's first element.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for what is rounded on the way; [`Error::Device`].
    pub fn into_partial(mut self) -> Result<AnyPartial> {
        if !self.x.is_empty() || self.seen == 0 {
            self.fold()?;
        }
        self.joined.partial(self.op, self.dtype)
    }

    /// The result.
    ///
    /// # Errors
    /// As [`AnyPartial::finish`](crate::AnyPartial::finish); [`Error::Device`].
    pub fn finish(mut self, finish: Finish) -> Result<Output> {
        if !self.x.is_empty() || self.seen == 0 {
            self.fold()?;
        }
        self.joined.finish(self.op, finish, self.seen)
    }

    fn take(&mut self, mut x: &[u8], mut y: &[u8]) -> Result<()> {
        // A piece is a whole number of elements of any type.
        while !x.is_empty() {
            let n = (PIECE_BYTES - self.x.len()).min(x.len());
            self.x.extend_from_slice(&x[..n]);
            self.y.extend_from_slice(&y[..n.min(y.len())]);
            (x, y) = (&x[n..], &y[n.min(y.len())..]);
            self.seen += (n / self.dtype.size()) as u64;
            if self.x.len() == PIECE_BYTES {
                self.fold()?;
            }
        }
        Ok(())
    }

    /// Folds the piece that was gathered.
    fn fold(&mut self) -> Result<()> {
        let n = (self.x.len() / self.dtype.size()) as u64;
        let first = self.first + self.seen - n;
        let plan = self.plan(n)?.starting_at(first);
        let upload = |bytes: &[u8]| AnyBuffer::upload(&self.device, self.dtype, bytes);
        let x = upload(&self.x)?;
        let y = if self.op == Op::Dot { Some(upload(&self.y)?) } else { None };
        let run = self.device.launch_any(&plan, x.view(), y.as_ref().map(|y| y.view()), None)?;
        self.joined.push(kernel::read(&plan, &run.record), first);
        self.x.clear();
        self.y.clear();
        Ok(())
    }
}

typed_stream! {
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
    of Device
}
