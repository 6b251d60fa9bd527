//! The keys of values, in their order, and what they are of groups.

use std::collections::HashMap;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use warpfold_engine::Key;
use warpfold_num::Value;

use super::tuples::Tuples;
use crate::cell::Cell;
use crate::{Error, Result};

/// The keys of the values, in their order.
#[derive(Debug)]
pub(super) enum Store {
    Signed(Vec<i64>),
    Unsigned(Vec<u64>),
    /// The number of each, and what the numbers stand for.
    Words(Vec<u32>, HashMap<Box<str>, u32>),
    /// Several keys a value.
    Tuples(Tuples),
}

/// The keys of groups, ascending; `None`, which comes last, stands for rows without one.
#[derive(Debug, Clone, PartialEq)]
pub enum Keys {
    /// Integers, booleans, dates and times.
    Cells(Vec<Option<Cell>>),
    /// Strings, by their bytes.
    Words(Vec<Option<String>>),
}

/// What keys of a type are.
pub(super) enum KeyType {
    Signed,
    Unsigned,
    Words,
}

impl KeyType {
    /// Of a type that is no dictionary.
    pub(super) fn of(key: &DataType) -> Result<KeyType> {
        use DataType as D;
        match key {
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
            | D::Duration(_) => Ok(KeyType::Signed),
            D::UInt8 | D::UInt16 | D::UInt32 | D::UInt64 => Ok(KeyType::Unsigned),
            D::Utf8 | D::LargeUtf8 | D::Utf8View => Ok(KeyType::Words),
            other => {
                let remedy = "keys are integers, strings, dates and times; cast it to one of them";
                Err(Error::Key { dtype: other.clone(), remedy })
            }
        }
    }
}

impl Store {
    /// Of types that are no dictionaries, one at least.
    pub(super) fn new(keys: &[DataType]) -> Result<Store> {
        let [key] = keys else { return Store::tuples(keys) };
        Ok(match KeyType::of(key)? {
            KeyType::Signed => Store::Signed(Vec::new()),
            KeyType::Unsigned => Store::Unsigned(Vec::new()),
            KeyType::Words => Store::Words(Vec::new(), HashMap::new()),
        })
    }

    /// The same, in which none is a key like the others.
    pub(super) fn tuples(keys: &[DataType]) -> Result<Store> {
        Ok(Store::Tuples(Tuples::new(keys)?))
    }

    /// Values that have keys here.
    pub(super) fn len(&self) -> usize {
        match self {
            Store::Signed(keys) => keys.len(),
            Store::Unsigned(keys) => keys.len(),
            Store::Words(keys, _) => keys.len(),
            Store::Tuples(tuples) => tuples.numbers().len(),
        }
    }

    /// Takes in the keys of some rows.
    pub(super) fn append(&mut self, keys: &[ArrayRef], runs: &[(usize, usize)]) {
        let rows = || runs.iter().flat_map(|&(start, end)| start..end);
        match (self, keys) {
            (Store::Tuples(tuples), keys) => tuples.append(keys, runs),
            (Store::Signed(all), [keys]) => signed(all, keys, runs),
            (Store::Unsigned(all), [keys]) => unsigned(all, keys, runs),
            (Store::Words(numbers, words), [keys]) => {
                // Names of folders are the same in all rows.
                let mut last: Option<(&str, u32)> = None;
                numbers.extend(rows().map(|row| {
                    let word = word(keys, row);
                    let known = last.filter(|(last, _)| *last == word).map(|(_, number)| number);
                    let number = known.unwrap_or_else(|| number(words, word));
                    last = Some((word, number));
                    number
                }));
            }
            _ => unreachable!("one key has one column"),
        }
    }

    /// Takes in what comes after it; the new numbers of its words or combinations, none where keys are numbers themselves. `None` if it is of another kind.
    #[must_use]
    pub(super) fn merge(&mut self, other: Store) -> Option<Vec<u32>> {
        match (self, other) {
            (Store::Signed(all), Store::Signed(one)) => all.extend(one),
            (Store::Unsigned(all), Store::Unsigned(one)) => all.extend(one),
            (Store::Words(all, words), Store::Words(one, others)) => {
                let renumbered = renumbered(words, others);
                all.extend(one.into_iter().map(|old| renumbered[old as usize]));
                return Some(renumbered);
            }
            (Store::Tuples(all), Store::Tuples(one)) => return all.merge(one),
            _ => return None,
        }
        Some(Vec::new())
    }

    /// Moves the keys of the values out, as numbers of 64 bits: ranks in the keys' order, or the numbers of words and combinations.
    pub(super) fn take_ranks(&mut self, ranks: &mut Vec<u64>) {
        ranks.clear();
        match self {
            Store::Signed(all) => ranks.extend(all.drain(..).map(Key::rank)),
            Store::Unsigned(all) => ranks.append(all),
            Store::Words(numbers, _) => ranks.extend(numbers.drain(..).map(u64::from)),
            Store::Tuples(tuples) => ranks.extend(tuples.take_numbers().map(u64::from)),
        }
    }

    /// The keys of groups by the ranks that [`take_ranks`](Self::take_ranks) gave, which come in ascending order and leave in that of the keys.
    pub(super) fn sorted(&self, types: &[DataType], ranks: &mut [u64]) -> Vec<Keys> {
        let by = |ranks: &mut [u64], place: &[u32]| {
            // Every word and combination has a value, so that ranks are all numbers there are.
            place.iter().zip(0..).for_each(|(&place, number)| ranks[place as usize] = number);
        };
        let cells = |cell: &dyn Fn(u64) -> Cell| {
            vec![Keys::Cells(ranks.iter().map(|&rank| Some(cell(rank))).collect())]
        };
        match self {
            Store::Signed(_) => cells(&|rank| cell(i64::from_rank(rank), &types[0])),
            Store::Unsigned(_) => cells(&|rank| Cell::Value(rank.into())),
            Store::Words(_, words) => {
                let (keys, place) = ranked(words);
                by(ranks, &place);
                vec![Keys::Words(keys.into_iter().map(|word| Some(word.to_string())).collect())]
            }
            Store::Tuples(tuples) => {
                let (keys, place) = tuples.sorted(types);
                by(ranks, &place);
                keys
            }
        }
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

    /// One of them as text, where there is one.
    pub fn text(&self, at: usize) -> Option<String> {
        match self {
            Keys::Cells(keys) => keys[at].as_ref().map(Cell::to_string),
            Keys::Words(keys) => keys[at].clone(),
        }
    }

    /// Keeps some of them.
    pub(super) fn retain(&mut self, is_kept: &[bool]) {
        let mut kept = is_kept.iter();
        match self {
            Keys::Cells(keys) => keys.retain(|_| kept.next() == Some(&true)),
            Keys::Words(keys) => keys.retain(|_| kept.next() == Some(&true)),
        }
    }

    /// Adds the group of rows without a key.
    pub(super) fn push_none(&mut self) {
        match self {
            Keys::Cells(keys) => keys.push(None),
            Keys::Words(keys) => keys.push(None),
        }
    }
}

/// A key of a type of integers with a sign, as which booleans and times are kept.
pub(super) fn cell(key: i64, dtype: &DataType) -> Cell {
    match dtype {
        DataType::Boolean => Cell::Value(Value::Bool(key != 0)),
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => {
            Cell::Value(key.into())
        }
        dtype => Cell::Time(key, dtype.clone()),
    }
}

/// The keys of some rows, none of which is null.
pub(super) fn signed(all: &mut Vec<i64>, keys: &ArrayRef, runs: &[(usize, usize)]) {
    let data = keys.to_data();
    match keys.data_type().primitive_width() {
        Some(1) => extend::<i8, _>(all, data.buffer(0), runs),
        Some(2) => extend::<i16, _>(all, data.buffer(0), runs),
        Some(4) => extend::<i32, _>(all, data.buffer(0), runs),
        Some(_) => extend::<i64, _>(all, data.buffer(0), runs),
        None => {
            let bits = keys.as_boolean().values();
            let rows = runs.iter().flat_map(|&(start, end)| start..end);
            all.extend(rows.map(|row| i64::from(bits.value(row))));
        }
    }
}

/// The same of integers without a sign.
pub(super) fn unsigned(all: &mut Vec<u64>, keys: &ArrayRef, runs: &[(usize, usize)]) {
    let data = keys.to_data();
    match keys.data_type().primitive_width() {
        Some(1) => extend::<u8, _>(all, data.buffer(0), runs),
        Some(2) => extend::<u16, _>(all, data.buffer(0), runs),
        Some(4) => extend::<u32, _>(all, data.buffer(0), runs),
        _ => extend::<u64, _>(all, data.buffer(0), runs),
    }
}

/// The string of a row.
pub(super) fn word(keys: &ArrayRef, row: usize) -> &str {
    match keys.data_type() {
        DataType::Utf8 => keys.as_string::<i32>().value(row),
        DataType::LargeUtf8 => keys.as_string::<i64>().value(row),
        _ => keys.as_string_view().value(row),
    }
}

fn extend<T: Copy + Into<W>, W>(all: &mut Vec<W>, keys: &[T], runs: &[(usize, usize)]) {
    runs.iter()
        .for_each(|&(start, end)| all.extend(keys[start..end].iter().map(|&key| key.into())));
}

/// The number of a word, a new one unless it has one.
pub(super) fn number(words: &mut HashMap<Box<str>, u32>, word: &str) -> u32 {
    if let Some(&number) = words.get(word) {
        return number;
    }
    let next = words.len() as u32;
    words.insert(word.into(), next);
    next
}

/// What takes the place of each number of other words, which these take in.
pub(super) fn renumbered(
    words: &mut HashMap<Box<str>, u32>,
    others: HashMap<Box<str>, u32>,
) -> Vec<u32> {
    let mut renumbered = vec![0; others.len()];
    for (word, old) in others {
        renumbered[old as usize] = number(words, &word);
    }
    renumbered
}

/// What is numbered, ascending, and the rank of each number.
pub(super) fn ranked<K: Ord>(numbered: &HashMap<K, u32>) -> (Vec<&K>, Vec<u32>) {
    let mut sorted: Vec<(&K, u32)> = numbered.iter().map(|(key, &n)| (key, n)).collect();
    sorted.sort_unstable();
    let mut rank = vec![0; sorted.len()];
    sorted.iter().zip(0..).for_each(|(&(_, old), new)| rank[old as usize] = new);
    (sorted.into_iter().map(|(key, _)| key).collect(), rank)
}
