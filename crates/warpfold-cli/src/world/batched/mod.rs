//! Many results by all ranks: those of outputs that one rank has as a whole are gathered, and of the others their partials are merged.
//!
//! Axes are cut along one of them, segments at elements, keys at elements. Stats go to one rank an output; products of floats and expressions are cut at
//! elements in the order of outputs.
//! Where outputs have no result, the first of them is told, as by one process, whichever rank had it.

mod axes;
mod gathered;
mod keys;
mod listed;
mod mapped;
mod pieces;
mod products;
mod segments;

use std::sync::Arc;
use std::time::Instant;

use warpfold::partial::Finish;
use warpfold::{AnyPartial, At, DType, Error, Key, Op, Segments, Value};
use warpfold_dist::{Agreement, Comm, Way, all_merge_batched, exchange};
use warpfold_engine::{self as engine, Request};

use super::{Merged, agreement, device, open, settle, tell};
use crate::Failure;
use crate::args::{self, Reduction, Verbosity};
use crate::batched::{self, Combined, Parted, with_key};
use crate::deliver;
use crate::device::{self as devices, Device, Executor, Work};
use crate::input::{self, Whole};
use crate::left_out::Texts;
use crate::one_array::{OneArray, check_axes};
use crate::table::{Cells, Labels, Table, Titles};
use gathered::{Cell, Filled, Missing, Slab};
pub(super) use mapped::reduction as of_expression;

/// What a rank made of its share.
struct Folded {
    dtype: DType,
    labels: Labels,
    /// Outputs of all ranks; those of keys are known once all keys are.
    outputs: usize,
    /// Elements of all ranks.
    elements: u64,
    made: Made,
    device: Device,
    begun: Instant,
    folding: f64,
}

enum Made {
    /// Results of the outputs that this rank has as a whole, and partials of pieces of others.
    Results { slab: Slab, columns: Read, cut: Vec<(usize, AnyPartial)> },
    /// A partial of every output.
    Partials(Vec<AnyPartial>),
    /// Partials of outputs that are known by their keys.
    Keyed(Vec<i128>, Vec<AnyPartial>),
}

/// The columns of outputs that one rank has as a whole; or the first output among all that has no result, and the error that names it.
type Read = Result<Vec<(&'static str, Vec<Cell>)>, (u64, Error)>;

/// Folds outputs on the device of the rank, and reads their results; the error of one that has none comes with its number among all, as `number` has it, and under its name.
fn values(
    args: &Reduction,
    executor: &Executor,
    request: &Request<'_>,
    number: impl Fn(&At) -> usize,
    name: impl Fn(usize) -> At,
) -> Result<Read, Failure> {
    let finish = args.finish()?;
    let found = match executor {
        Executor::Cpu => engine::columns_and_gaps(request, finish),
        // There --empty is refused, so that no output may be without a result.
        device => {
            let columns = batched::columns_on_device(device, request, finish);
            columns.map(|columns| (columns, Vec::new()))
        }
    };
    match found {
        Ok((columns, gaps)) => {
            let gaps = gaps.iter().map(Vec::as_slice).chain(std::iter::repeat(&[][..]));
            let both = columns.iter().zip(gaps);
            Ok(Ok(both.map(|((name, column), gaps)| (*name, cells(column, gaps))).collect()))
        }
        Err(Error::Output { output, error }) => {
            let number = number(&output);
            Ok(Err((number as u64, Error::Output { output: name(number), error })))
        }
        Err(other) => Err(other.into()),
    }
}

/// The results of a column, but for those that are none.
fn cells(column: &warpfold::Column, gaps: &[u64]) -> Vec<Cell> {
    let is_there = |at: usize| gaps.binary_search(&(at as u64)).is_err();
    (0..column.len()).map(|at| is_there(at).then(|| column.get(at))).collect()
}

/// Has indices of extremes count from the start of the whole, where `--flat` asks for that: of output `k` of these, `flat(k, index)`.
fn flatten_read(args: &Reduction, read: &mut Read, flat: impl Fn(usize, u64) -> u64) {
    let (true, Ok(columns)) = (args.parts.flat, read) else { return };
    let indices = columns.iter_mut().filter(|(name, _)| matches!(*name, "argmin" | "argmax"));
    for (output, cell) in indices.flat_map(|(_, cells)| cells.iter_mut().enumerate()) {
        if let Some(Value::U64(index)) = cell {
            *index = flat(output, *index);
        }
    }
}

/// In which of the columns of stats, which are read one after another, there is no result.
fn column(error: &Error) -> u64 {
    const COLUMNS: [Op; 10] = [
        Op::Sum,
        Op::Mean,
        Op::Var,
        Op::Std,
        Op::Min,
        Op::Max,
        Op::ArgMin,
        Op::ArgMax,
        Op::L1,
        Op::L2,
    ];
    match error {
        Error::Output { error, .. } => column(error),
        Error::Empty { op, .. } | Error::TooFew { op, .. } | Error::Overflow { op, .. } => {
            COLUMNS.iter().position(|known| known == op).unwrap_or(0) as u64
        }
        _ => 0,
    }
}

/// Whether outputs are not merged from a part of each on every rank: pieces of products know their places alone, and stats are not read as columns are.
fn is_whole(op: Op, dtype: DType) -> bool {
    op == Op::Prod && dtype.is_float() || op == Op::Stats
}

/// Where this rank folds its share.
fn executor(args: &Reduction, comm: &dyn Comm, dtype: DType) -> Result<Executor, Failure> {
    let work = Work { op: args.op(), dtype, policy: args.policy(), bytes: None };
    Ok(devices::choose(device(args, comm)?, work, &args.tuning())?.executor)
}

pub(super) fn reduction(args: &Reduction, comm: &dyn Comm) -> Result<(), Failure> {
    let begun = Instant::now();
    let read = read(args, comm);
    let folded = match &read {
        Ok(Inputs { whole, parted, .. }) => fold(args, comm, whole, parted, begun),
        Err(_) => Err(Failure::Reported(1)),
    };
    // What is wrong with the inputs is the story to tell.
    let (folded, inputs) = match read {
        Ok(inputs) => (folded, Some(inputs)),
        Err(failure) => (Err(failure), None),
    };
    let merged = merge(args, comm, &folded, inputs.as_ref());
    let ((columns, labels), folded) = settle(comm, merged, folded)?;
    if comm.rank() > 0 {
        return Ok(());
    }
    let columns = if columns.is_empty() { no_outputs(args, folded.dtype)? } else { columns };
    let is_verbose = args.verbosity() == Verbosity::Verbose;
    if let Some(Inputs { whole, parted, .. }) = &inputs {
        parted.tell_outside(args, whole.len());
    }
    let texts = inputs.as_ref().map_or_else(Vec::new, |inputs| inputs.texts.found(is_verbose));
    let table = Table {
        op: args.op(),
        dtype: folded.dtype.to_string(),
        n: folded.elements,
        bytes: folded.elements * folded.dtype.size() as u64,
        labels: inputs.map_or_else(
            || Labels::Numbers,
            |inputs| inputs.combined.labels(labels.unwrap_or(folded.labels)),
        ),
        titles: Titles::Results,
        columns: columns.into_iter().map(|(name, cells)| (name.into(), cells)).collect(),
        accuracy: args.accuracy,
        device: folded.device,
        seconds: folded.begun.elapsed().as_secs_f64(),
        fold_seconds: folded.folding,
        texts,
    };
    if is_verbose {
        crate::say!("time of rank 0: {}", table.timing());
    }
    deliver::many(args, &table)
}

/// The columns of no output, which no rank has filled in: their names and types are those of the reduction all the same.
fn no_outputs(args: &Reduction, dtype: DType) -> Result<Columns, Failure> {
    let elements = input::array(dtype, &[], 0).expect("there is none that might be wrong");
    let parts = engine::segments(Segments::Offsets((&[0u64]).into()), 0, args.policy())?;
    let request = Request::new(args.op(), elements).parts(Arc::new(parts)).policy(args.policy());
    let (columns, _) = engine::columns_and_gaps(&request, args.finish()?)?;
    Ok(columns.into_iter().map(|(name, column)| (name, column.into())).collect())
}

/// The input, of which a rank looks at its share alone where the file can be mapped, and what parts it.
struct Inputs {
    whole: Whole,
    parted: Parted,
    /// What keys stand for where they are numbers of combinations.
    combined: Combined,
    texts: Texts,
}

fn read(args: &Reduction, comm: &dyn Comm) -> Result<Inputs, Failure> {
    batched::check(args)?;
    let inputs = open(args, comm)?;
    check_axes(args, inputs.iter())?;
    inputs.iter().for_each(|input| tell(args, comm, input, "its share of the parts"));
    let texts = Texts::of(&inputs);
    let OneArray { whole, gaps, files } = OneArray::read(inputs, batched::order(args))?;
    let read = Parted::read(args, &files)?;
    let aligned = read.align(args, whole.len(), gaps)?;
    let whole = aligned.kept(whole)?;
    let batched::Aligned { parted, tuples, .. } = aligned;
    Ok(Inputs { whole, parted, combined: tuples, texts })
}

fn fold(
    args: &Reduction,
    comm: &dyn Comm,
    whole: &Whole,
    parted: &Parted,
    begun: Instant,
) -> Result<Folded, Failure> {
    let executor = executor(args, comm, whole.dtype())?;
    let folding = Instant::now();
    let made = match parted {
        Parted::Axes => axes::fold(args, comm, &executor, whole),
        Parted::Keys(keys) if args.parts.sorted => {
            keys::fold_runs(args, comm, &executor, whole, keys)
        }
        Parted::Keys(keys) => keys::fold(args, comm, whole, keys),
        other => segments::fold(args, comm, &executor, whole, other),
    }?;
    whole.check_unchanged()?;
    parted.check_unchanged()?;
    let folding = folding.elapsed().as_secs_f64();
    Ok(Folded { dtype: whole.dtype(), device: executor.device(), begun, folding, ..made })
}

/// A share that was folded.
fn folded(labels: Labels, outputs: usize, elements: u64, made: Made) -> Folded {
    let (dtype, begun) = (DType::F64, Instant::now());
    let device = Device::Cpu;
    Folded { dtype, labels, outputs, elements, made, device, begun, folding: 0.0 }
}

type Columns = Vec<(&'static str, Cells)>;

/// The results of all outputs, and their labels where those are known only now.
fn merge(
    args: &Reduction,
    comm: &dyn Comm,
    folded: &Result<Folded, Failure>,
    inputs: Option<&Inputs>,
) -> Result<(Columns, Option<Labels>), Merged> {
    let finish = args.finish().map_err(Merged::Result)?;
    let dtype = folded.as_ref().map_or(DType::F64, |folded| folded.dtype);
    let agreement = agreement(args, dtype).map_err(Merged::Result)?.and(&parts(args));
    let (Ok(folded), Some(inputs)) = (folded, inputs) else {
        let why = folded.as_ref().err().map(ToString::to_string).unwrap_or_default();
        exchange(comm, agreement.text(), Err(&why))?;
        return Err(Merged::Result(Failure::Reported(1)));
    };
    let described = format!("{} elements in {} outputs", folded.elements, folded.outputs);
    let agreement = agreement.and(&described);
    match &folded.made {
        Made::Results { slab, columns, cut } => {
            let missing = columns.as_ref().err().map(|(output, error)| {
                let column = if args.op() == Op::Stats { column(error) } else { 0 };
                let error = inputs.combined.named(error.clone().into());
                Missing { column, output: *output, why: error.to_string() }
            });
            let mine = match (columns, &missing) {
                (_, Some(missing)) => Err(missing),
                (columns, None) => Ok(columns.as_deref().unwrap_or_default()),
            };
            let gathered = gathered::gather(comm, &agreement, folded.outputs, slab, mine)?;
            let name = |output| name(args, folded, inputs, output);
            let columns =
                with_pieces(args, comm, &agreement, gathered, cut, (finish, inputs), &name);
            Ok((columns.map_err(|merged| merged.named(inputs))?, None))
        }
        Made::Partials(partials) => {
            let partials = all_merge_batched(comm, &agreement, Ok(partials), Way::Auto)?;
            let name = |output| name(args, folded, inputs, output);
            let mut filled = Filled::new(folded.outputs);
            for (output, partial) in partials.iter().enumerate() {
                read_one(args, (finish, inputs), &name, &mut filled, output, partial)?;
            }
            flatten(args, inputs, &mut filled);
            Ok((filled.columns()?, None))
        }
        Made::Keyed(own, partials) => {
            let merged = keys::merge(args, comm, &agreement, (own, partials), inputs, finish);
            merged.map_err(|merged| merged.named(inputs))
        }
    }
}

impl Merged {
    /// An error of a group, by its keys.
    fn named(self, inputs: &Inputs) -> Merged {
        match self {
            Merged::Result(failure) => Merged::Result(inputs.combined.named(failure)),
            other => other,
        }
    }
}

/// Fills in the outputs that were cut, from the partials of their pieces in the order of ranks.
fn with_pieces(
    args: &Reduction,
    comm: &dyn Comm,
    agreement: &Agreement,
    (mut filled, missing): (Filled, Option<Missing>),
    cut: &[(usize, AnyPartial)],
    (finish, inputs): (Finish, &Inputs),
    name: &dyn Fn(usize) -> At,
) -> Result<Columns, Merged> {
    let cut: Vec<_> = cut.iter().map(|(output, partial)| (*output, partial.to_bytes())).collect();
    let read = |bytes: &[u8]| {
        let partial = AnyPartial::from_bytes_of(agreement.dtype(), bytes)?;
        match partial.serves(args.op()) {
            true => Ok(partial),
            false => {
                Err(Error::BadPartial { expected: args.op().name(), why: "it is another's".into() })
            }
        }
    };
    let pieces = pieces::merged(comm, agreement, filled.outputs(), &cut, read, AnyPartial::merge)?;
    for (output, partial) in &pieces {
        // Where an output has no result, the pieces of those before it may have none either.
        if missing.as_ref().is_some_and(|missing| missing.output < *output as u64) {
            break;
        }
        read_one(args, (finish, inputs), name, &mut filled, *output, partial)?;
    }
    match missing {
        None => Ok(filled.columns()?),
        Some(missing) => Err(Merged::Result(Failure::Data(missing.why))),
    }
}

/// Rounds one output's partial.
fn read_one(
    args: &Reduction,
    (finish, inputs): (Finish, &Inputs),
    name: &dyn Fn(usize) -> At,
    filled: &mut Filled,
    output: usize,
    partial: &AnyPartial,
) -> Result<(), Merged> {
    let (op, dtype) = (args.op(), partial.dtype());
    let found = args.parts.empty.or_stand_in((op, dtype, finish), partial.finish(op, finish));
    let found = found.map_err(|error| match error {
        // Elements were there and none was left: they were ignored.
        Error::Empty { .. } => Error::Empty { op, ignored: has_elements(args, inputs, output) },
        error => error,
    });
    let found = found.map_err(|error| {
        let error = Error::Output { output: name(output), error: Box::new(error) };
        Merged::Result(error.into())
    })?;
    filled.set_all(op, output, found);
    Ok(())
}

/// Whether an output has elements, ignored or not.
fn has_elements(args: &Reduction, inputs: &Inputs, output: usize) -> bool {
    let Inputs { whole, parted, .. } = inputs;
    match (parted, args.parts.groups) {
        (Parted::Axes, _) => !whole.is_empty(),
        // A key that has a result occurs.
        (Parted::Keys(_), None) => true,
        (Parted::Keys(keys), Some(_)) => {
            let is_one = |keys: &Whole| {
                Ok::<_, Failure>(with_key!(keys, K, keys => {
                    keys.iter().any(|key: &K| key.id() == Some(output as u64))
                }))
            };
            is_one(keys).unwrap_or(false)
        }
        (segments, _) => {
            let bounds = segments.segments().map(|segments| segments.check(whole.len()));
            bounds.is_some_and(|bounds| bounds.is_ok_and(|bounds| !bounds.range(output).is_empty()))
        }
    }
}

/// Has indices of outputs that were read from partials of axes and keys count from the start of the array, if that is asked for.
fn flatten(args: &Reduction, inputs: &Inputs, filled: &mut Filled) {
    if !args.parts.flat {
        return;
    }
    let Ok(flat) = batched::flat(args, &inputs.whole, &inputs.parted) else { return };
    filled.reindex(flat);
}

/// What an output is called in errors.
fn name(args: &Reduction, folded: &Folded, inputs: &Inputs, output: usize) -> At {
    match (&folded.labels, &inputs.parted) {
        (Labels::Keys(keys), _) => At::Group(keys[0].1.text(output)),
        (Labels::Axes(shape), _) => {
            let kept =
                if args.parts.keepdims { axes::kept(args, &inputs.whole) } else { shape.clone() };
            At::Indices(axes::indices(output as u64, &kept))
        }
        (Labels::Numbers, _) => At::Group(output.to_string()),
        _ => At::Segment(output as u64),
    }
}

/// How the inputs are parted, in words.
fn parts(args: &Reduction) -> String {
    let parts = &args.parts;
    let mut words = Vec::new();
    if !parts.axis.is_empty() {
        words.push(format!("axes {:?}", parts.axis));
    }
    words.extend(parts.by.iter().map(|path| format!("by {}", path.display())));
    for (option, path) in [("segments", &parts.segments), ("lengths", &parts.lengths)] {
        words.extend(path.as_ref().map(|path| format!("{option} {}", path.display())));
    }
    words.extend(parts.every.map(|every| format!("every {every}")));
    words.extend(parts.groups.map(|groups| format!("groups {groups}")));
    words.extend(parts.flat.then(|| "flat".to_string()));
    words.extend(parts.sorted.then(|| "sorted".to_string()));
    words.extend((parts.empty != args::Empty::Error).then(|| format!("empty {:?}", parts.empty)));
    words.join(" ")
}
