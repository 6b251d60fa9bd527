//! `warpfold FILE`: the statistics of every column.
//!
//! Arrays and files of columns have `stats` for that; of text each column is read in turn, missing cells are left out and counted, and a column that
//! holds something else than numbers says what and where.

use std::ffi::OsString;
use std::path::Path;
use std::time::Instant;

use clap::CommandFactory;
use warpfold::partial::{Finish, Output, Summary};
use warpfold::{DType, Element, Op, Stream, Value, with_element};

use crate::args::Reduction;
use crate::device::Device;
use crate::input::text::{Column, Columns, Dialect, LeftOut, Missing, TextError};
use crate::input::{self, Input, Kind, Name, Order, Problem, Wanted};
use crate::table::{Cells, Labels, Printed, Table};
use crate::{Failure, outfile, table};

/// Puts `stats` before a first argument that is no command and names a file; says whether it did.
pub(crate) fn completed<C: CommandFactory>(mut args: Vec<OsString>) -> (Vec<OsString>, bool) {
    let Some(first) = args.get(1) else { return (args, false) };
    let text = first.to_string_lossy();
    let is_word = Op::ALL.iter().any(|op| op.name().eq_ignore_ascii_case(&text))
        || C::command().find_subcommand(&*text).is_some();
    let is_option = text.starts_with('-');
    let is_file = !is_word && !is_option && Path::new(first).exists();
    if is_file {
        args.insert(1, Op::Stats.name().into());
    }
    (args, is_file)
}

/// Whether it takes reading the input once for each of its columns.
pub(crate) fn takes(asked: &Reduction) -> bool {
    let is_text = |path: &std::path::PathBuf| {
        asked.input.unwrap_or_else(|| Kind::of(&Name::of(path.clone()))) == Kind::Text
    };
    asked.is_overview
        && asked.column.is_empty()
        && !asked.parts.any()
        && !asked.maps.any()
        && asked.world.is_none()
        && matches!(asked.device, Device::Auto | Device::Cpu)
        && asked.inputs.iter().all(is_text)
}

/// What is known of a column.
struct Found {
    summary: Option<Summary>,
    missing: u64,
    /// What stands where a number should.
    why: Option<String>,
}

/// Reads every column of texts and prints its statistics.
pub(crate) fn reduction(asked: &Reduction) -> Result<(), Failure> {
    if let Some((path, _)) = &asked.out {
        outfile::check(path)?;
        outfile::refuse_inputs(path, asked.inputs.iter().map(std::path::PathBuf::as_path))?;
    }
    let finish = asked.finish()?;
    let begun = Instant::now();
    let dialect = asked.written.overview_dialect();
    let columns = columns(asked, dialect)?;
    let dtype = asked.dtype.unwrap_or(DType::F64);
    let mut found = Vec::with_capacity(columns.names.len());
    for number in 1..=columns.names.len() as u64 {
        let dialect = Dialect { header: columns.header, ..dialect };
        let wanted = Wanted {
            dtype: Some(dtype),
            kind: Some(Kind::Text),
            column: Some(Column::Index(number)),
            dialect,
            beside: Vec::new(),
            left_out: LeftOut::Counted,
        };
        let inputs = input::open(&asked.inputs, &wanted)?;
        found.push(with_element!(dtype, T => fold::<T>(asked, inputs, finish))?);
    }
    let seconds = begun.elapsed().as_secs_f64();
    let n = found.iter().flat_map(|column| &column.summary).map(|summary| summary.count).sum();
    let table = Table {
        op: Op::Stats,
        dtype: dtype.to_string(),
        n,
        bytes: n * dtype.size() as u64,
        labels: Labels::Columns(columns.names),
        columns: cells(&found),
        accuracy: asked.accuracy,
        device: Device::Cpu,
        seconds,
        fold_seconds: seconds,
        texts: Vec::new(),
    };
    table::show(asked, &table)?;
    for (name, why) in table.names().zip(found.iter().map(|column| &column.why)) {
        if let Some(why) = why {
            crate::say!("column {}: {why}", name.escape_debug());
        }
    }
    Ok(())
}

/// The columns, which every input has to have.
fn columns(asked: &Reduction, dialect: Dialect) -> Result<Columns, Failure> {
    let mut first: Option<Columns> = None;
    for path in &asked.inputs {
        let name = Name::of(path.clone());
        if name == Name::Stdin {
            return Err(Failure::Usage(
                "the columns of a text are read one after another, and standard input can be read once only; save it to a file, or choose one with --column".into(),
            ));
        }
        let columns = input::text_columns(&name, dialect)?;
        match &first {
            Some(first) if *first != columns => {
                return Err(Failure::input(&name, Problem::OtherColumns));
            }
            _ => first = Some(columns),
        }
    }
    first.ok_or_else(|| Failure::Usage("there is no input".into()))
}

/// A column's statistics, or what in it is no number.
fn fold<T: Element>(
    asked: &Reduction,
    inputs: Vec<Input>,
    finish: Finish,
) -> Result<Found, Failure> {
    let mut stream = Stream::<T>::new(Op::Stats, asked.policy())?;
    let mut missing = 0;
    for input in inputs {
        let (name, notes) = (input.name().clone(), input.notes());
        let mut pieces = input.pieces(Order::C)?;
        loop {
            let piece = match pieces.next_piece() {
                Ok(Some(piece)) => piece,
                Ok(None) => break,
                Err(error) => return no_number(error),
            };
            let elements = input::elements::<T>(piece, stream.seen());
            stream.push(elements.map_err(|problem| Failure::input(&name, problem))?)?;
        }
        missing += notes.map_or(0, |notes| notes.counts().rows_left_out);
    }
    match stream.finish(finish)? {
        Output::Summary(summary) => Ok(Found { summary: Some(*summary), missing, why: None }),
        other => unreachable!("stats gives a summary, not {other:?}"),
    }
}

/// A column of words has no statistics; any other failure is one.
fn no_number(error: warpfold_io::Error) -> Result<Found, Failure> {
    match error.problem() {
        Some(problem @ Problem::Text(TextError::NotANumber { .. })) => {
            let why = problem.to_string();
            let why = why.split(';').next().unwrap_or(&why).to_string();
            Ok(Found { summary: None, missing: 0, why: Some(why) })
        }
        _ => Err(error.into()),
    }
}

/// One column of the table a statistic.
fn cells(found: &[Found]) -> Vec<(&'static str, Cells)> {
    let column = |of: &dyn Fn(&Found, &Summary) -> Option<Value>| {
        let cell = |found: &Found| of(found, found.summary.as_ref()?).map(Printed::from);
        Cells::Printed(found.iter().map(cell).collect())
    };
    vec![
        ("count", column(&|_, s| Some(s.count.into()))),
        ("missing", column(&|found, _| Some(found.missing.into()))),
        ("nan_count", column(&|_, s| Some(s.nan_count.into()))),
        ("mean", column(&|_, s| s.mean)),
        ("std", column(&|_, s| s.std)),
        ("min", column(&|_, s| s.min)),
        ("max", column(&|_, s| s.max)),
        ("sum", column(&|_, s| Some(s.sum))),
    ]
}

impl crate::args::Written {
    /// The dialect, where rows without a value are left out unless something else was said.
    fn overview_dialect(&self) -> Dialect {
        let dialect = self.dialect(false);
        let missing = if self.says_missing() { dialect.missing } else { Missing::Skip };
        Dialect { missing, ..dialect }
    }
}
