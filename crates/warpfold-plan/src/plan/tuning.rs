//! The tuned numbers, each with its evidence. What was not measured has no row.

use super::cuda::{DeviceFold, Shape};
use crate::DType;

/// Bytes a thread takes at a time: large enough that taking, one atomic addition, is nothing beside their reading, small enough that
/// threads finish together.
pub(super) const GRAIN_BYTES: u64 = 256 << 10;

/// Bytes for which another thread is asked. On two cores of a Xeon with AVX512-FP16 that others used too, two runs of f32 sums took, on
/// one thread and on two, in their fastest tenth 32 and 27 to 32 µs of 1 MiB, 59 to 67 and 53 to 55 of 2 MiB, 140 to 164 and 107 to 112
/// of 4 MiB. By the medians two threads lost at 2 MiB, drew at 3 and won at 4.
pub(super) const BYTES_PER_THREAD: u64 = 2 << 20;

/// Bytes from which a segment is folded by all threads together instead of by the one that comes upon it: long enough for a few threads to
/// pay, and no longer than a thread may go on alone when the others are done.
pub(super) const LONG_SEGMENT_BYTES: u64 = 4 << 20;

/// Bytes of a table of groups up to which elements are added to it as they come: with more, most additions wait for memory. On two cores of an EPYC that were
/// busy with other things too, 2^26 sums of f32 took 448 ms by a table and 1050 by sorting into 2^8 groups, 631 and 1390 into 2^16, 3500 and 2790 into 2^20.
/// With sorting by buckets, tables of 2^20 and 2^21 groups were still slower in a later trial, by 20 to 46 %, for uniform and for Zipf's keys.
pub(super) const TABLE_BYTES: u64 = 8 << 20;

/// Groups up to which elements are scattered directly: with more, their positions are too many for near caches, and elements go to buckets of
/// neighbouring groups first. On two busy cores of an EPYC 2^26 sums of f32 into 2^20 groups took 3580 ms scattered directly and 1630 by buckets.
pub const SCATTERED_GROUPS: u64 = 4 << 10;

/// The shape of a CUDA launch over so many bytes, measured on an H200 (`results/h200/cuda_shapes.jsonl`) with sums, extremes, counts and
/// moments of several types; none has shown a need for a row of its own so far.
///
/// One block alone up to 64 KiB: 3.2 us beside 3.5 for the best that has to wait for other blocks. Then two packs a thread. Kernels
/// take up to 42 registers, so three blocks of 512 threads fill a multiprocessor: 2 GiB of f32 in 472.3 us beside 474.5 for two and
/// 491 for four; below 48 MiB two are better, as fewer have to wait for each other: 7.72 us beside 8.03 at 16 MiB.
pub(super) fn cuda_shape(fold: DeviceFold, dtype: DType, bytes: u64) -> Shape {
    if fold.is_exact() {
        return exact_shape(fold, dtype);
    }
    if fold.is_tree(dtype) {
        // A block of the tree for each warp, and up to two where a thread block does all.
        let (block, vectors) = (fold.most_threads(dtype), 2 * dtype.size() as u32);
        let per_multiprocessor = fold.most_blocks(dtype);
        return Shape { block, per_multiprocessor, vectors, alone: 2 * vectors * block };
    }
    let per_multiprocessor = if bytes < 48 << 20 { 2 } else { 3 };
    // More than fit at once would leave the last ones to run alone.
    let per_multiprocessor = fold.most_blocks(dtype).min(per_multiprocessor);
    Shape { block: 512, per_multiprocessor, vectors: 2, alone: 4096 }
}

/// As many blocks as a multiprocessor of Hopper holds with their limbs, and as its threads are: the kernels' launch bounds.
fn exact_shape(fold: DeviceFold, dtype: DType) -> Shape {
    let (block, limbs) = (fold.most_threads(dtype), fold.limbs(dtype));
    let other = if limbs > 40 { 3 << 10 } else { 3 << 9 };
    let bytes = limbs * 8 * block + other;
    let wide = matches!(dtype, DType::F64 | DType::Complex128);
    let most = exact_threads(fold, dtype);
    let per_multiprocessor = ((228 << 10) / bytes).min(most / block);
    // Where blocks meet without waiting for memory (`small_array.cuh`) more of them pay: sums of 2^14 f32 3.9 µs with two vector loads a thread, 4.2 with four.
    let few = match fold {
        DeviceFold::ExactSum => !wide,
        DeviceFold::ExactL1 => !wide && !dtype.is_complex(),
        _ => false,
    };
    Shape { block, per_multiprocessor, vectors: if few { 2 } else { 4 }, alone: 4 * block }
}

/// Threads of a multiprocessor, as `accumulators.cuh` and the folds say them. Fewer than fit are faster: sums of 2^28 normal f64 in 482 µs by four blocks a
/// multiprocessor that load eight packs at a time, in 506 by five that load four; moments of 2^28 f64 in 492 µs by 512 threads that load six, in 520 by 640 that load four.
pub(super) const fn exact_threads(fold: DeviceFold, dtype: DType) -> u32 {
    match (fold, dtype) {
        (DeviceFold::ExactSum | DeviceFold::ExactL1, DType::F32) => 1024,
        (DeviceFold::ExactSum | DeviceFold::ExactL1, DType::F16 | DType::BF16) => 768,
        (DeviceFold::ExactL1, DType::Complex64) => 768,
        (DeviceFold::ExactDot, DType::Complex128) => 384,
        (DeviceFold::ExactMoments, DType::F32 | DType::F64 | DType::Complex128) => 512,
        (DeviceFold::ExactMoments, _) => 640,
        _ => 512,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number that a directive of a kernel gives.
    fn directive(ptx: &str, name: &str) -> Option<u32> {
        let (_, rest) = ptx.split_once(name)?;
        rest.split([',', '\n']).next()?.trim().parse().ok()
    }

    #[test]
    fn exact_shapes_are_the_launch_bounds_of_their_kernels() {
        let folds = [
            DeviceFold::ExactSum,
            DeviceFold::ExactL1,
            DeviceFold::ExactDot,
            DeviceFold::ExactMoments,
            DeviceFold::ExactStats,
        ];
        let mut compared = 0;
        for (fold, &dtype) in
            folds.iter().flat_map(|&fold| DType::ALL.iter().map(move |d| (fold, d)))
        {
            let Some(module) = warpfold_kernels::of_catalog(fold.name(), dtype.name(), 70) else {
                continue;
            };
            let ptx = module.ptx();
            let bounds = [".maxntid", ".minnctapersm"].map(|name| directive(&ptx, name));
            let shape = cuda_shape(fold, dtype, 1 << 30);
            let planned = [shape.block, shape.per_multiprocessor].map(Some);
            assert_eq!(planned, bounds, "{} of {dtype}", fold.name());
            compared += 1;
        }
        assert_eq!(compared, 4 * 6 + 4, "stats are of real floats alone");
    }
}
