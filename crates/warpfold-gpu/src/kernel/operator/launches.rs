//! [`OperatorLaunches`]: the launches of an operator over arrays, with the memory that they leave its state in.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use warpfold_engine::operator::{self as engine, State, TypedOperator};
use warpfold_exact::tree::{BLOCK, RUN};
use warpfold_expr::MOST_FIELDS;
use warpfold_kernels::arguments::{OperatorArguments, OperatorJoinArguments};
use warpfold_kernels::catalog::MAP_INPUTS;
use warpfold_kernels::entry;

use super::module::Modules;
use super::splice::Input;
use super::{OperatorGrid, host};
use crate::kernel::array::AnyView;
use crate::kernel::batched::{BatchedLaunch, Code};
use crate::kernel::executor::{Executor, Memory, Ready};
use crate::kernel::map::Spliced;
use crate::kernel::map::shape::Reads;
use crate::{Error, Result, Value};

/// Bytes of a state in memory.
const STATE: usize = 8 * MOST_FIELDS;
/// Threads of the block that joins spans.
const JOINING: u32 = 256;

/// The launches of an operator over arrays, not run yet; what they work in is freed with them.
pub struct OperatorLaunches<'a> {
    operator: &'a TypedOperator,
    inputs: Vec<AnyView<'a>>,
    launches: Vec<BatchedLaunch>,
    /// The word for faults, then the state of all elements; none of no elements.
    result: Option<Memory>,
    /// States of spans.
    _states: Option<Memory>,
}

impl<'a> OperatorLaunches<'a> {
    /// The launches over arrays in a machine's memory, in another shape than the planner's if one is given. The operator's laws are tried on the first elements
    /// where it is new to the process.
    ///
    /// # Errors
    /// As those of [`fold`](super::fold) that come before anything runs.
    pub fn new(
        machine: &dyn Executor,
        operator: &'a TypedOperator,
        inputs: &[AnyView<'a>],
        grid: Option<OperatorGrid>,
    ) -> Result<Self> {
        inputs.iter().try_for_each(|view| view.check(machine))?;
        let lengths: Vec<_> = inputs.iter().map(|view| (view.dtype, view.len)).collect();
        let n = engine::length_of(operator, &lengths)? as u64;
        let facts = machine.facts();
        if facts.compute < Modules::COMPUTE {
            return Err(Error::Device {
                requested: "an operator of one's own".into(),
                obstacle: "no kernel is built for this device; compute capability 7.0 is the least"
                    .into(),
                remedy: "run it on the CPU",
            });
        }
        let reads: Vec<Input> = read(operator, inputs);
        let modules = Modules::of(operator, &reads)?;
        let (inputs, launches) = (inputs.to_vec(), Vec::new());
        let mut made = OperatorLaunches { operator, inputs, launches, result: None, _states: None };
        if n == 0 {
            return Ok(made);
        }
        if !modules.is_checked.load(Ordering::Relaxed) {
            host::check(machine, operator, &made.inputs)?;
            modules.is_checked.store(true, Ordering::Relaxed);
        }
        let grid = grid.unwrap_or_else(|| {
            OperatorGrid::of(n, operator.fields().count(), facts.multiprocessors)
        });
        let result = machine.zeros(8 + STATE)?;
        let (faults, root) = (result.address(), result.address() + 8);
        let spans = n.div_ceil(BLOCK).div_ceil(u64::from(grid.tile)).div_ceil(grid.span);
        if spans > 1 {
            let states = machine.unwritten(spans as usize * STATE)?;
            let address = states.address();
            made.fold(&modules.fold, &reads, n, grid, [address, faults]);
            let arguments =
                OperatorJoinArguments { count: spans, states: address, out: root, faults };
            made.launch(&modules.join, 1, JOINING, 0, arguments.words().into());
            made._states = Some(states);
        } else {
            made.fold(&modules.fold, &reads, n, grid, [root, faults]);
        }
        made.result = Some(result);
        Ok(made)
    }

    fn fold(
        &mut self,
        module: &Arc<Spliced>,
        reads: &[Input],
        n: u64,
        grid: OperatorGrid,
        [states, faults]: [u64; 2],
    ) {
        let OperatorGrid { tile, span } = grid;
        let block = entry(module.entry()).and_then(|entry| entry.max_threads).unwrap_or(64);
        let warps = block / 32;
        let blocks = n.div_ceil(BLOCK * u64::from(tile) * span).div_ceil(warps.into());
        // Of each field the runs of a tile, whose blocks begin in banks of their own, and tiles that wait for their neighbours.
        let field = 8 * (u64::from(tile) * (RUN + 1) + u64::from(span.ilog2()) + 1);
        let room = field * self.operator.fields().count() as u64;
        let address = |input: &Input| self.inputs[input.index].address;
        let mut words: Vec<u64> = reads.iter().map(address).collect();
        words.resize(MAP_INPUTS, 0);
        let tile = u64::from(tile);
        words.extend(OperatorArguments { n, tile, span, field, room, states, faults }.words());
        self.launch(module, blocks as u32, block, warps * room as u32, words);
    }

    fn launch(
        &mut self,
        module: &Arc<Spliced>,
        grid: u32,
        block: u32,
        shared_bytes: u32,
        words: Vec<u64>,
    ) {
        let (code, entry) = (Code::Spliced(module.clone()), module.entry().into());
        self.launches.push(BatchedLaunch { code, entry, grid, block, shared_bytes, words });
    }

    /// The launches, one after another: to time them.
    pub fn launches(&self) -> &[BatchedLaunch] {
        &self.launches
    }

    /// Runs them, and reads the results.
    ///
    /// # Errors
    /// As [`fold`](super::fold).
    pub fn run(self, machine: &dyn Executor) -> Result<Vec<Value>> {
        let Some(result) = &self.result else { return engine::read(self.operator, None) };
        let ready: Vec<Ready<'_>> = self.inputs.iter().map(|view| view.ready).collect();
        machine.run_batched(&self.launches, &ready)?;
        let mut words = [0u64; 1 + MOST_FIELDS];
        result.read(bytemuck::cast_slice_mut(&mut words))?;
        let [faults, state @ ..] = words;
        let state: State = state;
        match faults {
            0 => engine::read(self.operator, Some(state)),
            _ => host::fold(machine, self.operator, &self.inputs),
        }
    }
}

/// The inputs that an operator reads, and how.
fn read(operator: &TypedOperator, inputs: &[AnyView<'_>]) -> Vec<Input> {
    let input = |index: usize| {
        let view = inputs.get(index)?;
        let reads = if view.address.is_multiple_of(16) { Reads::Vectors } else { Reads::Elements };
        Some(Input { index, reads, size: view.dtype.size() })
    };
    operator.reads().into_iter().filter_map(input).collect()
}
