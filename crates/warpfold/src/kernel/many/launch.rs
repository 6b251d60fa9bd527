//! [`ManyLaunch`]: a launch of a kernel for many reductions, as a plain value.

use crate::plan::{BoundsKind, Columns, CudaBatchPlan};
use crate::shape::Loop;
use crate::{Error, Result};

/// One launch: a one-dimensional grid, no dynamic shared memory, parameters of 64 bits each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManyLaunch {
    /// The module that holds the kernel, without its target.
    pub module: String,
    /// The kernel's entry point.
    pub entry: String,
    /// Blocks.
    pub grid: u32,
    /// Threads of a block.
    pub block: u32,
    /// The parameters, in order; pointers are addresses in the machine's memory.
    pub words: Vec<u64>,
}

impl ManyLaunch {
    /// The PTX module that holds it.
    ///
    /// # Errors
    /// [`Error::Device`] if a device of this compute capability (times ten) is older than every build.
    pub fn module(&self, compute: u32) -> Result<warpfold_kernels::Module> {
        let base = warpfold_kernels::catalog::BASE;
        let found = warpfold_kernels::find(&format!("{}.sm{base}", self.module));
        found.filter(|_| compute >= base).ok_or_else(|| Error::Device {
            asked: format!("the kernel {}", self.entry),
            obstacle: "no build of it runs on this device; compute capability 7.0 is the least"
                .into(),
            remedy: "run it on the CPU",
        })
    }
}

/// What the launches of a plan share.
pub(super) struct Launches<'a> {
    pub(super) plan: &'a CudaBatchPlan,
    pub(super) x: u64,
    pub(super) out: u64,
    pub(super) workspace: u64,
    pub(super) faults: u64,
}

impl Launches<'_> {
    fn of(&self, module: String, suffix: &str, grid: u32, words: Vec<u64>) -> ManyLaunch {
        let entry = format!("{module}{suffix}");
        ManyLaunch { module, entry, grid, block: self.plan.block, words }
    }

    /// Of segments: how many, how they are known, and where the offsets are.
    pub(super) fn segments(
        &self,
        n: u64,
        (segments, bounds, offsets): (u64, BoundsKind, u64),
        multiprocessors: u32,
    ) -> Vec<ManyLaunch> {
        let (bytes, length) = match bounds {
            BoundsKind::Every(length) => (0, length),
            BoundsKind::Offsets32 => (4, 0),
            BoundsKind::Offsets64 => (8, 0),
        };
        let Launches { plan, x, out, workspace, faults } = *self;
        let options = plan.options();
        let words = vec![x, n, offsets, bytes, length, segments, out, workspace, faults, options];
        let redo = self.redo(multiprocessors, "", || words.clone());
        let launch = self.of(plan.entry(), "", plan.grid, words);
        std::iter::once(launch).chain(redo).collect()
    }

    /// Of columns, whose inputs are `folded`.
    pub(super) fn columns(
        &self,
        columns: &Columns,
        folded: Loop,
        multiprocessors: u32,
    ) -> Vec<ManyLaunch> {
        let Columns { width, rows, batches, row_pitch, batch_pitch, elements, runs, .. } = *columns;
        let Launches { plan, x, out, workspace, faults } = *self;
        let options = plan.options();
        let states = if columns.joins() { workspace } else { 0 };
        let shape = [x, width, rows, batches, row_pitch, batch_pitch, elements, runs];
        let rest = [columns.columns, states, out, faults, folded.length, options];
        let words = [&shape[..], &rest[..]].concat();
        let suffix = if columns.vector > 1 { "_packs" } else { "_elements" };
        let mut launches = vec![self.of(plan.entry(), suffix, plan.grid, words.clone())];
        let outputs = batches * columns.columns;
        if columns.joins() {
            // A thread an output where they are many, else a block.
            let block = u64::from(plan.block);
            let share = if outputs >= 64 * block { 1 } else { block };
            let grid = if share == 1 { outputs.div_ceil(block) } else { outputs };
            let grid = grid.clamp(1, u64::from(multiprocessors) * 8) as u32;
            let words = [&words[..], &[share]].concat();
            launches.push(self.of(plan.entry(), "_join", grid, words));
        }
        let words = || {
            let shape = [x, folded.length, folded.stride, batch_pitch, columns.columns, outputs];
            [&shape[..], &[out, faults, options]].concat()
        };
        launches.extend(self.redo(multiprocessors, "_columns", words));
        launches
    }

    /// What an exact kernel missed is found by all multiprocessors; a few blocks each hide that they wait for memory.
    fn redo(
        &self,
        multiprocessors: u32,
        suffix: &str,
        words: impl FnOnce() -> Vec<u64>,
    ) -> Option<ManyLaunch> {
        let (module, block) = self.plan.redo()?;
        let grid = multiprocessors.saturating_mul(2).min(self.plan.grid);
        Some(ManyLaunch { block, ..self.of(module, suffix, grid, words()) })
    }
}
