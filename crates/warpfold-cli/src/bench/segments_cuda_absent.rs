//! What stands for the benchmark of segments on a GPU in a program built without CUDA.

use crate::Failure;
use crate::args::BenchSegments;
use crate::device;

/// Says so.
pub(crate) fn segments(args: &BenchSegments) -> Result<(), Failure> {
    device::open_gpu(args.device, None).map(|_| ())
}
