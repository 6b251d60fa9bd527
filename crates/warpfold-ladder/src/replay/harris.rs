//! Harris's deck of 2007, from which the others descend.

use warpfold::DType;

use warpfold_lab::array::Data;

use super::paper::figure::{milliseconds, rate};
use super::paper::machines::G80;
use super::paper::{Claim, Does, Experiment, Line, Mistake, Paper, Printed};

const TABLE: &str = "table of kernels 1 to 7";
const LAST: &str = "remark on kernel 7";

/// What it published.
pub(super) const PAPER: Paper = Paper {
    name: "harris",
    title: "Optimizing Parallel Reduction in CUDA",
    by: "Mark Harris, NVIDIA, 2007",
    experiment: Experiment {
        n: 1 << 22,
        dtype: DType::I32,
        fill: Data::Natural,
        block: 128,
        runs: 100,
        open: "the number of runs, and what the array holds",
    },
    machines: &[&G80],
    lines: &[
        Line {
            label: "Kernel 1: interleaved addressing with divergent branching",
            does: Does::Rung("06_interleaved"),
            figures: &[milliseconds(&G80, "8.054", TABLE), rate(&G80, "2.083", TABLE)],
        },
        Line {
            label: "Kernel 2: interleaved addressing with bank conflicts",
            does: Does::Rung("07_strided_index"),
            figures: &[milliseconds(&G80, "3.456", TABLE), rate(&G80, "4.854", TABLE)],
        },
        Line {
            label: "Kernel 3: sequential addressing",
            does: Does::Rung("08_sequential"),
            figures: &[milliseconds(&G80, "1.722", TABLE), rate(&G80, "9.741", TABLE)],
        },
        Line {
            label: "Kernel 4: first add during global load",
            does: Does::Rung("09_add_on_load"),
            figures: &[milliseconds(&G80, "0.965", TABLE), rate(&G80, "17.377", TABLE)],
        },
        Line {
            label: "Kernel 5: unroll last warp",
            does: Does::Rung("10_unroll_last_warp"),
            figures: &[milliseconds(&G80, "0.536", TABLE), rate(&G80, "31.289", TABLE)],
        },
        Line {
            label: "Kernel 6: completely unrolled",
            does: Does::Rung("11_unrolled"),
            figures: &[milliseconds(&G80, "0.381", TABLE), rate(&G80, "43.996", TABLE)],
        },
        Line {
            label: "Kernel 7: multiple elements per thread",
            does: Does::Rung("12_cascade"),
            figures: &[milliseconds(&G80, "0.268", TABLE), rate(&G80, "62.671", TABLE)],
        },
        Line {
            label: "Kernel 7 on 32 M elements",
            does: Does::RungAt("12_cascade", 1 << 25),
            figures: &[rate(&G80, "73", LAST)],
        },
    ],
    claims: &[Claim {
        place: "bandwidth of the G80",
        says: "384-bit memory interface, 900 MHz DDR",
        printed: Printed("86.4"),
        unit: "GB/s",
        computed: || 384.0 / 8.0 * 2.0 * 0.9,
        by: "48 bytes, twice a cycle, at 0.9 GHz",
    }],
    mistakes: &[Mistake {
        place: "kernel 5",
        says: "within a warp no barrier is needed, because instructions are SIMD synchronous",
        truth: "true of its time. Since Volta the lanes of a warp have program counters of their own, and what one lane writes is only sure \
                to be seen by another after __syncwarp",
    }],
    besides: &[],
};
