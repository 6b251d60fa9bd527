//! [`OperatorLaunches`]: the launches of an operator over arrays, with the memory that they leave its state in.

use warpfold_engine::operator::{self as engine, State, TypedOperator};
use warpfold_exact::tree::{BLOCK, RUN};
use warpfold_expr::MOST_FIELDS;
use warpfold_kernels::arguments::{OperatorArguments, OperatorJoinArguments};
use warpfold_kernels::catalog::{MAP_INPUTS, OPERATOR_FOLD, OPERATOR_JOIN};

use super::module::{Module, check_device};
use super::splice::Input;
use super::{OperatorGrid, host};
use crate::kernel::array::AnyView;
use crate::kernel::batched::BatchedLaunch;
use crate::kernel::executor::{Executor, Memory, Ready};
use crate::kernel::map::shape::Reads;
use crate::{Result, Value};

/// Bytes of a state in memory.
pub(super) const STATE: usize = 8 * MOST_FIELDS;

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
        check_device(machine)?;
        let reads = read(operator, inputs, None);
        let module = Module::of(OPERATOR_FOLD, operator, &reads)?;
        let (inputs, launches) = (inputs.to_vec(), Vec::new());
        let mut made = OperatorLaunches { operator, inputs, launches, result: None, _states: None };
        if n == 0 {
            return Ok(made);
        }
        module.check(machine, operator, &made.inputs)?;
        let fields = operator.fields().count();
        let planned = || OperatorGrid::of(n, fields, machine.facts().multiprocessors);
        let grid = grid.map_or_else(|| Ok(planned()), OperatorGrid::checked)?;
        let result = machine.zeros(8 + STATE)?;
        let (faults, out) = (result.address(), result.address() + 8);
        let OperatorGrid { tile, span } = grid;
        let spans = n.div_ceil(BLOCK).div_ceil(u64::from(tile)).div_ceil(span);
        let mut states = out;
        if spans > 1 {
            let memory = machine.unwritten(spans as usize * STATE)?;
            states = memory.address();
            made._states = Some(memory);
        }
        let warps = module.threads() / 32;
        let Shared { field, room } = Shared::of(tile, span, operator);
        let mut words = addresses(&reads, &made.inputs);
        let arguments =
            OperatorArguments { n, tile: tile.into(), span, field, room, states, faults };
        words.extend(arguments.words());
        let blocks = spans.div_ceil(warps.into()) as u32;
        made.launches.push(module.launch(blocks, warps * room as u32, words));
        if spans > 1 {
            let join = Module::of(OPERATOR_JOIN, operator, &[])?;
            let arguments = OperatorJoinArguments { count: spans, states, out, faults };
            made.launches.push(join.launch(1, 0, arguments.words().into()));
        }
        made.result = Some(result);
        Ok(made)
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

/// Bytes of shared memory that a warp has for states.
pub(super) struct Shared {
    /// For a field: of the runs of a tile, whose blocks begin in banks of their own, and of tiles that wait for their right neighbours.
    pub(super) field: u64,
    /// For all fields.
    pub(super) room: u64,
}

impl Shared {
    /// For tiles of so many blocks, of which so many follow each other.
    pub(super) fn of(tile: u32, tiles: u64, operator: &TypedOperator) -> Self {
        let levels = u64::from(tiles.max(1).ilog2()) + 1;
        let field = 8 * (u64::from(tile) * (RUN + 1) + levels);
        Shared { field, room: field * operator.fields().count() as u64 }
    }
}

/// The inputs that an operator reads, and how: where there are rows of so many elements, all of them must begin at a vector to be read as such.
pub(super) fn read(
    operator: &TypedOperator,
    inputs: &[AnyView<'_>],
    row: Option<u64>,
) -> Vec<Input> {
    let input = |index: usize| {
        let view = inputs.get(index)?;
        let size = view.dtype.size();
        let is_aligned = view.address.is_multiple_of(16)
            && row.is_none_or(|row| (row * size as u64).is_multiple_of(16));
        let reads = if is_aligned { Reads::Vectors } else { Reads::Elements };
        Some(Input { index, reads, size })
    };
    operator.reads().into_iter().filter_map(input).collect()
}

/// The words of a launch that are the addresses of what an operator reads.
pub(super) fn addresses(reads: &[Input], inputs: &[AnyView<'_>]) -> Vec<u64> {
    let mut words: Vec<u64> = reads.iter().map(|read| inputs[read.index].address).collect();
    words.resize(MAP_INPUTS, 0);
    words
}
