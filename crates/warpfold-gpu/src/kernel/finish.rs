//! The last step on the device: which reductions a fold's own kernel finishes, and what `cuda/entry/finish.cu` is asked to do for the others.

use warpfold_kernels::arguments::Step;

use crate::element::{Decode, Element};
use crate::exact::{ProductLimbs, SumLimbs};
use crate::plan::{CudaPlan, DeviceFold, Rounding};
use crate::{DType, Error, Nan, Op, Result, ResultKind, with_element};

/// How a value comes to lie on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// The fold's kernel writes it.
    Fold,
    /// The kernel `finish` does, by these options, from the fold's record.
    Finish {
        /// What to do, as the kernel takes it apart.
        options: u64,
    },
}

/// What a value of floats is rounded to, if that is asked for.
///
/// # Errors
/// [`Error::Unsupported`] for other types than the accumulator's and that of elements of 16 bits.
fn rounding(op: Op, dtype: DType, round_to: Option<DType>) -> Result<Rounding> {
    match round_to {
        None => Ok(Rounding::Accumulator),
        Some(to) if op.is_rounded() && to == dtype.round() && !dtype.is_complex() => {
            Ok(Rounding::Accumulator)
        }
        Some(to @ (DType::F16 | DType::BF16)) if op.is_rounded() && to == dtype => {
            Ok(Rounding::Element)
        }
        Some(_) => Err(Error::Unsupported {
            option: "leaving another type on the device",
            op,
            dtype,
            why: "values are rounded to the accumulator's type, or to elements of 16 bits; take it on the host",
        }),
    }
}

/// How the plan's value is finished on the device.
///
/// # Errors
/// [`Error::Unsupported`] for `stats`, whose results are many, and for types that no value is rounded to.
pub(super) fn ending(plan: &CudaPlan, round_to: Option<DType>) -> Result<Ending> {
    let (op, dtype) = (plan.problem.op, plan.problem.dtype);
    let (float, exact) = (dtype.is_float(), plan.fold.is_exact());
    let rounding = rounding(op, dtype, round_to)?;
    let is_narrow = rounding == Rounding::Element;
    let step = match op {
        // Folds leave the accumulator's type.
        Op::Sum | Op::Dot | Op::L1 if is_narrow && exact => Step::Sum,
        Op::Sum | Op::Dot if is_narrow => Step::FastL1,
        Op::Sum | Op::Dot | Op::Count => return Ok(Ending::Fold),
        Op::Min | Op::Max | Op::MinMax | Op::ArgMin | Op::ArgMax => return Ok(Ending::Fold),
        Op::L1 if exact => return Ok(Ending::Fold),
        Op::Stats => {
            return Err(Error::Unsupported {
                option: "leaving the result on the device",
                op,
                dtype,
                why: "it is no single value; ask for one of its results, or take all of them on the host",
            });
        }
        Op::Mean if float && !exact => Step::FastMean,
        Op::Mean => Step::Mean,
        Op::Var if float && !exact => Step::FastVar,
        Op::Var => Step::Var,
        Op::Std if float && !exact => Step::FastStd,
        Op::Std => Step::Std,
        Op::L1 if float => Step::FastL1,
        Op::L1 => Step::L1,
        Op::L2 if plan.fold == DeviceFold::Squares => Step::FastL2,
        Op::L2 => Step::L2,
        Op::Sumsq if plan.fold == DeviceFold::Squares => Step::FastSumsq,
        Op::Sumsq if float => Step::Sumsq,
        Op::Sumsq => Step::IntegerSumsq,
        Op::Any => Step::Any,
        Op::All => Step::All,
        Op::Prod if dtype.is_complex() => Step::ComplexProduct,
        Op::Prod if float => Step::Product,
        Op::Prod => Step::IntegerProduct,
        Op::Linf if dtype.is_complex() => Step::LargestComplex,
        Op::Linf => match dtype {
            DType::F16 => Step::LargestHalf,
            DType::BF16 => Step::LargestBrain,
            DType::F32 | DType::F64 => Step::LargestFloat,
            _ => Step::LargestInteger,
        },
    };
    Ok(Ending::Finish { options: options(plan, step, rounding) })
}

/// Whether the plan's own kernel writes the value, without a launch more.
pub fn is_finished_by_its_fold(plan: &CudaPlan) -> bool {
    ending(plan, None) == Ok(Ending::Fold)
}

/// The options of the kernel: the step, the layout of the record, the types.
fn options(plan: &CudaPlan, step: Step, rounding: Rounding) -> u64 {
    fn of<T: Element>(fold: DeviceFold) -> (u64, u64) {
        // Limbs of sums and squares: as the exact folds of floats leave them, or as those of integers.
        let (sum, product) =
            (size_of::<SumLimbs<T>>() as u64 / 8, size_of::<ProductLimbs<T>>() as u64 / 8);
        let limbs = match fold {
            DeviceFold::ExactDot => [product, product],
            fold if fold.is_exact() => [sum, product],
            _ => [2, 3],
        };
        let unit =
            <T as Element>::Component::UNIT * if fold == DeviceFold::ExactDot { 2 } else { 1 };
        let unit = unit as u32;
        (limbs[0] << 8 | limbs[1] << 16 | u64::from(unit) << 32, T::PARTS as u64)
    }
    let (dtype, exact) = (plan.problem.dtype, plan.fold.is_exact());
    let (layout, parts) = with_element!(dtype, T => of::<T>(plan.fold));
    let is_wide = dtype.round() == DType::F64;
    let is_signed = dtype.is_signed();
    let flags = [is_wide, exact, is_signed, plan.problem.policy.nan == Nan::Ignore];
    let flags = flags.iter().enumerate().fold(0, |all, (k, &flag)| all | u64::from(flag) << k);
    let narrow = match (rounding, dtype) {
        (Rounding::Accumulator, _) => 0,
        (Rounding::Element, DType::F16) => 1,
        (Rounding::Element, _) => 2,
    };
    step as u64 | layout | parts << 24 | flags << 26 | narrow << 30
}

/// Bytes of the value that a reduction leaves on the device, in a type if one is asked for; `None` of `stats`, which leaves none, and of types that no
/// value is rounded to.
pub fn value_bytes(op: Op, dtype: DType, round_to: Option<DType>) -> Option<usize> {
    let round_to = match rounding(op, dtype, round_to).ok()? {
        Rounding::Accumulator => None,
        Rounding::Element => Some(dtype),
    };
    let bytes = op.result_dtype(dtype, round_to)?.size();
    Some(match op.result() {
        // What a total of integers is before anyone asks whether it fits: 128 bits of sums and products, 192 of products' sums.
        ResultKind::Total | ResultKind::RealTotal if !dtype.is_float() => match op {
            Op::Sum | Op::Prod => 16,
            _ => 24,
        },
        ResultKind::Pair => 2 * bytes,
        _ => bytes,
    })
}

/// Refuses what is known beforehand to have no value; what only the array tells is NaN on the device.
pub(super) fn check(plan: &CudaPlan, ddof: u64) -> Result<()> {
    let (op, n) = (plan.problem.op, plan.problem.n);
    if n == 0 && op.too_few(ddof).is_some() {
        return Err(Error::Empty { op, ignored: false });
    }
    if op.is_spread() && ddof >= n {
        return Err(Error::TooFew { op, n, ddof });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{CudaFacts, Problem, choose_cuda};
    use crate::{Accuracy, Policy};

    #[test]
    fn everything_but_stats_is_left_on_the_device() {
        let facts = CudaFacts { compute: 90, multiprocessors: 132 };
        for (&op, &dtype) in Op::ALL.iter().flat_map(|op| DType::ALL.iter().map(move |d| (op, d))) {
            for accuracy in [Accuracy::Exact, Accuracy::Fast] {
                let policy = Policy { accuracy, ..Policy::default() };
                let Ok(plan) = choose_cuda(Problem { op, dtype, n: 9, policy }, facts) else {
                    continue;
                };
                assert_eq!(ending(&plan, None).is_ok(), op != Op::Stats, "{op} of {dtype}");
                assert_eq!(value_bytes(op, dtype, None).is_some(), op != Op::Stats);
            }
        }
    }
}
