//! Plans for NVIDIA GPUs: which kernel, how many blocks. Pure; knows no GPU library.

use std::fmt;

use super::{Problem, tuning};
use crate::{Accuracy, DType, Error, Nan, Op, PartialKind, Result};

/// What the planner must know of a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CudaFacts {
    /// Compute capability times ten: 90 on Hopper.
    pub compute: u32,
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
}

impl CudaFacts {
    /// Bytes of shared memory that a block may have (CUDA C++ Programming Guide, compute capabilities): what every GPU has where nothing is known.
    pub const fn shared_bytes(self) -> u64 {
        let kib = match self.compute {
            70 | 72 => 96,
            75 => 64,
            80 | 87 => 163,
            86 | 89 | 120.. => 99,
            90..=110 => 227,
            _ => 48,
        };
        kib << 10
    }
}

/// The kinds of fold that kernels exist for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[allow(missing_docs, reason = "the variants are the kernels' own names")]
pub enum DeviceFold {
    Sum,
    Min,
    Max,
    MinMax,
    ArgMin,
    ArgMax,
    Linf,
    Count,
    L1,
    Squares,
    Moments,
    Stats,
    Dot,
    Prod,
    ExactSum,
    ExactL1,
    ExactDot,
    ExactMoments,
    ExactStats,
}

impl DeviceFold {
    /// Every fold.
    pub const ALL: &[DeviceFold] = &[
        DeviceFold::Sum,
        DeviceFold::Min,
        DeviceFold::Max,
        DeviceFold::MinMax,
        DeviceFold::ArgMin,
        DeviceFold::ArgMax,
        DeviceFold::Linf,
        DeviceFold::Count,
        DeviceFold::L1,
        DeviceFold::Squares,
        DeviceFold::Moments,
        DeviceFold::Stats,
        DeviceFold::Dot,
        DeviceFold::Prod,
        DeviceFold::ExactSum,
        DeviceFold::ExactL1,
        DeviceFold::ExactDot,
        DeviceFold::ExactMoments,
        DeviceFold::ExactStats,
    ];

    /// The first part of its kernels' names.
    pub const fn name(self) -> &'static str {
        match self {
            DeviceFold::Sum => "sum",
            DeviceFold::Min => "min",
            DeviceFold::Max => "max",
            DeviceFold::MinMax => "minmax",
            DeviceFold::ArgMin => "argmin",
            DeviceFold::ArgMax => "argmax",
            DeviceFold::Linf => "linf",
            DeviceFold::Count => "count",
            DeviceFold::L1 => "l1",
            DeviceFold::Squares => "squares",
            DeviceFold::Moments => "moments",
            DeviceFold::Stats => "stats",
            DeviceFold::Dot => "dot",
            DeviceFold::Prod => "prod",
            DeviceFold::ExactSum => "exact_sum",
            DeviceFold::ExactL1 => "exact_l1",
            DeviceFold::ExactDot => "exact_dot",
            DeviceFold::ExactMoments => "exact_moments",
            DeviceFold::ExactStats => "exact_stats",
        }
    }

    /// Whether it is an exact fold of floats.
    pub const fn is_exact(self) -> bool {
        matches!(
            self,
            DeviceFold::ExactSum
                | DeviceFold::ExactL1
                | DeviceFold::ExactDot
                | DeviceFold::ExactMoments
                | DeviceFold::ExactStats
        )
    }

    /// Whether it goes along the canonical tree, so that its blocks are of a power of two of threads.
    pub const fn is_tree(self, dtype: DType) -> bool {
        matches!(self, DeviceFold::Prod) && dtype.is_float()
    }

    /// Threads of the largest block that its kernel for an element type runs in. Those of exact folds may have limbs of their own in shared memory
    /// (`private_limbs.cuh`), which then fit fewer; so do runs of the canonical tree (`tree_array.cuh`).
    pub const fn most_threads(self, dtype: DType) -> u32 {
        if self.is_tree(dtype) {
            return 128;
        }
        if !self.is_exact() {
            return 512;
        }
        let limbs = self.limbs(dtype);
        if limbs == 0 {
            // One block shares them, with all threads of a multiprocessor.
            return tuning::exact_threads(self, dtype);
        }
        let mut threads = 256;
        while threads > 32 && limbs * 8 * threads > 45 << 10 {
            threads /= 2;
        }
        threads
    }

    /// Blocks of the largest size that a multiprocessor has registers for, at any element type: the kernels' launch bounds.
    pub const fn most_blocks(self, dtype: DType) -> u32 {
        match self {
            DeviceFold::Prod if dtype.is_float() => 4,
            DeviceFold::Linf if dtype.is_complex() => 2,
            DeviceFold::Stats => 2,
            _ => 3,
        }
    }

    /// The 64-bit limbs of a thread; none of folds that are not exact, or whose blocks share them (`shared_limbs.cuh`, `binned_limbs.cuh`).
    pub(super) const fn limbs(self, dtype: DType) -> u32 {
        let (sum, product) = match dtype {
            DType::F32 if !matches!(self, DeviceFold::ExactSum | DeviceFold::ExactL1) => (0, 0),
            DType::F16 => (3, 4),
            DType::BF16 | DType::F32 | DType::Complex64 => (17, 13),
            DType::F64 if matches!(self, DeviceFold::ExactSum | DeviceFold::ExactL1) => (41, 0),
            _ => (0, 0),
        };
        let parts = if dtype.is_complex() { 2 } else { 1 };
        match self {
            // Roots of complex numbers go where products go.
            DeviceFold::ExactL1 if dtype.is_complex() => product,
            DeviceFold::ExactSum | DeviceFold::ExactL1 => parts * sum,
            DeviceFold::ExactDot => parts * product,
            DeviceFold::ExactMoments => parts * sum + product,
            // Sums of either sign have limbs of their own.
            DeviceFold::ExactStats => 2 * sum + product,
            _ => 0,
        }
    }
}

/// How a GPU will fold an array: one launch, but for `stats` of complex numbers, which takes two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CudaPlan {
    /// What was asked.
    pub problem: Problem,
    /// The kernel.
    pub fold: DeviceFold,
    /// The kernel launched after it in the same shape, where no single one folds the problem.
    pub then: Option<DeviceFold>,
    /// Threads of a block.
    pub block: u32,
    /// Blocks of the grid.
    pub grid: u32,
    /// The index of the array's first element in the whole that it is a piece of.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_nought"))]
    pub first: u64,
}

#[cfg(feature = "serde")]
fn is_nought(first: &u64) -> bool {
    *first == 0
}

/// The threads of a launch, to be chosen by measuring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Shape {
    /// Threads of a block: whole warps, at most 512.
    pub block: u32,
    /// Blocks that a multiprocessor holds at once in a full grid.
    pub per_multiprocessor: u32,
    /// 16-byte vectors that a thread should have before another block starts, while the grid is not full.
    #[cfg_attr(feature = "serde", serde(alias = "packs"))]
    pub vectors: u32,
    /// 16-byte vectors up to which one block does all, and no block has to wait for another's state.
    pub alone: u32,
}

/// Blocks that exact folds of few numbers can count (`small_array.cuh`).
pub const MOST_BLOCKS_OF_EXACT: u32 = 4095;

/// Chooses how to run a problem on a GPU.
///
/// # Errors
/// [`Error::Undefined`] where the contract knows no such reduction for the type; [`Error::Unsupported`] where no kernel
/// folds it as asked.
pub fn choose_cuda(problem: Problem, gpu: CudaFacts) -> Result<CudaPlan> {
    let fold = fold_of(problem)?;
    Ok(shaped(problem, fold, gpu, tuning::cuda_shape(fold, problem.dtype, problem.bytes())))
}

/// The plan of a given shape.
pub fn shaped(problem: Problem, fold: DeviceFold, gpu: CudaFacts, shape: Shape) -> CudaPlan {
    let then =
        (problem.op == Op::Stats && problem.dtype.is_complex()).then_some(DeviceFold::ExactL1);
    let most = |fold: DeviceFold| fold.most_threads(problem.dtype);
    let block = shape.block.min(most(fold)).min(then.map_or(u32::MAX, most));
    let block = if fold.is_tree(problem.dtype) { 1 << block.ilog2() } else { block };
    let vectors = problem.n.saturating_mul(problem.dtype.size() as u64).div_ceil(16);
    let useful = vectors.div_ceil(u64::from(block) * u64::from(shape.vectors)).max(1);
    let full = u64::from(gpu.multiprocessors * shape.per_multiprocessor);
    let full = if fold.is_exact() { full.min(MOST_BLOCKS_OF_EXACT.into()) } else { full };
    let useful = if vectors <= u64::from(shape.alone) { 1 } else { useful.min(full) };
    CudaPlan { problem, fold, then, block, grid: useful as u32, first: 0 }
}

/// The kernel that folds a problem.
pub(super) fn fold_of(problem: Problem) -> Result<DeviceFold> {
    let Problem { op, dtype, policy, .. } = problem;
    if op.is_ordered() && dtype.is_complex() {
        let why = "complex numbers have no order; take linf for the largest magnitude";
        return Err(Error::Undefined { op, dtype, why });
    }
    let is_float = dtype.is_float();
    let is_exact = is_float && policy.accuracy == Accuracy::Exact;
    Ok(match op.partial() {
        PartialKind::Sum if is_exact => DeviceFold::ExactSum,
        PartialKind::Sum => DeviceFold::Sum,
        PartialKind::Norm1 if is_exact => DeviceFold::ExactL1,
        PartialKind::Norm1 => DeviceFold::L1,
        PartialKind::Dot if is_exact => DeviceFold::ExactDot,
        PartialKind::Dot => DeviceFold::Dot,
        PartialKind::Moments if is_exact => DeviceFold::ExactMoments,
        PartialKind::Moments if is_float && !op.is_spread() => DeviceFold::Squares,
        PartialKind::Moments => DeviceFold::Moments,
        // As on the CPU, exact at any accuracy.
        PartialKind::Stats if dtype.is_complex() => DeviceFold::ExactMoments,
        PartialKind::Stats if is_float => DeviceFold::ExactStats,
        PartialKind::Stats => DeviceFold::Stats,
        PartialKind::Extremes => match op {
            Op::Min => DeviceFold::Min,
            Op::Max => DeviceFold::Max,
            Op::ArgMin => DeviceFold::ArgMin,
            Op::ArgMax => DeviceFold::ArgMax,
            _ => DeviceFold::MinMax,
        },
        PartialKind::Count => DeviceFold::Count,
        PartialKind::Magnitude => DeviceFold::Linf,
        PartialKind::Product => DeviceFold::Prod,
    })
}

impl CudaPlan {
    /// The kernels, in the order they are launched.
    pub fn folds(&self) -> impl Iterator<Item = DeviceFold> {
        [Some(self.fold), self.then].into_iter().flatten()
    }

    /// The same of a piece whose first element has this index in the whole. Only products of floats look at it.
    #[must_use]
    pub fn starting_at(self, first: u64) -> Self {
        CudaPlan { first, ..self }
    }

    /// Whether the kernel skips NaNs.
    pub fn skips_nan(&self) -> bool {
        self.problem.policy.nan == Nan::Ignore && self.problem.dtype.is_float()
    }
}

impl fmt::Display for CudaPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem { op, dtype, n, .. } = self.problem;
        let nan = if self.skips_nan() { ", NaN ignored" } else { "" };
        let blocks = if self.grid == 1 { "block" } else { "blocks" };
        let then =
            self.then.map_or(String::new(), |fold| format!(", then {}_{dtype}", fold.name()));
        write!(
            f,
            "{op} of {n} {dtype} ({} bytes){nan}: kernel {}_{dtype}{then}, {} {blocks} of {} threads",
            self.problem.bytes(),
            self.fold.name(),
            self.grid,
            self.block
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Policy;

    const H200: CudaFacts = CudaFacts { compute: 90, multiprocessors: 132 };
    fn problem(op: Op, dtype: DType, n: u64) -> Problem {
        let policy = Policy { accuracy: Accuracy::Fast, ..Policy::default() };
        Problem { op, dtype, n, policy }
    }

    #[test]
    fn an_h200_plan_prints_itself_anywhere() {
        let plan = choose_cuda(problem(Op::Sum, DType::F32, 1 << 29), H200).unwrap();
        let text = plan.to_string();
        assert!(
            text.starts_with("sum of 536870912 f32 (2147483648 bytes): kernel sum_f32, "),
            "{text}"
        );
    }

    #[test]
    fn small_arrays_take_few_blocks_and_none_takes_one() {
        for n in [0, 1, 100, 2000] {
            assert_eq!(choose_cuda(problem(Op::Max, DType::I8, n), H200).unwrap().grid, 1);
        }
    }

    #[test]
    fn nothing_is_refused_but_what_the_contract_leaves_undefined() {
        for &dtype in DType::ALL {
            for &op in Op::ALL {
                for accuracy in [Accuracy::Exact, Accuracy::Fast] {
                    let policy = Policy { accuracy, ..Policy::default() };
                    let plan = choose_cuda(Problem { op, dtype, n: 10, policy }, H200);
                    let ordered = op.is_ordered();
                    match plan {
                        Ok(plan) => assert!(!plan.fold.is_exact() || dtype.is_float(), "{plan}"),
                        Err(Error::Undefined { .. }) => assert!(ordered && dtype.is_complex()),
                        Err(error) => panic!("{op} of {dtype}: {error}"),
                    }
                }
            }
        }
    }

    #[test]
    fn stats_of_complex_numbers_take_two_kernels_of_one_shape() {
        let plan = choose_cuda(problem(Op::Stats, DType::Complex128, 1 << 20), H200).unwrap();
        let text = plan.to_string();
        assert!(
            text.contains("kernel exact_moments_complex128, then exact_l1_complex128, "),
            "{text}"
        );
        let most = plan.folds().map(|fold| fold.most_threads(DType::Complex128)).min();
        assert_eq!(Some(plan.block), most);
    }

    #[test]
    fn exact_is_the_default() {
        for op in [Op::Sum, Op::Mean, Op::Var, Op::Std, Op::L1, Op::L2, Op::Dot] {
            let requested = Problem { op, dtype: DType::F64, n: 10, policy: Policy::default() };
            assert!(choose_cuda(requested, H200).unwrap().fold.name().starts_with("exact_"));
        }
    }

    #[test]
    fn complex_numbers_have_no_order() {
        let error = choose_cuda(problem(Op::Max, DType::Complex64, 10), H200).unwrap_err();
        assert!(matches!(error, Error::Undefined { .. }));
    }

    #[test]
    fn sizes_beyond_32_bits_stay_whole() {
        let plan = choose_cuda(problem(Op::Sum, DType::I8, 1 << 36), H200).unwrap();
        assert_eq!(plan.problem.bytes(), 1 << 36);
        assert!(plan.grid >= 132);
    }
}
