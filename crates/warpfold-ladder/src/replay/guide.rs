//! FastCuda's guide.

use warpfold::DType;

use warpfold_lab::array::Data;

use super::paper::{Act, Claim, Does, Experiment, Line, Mistake, Paper, Printed};

/// What it published: no times, but two tables of properties, which are counted here.
pub(super) const PAPER: Paper = Paper {
    name: "guide",
    title: "Reduce Optimization Guide",
    by: "the FastCuda project",
    experiment: Experiment {
        n: 1_048_576,
        dtype: DType::F32,
        fill: Data::Natural,
        block: 256,
        runs: 100,
        open: "the block, the number of runs, and what the array holds",
    },
    machines: &[],
    lines: &[
        Line { label: "V0 Baseline", does: Does::Rung("06_interleaved"), figures: &[] },
        Line {
            label: "V1 No Divergent Branching",
            does: Does::Rung("07_strided_index"),
            figures: &[],
        },
        Line { label: "V2 No Bank Conflict", does: Does::Rung("08_sequential"), figures: &[] },
        Line { label: "V3 Add During Load", does: Does::Rung("09_add_on_load"), figures: &[] },
        Line {
            label: "V4 Unroll Last Warp",
            does: Does::Rung("10_unroll_last_warp"),
            figures: &[],
        },
        Line { label: "V5 Completely Unrolled", does: Does::Rung("11_unrolled"), figures: &[] },
        Line { label: "V6 Multi Add", does: Does::Rung("12_cascade"), figures: &[] },
        Line { label: "V7 Shuffle", does: Does::Rung("13_shuffle"), figures: &[] },
    ],
    claims: &[Claim {
        place: "V4",
        says: "barriers saved a block by unrolling the last warp",
        printed: Printed("5"),
        unit: "barriers",
        computed: || f64::from(64u32.ilog2()),
        by: "the steps of strides 32, 16, 8, 4, 2, 1, each of which had one",
    }],
    mistakes: &[
        Mistake {
            place: "V4",
            says: "intra-warp execution is inherently synchronous (SIMT)",
            truth: "not since Volta: without __syncwarp the steps race",
        },
        Mistake {
            place: "V2",
            says: "half the threads become idle after the first step",
            truth: "half of them idle from the first step on: it has as many additions as half the block",
        },
        Mistake {
            place: "V3",
            says: "sdata[tid] = input[i] + input[i + blockDim.x]",
            truth: "reads past the end unless n is a multiple of twice the block",
        },
        Mistake {
            place: "Multi-block handling",
            says: "recursively invokes the same kernel on the partial-sums array",
            truth: "in its code the later passes read and write one array: a block may overwrite partial sums that another has yet to read",
        },
        Mistake {
            place: "Why this is different",
            says: "V0 to V6: synchronisation points at every step",
            truth: "not so for V4 to V6, whose last six steps have no block barrier: count them",
        },
    ],
    besides: &[Act::Counts],
};

/// What a cell of the guide's comparison matrix says of a version: as its sections tell it, because the copy at hand has lost the marks
/// of all cells but two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Addressed or used.
    Yes,
    /// The problem is present.
    Problem,
    /// Not applicable, or not used.
    No,
    /// So many times.
    Times(u32),
}

/// The columns of its comparison matrix.
pub const COLUMNS: [&str; 7] = [
    "Warp divergence",
    "Bank conflict",
    "Add during load",
    "Warp unroll",
    "Template unroll",
    "Multi-add",
    "Shuffle",
];

/// The matrix as the guide's sections state it, a row a version.
pub const MATRIX: [[Mark; 7]; 8] = {
    use Mark::{No, Problem, Times, Yes};
    [
        [Problem, No, No, No, No, No, No],
        [Yes, Problem, No, No, No, No, No],
        [Yes, Yes, No, No, No, No, No],
        [Yes, Yes, Yes, No, No, No, No],
        [Yes, Yes, Yes, Yes, No, No, No],
        [Yes, Yes, Yes, Yes, Yes, No, No],
        [Yes, Yes, No, Yes, Yes, Times(8), No],
        [Yes, Yes, No, No, No, Times(8), Yes],
    ]
};

/// Its second table: what it says of the versions in shared memory and of the one with shuffles.
pub const ASPECTS: [(&str, &str, &str); 4] = [
    ("Intra-warp data movement", "shared memory → register", "register → register (shuffle)"),
    ("Shared-memory traffic", "high (every step)", "minimal (cross-warp only)"),
    ("Synchronisation points", "every step", "cross-warp only"),
    ("Register pressure", "low", "slightly higher"),
];
