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

use crate::args::Reduction;
use crate::device::Device;
use crate::input::text::{Dialect, Missing};
use crate::input::{Kind, Name};
use crate::several::{self, Chosen, Folded};
use crate::table::{Cells, Labels, Printed, Table, Titles};
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

/// The file that a first argument which is neither a command nor a file was most likely meant for.
pub(crate) fn nearest(args: &[OsString]) -> Option<String> {
    let first = Path::new(args.get(1)?);
    let is_name = first.extension().is_some() && !first.to_string_lossy().starts_with('-');
    if is_name && !first.exists() { crate::input::nearest(first) } else { None }
}

/// Whether it is of the columns of texts.
pub(crate) fn takes(args: &Reduction) -> bool {
    let is_text = |path: &std::path::PathBuf| {
        args.input.unwrap_or_else(|| Kind::of(&Name::of(path.clone()))) == Kind::Text
    };
    args.is_overview
        && args.column.is_empty()
        && !args.parts.any()
        && !args.maps.any()
        && args.world.is_none()
        && matches!(args.device, Device::Auto | Device::Cpu)
        && args.inputs.iter().all(is_text)
}

/// What is known of a column.
struct Found {
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
    if args.inputs.iter().any(|path| path.as_os_str() == "-") {
        return Err(Failure::Usage(
            "the first row says which columns there are, and standard input can be read once only; save it to a file, or choose columns with --column".into(),
        ));
    }
    let dialect = args.written.overview_dialect();
    let columns = several::first_rows(args, dialect)?;
    let chosen = Chosen::all(columns);
    let inputs = chosen.open_as(args, dialect)?;
    let dtype = args.dtype.unwrap_or(DType::F64);
    let columns = several::fold(args, inputs, chosen.names.len())?.into_iter();
    let columns = columns.map(|column| {
        let Folded { folder, joined, missing, why, .. } = column;
        if why.is_some() {
            return Ok(Found { summary: None, missing: 0, why });
        }
        match joined.in_data(Op::Stats, folder.finish(finish)?) {
            Output::Summary(summary) => Ok(Found { summary: Some(*summary), missing, why: None }),
            other => unreachable!("stats gives a summary, not {other:?}"),
        }
    });
    let found = columns.collect::<Result<Vec<Found>, Failure>>()?;
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
        texts: Vec::new(),
    };
    table::show(args, &table)?;
    for (name, why) in table.names().zip(found.iter().map(|column| &column.why)) {
        if let Some(why) = why {
            crate::say!("column {}: {why}", name.escape_debug());
        }
    }
    Ok(())
}

/// One column of the table a statistic.
fn cells(found: &[Found]) -> Vec<(String, Cells)> {
    let column = |of: &dyn Fn(&Found, &Summary) -> Option<Value>| {
        let cell = |found: &Found| of(found, found.summary.as_ref()?).map(Printed::from);
        Cells::Printed(found.iter().map(cell).collect())
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
