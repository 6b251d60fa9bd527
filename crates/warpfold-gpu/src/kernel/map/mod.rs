//! Maps on a machine: expressions of arrays, folded by kernels that have the expression's code in them.
//!
//! What is folded, and what results are made of it, is the engine's ([`Map`]); here its tasks become launches, and what these leave its parts.

mod cache;
mod element;
mod job;
mod launches;
mod read;
mod reduce;
mod shape;
mod splice;

pub use cache::Spliced;
pub use launches::{MapGrid, MapLaunches};
pub use reduce::AnyMap;

use warpfold_engine::HostArray;
use warpfold_engine::map::{Folded, Map};

use super::array::{AnyView, elements as elements_of};
use super::executor::Executor;
use crate::{Column, Error, Result, with_element};

/// What a map leaves of arrays in a machine's memory, the first of whose elements have an index in the whole.
///
/// # Errors
/// As [`Map::fold`]; [`Error::Map`] for what no kernel folds, by name; [`Error::Device`].
pub fn fold(
    machine: &dyn Executor,
    map: &Map,
    inputs: &[AnyView<'_>],
    first: u64,
) -> Result<Folded> {
    let launches = MapLaunches::new(machine, map, inputs, None)?;
    folded(machine, map, inputs, first, launches)
}

fn folded(
    machine: &dyn Executor,
    map: &Map,
    inputs: &[AnyView<'_>],
    first: u64,
    launches: MapLaunches<'_>,
) -> Result<Folded> {
    match launches.run(machine, map, first)? {
        launches::Outcome::Folded(folded) => Ok(folded),
        launches::Outcome::Fault(place) => Err(fault(machine, map, inputs, place, first)?),
    }
}

/// Why an element has no value: what the processor says of it.
fn fault(
    machine: &dyn Executor,
    map: &Map,
    inputs: &[AnyView<'_>],
    place: u64,
    first: u64,
) -> Result<Error> {
    let at = place as usize;
    let elements = inputs.iter().map(|view| {
        let bytes = machine.bytes_of(view.slice(at..at + 1))?;
        Ok(with_element!(view.dtype, T => Column::of(elements_of::<T>(&bytes)?)))
    });
    let elements = elements.collect::<Result<Vec<_>>>()?;
    let arrays = elements.iter().zip(inputs).map(|(element, view)| {
        with_element!(view.dtype, T => HostArray::of(element.slice::<T>().unwrap_or_default()))
    });
    let arrays: Vec<HostArray<'_>> = arrays.collect();
    match map.fold(&arrays, first + place) {
        Err(error) => Ok(error),
        Ok(_) => Ok(Error::Device {
            requested: format!("a map of the element at index {}", first + place),
            obstacle: "its kernel says that an operation has no value, and the processor finds one"
                .into(),
            remedy: "report it with the expression",
        }),
    }
}
