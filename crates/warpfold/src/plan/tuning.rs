//! The tuned numbers, each with its evidence. What was not measured has no row.

use super::cuda::Shape;

/// Bytes a thread takes at a time: large enough that taking, one atomic addition, is nothing beside their reading, small enough that
/// threads finish together.
pub(super) const GRAIN_BYTES: u64 = 256 << 10;

/// Bytes for which another thread is asked. On two cores of a Xeon with AVX512-FP16, f32 sums in µs on one thread and on two: 1 MiB
/// 32 and 34, 2 MiB 66 and 54, 4 MiB 144 and 85.
pub(super) const BYTES_PER_THREAD: u64 = 2 << 20;

/// The shape of a CUDA launch over so many bytes, measured on an H200 (`results/h200/cuda_shapes.jsonl`) with sums, extremes, counts and
/// moments of several types; none has shown a need for a row of its own so far.
///
/// One block alone up to 64 KiB: 3.2 us beside 3.5 for the best that has to wait for other blocks. Then two packs a thread. Kernels
/// take up to 42 registers, so three blocks of 512 threads fill a multiprocessor: 2 GiB of f32 in 472.3 us beside 474.5 for two and
/// 491 for four; below 48 MiB two are better, as fewer have to wait for each other: 7.72 us beside 8.03 at 16 MiB.
pub(super) fn cuda_shape(bytes: u64) -> Shape {
    let per_multiprocessor = if bytes < 48 << 20 { 2 } else { 3 };
    Shape { block: 512, per_multiprocessor, packs: 2, alone: 4096 }
}
