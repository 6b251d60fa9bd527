//! Many results at once: by axes, segments or keys of one input, which is taken as a whole.

mod keys;
mod numbers;

use std::time::Instant;

use warpfold::partial::Finish;
use warpfold::plan::BatchPlan;
use warpfold::{
    Arrange, Columns, Element, Key, Op, ReduceMany, Result as Reduced, Segments, group_by,
    group_dense, reduce_axes, reduce_by_key, reduce_segments, with_element,
};

use crate::args::{Reduction, Verbosity};
use crate::device::Device;
use crate::input::{Input, Order, Whole};
use crate::table::{Labels, Table};
use crate::{Failure, interrupt, report, run, table};
use keys::with_key;
use numbers::Numbers;

/// Runs many reductions and prints their results.
pub(crate) fn reduction(asked: &Reduction) -> Result<(), Failure> {
    check(asked)?;
    let (finish, policy) = (asked.finish()?, asked.policy());
    run::limit_threads(policy);
    let begun = Instant::now();
    interrupt::listen();
    let input = only(run::open(asked)?, asked.op())?;
    if asked.verbosity() == Verbosity::Verbose {
        anstream::eprintln!("input: {}: {}", input.name(), input.describe());
    }
    // Axes find their way in any order; segments and keys count elements as NumPy numbers them.
    let order = if asked.parts.axis.is_empty() { Order::C } else { Order::Memory };
    let whole = input.whole(order)?;
    let folding = Instant::now();
    let found = with_element!(whole.dtype(), T => fold::<T>(asked, &whole, finish))?;
    interrupt::check()?;
    let table = Table {
        op: asked.op(),
        dtype: whole.dtype(),
        n: found.plan.batch.elements(),
        labels: found.labels,
        columns: found.columns,
        accuracy: asked.accuracy,
        device: Device::Cpu,
        seconds: begun.elapsed().as_secs_f64(),
        fold_seconds: folding.elapsed().as_secs_f64(),
    };
    if asked.verbosity() == Verbosity::Verbose {
        anstream::eprintln!("plan: {}", found.plan);
        anstream::eprintln!("time: {}", table.timing());
    }
    if let Some((path, format)) = &asked.out {
        table::replace_file(path, *format, &table)?;
    }
    table::print(asked.format, &table, asked.out.is_some())
}

/// What makes no sense whatever the input holds.
fn check(asked: &Reduction) -> Result<(), Failure> {
    if asked.op() == Op::Dot {
        let message = "dot by axes, segments or keys is not there; multiply first, then sum";
        return Err(Failure::Usage(message.into()));
    }
    if !matches!(asked.device, Device::Auto | Device::Cpu) {
        return Err(Failure::Usage(format!(
            "--device {} does not reduce by axes, segments or keys yet; leave it out",
            asked.device
        )));
    }
    if asked.parts.flat && !matches!(asked.op(), Op::ArgMin | Op::ArgMax | Op::Stats) {
        return Err(Failure::Usage(format!(
            "--flat says from where indices count, and {} gives none; argmin, argmax and stats take it",
            asked.op()
        )));
    }
    match &asked.out {
        Some((path, _)) => report::check_target(path),
        None => Ok(()),
    }
}

fn only(inputs: Vec<Input>, op: Op) -> Result<Input, Failure> {
    let [input]: [Input; 1] = inputs.try_into().map_err(|inputs: Vec<Input>| {
        Failure::Usage(format!(
            "{op} by axes, segments or keys takes one input, not {}; join the files first",
            inputs.len()
        ))
    })?;
    Ok(input)
}

/// What many reductions gave.
struct Found {
    plan: BatchPlan,
    labels: Labels,
    columns: Columns,
}

fn fold<T: Element>(asked: &Reduction, whole: &Whole, finish: Finish) -> Result<Found, Failure> {
    let parts = &asked.parts;
    if !parts.axis.is_empty() {
        let view = whole.view::<T>()?;
        let many = reduce_axes(&view, &parts.axis)?;
        let many = if parts.keepdims { many.keepdims() } else { many };
        let labels = Labels::Axes(many.shape().to_vec());
        return found(asked, many, labels, finish);
    }
    let x = whole.elements::<T>()?;
    if let Some(path) = &parts.by {
        return with_key!(keys::read(asked, path)?, K, keys => by_key::<K, T>(asked, keys, x, finish));
    }
    let (what, path) = match (&parts.segments, &parts.lengths) {
        (Some(path), _) => ("offsets", path),
        (_, Some(path)) => ("lengths", path),
        _ => {
            let every = parts.every.expect("one of the options was given");
            let many = reduce_segments(x, Segments::every(every))?;
            return found(asked, many, Labels::Segments, finish);
        }
    };
    let numbers = Numbers::read(path, what)?;
    let segments = match what {
        "offsets" => Segments::Offsets(numbers.as_numbers()),
        _ => Segments::Lengths(numbers.as_numbers()),
    };
    found(asked, reduce_segments(x, segments)?, Labels::Segments, finish)
}

fn by_key<K: Key, T: Element>(
    asked: &Reduction,
    keys: &[K],
    x: &[T],
    finish: Finish,
) -> Result<Found, Failure> {
    if let Some(groups) = asked.parts.groups {
        return found(asked, group_dense(keys, groups, x)?, Labels::Numbers, finish);
    }
    let many = if asked.parts.sorted { reduce_by_key(keys, x)? } else { group_by(keys, x)? };
    let labels = Labels::Keys(keys::column(many.keys()));
    found(asked, many, labels, finish)
}

fn found<T: Element, A: Arrange>(
    asked: &Reduction,
    many: ReduceMany<'_, T, A>,
    labels: Labels,
    finish: Finish,
) -> Result<Found, Failure> {
    let many = many.policy(asked.policy());
    let many = if asked.parts.flat { many.flat_indices() } else { many };
    let columns: Reduced<Columns> = many.columns(asked.op(), finish);
    Ok(Found { plan: many.plan(asked.op()), labels, columns: columns? })
}
