//! The last step on the device: which reductions a fold's own kernel finishes, and what `cuda/entry/finish.cu` is asked to do for the others.

use crate::element::{Element, Real};
use crate::exact::{ProductLimbs, SumLimbs};
use crate::plan::{CudaPlan, Fold};
use crate::{DType, Error, Nan, Op, Result, with_element};

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

/// What is done at the end, as `cuda/entry/finish.cu` numbers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Mean,
    Var,
    Std,
    L2,
    L1,
    LargestComplex,
    Sumsq,
    FastMean,
    FastL1,
    FastL2,
    FastSumsq,
    FastVar,
    FastStd,
    Any,
    All,
    Product,
    ComplexProduct,
    IntegerProduct,
    LargestInteger,
    LargestHalf,
    LargestBrain,
    LargestFloat,
    IntegerSumsq,
}

/// How the plan's value is finished on the device.
///
/// # Errors
/// [`Error::Unsupported`] for `stats`, whose results are many.
pub(super) fn ending(plan: &CudaPlan) -> Result<Ending> {
    let (op, dtype) = (plan.problem.op, plan.problem.dtype);
    let (float, exact) = (dtype.is_float(), plan.fold.is_exact());
    let step = match op {
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
        Op::L2 if plan.fold == Fold::Squares => Step::FastL2,
        Op::L2 => Step::L2,
        Op::Sumsq if plan.fold == Fold::Squares => Step::FastSumsq,
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
    Ok(Ending::Finish { options: options(plan, step) })
}

/// Whether the plan's own kernel writes the value, without a launch more.
pub fn is_left_by_its_fold(plan: &CudaPlan) -> bool {
    ending(plan) == Ok(Ending::Fold)
}

/// What the kernel is told: the step, the layout of the record, the types.
fn options(plan: &CudaPlan, step: Step) -> u64 {
    fn of<T: Element>(exact: bool) -> (u64, u64) {
        // Limbs of sums and squares: as the exact folds of floats leave them, or as those of integers.
        let limbs = match exact {
            true => [size_of::<SumLimbs<T>>() as u64 / 8, size_of::<ProductLimbs<T>>() as u64 / 8],
            false => [2, 3],
        };
        let unit = <T as Element>::Part::UNIT as u32;
        (limbs[0] << 8 | limbs[1] << 16 | u64::from(unit) << 32, T::PARTS as u64)
    }
    let (dtype, exact) = (plan.problem.dtype, plan.fold.is_exact());
    let (layout, parts) = with_element!(dtype, T => of::<T>(exact));
    let is_wide = !matches!(dtype, DType::F16 | DType::BF16 | DType::F32 | DType::Complex64);
    let is_signed = matches!(dtype, DType::I8 | DType::I16 | DType::I32 | DType::I64);
    let flags = [is_wide, exact, is_signed, plan.problem.policy.nan == Nan::Ignore];
    let flags = flags.iter().enumerate().fold(0, |all, (k, &flag)| all | u64::from(flag) << k);
    step as u64 | layout | parts << 24 | flags << 26
}

/// Bytes of the value that a reduction leaves on the device; `None` of `stats`, which leaves none.
pub fn value_bytes(op: Op, dtype: DType) -> Option<usize> {
    fn of<T: Element>() -> (usize, usize) {
        (size_of::<T::Round>(), T::PARTS)
    }
    let (float, parts) = with_element!(dtype, T => of::<T>());
    Some(match op {
        Op::Stats => return None,
        Op::Sum | Op::Dot | Op::Prod if dtype.is_float() => float * parts,
        Op::Sum | Op::Prod => 16,
        Op::Dot => 24,
        Op::Mean => float * parts,
        Op::Sumsq if !dtype.is_float() => 24,
        Op::Var | Op::Std | Op::L1 | Op::L2 | Op::Sumsq => float,
        Op::Linf if dtype.is_float() => float,
        Op::Linf | Op::ArgMin | Op::ArgMax | Op::Count => 8,
        Op::Min | Op::Max => dtype.size(),
        Op::MinMax => 2 * dtype.size(),
        Op::Any | Op::All => 1,
    })
}

/// Refuses what is known beforehand to have no value; what only the array tells is NaN on the device.
pub(super) fn check(plan: &CudaPlan, ddof: u64) -> Result<()> {
    let (op, n) = (plan.problem.op, plan.problem.n);
    let spread = matches!(op, Op::Var | Op::Std);
    let ordered = matches!(op, Op::Min | Op::Max | Op::MinMax | Op::ArgMin | Op::ArgMax);
    if n == 0 && (spread || ordered || op == Op::Mean) {
        return Err(Error::Empty { op, ignored: false });
    }
    if spread && ddof >= n {
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
                assert_eq!(ending(&plan).is_ok(), op != Op::Stats, "{op} of {dtype}");
                assert_eq!(value_bytes(op, dtype).is_some(), op != Op::Stats);
            }
        }
    }
}
