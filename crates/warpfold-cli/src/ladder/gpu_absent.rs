//! What stands for GPUs in a program built without them.

use warpfold_ladder::verify::{Cell, Verified};
use warpfold_ladder::{Ladder, Observer, Options, Setting, Stage};

use crate::Failure;
use crate::device::cuda::Gpu;

pub(super) fn climb(
    gpu: &Gpu,
    _: Options,
    _: bool,
    _: &mut dyn Observer,
) -> Result<Ladder, Failure> {
    gpu.absent()
}

pub(crate) fn on_gpu(gpu: &Gpu, _: &Setting) -> Result<Box<dyn Stage>, Failure> {
    gpu.absent()
}

pub(super) fn verify(
    gpu: &Gpu,
    _: &[Cell],
    _: u64,
    _: impl Fn(&Cell) + Sync,
) -> Result<Verified, Failure> {
    gpu.absent()
}
