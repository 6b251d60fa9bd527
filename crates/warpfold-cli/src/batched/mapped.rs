//! Expressions of several inputs, parted as the first of them is.

use std::time::Instant;

use warpfold::map::{HostArray, Map};

use super::Parted;
use crate::args::{Reduction, Verbosity};
use crate::device::Device;
use crate::input::Whole;
use crate::input::text::Missing;
use crate::left_out::Texts;
use crate::table::{self, Table, Titles};
use crate::{Failure, mapped, run};

/// A map and the arrays that it reads.
pub(super) struct Mapped<'w> {
    pub(super) map: Map,
    pub(super) arrays: Vec<HostArray<'w>>,
}

/// Runs many reductions of an expression and prints their results.
pub(super) fn reduction(args: &Reduction) -> Result<(), Failure> {
    mapped::check(args)?;
    if !matches!(args.device, Device::Auto | Device::Cpu) {
        return Err(Failure::Usage("an expression's axes, segments and keys reduce on the CPU, and not on GPUs; leave out --device".into()));
    }
    super::check(args)?;
    if args.written.dialect(false).missing == Missing::Skip {
        return Err(Failure::Usage("--missing skip leaves rows out of one input and not of what parts it; take --missing nan and --where 'not isnan(…)'".into()));
    }
    let finish = args.finish()?;
    if !super::key_columns(args).is_empty() {
        run::keep_standard_input(args)?;
    }
    let begun = Instant::now();
    let (wanted, sides) = mapped::opened(args)?;
    let map = wanted.map(args, &sides)?;
    let is_verbose = args.verbosity() == Verbosity::Verbose;
    if is_verbose {
        for line in map.program().to_string().lines() {
            crate::say!("map: {line}");
        }
    }
    let mut texts = Texts::of(sides.iter().flat_map(|side| side.inputs()));
    let watch = sides.first().and_then(|side| side.inputs().next().map(|input| input.watch()));
    let wholes =
        sides.into_iter().map(|side| side.whole(args.op())).collect::<Result<Vec<_>, _>>()?;
    let (Some(first), Some(watch)) = (wholes.first(), watch) else {
        return Err(Failure::Usage("the expression names no input; name one".into()));
    };
    let is_shaped = !args.parts.axis.is_empty();
    let shape = |whole: &Whole| if is_shaped { whole.shape() } else { vec![whole.len()] };
    if let Some(other) = wholes.iter().find(|whole| shape(whole) != shape(first)) {
        return Err(Failure::Usage(format!(
            "the inputs are of shapes {:?} and {:?}; give inputs of one shape",
            shape(first),
            shape(other)
        )));
    }
    let folding = Instant::now();
    let read = Parted::read(args, &watch, None)?;
    let parted = read.parted;
    read.texts.into_iter().for_each(|(name, notes)| texts.add(name, notes));
    let arrays = wholes.iter().map(Whole::array).collect::<Result<Vec<_>, _>>()?;
    let dtype = map.dtype();
    let map = Mapped { map, arrays };
    let found = read.tuples.of(super::fold(args, first, &parted, finish, Some(&map)));
    let found = found.map_err(|failure| mapped::kept_none(args, first.len(), failure))?;
    wholes.iter().try_for_each(Whole::check_unchanged)?;
    parted.check_unchanged()?;
    let bytes = wholes.iter().map(|whole| whole.len() * whole.dtype().size() as u64).sum();
    let table = Table {
        op: args.op(),
        dtype: dtype.to_string(),
        n: found.elements,
        bytes,
        labels: found.labels,
        titles: Titles::Results,
        columns: found
            .columns
            .into_iter()
            .map(|(name, column)| (name.into(), column.into()))
            .collect(),
        accuracy: args.accuracy,
        device: Device::Cpu,
        seconds: begun.elapsed().as_secs_f64(),
        fold_seconds: folding.elapsed().as_secs_f64(),
        texts: texts.found(is_verbose),
    };
    if is_verbose {
        crate::say!("time: {}", table.timing());
    }
    table::show(args, &table)
}
