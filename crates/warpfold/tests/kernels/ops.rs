//! Which reductions the tests of kernels run: all there are, so that a new one is run, or is left out here by name.

use warpfold::Op;

/// Those of one array.
pub(crate) fn of_one_array() -> impl Iterator<Item = Op> {
    Op::ALL.iter().copied().filter(|&op| op != Op::Dot)
}

/// Whether one rounds on the way for floats where a policy asks for a fast result.
pub(crate) fn rounds(op: Op) -> bool {
    match op {
        Op::Sum | Op::Mean | Op::Dot | Op::Var | Op::Std | Op::L1 | Op::L2 | Op::Sumsq => true,
        Op::Min | Op::Max | Op::MinMax | Op::ArgMin | Op::ArgMax | Op::Linf => false,
        Op::Any | Op::All | Op::Count | Op::Prod | Op::Stats => false,
    }
}
