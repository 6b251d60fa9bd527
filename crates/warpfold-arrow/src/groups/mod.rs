//! [`Groups`]: one reduction of a column for each key of another, or for each combination of several.

mod joined;
mod keys;
mod null_rows;
mod tuples;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, make_array};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::DataType;
use warpfold_engine::{HostArray, Indices, PartialsByKey, Parts, Request};
use warpfold_exact::AnyPartial;
use warpfold_exact::partial::Finish;
use warpfold_num::{
    Accuracy, At, Column, Element, Empty, Error as Reduction, Op, Policy, Value, with_element,
};

use crate::cell::{Cell, Fields};
use crate::decimal::Decimals;
use crate::fold::{ColumnReducer, cells, look_up, values_type};
use crate::form::Form;
use crate::{Error, Result};

pub use joined::Joined;
pub use keys::Keys;
use keys::Store;
use null_rows::NullRows;

/// One reduction of a column for each key of another: integers, dates and times, booleans, strings, and dictionaries of them.
///
/// Of numbers and times, all but products, argmin, argmax and stats keep what each group is so far: 43 to 64 bytes (var, std, l2 and sumsq: 85 to 128), and as much again while their table
/// grows. Those, and decimals, keep values and keys until the end: some 16 bytes a row. A row without a value is left out; rows without a key are a group of their own,
/// and where there are several keys, none is one more value of each. Floats are multiplied by where their rows stand among those of their key, rows
/// without a value counted, as under a mask.
#[derive(Debug)]
pub struct Groups {
    op: Op,
    form: Form,
    dtype: DataType,
    policy: Policy,
    key_types: Vec<DataType>,
    /// What groups are so far; values and keys are those of one batch then.
    partials: Option<PartialsByKey>,
    /// Values, as words and how many bytes of them count.
    values: (Vec<u64>, usize),
    keys: Store,
    /// The keys of a batch as numbers, while it is taken in.
    ranks: Vec<u64>,
    /// The row of each value, where the reduction gives indices.
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
        let partials = form.dtype().and_then(|dtype| PartialsByKey::new(op, dtype, policy));
        Ok(Groups {
            op,
            form,
            dtype: values_type(dtype).clone(),
            policy,
            partials,
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
        self.partials.is_some()
    }

    /// Whether indices are among the results: those of rows of the whole.
    fn has_indices(&self) -> bool {
        matches!(self.op, Op::ArgMin | Op::ArgMax | Op::Stats)
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
        if let Some(partials) = &mut self.partials {
            let bytes = &bytemuck::cast_slice(&self.values.0)[..self.values.1];
            self.keys.take_ranks(&mut self.ranks);
            let dtype = self.form.dtype().expect("partials are of numbers");
            with_element!(dtype, T => partials.push(&self.ranks, HostArray::of(elements::<T>(bytes))))?;
            self.values.1 = 0;
        }
        if self.has_indices() {
            let rows = runs.iter().flat_map(|&(start, end)| start as u64..end as u64);
            self.rows.extend(rows.map(|row| self.row + row));
        }
        let keyless = match key_nulls {
            Some(nulls) if nulls.null_count() > 0 => {
                let lacks_key = |k: usize| nulls.is_null(k) && values.is_valid(k);
                NullBuffer::new(BooleanBuffer::collect_bool(n, lacks_key))
            }
            _ => NullBuffer::new_null(n),
        };
        let data = values.to_data().into_builder().nulls(Some(keyless)).build();
        let data = data.expect("an array with another validity of its length");
        self.keyless.push(&make_array(data))?;
        self.row += n as u64;
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
    /// [`Error::Mixed`].
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
        if let (Some(partials), Some(others)) = (&mut self.partials, other.partials) {
            match renumbered.is_empty() {
                true => partials.merge(others, |rank| rank)?,
                false => partials.merge(others, |number| renumbered[number as usize].into())?,
            }
        }
        self.rows.extend(other.rows);
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
        let kept = self.partials.as_ref().map_or(self.keys.len() as u64, PartialsByKey::rows);
        kept - none + self.keyless.values()
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
    pub fn finish_or(self, finish: Finish, empty: Empty) -> Result<Grouped> {
        let finish = Finish { overflow: self.policy.overflow, ..finish };
        let has_keyless = self.keyless.values() > 0;
        let keyless = has_keyless.then(|| self.keyless.clone().finish_or(finish, empty));
        let keyless = keyless.transpose()?;
        let (mut keys, mut columns) = match &self.partials {
            Some(partials) => self.folded(partials, finish, empty)?,
            None => self.stored(finish, empty)?,
        };
        for (name, cells) in &mut columns {
            if matches!(
                (&self.op, *name),
                (Op::ArgMin | Op::ArgMax, _) | (Op::Stats, "argmin" | "argmax")
            ) {
                for cell in cells.iter_mut().flatten() {
                    if let Cell::Value(Value::U64(index)) = cell {
                        *index = self.rows[*index as usize];
                    }
                }
            }
        }
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

    /// The groups of what is known of each.
    fn folded(
        &self,
        partials: &PartialsByKey,
        finish: Finish,
        empty: Empty,
    ) -> Result<(Vec<Keys>, Named)> {
        let mut ranks = partials.ranks();
        let keys = self.keys.sorted(&self.key_types, &mut ranks);
        if ranks.is_empty() {
            return Ok((keys, Vec::new()));
        }
        if !matches!(self.form, Form::Numbers(_)) {
            let fields = |&rank: &u64| self.fields(&partials.partial(rank), finish);
            return Ok((keys, by_name(ranks.iter().map(fields).collect::<Result<_>>()?)));
        }
        let named = |error: Reduction| named_by_place(error.into(), &keys);
        let (columns, gaps) = partials.finish(&ranks, finish, empty).map_err(named)?;
        Ok((keys, columns.iter().map(|(name, column)| (*name, shown(column, &gaps))).collect()))
    }

    /// The results of a group of times: all that have a value count, where there is no zero.
    fn fields(&self, partial: &AnyPartial, finish: Finish) -> Result<Fields> {
        let counts = self.op == Op::Count && matches!(self.form, Form::Instants(..));
        match partial.count() {
            Some(count) if counts => {
                Ok(Fields(vec![("value", Some(Cell::Value(Value::U64(count))))]))
            }
            _ => cells(partial, self.op, &self.form, finish),
        }
    }

    /// The groups of all values.
    fn stored(&self, finish: Finish, empty: Empty) -> Result<(Vec<Keys>, Named)> {
        let is_decimal = matches!(self.form, Form::Decimals(_));
        let (parts, mut keys, numbers) =
            self.keys.parts(&self.key_types, self.policy, is_decimal)?;
        let mut columns = match (&self.form, &numbers) {
            (Form::Decimals(scale), Some(numbers)) => {
                let groups = keys[0].len();
                by_name(self.decimals(numbers, groups, *scale, finish)?)
            }
            _ => self.columns(parts, finish, empty).map_err(|error| named(error, &keys))?,
        };
        if let (Some(null_rows), Some(numbers)) = (&self.null_rows, &numbers) {
            null_rows.leave_out(numbers, &mut keys, &mut columns);
        }
        Ok((keys, columns))
    }

    fn columns(&self, parts: Parts<'_>, finish: Finish, empty: Empty) -> Result<Named> {
        let bytes: &[u8] = &bytemuck::cast_slice(&self.values.0)[..self.values.1];
        let dtype = self.form.dtype().expect("decimals have a way of their own");
        let wide: Vec<i64>;
        let x = match &self.form {
            Form::Instants(warpfold_num::DType::I32, _) => {
                wide = bytemuck::cast_slice::<u8, i32>(bytes)
                    .iter()
                    .map(|&ticks| ticks.into())
                    .collect();
                HostArray::of(&wide)
            }
            _ => with_element!(dtype, T => HostArray::of(elements::<T>(bytes))),
        };
        if x.is_empty() {
            return Ok(Vec::new());
        }
        let request = Request::new(self.op, x)
            .parts(Arc::new(parts))
            .policy(self.policy)
            .empty(empty)
            .indices(Indices::OfArray);
        match &self.form {
            Form::Numbers(_) => {
                let (columns, gaps) = warpfold_engine::columns_and_gaps(&request, finish)?;
                let gaps = gaps.iter().map(Vec::as_slice).chain(std::iter::repeat(&[][..]));
                let named = columns.iter().zip(gaps);
                Ok(named.map(|((name, column), gaps)| (*name, shown(column, gaps))).collect())
            }
            _ => {
                let partials = warpfold_engine::partials(&request)?;
                let fields = |partial| self.fields(partial, finish);
                Ok(by_name(partials.iter().map(fields).collect::<Result<_>>()?))
            }
        }
    }

    fn decimals(
        &self,
        numbers: &[u32],
        groups: usize,
        scale: i8,
        finish: Finish,
    ) -> Result<Vec<Fields>> {
        let bytes: &[u8] = &bytemuck::cast_slice(&self.values.0)[..self.values.1];
        let width = self.dtype.primitive_width().unwrap_or(16);
        let mut all = vec![Decimals::default(); groups];
        for (k, (bytes, &group)) in bytes.chunks_exact(width).zip(numbers).enumerate() {
            // The two's complement of a narrower integer, widened by its sign.
            let mut wide = [if bytes[width - 1] & 0x80 == 0 { 0 } else { 0xff }; 16];
            wide[..width].copy_from_slice(bytes);
            all[group as usize].push(k as u64, &[i128::from_le_bytes(wide)], None);
        }
        all.iter().map(|decimals| decimals.finish(self.op, scale, finish)).collect()
    }
}

/// An error of a group, by its key: to the engine, times are numbers, and words and combinations have places.
fn named(error: Error, keys: &[Keys]) -> Error {
    let [Keys::Cells(cells)] = keys else { return named_by_place(error, keys) };
    by_key(error, |number| {
        let is_it =
            |cell: &&Cell| matches!(cell, Cell::Time(ticks, _) if ticks.to_string() == number);
        cells.iter().flatten().find(is_it).map(Cell::to_string)
    })
}

/// The same of an error that has the group's place.
fn named_by_place(error: Error, keys: &[Keys]) -> Error {
    let text = |keys: &Keys, at| keys.text(at).unwrap_or_else(|| "-".into());
    by_key(error, |number| {
        let at = number.parse().ok().filter(|&at| at < keys[0].len())?;
        Some(keys.iter().map(|keys| text(keys, at)).collect::<Vec<_>>().join(", "))
    })
}

fn by_key(error: Error, key: impl Fn(&str) -> Option<String>) -> Error {
    let Error::Reduction(Reduction::Output { output: At::Group(number), error }) = error else {
        return error;
    };
    let key = key(&number).unwrap_or(number);
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
