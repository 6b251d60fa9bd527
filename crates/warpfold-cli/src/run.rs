//! From what was asked to what is printed: open the inputs, fold their pieces, report.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use warpfold::partial::{Finish, Output};
use warpfold::{DType, Op};
use warpfold_engine::HostArray;

use crate::args::{ProgressBar, Reduction, Verbosity};
use crate::device::{self, Folder, Work};
use crate::input::text::MissingRuns;
use crate::input::{self, Input, Order};
use crate::left_out::{Joined, Pairs, Texts};
use crate::progress::Progress;
use crate::report::Report;
use crate::{Failure, deliver, opening};

/// Runs a reduction, or many, and prints what comes of it.
pub(crate) fn reduction(args: &Reduction) -> Result<(), Failure> {
    if args.maps.operator.is_some() {
        return crate::batched::by_operator(args);
    }
    if args.parts.any() {
        return crate::batched::reduction(args);
    }
    if args.maps.any() {
        return crate::mapped::reduction(args);
    }
    let (finish, policy) = (args.finish()?, args.policy());
    let is_of_two = args.inputs.len() == 2 || args.is_dot_of_columns();
    if args.op() == Op::Dot && args.random()?.is_none() && !is_of_two {
        return Err(Failure::Usage(format!(
            "dot takes exactly two inputs, not {}, or two columns of one, each by --column; join the files of each array first",
            args.inputs.len()
        )));
    }
    if let Some((_, format)) = &args.out {
        format.check_one()?;
    }
    opening::check_result_file(args)?;
    let inputs = opening::open(args)?;
    if args.verbosity() == Verbosity::Verbose {
        for input in &inputs {
            crate::say!("input: {}: {}", input.name(), input.describe());
        }
    }
    let texts = Texts::of(&inputs);
    let dtype = inputs.first().map_or(DType::F64, Input::dtype);
    let work = Work { op: args.op(), dtype, policy, bytes: elements_bytes(&inputs) };
    let chosen = device::choose(args.device, work, &args.tuning())?;
    let progress = Progress::start(args.progress(), total(&inputs));
    let folder = Folder::new(&chosen.executor, args.op(), dtype, policy)?;
    let folded = fold(folder, inputs, args.op(), progress, finish)?;
    let report = Report {
        op: args.op(),
        dtype,
        n: folded.n,
        output: folded.output.into(),
        accuracy: args.accuracy,
        device: chosen.executor.device(),
        seconds: folded.total.as_secs_f64(),
        fold_seconds: folded.folding.as_secs_f64(),
        texts: texts.found(args.verbosity() == Verbosity::Verbose),
    };
    if args.verbosity() == Verbosity::Verbose {
        crate::say!("plan: {}", folded.plan);
        if let Some(why) = &chosen.why {
            let (device, gpus) = (chosen.executor.device(), device::cuda::remark());
            crate::say!("device: auto takes {device}: {why}; {gpus}");
        }
        crate::say!("time: {}", report.timing());
    }
    deliver::one(args, &report)
}

/// Bytes of work in all, where every input knows its own.
fn total(inputs: &[Input]) -> Option<u64> {
    inputs.iter().map(Input::work).sum()
}

/// Bytes of the elements in all, where every input knows its own.
fn elements_bytes(inputs: &[Input]) -> Option<u64> {
    inputs.iter().map(Input::bytes).sum()
}

/// What is left of the inputs.
struct Folded {
    output: Output,
    n: u64,
    plan: String,
    total: Duration,
    folding: Duration,
}

fn fold(
    mut folder: Folder,
    inputs: Vec<Input>,
    op: Op,
    progress: Progress,
    finish: Finish,
) -> Result<Folded, Failure> {
    let mut clock = Clock { progress, folding: Duration::ZERO };
    let mut joined = Joined::default();
    if op == Op::Dot {
        match <[Input; 1]>::try_from(inputs) {
            Ok([input]) => {
                let (progress, folding) = (&mut clock.progress, &mut clock.folding);
                let push = |x: HostArray<'_>, y: HostArray<'_>| {
                    let start = Instant::now();
                    folder.push_pair(x, y)?;
                    *folding += start.elapsed();
                    Ok(())
                };
                opening::pairs_of_columns(input, push, |read| progress.set(read))?;
            }
            Err(inputs) => fold_pair(&mut folder, inputs, &mut clock)?,
        }
    } else {
        joined = fold_joined(&mut folder, inputs, Order::of(op), &mut clock)?;
    }
    let (n, plan) = (folder.seen(), folder.plan()?);
    let output = joined.in_data(op, clock.time(|| folder.finish(finish))?);
    Ok(Folded { output, n, plan, total: clock.progress.elapsed(), folding: clock.folding })
}

/// Folds inputs, one after another as one array, and says how many elements they have.
pub(crate) fn fold_all(folder: &mut Folder, inputs: Vec<Input>, op: Op) -> Result<u64, Failure> {
    let progress = Progress::start(ProgressBar::Off, None);
    let mut clock = Clock { progress, folding: Duration::ZERO };
    fold_joined(folder, inputs, Order::of(op), &mut clock)?;
    Ok(folder.seen())
}

/// Time in all and time spent folding.
struct Clock {
    progress: Progress,
    folding: Duration,
}

impl Clock {
    fn time<R>(&mut self, work: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = work();
        self.folding += start.elapsed();
        result
    }
}

/// One array after another, as one.
fn fold_joined(
    folder: &mut Folder,
    inputs: Vec<Input>,
    order: Order,
    clock: &mut Clock,
) -> Result<Joined, Failure> {
    let mut before = 0;
    let mut joined = Joined::default();
    for input in inputs {
        let (name, read, notes) = (input.name().clone(), input.read_so_far(), input.notes());
        let (mut first, mut bytes) = (0, 0);
        let mut pieces = input.pieces(order)?;
        while let Some(piece) = pieces.next_piece()? {
            let elements = input::array(folder.dtype(), piece, first)
                .map_err(|problem| Failure::input(&name, problem))?;
            clock.time(|| folder.push(elements))?;
            first += elements.len() as u64;
            bytes += piece.len() as u64;
            let done = read.as_ref().map_or(bytes, |read| read.load(Relaxed));
            clock.progress.set(before + done);
        }
        before += read.as_ref().map_or(bytes, |read| read.load(Relaxed));
        joined.push(first, notes.map_or_else(MissingRuns::default, |notes| notes.take_gaps()));
    }
    Ok(joined)
}

/// Two arrays side by side. Pieces are of one size whatever the input, so they pair up until one array ends.
fn fold_pair(folder: &mut Folder, inputs: Vec<Input>, clock: &mut Clock) -> Result<(), Failure> {
    let dtype = folder.dtype();
    let size = dtype.size() as u64;
    let [x, y]: [Input; 2] =
        inputs.try_into().map_err(|_| Failure::Usage("dot takes exactly two inputs".into()))?;
    if let (Some(left), Some(right)) = (x.bytes(), y.bytes())
        && left != right
    {
        return Err(
            warpfold::Error::LengthMismatch { left: left / size, right: right / size }.into()
        );
    }
    let names = [x.name().clone(), y.name().clone()];
    let mut pairs = Pairs::new(dtype.size(), [x.notes(), y.notes()]);
    let mut first = 0;
    let (mut x, mut y) = (x.pieces(Order::C)?, y.pieces(Order::C)?);
    loop {
        let left = x.next_piece()?.unwrap_or_default();
        let right = y.next_piece()?.unwrap_or_default();
        for (bytes, name) in [(left, &names[0]), (right, &names[1])] {
            input::array(dtype, bytes, first).map_err(|problem| Failure::input(name, problem))?;
        }
        if left.len() != right.len() {
            let (shorter, longer) = if left.len() < right.len() { (0, 1) } else { (1, 0) };
            let problem = input::Problem::Shorter {
                elements: first + left.len().min(right.len()) as u64 / size,
                other: names[longer].clone(),
            };
            return Err(Failure::input(&names[shorter], problem));
        }
        if left.is_empty() {
            return Ok(());
        }
        pairs.each(first, [left, right], |left, right| {
            let view = |bytes, name| {
                let array = input::array(dtype, bytes, first);
                array.map_err(|problem| Failure::input(name, problem))
            };
            let (left, right) = (view(left, &names[0])?, view(right, &names[1])?);
            Ok(clock.time(|| folder.push_pair(left, right))?)
        })?;
        first += left.len() as u64 / size;
        clock.progress.set(2 * first * size);
    }
}
