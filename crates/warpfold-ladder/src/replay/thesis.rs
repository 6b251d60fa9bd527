//! The bachelor's thesis.

use warpfold::DType;

use crate::sweep::Over;
use warpfold_lab::array::Data;

use super::paper::figure::{error, rate};
use super::paper::machines::{A100, G80, RTX_3070};
use super::paper::{Act, Claim, Does, Experiment, Line, Mistake, Paper, Printed};

const TABLE: &str = "table 3.1";
const TEXT: &str = "chapter 3";

/// What it published. Its three figures are pictures without numbers; what its text says of them is among the claims and in [`FIGURES`].
pub(super) const PAPER: Paper = Paper {
    name: "thesis",
    title: "GPU code optimizations and the tree reduction algorithm",
    by: "Tobias Sizmann, University of Regensburg, 2023",
    experiment: Experiment {
        n: 1 << 28,
        dtype: DType::I32,
        fill: Data::Natural,
        block: 256,
        runs: 1000,
        open: "what the array holds",
    },
    machines: &[&RTX_3070, &G80, &A100],
    lines: &[
        Line {
            label: "Naive",
            does: Does::Rung("06_interleaved"),
            figures: &[
                rate(&G80, "2.08", TABLE),
                rate(&RTX_3070, "127.1", TABLE),
                error(&RTX_3070, "1.0", TEXT),
            ],
        },
        Line {
            label: "Divergent warps",
            does: Does::Rung("07_strided_index"),
            figures: &[
                rate(&G80, "4.85", TABLE),
                rate(&RTX_3070, "176.0", TABLE),
                error(&RTX_3070, "0.9", TEXT),
            ],
        },
        Line {
            label: "Memory bank conflicts",
            does: Does::Rung("08_sequential"),
            figures: &[
                rate(&G80, "9.74", TABLE),
                rate(&RTX_3070, "185.1", TABLE),
                error(&RTX_3070, "1.1", TEXT),
            ],
        },
        Line {
            label: "Idle threads after load",
            does: Does::Rung("09_add_on_load"),
            figures: &[
                rate(&G80, "17.3", TABLE),
                rate(&RTX_3070, "346.4", TABLE),
                error(&RTX_3070, "0.4", TEXT),
            ],
        },
        Line {
            label: "Implicit synchronization",
            does: Does::Rung("10_unroll_last_warp"),
            figures: &[
                rate(&G80, "31.3", TABLE),
                rate(&RTX_3070, "413.0", TABLE),
                error(&RTX_3070, "0.7", TEXT),
            ],
        },
    ],
    claims: &[
        Claim {
            place: "chapter 3",
            says: "2^28 elements, which is",
            printed: Printed("1.3e8"),
            unit: "elements",
            computed: || 2f64.powi(28),
            by: "2^28; 1.3 · 10^8 is 2^27, the size of figure 4.1",
        },
        Claim {
            place: "section 4.2",
            says: "bandwidth of the A100",
            printed: Printed("1.555"),
            unit: "GB/s",
            computed: || A100.peak / 1e9,
            by: "the data sheet: the point is a German thousands separator",
        },
        Claim {
            place: "section 3.2",
            says: "increase on the RTX 3070, divergent warps",
            printed: Printed("38"),
            unit: "%",
            computed: || (176.0 / 127.1 - 1.0) * 100.0,
            by: "176.0 / 127.1",
        },
        Claim {
            place: "section 3.2",
            says: "increase actually achieved on the G80, divergent warps",
            printed: Printed("100"),
            unit: "%",
            computed: || (4.85 / 2.08 - 1.0) * 100.0,
            by: "4.85 / 2.08",
        },
        Claim {
            place: "section 3.3",
            says: "increase on the RTX 3070, bank conflicts",
            printed: Printed("5"),
            unit: "%",
            computed: || (185.1 / 176.0 - 1.0) * 100.0,
            by: "185.1 / 176.0",
        },
        Claim {
            place: "section 3.3",
            says: "increase on the G80, bank conflicts",
            printed: Printed("100"),
            unit: "%",
            computed: || (9.74 / 4.85 - 1.0) * 100.0,
            by: "9.74 / 4.85",
        },
        Claim {
            place: "section 3.4",
            says: "increase on the RTX 3070, idle threads",
            printed: Printed("87"),
            unit: "%",
            computed: || (346.4 / 185.1 - 1.0) * 100.0,
            by: "346.4 / 185.1",
        },
        Claim {
            place: "section 3.4",
            says: "increase on the G80, idle threads",
            printed: Printed("78"),
            unit: "%",
            computed: || (17.3 / 9.74 - 1.0) * 100.0,
            by: "17.3 / 9.74",
        },
        Claim {
            place: "section 3.5",
            says: "increase on the RTX 3070, last warp",
            printed: Printed("20"),
            unit: "%",
            computed: || (413.0 / 346.4 - 1.0) * 100.0,
            by: "413.0 / 346.4",
        },
        Claim {
            place: "section 3.5",
            says: "increase on the G80, last warp",
            printed: Printed("80"),
            unit: "%",
            computed: || (31.3 / 17.3 - 1.0) * 100.0,
            by: "31.3 / 17.3",
        },
        Claim {
            place: "section 3.6",
            says: "of the RTX 3070's bandwidth",
            printed: Printed("92"),
            unit: "%",
            computed: || 413.0e9 / RTX_3070.peak * 100.0,
            by: "413.0 / 448",
        },
        Claim {
            place: "section 3.6",
            says: "of the G80's bandwidth, which Harris's last two steps reach",
            printed: Printed("85"),
            unit: "%",
            computed: || 73.0e9 / G80.peak * 100.0,
            by: "73 / 86.4, which is over 32 M elements; over the 4 M of the table's other figures it is 62.671 / 86.4",
        },
        Claim {
            place: "section 4.2",
            says: "times as fast as the RTX 3070 the A100 is",
            printed: Printed("3"),
            unit: "×",
            computed: || A100.peak / RTX_3070.peak,
            by: "1555 / 448, if both reach the same part of their peak",
        },
    ],
    mistakes: &[
        Mistake {
            place: "2.3.1, first listing",
            says: "for (int i = 0; i < len; len += 2*stride)",
            truth: "len grows where i should, so the loop does not end; with i += 2*stride it is right for powers of two, and reads past the \
                    array's end for other lengths",
        },
        Mistake {
            place: "2.3.1, second listing",
            says: "the loops swapped, stride *= 2 outside the inner one, i ascending",
            truth: "with the doubling where it belongs each element still has to find its right neighbour's whole subtree added up: so i must descend. \
                    Ascending, element 0 is finished before any other has begun",
        },
        Mistake {
            place: "2.3.3, kernel",
            says: "*d_out = temp[blockIdx.x]",
            truth: "every block writes to one place, and not its sum but whatever lies at its number in shared memory; it should be \
                    d_out[blockIdx.x] = temp[0]",
        },
        Mistake {
            place: "2.3.3, host",
            says: "int arraySize = sizeof(int)*len, and numBlocks from it",
            truth: "bytes taken for a count: four times the blocks, of which three quarters read past the end",
        },
        Mistake {
            place: "3.1",
            says: "cudaMemset() for the zero-padding",
            truth: "pads the input by writing past it, or needs a copy; a guard on the load needs neither",
        },
        Mistake {
            place: "3.2",
            says: "divergent and non-divergent branches differ because modern flow control prevents divergence",
            truth: "nothing prevents it: the kernel waits for memory most of the time, so the idle lanes cost less than they did",
        },
        Mistake {
            place: "3.3, listing",
            says: "for (stride = blockDim.x / 2; stride > 0; stride >= 1)",
            truth: "a comparison in place of the shift >>=: stride never changes, and the loop never ends",
        },
        Mistake {
            place: "3.3",
            says: "memory that is not coalesced, where shared memory is meant",
            truth: "coalescing is about global memory; in shared memory it is banks that count",
        },
        Mistake {
            place: "3.5",
            says: "threads within a warp are implicitly synchronised by hardware",
            truth: "not since Volta, though the thesis measured an Ampere GPU: its kernel is undefined there. It names the remedy, __syncwarp, \
                    and leaves it out",
        },
    ],
    besides: &[
        Act::Sweep(Over::Block, 1 << 27),
        Act::Sweep(Over::Size, 1 << 28),
        Act::Sweep(Over::Type, 1 << 28),
        Act::Divergence,
    ],
};

/// Its three pictures: what they show, and what the text says of them.
pub const FIGURES: [(&str, &str, &str); 3] = [
    (
        "figure 4.1",
        "2^27 i32, by threads of a block",
        "the optimum lies somewhere between 128 and 256 threads on both machines",
    ),
    (
        "figure 4.2",
        "i32, by elements",
        "linear from a threshold on, below it overheads; both machines converge towards 92 % of their peak",
    ),
    (
        "figure 4.3",
        "2^28 elements, by type",
        "on the RTX 3070 time is proportional to the type's size; the A100 is slightly more efficient for int64 and double",
    ),
];
