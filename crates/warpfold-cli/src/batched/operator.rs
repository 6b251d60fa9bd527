//! Inputs folded by an operator of one's own, whole or in parts.

use std::time::Instant;

use warpfold::partial::Finish;
use warpfold::{DType, Error, Op, Policy};
use warpfold_engine::operator::columns;

use super::mapped::read;
use super::{parts, rows};
use crate::args::{Empty, Reduction, Verbosity};
use crate::device::Device;
use crate::operator::OperatorFile;
use crate::report::{Answer, Report};
use crate::table::{Cells, Table, Titles};
use crate::{Failure, deliver, mapped, opening};

/// Folds, and prints what the last states say.
pub(crate) fn reduction(args: &Reduction) -> Result<(), Failure> {
    check(args)?;
    let begun = Instant::now();
    let path = args.maps.operator.as_deref().unwrap_or_else(|| unreachable!("it was asked for"));
    let file = OperatorFile::read(path)?;
    let operator = file.operator()?;
    let names: Vec<String> = operator.names().into_iter().map(str::to_owned).collect();
    let sides = mapped::sides(args, &names, &mapped::with(args)?)?;
    let inputs: Vec<(&str, DType)> =
        sides.iter().map(|side| (side.name.as_str(), side.dtype)).collect();
    let typed = operator.typed(&inputs).map_err(|error| file.failure(&error))?;
    let executor =
        mapped::executor_of(args, inputs.first().map_or(DType::F64, |(_, dtype)| *dtype))?;
    let titles = operator.titles();
    if rows::may_leave_out(args) && operator.counts() {
        return Err(Failure::Usage(
            "--missing skip leaves rows out, and an operator's index would not count them; leave index out of its lift, or take --missing nan".into(),
        ));
    }
    if let Some(again) = (1..titles.len()).find(|&k| titles[..k].contains(&titles[k])) {
        return Err(Failure::Usage(format!(
            "--operator {}: two results are called `{}`; write one of them otherwise, or leave it out",
            path.display().to_string().escape_debug(),
            titles[again]
        )));
    }
    let opened = read(args, typed, sides)?;
    opened.check_of_elements()?;
    let folding = Instant::now();
    let said = |error: Error| match error {
        Error::Map { .. } => file.failure(&error),
        other => other.into(),
    };
    let is_verbose = args.verbosity() == Verbosity::Verbose;
    if !args.parts.any() {
        let values = executor.fold_operator(&opened.map, &opened.arrays()?, args.policy());
        let values = values.map_err(said)?;
        opened.check_unchanged()?;
        let named = titles.into_iter().zip(values.into_iter().map(Some));
        let report = Report {
            op: args.op(),
            dtype: opened.first().dtype(),
            n: opened.first().len(),
            output: Answer::Named(named.collect()),
            accuracy: args.accuracy,
            device: executor.device(),
            seconds: begun.elapsed().as_secs_f64(),
            fold_seconds: folding.elapsed().as_secs_f64(),
            texts: opened.texts.found(is_verbose),
        };
        if is_verbose {
            crate::say!("time: {}", report.timing());
        }
        return deliver::one(args, &report);
    }
    let (parts, labels) = parts(args, opened.first(), &opened.parted)?;
    let columns = columns(&opened.map, &opened.arrays()?, &parts, args.policy());
    let columns = columns.map_err(|error| opened.combined.named(said(error)))?;
    opened.check_unchanged()?;
    opened.parted.tell_outside(args, opened.first().len());
    let table = Table {
        op: args.op(),
        dtype: opened.first().dtype().to_string(),
        n: opened.first().len(),
        bytes: opened.bytes(),
        labels: opened.combined.labels(labels),
        titles: Titles::Results,
        columns: titles.into_iter().zip(columns.into_iter().map(Cells::from)).collect(),
        accuracy: args.accuracy,
        device: Device::Cpu,
        seconds: begun.elapsed().as_secs_f64(),
        fold_seconds: folding.elapsed().as_secs_f64(),
        texts: opened.texts.found(is_verbose),
    };
    if is_verbose {
        crate::say!("time: {}", table.timing());
    }
    deliver::many(args, &table)
}

/// Fails for what an operator does not go with.
fn check(args: &Reduction) -> Result<(), Failure> {
    let refused = |why: &str| Err(Failure::Usage(why.into()));
    if args.op() != Op::Stats {
        return Err(Failure::Usage(format!(
            "--operator says what stats prints, and {} prints its own; say warpfold stats --operator …",
            args.op()
        )));
    }
    if !args.device.is_processor() && args.parts.any() {
        return refused(
            "an operator of one's own folds parts on the processor alone; leave out --device",
        );
    }
    let policy = Policy { threads: args.policy().threads, ..Policy::default() };
    if args.finish()? != Finish::default() || args.policy() != policy {
        return refused(
            "an operator's texts say how it rounds and what a NaN does; leave out --as, --ddof, --accuracy, --nan and --overflow",
        );
    }
    if args.parts.empty != Empty::Error || args.parts.flat {
        return refused(
            "an operator's identity says what nothing is, and its index counts from each part's first element; leave out --empty and --flat",
        );
    }
    if args.parts.any() {
        return super::check(args);
    }
    if let Some((_, format)) = &args.out {
        format.check_one()?;
    }
    opening::check_result_file(args)
}
