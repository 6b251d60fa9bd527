//! `warpfold FILE`: the statistics of every column.
//!
//! Arrays and files of columns have `stats` for that; of text all columns are read at once, missing cells are left out and counted, and a column that
//! holds something else than numbers says what and where.

use std::ffi::OsString;
use std::path::Path;
use std::time::Instant;

use clap::CommandFactory;
use warpfold::partial::{Output, Summary};
use warpfold::{DType, Op, Value};

use crate::args::{Reduction, Verbosity};
use crate::device::Device;
use crate::input::text::{Dialect, Missing};
use crate::input::{InputFormat, Name};
use crate::left_out::Texts;
use crate::several::{self, Chosen, Folded};
use crate::table::{Cells, Labels, Table, Titles};
use crate::{Failure, deliver, opening, outfile};

/// Puts `stats` before a first argument that is no command and names a file; says whether it did.
pub(crate) fn completed<C: CommandFactory>(mut args: Vec<OsString>) -> (Vec<OsString>, bool) {
    let Some(first) = args.get(1) else { return (args, false) };
    let text = first.to_string_lossy();
    let is_word = Op::ALL.iter().any(|op| op.name().eq_ignore_ascii_case(&text))
        || C::command().find_subcommand(&*text).is_some();
    let is_standard = text == "-";
    let is_option = text.starts_with('-');
    let is_file = is_standard || !is_word && !is_option && Path::new(first).exists();
    if is_file {
        args.insert(1, Op::Stats.name().into());
    }
    (args, is_file)
}

/// What is wrong with a first argument that looks like the name of a file, and names none.
pub(crate) fn missing(args: &[OsString]) -> Option<String> {
    let first = Path::new(args.get(1)?);
    let text = first.to_string_lossy();
    let is_name = first.extension().is_some() || text.contains(std::path::MAIN_SEPARATOR);
    if !is_name || text.starts_with('-') || first.exists() {
        return None;
    }
    let near = match crate::input::nearest(first) {
        Some(near) => format!("; is it the file {}?", near.escape_debug()),
        None => "; check the name".into(),
    };
    Some(format!(
        "{}: no such file, and no reduction{near}; see warpfold --help",
        text.escape_debug()
    ))
}

/// Whether it is of the columns of texts.
pub(crate) fn takes(args: &Reduction) -> bool {
    let is_text = |path: &std::path::PathBuf| {
        args.input.unwrap_or_else(|| InputFormat::of(&Name::of(path.clone()))) == InputFormat::Text
    };
    args.is_overview
        && args.column.is_empty()
        && !args.parts.any()
        && !args.maps.any()
        && args.device.is_processor()
        && args.inputs.iter().all(is_text)
}

/// What is known of a column.
struct ColumnFacts {
    summary: Option<Summary>,
    missing: u64,
    /// What stands where a number should.
    why: Option<String>,
}

/// Reads every column of texts and prints its statistics.
pub(crate) fn reduction(args: &Reduction) -> Result<(), Failure> {
    if let Some((path, _)) = &args.out {
        outfile::check(path)?;
        outfile::refuse_inputs(path, args.inputs.iter().map(std::path::PathBuf::as_path))?;
    }
    let finish = args.finish()?;
    let begun = Instant::now();
    // The first row says which columns there are.
    opening::keep_streams(args)?;
    let dialect = args.written.overview_dialect();
    let columns = several::first_rows(args, dialect)?;
    if columns.names.is_empty() {
        return Err(Failure::Data(match &args.inputs[..] {
            [one] => format!(
                "{} is empty: it has no row, and so no columns; check what writes it",
                Name::of(one.clone())
            ),
            _ => "the files are empty: they have no row, and so no columns; check what writes them"
                .into(),
        }));
    }
    let chosen = Chosen::all(columns);
    let inputs = chosen.open_as(args, dialect)?;
    let texts = Texts::of(&inputs);
    let dtype = args.dtype.unwrap_or(DType::F64);
    let columns = several::fold(args, inputs, chosen.names.len())?.into_iter();
    let columns = columns.map(|column| {
        let Folded { folder, joined, missing, why, .. } = column;
        if why.is_some() {
            return Ok(ColumnFacts { summary: None, missing: 0, why });
        }
        match joined.in_data(Op::Stats, folder.finish(finish)?) {
            Output::Summary(summary) => {
                Ok(ColumnFacts { summary: Some(*summary), missing, why: None })
            }
            other => unreachable!("stats gives a summary, not {other:?}"),
        }
    });
    let found = columns.collect::<Result<Vec<ColumnFacts>, Failure>>()?;
    let seconds = begun.elapsed().as_secs_f64();
    let n = found.iter().flat_map(|column| &column.summary).map(|summary| summary.count).sum();
    let table = Table {
        op: Op::Stats,
        dtype: dtype.to_string(),
        n,
        bytes: n * dtype.size() as u64,
        labels: Labels::Columns(chosen.names),
        titles: Titles::Results,
        columns: cells(&found),
        accuracy: args.accuracy,
        device: Device::Cpu,
        seconds,
        fold_seconds: seconds,
        texts: texts.counted(args.verbosity() == Verbosity::Verbose),
    };
    deliver::many(args, &table)?;
    for (name, why) in table.names().zip(found.iter().map(|column| &column.why)) {
        if let Some(why) = why {
            crate::say!("column {}: {why}", name.escape_debug());
        }
    }
    Ok(())
}

/// One column of the table a statistic.
fn cells(found: &[ColumnFacts]) -> Vec<(String, Cells)> {
    let column = |of: &dyn Fn(&ColumnFacts, &Summary) -> Option<Value>| {
        Cells::of_values(found.iter().map(|found| of(found, found.summary.as_ref()?)).collect())
    };
    vec![
        ("count".into(), column(&|_, s| Some(s.count.into()))),
        ("missing".into(), column(&|found, _| Some(found.missing.into()))),
        ("nan_count".into(), column(&|_, s| Some(s.nan_count.into()))),
        ("mean".into(), column(&|_, s| s.mean)),
        ("std".into(), column(&|_, s| s.std)),
        ("min".into(), column(&|_, s| s.min)),
        ("max".into(), column(&|_, s| s.max)),
        ("sum".into(), column(&|_, s| Some(s.sum))),
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
