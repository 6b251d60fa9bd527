//! Expressions in parts: every rank takes a share of the elements in the order of outputs. It has the results of outputs that lie in there, and what is
//! left of those that it cuts.

use std::sync::Arc;
use std::time::Instant;

use warpfold::map::{Folded, Share};
use warpfold::{Column, Op};
use warpfold_dist::{Agreement, Comm, exchange};
use warpfold_engine::Parts;

use super::super::{Merged, agreement, mapped::words, settle};
use super::gathered::{self, Cell, Missing, Slab};
use super::{Columns, cells, parts as parts_in_words, pieces};
use crate::Failure;
use crate::args::{Reduction, Verbosity};
use crate::batched::{self, Opened};
use crate::deliver;
use crate::device::Device;
use crate::mapped::kept_none;
use crate::table::{Labels, Table, Titles};

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
        columns: columns.into_iter().map(|(name, cells)| (name.into(), cells)).collect(),
        accuracy: args.accuracy,
        device: Device::Cpu,
        seconds: begun.elapsed().as_secs_f64(),
        fold_seconds: folding,
        texts: opened.texts.found(args.verbosity() == Verbosity::Verbose),
    };
    opened.parted.tell_outside(args, opened.first().len());
    if args.verbosity() == Verbosity::Verbose {
        crate::say!("time of rank 0: {}", table.timing());
    }
    deliver::many(args, &table)
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
    let share = opened.map.share(
        &opened.arrays()?,
        &parts,
        number,
        args.parts.empty.of_engine(),
        args.finish()?,
    )?;
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
    // By its keys first, as what tells of a condition is a text.
    let under_name =
        |error: warpfold::Error| kept_none(args, n, opened.combined.named(Failure::from(error)));
    let agreement = agreed(args)?;
    exchange(comm, agreement.text(), Ok(&[]))?;
    let agreement = agreement.and(&format!("{n} elements in {} outputs", share.outputs));
    let columns: Result<Vec<(&'static str, Vec<Cell>)>, Missing> = match &share.columns {
        Ok(of) => {
            let column = |(name, column): &(_, Column)| (*name, cells(column, &of.gaps));
            Ok(of.columns.iter().map(column).collect())
        }
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
        let empty = args.parts.empty.of_engine();
        let found = opened.map.finish_output(parts, output, folded, empty, finish);
        filled.set_all(
            args.op(),
            output,
            found.map_err(|error| Merged::Result(under_name(error)))?,
        );
    }
    if let Some(missing) = missing {
        return Err(Merged::Result(Failure::Data(missing.why)));
    }
    if share.outputs == 0 {
        let columns = share.columns.clone().map_or_else(|_| Vec::new(), |of| of.columns);
        return Ok(columns.into_iter().map(|(name, column)| (name, column.into())).collect());
    }
    // Indices within outputs become those of the array where that is asked for.
    if args.parts.flat && matches!(args.op(), Op::ArgMin | Op::ArgMax) && comm.rank() == 0 {
        let mut within = vec![0; share.outputs];
        filled.reindex(|output, at| {
            within[output as usize] = at;
            at
        });
        let flat = parts.flat(n as usize, within);
        filled.reindex(|output, _| flat[output as usize]);
    }
    Ok(filled.columns()?)
}
