//! Several arrays of `.npz` files, or fields of records in `.npy` files, each reduced apart: a table with a row for each.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::slice;
use std::time::Instant;

use warpfold::Op;

use crate::args::{Reduction, Verbosity};
use crate::device::{Device, Executor, Folder};
use crate::input::text::Column;
use crate::input::{self, Input, InputFormat, Name, Problem, Wanted};
use crate::several::reading::unlike;
use crate::several::{of_column, say_left_out, shown};
use crate::table::{self, Labels, Table, Titles};
use crate::{Failure, deliver, opening, report, run};

/// Whether several of them are asked for.
pub(crate) fn takes(args: &Reduction) -> bool {
    args.is_table() && args.op() != Op::Dot && are_arrays(args)
}

fn are_arrays(args: &Reduction) -> bool {
    let is_array = |path: &PathBuf| {
        args.input.unwrap_or_else(|| InputFormat::of(&Name::of(path.clone()))) == InputFormat::Npy
    };
    !args.inputs.is_empty() && args.inputs.iter().all(is_array)
}

/// Whether the inputs are files that hold several.
pub(crate) fn are_several(args: &Reduction) -> bool {
    let names = |path: &Path| input::array_names(&Name::of(path.to_path_buf()));
    let is_once = |path: &PathBuf| input::is_read_once(&Name::of(path.clone()));
    // What is wrong with a file is said where it is read.
    are_arrays(args)
        && !args.inputs.iter().any(is_once)
        && args.inputs.first().is_some_and(|path| names(path).is_ok_and(|names| names.len() > 1))
}

/// Reduces them and prints what comes of it.
pub(crate) fn reduction(args: &Reduction) -> Result<(), Failure> {
    check(args)?;
    // Names are looked at before the arrays are read.
    opening::keep_streams(args)?;
    let (finish, begun) = (args.finish()?, Instant::now());
    let all = names(args)?;
    let chosen: Vec<String> = match args.has_all_columns() {
        true => all,
        false => args.column.iter().map(|column| name(column, &all)).collect(),
    };
    if let Some(at) = (1..chosen.len()).find(|&at| chosen[..at].contains(&chosen[at])) {
        return Err(Failure::Usage(format!(
            "column {} is asked for twice; name it once",
            chosen[at].escape_debug()
        )));
    }
    let (mut names, mut found, mut dtypes) = (Vec::new(), Vec::new(), Vec::new());
    let (mut n, mut bytes) = (0, 0);
    for name in chosen {
        let inputs = match open(args, &args.inputs, &name) {
            Ok(inputs) => inputs,
            // Words and times among numbers.
            Err(input::Error::Input { problem, .. })
                if args.has_all_columns() && problem.is_of_type() =>
            {
                let is_open = |path: &PathBuf| open(args, slice::from_ref(path), &name).is_ok();
                if args.inputs.iter().any(is_open) {
                    return Err(unlike(&name, &problem.to_string()));
                }
                say_left_out(&name, &problem.to_string());
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let dtype = inputs.first().map_or(warpfold::DType::F64, Input::dtype);
        if args.verbosity() == Verbosity::Verbose {
            for input in &inputs {
                crate::say!("input: {}: {name}: {}", input.name(), input.describe());
            }
        }
        let of_this = |error: warpfold::Error| of_column(&name, error.into());
        let folder = Folder::new(&Executor::Cpu, args.op(), dtype, args.policy());
        let mut folder = folder.map_err(of_this)?;
        let elements = run::fold_all(&mut folder, inputs, args.op())?;
        (n, bytes) = (n + elements, bytes + elements * dtype.size() as u64);
        let output =
            args.parts.empty.or_stand_in((args.op(), dtype, finish), folder.finish(finish));
        let output = output.map_err(of_this)?;
        found.push(output.map(|output| report::fields(&output)));
        dtypes.push(dtype.to_string());
        names.push(name);
    }
    dtypes.dedup();
    if names.is_empty() {
        return Err(Failure::Data("no array of the file holds numbers; see what is in it".into()));
    }
    let table = Table {
        op: args.op(),
        dtype: dtypes.join(", "),
        n,
        bytes,
        labels: Labels::Columns(names),
        titles: Titles::Results,
        columns: table::columns_of(&report::titles(args.op()), &found),
        accuracy: args.accuracy,
        device: Device::Cpu,
        seconds: begun.elapsed().as_secs_f64(),
        fold_seconds: begun.elapsed().as_secs_f64(),
        texts: Vec::new(),
    };
    deliver::many(args, &table)
}

/// What makes no sense whatever the files hold.
fn check(args: &Reduction) -> Result<(), Failure> {
    let refused = |what: &str| {
        Err(Failure::Usage(format!(
            "several arrays of a file are reduced one by one, as a whole and on the processor: {what}; leave it out, or choose one array"
        )))
    };
    if args.parts.any() {
        return refused("axes, segments and keys are those of one");
    }
    if args.maps.any() {
        return refused("--map, --where, --weights and --with take one");
    }
    if args.world.is_some() {
        return refused("--world shares out one");
    }
    if !args.device.is_processor() {
        return refused("--device takes one");
    }
    opening::check_result_file(args)
}

/// The name of a chosen array; what is no name of one is refused where it is opened.
fn name(column: &Column, all: &[String]) -> String {
    match column {
        Column::Index(index) => {
            let at = usize::try_from(*index).ok().and_then(|index| all.get(index - 1));
            at.cloned().unwrap_or_else(|| shown(column))
        }
        Column::Name(name) => name.clone(),
    }
}

/// The names of the arrays, which every input has to have.
fn names(args: &Reduction) -> Result<Vec<String>, Failure> {
    let mut first: Option<Vec<String>> = None;
    for path in &args.inputs {
        let file = Name::of(path.clone());
        let names = input::array_names(&file)?;
        if names.is_empty() {
            // It has no columns, and says so.
            open(args, slice::from_ref(path), "*")?;
        }
        match &first {
            Some(first) if args.has_all_columns() && !is_same_set(first, &names) => {
                return Err(Failure::input(&file, Problem::OtherColumns));
            }
            Some(_) => {}
            None => first = Some(names),
        }
    }
    first.ok_or_else(|| Failure::Usage("there is no input".into()))
}

fn is_same_set(one: &[String], other: &[String]) -> bool {
    let [one, other] = [one, other].map(|names| names.iter().collect::<BTreeSet<_>>());
    one == other
}

fn open(args: &Reduction, paths: &[PathBuf], name: &str) -> Result<Vec<Input>, input::Error> {
    let (dtype, kind) = (args.dtype, Some(InputFormat::Npy));
    let columns = vec![Column::Name(name.into())];
    input::open(paths, &Wanted { dtype, kind, columns, ..Wanted::default() })
}
