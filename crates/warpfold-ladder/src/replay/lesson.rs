//! The programming lesson.

use warpfold::DType;

use warpfold_lab::array::Data;

use super::paper::{Claim, Does, Experiment, Line, Mistake, Paper};

/// What it published. Its one figure, that V2 runs about six times as fast as V3, is of a sample output on a machine it does not name: see [`RATIO`].
pub(super) const PAPER: Paper = Paper {
    name: "lesson",
    title: "CUDA Performance Optimization: Reduction Kernels with Shared vs Global Memory",
    by: "a programming lesson",
    experiment: Experiment {
        n: 1 << 24,
        dtype: DType::F32,
        fill: Data::Bytes,
        block: 512,
        runs: 100,
        open: "the number of runs",
    },
    machines: &[],
    lines: &[
        Line {
            label: "V1: shared memory, more divergence",
            does: Does::Rung("06_interleaved"),
            figures: &[],
        },
        Line {
            label: "V2: shared memory, less divergence",
            does: Does::Rung("08_sequential"),
            figures: &[],
        },
        Line {
            label: "V3: global memory, more divergence",
            does: Does::Rung("03_global_interleaved"),
            figures: &[],
        },
        Line {
            label: "V4: global memory, less divergence",
            does: Does::Rung("04_global_sequential"),
            figures: &[],
        },
    ],
    claims: &[] as &[Claim],
    mistakes: &[
        Mistake {
            place: "V3, V4",
            says: "float sum = g_data[i], then sum += g_data[i + s], and nothing is written back",
            truth: "each thread adds untouched elements of the array, so the result is not the sum: V3's first thread has s = 1, 2, 4, … \
                    added to element 0, which is 1 + log2(block) elements of the block and no more. The time is that of another task",
        },
        Mistake {
            place: "V3, V4",
            says: "race conditions exist, because several threads write to the same global location",
            truth: "as printed nothing is written but the results, so nothing races. With the partial sums written back, as they must be, the \
                    barrier of each step orders them within a block",
        },
        Mistake {
            place: "V3, V4",
            says: "g_data[i + s] without a guard",
            truth: "where the last block is cut it reads past the end",
        },
        Mistake {
            place: "V1 to V4",
            says: "sdata[tid] = g_data[i] without a guard",
            truth: "right for multiples of the block only, which 2^24 is",
        },
        Mistake {
            place: "all",
            says: "g_out[blockIdx.x] = …, and there it ends",
            truth: "what is left is a partial sum a block; nobody adds them up",
        },
        Mistake {
            place: "V1",
            says: "divergence reduces occupancy",
            truth: "occupancy is how many warps are resident; divergence leaves it as it is and lets lanes of resident warps idle",
        },
        Mistake {
            place: "V2",
            says: "since s is a multiple of 32 until the last few iterations, warps remain coherent",
            truth: "true, and the last five steps diverge in one warp a block all the same",
        },
    ],
    besides: &[],
};

/// The figure of its sample output: V3's time over V2's.
pub const RATIO: super::paper::Printed = super::paper::Printed("6");
