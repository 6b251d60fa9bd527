//! Columns of Parquet and Arrow files: chosen by name, folded as they are decoded, row groups in parallel.

mod chosen;
mod mapped;
mod print;
mod whole;

use std::path::{Path, PathBuf};
use std::time::Instant;

use chosen::key_names;
use print::Printout;
pub(crate) use whole::{Columns, Folded};

use warpfold::partial::Finish;
use warpfold::{At, Error as Reduced, Op};
use warpfold_arrow::files::{Read, expand};
use warpfold_arrow::{DataType, Error, Groups, Joined, number_type};

use crate::args::{Reduction, Verbosity};
use crate::device::Device;
use crate::format::Format;
use crate::input::{ChangeMonitor, Name, Problem, is_columns};
use crate::report::{self, Report};
use crate::table::{Labels, Table, Titles};
use crate::{Failure, deliver, folders, outfile, several, streams};

/// Whether inputs are such files, by their names, or folders of them.
pub(crate) fn takes(args: &Reduction) -> bool {
    args.has_columns() || (args.input.is_none() && args.inputs.iter().any(|path| is_folder(path)))
}

fn is_folder(path: &Path) -> bool {
    path.is_dir() && expand(path).is_ok()
}

/// Puts the files that match in place of quoted patterns of texts and arrays, which no shell has expanded, and of folders that hold some. Those of files of
/// columns are expanded where these are opened.
pub(crate) fn expand_patterns(args: &mut Reduction) -> Result<(), Failure> {
    let is_pattern = |path: &Path| {
        let has_mark = path.to_string_lossy().contains(['*', '?', '[']);
        has_mark && !is_columns(path) && !path.exists()
    };
    let mut inputs = Vec::with_capacity(args.inputs.len());
    for path in std::mem::take(&mut args.inputs) {
        let found = match args.input {
            _ if is_pattern(&path) => expand(&path)?,
            None if path.is_dir() && is_folder(&path) => {
                folders::tell_others(&path)?;
                Vec::new()
            }
            None if path.is_dir() => folders::texts_and_arrays(&path)?,
            _ => Vec::new(),
        };
        match found.is_empty() {
            true => inputs.push(path),
            false => inputs.extend(found),
        }
    }
    args.inputs = inputs;
    Ok(())
}

/// Reduces columns and prints their results.
pub(crate) fn reduction(args: &Reduction) -> Result<(), Failure> {
    let found = Found::of(args)?;
    found.check_out(args)?;
    let finish = args.finish()?;
    let mut notes = Vec::new();
    let shown = found.read(args, || {
        if args.maps.any() {
            return mapped::shown(args, &found, finish, &mut notes);
        }
        let columns = Columns::open(args, &found)?;
        if args.verbosity() == Verbosity::Verbose {
            crate::say!("input: {}", columns.describe());
        }
        if !args.parts.by.is_empty() {
            return group(args, &columns, finish, &mut notes);
        }
        let folded = columns.fold(args)?;
        tell(args, folded.rows(), folded.read());
        columns.shown(args, finish, folded, &mut notes)
    })?;
    shown.print(args, &notes)
}

/// The files that inputs name.
pub(crate) struct Found {
    paths: Vec<PathBuf>,
    watches: Vec<ChangeMonitor>,
    begun: Instant,
}

impl Found {
    /// Looks for them.
    pub(crate) fn of(args: &Reduction) -> Result<Found, Failure> {
        check(args)?;
        args.check_stand_in()?;
        args.finish()?;
        let begun = Instant::now();
        let mut paths = Vec::new();
        for path in &args.inputs {
            paths.extend(expand(path)?);
        }
        let watches = paths.iter().map(|path| ChangeMonitor::of_path(path));
        let watches = watches.collect::<Result<_, _>>()?;
        Ok(Found { paths, watches, begun })
    }

    /// Looks whether a result file may be written: of several ranks one writes it.
    pub(crate) fn check_out(&self, args: &Reduction) -> Result<(), Failure> {
        if let Some((path, _)) = &args.out {
            outfile::check(path)?;
            outfile::refuse_inputs(path, self.paths.iter().map(PathBuf::as_path))?;
        }
        Ok(())
    }

    /// Runs what reads the files: what cannot be decoded may have been written to meanwhile.
    pub(crate) fn read<R>(
        &self,
        args: &Reduction,
        work: impl FnOnce() -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        let found = {
            let _silence = Silence::begin(args);
            work()
        };
        self.watches.iter().try_for_each(ChangeMonitor::check_name)?;
        found
    }
}

/// What makes no sense whatever the files hold.
fn check(args: &Reduction) -> Result<(), Failure> {
    let refused = |message: String| Err(Failure::Usage(message));
    if let Some(other) = args.inputs.iter().find(|path| !is_columns(path) && !is_folder(path)) {
        if let Err(error) = std::fs::metadata(other) {
            return Err(Failure::input(&Name::of(other.clone()), Problem::from(error)));
        }
        return refused(format!(
            "{} is no Parquet or Arrow file, and other inputs are; reduce them apart",
            other.display().to_string().escape_debug()
        ));
    }
    let parts = &args.parts;
    if parts.any() && parts.by.is_empty() {
        return refused("a column of a Parquet or Arrow file has neither axes nor segments here; leave them out, or group it by another column with --by".into());
    }
    if parts.sorted || parts.groups.is_some() {
        return refused("--sorted and --groups are for keys in a file of their own; leave them out, and --by finds the keys in a column".into());
    }
    let gives_indices = mapped::gives_indices(args);
    if !parts.by.is_empty() && gives_indices && !parts.flat {
        return refused(format!(
            "indices of {} count all rows of the files, those without a value too, and not those of a group; add --flat, and they are printed",
            args.op()
        ));
    }
    if parts.flat && !gives_indices {
        return refused(format!(
            "--flat says from where indices count, and {} gives none; argmin, argmax and stats take it",
            args.op()
        ));
    }
    if args.op() == Op::Dot && !parts.by.is_empty() {
        return refused("dot by keys is not there; leave --by out".into());
    }
    if args.op() == Op::Dot && (args.column.len() != 2 || args.has_all_columns()) {
        return refused(
            "dot takes two columns; name them both, as in --column price --column qty".into(),
        );
    }
    if args.maps.any() {
        mapped::check(args)?;
    }
    if let Some(dtype) = args.dtype {
        return refused(format!(
            "--dtype {dtype} is for raw elements and text; a column of a Parquet or Arrow file has a type: leave it out, or round the result with --as"
        ));
    }
    if args.written.any() {
        return refused("--header, --missing, --comment, --delimiter and --decimal are for text, and no input is text; leave them out".into());
    }
    if !args.device.is_processor() {
        return refused(format!(
            "columns of Parquet and Arrow files are reduced on the CPU; leave out --device {}",
            args.device
        ));
    }
    Ok(())
}

/// While it lives, what readers of damaged files panic of is not printed, as it becomes an error; `--verbose` prints it.
struct Silence;

impl Silence {
    fn begin(args: &Reduction) -> Option<Silence> {
        (args.verbosity() != Verbosity::Verbose).then(|| {
            std::panic::set_hook(Box::new(|_| {}));
            Silence
        })
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            drop(std::panic::take_hook());
        }
    }
}

/// What is to be shown once the files are known not to have changed.
pub(crate) enum Shown {
    One(Report),
    Printout(Printout),
    Table(Table),
}

impl Shown {
    /// Prints it, and what there is to note beside it.
    pub(crate) fn print(self, args: &Reduction, notes: &[String]) -> Result<(), Failure> {
        self.show(args)?;
        notes.iter().for_each(|note| crate::say!("{note}"));
        Ok(())
    }

    fn show(self, args: &Reduction) -> Result<(), Failure> {
        let format = args.format.unwrap_or(Format::Text);
        match self {
            Shown::One(report) => {
                if args.verbosity() == Verbosity::Verbose {
                    crate::say!("time: {}", report.timing());
                }
                if let Some((path, format)) = &args.out {
                    deliver::replace_file(path, *format, &report)?;
                }
                streams::print(&format.bytes(&report)?)
            }
            Shown::Printout(printout) => {
                if let Some((path, format)) = &args.out {
                    outfile::replace(path, &printout.file(*format)?)?;
                }
                streams::print(&printout.bytes(format))
            }
            Shown::Table(found) => {
                if args.verbosity() == Verbosity::Verbose {
                    crate::say!("time: {}", found.timing());
                }
                deliver::many(args, &found)
            }
        }
    }
}

/// An error of one of several columns, by its name.
fn of_column(name: &str, columns: usize, error: Error) -> Failure {
    match Failure::from(error) {
        // Of one column these say what was asked for themselves.
        failure @ (Failure::Usage(_) | Failure::Reduction(_)) if columns == 1 => failure,
        failure => several::of_column(name, failure),
    }
}

fn group(
    args: &Reduction,
    columns: &Columns,
    finish: Finish,
    notes: &mut Vec<String>,
) -> Result<Shown, Failure> {
    let Columns { files, names, begun, .. } = columns;
    let keys = key_names(args, files)?;
    if let Some(name) = (1..names.len()).find(|&at| names[..at].contains(&names[at])) {
        return Err(Failure::Usage(format!(
            "column {} is asked for twice, and results by keys have a column of its name; name it once",
            names[name]
        )));
    }
    let folding = Instant::now();
    let (groups, read) = files.group(names, &keys, args.op(), args.policy())?;
    let rows = groups.first().map_or(0, Groups::rows);
    let nulls = names.iter().zip(groups.iter().map(|groups| groups.rows() - groups.values()));
    note(rows, nulls, notes);
    tell(args, rows, read);
    let (mut n, mut bytes, mut types) = (0, 0, Vec::new());
    for (name, groups) in names.iter().zip(&groups) {
        let dtype = files.column(name)?;
        n += groups.values();
        bytes += groups.values() * dtype.primitive_width().unwrap_or(1) as u64;
        types.push(type_name(&dtype));
    }
    types.dedup();
    let empty = args.parts.empty.of_engine();
    let finished = names.iter().zip(groups).map(|(name, groups)| {
        groups.finish_or(finish, empty).map_err(|error| of_column(name, names.len(), error))
    });
    let found = Joined::of(finished.collect::<Result<_, _>>()?);
    let (is_one_key, is_one) = (keys.len() == 1, !args.is_table());
    let label = |name| if is_one_key && is_one { "key".into() } else { name };
    let labels = keys.into_iter().map(label).zip(found.keys.into_iter().map(print::keys)).collect();
    let titles = if is_one { Titles::Results } else { Titles::Columns };
    let mut columns = Vec::new();
    for (name, results) in names.iter().zip(found.columns) {
        let results = match results.is_empty() {
            true => report::titles(args.op()).into_iter().map(|name| (name, Vec::new())).collect(),
            false => results,
        };
        let (fields, all) = (results.len(), results.into_iter());
        columns.extend(
            all.map(|(field, cells)| (titles.of(name, field, fields), print::cells(cells))),
        );
    }
    Ok(Shown::Table(Table {
        op: args.op(),
        dtype: types.join(", "),
        n,
        bytes,
        labels: Labels::Keys(labels),
        titles,
        columns,
        accuracy: warpfold::Accuracy::Exact,
        device: Device::Cpu,
        seconds: begun.elapsed().as_secs_f64(),
        fold_seconds: folding.elapsed().as_secs_f64(),
        texts: Vec::new(),
    }))
}

/// Notes how many rows have no value.
fn note<'a>(rows: u64, nulls: impl Iterator<Item = (&'a String, u64)>, notes: &mut Vec<String>) {
    let note =
        |(name, nulls)| format!("note: {name}: {nulls} of {rows} rows left out, as they are null");
    notes.extend(nulls.filter(|(_, nulls)| *nulls > 0).map(note));
}

/// Notes how many rows lack a value in one of the columns that expressions name.
fn note_rows(columns: &[String], rows: u64, values: u64, notes: &mut Vec<String>) {
    if values < rows {
        let mut names: Vec<&str> = Vec::new();
        for name in columns {
            names.extend(Some(name.as_str()).filter(|name| !names.contains(name)));
        }
        let which = match &names[..] {
            [one] => one.to_string(),
            all => format!("one of {}", all.join(", ")),
        };
        let lacking = rows - values;
        notes.push(format!("note: {lacking} of {rows} rows left out, as {which} is null there"));
    }
}

/// Says to who wants to know what was decoded.
fn tell(args: &Reduction, rows: u64, read: Read) {
    if args.verbosity() != Verbosity::Verbose {
        return;
    }
    let skipped = match read.skipped {
        0 => String::new(),
        some => format!(", and {some} known by their statistics"),
    };
    crate::say!("rows: {rows}; {} row groups or batches decoded{skipped}", read.decoded);
}

/// The program's name of a type, or Arrow's where it has none.
fn type_name(dtype: &DataType) -> String {
    number_type(dtype).map_or_else(|| dtype.to_string(), |dtype| dtype.name().into())
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        match error {
            Error::Reduction(Reduced::Output { output: At::Group(key), error }) => {
                let output = At::Group(without_controls(&key));
                Failure::Reduction(Reduced::Output { output, error })
            }
            Error::Reduction(error) => Failure::Reduction(error),
            Error::Type { .. } | Error::Key { .. } => Failure::Usage(one_line(&error)),
            Error::Overflow { op, dtype, value, result } => Failure::Data(format!(
                "{op} of {dtype} is {value}, which {result} cannot hold; --as f64 rounds it"
            )),
            other => Failure::Data(one_line(&other)),
        }
    }
}

/// Names of files and columns may hold line breaks, which a message of one line must not.
fn one_line(error: &Error) -> String {
    without_controls(&error.to_string())
}

fn without_controls(text: &str) -> String {
    let one = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(one).collect()
}
