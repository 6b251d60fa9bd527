//! What stands for the benchmark of a GPU in a program built without CUDA.

use crate::Failure;
use crate::args::{BenchCuda, FirstUses};
use crate::device;

/// Says so.
pub(crate) fn cuda(asked: &BenchCuda) -> Result<(), Failure> {
    device::open_gpu(asked.device, None).map(|_| ())
}

/// Says so.
pub(crate) fn first_uses(asked: &FirstUses) -> Result<(), Failure> {
    device::open_gpu(asked.device, None).map(|_| ())
}
