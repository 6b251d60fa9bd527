//! [`BatchedLaunch`]: a launch of a kernel for many reductions, as a plain value.

use std::sync::Arc;

use warpfold_kernels::arguments::{
    ColumnArguments, FallbackColumnArguments, Moment, MomentArguments, SegmentArguments,
    StridedArguments, TREE_RUN, TREE_SHORT_ROW_BYTES, TreeArguments, TreeColumnArguments,
    TreeJoinArguments, TreeRowArguments, TreeSegmentArguments,
};

use crate::kernel::map::Spliced;
use crate::plan::{
    Batch, BatchedFold, BoundsKind, Columns, CudaBatchPlan, CudaWay, Fallback, LoopTable, Strided,
    TreeWalk, Trees, block_threads,
};
use crate::shape::Loop;
use crate::{Error, Op, Result};

/// A module of PTX.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Code {
    /// One that ships, without its target.
    Shipped(String),
    /// One with the code of a map in it.
    Spliced(Arc<Spliced>),
}

/// One launch: a one-dimensional grid, parameters of 64 bits each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchedLaunch {
    /// The module that holds the kernel.
    pub code: Code,
    /// The kernel's entry point.
    pub entry: String,
    /// Blocks.
    pub grid: u32,
    /// Threads of a block.
    pub block: u32,
    /// Bytes of dynamic shared memory of a block.
    pub shared_bytes: u32,
    /// The parameters, in order; pointers are addresses in the machine's memory.
    pub words: Vec<u64>,
}

impl BatchedLaunch {
    /// The key of its kernel among all others.
    pub fn name(&self) -> &str {
        match &self.code {
            Code::Shipped(_) => &self.entry,
            Code::Spliced(spliced) => &spliced.name,
        }
    }

    /// The PTX module that ships and holds it, of a map its template.
    ///
    /// # Errors
    /// [`Error::Device`] if a device of this compute capability (times ten) is older than every build.
    pub fn module(&self, compute: u32) -> Result<warpfold_kernels::Module> {
        let base = warpfold_kernels::catalog::BASE;
        let name = match &self.code {
            Code::Shipped(name) => name,
            Code::Spliced(_) => &self.entry,
        };
        let found = warpfold_kernels::find(&format!("{name}.sm{base}"));
        found.filter(|_| compute >= base).ok_or_else(|| Error::Device {
            requested: format!("the kernel {}", self.entry),
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
    pub(super) tables: u64,
    pub(super) faults: u64,
    pub(super) multiprocessors: u32,
    pub(super) ddof: u64,
}

/// Elements, segments, how these are known, and where the offsets are.
pub(super) type Cut = (u64, u64, BoundsKind, u64);

impl Launches<'_> {
    fn of(&self, module: String, suffix: &str, grid: u32, words: Vec<u64>) -> BatchedLaunch {
        let entry = format!("{module}{suffix}");
        let code = Code::Shipped(module);
        BatchedLaunch { code, entry, grid, block: self.plan.block, shared_bytes: 0, words }
    }

    /// The options of kernels beside sizes and addresses; those of variances take ddof there.
    fn options(&self) -> u64 {
        let ddof = if self.plan.fold.takes_ddof() { self.ddof << 32 } else { 0 };
        self.plan.options() | ddof
    }

    /// The address of a table, so many words behind the first one.
    fn table(&self, before: usize) -> u64 {
        self.tables + 8 * before as u64
    }

    /// Of segments.
    pub(super) fn segments(&self, cut: Cut) -> Vec<BatchedLaunch> {
        let Launches { plan, x, out, workspace, faults, .. } = *self;
        let (n, segments, offsets, bytes, length) = parameters(cut);
        let options = self.options();
        let arguments = SegmentArguments {
            x,
            n,
            offsets,
            bounds: bytes,
            length,
            segments,
            out,
            workspace,
            faults,
            options,
        };
        let fallback = match plan.fallback() {
            Fallback::No => Vec::new(),
            Fallback::Sums(module, block) => {
                vec![self.sums(module, block, "", arguments.words().into())]
            }
            Fallback::Blocks(_) if plan.fold == BatchedFold::Stats => {
                self.columns_of_stats(|one, module| one.blocks(module, Some(cut), None))
            }
            Fallback::Blocks(module) => {
                let staged = self.staged_trees(&module, cut);
                vec![staged.unwrap_or_else(|| self.blocks(module, Some(cut), None))]
            }
        };
        let fallback = fallback.into_iter().chain(self.joined_trees());
        if matches!(plan.way, CudaWay::Blocks | CudaWay::Trees(_)) {
            return fallback.collect();
        }
        let bounds = match plan.way {
            // Nothing is searched, so that the lanes go into the bounds' kind.
            CudaWay::Rows { lanes } => lanes,
            _ => bytes,
        };
        let words = SegmentArguments { bounds, ..arguments }.words().into();
        let launch = self.of(plan.entry(), plan.entry_suffix(), plan.grid, words);
        std::iter::once(launch).chain(fallback).collect()
    }

    /// Products of short rows and segments, which warps read by whole vectors: where elements are aligned to their size, as complex numbers
    /// that begin at an imaginary part are not.
    fn staged_trees(&self, module: &str, cut: Cut) -> Option<BatchedLaunch> {
        let Launches { plan, x, out, faults, .. } = *self;
        let size = plan.batch.dtype.size() as u64;
        let CudaWay::Trees(trees) = plan.way else { return None };
        if !x.is_multiple_of(size) {
            return None;
        }
        let (n, segments, offsets, bounds, length) = parameters(cut);
        let options = self.options();
        let (suffix, words): (_, Vec<u64>) = match trees.walk {
            TreeWalk::Parts | TreeWalk::Columns => return None,
            TreeWalk::Rows => {
                let is_short = length * size <= TREE_SHORT_ROW_BYTES;
                let suffix = if is_short { "_short_rows" } else { "_rows" };
                let arguments = TreeRowArguments { x, rows: segments, length, out, options };
                (suffix, arguments.words().into())
            }
            TreeWalk::Offsets => {
                let arguments = TreeSegmentArguments {
                    x,
                    n,
                    offsets,
                    bounds,
                    length,
                    segments,
                    out,
                    faults,
                    options,
                };
                ("_offsets", arguments.words().into())
            }
        };
        Some(self.of(module.to_owned(), suffix, plan.grid, words))
    }

    /// Of columns, whose inputs are `folded`.
    pub(super) fn columns(&self, columns: &Columns, folded: Loop) -> Vec<BatchedLaunch> {
        let Columns { width, rows, batches, row_pitch, batch_pitch, elements, runs, .. } = *columns;
        let Launches { plan, x, out, workspace, faults, .. } = *self;
        let options = self.options();
        let states = if columns.joins() { workspace } else { 0 };
        let arguments = ColumnArguments {
            x,
            width,
            rows,
            batches,
            row_pitch,
            batch_pitch,
            elements,
            runs,
            columns: columns.columns,
            states,
            out,
            faults,
            inputs: folded.length,
            options,
        };
        let words = arguments.words().into();
        let mut launches = vec![self.of(plan.entry(), columns.entry(), plan.grid, words)];
        let outputs = batches * columns.columns;
        if columns.joins() {
            let arguments = ColumnArguments { width: columns.states_of_run(), ..arguments };
            launches.push(self.join(outputs, columns.joined(), arguments));
        }
        launches.extend(match plan.fallback() {
            Fallback::No => Vec::new(),
            Fallback::Sums(module, block) => {
                let arguments = FallbackColumnArguments {
                    x,
                    rows: folded.length,
                    row_pitch: folded.stride,
                    batch_pitch,
                    columns: columns.columns,
                    outputs,
                    out,
                    faults,
                    options,
                };
                vec![self.sums(module, block, "_columns", arguments.words().into())]
            }
            Fallback::Blocks(_) if plan.fold == BatchedFold::Stats => {
                self.columns_of_stats(|one, module| one.by_loops(module))
            }
            Fallback::Blocks(module) => vec![self.by_loops(module)],
        });
        launches
    }

    /// Of any view, by loops.
    pub(super) fn strided(&self, strided: &Strided, inputs: u64) -> Vec<BatchedLaunch> {
        let Launches { plan, x, out, workspace, faults, .. } = *self;
        let Strided { lanes, runs, outputs } = *strided;
        let loops = plan.loops().expect("the strided way has loops");
        let states = if runs > 1 { workspace } else { 0 };
        let options = self.options();
        let from = x + loops.start.wrapping_mul(plan.batch.dtype.size() as u64);
        let arguments = StridedArguments {
            x: from,
            outputs,
            inputs,
            loops: self.table(0),
            kept: loops.kept,
            folded: loops.folded,
            first_output: loops.first_output,
            lanes,
            runs,
            states,
            out,
            faults,
            options,
        };
        let words = arguments.words().into();
        let mut launches = vec![self.of(plan.entry(), "_loops", plan.grid, words)];
        if runs > 1 {
            // The states look like one matrix.
            let matrix = ColumnArguments {
                x,
                width: outputs,
                rows: inputs,
                batches: 1,
                runs,
                columns: outputs,
                states,
                out,
                faults,
                inputs,
                options,
                ..ColumnArguments::default()
            };
            launches.push(self.join(outputs, runs, matrix));
        }
        if let Fallback::Blocks(module) = plan.fallback() {
            launches.push(self.by_loops(module));
        }
        launches
    }

    /// Every output by a block, or a few lanes, by loops.
    pub(super) fn by_blocks(&self) -> Vec<BatchedLaunch> {
        let first = match (self.plan.way, self.plan.fallback()) {
            (CudaWay::Trees(trees), _) if trees.walk == TreeWalk::Columns => {
                Some(self.tree_columns(trees))
            }
            (_, Fallback::Blocks(module)) => Some(self.by_loops(module)),
            _ => None,
        };
        first.into_iter().chain(self.joined_trees()).collect()
    }

    /// Products of columns of matrices, whose loops are no more than these.
    fn tree_columns(&self, trees: Trees) -> BatchedLaunch {
        let plan = self.plan;
        let LoopTable { words, start, .. } =
            plan.loops_of_blocks().expect("views that are not rows have loops");
        let (width, batches, batch_pitch, rows, row_pitch) = match words[..] {
            [width, _, _, rows, row_pitch] => (width, 1, 0, rows, row_pitch),
            [batches, batch_pitch, _, width, _, _, rows, row_pitch] => {
                (width, batches, batch_pitch, rows, row_pitch)
            }
            _ => unreachable!("columns have up to two loops of outputs and one of elements"),
        };
        let arguments = TreeColumnArguments {
            x: self.x.wrapping_add(start.wrapping_mul(plan.batch.dtype.size() as u64)),
            width,
            rows,
            batches,
            row_pitch,
            batch_pitch,
            out: self.out,
            options: self.options(),
            pieces: trees.pieces,
            span: trees.span,
            states: self.workspace,
        };
        let suffix = if rows <= TREE_RUN { "_short_columns" } else { "_columns" };
        self.of(plan.entry(), suffix, plan.grid, arguments.words().into())
    }

    /// The joins of the states of pieces of trees: a warp an output, or a group of its pieces, whose states another one joins.
    fn joined_trees(&self) -> Vec<BatchedLaunch> {
        let CudaWay::Trees(trees) = self.plan.way else { return Vec::new() };
        let outputs = self.plan.batch.outputs();
        let join = |states: u64, pieces: u64, group: u64, out: u64| {
            let options = self.options();
            let arguments = TreeJoinArguments { states, outputs, pieces, out, options, group };
            let warps = u64::from(self.plan.block) / 32;
            let grid = (outputs * pieces.div_ceil(group)).div_ceil(warps);
            let grid = grid.clamp(1, u64::from(self.multiprocessors) * 4) as u32;
            self.of(self.plan.entry(), "_join", grid, arguments.words().into())
        };
        let Trees { pieces, group, .. } = trees;
        let of_groups = self.workspace + outputs * pieces * Trees::node_bytes(&self.plan.batch);
        match (pieces, trees.groups()) {
            (0 | 1, _) => Vec::new(),
            (_, 1) => vec![join(self.workspace, pieces, pieces, self.out)],
            (_, groups) => vec![
                join(self.workspace, pieces, group, of_groups),
                join(of_groups, groups, groups, self.out),
            ],
        }
    }

    /// The join of so many states to each output: a thread an output where they are few or outputs many, else a block.
    fn join(&self, outputs: u64, joined: u64, arguments: ColumnArguments) -> BatchedLaunch {
        let block = u64::from(self.plan.block);
        let share = if outputs >= 64 * block || joined <= 16 { 1 } else { block };
        let grid = if share == 1 { outputs.div_ceil(block) } else { outputs };
        let grid = grid.clamp(1, u64::from(self.multiprocessors) * 8) as u32;
        let words = [&arguments.words()[..], &[share]].concat();
        self.of(self.plan.entry(), "_join", grid, words)
    }

    /// What an exact kernel missed is found by all multiprocessors; a few blocks each hide that they wait for memory.
    fn sums(&self, module: String, block: u32, suffix: &str, words: Vec<u64>) -> BatchedLaunch {
        let grid = self.multiprocessors.saturating_mul(2).min(self.plan.grid);
        BatchedLaunch { block, ..self.of(module, suffix, grid, words) }
    }

    /// Of each column of stats what was missed there, by the kernel of that reduction.
    fn columns_of_stats(
        &self,
        launch: impl Fn(&Launches<'_>, String) -> BatchedLaunch,
    ) -> Vec<BatchedLaunch> {
        let columns = self.plan.stats_columns().into_iter();
        let alone = columns.filter_map(|column| {
            let plan = self.plan.of_column(column.rounded()?);
            let Fallback::Blocks(module) = plan.fallback() else { return None };
            let one = Launches { plan: &plan, out: self.out + column.offset, ..*self };
            Some(launch(&one, module))
        });
        alone.collect()
    }

    fn by_loops(&self, module: String) -> BatchedLaunch {
        let loops = self.plan.loops_of_blocks().expect("views that are not rows have loops");
        self.blocks(module, None, Some(&loops))
    }

    /// Everything that is rounded once, of all outputs or of what was missed.
    fn blocks(&self, module: String, cut: Option<Cut>, loops: Option<&LoopTable>) -> BatchedLaunch {
        let Launches { plan, out, faults, ddof, .. } = *self;
        let Batch { op, dtype, .. } = &plan.batch;
        let size = dtype.size() as u64;
        let all = matches!(plan.way, CudaWay::Blocks | CudaWay::Trees(_));
        let trees = match plan.way {
            CudaWay::Trees(trees) => Some(trees),
            _ => None,
        };
        let (n, segments, offsets, bytes, length) = match cut {
            Some(cut) => parameters(cut),
            None => (0, plan.batch.outputs(), 0, 0, 0),
        };
        let (table, kept, folded, first_output, start) = match loops {
            Some(l) => {
                let before = plan.loops().map_or(0, |table| table.words.len());
                (self.table(before), l.kept, l.folded, l.first_output, l.start)
            }
            None => (0, 0, 0, 0, 0),
        };
        let inputs = if loops.is_some() { plan.batch.elements() / segments.max(1) } else { 0 };
        let moment = match op {
            Op::Sum => Moment::Sum,
            Op::L1 => Moment::L1,
            Op::Mean => Moment::Mean,
            Op::L2 => Moment::L2,
            Op::Var => Moment::Var,
            Op::Sumsq => Moment::Sumsq,
            _ => Moment::Std,
        };
        let x = self.x.wrapping_add(start.wrapping_mul(size));
        let options = self.options();
        let arguments = MomentArguments {
            x,
            n,
            offsets,
            bounds: bytes,
            length,
            segments,
            out,
            loops: table,
            faults,
            options,
            kept,
            folded,
            first_output,
            inputs,
            all: all.into(),
            moment: moment as u64,
            ddof,
            size,
        };
        let words = match trees {
            Some(trees) => {
                let Trees { lanes, pieces, span, .. } = trees;
                let MomentArguments { kept, folded, first_output, .. } = arguments;
                let of_trees = TreeArguments {
                    x,
                    n,
                    offsets,
                    bounds: bytes,
                    length,
                    segments,
                    out,
                    loops: table,
                    faults,
                    options,
                    kept,
                    folded,
                    first_output,
                    inputs,
                    lanes,
                    pieces,
                    span,
                    states: self.workspace,
                };
                of_trees.words().into()
            }
            None => arguments.words().into(),
        };
        let grid =
            if all { plan.grid } else { self.multiprocessors.saturating_mul(2).min(plan.grid) };
        let block = match all {
            true => plan.block,
            false => block_threads(*op, *dtype, grid.into(), self.multiprocessors),
        };
        BatchedLaunch { block, ..self.of(module, "", grid, words) }
    }
}

/// Elements, segments, the offsets' address, bytes of an offset, and the length of segments without offsets.
fn parameters((n, segments, bounds, offsets): Cut) -> (u64, u64, u64, u64, u64) {
    let (bytes, length) = match bounds {
        BoundsKind::Every(length) => (0, length),
        BoundsKind::Offsets32 => (4, 0),
        BoundsKind::Offsets64 => (8, 0),
    };
    (n, segments, offsets, bytes, length)
}
