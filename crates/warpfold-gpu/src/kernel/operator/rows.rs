//! Rows of arrays, each folded by an operator as an array of its own.

use warpfold_engine::Parts;
use warpfold_engine::operator::{self as engine, State, TypedOperator};
use warpfold_exact::tree::BLOCK;
use warpfold_expr::MOST_FIELDS;
use warpfold_kernels::arguments::{OperatorRowArguments, OperatorShortRowArguments};
use warpfold_kernels::catalog::{OPERATOR_ROWS, OPERATOR_SHORT_ROWS};
use warpfold_plan::segment::Bounds;

use super::host;
use super::launches::{STATE, Shared, addresses, read};
use super::module::{Module, check_device};
use crate::kernel::array::AnyView;
use crate::kernel::executor::{Executor, Ready};

use crate::shape::Loop;
use crate::{Column, Error, Result};

/// The results of rows of arrays in a machine's memory, a column for each that the operator has, with the bits of [`warpfold_engine::operator::columns`].
///
/// ```
/// use warpfold::kernel::operator;
/// use warpfold::shape::{Folding, Layout};
/// use warpfold::simt::Device;
/// use warpfold_engine::Parts;
/// use warpfold_engine::operator::{Operator, Written};
/// use warpfold_num::{Column, DType};
///
/// let last = Operator::parse(&Written::new("last: i64", "x", "b.last"))?.typed(&[("x", DType::I64)])?;
/// let device = Device::new();
/// let x = device.upload(&[1i64, 2, 3, 4, 5, 6])?;
/// let folding = Folding::of(Layout::c(&[2, 3])?, &[1])?;
/// let rows = Parts::Axes(folding.form()?, folding);
/// assert_eq!(operator::columns(&device, &last, &[x.view().untyped()], &rows)?, [Column::I64(vec![3, 6])]);
/// # Ok::<(), warpfold_num::Error>(())
/// ```
///
/// # Errors
/// As [`fold`](super::fold), with the row that has no result; [`Error::Map`] for parts that are no rows of all elements.
pub fn columns(
    machine: &dyn Executor,
    operator: &TypedOperator,
    inputs: &[AnyView<'_>],
    parts: &Parts<'_>,
) -> Result<Vec<Column>> {
    inputs.iter().try_for_each(|view| view.check(machine))?;
    let lengths: Vec<_> = inputs.iter().map(|view| (view.dtype, view.len)).collect();
    let n = engine::length_of(operator, &lengths)? as u64;
    check_device(machine)?;
    let Some((rows, length)) = rows_of(parts).filter(|(rows, length)| rows * length == n) else {
        return Err(Error::Map {
            requested: "an operator of one's own on a device".into(),
            obstacle: "the parts are no rows, one behind the other, of all elements".into(),
            remedy: "reduce them on the processor".into(),
        });
    };
    if n == 0 {
        return engine::read_columns(operator, parts, (0..rows).map(|_| Ok(None)));
    }
    let reads = read(operator, inputs, Some(length));
    let is_short = length <= BLOCK;
    let template = if is_short { OPERATOR_SHORT_ROWS } else { OPERATOR_ROWS };
    let module = Module::of(template, operator, &reads)?;
    module.check(machine, operator, inputs)?;
    let faults = machine.zeros(8)?;
    let memory = machine.zeros(rows as usize * STATE)?;
    let [states, address] = [memory.address(), faults.address()];
    let mut words = addresses(&reads, inputs);
    let (fields, threads) = (operator.fields().count(), module.threads());
    // As many blocks as multiprocessors hold; more rows follow in these.
    let most = u64::from(machine.facts().multiprocessors) * 32;
    let (outputs_of_block, shared_bytes);
    if is_short {
        outputs_of_block = threads;
        shared_bytes = 8 * threads * fields as u32;
        let arguments = OperatorShortRowArguments { rows, length, states, faults: address };
        words.extend(arguments.words());
    } else {
        outputs_of_block = threads / 32;
        let tile = if fields <= 4 { 8u32 } else { 4 };
        let tile = tile.min(length.div_ceil(BLOCK).next_power_of_two() as u32);
        let Shared { field, room } =
            Shared::of(tile, length.div_ceil(BLOCK * u64::from(tile)), operator);
        shared_bytes = outputs_of_block * room as u32;
        let (tile, faults) = (tile.into(), address);
        let arguments = OperatorRowArguments { rows, length, tile, field, room, states, faults };
        words.extend(arguments.words());
    }
    let blocks = rows.div_ceil(outputs_of_block.into()).min(most) as u32;
    let ready: Vec<Ready<'_>> = inputs.iter().map(|view| view.ready).collect();
    machine.run_batched(&[module.launch(blocks, shared_bytes, words)], &ready)?;
    let mut faulty = [0u64];
    faults.read(bytemuck::cast_slice_mut(&mut faulty))?;
    if faulty[0] != 0 {
        return host::columns(machine, operator, inputs, parts);
    }
    let mut words = vec![0u64; rows as usize * MOST_FIELDS];
    memory.read(bytemuck::cast_slice_mut(&mut words))?;
    let state = |words: &[u64]| -> State { std::array::from_fn(|field| words[field]) };
    let states = words.chunks_exact(MOST_FIELDS).map(|words| Ok(Some(state(words))));
    engine::read_columns(operator, parts, states)
}

/// How many rows, one behind the other, parts are, and their length; `None` of others.
fn rows_of(parts: &Parts<'_>) -> Option<(u64, u64)> {
    match parts {
        Parts::Whole | Parts::Groups(..) => None,
        Parts::Segments(bounds, _) => match bounds {
            Bounds::Every { length, segments } => Some((*segments, *length)),
            _ => None,
        },
        Parts::Axes(form, _) => {
            let (rows, length) = (form.outputs, form.inputs);
            let is_run = match form.folded[..] {
                [] => true,
                [Loop { stride, position, .. }] => stride == 1 && position == 1,
                _ => false,
            };
            let are_rows = match form.kept[..] {
                [] => true,
                [Loop { stride, position, .. }] => stride == length && position == 1,
                _ => false,
            };
            (form.start == 0 && is_run && are_rows).then_some((rows, length))
        }
    }
}
