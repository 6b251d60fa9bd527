//! [`Stream`]: an array from the host, piece by piece, copied while the piece before it is folded.

use super::gpu::Gpu;
use super::pinned::Pinned;
use super::stream_context::StreamContext;
use crate::driver::Memory;
use crate::element::Element;
pub use crate::kernel::PIECE_BYTES;
use crate::kernel::{self, Joined, typed_stream};
use crate::partial::{Finish, Output};
use crate::plan::{CudaPlan, Problem};
use crate::{AnyPartial, DType, Error, Op, Policy, Result};

/// Pieces on their way at once: one being filled by the host while the other is copied and folded.
const SLOTS: usize = 2;

/// One reduction over host memory that arrives in turn, whatever the element type; see [`Stream`].
pub struct AnyStream {
    gpu: Gpu,
    op: Op,
    dtype: DType,
    policy: Policy,
    slots: Vec<Slot>,
    /// The slot that is being filled.
    at: usize,
    /// Bytes in it, of each array.
    filled: usize,
    seen: u64,
    /// The index of the first element.
    first: u64,
    joined: Joined,
    /// What went wrong before: the piece that it happened to is missing.
    failed: Option<Error>,
}

/// A piece's way to the device. Fields are dropped in order: the stream context waits before the memory goes.
struct Slot {
    context: StreamContext,
    device: Memory,
    host: Pinned,
    /// What is being folded, and the index of its first element.
    started: Option<(CudaPlan, u64)>,
}

impl AnyStream {
    /// An empty stream.
    ///
    /// # Errors
    /// [`Error::Undefined`] and [`Error::Unsupported`] as [`plan::choose_cuda`](crate::plan::choose_cuda).
    pub fn new(gpu: &Gpu, op: Op, dtype: DType, policy: Policy) -> Result<Self> {
        let stream = AnyStream {
            gpu: gpu.clone(),
            op,
            dtype,
            policy,
            slots: Vec::new(),
            at: 0,
            filled: 0,
            seen: 0,
            first: 0,
            joined: Joined::default(),
            failed: None,
        };
        stream.plan(stream.piece())?;
        Ok(stream)
    }

    /// How a piece of `n` elements is folded.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn plan(&self, n: u64) -> Result<CudaPlan> {
        let AnyStream { op, dtype, policy, .. } = *self;
        self.gpu.plan(Problem { op, dtype, n, policy })
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
        self.whole(|stream| stream.take(&[x]))
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
        self.whole(|stream| stream.take(&[x, y]))
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
        self.whole(Self::end)?;
        self.joined.partial(self.op, self.dtype)
    }

    /// The result.
    ///
    /// # Errors
    /// As [`AnyPartial::finish`](crate::AnyPartial::finish); [`Error::Device`].
    pub fn finish(mut self, finish: Finish) -> Result<Output> {
        self.whole(Self::end)?;
        self.joined.finish(self.op, finish, self.seen)
    }

    /// Goes on only while no piece is missing.
    fn whole(&mut self, step: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        step(self).inspect_err(|error| self.failed = Some(error.clone()))
    }

    /// Sends what is left, and waits for all.
    fn end(&mut self) -> Result<()> {
        if self.filled > 0 || self.seen == 0 {
            self.slot()?;
            self.start()?;
        }
        // The slot that would be filled next holds the older piece.
        for k in 0..self.slots.len() {
            self.collect((self.at + k) % self.slots.len())?;
        }
        Ok(())
    }

    /// Takes in arrays of one length.
    fn take(&mut self, arrays: &[&[u8]]) -> Result<()> {
        // A piece is a whole number of elements of any type.
        let mut done = 0;
        while done < arrays[0].len() {
            let filled = self.filled;
            let n = (PIECE_BYTES - filled).min(arrays[0].len() - done);
            let slot = self.slot()?;
            for (k, array) in arrays.iter().enumerate() {
                slot.host.write(k * PIECE_BYTES + filled, &array[done..done + n]);
            }
            done += n;
            self.filled += n;
            self.seen += (n / self.dtype.size()) as u64;
            if self.filled == PIECE_BYTES {
                self.start()?;
            }
        }
        Ok(())
    }

    /// The slot to fill, once the piece that it held is folded.
    fn slot(&mut self) -> Result<&mut Slot> {
        if self.at == self.slots.len() {
            let device = self.gpu.device();
            let bytes = PIECE_BYTES * if self.op == Op::Dot { 2 } else { 1 };
            self.slots.push(Slot {
                context: StreamContext::new(device)?,
                device: Memory::zeroed(&device.context, bytes)?,
                host: Pinned::zeroed(&device.context, bytes)?,
                started: None,
            });
        }
        self.collect(self.at)?;
        Ok(&mut self.slots[self.at])
    }

    /// Sends the piece in the present slot on its way; the next is filled meanwhile.
    fn start(&mut self) -> Result<()> {
        let (bytes, n) = (self.filled, (self.filled / self.dtype.size()) as u64);
        let first = self.first + self.seen - n;
        let plan = self.plan(n)?.starting_at(first);
        let slot = &mut self.slots[self.at];
        let arrays = if self.op == Op::Dot { 2 } else { 1 };
        slot.started = Some((plan, first));
        for k in 0..arrays {
            // SAFETY: both memories are the slot's own and are let alone until `collect` has waited, or the stream context's end.
            unsafe {
                slot.host.upload(k * PIECE_BYTES, bytes, &slot.device, slot.context.stream())?;
            }
        }
        let x = slot.device.address();
        let y = if arrays == 2 { x + PIECE_BYTES as u64 } else { 0 };
        // SAFETY: the arrays are in the slot's own memory, of so many elements, copied before on the same stream.
        unsafe { slot.context.begin(&plan, x, y)? };
        self.at = (self.at + 1) % SLOTS;
        self.filled = 0;
        Ok(())
    }

    /// Joins what a slot has folded, if anything.
    fn collect(&mut self, slot: usize) -> Result<()> {
        let slot = &mut self.slots[slot];
        if let Some((plan, first)) = slot.started.take() {
            let record = slot.context.wait(&plan)?;
            self.joined.push(kernel::read(&plan, &record), first);
        }
        Ok(())
    }
}

typed_stream! {
    /// One reduction over host memory that arrives in turn, like `warpfold::Stream`, on a GPU.
    ///
    /// What is pushed is gathered into pieces of [`PIECE_BYTES`] whatever the lengths pushed, and their outcomes are joined on the host in
    /// the order of the array: so results do not depend on how the array was pushed, and those that are rounded on the way
    /// ([`Accuracy::Fast`](crate::Accuracy::Fast)) are the same bits for the same plan.
    ///
    /// It takes 64 MiB at most (128 for dot), half of it page-locked on the host, and nothing that grows with the array.
    ///
    /// ```no_run
    /// use warpfold::{Op, Policy, cuda::{Gpu, Stream}, partial::Finish};
    /// let mut stream = Stream::<i32>::new(&Gpu::open(0)?, Op::Sum, Policy::default())?;
    /// for piece in [[1, 2], [3, 4]] {
    ///     stream.push(&piece)?;
    /// }
    /// println!("{:?}", stream.finish(Finish::default())?);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    of Gpu
}
