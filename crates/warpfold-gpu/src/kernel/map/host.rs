//! Elements of a map's arrays on the processor: those that a kernel has no value for, or that no kernel folds.

use warpfold_engine::HostArray;
use warpfold_engine::map::{Each, Folded, Map};

use super::given::Given;
use crate::kernel::array::elements as elements_of;
use crate::kernel::executor::Executor;
use crate::{Column, Error, Result, with_element};

/// Elements that are copied at once.
const PIECE: usize = 1 << 24;

/// The partial of some elements, copied from a machine; `first` is the index of the arrays' first ones.
fn piece(
    machine: &dyn Executor,
    map: &Map,
    inputs: &[Given<'_>],
    range: std::ops::Range<usize>,
    first: u64,
) -> Result<Folded> {
    let elements = inputs.iter().map(|given| {
        let bytes = given.bytes(machine, range.clone())?;
        Ok(with_element!(given.view.dtype, T => Column::of(elements_of::<T>(&bytes)?)))
    });
    let elements = elements.collect::<Result<Vec<_>>>()?;
    let arrays = elements.iter().zip(inputs).map(|(element, given)| {
        with_element!(given.view.dtype, T => HostArray::of(element.slice::<T>().unwrap_or_default()))
    });
    let arrays: Vec<HostArray<'_>> = arrays.collect();
    map.fold(&arrays, first + range.start as u64)
}

/// The partial of all elements, by the processor.
pub(super) fn fold(
    machine: &dyn Executor,
    map: &Map,
    inputs: &[Given<'_>],
    first: u64,
) -> Result<Folded> {
    let of_elements = inputs.iter().find(|given| given.each != Each::Row);
    let (mut all, n) = (map.empty(), of_elements.map_or(0, Given::len));
    for start in (0..n).step_by(PIECE) {
        all.merge(&piece(machine, map, inputs, start..n.min(start + PIECE), first)?);
    }
    Ok(all)
}

/// Why an element has no value: what the processor says of it.
pub(super) fn fault(
    machine: &dyn Executor,
    map: &Map,
    inputs: &[Given<'_>],
    index: u64,
    first: u64,
) -> Result<Error> {
    let at = index as usize;
    match piece(machine, map, inputs, at..at + 1, first) {
        Err(error) => Ok(error),
        Ok(_) => Ok(Error::Device {
            requested: format!("a map of the element at index {}", first + index),
            obstacle: "its kernel says that an operation has no value, and the processor finds one"
                .into(),
            remedy: "report it with the expression",
        }),
    }
}
