//! Columns as a whole: opened, folded, merged with what other processes folded of them, shown.

use std::time::{Duration, Instant};

use warpfold::partial::{Finish, Output, Summary};
use warpfold::{DType, Op};
use warpfold_arrow::files::{Files, Read};
use warpfold_arrow::{Cell, ColumnReducer, DataType, Dot, Error, Fields, number_type};

use super::chosen::columns;
use super::print::{self, Printout};
use super::{Found, Shown, note, of_column, type_name};
use crate::Failure;
use crate::args::Reduction;
use crate::device::Device;
use crate::report::Report;
use crate::table::{Labels, Table, Titles};

/// The columns that options name, of files that are open.
pub(crate) struct Columns {
    pub(super) files: Files,
    pub(super) names: Vec<String>,
    pub(super) begun: Instant,
    description: String,
}

/// What was folded of them.
pub(crate) struct Folded {
    state: State,
    read: Read,
    folding: Duration,
}

enum State {
    Columns(Vec<ColumnReducer>),
    Dot(Box<Dot>),
}

impl Columns {
    /// Opens files, of which footers are read.
    pub(crate) fn open(args: &Reduction, found: &Found) -> Result<Columns, Failure> {
        let files = Files::open(&found.paths)?;
        let names = columns(args, &files)?;
        let described: Vec<String> = names
            .iter()
            .map(|name| Ok(format!("{name} of {}", type_name(&files.column(name)?))))
            .collect::<Result<_, Error>>()?;
        let paths = &found.paths;
        let first = paths.first().map_or_else(String::new, |path| path.display().to_string());
        let of =
            if paths.len() == 1 { first } else { format!("{} files from {first}", paths.len()) };
        let description = format!("{}: {}", of.escape_debug(), described.join(", "));
        let columns = Columns { files, names, begun: found.begun, description };
        if let (true, false, Some((_, format))) =
            (args.parts.by.is_empty(), columns.is_table(args), &args.out)
        {
            format.check_one()?;
        }
        Ok(columns)
    }

    /// Has one of several shares of their rows read alone.
    pub(crate) fn share(self, rank: usize, size: usize) -> Columns {
        Columns { files: self.files.share(rank, size), ..self }
    }

    /// The files, the columns, and their types.
    pub(crate) fn describe(&self) -> &str {
        &self.description
    }

    /// What all ranks have to find alike: the columns, their types, and the rows of the files, cut in the same places.
    pub(crate) fn columns_and_rows(&self) -> Result<String, Failure> {
        let types = self.types()?;
        let named = self.names.iter().zip(&types);
        let columns: Vec<String> =
            named.map(|(name, ty)| format!("{name} of {}", type_name(ty))).collect();
        let (pieces, cuts) = self.files.cuts()?;
        let (columns, rows) = (columns.join(" and "), self.files.rows()?);
        Ok(format!("{columns}, {rows} rows in {pieces} row groups or batches ({cuts:016x})"))
    }

    fn types(&self) -> Result<Vec<DataType>, Error> {
        self.names.iter().map(|name| self.files.column(name)).collect()
    }

    fn is_table(&self, args: &Reduction) -> bool {
        args.is_table() && args.op() != Op::Dot
    }

    pub(crate) fn fold(&self, args: &Reduction) -> Result<Folded, Failure> {
        let folding = Instant::now();
        let (state, read) = match (args.op(), &self.names[..]) {
            // Products of the rows in which both have a value.
            (Op::Dot, [x, y]) => {
                let (dot, read) = self.files.dot(&[x.clone(), y.clone()], args.policy())?;
                (State::Dot(Box::new(dot)), read)
            }
            (op, names) => {
                let (columns, read) = self.files.fold(names, op, args.policy())?;
                (State::Columns(columns), read)
            }
        };
        Ok(Folded { state, read, folding: folding.elapsed() })
    }

    /// The results of what was folded, and what there is to note beside them.
    pub(crate) fn shown(
        &self,
        args: &Reduction,
        finish: Finish,
        folded: Folded,
        notes: &mut Vec<String>,
    ) -> Result<Shown, Failure> {
        let Folded { state, folding, .. } = folded;
        let of = |dtype: DType, n: u64, output: Output| {
            Shown::One(Report {
                op: args.op(),
                dtype,
                n,
                output: output.into(),
                accuracy: warpfold::Accuracy::Exact,
                device: Device::Cpu,
                seconds: self.begun.elapsed().as_secs_f64(),
                fold_seconds: folding.as_secs_f64(),
                texts: Vec::new(),
            })
        };
        let folds = match state {
            State::Columns(folds) => folds,
            State::Dot(dot) => {
                let (n, rows, dtype) = (dot.values(), dot.rows(), dot.dtype());
                let both = self.names.join(" and ");
                note(rows, [(&both, rows - n)].into_iter(), notes);
                let fields = dot.finish(finish)?;
                let Some(Cell::Value(value)) = fields.one() else {
                    unreachable!("a dot product is one number")
                };
                return Ok(of(dtype, n, Output::One(*value)));
            }
        };
        let rows = folds.first().map_or(0, ColumnReducer::rows);
        let nulls = folds.iter().map(|fold| fold.rows() - fold.values());
        note(rows, self.names.iter().zip(nulls), notes);
        let n = folds.iter().map(ColumnReducer::values).sum();
        let mut found = Vec::with_capacity(folds.len());
        for (name, fold) in self.names.iter().zip(folds) {
            let fields = fold.finish_or(finish, args.parts.empty.of_engine());
            found.push(fields.map_err(|error| of_column(name, self.names.len(), error))?);
        }
        let types = self.types()?;
        if let ([dtype], [fields], false) = (&types[..], &found[..], self.is_table(args)) {
            return Ok(match number_type(dtype).zip(output(args.op(), fields)) {
                Some((dtype, output)) => of(dtype, n, output),
                None => {
                    let seconds = self.begun.elapsed().as_secs_f64();
                    let (op, dtype) = (args.op(), type_name(dtype));
                    Shown::Printout(Printout::new(op, dtype, n, fields, seconds))
                }
            });
        }
        Ok(Shown::Table(self.table(args, n, &types, &found, folding)))
    }

    /// A row for each column.
    fn table(
        &self,
        args: &Reduction,
        n: u64,
        types: &[DataType],
        found: &[Fields],
        folding: Duration,
    ) -> Table {
        let width = |dtype: &DataType| dtype.primitive_width().unwrap_or(1) as u64;
        let mut dtypes: Vec<String> = types.iter().map(type_name).collect();
        dtypes.dedup();
        let fields = found
            .first()
            .map_or_else(Vec::new, |first| first.0.iter().map(|(name, _)| *name).collect());
        let column = |(k, field): (usize, &'static str)| {
            let name = if fields.len() == 1 { args.op().name() } else { field };
            (name.into(), print::cells(found.iter().map(|fields| fields.0[k].1.clone()).collect()))
        };
        Table {
            op: args.op(),
            dtype: dtypes.join(", "),
            n,
            bytes: types.iter().map(|dtype| n / types.len() as u64 * width(dtype)).sum(),
            labels: Labels::Columns(self.names.clone()),
            titles: Titles::Results,
            columns: fields.iter().copied().enumerate().map(column).collect(),
            accuracy: warpfold::Accuracy::Exact,
            device: Device::Cpu,
            seconds: self.begun.elapsed().as_secs_f64(),
            fold_seconds: folding.as_secs_f64(),
            texts: Vec::new(),
        }
    }
}

/// Reducers of different columns, one after another: the length of each one's bytes, and these.
impl Folded {
    /// Row groups and batches that were read.
    pub(crate) fn read(&self) -> Read {
        self.read
    }

    /// Rows up to the last that was read.
    pub(super) fn rows(&self) -> u64 {
        match &self.state {
            State::Columns(folds) => folds.first().map_or(0, ColumnReducer::rows),
            State::Dot(dot) => dot.rows(),
        }
    }

    /// What was folded as bytes, for [`merge_bytes`](Self::merge_bytes) in another process.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let all: Vec<Vec<u8>> = match &self.state {
            State::Columns(folds) => folds.iter().map(ColumnReducer::to_bytes).collect(),
            State::Dot(dot) => vec![dot.to_bytes()],
        };
        let length = |bytes: &Vec<u8>| (bytes.len() as u64).to_le_bytes();
        all.iter().flat_map(|bytes| [&length(bytes)[..], bytes].concat()).collect()
    }

    /// Takes in what another process has folded of other rows; `None` if the bytes are none of its.
    pub(crate) fn merge_bytes(&mut self, mut bytes: &[u8]) -> Option<()> {
        let mut next = || {
            let (length, rest) = bytes.split_first_chunk()?;
            let (one, rest) =
                rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
            bytes = rest;
            Some(one)
        };
        match &mut self.state {
            State::Columns(folds) => {
                for fold in folds {
                    fold.merge_bytes(next()?).ok()?;
                }
            }
            State::Dot(dot) => dot.merge_bytes(next()?).ok()?,
        }
        bytes.is_empty().then_some(())
    }
}

/// Results that are numbers, as those of arrays.
fn output(op: Op, fields: &Fields) -> Option<Output> {
    let value = |name| match fields.get(name) {
        Some(Cell::Value(value)) => Some(*value),
        _ => None,
    };
    let count = |name| value(name)?.typed::<u64>();
    Some(match op {
        Op::MinMax => Output::Pair(value("min")?, value("max")?),
        Op::Stats => Output::Summary(Box::new(Summary {
            count: count("count")?,
            nan_count: count("nan_count")?,
            sum: value("sum")?,
            mean: value("mean"),
            var: value("var"),
            std: value("std"),
            min: value("min"),
            max: value("max"),
            argmin: count("argmin"),
            argmax: count("argmax"),
            l1: value("l1")?,
            l2: value("l2")?,
        })),
        _ => Output::One(value("value")?),
    })
}
