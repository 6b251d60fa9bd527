//! Several columns of a text, each reduced apart and all of them read once: a table with a row for each column, or, by keys, with a column for each.

pub(crate) mod reading;

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::path::PathBuf;
use std::time::Instant;

use warpfold::{DType, Op};

pub(crate) use reading::{Kept, Reading};

use crate::args::{Reduction, Verbosity};
use crate::device::{Device, Executor, Folder};
use crate::input::text::{Column, Columns, Dialect, Header, LeftOut, NoNumbers};

use crate::input::{self, InputFormat, Name, Problem, Wanted};
use crate::left_out::{Joined, Texts};
use crate::table::{self, Labels, Table, Titles};
use crate::{Failure, deliver, opening, report};

/// Whether there are several columns of texts.
pub(crate) fn takes(args: &Reduction) -> bool {
    let is_text = |path: &PathBuf| {
        args.input.unwrap_or_else(|| InputFormat::of(&Name::of(path.clone()))) == InputFormat::Text
    };
    let is_here = args.is_table() && !args.is_dot_of_columns();
    is_here && !args.inputs.is_empty() && args.inputs.iter().all(is_text)
}

/// Reduces them and prints what comes of it.
pub(crate) fn reduction(args: &Reduction) -> Result<(), Failure> {
    check(args)?;
    let (finish, begun) = (args.finish()?, Instant::now());
    let chosen = Chosen::of(args, &[])?;
    let inputs = chosen.open(args)?;
    let texts = Texts::of(&inputs);
    let dtype = inputs.first().map_or(DType::F64, |input| input.dtype());
    let folding = Instant::now();
    let mut columns = fold(args, inputs, chosen.names.len())?;
    chosen.refuse_dropped(&columns)?;
    let taken = columns.iter().filter(|column| column.why.is_none());
    let n = taken.map(|column| column.folder.seen()).sum();
    let mut names = Vec::new();
    let mut found = Vec::new();
    for (name, column) in chosen.names.iter().zip(columns.drain(..)) {
        if let Some(why) = column.why {
            // Of an input that drops it nothing is kept, and of gaps neither.
            if column.folder.seen() > 0 {
                return Err(reading::unlike(name, &why));
            }
            say_left_out(name, &why);
            continue;
        }
        let output = column.folder.finish(finish);
        let output = args.parts.empty.or_stand_in((args.op(), dtype, finish), output);
        let output = output.map_err(|error| of_column(name, error.into()))?;
        names.push(name.clone());
        found.push(output.map(|output| report::fields(&column.joined.in_data(args.op(), output))));
    }
    let table = Table {
        op: args.op(),
        dtype: dtype.to_string(),
        n,
        bytes: n * dtype.size() as u64,
        labels: Labels::Columns(names),
        titles: Titles::Results,
        columns: table::columns_of(&report::titles(args.op()), &found),
        accuracy: args.accuracy,
        device: Device::Cpu,
        seconds: begun.elapsed().as_secs_f64(),
        fold_seconds: folding.elapsed().as_secs_f64(),
        texts: texts.found(args.verbosity() == Verbosity::Verbose),
    };
    deliver::many(args, &table)
}

/// What makes no sense whatever the texts hold.
pub(crate) fn check(args: &Reduction) -> Result<(), Failure> {
    let refused = |what: &str| {
        Err(Failure::Usage(format!(
            "several --column options make a table of each column's result, {what}"
        )))
    };
    args.check_stand_in()?;
    let parts = &args.parts;
    if args.op() == Op::Dot {
        return refused(
            "and dot takes two columns of one text, by their names; several files are to be joined first",
        );
    }
    if args.maps.any() {
        return refused(
            "and --map, --where, --weights, --of and --with have names for columns; leave --column out",
        );
    }
    if args.world.is_some() {
        return refused(
            "which --world does not share out yet; run once for each column, or leave --world out",
        );
    }
    if parts.any() && parts.by.is_empty() {
        return refused("by keys or as a whole; for axes and segments, run once for each column");
    }
    if parts.sorted || parts.groups.is_some() {
        return refused(
            "and --sorted and --groups take one column; leave them out, or run once for each column",
        );
    }
    if !args.device.is_processor() {
        return refused("on the processor; leave --device out, or run once for each column");
    }
    opening::check_result_file(args)
}

/// The columns that were chosen.
pub(crate) struct Chosen {
    pub(crate) names: Vec<String>,
    columns: Vec<Column>,
    no_numbers: NoNumbers,
    header: Option<Header>,
    /// Whose missing cells leave rows out as well.
    beside: Vec<Column>,
}

impl Chosen {
    /// By the options, without the keys where all are wanted.
    pub(crate) fn of(args: &Reduction, keys: &[Column]) -> Result<Chosen, Failure> {
        let is_all = matches!(&args.column[..], [Column::Name(name)] if name == "*");
        let is_once =
            || args.inputs.iter().any(|path| input::is_read_once(&Name::of(path.clone())));
        let dialect = args.written.dialect(false);
        let mut chosen = Chosen {
            names: args.column.iter().map(shown).collect(),
            columns: args.column.clone(),
            no_numbers: NoNumbers::Fail,
            header: None,
            beside: keys.to_vec(),
        };
        let has_index =
            args.column.iter().chain(keys).any(|column| matches!(column, Column::Index(_)));
        if is_all {
            opening::keep_streams(args)?;
        }
        // What is read once has no first row to be looked at before.
        if is_once() {
            return chosen.checked();
        }
        if is_all || has_index {
            let found = first_rows(args, dialect)?;
            let place = |column: &Column| match column {
                Column::Index(index) => usize::try_from(*index).ok().map(|index| index - 1),
                Column::Name(name) => found.names.iter().position(|found| found == name),
            };
            if is_all {
                let keys: Vec<usize> = keys.iter().filter_map(place).collect();
                let all = (0..found.names.len()).filter(|at| !keys.contains(at));
                chosen.columns = all.map(|at| Column::Index(at as u64 + 1)).collect();
                (chosen.no_numbers, chosen.header) = (NoNumbers::DropAtFirst, Some(found.header));
                if chosen.columns.is_empty() && !keys.is_empty() {
                    return Err(nothing_left(&[]));
                }
            }
            let name = |column: &Column| {
                place(column)
                    .and_then(|at| found.names.get(at).cloned())
                    .unwrap_or_else(|| shown(column))
            };
            chosen.names = chosen.columns.iter().map(name).collect();
            let places: Vec<_> = chosen.columns.iter().map(place).collect();
            chosen.check(&places)?;
            chosen.name_apart(&places);
            return Ok(chosen);
        }
        chosen.checked()
    }

    /// All columns, of which those are dropped that hold something else than numbers.
    pub(crate) fn all(columns: Columns) -> Chosen {
        Chosen {
            columns: (1..=columns.names.len() as u64).map(Column::Index).collect(),
            names: columns.names,
            no_numbers: NoNumbers::Drop,
            header: Some(columns.header),
            beside: Vec::new(),
        }
    }

    fn checked(self) -> Result<Chosen, Failure> {
        self.check(&self.names)?;
        Ok(self)
    }

    /// Fails where a column is asked for twice, by what tells one from another.
    fn check<T: Eq + Hash>(&self, columns: &[T]) -> Result<(), Failure> {
        let mut seen = HashSet::with_capacity(columns.len());
        match columns.iter().position(|column| !seen.insert(column)) {
            Some(at) => Err(Failure::Usage(format!(
                "column {} is asked for twice; name it once",
                self.names[at].escape_debug()
            ))),
            None => Ok(()),
        }
    }

    /// Gives columns of one name their numbers.
    fn name_apart(&mut self, places: &[Option<usize>]) {
        let mut counts = HashMap::<String, usize>::new();
        self.names.iter().for_each(|name| *counts.entry(name.clone()).or_default() += 1);
        for (name, place) in self.names.iter_mut().zip(places) {
            if let (2.., Some(place)) = (counts[name.as_str()], place) {
                *name = format!("{name} (column {})", place + 1);
            }
        }
    }

    /// Opens the inputs, whose elements come row after row.
    pub(crate) fn open(&self, args: &Reduction) -> Result<Vec<input::Input>, Failure> {
        self.open_as(args, args.written.dialect(args.verbosity() == Verbosity::Verbose))
    }

    pub(crate) fn open_as(
        &self,
        args: &Reduction,
        dialect: Dialect,
    ) -> Result<Vec<input::Input>, Failure> {
        let dialect = Dialect { header: self.header.unwrap_or(dialect.header), ..dialect };
        let wanted = Wanted {
            dtype: args.dtype,
            kind: Some(InputFormat::Text),
            columns: self.columns.clone(),
            no_numbers: self.no_numbers,
            dialect,
            beside: self.beside.clone(),
            left_out: LeftOut::Kept,
            ..Wanted::default()
        };
        Ok(input::open(&args.inputs, &wanted)?)
    }

    /// Fails where no column is left.
    fn refuse_dropped(&self, columns: &[Folded]) -> Result<(), Failure> {
        match columns.iter().any(|column| column.why.is_none()) {
            true => Ok(()),
            false => Err(nothing_left(&self.names)),
        }
    }
}

/// Tells of a column that '*' does not take.
pub(crate) fn say_left_out(name: &str, why: &str) {
    crate::say!("left out: column {}: {why}", name.escape_debug());
}

pub(crate) fn nothing_left(names: &[String]) -> Failure {
    let hint = match names {
        [one] => input::text::delimiter_hint(one.as_bytes()),
        _ => String::new(),
    };
    Failure::Data(format!(
        "no column of the text but keys holds numbers; name one with --column, and see what is in it{hint}"
    ))
}

/// A column as it was asked for.
pub(crate) fn shown(column: &Column) -> String {
    match column {
        Column::Name(name) => name.clone(),
        Column::Index(index) => index.to_string(),
    }
}

/// The columns by the first rows, which every input has to have.
pub(crate) fn first_rows(args: &Reduction, dialect: Dialect) -> Result<Columns, Failure> {
    let mut first: Option<Columns> = None;
    for path in &args.inputs {
        let name = Name::of(path.clone());
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

/// A column that was folded.
pub(crate) struct Folded {
    pub(crate) folder: Folder,
    pub(crate) joined: Joined,
    pub(crate) missing: u64,
    /// What stands where a number should, where the column is dropped.
    pub(crate) why: Option<String>,
}

/// Folds so many columns of the inputs, one input after another.
pub(crate) fn fold(
    args: &Reduction,
    inputs: Vec<input::Input>,
    columns: usize,
) -> Result<Vec<Folded>, Failure> {
    let dtype = inputs.first().map_or(DType::F64, |input| input.dtype());
    let empty = |_| {
        let folder = Folder::new(&Executor::Cpu, args.op(), dtype, args.policy())?;
        Ok(Folded { folder, joined: Joined::default(), missing: 0, why: None })
    };
    let mut all = (0..columns).map(empty).collect::<Result<Vec<Folded>, Failure>>()?;
    for input in inputs {
        let mut reading = Reading::new(columns);
        let before: Vec<u64> = all.iter().map(|column| column.folder.seen()).collect();
        reading.read(input, |column, elements| Ok(all[column].folder.push(elements)?))?;
        for (k, (gaps, why)) in reading.gaps.into_iter().zip(reading.dropped).enumerate() {
            all[k].missing += gaps.elements();
            let kept = all[k].folder.seen() - before[k];
            all[k].joined.push(kept, gaps);
            all[k].why = all[k].why.take().or(why);
        }
    }
    Ok(all)
}

/// A failure of one of several columns, by its name.
pub(crate) fn of_column(name: &str, failure: Failure) -> Failure {
    let name = name.escape_debug();
    match failure {
        Failure::Usage(text) => Failure::Usage(format!("column {name}: {text}")),
        Failure::Data(text) => Failure::Data(format!("column {name}: {text}")),
        failure @ Failure::Reduction(_) => {
            let text = format!("column {name}: {failure}");
            match failure.exit_code() {
                2 => Failure::Usage(text),
                _ => Failure::Data(text),
            }
        }
        other => other,
    }
}
