//! Elements of an operator's arrays on the processor: those that its laws are tried on, and all where an operation has no value.

use warpfold_engine::operator::{self as engine, TypedOperator};
use warpfold_engine::{HostArray, Parts};

use crate::kernel::array::{AnyView, elements};
use crate::kernel::executor::Executor;
use crate::{Column, Error, Policy, Result, Value, with_element};

/// Elements that laws are tried on, at most.
const SAMPLE: usize = 4096;

/// Tries the laws on the first elements.
pub(super) fn check(
    machine: &dyn Executor,
    operator: &TypedOperator,
    inputs: &[AnyView<'_>],
) -> Result<()> {
    let first: Vec<AnyView<'_>> =
        inputs.iter().map(|view| view.slice(..view.len.min(SAMPLE))).collect();
    on_host(machine, &first, |arrays| engine::check(operator, arrays))
}

/// What the processor says of all elements, where a kernel says that an operation has no value.
pub(super) fn fold(
    machine: &dyn Executor,
    operator: &TypedOperator,
    inputs: &[AnyView<'_>],
) -> Result<Vec<Value>> {
    on_host(machine, inputs, |arrays| engine::fold(operator, arrays, Policy::default()))?;
    Err(no_fault())
}

fn no_fault() -> Error {
    Error::Device {
        requested: "an operator of one's own".into(),
        obstacle: "its kernel says that an operation has no value, and the processor finds one"
            .into(),
        remedy: "report it with the operator's texts",
    }
}

/// The same of parts.
pub(super) fn columns(
    machine: &dyn Executor,
    operator: &TypedOperator,
    inputs: &[AnyView<'_>],
    parts: &Parts<'_>,
) -> Result<Vec<Column>> {
    on_host(machine, inputs, |arrays| engine::columns(operator, arrays, parts, Policy::default()))?;
    Err(no_fault())
}

fn on_host<R>(
    machine: &dyn Executor,
    inputs: &[AnyView<'_>],
    with: impl FnOnce(&[HostArray<'_>]) -> Result<R>,
) -> Result<R> {
    let columns = inputs.iter().map(|view| {
        let bytes = machine.bytes_of(*view)?;
        Ok(with_element!(view.dtype, T => Column::of(elements::<T>(&bytes)?)))
    });
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let arrays = columns.iter().zip(inputs).map(|(column, view)| {
        with_element!(view.dtype, T => HostArray::of(column.slice::<T>().unwrap_or_default()))
    });
    with(&arrays.collect::<Vec<_>>())
}
