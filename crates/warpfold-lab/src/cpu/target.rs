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
    if case == SMALL {
        return Some(Target::Seconds(1e-6));
    }
    if case.bytes != LARGE {
        return None;
    }
    let (dtype, is_complex) = (case.dtype, case.dtype.is_complex());
    let is_half = matches!(dtype, DType::F16 | DType::BF16);
    let fraction = match case.op {
        Op::Sum if case.data == Data::LogUniform => 0.15,
        Op::Sum if is_half => 0.75,
        Op::Sum => 0.90,
        Op::Max | Op::ArgMax if matches!(dtype, DType::I64 | DType::U64) => 0.85,
        Op::Max | Op::ArgMax => 0.90,
        Op::Dot if is_complex => 0.70,
        Op::Dot if is_half => 0.75,
        Op::Dot => 0.85,
        Op::Var | Op::Std | Op::L2 | Op::Stats if is_complex => return None,
        Op::Stats if is_half => 0.40,
        Op::Stats if dtype == DType::F64 => 0.50,
        Op::Stats => 0.70,
        Op::Var | Op::Std | Op::L2 if is_half => 0.50,
        Op::Var | Op::Std | Op::L2 if dtype == DType::F64 => 0.55,
        Op::Var | Op::Std | Op::L2 => 0.75,
        Op::Prod => 0.60,
        Op::L1 if is_complex => 0.60,
        _ => return None,
    };
    Some(Target::OfCeiling(fraction))
}
