//! The blog post.

use warpfold::DType;

use warpfold_lab::array::Data;

use super::paper::figure::{milliseconds, rate, relative};
use super::paper::machines::RTX_3090;
use super::paper::{Claim, Does, Experiment, Line, Mistake, Paper, Printed};

const TABLE: &str = "table at the top";
const TEXT: &str = "text of the kernel's section";
const ROOFLINE: &str = "section Roofline";

const N: u64 = 1 << 25;

/// What it published.
pub(super) const PAPER: Paper = Paper {
    name: "blog",
    title: "Embarrassingly Parallel Reduction in CUDA",
    by: "a blog post, about 2025",
    experiment: Experiment {
        n: N,
        dtype: DType::F32,
        fill: Data::Natural,
        block: 256,
        runs: 100,
        open: "the block, the number of runs, and what the array holds",
    },
    machines: &[&RTX_3090],
    lines: &[
        Line {
            label: "Baseline",
            does: Does::Rung("01_atomic"),
            figures: &[rate(&RTX_3090, "2.47", TEXT)],
        },
        Line {
            label: "1 Vector Loads",
            does: Does::Rung("02_vector_atomic"),
            figures: &[rate(&RTX_3090, "9.9", TABLE), relative(&RTX_3090, "1.1", TABLE)],
        },
        Line {
            label: "2 Tree Reduction",
            does: Does::Rung("06_interleaved"),
            figures: &[rate(&RTX_3090, "223", TABLE), relative(&RTX_3090, "24.7", TABLE)],
        },
        Line {
            label: "3 Non-divergent Threads",
            does: Does::Rung("07_strided_index"),
            figures: &[rate(&RTX_3090, "317", TABLE), relative(&RTX_3090, "36.3", TABLE)],
        },
        Line {
            label: "4 Sequential Addressing",
            does: Does::Rung("08_sequential"),
            figures: &[
                rate(&RTX_3090, "331", TABLE),
                rate(&RTX_3090, "335", TEXT),
                relative(&RTX_3090, "38.0", TABLE),
            ],
        },
        Line {
            label: "5 Reduce on First Load",
            does: Does::Rung("09_add_on_load"),
            figures: &[rate(&RTX_3090, "618", TABLE), relative(&RTX_3090, "70.9", TABLE)],
        },
        Line {
            label: "6 Warp Unrolling",
            does: Does::Rung("10_unroll_last_warp"),
            figures: &[rate(&RTX_3090, "859", TABLE), relative(&RTX_3090, "98.6", TABLE)],
        },
        Line {
            label: "0 jnp.sum reference",
            does: Does::Library("jax"),
            figures: &[
                rate(&RTX_3090, "871", TABLE),
                relative(&RTX_3090, "100", TABLE),
                milliseconds(&RTX_3090, "0.15", ROOFLINE),
            ],
        },
    ],
    claims: &[
        Claim {
            place: ROOFLINE,
            says: "N float32 reads at 936 GB/s",
            printed: Printed("0.136"),
            unit: "ms",
            computed: || (4 * N) as f64 / 936e9 * 1e3,
            by: "4 bytes times 2^25, at 936 GB/s",
        },
        Claim {
            place: ROOFLINE,
            says: "N − 1 float32 adds at 35.6 TFLOPS",
            printed: Printed("0.0036"),
            unit: "ms",
            computed: || (N - 1) as f64 / 35.6e12 * 1e3,
            by: "2^25 − 1 additions at 35.6 · 10^12 a second",
        },
        Claim {
            place: ROOFLINE,
            says: "the theoretical minimum time",
            printed: Printed("0.1396"),
            unit: "ms",
            computed: || (4 * N) as f64 / 936e9 * 1e3,
            by: "the longer of the two: reads and additions overlap, so their times do not add up",
        },
        Claim {
            place: "Kernel 2",
            says: "times the rate of kernel 1",
            printed: Printed("23"),
            unit: "×",
            computed: || 223.0 / 9.9,
            by: "223 / 9.9",
        },
        Claim {
            place: "Kernel 3",
            says: "improvement over kernel 2",
            printed: Printed("42"),
            unit: "%",
            computed: || (317.0 / 223.0 - 1.0) * 100.0,
            by: "317 / 223",
        },
        Claim {
            place: "Kernel 5",
            says: "times the rate of kernel 4",
            printed: Printed("1.86"),
            unit: "×",
            computed: || 618.0 / 331.0,
            by: "618 / 331, the table's figure and not the text's",
        },
        Claim {
            place: "Kernel 1",
            says: "the GPU loads and stores at most, at once and a thread",
            printed: Printed("128"),
            unit: "bytes",
            computed: || 16.0,
            by: "a float4 is 128 bits",
        },
    ],
    mistakes: &[
        Mistake {
            place: "Kernel 1",
            says: "if (idx < N), where idx counts float4 and N counts floats",
            truth: "three quarters of the threads that pass this guard read past the end, unless the launch happens to have N/4 threads; and the \
                    last N mod 4 elements are never read",
        },
        Mistake {
            place: "Kernel 2",
            says: "__syncthreads() inside if (idx < N)",
            truth: "a barrier that some threads of a block do not reach is undefined; and where the block is cut, the tree reads shared memory \
                    that nobody wrote",
        },
        Mistake {
            place: "Kernel 2",
            says: "the number of atomic operations does not depend on the array's size",
            truth: "there is one a block, and the blocks grow with the array: N / block of them, which meet at one address. So S is log2(block) + \
                    N / block at worst, not log N",
        },
        Mistake {
            place: "Kernel 4",
            says: "it is no bank conflict if the same thread accesses several addresses of one bank",
            truth: "a thread's two operands are read by two instructions, which never conflict with each other in any order. What counts is what \
                    the 32 lanes of one instruction touch: neighbours, so 32 different banks",
        },
        Mistake {
            place: "Kernel 5",
            says: "buffer[tid] = arr[idx] + arr[idx + blockDim.x], without a guard",
            truth: "reads past the end unless N is a multiple of twice the block",
        },
        Mistake {
            place: "Kernel 6",
            says: "threads of one warp need no synchronisation",
            truth: "volatile orders nothing between lanes. Since Volta they may run apart, and each step needs __syncwarp, once between reading \
                    and writing and once after",
        },
    ],
    besides: &[],
};
