//! [`Folder`]: the library's streams, one face for every device.

use warpfold::partial::{Finish, Output};
use warpfold::{Element, Op, Policy, Result, Stream, simt};

use super::{Executor, cuda};
use crate::input::PIECE_BYTES;

/// A reduction in progress on a device.
pub(crate) enum Folder<T: Element> {
    Cpu(Box<Stream<T>>),
    Cuda(Box<cuda::Stream<T>>),
    Simt(Box<simt::Stream<T>>),
}

impl<T: Element> Folder<T> {
    /// An empty one.
    pub(crate) fn new(executor: &Executor, op: Op, policy: Policy) -> Result<Self> {
        Ok(match executor {
            Executor::Cpu => Folder::Cpu(Box::new(Stream::new(op, policy)?)),
            Executor::Cuda(gpu) => Folder::Cuda(Box::new(cuda::Stream::new(gpu, op, policy)?)),
            Executor::Simt(device) => {
                Folder::Simt(Box::new(simt::Stream::new(device, op, policy)?))
            }
        })
    }

    /// How what was seen was folded, in words.
    pub(crate) fn plan(&self) -> Result<String> {
        Ok(match self {
            Folder::Cpu(stream) => {
                let plan = stream.plan(stream.seen());
                format!("{plan}, in pieces of {} MiB", PIECE_BYTES >> 20)
            }
            Folder::Cuda(stream) => {
                let (seen, piece) = (stream.seen(), stream.piece());
                let plan = stream.plan(seen.min(piece))?;
                let pieces = seen.div_ceil(piece).max(1);
                let turns = "each copied while the one before it is folded";
                if pieces == 1 {
                    format!("{plan} on cuda")
                } else {
                    format!("{plan} on cuda; {pieces} such pieces, {turns}")
                }
            }
            Folder::Simt(stream) => {
                let (seen, piece) = (stream.seen(), stream.piece());
                let plan = stream.plan(seen.min(piece))?;
                format!("{plan}, simulated; pieces: {}", seen.div_ceil(piece).max(1))
            }
        })
    }

    /// Takes in the next elements.
    pub(crate) fn push(&mut self, x: &[T]) -> Result<()> {
        match self {
            Folder::Cpu(stream) => stream.push(x),
            Folder::Cuda(stream) => stream.push(x),
            Folder::Simt(stream) => stream.push(x),
        }
    }

    /// Takes in the next elements of each of two arrays.
    pub(crate) fn push_pair(&mut self, x: &[T], y: &[T]) -> Result<()> {
        match self {
            Folder::Cpu(stream) => stream.push_pair(x, y),
            Folder::Cuda(stream) => stream.push_pair(x, y),
            Folder::Simt(stream) => stream.push_pair(x, y),
        }
    }

    /// Elements taken in so far.
    pub(crate) fn seen(&self) -> u64 {
        match self {
            Folder::Cpu(stream) => stream.seen(),
            Folder::Cuda(stream) => stream.seen(),
            Folder::Simt(stream) => stream.seen(),
        }
    }

    /// The result.
    pub(crate) fn finish(self, finish: Finish) -> Result<Output> {
        match self {
            Folder::Cpu(stream) => stream.finish(finish),
            Folder::Cuda(stream) => stream.finish(finish),
            Folder::Simt(stream) => stream.finish(finish),
        }
    }
}
