//! The lecture's slides.

use warpfold::DType;

use warpfold_lab::array::Data;

use super::paper::{Act, Claim, Does, Experiment, Line, Mistake, Paper, Printed};

/// What they published: no times, but what the program prints.
pub(super) const PAPER: Paper = Paper {
    name: "slides",
    title: "Parallel Reduce with CUDA",
    by: "a lecture",
    experiment: Experiment {
        n: 1 << 20,
        dtype: DType::I32,
        fill: Data::Ones,
        block: 1024,
        runs: 1,
        open: "",
    },
    machines: &[],
    lines: &[
        Line { label: "serial_reduce", does: Does::Rung("host_serial"), figures: &[] },
        Line { label: "parallel_reduce", does: Does::Rung("04_global_sequential"), figures: &[] },
        Line { label: "parallel_reduce_shared", does: Does::Rung("08_sequential"), figures: &[] },
    ],
    claims: &[
        Claim {
            place: "Reduce: Sum operator",
            says: "the sum of 3, 5, 6, 8, 9, 4",
            printed: Printed("35"),
            unit: "",
            computed: || [3, 5, 6, 8, 9, 4].iter().sum::<i32>().into(),
            by: "adding them",
        },
        Claim {
            place: "Parallel reduce example",
            says: "the sum of 3, 5, 6, 8, 9, 4, 2, 1",
            printed: Printed("38"),
            unit: "",
            computed: || [3, 5, 6, 8, 9, 4, 2, 1].iter().sum::<i32>().into(),
            by: "adding them",
        },
    ],
    mistakes: &[
        Mistake {
            place: "parallel_reduce_shared",
            says: "shared_data[t_id] += shared_data[t_id]",
            truth: "adds an element to itself: each step doubles it. Over ones the doubled element is what the sum would be, in both launches, so the \
                    program prints the right number for the wrong reason",
        },
        Mistake {
            place: "parallel_reduce",
            says: "in[thread_id] += in[thread_id + i]",
            truth: "works in place: the input is gone afterwards, and a second run gives another result",
        },
        Mistake {
            place: "both kernels",
            says: "no guard, and blockDim.x / 2 at each step",
            truth: "right only if n is the square of a block that is a power of two",
        },
        Mistake {
            place: "Reduce operator",
            says: "associative: the order of operations does not matter",
            truth: "it is the grouping that does not matter; the order is what commutative is about. Both kernels need both, for they add \
                    element 0 to element i",
        },
        Mistake {
            place: "Let us see a parallel implementation",
            says: "1024 blocks, each with 1024 kernels",
            truth: "with 1024 threads: the kernel is what all of them run",
        },
        Mistake {
            place: "main",
            says: "cudaMalloc(&d_inter, size_vect)",
            truth: "room for the whole array, where a partial sum a block is kept",
        },
    ],
    besides: &[Act::Maximum],
};
