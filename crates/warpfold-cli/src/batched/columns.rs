//! Several columns of a text by keys: one table, a column for each, and a row for each key that one of them has a value for.

use std::sync::Arc;
use std::time::Instant;

use warpfold::{Column, DType, Error, Value};
use warpfold_engine::{self as engine, HostArray, Indices, Request};

use super::keys;
use super::tuples::{Coded, Tuples};
use super::{BatchedResults, Parted, Read, found};
use crate::Failure;
use crate::args::{Reduction, Verbosity};
use crate::device::Device;
use crate::input::text::{Indices as Places, MissingRuns};
use crate::input::{self, Input, Name, Whole};
use crate::left_out::Texts;
use crate::one_array::ReadFile;
use crate::several::{Chosen, Kept, Reading, nothing_left, of_column, say_left_out};
use crate::table::{Cells, Labels, Printed, Table, Titles};
use crate::{deliver, opening, report, several};

/// Reduces the columns and prints their results.
pub(crate) fn columns(args: &Reduction) -> Result<(), Failure> {
    several::check(args)?;
    super::rows::check(args)?;
    keys::check(args)?;
    let finish = args.finish()?;
    if !opening::key_columns(args).is_empty() {
        opening::keep_streams(args)?;
    }
    let begun = Instant::now();
    let chosen = Chosen::of(args, &opening::key_columns(args))?;
    let inputs = chosen.open(args)?;
    if args.verbosity() == Verbosity::Verbose {
        for input in &inputs {
            crate::say!("input: {}: {}", input.name(), input.describe());
        }
    }
    let mut texts = Texts::of(&inputs);
    let dtype = inputs.first().map_or(DType::F64, Input::dtype);
    let mut reading = Reading::new(chosen.names.len());
    let mut all = vec![Kept::default(); chosen.names.len()];
    let mut files = Vec::new();
    for input in inputs {
        let (notes, monitor, before) = (input.notes(), input.monitor(), reading.rows);
        reading.read(input, |column, elements| {
            all[column].append(elements.bytes());
            Ok(())
        })?;
        files.push(ReadFile::read(monitor, &notes, reading.rows - before));
        reading.check_alike(&chosen.names)?;
    }
    let folding = Instant::now();
    let read = Parted::read(args, &files)?;
    let (numbers, key_gaps, tuples) = numbered(args, read, &mut texts)?;
    let keys = Keys { args, numbers: &numbers, gaps: &key_gaps, rows: reading.rows };
    keys.check()?;
    let mut results = Vec::new();
    for (at, name) in chosen.names.iter().enumerate() {
        if reading.dropped[at].is_some() {
            continue;
        }
        let elements = input::array(dtype, all[at].bytes(), 0)
            .map_err(|problem| Failure::input(&Name::of(args.inputs[0].clone()), problem))?;
        let one = keys.fold(elements, &reading.gaps[at], finish);
        results.push((name, one.map_err(|failure| of_column(name, tuples.named(failure)))?));
        all[at] = Kept::default();
    }
    if results.is_empty() {
        return Err(nothing_left(&chosen.names));
    }
    for (name, why) in chosen.names.iter().zip(&reading.dropped) {
        why.iter().for_each(|why| say_left_out(name, why));
    }
    let mut rows: Vec<u32> =
        results.iter().flat_map(|(_, one)| one.groups.iter().copied()).collect();
    rows.sort_unstable();
    rows.dedup();
    let n = results.iter().map(|(_, one)| one.found.elements).sum();
    // What stands for the result of a key that a column has no value for.
    let none = Err(Error::Empty { op: args.op(), ignored: false });
    let none = args.parts.empty.or_stand_in((args.op(), dtype, finish), none).ok().flatten();
    let none = none.map_or_else(Vec::new, |none| report::fields(&none));
    let titles = Titles::Columns;
    let mut columns = Vec::new();
    for (name, One { found, groups }) in results {
        let fields = found.columns.len();
        for (at, (field, cells)) in
            BatchedResults::cells(found.columns, &found.gaps).into_iter().enumerate()
        {
            let none = none.get(at).and_then(|(_, value)| *value);
            columns.push((titles.of(name, &field, fields), spread(cells, &groups, &rows, none)));
        }
    }
    let table = Table {
        op: args.op(),
        dtype: dtype.to_string(),
        n,
        bytes: n * dtype.size() as u64,
        labels: tuples.of_numbers(&rows),
        titles,
        columns,
        accuracy: args.accuracy,
        device: Device::Cpu,
        seconds: begun.elapsed().as_secs_f64(),
        fold_seconds: folding.elapsed().as_secs_f64(),
        texts: texts.found(args.verbosity() == Verbosity::Verbose),
    };
    if args.verbosity() == Verbosity::Verbose {
        crate::say!("time: {}", table.timing());
    }
    deliver::many(args, &table)
}

/// The number of each row's key, the rows without one, and what the numbers stand for.
fn numbered(
    args: &Reduction,
    read: Read,
    texts: &mut Texts,
) -> Result<(Vec<u32>, MissingRuns, Tuples), Failure> {
    let Read { parted, texts: more, gaps, tuples } = read;
    more.into_iter().for_each(|(name, notes)| texts.add(name, notes));
    let Parted::Keys(keys) = parted else { unreachable!("results are by keys") };
    let name = keys::name(args, &args.parts.by[0]);
    let (keys, tuples): (Whole, Tuples) = match tuples.0 {
        Some(tuples) if args.parts.by.len() == 1 => (keys, tuples.called(name)),
        Some(tuples) => (keys, tuples),
        None => {
            let path = Name::of(args.parts.by[0].clone());
            let coded = [Coded::integers(keys)];
            let found = Tuples::number(path, &coded, vec![name])?;
            coded[0].check_unchanged()?;
            found
        }
    };
    Ok((keys.elements::<u32>()?.to_vec(), gaps, tuples))
}

/// The keys of the rows.
struct Keys<'a> {
    args: &'a Reduction,
    numbers: &'a [u32],
    gaps: &'a MissingRuns,
    /// Rows of data.
    rows: u64,
}

/// A column's results, and the number of each one's key.
struct One {
    found: BatchedResults,
    groups: Vec<u32>,
}

impl Keys<'_> {
    /// Fails unless there is a key for each row.
    fn check(&self) -> Result<(), Failure> {
        let keys = self.numbers.len() as u64 + self.gaps.elements();
        if keys == self.rows {
            return Ok(());
        }
        Err(Failure::from(Error::Keys {
            requested: format!("groups of {} rows by {keys} keys", self.rows),
            obstacle: "there is not one key for each row".into(),
            remedy: "cut the longer one",
        }))
    }

    fn fold(
        &self,
        elements: HostArray<'_>,
        gaps: &MissingRuns,
        finish: warpfold::partial::Finish,
    ) -> Result<One, Failure> {
        let both = gaps.union(self.gaps);
        let numbers = without(self.numbers, &Places::new(self.gaps).among_kept(&both));
        let dropped = Places::new(gaps).among_kept(&both);
        let policy = self.args.policy();
        let parts = engine::group_by(&numbers, numbers.len(), policy)?;
        let groups = parts.keys().and_then(Column::slice::<u32>).unwrap_or_default().to_vec();
        let kept: Kept;
        let elements = match dropped.elements() {
            0 => elements,
            _ => {
                let (size, mut from, mut some) = (elements.dtype().size(), 0, Kept::default());
                let end = elements.len() as u64;
                for run in dropped.runs().chain(std::iter::once(end..end)) {
                    some.append(&elements.bytes()[from * size..run.start as usize * size]);
                    from = run.end as usize;
                }
                kept = some;
                input::array(elements.dtype(), kept.bytes(), 0).expect("they were elements before")
            }
        };
        let indices = if self.args.parts.flat { Indices::OfArray } else { Indices::OfInput };
        let request = Request::new(self.args.op(), elements)
            .parts(Arc::new(parts))
            .policy(policy)
            .empty(self.args.parts.empty.of_engine())
            .indices(indices);
        let mut found = found(&request, Labels::Numbers, finish, None)?;
        if self.args.parts.flat {
            in_data(&mut found, &Places::new(&both));
        }
        Ok(One { found, groups })
    }
}

/// Numbers but for those in gaps.
fn without(numbers: &[u32], gaps: &MissingRuns) -> Vec<u32> {
    let mut kept = Vec::with_capacity(numbers.len() - gaps.elements() as usize);
    let (mut from, end) = (0, numbers.len() as u64);
    for run in gaps.runs().chain(std::iter::once(end..end)) {
        kept.extend_from_slice(&numbers[from..run.start as usize]);
        from = run.end as usize;
    }
    kept
}

/// Has indices count the rows that were left out.
fn in_data(found: &mut BatchedResults, places: &Places) {
    for (name, column) in &mut found.columns {
        if let ("argmin" | "argmax", Column::U64(column)) = (*name, column) {
            column.iter_mut().for_each(|index| *index = places.in_data(*index));
        }
    }
}

/// A column's cells where the table has rows for other columns' keys as well.
fn spread(cells: Cells, groups: &[u32], rows: &[u32], none: Option<Value>) -> Cells {
    if groups.len() == rows.len() {
        return cells;
    }
    let cell = |row: &u32| match groups.binary_search(row) {
        Ok(at) => cells.cell(at),
        Err(_) => none.map(Printed::from),
    };
    Cells::Printed(rows.iter().map(cell).collect())
}
