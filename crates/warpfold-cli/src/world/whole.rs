//! Reductions of whole inputs: ranges of elements, as even as bytes allow, of all inputs one after another; texts by lines.

use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use warpfold::partial::Output;
use warpfold::{AnyPartial, DType, Op};
use warpfold_dist::{Agreement, Comm, all_merge, exchange, share};
use warpfold_engine::{HostArray, Stream};

use super::bar::Bar;
use super::{Merged, agreement, device, has_text, lines, open, settle, tell, texts};
use crate::Failure;
use crate::args::{Reduction, Verbosity};
use crate::deliver;
use crate::device::{self as devices, Device, Executor, Folder, Work};
use crate::input::text::Notes;
use crate::input::{self, Input, Name, Order};
use crate::left_out::tell_texts;
use crate::opening::pairs_of_columns;
use crate::report::Report;

/// The elements of shares begin at multiples of so many bytes: a cache line.
pub(super) const GRID_BYTES: u64 = 64;

pub(super) fn reduction(args: &Reduction, comm: &dyn Comm, bar: &Bar<'_>) -> Result<(), Failure> {
    let mut parted = None;
    let folded = fold(args, comm, bar, &mut parted);
    let merged = match parted {
        // All ranks know already that one of them has no result.
        Some(error) => Err(Merged::World(error)),
        None => merge(args, comm, &folded),
    };
    bar.clear();
    let (merged, folded) = settle(comm, merged, folded)?;
    report(args, comm, &folded, merged)
}

/// What a rank made of its share.
struct Folded {
    dtype: DType,
    /// What was read of each input.
    read: Vec<Read>,
    /// Elements of this share.
    n: u64,
    /// What all ranks have to find alike: number and sizes of the inputs.
    inputs: String,
    /// What the inputs are called.
    names: Vec<Name>,
    /// Which inputs are texts of this rank, and what it found in them.
    texts: Vec<(u64, Notes)>,
    device: Device,
    total: Duration,
    folding: Duration,
}

/// What was read of one input: how many elements, and a partial whose indices count from the first of them; of products of floats, from the start of
/// all inputs.
struct Read {
    which: u64,
    n: u64,
    partial: AnyPartial,
}

/// A share of one input.
struct Share {
    /// Which input it is, from 0.
    which: u64,
    input: Input,
    elements: Range<u64>,
    /// Elements of the inputs before this one, where those are known.
    before: u64,
}

fn fold(
    args: &Reduction,
    comm: &dyn Comm,
    bar: &Bar<'_>,
    parted: &mut Option<warpfold_dist::Error>,
) -> Result<Folded, Failure> {
    let mut inputs = open(args, comm);
    let dtype = |inputs: &[Input]| inputs.first().map_or(DType::F64, Input::dtype);
    let known = inputs.as_deref().map_or(args.dtype.unwrap_or(DType::F64), dtype);
    if has_text(args) && !needs_places(args.op(), known) {
        let text = agreement(args, known)?;
        let described = inputs.as_ref().map_or(String::new(), |inputs| describe(inputs, known));
        let text = text.and(&described).and("cut by lines");
        let why = inputs.as_ref().err().map(ToString::to_string);
        let met = lines::cut(
            comm,
            text.text(),
            match (&mut inputs, &why) {
                (Ok(inputs), _) => Ok(inputs.iter_mut().collect()),
                (Err(_), why) => Err(why.as_deref().unwrap_or_default()),
            },
        );
        match met {
            Ok(own) => own?,
            Err(error) => {
                *parted = Some(error.clone());
                return Err(inputs.err().unwrap_or(error.into()));
            }
        }
    }
    let inputs = inputs?;
    if let Some(stream) = inputs.iter().find(|input| input.work().is_none()) {
        return Err(Failure::input(stream.name(), input::Problem::NoRange));
    }
    let (dtype, op) = (dtype(&inputs), args.op());
    if needs_places(op, dtype) && inputs.len() > 1 && inputs.iter().any(Input::is_text) {
        return Err(Failure::Usage(format!(
            "{op} of {dtype} needs the index of each element, and the elements of a text are known once it is read; with --world give one text, or .npy files"
        )));
    }
    let described = describe(&inputs, dtype);
    // Bytes that all ranks read; of a text that is not cut, whoever reads it.
    bar.start(args, inputs.iter().filter_map(Input::work).sum());
    let names: Vec<Name> = inputs.iter().map(|input| input.name().clone()).collect();
    let device = device(args, comm)?;
    let work = Work { op, dtype, policy: args.policy(), bytes: None };
    let executor = devices::choose(device, work, &args.tuning())?.executor;
    let folded = match op {
        Op::Dot if args.is_dot_of_columns() => {
            fold_columns(args, comm, bar, &executor, shares(inputs, dtype, comm))
        }
        Op::Dot => fold_pair(args, comm, bar, &executor, dtype, inputs),
        _ => {
            let shares = shares(inputs, dtype, comm);
            for Share { input, elements, .. } in &shares {
                let part = match (input.lines(), input.is_text()) {
                    (Some(lines), _) => {
                        format!("bytes {} to {}", lines.range.start, lines.range.end)
                    }
                    (None, true) => "all of it".to_string(),
                    (None, false) => format!("elements {} to {}", elements.start, elements.end),
                };
                tell(args, comm, input, &part);
            }
            fold_shares(args, &executor, dtype, shares, bar)
        }
    }?;
    Ok(Folded { names, inputs: described, device: executor.device(), ..folded })
}

/// Whether elements are folded by their indices in the whole, so that those must be known before: floats are multiplied along a tree.
fn needs_places(op: Op, dtype: DType) -> bool {
    op == Op::Prod && dtype.is_float()
}

fn describe(inputs: &[Input], dtype: DType) -> String {
    let elements: u64 = inputs.iter().filter_map(Input::bytes).sum::<u64>() / dtype.size() as u64;
    let texts = inputs.iter().filter(|input| input.is_text()).count();
    let work: u64 = inputs.iter().filter(|input| input.is_text()).filter_map(Input::work).sum();
    match texts {
        0 => format!("{} inputs of {elements} elements", inputs.len()),
        _ => format!("{} inputs, {texts} of text with {work} bytes", inputs.len()),
    }
}

/// What of the inputs this rank takes.
fn shares(inputs: Vec<Input>, dtype: DType, comm: &dyn Comm) -> Vec<Share> {
    let size = dtype.size() as u64;
    let is_random = inputs.iter().any(|input| input.grain() > 1);
    let grid = GRID_BYTES / size;
    let grid = if is_random { grid.max(inputs[0].grain()) } else { grid };
    // A text that is cut by lines is no part of the ranges.
    let work = |input: &Input| match input.lines() {
        Some(_) => 0,
        None => input.work().unwrap_or(0).div_ceil(grid * size),
    };
    let mine = share(inputs.iter().map(work).sum(), 1, comm.rank(), comm.size());
    let (mut before, mut units) = (0, 0);
    let mut shares = Vec::new();
    for (which, input) in (0..).zip(inputs) {
        let (first, n) = (units, input.bytes().unwrap_or(0) / size);
        units += work(&input);
        let clamp = |unit: u64| ((unit.clamp(first, units) - first) * grid).min(n);
        // Whoever has the middle of a text reads it; of an empty input, nobody reads anything.
        let middle = first + (units - first) / 2;
        let elements = clamp(mine.start)..clamp(mine.end);
        let takes = match (input.lines(), input.is_text()) {
            (Some(lines), _) => !lines.range.is_empty(),
            // What is wrong with an empty text, all find alike.
            (None, true) if work(&input) == 0 => true,
            (None, true) => mine.contains(&middle),
            (None, false) => !elements.is_empty(),
        };
        if takes {
            shares.push(Share { which, input, elements, before });
        }
        before += n;
    }
    shares
}

fn fold_shares(
    args: &Reduction,
    executor: &Executor,
    dtype: DType,
    shares: Vec<Share>,
    bar: &Bar<'_>,
) -> Result<Folded, Failure> {
    let (op, policy) = (args.op(), args.policy());
    let (mut n, mut folding, mut done) = (0, Duration::ZERO, 0);
    // Refuses what has no such reduction where there is nothing to fold, too.
    Stream::new(op, dtype, policy)?;
    let (mut read, mut texts) = (Vec::new(), Vec::new());
    for Share { which, input, elements, before } in shares {
        let (name, watch, notes) = (input.name().clone(), input.monitor(), input.notes());
        let (counted, before_it) = (input.read_so_far(), done);
        let in_head = input.lines().map(|lines| lines.notes.clone()).unwrap_or_default();
        let first = elements.start;
        let mut folder = Folder::new(executor, op, dtype, policy)?;
        if needs_places(op, dtype) {
            folder = folder.starting_at(before + first);
        }
        let mut at = first;
        let mut pieces = input.range(Order::of(op), elements)?;
        while let Some(piece) = pieces.next_piece()? {
            let elements = input::array(dtype, piece, at).map_err(|p| Failure::input(&name, p))?;
            let (start, len) = (Instant::now(), elements.len() as u64);
            folder.push(elements)?;
            folding += start.elapsed();
            (at, n, done) = (at + len, n + len, done + piece.len() as u64);
            if let Some(counted) = &counted {
                done = before_it + counted.load(Relaxed);
            }
            bar.set(done);
        }
        watch.check()?;
        let start = Instant::now();
        read.push(Read { which, n: at - first, partial: folder.into_partial()? });
        folding += start.elapsed();
        texts.extend(notes.map(|notes| (which, without(notes.counts(), &in_head))));
    }
    bar.finish(done);
    Ok(Folded { texts, ..of(dtype, read, n, bar.elapsed(), folding) })
}

fn of(dtype: DType, read: Vec<Read>, n: u64, total: Duration, folding: Duration) -> Folded {
    let (inputs, names, texts) = (String::new(), Vec::new(), Vec::new());
    Folded { dtype, read, n, inputs, names, texts, device: Device::Cpu, total, folding }
}

/// Notes without those of the head, which the first part has.
pub(super) fn without(notes: Notes, head: &Notes) -> Notes {
    Notes {
        rows: notes.rows.saturating_sub(head.rows),
        rows_left_out: notes.rows_left_out.saturating_sub(head.rows_left_out),
        cells_left_out: notes.cells_left_out.saturating_sub(head.cells_left_out),
        nan_cells: notes.nan_cells.saturating_sub(head.nan_cells),
        ..notes
    }
}

/// Two columns of the lines of a text that are this rank's, if any are.
fn fold_columns(
    args: &Reduction,
    comm: &dyn Comm,
    bar: &Bar<'_>,
    executor: &Executor,
    shares: Vec<Share>,
) -> Result<Folded, Failure> {
    let dtype = args.dtype.unwrap_or(DType::F64);
    let mut folder = Folder::new(executor, Op::Dot, dtype, args.policy())?;
    let (mut folding, mut texts, mut done) = (Duration::ZERO, Vec::new(), 0);
    for Share { which, input, .. } in shares {
        let (watch, notes) = (input.monitor(), input.notes());
        let lines = input.lines();
        let in_head = lines.map(|lines| lines.notes.clone()).unwrap_or_default();
        let part = lines.map_or("all of it".into(), |lines| {
            format!("bytes {} to {}", lines.range.start, lines.range.end)
        });
        tell(args, comm, &input, &part);
        let push = |x: HostArray<'_>, y: HostArray<'_>| {
            let start = Instant::now();
            folder.push_pair(x, y)?;
            folding += start.elapsed();
            Ok(())
        };
        pairs_of_columns(input, push, |read| {
            done = read;
            bar.set(read);
        })?;
        watch.check()?;
        texts.extend(notes.map(|notes| (which, without(notes.counts(), &in_head))));
    }
    bar.finish(done);
    let n = folder.seen();
    let read = vec![Read { which: 0, n, partial: folder.into_partial()? }];
    Ok(Folded { texts, ..of(dtype, read, n, bar.elapsed(), folding) })
}

/// The same elements of two inputs.
fn fold_pair(
    args: &Reduction,
    comm: &dyn Comm,
    bar: &Bar<'_>,
    executor: &Executor,
    dtype: DType,
    inputs: Vec<Input>,
) -> Result<Folded, Failure> {
    let given = inputs.len();
    let [x, y]: [Input; 2] = inputs.try_into().map_err(|_| {
        Failure::Usage(format!(
            "dot takes exactly two inputs, not {given}; join the files of each array first"
        ))
    })?;
    let size = dtype.size() as u64;
    let elements = |input: &Input| input.bytes().unwrap_or(0) / size;
    let (left, right) = (elements(&x), elements(&y));
    if left != right {
        return Err(warpfold::Error::LengthMismatch { left, right }.into());
    }
    let grid = (GRID_BYTES / size).max(x.grain());
    let range = share(left, grid, comm.rank(), comm.size());
    let names = [x.name().clone(), y.name().clone()];
    let watches = [x.monitor(), y.monitor()];
    for input in [&x, &y] {
        tell(args, comm, input, &format!("elements {} to {}", range.start, range.end));
    }
    let mut folder = Folder::new(executor, Op::Dot, dtype, args.policy())?;
    let (mut n, mut folding) = (0, Duration::ZERO);
    if !range.is_empty() {
        let (mut x, mut y) = (x.range(Order::C, range.clone())?, y.range(Order::C, range.clone())?);
        loop {
            let view = |bytes, name| {
                input::array(dtype, bytes, range.start + n).map_err(|p| Failure::input(name, p))
            };
            let left = view(x.next_piece()?.unwrap_or_default(), &names[0])?;
            let right = view(y.next_piece()?.unwrap_or_default(), &names[1])?;
            if left.is_empty() && right.is_empty() {
                break;
            }
            let start = Instant::now();
            folder.push_pair(left, right)?;
            folding += start.elapsed();
            n += left.len() as u64;
            bar.set(2 * n * size);
        }
    }
    watches.iter().try_for_each(|watch| watch.check())?;
    let read = vec![Read { which: 0, n, partial: folder.into_partial()? }];
    bar.finish(2 * n * size);
    Ok(of(dtype, read, n, bar.elapsed(), folding))
}

/// The result and the number of all elements.
fn merge(
    args: &Reduction,
    comm: &dyn Comm,
    folded: &Result<Folded, Failure>,
) -> Result<(Output, u64), Merged> {
    let op = args.op();
    let finish = args.finish().map_err(Merged::Result)?;
    let dtype = folded.as_ref().map_or(DType::F64, |folded| folded.dtype);
    let agreement = agreement(args, dtype).map_err(Merged::Result)?;
    let partial = match folded {
        Ok(Folded { read, inputs, .. }) => {
            let agreement = agreement.and(inputs);
            let mine = joined(args, comm, &agreement, read)?;
            all_merge(comm, &agreement, Ok(&mine))
        }
        Err(failure) => all_merge(comm, &agreement, Err(&failure.to_string())),
    };
    let partial = partial?;
    let mut n = [folded.as_ref().map_or(0, |folded| folded.n)];
    comm.sum_u64(&mut n)?;
    let output = partial.finish(op, finish).map_err(|error| match error {
        warpfold::Error::Empty { .. } => warpfold::Error::Empty { op, ignored: n[0] > 0 },
        other => other,
    });
    Ok((output.map_err(|error| Merged::Result(error.into()))?, n[0]))
}

/// What this rank read as one partial, whose indices count from the start of all inputs.
fn joined(
    args: &Reduction,
    comm: &dyn Comm,
    agreement: &Agreement,
    read: &[Read],
) -> Result<AnyPartial, Merged> {
    let (op, dtype) = (args.op(), agreement.dtype());
    let needs_indices = matches!(op, Op::ArgMin | Op::ArgMax | Op::Stats);
    // Elements of each input that each rank has read.
    let all: Vec<Vec<(u64, u64)>> = match needs_indices {
        false => Vec::new(),
        true => {
            let mine = read.iter().flat_map(|read| [read.which, read.n]);
            let mine: Vec<u8> = mine.flat_map(u64::to_le_bytes).collect();
            let all = exchange(comm, agreement.clone().and("elements read").text(), Ok(&mine))?;
            let words = |bytes: &Vec<u8>| {
                let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
                let pairs = bytes.as_chunks::<8>().0.as_chunks::<2>().0.iter();
                pairs.map(|[which, n]| (word(which), word(n))).collect()
            };
            all.iter().map(words).collect()
        }
    };
    let mut total = AnyPartial::empty(op, dtype);
    for Read { which, partial, .. } in read {
        // Ranks have read each input in their order.
        let before: u64 = all
            .iter()
            .enumerate()
            .flat_map(|(rank, all)| all.iter().map(move |read| (rank, read)))
            .filter(|(rank, (other, _))| (*other, *rank) < (*which, comm.rank()))
            .map(|(_, (_, n))| n)
            .sum();
        // Kernels of extremes alone leave an index beyond all others.
        total.merge(&partial.clone().reindexed(&|index| index.saturating_add(before)));
    }
    Ok(total)
}

fn report(
    args: &Reduction,
    comm: &dyn Comm,
    folded: &Folded,
    (output, n): (Output, u64),
) -> Result<(), Failure> {
    let report = Report {
        op: args.op(),
        dtype: folded.dtype,
        n,
        output: output.into(),
        accuracy: args.accuracy,
        device: folded.device,
        seconds: folded.total.as_secs_f64(),
        fold_seconds: folded.folding.as_secs_f64(),
        texts: Vec::new(),
    };
    print(args, comm, (&folded.texts, &folded.names), report)
}

/// Rank 0 prints a report, with what all ranks found in their texts.
pub(super) fn print(
    args: &Reduction,
    comm: &dyn Comm,
    (mine, names): (&[(u64, Notes)], &[Name]),
    report: Report,
) -> Result<(), Failure> {
    let texts = texts::gather(comm, mine, names)?;
    if comm.rank() > 0 {
        return Ok(());
    }
    tell_texts(&texts);
    let report = Report { texts, ..report };
    if args.verbosity() == Verbosity::Verbose {
        crate::say!("time of rank 0: {}", report.timing());
    }
    deliver::one(args, &report)
}
