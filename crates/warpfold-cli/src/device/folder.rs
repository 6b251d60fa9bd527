//! [`Folder`]: a stream of every device, behind one face.

use warpfold::partial::{Finish, Output, Partial};
use warpfold::plan::{self, Problem};
use warpfold::{AnyPartial, DType, Op, Policy, Result, simt, with_element};
use warpfold_engine::{self as engine, HostArray};

use super::{Executor, cuda};
use crate::input::PIECE_BYTES;

/// A reduction in progress on a device.
pub(crate) struct Folder {
    op: Op,
    dtype: DType,
    policy: Policy,
    stream: Stream,
}

enum Stream {
    Cpu(Box<engine::Stream>),
    Cuda(Box<cuda::Stream>),
    Simt(Box<simt::AnyStream>),
}

impl Folder {
    /// An empty one.
    pub(crate) fn new(executor: &Executor, op: Op, dtype: DType, policy: Policy) -> Result<Self> {
        let stream = match executor {
            Executor::Cpu => Stream::Cpu(Box::new(engine::Stream::new(op, dtype, policy)?)),
            Executor::Cuda(gpu) => {
                Stream::Cuda(Box::new(cuda::Stream::new(gpu, op, dtype, policy)?))
            }
            Executor::Simt(device) => {
                Stream::Simt(Box::new(simt::AnyStream::new(device, op, dtype, policy)?))
            }
        };
        Ok(Folder { op, dtype, policy, stream })
    }

    /// The type of the elements.
    pub(crate) fn dtype(&self) -> DType {
        self.dtype
    }

    /// How what was seen was folded, in words.
    pub(crate) fn plan(&self) -> Result<String> {
        let Folder { op, dtype, policy, .. } = *self;
        let seen = self.seen();
        Ok(match &self.stream {
            Stream::Cpu(_) => {
                let plan = plan::choose(Problem { op, dtype, n: seen, policy }, engine::facts());
                format!("{plan}, in pieces of {} MiB", PIECE_BYTES >> 20)
            }
            Stream::Cuda(stream) => {
                let piece = stream.piece();
                let plan = stream.plan(seen.min(piece))?;
                let pieces = seen.div_ceil(piece).max(1);
                let turns = "each copied while the one before it is folded";
                if pieces == 1 {
                    format!("{plan} on cuda")
                } else {
                    format!("{plan} on cuda; {pieces} such pieces, {turns}")
                }
            }
            Stream::Simt(stream) => {
                let piece = stream.piece();
                let plan = stream.plan(seen.min(piece))?;
                format!("{plan}, simulated; pieces: {}", seen.div_ceil(piece).max(1))
            }
        })
    }

    /// Takes in the next elements.
    pub(crate) fn push(&mut self, x: HostArray<'_>) -> Result<()> {
        match &mut self.stream {
            Stream::Cpu(stream) => stream.push(x),
            Stream::Cuda(stream) => stream.push(x.bytes()),
            Stream::Simt(stream) => stream.push(x.bytes()),
        }
    }

    /// Takes in the next elements of each of two arrays.
    pub(crate) fn push_pair(&mut self, x: HostArray<'_>, y: HostArray<'_>) -> Result<()> {
        match &mut self.stream {
            Stream::Cpu(stream) => stream.push_pair(x, y),
            Stream::Cuda(stream) => stream.push_pair(x.bytes(), y.bytes()),
            Stream::Simt(stream) => stream.push_pair(x.bytes(), y.bytes()),
        }
    }

    /// Elements taken in so far.
    pub(crate) fn seen(&self) -> u64 {
        match &self.stream {
            Stream::Cpu(stream) => stream.seen(),
            Stream::Cuda(stream) => stream.seen(),
            Stream::Simt(stream) => stream.seen(),
        }
    }

    /// Says where the first element stands, for what knows it.
    pub(crate) fn starting_at(self, first: u64) -> Self {
        let stream = match self.stream {
            Stream::Cpu(stream) => Stream::Cpu(Box::new(stream.starting_at(first))),
            Stream::Cuda(stream) => Stream::Cuda(Box::new(stream.starting_at(first))),
            Stream::Simt(stream) => Stream::Simt(Box::new(stream.starting_at(first))),
        };
        Folder { stream, ..self }
    }

    /// The exact partial, whose indices count from the first element taken in.
    pub(crate) fn into_partial(self) -> Result<AnyPartial> {
        let partial = match self.stream {
            Stream::Cpu(stream) => {
                let empty = || AnyPartial::empty(self.op, self.dtype);
                return Ok(stream.partial().cloned().unwrap_or_else(empty));
            }
            Stream::Cuda(stream) => stream.into_partial(),
            Stream::Simt(stream) => stream.into_partial(),
        }?;
        // Kernels of one extreme leave that alone. Saved partials have both or none; the other is not what the reduction is read from.
        Ok(with_element!(self.dtype, T => match partial.typed::<T>() {
            Some(Partial::Extremes(mut extremes)) => {
                extremes.min = extremes.min.or(extremes.max);
                extremes.max = extremes.max.or(extremes.min);
                Partial::<T>::Extremes(extremes).untyped()
            }
            Some(other) => other.untyped(),
            None => unreachable!("the partial of an array has the array's type"),
        }))
    }

    /// The result.
    pub(crate) fn finish(self, finish: Finish) -> Result<Output> {
        match self.stream {
            Stream::Cpu(stream) => stream.finish(finish),
            Stream::Cuda(stream) => stream.finish(finish),
            Stream::Simt(stream) => stream.finish(finish),
        }
    }
}
