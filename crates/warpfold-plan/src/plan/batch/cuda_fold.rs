//! Which fold of kernels does a reduction of a type as asked.

use super::{Batch, BatchedFold, BoundsKind, Partition};
use crate::{Accuracy, DType, Error, Nan, Op, Result};

pub(super) fn unsupported(batch: &Batch, option: &'static str, why: &'static str) -> Error {
    Error::Unsupported { option, op: batch.op, dtype: batch.dtype, why }
}

/// The most elements of up to 32 bits whose sum 64 bits hold for certain.
const NARROW_ELEMENTS: u64 = 1 << 31;

/// The most elements of up to 32 bits whose squares the kernels' states hold for certain.
const ELEMENTS_OF_SQUARES: u64 = 1 << 32;

/// The most elements that an output may have.
fn longest_part(batch: &Batch) -> u64 {
    match &batch.partition {
        Partition::Axes(form) => form.inputs,
        Partition::Segments { bounds: BoundsKind::Every(length), .. } => *length,
        _ => batch.elements(),
    }
}

/// The fold; an error where the contract knows no such reduction for the type, or no kernel folds it as asked.
pub(super) fn fold_of(batch: &Batch) -> Result<BatchedFold> {
    let Batch { op, dtype, policy, .. } = *batch;
    let float = dtype.is_float();
    if dtype.is_complex() {
        return fold_of_complex(batch);
    }
    if op == Op::Stats {
        // Bytes have no kernels of lanes, and states of integers hold so many elements.
        let taken = float
            || match dtype.size() {
                1 => false,
                4 => batch.elements() <= NARROW_ELEMENTS,
                2 => longest_part(batch) <= ELEMENTS_OF_SQUARES,
                _ => true,
            };
        return match taken {
            true => Ok(BatchedFold::Stats),
            false => Err(unsupported(batch, "CUDA", NO_ONE_RESULT)),
        };
    }
    let rounds = matches!(op, Op::Sum | Op::Mean | Op::L1 | Op::L2 | Op::Sumsq);
    // Only what is folded exactly counts the NaNs it skips.
    let counts = op == Op::Mean && policy.nan == Nan::Ignore;
    if float && (op.is_spread() || counts) {
        return Ok(match op {
            Op::Var if policy.nan == Nan::Propagate => BatchedFold::ExactVar,
            Op::Std if policy.nan == Nan::Propagate => BatchedFold::ExactStd,
            _ => BatchedFold::Moments,
        });
    }
    if float && rounds && policy.accuracy == Accuracy::Exact {
        return Ok(match op {
            Op::Sum => BatchedFold::ExactSum,
            Op::Mean => BatchedFold::ExactMean,
            Op::L1 => BatchedFold::ExactL1,
            Op::Sumsq => BatchedFold::ExactSumsq,
            _ => BatchedFold::ExactL2,
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
    if !float
        && longest_part(batch) > ELEMENTS_OF_SQUARES
        && matches!(dtype.size(), 2 | 4)
        && op.is_of_squares()
    {
        let why = "kernels add squares of integers of 16 and 32 bits of 2^32 elements at most: of a part, or of the array where offsets part it; run it on the CPU";
        return Err(unsupported(batch, "CUDA", why));
    }
    Ok(match op {
        Op::Sum => BatchedFold::Sum,
        Op::Mean => BatchedFold::Mean,
        Op::Min => BatchedFold::Min,
        Op::Max => BatchedFold::Max,
        Op::ArgMin => BatchedFold::ArgMin,
        Op::ArgMax => BatchedFold::ArgMax,
        Op::Linf => BatchedFold::Linf,
        Op::Any => BatchedFold::Any,
        Op::All => BatchedFold::All,
        Op::Count => BatchedFold::Count,
        Op::L1 => BatchedFold::L1,
        Op::L2 if float => BatchedFold::L2,
        Op::L2 => BatchedFold::IntegerL2,
        Op::Sumsq if float => BatchedFold::Sumsq,
        Op::Sumsq => BatchedFold::IntegerSumsq,
        Op::Var => BatchedFold::IntegerVar,
        Op::Std => BatchedFold::IntegerStd,
        Op::Prod => BatchedFold::Prod,
        Op::MinMax | Op::Stats | Op::Dot => return Err(unsupported(batch, "CUDA", NO_ONE_RESULT)),
    })
}

/// Of complex numbers all are exact, whatever accuracy is asked.
fn fold_of_complex(batch: &Batch) -> Result<BatchedFold> {
    let Batch { op, dtype, policy, .. } = *batch;
    Ok(match op {
        Op::Sum => BatchedFold::ExactSum,
        Op::Mean if policy.nan == Nan::Propagate => BatchedFold::ExactMean,
        Op::L2 if dtype == DType::Complex64 => BatchedFold::ExactL2,
        Op::Sumsq if dtype == DType::Complex64 => BatchedFold::ExactSumsq,
        // Only stats count the NaNs they skip.
        Op::Mean => BatchedFold::ComplexMean,
        Op::Var => BatchedFold::ComplexVar,
        Op::Std => BatchedFold::ComplexStd,
        Op::L1 => BatchedFold::ComplexL1,
        Op::L2 => BatchedFold::ComplexL2,
        Op::Sumsq => BatchedFold::Moments,
        Op::Linf => BatchedFold::Linf,
        Op::Any => BatchedFold::Any,
        Op::All => BatchedFold::All,
        Op::Count => BatchedFold::Count,
        Op::Prod => BatchedFold::Prod,
        Op::Stats => BatchedFold::Stats,
        op if op.is_ordered() => {
            let why = "complex numbers have no order; take linf for the largest magnitude";
            return Err(Error::Undefined { op, dtype, why });
        }
        _ => return Err(unsupported(batch, "CUDA", NO_ONE_RESULT)),
    })
}

const NO_ONE_RESULT: &str = "no kernel of segments leaves a result of it; ask for `columns`";
