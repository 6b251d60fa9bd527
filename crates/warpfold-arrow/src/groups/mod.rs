//! [`Groups`]: one reduction of a column for each key of another, or for each combination of several.

mod joined;
mod keys;
mod mapped;
mod null_rows;
mod products;
mod ranked;
mod state;
mod stats;
mod tuples;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, make_array};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::DataType;
use warpfold_engine::HostArray;
use warpfold_exact::partial::Finish;
use warpfold_num::{
    Accuracy, At, Column, Element, Empty, Error as Reduction, Op, Policy, Value, with_element,
};

use crate::cell::{Cell, Fields};
use crate::fold::{ColumnReducer, cells, look_up, plain, values_type};
use crate::form::Form;
use crate::{Error, Result};

pub use joined::Joined;
pub use keys::Keys;
use keys::Store;
pub use mapped::{MappedGroups, MappedResults};
use null_rows::NullRows;
use state::State;

/// One reduction of a column for each key of another: integers, dates and times, booleans, strings, and dictionaries of them.
///
/// It keeps what each group is so far, and no rows: 43 to 64 bytes (var, std, l2, sumsq, argmin and argmax: 85 to 128; stats: 256 to 384; decimals: some 180), and as much again while
/// a table grows. Products of floats take what their last rows take, 8 bytes each, up to some 1,300 for a group; and as they are multiplied by where their rows stand
/// among those of their key, rows without a value counted, as under a mask, rows of a part are kept until all before them are known.
/// A row without a value is left out; rows without a key are a group of their own, and where there are several keys, none is one more value of each.
#[derive(Debug)]
pub struct Groups {
    op: Op,
    form: Form,
    dtype: DataType,
    policy: Policy,
    key_types: Vec<DataType>,
    /// What groups are so far.
    state: State,
    /// Whether no row comes before its own, so that no row has to wait.
    is_first: bool,
    /// Values that wait, as words and how many bytes of them count.
    values: (Vec<u64>, usize),
    keys: Store,
    /// The keys of a batch as numbers, while it is taken in.
    ranks: Vec<u64>,
    /// The row of each value of a batch, where it is asked for.
    rows: Vec<u64>,
    /// Rows without a value, where these have places among the others.
    null_rows: Option<NullRows>,
    /// What has no key.
    keyless: ColumnReducer,
    row: u64,
}

/// Columns of results by name; `None` where one has no value.
pub type Named = Vec<(&'static str, Vec<Option<Cell>>)>;

/// One result for each key, or combination of keys; rows without a key come last, under none.
#[derive(Debug, Clone, PartialEq)]
pub struct Grouped {
    /// The keys, a column of each, as long as those of the results.
    pub keys: Vec<Keys>,
    /// Results by name.
    pub columns: Named,
}

impl Groups {
    /// Groups of nothing.
    ///
    /// # Errors
    /// [`Error::Type`], [`Error::Key`].
    ///
    /// # Panics
    /// If there is no key.
    pub fn new(op: Op, dtype: &DataType, keys: &[DataType], policy: Policy) -> Result<Groups> {
        assert!(!keys.is_empty(), "groups have keys");
        let key_types: Vec<DataType> = keys.iter().map(|key| values_type(key).clone()).collect();
        let form = Form::of(op, dtype)?;
        let null_rows = NullRows::of(op, &form);
        let policy = Policy { accuracy: Accuracy::Exact, ..policy };
        Ok(Groups {
            state: State::of(op, &form, policy),
            is_first: false,
            op,
            form,
            dtype: values_type(dtype).clone(),
            policy,
            ranks: Vec::new(),
            keys: match null_rows {
                // Rows without a key are a group like the others.
                Some(_) => Store::tuples(&key_types)?,
                None => Store::new(&key_types)?,
            },
            null_rows,
            key_types,
            values: (Vec::new(), 0),
            rows: Vec::new(),
            keyless: ColumnReducer::new(op, dtype, policy)?,
            row: 0,
        })
    }

    /// Says which row of the whole the next array begins with.
    #[must_use]
    pub fn starting_at(mut self, row: u64) -> Groups {
        self.go_to(row);
        self
    }

    /// The same between two arrays, where their order does not count.
    pub(crate) fn go_to(&mut self, row: u64) {
        self.row = row;
        self.keyless.go_to(row);
    }

    /// Whether arrays may be taken in, and merged, in any order.
    #[cfg(feature = "parquet")]
    pub(crate) fn takes_any_order(&self) -> bool {
        !matches!(self.state, State::Products(_))
    }

    /// Says that no row comes before those that it takes in.
    #[cfg(feature = "parquet")]
    pub(crate) fn be_first(&mut self) {
        self.is_first = true;
    }

    /// Whether rows wait for those before them.
    fn waits(&self) -> bool {
        !self.is_first && matches!(self.state, State::Products(_))
    }

    /// Takes in the next arrays of keys and values.
    ///
    /// # Errors
    /// [`Error::Lengths`], [`Error::Mixed`].
    pub fn push(&mut self, keys: &[ArrayRef], values: &ArrayRef) -> Result<()> {
        if let Some(keys) = keys.iter().find(|keys| keys.len() != values.len()) {
            return Err(Error::Lengths { keys: keys.len(), values: values.len() });
        }
        let plain = |array: &ArrayRef| match array.data_type() {
            DataType::Dictionary(..) => look_up(array),
            _ => Ok(array.clone()),
        };
        let values = plain(values)?;
        let keys: Vec<ArrayRef> = keys.iter().map(plain).collect::<Result<_>>()?;
        let found = keys.iter().zip(&self.key_types).chain([(&values, &self.dtype)]);
        for (array, before) in found {
            if array.data_type() != before {
                let found = array.data_type().clone();
                return Err(Error::Mixed { found, before: before.clone() });
            }
        }
        let n = values.len();
        if n == 0 {
            return Ok(());
        }
        // Of several keys, none is a value like the others.
        let key_nulls = match &keys[..] {
            [keys] if self.null_rows.is_none() => keys.nulls(),
            _ => None,
        };
        let all_rows = match &self.null_rows {
            Some(_) => None,
            None => NullBuffer::union(key_nulls, values.nulls()),
        };
        let runs: Vec<(usize, usize)> = match &all_rows {
            Some(nulls) => nulls.valid_slices().collect(),
            None => vec![(0, n)],
        };
        let before = self.values.1;
        self.append_values(&values, &runs);
        if let (Some(null_rows), Some(nulls)) = (&mut self.null_rows, values.nulls()) {
            let bytes = &mut bytemuck::cast_slice_mut(&mut self.values.0)[..self.values.1];
            null_rows.fill(&mut bytes[before..], nulls, self.keys.len());
        }
        self.keys.append(&keys, &runs);
        if self.state.asks_for_rows() {
            let rows = runs.iter().flat_map(|&(start, end)| start as u64..end as u64);
            self.rows.extend(rows.map(|row| self.row + row));
        }
        if !self.waits() {
            self.take_in()?;
        }
        match key_nulls {
            Some(nulls) if nulls.null_count() > 0 => {
                let lacks_key = |k: usize| nulls.is_null(k) && values.is_valid(k);
                let keyless = NullBuffer::new(BooleanBuffer::collect_bool(n, lacks_key));
                self.keyless.push(&with_nulls(&values, keyless))?;
            }
            _ => self.keyless.go_to(self.row + n as u64),
        }
        self.row += n as u64;
        Ok(())
    }

    /// Takes the values that wait into their groups.
    fn take_in(&mut self) -> Result<()> {
        let bytes: &[u8] = &bytemuck::cast_slice(&self.values.0)[..self.values.1];
        self.keys.take_ranks(&mut self.ranks);
        let (ranks, rows) = (&self.ranks[..], &self.rows[..]);
        let array = |dtype| with_element!(dtype, T => HostArray::of(elements::<T>(bytes)));
        match (&mut self.state, self.form.dtype()) {
            (State::Partials(all), Some(dtype)) => all.push(ranks, array(dtype), rows)?,
            (State::Stats(all), Some(dtype)) => all.push(ranks, array(dtype), rows)?,
            (State::Products(all), _) => {
                let none = self.null_rows.as_mut().map(NullRows::take).unwrap_or_default();
                all.push(ranks, bytes, &none);
            }
            (State::Integers(dtype, all), _) => all.push(ranks, *dtype, bytes),
            (State::Decimals(all), _) => {
                let width = self.dtype.primitive_width().unwrap_or(16);
                all.push(ranks, (bytes, width), rows);
            }
            _ => unreachable!("the engine has a type for what it folds"),
        }
        self.values.1 = 0;
        self.rows.clear();
        Ok(())
    }

    fn append_values(&mut self, values: &ArrayRef, runs: &[(usize, usize)]) {
        let data = values.to_data();
        macro_rules! slices {
            ($($ty:ty),+) => {
                match values.data_type().primitive_width() {
                    $(Some(width) if width == size_of::<$ty>() => {
                        let values = data.buffer::<$ty>(0);
                        runs.iter().for_each(|&(start, end)| append(&mut self.values, &values[start..end]));
                    })+
                    _ => {
                        let bits = values.as_boolean().values();
                        for &(start, end) in runs {
                            let bytes: Vec<u8> = bits.slice(start, end - start).iter().map(u8::from).collect();
                            append(&mut self.values, &bytes);
                        }
                    }
                }
            };
        }
        slices!(i8, i16, i32, i64, i128);
    }

    /// Takes in what comes after it.
    ///
    /// # Errors
    /// [`Error::Mixed`]; products of floats of which both have rows that are multiplied already.
    pub fn merge(&mut self, other: Groups) -> Result<()> {
        append(
            &mut self.values,
            &bytemuck::cast_slice::<u64, u8>(&other.values.0)[..other.values.1],
        );
        if let (Some(null_rows), Some(others)) = (&mut self.null_rows, other.null_rows) {
            null_rows.merge(others, self.keys.len());
        }
        let Some(renumbered) = self.keys.merge(other.keys) else {
            let first = |types: Vec<DataType>| types.into_iter().next().unwrap_or(DataType::Null);
            let (found, before) = (first(other.key_types), first(self.key_types.clone()));
            return Err(Error::Mixed { found, before });
        };
        match renumbered.is_empty() {
            true => self.state.merge(other.state, |rank| rank)?,
            false => self.state.merge(other.state, |number| renumbered[number as usize].into())?,
        }
        if !self.waits() {
            self.take_in()?;
        }
        self.row = self.row.max(other.row);
        self.keyless.merge(other.keyless)
    }

    /// Rows taken in so far, and those before the first.
    pub fn rows(&self) -> u64 {
        self.row
    }

    /// Values taken in so far: rows that are not null, with a key or without.
    pub fn values(&self) -> u64 {
        let none = self.null_rows.as_ref().map_or(0, NullRows::rows);
        self.state.values() + self.keys.len() as u64 - none + self.keyless.values()
    }

    /// The results, keys ascending.
    ///
    /// # Errors
    /// As the contract has it for the reduction, with the key of the first group that has no result.
    pub fn finish(self, finish: Finish) -> Result<Grouped> {
        self.finish_or(finish, Empty::Error)
    }

    /// The results, keys ascending, and what stands for those that do not exist.
    ///
    /// # Errors
    /// As [`finish`](Self::finish); with [`Empty::Nan`], for types that have none.
    pub fn finish_or(mut self, finish: Finish, empty: Empty) -> Result<Grouped> {
        self.take_in()?;
        let finish = Finish { overflow: self.policy.overflow, ..finish };
        let (mut keys, mut columns) = self.results(finish, empty)?;
        let has_keyless = self.keyless.values() > 0;
        let keyless = has_keyless.then(|| self.keyless.finish_or(finish, empty));
        let keyless = keyless.transpose()?;
        if let Some(keyless) = &keyless {
            if columns.is_empty() {
                columns = keyless.0.iter().map(|(name, _)| (*name, Vec::new())).collect();
            }
            let is_one = columns.len() == 1;
            for (name, cells) in &mut columns {
                cells.push(if is_one { keyless.one() } else { keyless.get(name) }.cloned());
            }
            keys.iter_mut().for_each(Keys::push_none);
        }
        if let [(name, _)] = &mut columns[..] {
            *name = self.op.name();
        }
        Ok(Grouped { keys, columns })
    }

    /// The groups of rows that have a key.
    fn results(&self, finish: Finish, empty: Empty) -> Result<(Vec<Keys>, Named)> {
        let mut ranks = match &self.state {
            State::Partials(partials) => partials.ranks(),
            State::Stats(stats) => stats.ranks(),
            State::Decimals(decimals) => decimals.ranks(),
            State::Integers(_, products) => products.ranks(),
            State::Products(products) => products.numbers(),
        };
        let mut keys = self.keys.sorted(&self.key_types, &mut ranks);
        if let State::Products(products) = &self.state {
            let is_kept: Vec<bool> = ranks.iter().map(|&rank| products.has_value(rank)).collect();
            keys.iter_mut().for_each(|keys| keys.retain(&is_kept));
            ranks.retain(|&rank| products.has_value(rank));
        }
        if ranks.is_empty() {
            return Ok((keys, Vec::new()));
        }
        let named = |error: Reduction| of_group(error.into(), &keys);
        let is_number = matches!(self.form, Form::Numbers(_));
        let columns = match &self.state {
            State::Partials(partials) if is_number => {
                let (columns, gaps) = partials.finish(&ranks, finish, empty).map_err(named)?;
                columns.iter().map(|(name, column)| (*name, shown(column, &gaps))).collect()
            }
            State::Stats(stats) if is_number => {
                stats.finish(&ranks, finish, empty).map_err(named)?
            }
            _ => {
                let fields = |(place, &rank): (usize, &u64)| {
                    self.fields(rank, finish).map_err(|error| at_place(error, place, &keys))
                };
                by_name(ranks.iter().enumerate().map(fields).collect::<Result<_>>()?)
            }
        };
        Ok((keys, columns))
    }

    /// The results of a group by itself: those of times, of decimals and of products.
    fn fields(&self, rank: u64, finish: Finish) -> Result<Fields> {
        let partial = match (&self.state, &self.form) {
            (State::Decimals(decimals), Form::Decimals(scale)) => {
                return decimals.of(rank).finish(self.op, *scale, finish);
            }
            (State::Products(products), _) => {
                return Ok(plain(products.partial(rank).finish(self.op, finish)?));
            }
            (State::Integers(dtype, products), _) => {
                return Ok(plain(products.partial(*dtype, rank).finish(self.op, finish)?));
            }
            (State::Partials(partials), _) => partials.partial(rank),
            (State::Stats(stats), _) => stats.partial(rank),
            (State::Decimals(_), _) => unreachable!("decimals have a scale"),
        };
        // All that have a value count, where there is no zero.
        let counts = self.op == Op::Count && matches!(self.form, Form::Instants(..));
        match partial.count().filter(|_| counts) {
            Some(n) => Ok(Fields(vec![("value", Some(Cell::Value(Value::U64(n))))])),
            None => cells(&partial, self.op, &self.form, finish),
        }
    }
}

/// An error of the group at a place, by its key.
fn at_place(error: Error, place: usize, keys: &[Keys]) -> Error {
    match error {
        Error::Reduction(error) => {
            let (output, error) = (At::Group(place.to_string()), error.into());
            of_group(Reduction::Output { output, error }.into(), keys)
        }
        other => other,
    }
}

/// An error that has the group's place, by its key.
fn of_group(error: Error, keys: &[Keys]) -> Error {
    let Error::Reduction(Reduction::Output { output: At::Group(number), error }) = error else {
        return error;
    };
    let text = |keys: &Keys, at| keys.text(at).unwrap_or_else(|| "-".into());
    let key =
        number.parse().ok().filter(|&at| at < keys[0].len()).map_or(number, |at| {
            keys.iter().map(|keys| text(keys, at)).collect::<Vec<_>>().join(", ")
        });
    Reduction::Output { output: At::Group(key), error }.into()
}

/// A column as cells, but for the gaps in it, which ascend.
fn shown(column: &Column, gaps: &[u64]) -> Vec<Option<Cell>> {
    let cell = |k: usize| match gaps.binary_search(&(k as u64)) {
        Ok(_) => None,
        Err(_) => Some(Cell::Value(column.get(k))),
    };
    (0..column.len()).map(cell).collect()
}

fn by_name(rows: Vec<Fields>) -> Named {
    let mut columns: Named = Vec::new();
    for Fields(row) in rows {
        if columns.is_empty() {
            columns = row.iter().map(|(name, _)| (*name, Vec::new())).collect();
        }
        columns.iter_mut().zip(row).for_each(|((_, cells), (_, cell))| cells.push(cell));
    }
    columns
}

/// An array with another validity.
fn with_nulls(values: &ArrayRef, nulls: NullBuffer) -> ArrayRef {
    // Bits of a slice begin within a byte, and its validity would have to as well.
    if let Some(bits) = values.as_boolean_opt() {
        return Arc::new(BooleanArray::new(bits.values().clone(), Some(nulls)));
    }
    let data = values.to_data().into_builder().nulls(Some(nulls)).build();
    make_array(data.expect("an array with another validity of its length"))
}

fn append<T: bytemuck::NoUninit>((words, bytes): &mut (Vec<u64>, usize), values: &[T]) {
    let values: &[u8] = bytemuck::cast_slice(values);
    let end = *bytes + values.len();
    words.resize(end.div_ceil(8), 0);
    bytemuck::cast_slice_mut(words)[*bytes..end].copy_from_slice(values);
    *bytes = end;
}

fn elements<T: Element>(bytes: &[u8]) -> &[T] {
    if bytes.is_empty() { &[] } else { bytemuck::checked::cast_slice(bytes) }
}
