//! Expressions of columns, row by row: whole, or by the keys in other columns.

use std::time::Instant;

use warpfold::map::Measure;
use warpfold::partial::Finish;
use warpfold::{DType, Op, Policy};
use warpfold_arrow::files::Files;
use warpfold_arrow::{MappedResults, number_type};

use super::chosen::{self, key_names, name_of};
use super::print;
use super::{Found, Shown, note_rows, tell, type_name};
use crate::Failure;
use crate::args::{Reduction, Verbosity};
use crate::device::Device;
use crate::input::text::Column;
use crate::left_out::Joined;
use crate::mapped::{self, MapRequest, X};
use crate::report::Report;
use crate::several;
use crate::table::{Cells, Labels, Table, Titles};

/// Expressions, and the columns that they name.
struct Opened {
    files: Files,
    wanted: MapRequest,
    /// The names in the expressions, and their types.
    inputs: Vec<(String, DType)>,
    columns: Vec<String>,
}

/// What makes no sense whatever the files hold.
pub(super) fn check(args: &Reduction) -> Result<(), Failure> {
    let refused = |message: &str| Err(Failure::Usage(message.into()));
    mapped::check(args)?;
    if args.maps.operator.is_some() {
        return refused(
            "--operator does not read Parquet and Arrow files yet; write the columns as .npy files first",
        );
    }
    if !args.maps.with.is_empty() {
        return refused(
            "--with gives arrays and texts a name beside others; expressions name the columns of Parquet and Arrow files themselves: leave it out",
        );
    }
    if args.is_table() {
        return refused(
            "expressions name their columns, and several --column options choose what is reduced without one; leave them out, or reduce each expression by --of",
        );
    }
    Ok(())
}

/// Whether indices are among the results.
pub(super) fn gives_indices(args: &Reduction) -> bool {
    let is_index = |op| matches!(op, Op::ArgMin | Op::ArgMax | Op::Stats);
    match &args.maps.of[..] {
        [] => is_index(args.op()),
        all => all.iter().any(|of| matches!(of.measure(), Measure::Op(op) if is_index(op))),
    }
}

/// Reduces them.
pub(super) fn shown(
    args: &Reduction,
    found: &Found,
    finish: Finish,
    notes: &mut Vec<String>,
) -> Result<Shown, Failure> {
    let opened = Opened::of(args, found)?;
    let inputs: Vec<(&str, DType)> =
        opened.inputs.iter().map(|(name, dtype)| (name.as_str(), *dtype)).collect();
    // What is wrong with an expression is said once, by the option that has it.
    let map = opened.wanted.map(args, &inputs)?;
    if args.verbosity() == Verbosity::Verbose {
        for line in map.program().to_string().lines() {
            crate::say!("map: {line}");
        }
    }
    let make = |policy: Policy| opened.wanted.made(args.op(), &inputs, policy);
    let folding = Instant::now();
    let dtype = map.dtype();
    if args.parts.by.is_empty() {
        let (mapped, read) = opened.files.fold_map(&opened.columns, make, args.policy())?;
        tell(args, mapped.rows(), read);
        note_rows(&opened.columns, mapped.rows(), mapped.values(), notes);
        let (n, of) = (mapped.values(), (mapped.map(), mapped.folded()));
        let output = opened.wanted.answer(args.op(), of, finish, &Joined::default());
        return Ok(Shown::One(Report {
            op: args.op(),
            dtype,
            n,
            output: output.map_err(|failure| mapped::kept_none(args, n, failure))?,
            accuracy: args.accuracy,
            device: Device::Cpu,
            seconds: found.begun.elapsed().as_secs_f64(),
            fold_seconds: folding.elapsed().as_secs_f64(),
            texts: Vec::new(),
        }));
    }
    let keys = key_names(args, &opened.files)?;
    let (groups, read) = opened.files.group_map(&opened.columns, &keys, make, args.policy())?;
    tell(args, groups.rows(), read);
    let (rows, n) = (groups.rows(), groups.values());
    note_rows(&opened.columns, rows, n, notes);
    let results = groups.finish(finish, args.parts.empty.of_engine());
    let results = results.map_err(|error| mapped::kept_none(args, n, Failure::from(error)))?;
    let label = |name: String| if keys.len() == 1 { "key".into() } else { name };
    let labels = keys.iter().cloned().map(label);
    let width: usize = opened.inputs.iter().map(|(_, dtype)| dtype.size()).sum();
    Ok(Shown::Table(Table {
        op: args.op(),
        dtype: dtype.to_string(),
        n,
        bytes: n * width as u64,
        labels: Labels::Keys(labels.zip(results.keys.iter().cloned().map(print::keys)).collect()),
        titles: Titles::Results,
        columns: titled(args, results),
        accuracy: args.accuracy,
        device: Device::Cpu,
        seconds: found.begun.elapsed().as_secs_f64(),
        fold_seconds: folding.elapsed().as_secs_f64(),
        texts: Vec::new(),
    }))
}

/// Results by the names that stand above them.
fn titled(args: &Reduction, results: MappedResults) -> Vec<(String, Cells)> {
    let is_one = args.maps.of.is_empty();
    let all = results.columns.into_iter().flat_map(|(reduction, named)| {
        let fields = named.len();
        named.into_iter().map(move |(field, cells)| {
            let title = match (is_one, fields) {
                (true, 1) => args.op().name().into(),
                (true, _) => field.into(),
                (false, 1) => reduction.clone(),
                (false, _) => format!("{reduction} {field}"),
            };
            (title, print::cells(cells))
        })
    });
    all.collect()
}

impl Opened {
    fn of(args: &Reduction, found: &Found) -> Result<Opened, Failure> {
        let files = Files::open(&found.paths)?;
        let (wanted, with) = mapped::wanted(args)?;
        if let Some((_, file)) = with.first() {
            return Err(Failure::Usage(format!(
                "--weights: {} is a file, and the weights of columns of Parquet and Arrow files are a column or an expression; name one",
                file.display().to_string().escape_debug()
            )));
        }
        let mut names = wanted.names()?;
        if names.is_empty() {
            // A constant is reduced once for each row.
            names.push(X.into());
        }
        let columns = names.iter().map(|name| column(args, &files, name));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        if let (Some(chosen), false) = (args.column.first(), names.iter().any(|name| name == X)) {
            return Err(Failure::Usage(format!(
                "--column {} is what x stands for, which no expression names; leave it out, or say x",
                several::shown(chosen)
            )));
        }
        let mut inputs = Vec::with_capacity(names.len());
        for (name, column) in names.into_iter().zip(&columns) {
            let dtype = files.column(column)?;
            let number = number_type(&dtype).ok_or_else(|| {
                Failure::Usage(format!(
                    "column {} is {}, and expressions take numbers and booleans; cast it to one of them, or take it as a key by --by",
                    column.escape_debug(),
                    type_name(&dtype)
                ))
            })?;
            inputs.push((name, number));
        }
        Ok(Opened { files, wanted, inputs, columns })
    }
}

/// The column that a name in an expression stands for.
fn column(args: &Reduction, files: &Files, name: &str) -> Result<String, Failure> {
    let is_there = files.has(name);
    match (name == X, args.column.first()) {
        (true, Some(chosen)) if is_there && !matches!(chosen, Column::Name(chosen) if chosen == X) => {
            Err(Failure::Usage(
                "x would be the column that --column chooses, and there is a column x; leave --column out and say the columns' names".into(),
            ))
        }
        (true, _) if !is_there => Ok(chosen::columns(args, files)?.swap_remove(0)),
        _ => name_of(files, &Column::Name(name.into())),
    }
}
