//! Expressions in parts: every rank takes a share of the elements in the order of outputs. It has the results of outputs that lie in there, and what is
//! left of those that it cuts.

use std::sync::Arc;
use std::time::Instant;

use warpfold::map::{Folded, Share};
use warpfold::partial::Output;
use warpfold::{Column, Op, Value};
use warpfold_dist::{Agreement, Comm, exchange};
use warpfold_engine::Parts;

use super::super::{Merged, agreement, mapped::words, settle};
use super::gathered::{self, Missing, Slab};
use super::{Columns, parts as parts_in_words, pieces};
use crate::Failure;
use crate::args::{Reduction, Verbosity};
use crate::batched::{self, Opened};
use crate::device::Device;
use crate::mapped::kept_none;
use crate::table::{self, Labels, Table, Titles};

/// What a rank made of its share.
struct Taken<'o> {
    opened: &'o Opened,
    parts: Arc<Parts<'o>>,
    labels: Labels,
    share: Share,
    folding: f64,
}

pub(in crate::world) fn reduction(args: &Reduction, comm: &dyn Comm) -> Result<(), Failure> {
    let begun = Instant::now();
    let opened = match batched::open_mapped(args) {
        Ok(opened) => opened,
        // What is wrong with the inputs is the story to tell.
        Err(failure) => {
            let merged = fail(args, comm, &failure);
            return settle::<_, ()>(comm, merged, Err(failure)).map(drop);
        }
    };
    let taken = take(args, comm, &opened);
    let merged = match &taken {
        Ok(taken) => merge(args, comm, taken),
        Err(failure) => fail(args, comm, failure),
    };
    let taken = taken.map(|Taken { labels, folding, .. }| (labels, folding));
    let (columns, (labels, folding)) = settle(comm, merged, taken)?;
    if comm.rank() > 0 {
        return Ok(());
    }
    let table = Table {
        op: args.op(),
        dtype: opened.map.dtype().to_string(),
        n: opened.first().len(),
        bytes: opened.bytes(),
        labels: opened.combined.labels(labels),
        titles: Titles::Results,
        columns: columns.into_iter().map(|(name, column)| (name.into(), column.into())).collect(),
        accuracy: args.accuracy,
        device: Device::Cpu,
        seconds: begun.elapsed().as_secs_f64(),
        fold_seconds: folding,
        texts: opened.texts.found(args.verbosity() == Verbosity::Verbose),
    };
    if args.verbosity() == Verbosity::Verbose {
        crate::say!("time of rank 0: {}", table.timing());
    }
    table::show(args, &table)
}

/// What all ranks agree on before they know how many outputs there are.
fn agreed(args: &Reduction) -> Result<Agreement, Merged> {
    let agreement = agreement(args, args.dtype.unwrap_or(warpfold::DType::F64));
    let agreement = agreement.map_err(Merged::Result)?;
    Ok(agreement.and(&words(args)).and(&parts_in_words(args)))
}

/// Tells the others that there is no share here.
fn fail(args: &Reduction, comm: &dyn Comm, failure: &Failure) -> Result<Columns, Merged> {
    exchange(comm, agreed(args)?.text(), Err(&failure.to_string()))?;
    Err(Merged::Result(Failure::Reported(1)))
}

/// Folds this rank's share.
fn take<'o>(args: &Reduction, comm: &dyn Comm, opened: &'o Opened) -> Result<Taken<'o>, Failure> {
    let folding = Instant::now();
    opened.check_of_elements()?;
    let (parts, labels) = batched::parts(args, opened.first(), &opened.parted)?;
    let number = (comm.rank(), comm.size());
    let share = opened.map.share(&opened.arrays()?, &parts, number, args.finish()?)?;
    opened.check_unchanged()?;
    if args.verbosity() == Verbosity::Verbose {
        let (whole, cut) = (&share.whole, share.cut.len());
        let (rank, size) = number;
        crate::say!(
            "rank {rank} of {size}: outputs {} to {}, and {cut} in part",
            whole.start,
            whole.end
        );
    }
    let folding = folding.elapsed().as_secs_f64();
    Ok(Taken { opened, parts, labels, share, folding })
}

/// The results of all outputs.
fn merge(args: &Reduction, comm: &dyn Comm, taken: &Taken<'_>) -> Result<Columns, Merged> {
    let Taken { opened, parts, share, .. } = taken;
    let (n, finish) = (opened.first().len(), args.finish().map_err(Merged::Result)?);
    let under_name =
        |error: warpfold::Error| opened.combined.named(kept_none(args, n, Failure::from(error)));
    let agreement = agreed(args)?;
    exchange(comm, agreement.text(), Ok(&[]))?;
    let agreement = agreement.and(&format!("{n} elements in {} outputs", share.outputs));
    let values = |column: &Column| (0..column.len()).map(|at| column.get(at)).collect();
    let columns: Result<Vec<(&'static str, Vec<Value>)>, Missing> = match &share.columns {
        Ok(columns) => Ok(columns.iter().map(|(name, column)| (*name, values(column))).collect()),
        Err((output, error)) => Err(Missing {
            column: 0,
            output: *output as u64,
            why: under_name(error.clone()).to_string(),
        }),
    };
    let slab = Slab::run(share.outputs, share.whole.start, share.whole.end);
    let mine = columns.as_deref();
    let (mut filled, missing) = gathered::gather(comm, &agreement, share.outputs, &slab, mine)?;
    let cut: Vec<_> =
        share.cut.iter().map(|(output, folded)| (*output, folded.to_bytes())).collect();
    let read = |bytes: &[u8]| opened.map.read(bytes);
    let pieces = pieces::merged(comm, &agreement, share.outputs, &cut, read, Folded::merge)?;
    for (output, folded) in pieces {
        // Where an output has no result, the pieces of those before it may have none either.
        if missing.as_ref().is_some_and(|missing| missing.output <= output as u64) {
            break;
        }
        let found = opened.map.finish_output(parts, output, folded, finish);
        match found.map_err(|error| Merged::Result(under_name(error)))? {
            Output::One(value) => drop(filled.set(args.op().name(), output, value)),
            Output::Pair(min, max) => {
                filled.set("min", output, min);
                filled.set("max", output, max);
            }
            Output::Summary(_) => unreachable!("stats of parts of an expression are refused"),
        }
    }
    if let Some(missing) = missing {
        return Err(Merged::Result(Failure::Data(missing.why)));
    }
    if share.outputs == 0 {
        return Ok(share.columns.clone().unwrap_or_default());
    }
    let mut columns = filled.columns()?;
    // Indices within outputs become those of the array where that is asked for.
    if args.parts.flat && matches!(args.op(), Op::ArgMin | Op::ArgMax) && comm.rank() == 0 {
        for (_, column) in &mut columns {
            if let Column::U64(arg_indices) = column {
                *arg_indices = parts.flat(n as usize, std::mem::take(arg_indices));
            }
        }
    }
    Ok(columns)
}
