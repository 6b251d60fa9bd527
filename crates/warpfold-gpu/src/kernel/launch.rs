//! [`Launch`]: one kernel launch as a plain value, which a driver or a simulator runs.

pub use warpfold_kernels::arguments::Arguments;

use super::finish::{self, Ending};
use super::record::{RECORD_WORDS, words_of};
use crate::partial::Finish;
use crate::plan::{CudaPlan, DeviceFold, MOST_BLOCKS_OF_EXACT, WORKSPACE_HEADER};
use crate::{DType, Error, Op, Result};

/// A kernel that ships.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// A fold of the catalogue.
    Fold(FoldKernel),
    /// The last step, for values that stay on the device.
    Finish,
}

impl Kernel {
    /// The name of its entry point.
    pub fn entry(&self) -> String {
        match self {
            Kernel::Fold(fold) => fold.entry(),
            Kernel::Finish => "finish".into(),
        }
    }

    /// The PTX module that holds it for a device of a compute capability (times ten).
    ///
    /// # Errors
    /// As [`FoldKernel::module`].
    pub fn module(&self, compute: u32) -> Result<warpfold_kernels::Module> {
        match self {
            Kernel::Fold(fold) => fold.module(compute),
            Kernel::Finish => {
                Ok(warpfold_kernels::find("finish.sm70").expect("the catalogue lists it"))
            }
        }
    }
}

/// A fold of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FoldKernel {
    /// The kind of fold.
    pub fold: DeviceFold,
    /// The element type.
    pub dtype: DType,
    /// Whether NaNs are skipped.
    pub skips_nan: bool,
}

impl FoldKernel {
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
    /// The launches that a plan stands for, one after another on one stream. Records lie one after another too; the last launch stamps.
    pub fn of(plan: &CudaPlan, arguments: Arguments) -> impl Iterator<Item = Self> {
        let plan = *plan;
        let CudaPlan { problem, grid, block, .. } = plan;
        let (skips_nan, last) = (plan.skips_nan(), plan.folds().count() - 1);
        let mut record = arguments.record;
        let folds = [Some(plan.fold), plan.then].into_iter().flatten();
        folds.enumerate().map(move |(k, fold)| {
            let done = if k == last { arguments.done } else { 0 };
            let options = arguments.options | u64::from(skips_nan);
            let is_tree = fold.is_tree(problem.dtype);
            let y = if is_tree { plan.first } else { arguments.y };
            let arguments = Arguments { y, record, done, options, ..arguments };
            if record != 0 && k < last {
                record += 8 * words_of(&plan, fold) as u64;
            }
            // Nor are those of plans from elsewhere other blocks than the tree's kernels take.
            let block = if is_tree { 1 << block.max(32).ilog2() } else { block };
            let kernel = Kernel::Fold(FoldKernel { fold, dtype: problem.dtype, skips_nan });
            // Plans from elsewhere may ask for more than these can count.
            let most = if fold.is_exact() { MOST_BLOCKS_OF_EXACT } else { u32::MAX };
            Launch { kernel, grid: grid.min(most), block, arguments }
        })
    }

    /// The launches that leave a plan's value on the device, at the address that the arguments name; the record goes where they say if
    /// it takes a last step.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for `stats`, and for types that no value is rounded to; [`Error::Empty`] and [`Error::TooFew`] where there is no value.
    pub fn leaving(
        plan: &CudaPlan,
        finish: Finish,
        arguments: Arguments,
    ) -> Result<impl Iterator<Item = Self>> {
        let ending = finish::ending(plan, finish.round_to)?;
        let ddof = finish.ddof;
        finish::check(plan, ddof)?;
        let folds = arguments;
        let (folds, last) = match ending {
            Ending::Fold => (Arguments { record: 0, ..folds }, None),
            Ending::Finish { options } => {
                let arguments = Arguments {
                    x: folds.record,
                    n: plan.problem.n,
                    value: folds.value,
                    stamp: ddof,
                    options,
                    ..Default::default()
                };
                let last = Launch { kernel: Kernel::Finish, grid: 1, block: 32, arguments };
                (Arguments { value: 0, options: TREE_ROOT, ..folds }, Some(last))
            }
        };
        Ok(Launch::of(plan, folds).chain(last))
    }
}

/// The option of products of floats: the last block of the tree (`tree_array.cuh`).
const TREE_ROOT: u64 = 2;

/// Bytes of the largest state that a block leaves.
const STATE_BYTES: u64 = 96;

/// Bytes of the spans of a tree that warps leave, up to 8192, and of what sets of them come to, of up to five words each (`tree_array.cuh`).
const TREE_BYTES: u64 = (8192 + 65) * 40;

/// Bytes of a workspace for grids of up to so many blocks.
pub const fn workspace_bytes(blocks: u32) -> u64 {
    record_offset(blocks) + 8 * RECORD_WORDS as u64
}

/// Where in a workspace for so many blocks the record lies of a reduction whose value stays on the device.
pub const fn record_offset(blocks: u32) -> u64 {
    let states = blocks as u64 * STATE_BYTES;
    WORKSPACE_HEADER + if states > TREE_BYTES { states } else { TREE_BYTES }
}

#[cfg(test)]
mod tests {
    use warpfold_kernels::catalog;

    use super::*;
    use crate::plan::{CudaFacts, Problem, choose_cuda};
    use crate::{Accuracy, Op, Policy};

    #[test]
    fn folds_and_element_types_are_those_of_the_catalogue() {
        let folds: Vec<_> = DeviceFold::ALL.iter().map(|fold| fold.name()).collect();
        let listed: Vec<_> = catalog::FOLDS.iter().map(|fold| fold.name).collect();
        assert_eq!(folds, listed);
        let types: Vec<_> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
        let listed: Vec<_> = catalog::ELEMENTS.iter().map(|element| element.name).collect();
        assert_eq!(types, listed);
    }

    /// No more blocks, which would wait for others to end, and of exact folds no fewer.
    #[test]
    fn large_arrays_take_as_many_blocks_as_registers_allow() {
        let gpu = CudaFacts { compute: 90, multiprocessors: 132 };
        let accuracies = [Accuracy::Exact, Accuracy::Fast];
        let cases = Op::ALL.iter().flat_map(|&op| accuracies.map(|accuracy| (op, accuracy)));
        let typed = cases.flat_map(|case| DType::ALL.iter().map(move |&dtype| (case, dtype)));
        for ((op, accuracy), dtype) in typed {
            let policy = Policy { accuracy, ..Policy::default() };
            let problem = Problem { op, dtype, n: 1 << 34, policy };
            let Ok(plan) = choose_cuda(problem, gpu) else { continue };
            let kernel = FoldKernel { fold: plan.fold, dtype, skips_nan: false };
            let ptx = kernel.module(gpu.compute).unwrap().ptx();
            let text = ptx.split_once(&format!(".visible .entry {}(", kernel.entry())).unwrap();
            let bounds = text.1.split_once(".minnctapersm ").expect("launch bounds").1;
            let resident: u32 = bounds.lines().next().unwrap().trim().parse().unwrap();
            let blocks = plan.grid / gpu.multiprocessors;
            assert!(blocks <= resident, "{plan}: {resident} fit a multiprocessor");
            assert!(blocks == resident || !plan.fold.is_exact(), "{plan}: {resident} fit");
        }
    }

    #[test]
    fn every_kernel_has_its_entry_in_its_module() {
        for build in catalog::builds() {
            let fold =
                DeviceFold::ALL.iter().copied().find(|f| f.name() == build.fold.name).unwrap();
            let dtype: DType = build.element.name.parse().unwrap();
            for skips_nan in [false, true] {
                if skips_nan && !dtype.is_float() {
                    continue;
                }
                let kernel = FoldKernel { fold, dtype, skips_nan };
                let ptx = kernel.module(90).unwrap();
                assert!(ptx.ptx().contains(&format!(".visible .entry {}(", kernel.entry())));
            }
        }
    }

    #[test]
    fn blocks_are_as_large_as_the_kernels_take() {
        for build in catalog::builds() {
            let fold =
                DeviceFold::ALL.iter().copied().find(|f| f.name() == build.fold.name).unwrap();
            let dtype: DType = build.element.name.parse().unwrap();
            let module = FoldKernel { fold, dtype, skips_nan: false }.module(90).unwrap();
            let most = format!(".maxntid {}, 1, 1", fold.most_threads(dtype));
            assert!(module.ptx().contains(&most), "{}: {most}", build.module());
        }
    }

    #[test]
    fn a_device_too_old_is_told_what_it_lacks() {
        let kernel = FoldKernel { fold: DeviceFold::Sum, dtype: DType::F32, skips_nan: false };
        assert!(kernel.module(61).unwrap_err().to_string().contains("7.0"));
    }
}
