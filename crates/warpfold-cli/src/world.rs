//! `--world`: one reduction by all processes that a launcher started, each of which folds its share of the inputs.
//!
//! Shares are ranges of elements, as even as bytes allow, of all inputs one after another; a text goes to one rank as a whole, because its
//! elements can be counted only by reading it. Every rank merges the partials of all, and rank 0 prints.

use std::ops::Range;
use std::time::{Duration, Instant};

use warpfold::partial::Output;
use warpfold::{AnyPartial, DType, Op};
use warpfold_dist::{Agreement, Comm, Mpi, Tcp, all_merge, exchange, share};
use warpfold_engine::Stream;

use crate::args::{ProgressBar, Reduction, Verbosity};
use crate::device::Device;
use crate::input::text::{Gaps, Missing, Notes};
use crate::input::{self, Input, Name, Order};
use crate::left_out::TextNotes;
use crate::progress::Progress;
use crate::report::{self, Format, Report};
use crate::{Failure, run, streams};

/// Who carries bytes between ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Launcher {
    /// MPI under mpirun, TCP under torchrun and srun, or as the variables WARPFOLD_RANK and so on say
    Auto,
    /// Open MPI, MPICH or another library of the MPI 5.0 ABI, found when the program runs
    Mpi,
    /// Sockets; WARPFOLD_TOKEN keeps strangers out
    Tcp,
}

/// The elements of shares begin at multiples of so many bytes: a cache line.
const GRID_BYTES: u64 = 64;

fn enter(launcher: Launcher) -> Result<Box<dyn Comm>, Failure> {
    let is_set = |name: &&str| std::env::var_os(name).is_some();
    let mpi = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"];
    Ok(match launcher {
        Launcher::Auto if is_set(&"WARPFOLD_RANK") => Box::new(Tcp::from_env()?),
        Launcher::Auto if mpi.iter().any(is_set) => Box::new(Mpi::load()?),
        Launcher::Auto | Launcher::Tcp => Box::new(Tcp::from_env()?),
        Launcher::Mpi => Box::new(Mpi::load()?),
    })
}

/// Runs a reduction as one rank of many.
pub(crate) fn reduction(asked: &Reduction) -> Result<(), Failure> {
    check(asked)?;
    let launcher = asked.world.unwrap_or(Launcher::Auto);
    let comm = enter(launcher)?;
    let folded = fold(asked, &*comm);
    let merged = merge(asked, &*comm, &folded);
    match (merged, folded) {
        (Ok(merged), Ok(folded)) => report(asked, &*comm, &folded, merged),
        // A rank that failed tells its own story; the others name it.
        (Err(Merged::World(_)), Err(own)) => Err(own),
        (Err(Merged::World(error)), Ok(_)) => Err(error.into()),
        (Err(Merged::Result(failure)), _) if comm.rank() == 0 => Err(failure),
        (Err(Merged::Result(failure)), _) => Err(Failure::Told(failure.exit_code())),
        (Ok(_), Err(own)) => Err(own),
    }
}

/// Fails for what ranks do not share out.
fn check(asked: &Reduction) -> Result<(), Failure> {
    let refused = |what: &str| {
        Err(Failure::Usage(format!("--world shares out whole arrays of files on the CPU, {what}")))
    };
    if asked.parts.any() {
        return refused(
            "and not segments, axes and keys; leave it out, or reduce each part as a file of its own",
        );
    }
    if asked.maps.any() {
        return refused("and not yet expressions; leave out --map, --where, --weights and --with");
    }
    if asked.random()?.is_some() {
        return refused("and no random numbers; save them to a file first");
    }
    if !matches!(asked.device, Device::Auto | Device::Cpu) {
        return refused("and not yet on GPUs; leave out --device");
    }
    if asked.op() == Op::Dot {
        return refused("and no pairs of them; leave it out for dot");
    }
    if asked.inputs.iter().any(|path| path.as_os_str() == "-") {
        return refused("and no standard input, which ranks do not have; name a file");
    }
    let gives_indices = matches!(asked.op(), Op::ArgMin | Op::ArgMax | Op::Stats);
    if gives_indices && asked.written.dialect(false).missing == Missing::Skip {
        return refused("and not yet indices where --missing skip leaves rows out; leave it out");
    }
    if let Some((_, format)) = &asked.out {
        format.check_one()?;
    }
    asked.finish().map(drop)
}

/// What a rank made of its share.
struct Folded {
    dtype: DType,
    part: Box<warpfold_dist::AnyPartial>,
    /// Elements of this share.
    n: u64,
    /// What all ranks have to find alike: number and sizes of the inputs.
    inputs: String,
    /// What the inputs are called.
    names: Vec<Name>,
    /// Which inputs are texts of this rank, and what it found in them.
    texts: Vec<(u64, Notes)>,
    total: Duration,
    folding: Duration,
}

/// A share of one input.
struct Share {
    /// Which input it is, from 0.
    which: u64,
    input: Input,
    elements: Range<u64>,
    /// Elements of the inputs before this one.
    before: u64,
}

fn fold(asked: &Reduction, comm: &dyn Comm) -> Result<Folded, Failure> {
    let is_first = comm.rank() == 0;
    if is_first {
        run::check_result_file(asked)?;
    }
    let inputs = run::open(asked)?;
    if let Some(stream) = inputs.iter().find(|input| input.work().is_none()) {
        return Err(Failure::input(stream.name(), input::Problem::NoRange));
    }
    let dtype = inputs.first().map_or(DType::F64, Input::dtype);
    let op = asked.op();
    let needs_indices =
        matches!(op, Op::ArgMin | Op::ArgMax | Op::Stats) || (op == Op::Prod && dtype.is_float());
    if needs_indices && inputs.len() > 1 && inputs.iter().any(Input::is_text) {
        return Err(Failure::Usage(format!(
            "{op} of {dtype} needs the index of each element, and the elements of a text are known once it is read; with --world give one text, or .npy files"
        )));
    }
    let described = describe(&inputs, dtype);
    let names: Vec<Name> = inputs.iter().map(|input| input.name().clone()).collect();
    let shares = shares(inputs, dtype, comm);
    if asked.verbosity() == Verbosity::Verbose {
        for Share { input, elements, .. } in &shares {
            let part = match input.is_text() {
                true => "all of it".to_string(),
                false => format!("elements {} to {}", elements.start, elements.end),
            };
            let (rank, size) = (comm.rank(), comm.size());
            crate::say!("rank {rank} of {size}: {}: {}; {part}", input.name(), input.describe());
        }
    }
    let mode = if is_first { asked.progress() } else { ProgressBar::Off };
    let bytes = shares.iter().map(|share| share.elements.end - share.elements.start).sum::<u64>();
    let progress = Progress::start(mode, Some(bytes * dtype.size() as u64));
    let folded = fold_shares(asked, dtype, shares, described, progress)?;
    Ok(Folded { names, ..folded })
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
    let grid = GRID_BYTES / size;
    let work = |input: &Input| input.work().unwrap_or(0).div_ceil(grid * size);
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
        let takes = if input.is_text() { mine.contains(&middle) } else { !elements.is_empty() };
        if takes {
            shares.push(Share { which, input, elements, before });
        }
        before += n;
    }
    shares
}

fn fold_shares(
    asked: &Reduction,
    dtype: DType,
    shares: Vec<Share>,
    inputs: String,
    mut progress: Progress,
) -> Result<Folded, Failure> {
    let (op, policy) = (asked.op(), asked.policy());
    let (mut n, mut folding, mut done) = (0, Duration::ZERO, 0);
    let mut total = AnyPartial::empty(op, dtype);
    // Refuses what has no such reduction where there is nothing to fold, too.
    Stream::new(op, dtype, policy)?;
    let mut texts = Vec::new();
    for Share { which, input, elements, before } in shares {
        let (name, watch, notes) = (input.name().clone(), input.watch(), input.notes());
        let mut at = elements.start;
        let mut pieces = input.range(Order::of(op), elements)?;
        while let Some(piece) = pieces.next_piece()? {
            let elements = input::array(dtype, piece, at).map_err(|p| Failure::input(&name, p))?;
            let (start, first) = (Instant::now(), before + at);
            let mut stream = Stream::new(op, dtype, policy)?.starting_at(first);
            stream.push(elements)?;
            let partial = stream.partial().cloned();
            let partial = partial.unwrap_or_else(|| AnyPartial::empty(op, dtype));
            let len = elements.len() as u64;
            total.merge(&partial);
            folding += start.elapsed();
            (at, n, done) = (at + len, n + len, done + piece.len() as u64);
            progress.set(done);
        }
        watch.check()?;
        texts.extend(notes.map(|notes| (which, notes.counts())));
    }
    let part = Box::new(total);
    let (names, total) = (Vec::new(), progress.elapsed());
    Ok(Folded { dtype, part, n, inputs, names, texts, total, folding })
}

/// Why there is no merged result.
enum Merged {
    /// Between ranks.
    World(warpfold_dist::Error),
    /// All partials came, and have no result: every rank finds the same.
    Result(Failure),
}

/// The result and the number of all elements.
fn merge(
    asked: &Reduction,
    comm: &dyn Comm,
    folded: &Result<Folded, Failure>,
) -> Result<(Output, u64), Merged> {
    let op = asked.op();
    let finish = asked.finish().map_err(Merged::Result)?;
    let dtype = folded.as_ref().map_or(DType::F64, |folded| folded.dtype);
    let round_to = finish.round_to.map_or(String::new(), |to| format!("as {to}"));
    let agreement = Agreement::new(op, dtype).policy(&asked.policy()).and(&round_to);
    let ddof = if finish.ddof == 0 { String::new() } else { format!("ddof {}", finish.ddof) };
    let agreement = agreement.and(&ddof);
    let partial = match folded {
        Ok(Folded { part, inputs, .. }) => {
            all_merge(comm, &agreement.and(inputs), Ok(part.as_ref()))
        }
        Err(failure) => all_merge(comm, &agreement, Err(&failure.to_string())),
    };
    let partial = partial.map_err(Merged::World)?;
    let mut n = [folded.as_ref().map_or(0, |folded| folded.n)];
    comm.sum_u64(&mut n).map_err(Merged::World)?;
    let output = partial.finish(op, finish).map_err(|error| match error {
        warpfold::Error::Empty { .. } => warpfold::Error::Empty { op, ignored: n[0] > 0 },
        other => other,
    });
    Ok((output.map_err(|error| Merged::Result(error.into()))?, n[0]))
}

/// What all ranks found in their texts, in the order of the inputs.
fn texts(comm: &dyn Comm, folded: &Folded) -> Result<Vec<TextNotes>, Failure> {
    const NUMBERS: usize = 5;
    let mine = folded.texts.iter().flat_map(|(which, notes)| {
        let Notes { names, rows, rows_left_out, nan_cells, gaps: _ } = *notes;
        // Lines count from 1.
        [*which, names.unwrap_or(0), rows, rows_left_out, nan_cells]
    });
    let mine: Vec<u8> = mine.flat_map(u64::to_le_bytes).collect();
    let all = exchange(comm, "what was found in texts", Ok(&mine))?.concat();
    let numbers: Vec<u64> =
        all.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
    let mut found: Vec<&[u64; NUMBERS]> = numbers.as_chunks().0.iter().collect();
    found.sort_unstable();
    let of = |&[which, names, rows, rows_left_out, nan_cells]: &[u64; NUMBERS]| {
        let names = (names > 0).then_some(names);
        let notes = Notes { names, rows, rows_left_out, nan_cells, gaps: Gaps::default() };
        Some(TextNotes { name: folded.names.get(usize::try_from(which).ok()?)?.clone(), notes })
    };
    Ok(found.into_iter().filter_map(of).collect())
}

fn report(
    asked: &Reduction,
    comm: &dyn Comm,
    folded: &Folded,
    (output, n): (Output, u64),
) -> Result<(), Failure> {
    let texts = texts(comm, folded)?;
    if comm.rank() > 0 {
        return Ok(());
    }
    let report = Report {
        op: asked.op(),
        dtype: folded.dtype,
        n,
        output: output.into(),
        accuracy: asked.accuracy,
        device: Device::Cpu,
        seconds: folded.total.as_secs_f64(),
        fold_seconds: folded.folding.as_secs_f64(),
        texts,
    };
    if asked.verbosity() == Verbosity::Verbose {
        crate::say!("time of rank 0: {}", report.timing());
    }
    if let Some((path, format)) = &asked.out {
        report::replace_file(path, *format, &report)?;
    }
    streams::print(&asked.format.unwrap_or(Format::Text).bytes(&report)?)
}
