//! [`Launch`]: one kernel launch as a plain value, which a driver or a simulator runs.

use crate::plan::{CudaPlan, Fold};
use crate::{DType, Error, Op, Result};

/// A kernel of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Kernel {
    /// The kind of fold.
    pub fold: Fold,
    /// The element type.
    pub dtype: DType,
    /// Whether NaNs are skipped.
    pub skips_nan: bool,
}

impl Kernel {
    /// The name of its entry point.
    pub fn entry(&self) -> String {
        let skip = if self.skips_nan && !self.fold.is_exact() { "_skip_nan" } else { "" };
        format!("{}_{}{skip}", self.fold.name(), self.dtype)
    }

    /// The PTX module that holds it for a device of a compute capability (times ten).
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the device is older than every build, or no build takes the element type.
    pub fn module(&self, compute: u32) -> Result<warpfold_kernels::Module> {
        warpfold_kernels::of_catalog(self.fold.name(), self.dtype.name(), compute).ok_or(
            Error::Unsupported {
                option: "CUDA",
                op: Op::ALL
                    .iter()
                    .copied()
                    .find(|op| op.name() == self.fold.name())
                    .unwrap_or(Op::Sum),
                dtype: self.dtype,
                why: "no kernel is built for this device; compute capability 7.0 is the least",
            },
        )
    }
}

/// The parameters of every production kernel, in their order; pointers are addresses in the machine's memory.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Arguments {
    /// The array, aligned to its elements.
    pub x: u64,
    /// The second array of dot, else 0.
    pub y: u64,
    /// Elements of each array.
    pub n: u64,
    /// [`workspace_bytes`] that belong to one stream and were zero before its first launch.
    pub workspace: u64,
    /// Where [`RECORD_WORDS`](super::RECORD_WORDS) words go for [`read`](super::read), or 0.
    pub record: u64,
    /// Where the finished value goes in the result's type, or 0.
    pub value: u64,
    /// Where the stamp goes once record and value are visible to the host, or 0.
    pub done: u64,
    /// The stamp.
    pub stamp: u64,
    /// Bit 0: exact folds skip NaN.
    pub options: u64,
}

impl Arguments {
    /// The parameters one by one, 64 bits each.
    pub const fn words(&self) -> [u64; 9] {
        let Arguments { x, y, n, workspace, record, value, done, stamp, options } = *self;
        [x, y, n, workspace, record, value, done, stamp, options]
    }
}

/// One launch: a one-dimensional grid, no dynamic shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launch {
    /// What runs.
    pub kernel: Kernel,
    /// Blocks.
    pub grid: u32,
    /// Threads of a block.
    pub block: u32,
    /// Its parameters.
    pub arguments: Arguments,
}

impl Launch {
    /// The launch that a plan stands for.
    pub fn new(plan: &CudaPlan, arguments: Arguments) -> Self {
        let (fold, dtype) = (plan.fold, plan.problem.dtype);
        let kernel = Kernel { fold, dtype, skips_nan: plan.skips_nan() };
        let arguments = Arguments { options: plan.skips_nan().into(), ..arguments };
        Launch { kernel, grid: plan.grid, block: plan.block, arguments }
    }
}

/// Bytes before the first block's state in a workspace: the ticket, alone in its sector, and what exact folds add up.
pub const WORKSPACE_HEADER: u64 = 128 + 8 * 288;

/// Bytes of the largest state that a block leaves.
const STATE_BYTES: u64 = 64;

/// Bytes of a workspace for grids of up to so many blocks.
pub const fn workspace_bytes(blocks: u32) -> u64 {
    WORKSPACE_HEADER + blocks as u64 * STATE_BYTES
}

#[cfg(test)]
mod tests {
    use warpfold_kernels::catalog;

    use super::*;
    use crate::Policy;
    use crate::plan::Problem;

    #[test]
    fn folds_and_element_types_are_those_of_the_catalogue() {
        let folds: Vec<_> = Fold::ALL.iter().map(|fold| fold.name()).collect();
        let listed: Vec<_> = catalog::FOLDS.iter().map(|fold| fold.name).collect();
        assert_eq!(folds, listed);
        let types: Vec<_> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
        let listed: Vec<_> = catalog::ELEMENTS.iter().map(|element| element.name).collect();
        assert_eq!(types, listed);
    }

    #[test]
    fn every_kernel_has_its_entry_in_its_module() {
        for build in catalog::builds() {
            let fold = Fold::ALL.iter().copied().find(|f| f.name() == build.fold.name).unwrap();
            let dtype: DType = build.element.name.parse().unwrap();
            for skips_nan in [false, true] {
                if skips_nan && !dtype.is_float() {
                    continue;
                }
                let kernel = Kernel { fold, dtype, skips_nan };
                let ptx = kernel.module(90).unwrap();
                assert!(ptx.ptx().contains(&format!(".visible .entry {}(", kernel.entry())));
            }
        }
    }

    #[test]
    fn blocks_are_as_large_as_the_kernels_take() {
        for build in catalog::builds() {
            let fold = Fold::ALL.iter().copied().find(|f| f.name() == build.fold.name).unwrap();
            let dtype: DType = build.element.name.parse().unwrap();
            let module = Kernel { fold, dtype, skips_nan: false }.module(90).unwrap();
            let most = format!(".maxntid {}, 1, 1", fold.most_threads(dtype));
            assert!(module.ptx().contains(&most), "{}: {most}", build.module());
        }
    }

    /// No more blocks, which would wait for others to end, and no fewer.
    #[test]
    fn exact_folds_of_large_arrays_fill_a_device_as_their_registers_allow() {
        let facts = crate::plan::CudaFacts { compute: 90, multiprocessors: 132 };
        for op in [Op::Sum, Op::L1, Op::Dot, Op::Var] {
            for &dtype in DType::ALL.iter().filter(|dtype| dtype.is_float()) {
                let problem = Problem { op, dtype, n: 1 << 34, policy: Policy::default() };
                let plan = crate::plan::choose_cuda(problem, facts).unwrap();
                let module =
                    Kernel { fold: plan.fold, dtype, skips_nan: false }.module(90).unwrap();
                let blocks = format!(".minnctapersm {}\n", plan.grid / 132);
                assert!(module.ptx().contains(&blocks), "{}: {blocks}", module.name);
            }
        }
    }

    #[test]
    fn a_device_too_old_is_told_what_it_lacks() {
        let kernel = Kernel { fold: Fold::Sum, dtype: DType::F32, skips_nan: false };
        assert!(kernel.module(61).unwrap_err().to_string().contains("7.0"));
    }
}
