//! The tuned numbers, each with its evidence. What was not measured has no row.

use super::cuda::{Fold, Shape};
use crate::DType;

/// Bytes a thread takes at a time: large enough that taking is free (a few ns in 8 µs at 30 GB/s), small enough that threads
/// finish together.
pub(super) const GRAIN_BYTES: u64 = 256 << 10;

/// Bytes below which another thread costs more than it brings.
pub(super) const BYTES_PER_THREAD: u64 = 512 << 10;

/// The shape of a CUDA launch, measured on an H200 with the sum of f32 (`results/h200`); no kernel has shown a need for a
/// row of its own so far.
///
/// One block alone up to 64 KiB: 3.1 us beside 3.5 for the best that has to wait for other blocks. Then two packs a thread: 3.85 us
/// at 1 MiB beside 3.90 for one and 4.03 for four. Three blocks of 512 threads fill a multiprocessor with kernels of up to 42
/// registers: 4 GiB in 942 us beside 940 for the best of 100 shapes, 256 MiB in 62.5, which is the best.
pub(super) fn cuda_shape(_fold: Fold, _dtype: DType) -> Shape {
    Shape { block: 512, per_multiprocessor: 3, packs: 2, alone: 4096 }
}
