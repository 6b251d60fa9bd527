//! [`Groups`]: one reduction of a column for each key of another.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, make_array};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::DataType;
use warpfold_engine::{HostArray, Indices, Parts, Request};
use warpfold_exact::partial::Finish;
use warpfold_num::{
    Accuracy, At, Column, Element, Error as Reduction, Op, Policy, Value, with_element,
};

use crate::cell::{Cell, Fields};
use crate::decimal::Decimals;
use crate::fold::{Fold, cells, look_up, values_type};
use crate::form::Form;
use crate::{Error, Result};

/// One reduction of a column for each key of another: integers, dates and times, booleans, strings, and dictionaries of them.
///
/// Values and keys are kept until the end: some 16 bytes a row. A row without a value is left out; rows without a key are a group of their own.
#[derive(Debug)]
pub struct Groups {
    op: Op,
    form: Form,
    dtype: DataType,
    policy: Policy,
    key: DataType,
    /// Values, as words and how many bytes of them count.
    values: (Vec<u64>, usize),
    keys: Store,
    /// The row of each value, where the reduction gives indices.
    rows: Vec<u64>,
    /// What has no key.
    keyless: Fold,
    row: u64,
}

/// The keys of the values, in their order.
#[derive(Debug)]
enum Store {
    Signed(Vec<i64>),
    Unsigned(Vec<u64>),
    /// The number of each, and what the numbers stand for.
    Words(Vec<u32>, HashMap<Box<str>, u32>),
}

/// The keys of groups, ascending.
#[derive(Debug, Clone, PartialEq)]
pub enum Keys {
    /// Integers, booleans, dates and times.
    Cells(Vec<Cell>),
    /// Strings, by their bytes.
    Words(Vec<String>),
}

/// Columns of results by name; `None` where one has no value.
pub type Named = Vec<(&'static str, Vec<Option<Cell>>)>;

/// One result for each key; rows without a key come last, under none.
#[derive(Debug, Clone, PartialEq)]
pub struct Grouped {
    /// The keys.
    pub keys: Keys,
    /// Whether a last result is that of rows without a key.
    pub has_keyless: bool,
    /// Results by name, as many as keys, and one more of rows without a key.
    pub columns: Named,
}

impl Groups {
    /// Groups of nothing.
    ///
    /// # Errors
    /// [`Error::Type`], [`Error::Key`].
    pub fn new(op: Op, dtype: &DataType, key: &DataType, policy: Policy) -> Result<Groups> {
        use DataType as D;
        let keyless = Fold::new(op, dtype, policy)?;
        let keys = match values_type(key) {
            D::Boolean
            | D::Int8
            | D::Int16
            | D::Int32
            | D::Int64
            | D::Date32
            | D::Date64
            | D::Time32(_)
            | D::Time64(_)
            | D::Timestamp(..)
            | D::Duration(_) => Store::Signed(Vec::new()),
            D::UInt8 | D::UInt16 | D::UInt32 | D::UInt64 => Store::Unsigned(Vec::new()),
            D::Utf8 | D::LargeUtf8 | D::Utf8View => Store::Words(Vec::new(), HashMap::new()),
            other => {
                let remedy = "keys are integers, strings, dates and times; cast it to one of them";
                return Err(Error::Key { dtype: other.clone(), remedy });
            }
        };
        Ok(Groups {
            op,
            form: Form::of(op, dtype)?,
            dtype: values_type(dtype).clone(),
            policy: Policy { accuracy: Accuracy::Exact, ..policy },
            key: values_type(key).clone(),
            values: (Vec::new(), 0),
            keys,
            rows: Vec::new(),
            keyless,
            row: 0,
        })
    }

    /// Says which row of the whole the next array begins with.
    #[must_use]
    pub fn starting_at(mut self, row: u64) -> Groups {
        self.row = row;
        self.keyless = self.keyless.starting_at(row);
        self
    }

    /// Whether indices are among the results: those of rows of the whole.
    fn has_indices(&self) -> bool {
        matches!(self.op, Op::ArgMin | Op::ArgMax | Op::Stats)
    }

    /// Takes in the next arrays of keys and values.
    ///
    /// # Errors
    /// [`Error::Lengths`], [`Error::Mixed`].
    pub fn push(&mut self, keys: &ArrayRef, values: &ArrayRef) -> Result<()> {
        if keys.len() != values.len() {
            return Err(Error::Lengths { keys: keys.len(), values: values.len() });
        }
        let plain = |array: &ArrayRef| match array.data_type() {
            DataType::Dictionary(..) => look_up(array),
            _ => Ok(array.clone()),
        };
        let (keys, values) = (plain(keys)?, plain(values)?);
        for (found, before) in [(keys.data_type(), &self.key), (values.data_type(), &self.dtype)] {
            if found != before {
                return Err(Error::Mixed { found: found.clone(), before: before.clone() });
            }
        }
        let n = values.len();
        if n == 0 {
            return Ok(());
        }
        let whole = NullBuffer::union(keys.nulls(), values.nulls());
        let runs: Vec<(usize, usize)> = match &whole {
            Some(nulls) => nulls.valid_slices().collect(),
            None => vec![(0, n)],
        };
        self.append_values(&values, &runs);
        self.append_keys(&keys, &runs);
        if self.has_indices() {
            let rows = runs.iter().flat_map(|&(start, end)| start as u64..end as u64);
            self.rows.extend(rows.map(|row| self.row + row));
        }
        let lacks_key = |k: usize| keys.is_null(k) && values.is_valid(k);
        let keyless = match keys.null_count() {
            0 => NullBuffer::new_null(n),
            _ => NullBuffer::new(BooleanBuffer::collect_bool(n, lacks_key)),
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

    fn append_keys(&mut self, keys: &ArrayRef, runs: &[(usize, usize)]) {
        let data = keys.to_data();
        match &mut self.keys {
            Store::Signed(all) => match keys.data_type().primitive_width() {
                Some(1) => extend::<i8, _>(all, data.buffer(0), runs),
                Some(2) => extend::<i16, _>(all, data.buffer(0), runs),
                Some(4) => extend::<i32, _>(all, data.buffer(0), runs),
                Some(_) => extend::<i64, _>(all, data.buffer(0), runs),
                None => {
                    let bits = keys.as_boolean().values();
                    let rows = runs.iter().flat_map(|&(start, end)| start..end);
                    all.extend(rows.map(|row| i64::from(bits.value(row))));
                }
            },
            Store::Unsigned(all) => match keys.data_type().primitive_width() {
                Some(1) => extend::<u8, _>(all, data.buffer(0), runs),
                Some(2) => extend::<u16, _>(all, data.buffer(0), runs),
                Some(4) => extend::<u32, _>(all, data.buffer(0), runs),
                _ => extend::<u64, _>(all, data.buffer(0), runs),
            },
            Store::Words(numbers, words) => {
                let word = |k: usize| match keys.data_type() {
                    DataType::Utf8 => keys.as_string::<i32>().value(k),
                    DataType::LargeUtf8 => keys.as_string::<i64>().value(k),
                    _ => keys.as_string_view().value(k),
                };
                for k in runs.iter().flat_map(|&(start, end)| start..end) {
                    numbers.push(number(words, word(k)));
                }
            }
        }
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
        match (&mut self.keys, other.keys) {
            (Store::Signed(all), Store::Signed(one)) => all.extend(one),
            (Store::Unsigned(all), Store::Unsigned(one)) => all.extend(one),
            (Store::Words(all, words), Store::Words(one, others)) => {
                let mut renumbered = vec![0; others.len()];
                for (word, old) in others {
                    renumbered[old as usize] = number(words, &word);
                }
                all.extend(one.into_iter().map(|old| renumbered[old as usize]));
            }
            _ => return Err(Error::Mixed { found: other.key, before: self.key.clone() }),
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
        let keyed = match &self.keys {
            Store::Signed(keys) => keys.len(),
            Store::Unsigned(keys) => keys.len(),
            Store::Words(keys, _) => keys.len(),
        };
        keyed as u64 + self.keyless.values()
    }

    /// The results, keys ascending.
    ///
    /// # Errors
    /// As the contract has it for the reduction, with the key of the first group that has no result.
    pub fn finish(self, finish: Finish) -> Result<Grouped> {
        let finish = Finish { overflow: self.policy.overflow, ..finish };
        let has_keyless = self.keyless.values() > 0;
        let keyless = if has_keyless { Some(self.keyless.clone().finish(finish)?) } else { None };
        let (parts, keys, numbers) = self.parts()?;
        let mut columns = match (&self.form, numbers) {
            (Form::Decimals(scale), Some(numbers)) => {
                let groups = keys.len();
                by_name(self.decimals(&numbers, groups, *scale, finish)?)
            }
            _ => self.columns(parts, finish).map_err(|error| named(error, &keys))?,
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
        }
        if let [(name, _)] = &mut columns[..] {
            *name = self.op.name();
        }
        Ok(Grouped { keys, has_keyless, columns })
    }

    /// How the values are parted, the keys, and for decimals the number of each value's group.
    fn parts(&self) -> Result<(Parts<'_>, Keys, Option<Vec<u32>>)> {
        let is_decimal = matches!(self.form, Form::Decimals(_));
        let (parts, keys, numbers);
        match &self.keys {
            Store::Words(unsorted, words) => {
                let mut sorted: Vec<(&str, u32)> =
                    words.iter().map(|(word, &n)| (&**word, n)).collect();
                sorted.sort_unstable();
                let mut rank = vec![0u32; sorted.len()];
                sorted.iter().zip(0..).for_each(|(&(_, old), new)| rank[old as usize] = new);
                let ranked: Vec<u32> = unsorted.iter().map(|&old| rank[old as usize]).collect();
                keys = Keys::Words(sorted.iter().map(|(word, _)| (*word).to_string()).collect());
                numbers = Some(ranked);
                parts = None;
            }
            Store::Signed(all) => {
                let found = warpfold_engine::group_by(all, all.len(), self.policy)?;
                let found_keys =
                    found.keys().and_then(Column::slice::<i64>).unwrap_or(&[]).to_vec();
                let number = |key: &i64| found_keys.binary_search(key).unwrap_or(0) as u32;
                numbers = is_decimal.then(|| all.iter().map(number).collect());
                keys = Keys::Cells(found_keys.iter().map(|&key| self.key_cell(key)).collect());
                parts = Some(found);
            }
            Store::Unsigned(all) => {
                let found = warpfold_engine::group_by(all, all.len(), self.policy)?;
                let found_keys =
                    found.keys().and_then(Column::slice::<u64>).unwrap_or(&[]).to_vec();
                let number = |key: &u64| found_keys.binary_search(key).unwrap_or(0) as u32;
                numbers = is_decimal.then(|| all.iter().map(number).collect());
                keys = Keys::Cells(found_keys.iter().map(|&key| Cell::Value(key.into())).collect());
                parts = Some(found);
            }
        }
        let parts = match (parts, &numbers) {
            (Some(parts), _) => parts,
            // The numbers of the groups are keys themselves, and every group has a value.
            (None, Some(numbers)) => {
                warpfold_engine::group_by(numbers, numbers.len(), self.policy)?
            }
            (None, None) => unreachable!("strings are numbered"),
        };
        Ok((parts, keys, numbers))
    }

    fn key_cell(&self, key: i64) -> Cell {
        match &self.key {
            DataType::Boolean => Cell::Value(Value::Bool(key != 0)),
            DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => {
                Cell::Value(key.into())
            }
            dtype => Cell::Time(key, dtype.clone()),
        }
    }

    fn columns(&self, parts: Parts<'_>, finish: Finish) -> Result<Named> {
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
            .indices(Indices::OfArray);
        match &self.form {
            Form::Numbers(_) => {
                let columns = warpfold_engine::columns(&request, finish)?;
                let cells = |column: &Column| {
                    (0..column.len()).map(|k| Some(Cell::Value(column.get(k)))).collect()
                };
                Ok(columns.iter().map(|(name, column)| (*name, cells(column))).collect())
            }
            form => {
                let partials = warpfold_engine::partials(&request)?;
                let counts = self.op == Op::Count && matches!(form, Form::Instants(..));
                let fields = |partial: &warpfold_exact::AnyPartial| match partial.count() {
                    Some(count) if counts => {
                        Ok(Fields(vec![("value", Some(Cell::Value(Value::U64(count))))]))
                    }
                    _ => cells(partial, self.op, form, finish),
                };
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

impl Keys {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Keys::Cells(keys) => keys.len(),
            Keys::Words(keys) => keys.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them as text.
    pub fn text(&self, at: usize) -> String {
        match self {
            Keys::Cells(keys) => keys[at].to_string(),
            Keys::Words(keys) => keys[at].clone(),
        }
    }
}

/// An error of a group, by its key: to the engine, words and times are numbers.
fn named(error: Error, keys: &Keys) -> Error {
    let Error::Reduction(Reduction::Output { output: At::Group(number), error }) = error else {
        return error;
    };
    let key = match keys {
        Keys::Words(words) => number.parse().ok().and_then(|at: usize| words.get(at).cloned()),
        Keys::Cells(cells) => {
            let is_it =
                |cell: &&Cell| matches!(cell, Cell::Time(ticks, _) if ticks.to_string() == number);
            cells.iter().find(is_it).map(Cell::to_string)
        }
    };
    Reduction::Output { output: At::Group(key.unwrap_or(number)), error }.into()
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

fn extend<T: Copy + Into<W>, W>(all: &mut Vec<W>, keys: &[T], runs: &[(usize, usize)]) {
    runs.iter()
        .for_each(|&(start, end)| all.extend(keys[start..end].iter().map(|&key| key.into())));
}

fn number(words: &mut HashMap<Box<str>, u32>, word: &str) -> u32 {
    if let Some(&number) = words.get(word) {
        return number;
    }
    let next = words.len() as u32;
    words.insert(word.into(), next);
    next
}

fn elements<T: Element>(bytes: &[u8]) -> &[T] {
    if bytes.is_empty() { &[] } else { bytemuck::checked::cast_slice(bytes) }
}
