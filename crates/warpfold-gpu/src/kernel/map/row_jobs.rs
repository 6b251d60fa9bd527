//! [`RowJob`]: which reductions of rows have a kernel of rows, and its parameters.

use warpfold_engine::map::{Map, Task};
use warpfold_expr::Type;

use super::shape::{PartFold, Reports, Shape, Template, Values, Walk};
use crate::{Accuracy, Nan, Op};

/// A kernel of rows.
pub(super) struct RowJob {
    pub(super) shape: Shape,
    pub(super) options: u64,
}

// Operation codes of the kernels, as in `op/part_exact.cuh`, `map_terms.cuh`, `part_spread.cuh` and `part_folds.cuh`.
const SUM: u64 = 0;
const MEAN: u64 = 1;
const ABSOLUTE: u64 = 2;
const ROOT_OF_TERMS: u64 = 3;
const TERMS_OF_ONE: u64 = 4;
const ROOT: u64 = 0;
const SQUARES: u64 = 1;
const VAR: u64 = 0;
const STD: u64 = 1;
const MIN: u64 = 0;
const MAX: u64 = 1;
const LINF: u64 = 2;
/// That values are floats, a bit of the options.
const IS_FLOAT: u64 = 4;

/// The kernel of rows for a reduction; `None` if it has none.
pub(super) fn row_job(map: &Map, op: Op, ddof: u64) -> Option<RowJob> {
    let [task] = map.tasks() else { return None };
    let policy = map.policy();
    if policy.accuracy == Accuracy::Fast || policy.nan == Nan::Ignore {
        return None;
    }
    // Of what is left out sums have zeros; what counts is not counted.
    let is_sum = matches!(op, Op::Sum | Op::L1 | Op::L2 | Op::Sumsq);
    if map.condition().is_some() && !is_sum {
        return None;
    }
    let is_mean = if op == Op::Mean { MEAN } else { SUM };
    let (part, values, fold) = match *task {
        Task::Products(a, b) => match map.program().ty(a) {
            Type::F32 => (PartFold::Terms, Values::Two(a, b), is_mean),
            Type::F64 if a == b && op == Op::Sum => (PartFold::Norm, Values::One(a), SQUARES),
            _ => return None,
        },
        Task::Values(_, id) => match (op, map.program().ty(id)) {
            (Op::Sum | Op::Mean, Type::F32) => {
                (PartFold::Terms, Values::TimesOne(id), is_mean | TERMS_OF_ONE)
            }
            (Op::Sum | Op::Mean, Type::F64) => (PartFold::Total, Values::One(id), is_mean),
            (Op::L1, Type::F32) => {
                (PartFold::Terms, Values::MagnitudeTimesOne(id), SUM | TERMS_OF_ONE)
            }
            (Op::L1, Type::F64) => (PartFold::Total, Values::One(id), ABSOLUTE),
            (Op::L2, Type::F32) => (PartFold::Terms, Values::Two(id, id), ROOT_OF_TERMS),
            (Op::Sumsq, Type::F32) => (PartFold::Terms, Values::Two(id, id), SUM),
            (Op::L2, Type::F64) => (PartFold::Norm, Values::One(id), ROOT),
            (Op::Sumsq, Type::F64) => (PartFold::Norm, Values::One(id), SQUARES),
            (Op::Var, Type::F32 | Type::F64) => (PartFold::Spread, Values::One(id), VAR),
            (Op::Std, Type::F32 | Type::F64) => (PartFold::Spread, Values::One(id), STD),
            (Op::Min, Type::F32 | Type::F64) => (PartFold::Extreme, Values::One(id), MIN),
            (Op::Max, Type::F32 | Type::F64) => (PartFold::Extreme, Values::One(id), MAX),
            (Op::Linf, Type::F32 | Type::F64) => (PartFold::Extreme, Values::One(id), LINF),
            _ => return None,
        },
        _ => return None,
    };
    let takes_ddof = part == PartFold::Spread;
    if takes_ddof && u32::try_from(ddof).is_err() {
        return None;
    }
    let shape = Shape {
        template: Template::Parts(Walk::Rows, part),
        values,
        keep: map.condition(),
        nans: Vec::new(),
        weight: None,
        reports: Reports::Nothing,
    };
    let ddof = if takes_ddof { ddof << 32 } else { 0 };
    Some(RowJob { shape, options: IS_FLOAT | fold << 8 | ddof })
}
