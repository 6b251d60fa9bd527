//! What the project wants of each row, in one place.

use warpfold::{DType, Op};

use super::Case;
use crate::array::Data;
use crate::report::Target;

/// The working set for which targets in fractions of the ceiling are meant.
pub(super) const LARGE: u64 = 256 << 20;
/// The small array that must not pay for threads.
pub(super) const SMALL: Case =
    Case { op: Op::Sum, dtype: DType::F32, data: Data::Natural, bytes: 4000 };

/// The target of a row, if it has one.
pub(super) fn target(case: Case) -> Option<Target> {
    use DType::{BF16, F16, F32, F64, I8, I32, I64};
    if case == SMALL {
        return Some(Target::Seconds(1e-6));
    }
    if case.bytes != LARGE {
        return None;
    }
    let fraction = match (case.op, case.dtype, case.data) {
        (Op::Sum, _, Data::LogUniform) => 0.15,
        (Op::Sum, F32 | F64 | I8 | I32 | I64, _) => 0.90,
        (Op::Sum, F16 | BF16, _) => 0.75,
        (Op::Max | Op::ArgMax, _, _) => 0.90,
        (Op::Dot, _, _) => 0.85,
        (Op::Var | Op::L2 | Op::Stats, F32, _) => 0.75,
        (Op::Var | Op::L2 | Op::Stats, F64, _) => 0.50,
        (Op::Prod, _, _) => 0.60,
        _ => return None,
    };
    Some(Target::OfCeiling(fraction))
}
