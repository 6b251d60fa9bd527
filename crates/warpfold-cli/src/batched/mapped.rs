//! Expressions of several inputs, parted as the first of them is.

use std::time::Instant;

use warpfold::map::{HostArray, Map};

use super::{Aligned, Combined, Found, Parted, Rows};
use crate::args::{Reduction, Verbosity};
use crate::device::Device;
use crate::input::Whole;
use crate::left_out::{Texts, tell_rows};
use crate::table::{self, Table, Titles};
use crate::{Failure, mapped, run};

/// A map and the arrays that it reads.
pub(super) struct Mapped<'w> {
    pub(super) map: &'w Map,
    pub(super) arrays: Vec<HostArray<'w>>,
}

/// An expression, its inputs, and what parts them.
pub(crate) struct Opened {
    pub(crate) map: Map,
    /// The inputs, of one shape.
    pub(crate) wholes: Vec<Whole>,
    pub(crate) parted: Parted,
    rows: Rows,
    /// What keys stand for where they are numbers of combinations.
    pub(crate) combined: Combined,
    pub(crate) texts: Texts,
}

/// Opens and reads the inputs.
pub(crate) fn open(args: &Reduction) -> Result<Opened, Failure> {
    mapped::check(args)?;
    if !matches!(args.device, Device::Auto | Device::Cpu) {
        return Err(Failure::Usage("an expression's axes, segments and keys reduce on the CPU, and not on GPUs; leave out --device".into()));
    }
    super::check(args)?;
    args.finish()?;
    if !super::key_columns(args).is_empty() {
        run::keep_standard_input(args)?;
    }
    let (wanted, sides) = mapped::opened(args)?;
    let map = wanted.map(args, &sides)?;
    if args.verbosity() == Verbosity::Verbose {
        for line in map.program().to_string().lines() {
            crate::say!("map: {line}");
        }
    }
    let mut texts = Texts::of(sides.iter().flat_map(|side| side.inputs()));
    let watch = sides.first().and_then(|side| side.inputs().next().map(|input| input.monitor()));
    let read =
        sides.into_iter().map(|side| side.whole(args.op())).collect::<Result<Vec<_>, _>>()?;
    let (wholes, mut notes): (Vec<Whole>, Vec<_>) = read.into_iter().unzip();
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
    let mut read = Parted::read(args, &watch, None)?;
    std::mem::take(&mut read.texts).into_iter().for_each(|(name, notes)| texts.add(name, notes));
    // All columns have lost the same rows.
    let aligned = read.align(args, wholes[0].len(), notes.swap_remove(0))?;
    let wholes = wholes.into_iter().map(|whole| aligned.kept(whole)).collect::<Result<_, _>>()?;
    let Aligned { parted, rows, tuples, .. } = aligned;
    Ok(Opened { map, wholes, parted, rows, combined: tuples, texts })
}

impl Opened {
    /// The inputs' elements.
    pub(crate) fn arrays(&self) -> Result<Vec<HostArray<'_>>, Failure> {
        Ok(self.wholes.iter().map(Whole::array).collect::<Result<_, _>>()?)
    }

    /// Fails if a file has changed since it was opened.
    pub(crate) fn check_unchanged(&self) -> Result<(), Failure> {
        self.wholes.iter().try_for_each(Whole::check_unchanged)?;
        self.parted.check_unchanged()
    }

    /// Bytes of the inputs.
    pub(crate) fn bytes(&self) -> u64 {
        self.wholes.iter().map(|whole| whole.len() * whole.dtype().size() as u64).sum()
    }
}

/// Runs many reductions of an expression and prints their results.
pub(super) fn reduction(args: &Reduction) -> Result<(), Failure> {
    let begun = Instant::now();
    let opened = open(args)?;
    let folding = Instant::now();
    let Opened { map, wholes, parted, combined, rows, .. } = &opened;
    let (dtype, arrays) = (map.dtype(), opened.arrays()?);
    let map = Mapped { map, arrays };
    let found = combined.of(super::fold(args, &wholes[0], parted, args.finish()?, Some(&map)));
    let mut found = found.map_err(|failure| mapped::kept_none(args, wholes[0].len(), failure))?;
    opened.check_unchanged()?;
    rows.in_data(args, parted, &mut found);
    parted.tell_outside(args, wholes[0].len());
    let is_verbose = args.verbosity() == Verbosity::Verbose;
    let table = Table {
        op: args.op(),
        dtype: dtype.to_string(),
        n: found.elements,
        bytes: opened.bytes(),
        labels: found.labels,
        titles: Titles::Results,
        columns: Found::cells(found.columns, &found.gaps),
        accuracy: args.accuracy,
        device: Device::Cpu,
        seconds: begun.elapsed().as_secs_f64(),
        fold_seconds: folding.elapsed().as_secs_f64(),
        texts: opened.texts.found(is_verbose),
    };
    tell_rows(&table.texts);
    if is_verbose {
        crate::say!("time: {}", table.timing());
    }
    table::show(args, &table)
}
