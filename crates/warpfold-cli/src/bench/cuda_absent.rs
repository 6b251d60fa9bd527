//! What stands for the benchmark of a GPU in a program built without CUDA.

use crate::Failure;
use crate::args::{BenchCuda, FirstUses};
use crate::device;

/// Says so.
pub(crate) fn cuda(args: &BenchCuda) -> Result<(), Failure> {
    device::open_gpu(args.device, None).map(|_| ())
}

/// Says so.
pub(crate) fn first_uses(args: &FirstUses) -> Result<(), Failure> {
    device::open_gpu(args.device, None).map(|_| ())
}
