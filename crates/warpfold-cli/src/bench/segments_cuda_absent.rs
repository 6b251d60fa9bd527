//! What stands for the benchmark of segments on a GPU in a program built without CUDA.

use crate::Failure;
use crate::args::BenchSegments;
use crate::device;

/// Says so.
pub(crate) fn segments(asked: &BenchSegments) -> Result<(), Failure> {
    device::open_gpu(asked.device, None).map(|_| ())
}
