//! Expressions of whole inputs: a rank folds the same range of elements of all of them, or the same lines of texts; what is left is merged.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use warpfold::map::{Folded, Map};
use warpfold::{DType, Error, Op};
use warpfold_dist::{Comm, exchange, share};

use super::bar::Bar;
use super::whole::{GRID_BYTES, print, without};
use super::{Merged, agreement, alone, device, lines, settle, tell};
use crate::args::Reduction;
use crate::device::{self as devices, Device, Executor, Work};
use crate::input::text::Notes;
use crate::input::{Input, Name};
use crate::left_out::Joined;
use crate::mapped::{self, MapRequest, Side};
use crate::report::{Answer, Report};
use crate::{Failure, opening};

/// How inputs of an expression can be shared out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// By ranges of elements, of which there are so many.
    Ranges(u64),
    /// By lines of texts.
    Lines,
    /// Not at all.
    Alone,
}

/// What is asked for, and its inputs.
struct Opened {
    wanted: MapRequest,
    sides: Vec<Side>,
    map: Map,
    way: Way,
}

/// What a rank made of its share.
struct Share {
    wanted: MapRequest,
    map: Map,
    folded: Folded,
    way: Way,
    /// Elements of this share.
    n: u64,
    names: Vec<Name>,
    /// Which inputs are texts of this rank, and what it found in them.
    texts: Vec<(u64, Notes)>,
    device: Device,
    folding: Duration,
}

pub(super) fn reduction(args: &Reduction, comm: &dyn Comm, bar: &Bar<'_>) -> Result<(), Failure> {
    let opened = open(args, comm);
    // What all ranks have to find alike; whoever has nothing says so here.
    let text = agreement(args, args.dtype.unwrap_or(DType::F64))?.and(&words(args));
    let way = opened.as_ref().map(|opened| opened.way.bytes());
    let why = opened.as_ref().err().map(ToString::to_string).unwrap_or_default();
    let way = way.as_ref().map(|bytes| &bytes[..]).map_err(|_| why.as_str());
    let ways = match exchange(comm, text.text(), way) {
        Ok(ways) => ways,
        Err(error) => {
            return settle::<(), _>(comm, Err(error.into()), opened).map(drop);
        }
    };
    let mut opened = opened?;
    // Ranks that find files of other lengths differ, and say so.
    exchange(comm, text.and(&format!("{:?}", opened.way)).text(), Ok(&[]))?;
    if ways.iter().any(|way| way[..] == Way::Alone.bytes()) {
        return alone(
            args,
            comm,
            "inputs of an expression whose elements are known once they are read",
        );
    }
    let mut cut = Ok(());
    if opened.way == Way::Lines {
        let inputs = opened.sides.iter_mut().flat_map(|side| side.inputs_mut().iter_mut());
        cut = lines::cut(comm, "texts of an expression cut by lines", Ok(inputs.collect()))?;
    }
    let folded = cut.and_then(|()| fold(args, comm, bar, opened));
    let merged = merge(args, comm, &folded);
    bar.clear();
    let ((answer, n), folded) = settle(comm, merged, folded)?;
    report(args, comm, bar, folded, answer, n)
}

impl Way {
    fn bytes(self) -> Vec<u8> {
        match self {
            Way::Alone => vec![0],
            Way::Lines => vec![1],
            Way::Ranges(_) => vec![2],
        }
    }
}

/// The expressions, as all ranks were given them.
pub(super) fn words(args: &Reduction) -> String {
    let maps = &args.maps;
    let named = [("map", &maps.map), ("where", &maps.keep), ("weights", &maps.weights)];
    let mut words: Vec<String> = named
        .iter()
        .filter_map(|(name, text)| Some(format!("{name} {}", text.as_ref()?)))
        .collect();
    words.extend(maps.of.iter().map(|of| format!("of {}", of.name())));
    words.extend(maps.with.iter().map(|(name, file)| format!("with {name}={}", file.display())));
    words.join(" ")
}

fn open(args: &Reduction, comm: &dyn Comm) -> Result<Opened, Failure> {
    mapped::check(args)?;
    if comm.rank() == 0 {
        opening::check_result_file(args)?;
    }
    let (wanted, mut sides) = mapped::opened(args)?;
    sides.iter_mut().for_each(|side| side.decide(args));
    let map = wanted.map(args, &mapped::types(&sides))?;
    let way = way(args, &sides, &map)?;
    Ok(Opened { wanted, sides, map, way })
}

/// How the inputs can be shared out.
fn way(args: &Reduction, sides: &[Side], map: &Map) -> Result<Way, Failure> {
    let Some(first) = sides.first() else { return Ok(Way::Alone) };
    if let Some(n) = first.elements() {
        let lengths = sides.iter().map(|side| Some((side.elements()?, side)));
        let Some(lengths) = lengths.collect::<Option<Vec<_>>>() else { return Ok(Way::Alone) };
        return match lengths.iter().all(|(length, _)| *length == n) {
            true => Ok(Way::Ranges(n)),
            // What one process says is said by one.
            false => Ok(Way::Alone),
        };
    }
    let all = || sides.iter().flat_map(Side::inputs);
    let ops = map.tasks().iter().filter_map(|task| match task {
        warpfold::map::Task::Values(op, _) => Some(*op),
        _ => None,
    });
    // Products of floats are multiplied by places, and indices count through all texts: one text has them once all ranks have read theirs.
    let mut ops = ops.collect::<Vec<Op>>().into_iter();
    let files = first.inputs().count();
    let fits = ops.all(|op| match op {
        Op::Prod => false,
        Op::ArgMin | Op::ArgMax | Op::Stats => files == 1,
        _ => true,
    });
    let is_of_files = all().all(|input| matches!(input.name(), Name::File(_)));
    Ok(match mapped::is_text(args) && args.maps.with.is_empty() && fits && is_of_files {
        true => Way::Lines,
        false => Way::Alone,
    })
}

/// Folds this rank's share of all inputs.
fn fold(
    args: &Reduction,
    comm: &dyn Comm,
    bar: &Bar<'_>,
    opened: Opened,
) -> Result<Share, Failure> {
    let Opened { wanted, mut sides, map, way } = opened;
    let (rank, size) = (comm.rank(), comm.size());
    let names: Vec<Name> =
        sides.iter().flat_map(Side::inputs).map(|input| input.name().clone()).collect();
    bar.start(args, sides.iter().flat_map(Side::inputs).filter_map(Input::work).sum());
    let mut first = 0;
    let mut part = String::new();
    if let Way::Ranges(n) = way {
        let inputs = || sides.iter().flat_map(Side::inputs);
        let grain = inputs().map(Input::grain).max().unwrap_or(1);
        // Whole cache lines of every input.
        let least = inputs().map(|input| input.dtype().size() as u64).min().unwrap_or(1);
        let range = share(n, grain.max(GRID_BYTES / least), rank, size);
        first = range.start;
        part = format!("elements {} to {}", range.start, range.end);
        sides.iter_mut().for_each(|side| side.take_range(range.clone()));
    }
    for side in &sides {
        side.inputs().for_each(|input| {
            let part = match input.lines() {
                Some(lines) => format!("bytes {} to {}", lines.range.start, lines.range.end),
                None => part.clone(),
            };
            tell(args, comm, input, &part);
        });
    }
    // Notes of what this rank reads, without those of a head that stands before its part.
    let mut noted = Vec::new();
    let (mut watches, mut read, mut which) = (Vec::new(), Vec::new(), 0u64);
    for side in &mut sides {
        let mut number = 0;
        side.inputs_mut().retain(|input| {
            watches.push(input.monitor());
            let takes = match (input.lines(), way) {
                (_, Way::Ranges(_)) => true,
                (Some(lines), _) => !lines.range.is_empty(),
                // A text that is not cut is one rank's; what is wrong with an empty one, all find alike.
                (None, _) => number % size == rank || input.work() == Some(0),
            };
            if let (true, Some(notes)) = (takes, input.notes()) {
                let in_head = input.lines().map(|lines| lines.notes.clone()).unwrap_or_default();
                noted.push((which, notes, in_head));
            }
            read.extend(input.read_so_far());
            number += 1;
            which += 1;
            takes
        });
    }
    let executor = executor(args, comm, &map)?;
    let (mut folded, mut n, mut done, mut folding) = (map.empty(), 0, 0, Duration::ZERO);
    while let Some((count, bytes)) = mapped::step(&mut sides, first + n, |arrays| {
        let start = Instant::now();
        folded.merge(&executor.fold_map(&map, arrays, first + n)?);
        folding += start.elapsed();
        Ok(())
    })
    .map_err(|failure| in_part(failure, way, &names))?
    {
        n += count;
        done += bytes;
        let texts: u64 = read.iter().map(|read| read.load(Relaxed)).sum();
        bar.set(done.max(texts));
    }
    watches.iter().try_for_each(|watch| watch.check())?;
    bar.finish(done);
    let texts =
        noted.into_iter().map(|(which, notes, in_head)| (which, without(notes.counts(), &in_head)));
    let (texts, device) = (texts.collect(), executor.device());
    Ok(Share { wanted, map, folded, way, n, names, texts, device, folding })
}

/// Of a part of a text nobody knows how many elements are before it: an index in an error counts from there.
fn in_part(failure: Failure, way: Way, names: &[Name]) -> Failure {
    match (failure, way, names.first()) {
        (Failure::Reduction(error @ Error::Map { .. }), Way::Lines, Some(name)) => {
            Failure::Data(format!(
                "{name}, of which this rank has a part, whose elements are counted from the first of that part; without --world they are counted from the first of the file: {error}"
            ))
        }
        (failure, ..) => failure,
    }
}

fn executor(args: &Reduction, comm: &dyn Comm, map: &Map) -> Result<Executor, Failure> {
    let work = Work { op: args.op(), dtype: map.dtype(), policy: args.policy(), bytes: None };
    Ok(devices::choose(device(args, comm)?, work, &args.tuning())?.executor)
}

/// The results, and the number of all elements.
fn merge(
    args: &Reduction,
    comm: &dyn Comm,
    folded: &Result<Share, Failure>,
) -> Result<(Answer, u64), Merged> {
    let finish = args.finish().map_err(Merged::Result)?;
    let bytes = folded.as_ref().map(|share| {
        let mut bytes = share.n.to_le_bytes().to_vec();
        bytes.extend_from_slice(&share.folded.to_bytes());
        bytes
    });
    let why = folded.as_ref().err().map(ToString::to_string).unwrap_or_default();
    let mine = bytes.as_ref().map(|bytes| &bytes[..]).map_err(|_| why.as_str());
    let all = exchange(comm, "what is left of an expression", mine)?;
    let Ok(Share { wanted, map, way, .. }) = folded else {
        unreachable!("a rank without a share has said so");
    };
    let (mut total, mut n) = (map.empty(), 0);
    for (rank, bytes) in all.iter().enumerate() {
        let refused = |why: String| warpfold_dist::Error::Contribution { rank, why };
        let (count, rest) = bytes
            .split_first_chunk()
            .ok_or_else(|| refused("what is left of its share is too short".into()))?;
        let left = map.read(rest).map_err(|error| refused(error.to_string()))?;
        // Ranges count from the start of all, and lines from that of a rank's own.
        total.merge(&if *way == Way::Lines { left.behind(n) } else { left });
        n += u64::from_le_bytes(*count);
    }
    // Nothing counts rows that were left out: indices are refused with them (`world::check`).
    let answer = wanted.answer(args.op(), (map, &total), finish, &Joined::default());
    let answer = answer.map_err(|failure| Merged::Result(mapped::kept_none(args, n, failure)));
    Ok((answer?, n))
}

fn report(
    args: &Reduction,
    comm: &dyn Comm,
    bar: &Bar<'_>,
    share: Share,
    output: Answer,
    n: u64,
) -> Result<(), Failure> {
    let report = Report {
        op: args.op(),
        dtype: share.map.dtype(),
        n,
        output,
        accuracy: args.accuracy,
        device: share.device,
        seconds: bar.elapsed().as_secs_f64(),
        fold_seconds: share.folding.as_secs_f64(),
        texts: Vec::new(),
    };
    print(args, comm, (&share.texts, &share.names), report)
}
