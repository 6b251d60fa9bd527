//! Expressions of several inputs, parted as the first of them is.

use std::time::Instant;

use warpfold::map::{Each, HostArray, Map, Operand};
use warpfold::shape::{Folding, Layout};

use super::{Aligned, BatchedResults, Combined, Parted, Rows};
use crate::args::{Reduction, Verbosity};
use crate::device::Executor;
use crate::input::Whole;
use crate::left_out::Texts;
use crate::one_array::ReadFile;
use crate::table::{Table, Titles};
use crate::{Failure, deliver, mapped, opening};

/// A map and the arrays that it reads.
pub(super) struct Mapped<'w> {
    pub(super) map: &'w Map,
    pub(super) operands: Vec<Operand<'w>>,
}

/// What is folded, such as an expression, its inputs, and what parts them.
pub(crate) struct Opened<M = Map> {
    pub(crate) map: M,
    /// The inputs.
    pub(crate) wholes: Vec<Whole>,
    /// What each has a value for: those that have one for each element are of one shape.
    each: Vec<Each>,
    pub(crate) parted: Parted,
    pub(super) rows: Rows,
    /// What keys stand for where they are numbers of combinations.
    pub(crate) combined: Combined,
    pub(crate) texts: Texts,
}

/// Opens and reads the inputs.
pub(crate) fn open(args: &Reduction) -> Result<Opened, Failure> {
    mapped::check(args)?;
    super::check(args)?;
    args.finish()?;
    if !opening::key_columns(args).is_empty() {
        opening::keep_streams(args)?;
    }
    let (wanted, sides) = mapped::opened(args)?;
    let map = wanted.map(args, &mapped::types(&sides))?;
    if args.verbosity() == Verbosity::Verbose {
        for line in map.program().to_string().lines() {
            crate::say!("map: {line}");
        }
    }
    read(args, map, sides)
}

/// Reads the inputs of what is folded, and what parts them.
pub(super) fn read<M>(
    args: &Reduction,
    map: M,
    sides: Vec<mapped::Side>,
) -> Result<Opened<M>, Failure> {
    let mut texts = Texts::of(sides.iter().flat_map(|side| side.inputs()));
    // Those of the inputs, and not of what --with names beside them.
    let is_with = |side: &&mapped::Side| args.maps.with.iter().any(|(name, _)| *name == side.name);
    let first = sides.iter().find(|side| !is_with(side)).or(sides.first());
    let of_first = first.map(|side| side.inputs().map(ReadFile::unknown).collect());
    let files: Vec<ReadFile> = of_first.unwrap_or_default();
    let read = sides.into_iter().map(|side| side.whole(args)).collect::<Result<Vec<_>, _>>()?;
    let (wholes, mut gaps): (Vec<Whole>, Vec<_>) = read.into_iter().unzip();
    if files.is_empty() {
        return Err(Failure::Usage("the expression names no input; name one".into()));
    }
    let each = values_of(args, &wholes)?;
    let mut read = Parted::read(args, &files)?;
    std::mem::take(&mut read.texts).into_iter().for_each(|(name, notes)| texts.add(name, notes));
    // All columns have lost the same rows.
    let aligned = read.align(args, of_elements(&wholes, &each).len(), gaps.swap_remove(0))?;
    let wholes = wholes.into_iter().map(|whole| aligned.kept(whole)).collect::<Result<_, _>>()?;
    let Aligned { parted, rows, tuples, .. } = aligned;
    Ok(Opened { map, wholes, each, parted, rows, combined: tuples, texts })
}

/// The input that has a value for each element, and so says how many there are.
fn of_elements<'w>(wholes: &'w [Whole], each: &[Each]) -> &'w Whole {
    let at = each.iter().position(|&each| each == Each::Element);
    &wholes[at.unwrap_or(0)]
}

/// What each input has a value for: all elements, or, of axes, what its shape broadcasts along.
fn values_of(args: &Reduction, wholes: &[Whole]) -> Result<Vec<Each>, Failure> {
    let is_shaped = !args.parts.axis.is_empty();
    let shape = |whole: &Whole| if is_shaped { whole.shape() } else { vec![whole.len()] };
    let shapes: Vec<Vec<u64>> = wholes.iter().map(shape).collect();
    let size = |shape: &&Vec<u64>| {
        let elements = shape.iter().fold(1u64, |all, &length| all.saturating_mul(length));
        (shape.len(), elements)
    };
    let Some(full) = shapes.iter().rev().max_by_key(size) else { return Ok(Vec::new()) };
    let each: Vec<Option<Each>> = if is_shaped {
        let folding = Folding::of(Layout::c(full)?, &args.parts.axis)?;
        shapes.iter().map(|shape| Each::of_shape(shape, full, folding.folded())).collect()
    } else {
        shapes.iter().map(|shape| (shape == full).then_some(Each::Element)).collect()
    };
    if let Some(other) = each.iter().position(Option::is_none) {
        let [first, second] = [full, &shapes[other]];
        let axes = if is_shaped {
            ", or such as have length 1 along all axes that are folded, or along all others"
        } else {
            ""
        };
        return Err(Failure::Usage(format!(
            "the inputs are of shapes {first:?} and {second:?}; give inputs of one shape{axes}"
        )));
    }
    Ok(each.into_iter().flatten().collect())
}

impl<M> Opened<M> {
    /// The input that has a value for each element, and so says how many there are.
    pub(crate) fn first(&self) -> &Whole {
        of_elements(&self.wholes, &self.each)
    }

    /// The inputs' elements, with what they have a value for.
    fn operands(&self) -> Result<Vec<Operand<'_>>, Failure> {
        let operand = |(array, &each)| Operand { array, each };
        Ok(self.arrays()?.into_iter().zip(&self.each).map(operand).collect())
    }

    /// Fails where inputs have not all a value for each element.
    pub(crate) fn check_of_elements(&self) -> Result<(), Failure> {
        if self.each.iter().all(|&each| each == Each::Element) {
            return Ok(());
        }
        Err(Failure::Usage("an expression in parts of a world, and an operator, take inputs of one shape; give inputs that have a value for each element".into()))
    }

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
    let Opened { map, parted, combined, rows, .. } = &opened;
    let executor = super::executor(args, map.dtype())?;
    if !args.maps.of.is_empty() && !matches!(executor, Executor::Cpu) {
        return Err(Failure::Usage(
            "--of of parts runs on the processor; leave out --device, or ask for one result by --map".into(),
        ));
    }
    let (dtype, whole, finish) = (map.dtype(), opened.first(), args.finish()?);
    let map = Mapped { map, operands: opened.operands()? };
    let found = match &executor {
        Executor::Cpu => super::fold(args, whole, parted, finish, Some(&map)),
        other => super::device::fold_mapped(args, &map, whole, parted, other, finish),
    };
    let found = combined.of(found);
    let mut found = found.map_err(|failure| mapped::kept_none(args, whole.len(), failure))?;
    opened.check_unchanged()?;
    rows.in_data(args, parted, &mut found);
    parted.tell_outside(args, whole.len());
    let is_verbose = args.verbosity() == Verbosity::Verbose;
    let names = std::mem::take(&mut found.names);
    let mut columns = BatchedResults::cells(found.columns, &found.gaps);
    if !args.maps.of.is_empty() {
        columns.iter_mut().zip(names).for_each(|((column, _), name)| *column = name);
    }
    let table = Table {
        op: args.op(),
        dtype: dtype.to_string(),
        n: found.elements,
        bytes: opened.bytes(),
        labels: found.labels,
        titles: Titles::Results,
        columns,
        accuracy: args.accuracy,
        device: executor.device(),
        seconds: begun.elapsed().as_secs_f64(),
        fold_seconds: folding.elapsed().as_secs_f64(),
        texts: opened.texts.found(is_verbose),
    };
    if is_verbose {
        crate::say!("time: {}", table.timing());
    }
    deliver::many(args, &table)
}
