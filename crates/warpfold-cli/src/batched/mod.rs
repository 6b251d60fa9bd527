//! Many results at once: by axes of one input, or by segments or keys of one or of several as one array, which is taken as a whole.

mod columns;
mod device;
mod keys;
mod mapped;
mod numbers;
mod operator;
mod parted;
mod rows;
mod tuples;

pub(crate) use columns::columns;
pub(crate) use device::columns as columns_on_device;
pub(crate) use keys::with_key;
pub(crate) use mapped::{Opened, open as open_mapped};
pub(crate) use operator::reduction as by_operator;
pub(crate) use parted::{Aligned, Combined, Parted, Read};

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use warpfold::partial::Finish;
use warpfold::shape::Folding;
use warpfold::{Column, Columns, DType, Key, Op};
use warpfold_engine::map::ColumnsOf;
use warpfold_engine::{self as engine, Indices, Parts, Request};
use warpfold_lab::machine::available_memory;

use crate::args::{Empty, Parts as Options, Reduction, Verbosity};
use crate::device::{self as devices, Device, Executor, Work};
use crate::input::{self, InputFormat, Name, Order, Whole};
use crate::left_out::Texts;
use crate::one_array::{OneArray, check_axes};
use crate::table::{Cells, Labels, Printed, Table, Titles};
use crate::{Failure, deliver, opening};
use mapped::Mapped;
use rows::Rows;

/// Runs many reductions and prints their results.
pub(crate) fn reduction(args: &Reduction) -> Result<(), Failure> {
    if args.maps.any() {
        return mapped::reduction(args);
    }
    check(args)?;
    let finish = args.finish()?;
    if !opening::key_columns(args).is_empty() {
        opening::keep_streams(args)?;
    }
    let begun = Instant::now();
    let inputs = opening::open(args)?;
    check_axes(args, inputs.iter())?;
    if args.verbosity() == Verbosity::Verbose {
        for input in &inputs {
            crate::say!("input: {}: {}", input.name(), input.describe());
        }
    }
    let mut texts = Texts::of(&inputs);
    let OneArray { whole, gaps, files } = OneArray::read(inputs, order(args))?;
    let executor = executor(args, whole.dtype())?;
    let folding = Instant::now();
    let mut read = Parted::read(args, &files)?;
    std::mem::take(&mut read.texts).into_iter().for_each(|(name, notes)| texts.add(name, notes));
    let aligned = read.align(args, whole.len(), gaps)?;
    let whole = aligned.kept(whole)?;
    let Aligned { parted, rows, tuples, .. } = aligned;
    let mut found = tuples.of(match &executor {
        Executor::Cpu => fold(args, &whole, &parted, finish, None),
        other => device::fold(args, &whole, &parted, other, finish),
    })?;
    whole.check_unchanged()?;
    parted.check_unchanged()?;
    rows.in_data(args, &parted, &mut found);
    parted.tell_outside(args, whole.len());
    let table = Table {
        op: args.op(),
        dtype: whole.dtype().to_string(),
        n: found.elements,
        bytes: found.elements * whole.dtype().size() as u64,
        labels: found.labels,
        titles: Titles::Results,
        columns: BatchedResults::cells(found.columns, &found.gaps),
        accuracy: args.accuracy,
        device: executor.device(),
        seconds: begun.elapsed().as_secs_f64(),
        fold_seconds: folding.elapsed().as_secs_f64(),
        texts: texts.found(args.verbosity() == Verbosity::Verbose),
    };
    if args.verbosity() == Verbosity::Verbose {
        crate::say!("plan: {}", found.plan);
        crate::say!("time: {}", table.timing());
    }
    deliver::many(args, &table)
}

/// Axes find their way in any order; segments and keys count elements as NumPy numbers them.
pub(crate) fn order(args: &Reduction) -> Order {
    if args.parts.axis.is_empty() { Order::C } else { Order::Memory }
}

/// What makes no sense whatever the input holds.
pub(crate) fn check(args: &Reduction) -> Result<(), Failure> {
    if args.op() == Op::Dot {
        let message = "dot by axes, segments or keys is not there; multiply first, then sum";
        return Err(Failure::Usage(message.into()));
    }
    let on_device = !args.device.is_processor();
    if !args.parts.by.is_empty() && args.parts.flat && on_device {
        return Err(Failure::Usage(format!(
            "--flat with --by is the processor's, as --device {} sorts values by keys; leave one of them out",
            args.device
        )));
    }
    if args.parts.flat && !matches!(args.op(), Op::ArgMin | Op::ArgMax | Op::Stats) {
        return Err(Failure::Usage(format!(
            "--flat says from where indices count, and {} gives none; argmin, argmax and stats take it",
            args.op()
        )));
    }
    if args.parts.by.len() > 1 && args.parts.groups.is_some() {
        return Err(Failure::Usage(
            "--groups is for keys that are the numbers of groups, and combinations of several keys are none; leave it out".into(),
        ));
    }
    if args.parts.empty != Empty::Error && on_device {
        return Err(Failure::Usage(format!(
            "--empty is for reductions on the processor; leave out --device {} or --empty",
            args.device
        )));
    }
    args.check_stand_in()?;
    rows::check(args)?;
    keys::check(args)?;
    check_standard(args)?;
    refuse_table(args)?;
    opening::check_result_file(args)
}

/// Fails where standard input is to be two things at once.
fn check_standard(args: &Reduction) -> Result<(), Failure> {
    let Options { segments, lengths, by, .. } = &args.parts;
    let with = args.maps.with.iter().map(|(_, path)| path);
    let parts = by.iter().chain(segments).chain(lengths);
    let all = args.inputs.iter().chain(parts).chain(with);
    match all.filter(|path| path.as_os_str() == "-").count() {
        0 | 1 => Ok(()),
        _ => Err(Failure::Usage(
            "standard input (-) is one input, or what parts it; save one of them to a file".into(),
        )),
    }
}

/// Fails for axes of a text of several columns, which would be one axis of all cells without a word.
fn refuse_table(args: &Reduction) -> Result<(), Failure> {
    let [path] = &args.inputs[..] else { return Ok(()) };
    let name = Name::of(path.clone());
    let is_text = args.input.unwrap_or_else(|| InputFormat::of(&name)) == InputFormat::Text;
    if args.parts.axis.is_empty() || !args.column.is_empty() || args.maps.any() || !is_text {
        return Ok(());
    }
    opening::keep_streams(args)?;
    match input::text_columns(&name, args.written.dialect(false))?.names.len() {
        0 | 1 => Ok(()),
        columns => Err(Failure::Usage(format!(
            "{name} has {columns} columns, and --axis takes one; choose it with --column, or save the table as a .npy file, which has two axes"
        ))),
    }
}

/// Where many reductions run: on the processor unless a device is named.
fn executor(args: &Reduction, dtype: DType) -> Result<Executor, Failure> {
    let device = if args.device == Device::Auto { Device::Cpu } else { args.device };
    let work = Work { op: args.op(), dtype, policy: args.policy(), bytes: None };
    Ok(devices::choose(device, work, &args.tuning())?.executor)
}

/// What many reductions gave.
struct BatchedResults {
    /// How they ran, in words.
    plan: String,
    /// Elements read.
    elements: u64,
    labels: Labels,
    columns: Columns,
    /// What the columns of an expression's results are called, whose results may have names.
    names: Vec<String>,
    /// The outputs of each column that have no result, where that is no error.
    gaps: Vec<Vec<u64>>,
}

impl BatchedResults {
    /// The columns with empty cells where there is no result.
    fn cells(columns: Columns, gaps: &[Vec<u64>]) -> Vec<(String, Cells)> {
        let cells = |(column, gaps): (Column, &[u64])| match gaps {
            [] => column.into(),
            gaps => {
                let cell = |output: usize| {
                    let is_there = gaps.binary_search(&(output as u64)).is_err();
                    is_there.then(|| Printed::from(column.get(output)))
                };
                Cells::Printed((0..column.len()).map(cell).collect())
            }
        };
        let gaps = gaps.iter().map(Vec::as_slice).chain(std::iter::repeat(&[][..]));
        let both = columns.into_iter().zip(gaps);
        both.map(|((name, column), gaps)| (name.into(), cells((column, gaps)))).collect()
    }
}

fn fold(
    args: &Reduction,
    whole: &Whole,
    parted: &Parted,
    finish: Finish,
    map: Option<&Mapped<'_>>,
) -> Result<BatchedResults, Failure> {
    let (parts, labels) = parts(args, whole, parted)?;
    // Indices within segments of the data follow from those within what is kept.
    let is_flat = args.parts.flat || matches!(parted, Parted::Cut(_));
    let indices = if is_flat { Indices::OfArray } else { Indices::OfInput };
    let request = Request::new(args.op(), whole.array()?).parts(parts).policy(args.policy());
    let request = request.empty(args.parts.empty.of_engine());
    found(&request.indices(indices), labels, finish, map)
}

/// The parts of an input, and what its results are called.
pub(crate) fn parts<'a>(
    args: &Reduction,
    whole: &Whole,
    parted: &'a Parted,
) -> Result<(Arc<Parts<'a>>, Labels), Failure> {
    if let Parted::Axes = parted {
        let folding = Folding::of(whole.layout()?.clone(), &args.parts.axis)?;
        let shape = if args.parts.keepdims { folding.shape_kept() } else { folding.shape() };
        let parts = Parts::Axes(folding.form()?, folding);
        return Ok((Arc::new(parts), Labels::Axes(shape)));
    }
    let n = whole.array()?.len();
    if let Parted::Keys(keys) = parted {
        let parts = with_key!(keys, keys => by_key(args, keys, n))?;
        let labels = match parts.keys() {
            Some(keys) => Labels::key(keys.clone()),
            None => Labels::Numbers,
        };
        return Ok((Arc::new(parts), labels));
    }
    let segments = parted.segments().expect("neither axes nor keys");
    let parts = engine::segments(segments, n as u64, args.policy())?;
    Ok((Arc::new(parts), Labels::Segments))
}

fn by_key<'a, K: Key>(args: &Reduction, keys: &'a [K], n: usize) -> Result<Parts<'a>, Failure> {
    let policy = args.policy();
    if let Some(groups) = args.parts.groups {
        let parts = engine::group_dense(keys, groups, n, policy)?;
        fits(groups, available_memory())?;
        return Ok(parts);
    }
    Ok(match args.parts.sorted {
        true => engine::runs_by_key(keys, n, policy)?,
        false => engine::group_by(keys, n, policy)?,
    })
}

/// Whether there is memory for every number's place, count and result, whatever the keys are.
pub(crate) fn fits(groups: u64, free: u64) -> Result<(), Failure> {
    const BYTES_OF_A_GROUP: u64 = 48;
    let bytes = groups.saturating_mul(BYTES_OF_A_GROUP);
    if bytes <= free {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "--groups {groups} takes some {} MiB, and {} are free; leave it out, so that only keys that are there have results",
        bytes >> 20,
        free >> 20
    )))
}

/// The index within the whole array of the element at a place of an output's input.
pub(crate) type Flat<'a> = Box<dyn Fn(u64, u64) -> u64 + 'a>;

/// How places within outputs' inputs become indices of the whole array.
pub(crate) fn flat<'a>(
    args: &Reduction,
    whole: &Whole,
    parted: &'a Parted,
) -> Result<Flat<'a>, Failure> {
    Ok(match parted {
        Parted::Axes => {
            let folding = Folding::of(whole.layout()?.clone(), &args.parts.axis)?;
            Box::new(move |output, arg_index| folding.flat(output, arg_index))
        }
        Parted::Keys(keys) => with_key!(keys, K, keys => {
            // Where the elements of each key lie, in their order.
            let mut of: BTreeMap<K, Vec<u64>> = BTreeMap::new();
            (0..).zip(keys).for_each(|(at, key)| of.entry(*key).or_default().push(at));
            let dense = args.parts.groups.is_some();
            let lists: Vec<(K, Vec<u64>)> = of.into_iter().collect();
            Box::new(move |output: u64, arg_index: u64| {
                let at = match dense {
                    false => Some(output as usize),
                    // Numbers of groups are not negative, and ascend as keys do.
                    true => lists.binary_search_by_key(&Some(output), |(key, _)| key.id()).ok(),
                };
                at.and_then(|at| lists.get(at)).map_or(arg_index, |(_, list)| list[arg_index as usize])
            })
        }),
        _ => unreachable!("indices of segments are known where they are folded"),
    })
}

fn found(
    request: &Request<'_>,
    labels: Labels,
    finish: Finish,
    map: Option<&Mapped<'_>>,
) -> Result<BatchedResults, Failure> {
    let mut names = Vec::new();
    let (columns, gaps) = match map {
        None => engine::columns_and_gaps(request, finish)?,
        Some(Mapped { map, operands }) => {
            let (indices, empty) = (request.indices, request.empty);
            let all = map.columns_and_gaps(operands, &request.parts, indices, empty, finish)?;
            names = all.iter().flat_map(names_of).collect();
            let gaps = all.iter().flat_map(|of| vec![of.gaps.clone(); of.columns.len()]).collect();
            (all.into_iter().flat_map(|of| of.columns).collect(), gaps)
        }
    };
    let plan = engine::plan_parts(request).expect("parts of an array are more than a whole one");
    Ok(BatchedResults {
        elements: plan.batch.elements(),
        plan: plan.to_string(),
        labels,
        columns,
        names,
        gaps,
    })
}

/// What the columns of a result are called that has a name.
fn names_of(of: &ColumnsOf) -> Vec<String> {
    match &of.columns[..] {
        [_] => vec![of.name.clone()],
        parts => parts.iter().map(|(part, _)| format!("{} {part}", of.name)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn groups_beyond_memory_are_refused() {
        assert!(fits(1 << 20, 1 << 30).is_ok());
        let refusal = fits(1 << 32, 1 << 30).unwrap_err().to_string();
        assert!(refusal.contains("196608 MiB, and 1024 are free"), "{refusal}");
    }
}
