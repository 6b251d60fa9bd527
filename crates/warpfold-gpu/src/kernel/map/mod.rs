//! Maps on a machine: expressions of arrays, folded by kernels that have the expression's code in them.
//!
//! What is folded, and what results are made of it, is the engine's ([`Map`]); here its tasks become launches, and what these leave its parts.

mod array_splice;
mod batched;
pub(super) mod cache;
mod column_tiles;
mod columns_splice;
mod element;
mod given;
mod host;
mod job;
mod kernel;
mod launches;
pub(super) mod loads;
mod part_launches;
mod parted;
mod parts;
mod products;
mod read;
mod reduce;
mod row_jobs;
mod rows_splice;
mod scatter_splice;
mod segments_splice;
pub(super) mod shape;
mod splice;

pub use batched::{AnyMapBatched, AnyOperand, columns, outputs};
pub use cache::Spliced;
pub use launches::{MapGrid, MapLaunches};
pub use part_launches::MapBatchedLaunch;
pub use parts::{MapGroups, MapParts};
pub use reduce::AnyMap;

use warpfold_engine::map::{Folded, Map};

use super::array::AnyView;
use super::executor::Executor;
use crate::Result;
use given::Given;

/// What a map leaves of arrays in a machine's memory, the first of whose elements have an index in the whole.
///
/// # Errors
/// As [`Map::fold`]; [`Error::Map`](crate::Error::Map) for what no kernel folds, by name; [`Error::Device`](crate::Error::Device).
pub fn fold(
    machine: &dyn Executor,
    map: &Map,
    inputs: &[AnyView<'_>],
    first: u64,
) -> Result<Folded> {
    let inputs: Vec<Given<'_>> = inputs.iter().map(|&view| view.into()).collect();
    folded(machine, map, &inputs, first, None)
}

fn folded(
    machine: &dyn Executor,
    map: &Map,
    inputs: &[Given<'_>],
    first: u64,
    grid: Option<MapGrid>,
) -> Result<Folded> {
    let launches = MapLaunches::of(machine, map, inputs, grid)?;
    settled(machine, map, inputs, first, launches.run(machine, map, first)?)
}

/// The partial of each of several lists of arrays, or why there is none: their launches run without a wait in between.
fn folded_each(
    machine: &dyn Executor,
    map: &Map,
    all: &[Vec<Given<'_>>],
) -> Result<Vec<Result<Folded>>> {
    let outcomes = MapLaunches::of_each(machine, map, all, None)?.run_each(machine, map, 0)?;
    let settle =
        |(inputs, outcome): (&Vec<Given<'_>>, _)| settled(machine, map, inputs, 0, outcome);
    Ok(all.iter().zip(outcomes).map(settle).collect())
}

/// The partial that launches made, or what the processor says where kernels have no say.
fn settled(
    machine: &dyn Executor,
    map: &Map,
    inputs: &[Given<'_>],
    first: u64,
    outcome: launches::Outcome,
) -> Result<Folded> {
    match outcome {
        launches::Outcome::Folded(folded) => Ok(folded),
        launches::Outcome::Fault(index) => Err(host::fault(machine, map, inputs, index, first)?),
        launches::Outcome::Beyond => host::fold(machine, map, inputs, first),
    }
}
