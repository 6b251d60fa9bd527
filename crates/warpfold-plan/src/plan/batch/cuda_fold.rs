//! Which fold of kernels does a reduction of a type as asked.

use super::{Batch, ManyFold};
use crate::{Accuracy, DType, Error, Nan, Op, Result};

pub(super) fn unsupported(batch: &Batch, option: &'static str, why: &'static str) -> Error {
    Error::Unsupported { option, op: batch.op, dtype: batch.dtype, why }
}

/// The most elements of up to 32 bits whose sum 64 bits hold for certain.
const NARROW_ELEMENTS: u64 = 1 << 31;

/// The fold; an error where the contract knows no such reduction for the type, or no kernel folds it as asked.
pub(super) fn fold_of(batch: &Batch) -> Result<ManyFold> {
    let Batch { op, dtype, policy, .. } = *batch;
    let float = dtype.is_float();
    if dtype.is_complex() {
        return fold_of_complex(batch);
    }
    let rounds = matches!(op, Op::Sum | Op::Mean | Op::L1 | Op::L2 | Op::Sumsq);
    // Only what is folded exactly counts the NaNs it skips.
    let counts = op == Op::Mean && policy.nan == Nan::Ignore;
    if float && (matches!(op, Op::Var | Op::Std) || counts) {
        return Ok(match op {
            Op::Var if policy.nan == Nan::Propagate => ManyFold::ExactVar,
            Op::Std if policy.nan == Nan::Propagate => ManyFold::ExactStd,
            _ => ManyFold::Moments,
        });
    }
    if float && rounds && policy.accuracy == Accuracy::Exact {
        return Ok(match op {
            Op::Sum => ManyFold::ExactSum,
            Op::Mean => ManyFold::ExactMean,
            Op::L1 => ManyFold::ExactL1,
            Op::Sumsq => ManyFold::ExactSumsq,
            _ => ManyFold::ExactL2,
        });
    }
    if !float
        && batch.elements() > NARROW_ELEMENTS
        && dtype.size() == 4
        && matches!(op, Op::Sum | Op::Mean | Op::L1)
    {
        let why = "kernels add 32-bit integers of segments in 64 bits, which hold 2^31 of them; run it on the CPU";
        return Err(unsupported(batch, "CUDA", why));
    }
    Ok(match op {
        Op::Sum => ManyFold::Sum,
        Op::Mean => ManyFold::Mean,
        Op::Min => ManyFold::Min,
        Op::Max => ManyFold::Max,
        Op::ArgMin => ManyFold::ArgMin,
        Op::ArgMax => ManyFold::ArgMax,
        Op::Linf => ManyFold::Linf,
        Op::Any => ManyFold::Any,
        Op::All => ManyFold::All,
        Op::Count => ManyFold::Count,
        Op::L1 => ManyFold::L1,
        Op::L2 if float => ManyFold::L2,
        Op::L2 => ManyFold::IntegerL2,
        Op::Sumsq if float => ManyFold::Sumsq,
        Op::Sumsq => ManyFold::IntegerSumsq,
        Op::Var => ManyFold::IntegerVar,
        Op::Std => ManyFold::IntegerStd,
        Op::Prod => ManyFold::Prod,
        Op::MinMax | Op::Stats | Op::Dot => return Err(unsupported(batch, "CUDA", NO_ONE_RESULT)),
    })
}

/// Of complex numbers all are exact, whatever accuracy is asked.
fn fold_of_complex(batch: &Batch) -> Result<ManyFold> {
    let Batch { op, dtype, policy, .. } = *batch;
    Ok(match op {
        Op::Sum => ManyFold::ExactSum,
        // Only what is folded by blocks counts the NaNs it skips, or holds squares of f64.
        Op::Mean if policy.nan == Nan::Propagate => ManyFold::ExactMean,
        Op::L2 if dtype == DType::Complex64 => ManyFold::ExactL2,
        Op::Sumsq if dtype == DType::Complex64 => ManyFold::ExactSumsq,
        Op::Mean | Op::L1 | Op::L2 | Op::Sumsq | Op::Var | Op::Std => ManyFold::Moments,
        Op::Linf => ManyFold::Linf,
        Op::Any => ManyFold::Any,
        Op::All => ManyFold::All,
        Op::Count => ManyFold::Count,
        Op::Prod => ManyFold::Prod,
        Op::Min | Op::Max | Op::MinMax | Op::ArgMin | Op::ArgMax => {
            let why = "complex numbers have no order; take linf for the largest magnitude";
            return Err(Error::Undefined { op, dtype, why });
        }
        Op::Stats | Op::Dot => return Err(unsupported(batch, "CUDA", NO_ONE_RESULT)),
    })
}

const NO_ONE_RESULT: &str = "no kernel of segments leaves a result of it; ask for `columns`";
