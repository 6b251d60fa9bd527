//! Several keys a value: each key has a number within its column, and each combination that occurs has one.

use std::collections::HashMap;

use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use super::keys::{KeyType, Keys, cell, number, ranked, renumbered, signed, unsigned, word};
use crate::Result;
use crate::cell::Cell;

/// The combination of keys of each value.
#[derive(Debug)]
pub(super) struct Tuples {
    columns: Vec<Codes>,
    /// The codes of each combination, by its number.
    combinations: Vec<Box<[u32]>>,
    known: HashMap<Box<[u32]>, u32>,
    /// The number of each value's combination.
    numbers: Vec<u32>,
}

/// The keys of a column that occur, numbered from 1; 0 stands for none.
#[derive(Debug)]
enum Codes {
    Signed(HashMap<i64, u32>),
    Unsigned(HashMap<u64, u32>),
    Words(HashMap<Box<str>, u32>),
}

impl Tuples {
    pub(super) fn new(keys: &[DataType]) -> Result<Tuples> {
        let codes = |key| {
            Ok(match KeyType::of(key)? {
                KeyType::Signed => Codes::Signed(HashMap::new()),
                KeyType::Unsigned => Codes::Unsigned(HashMap::new()),
                KeyType::Words => Codes::Words(HashMap::new()),
            })
        };
        Ok(Tuples {
            columns: keys.iter().map(codes).collect::<Result<_>>()?,
            combinations: Vec::new(),
            known: HashMap::new(),
            numbers: Vec::new(),
        })
    }

    pub(super) fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// Moves the numbers out, and keeps what they stand for.
    pub(super) fn take_numbers(&mut self) -> impl Iterator<Item = u32> {
        self.numbers.drain(..)
    }

    pub(super) fn append(&mut self, keys: &[ArrayRef], runs: &[(usize, usize)]) {
        let columns: Vec<Vec<u32>> =
            self.columns.iter_mut().zip(keys).map(|(codes, keys)| codes.of(keys, runs)).collect();
        let mut tuple = vec![0; columns.len()];
        let mut last = None;
        for k in 0..columns[0].len() {
            let is_new =
                last.is_none() || columns.iter().zip(&tuple).any(|(codes, &c)| codes[k] != c);
            if is_new {
                tuple.iter_mut().zip(&columns).for_each(|(code, codes)| *code = codes[k]);
                last = Some(self.number(&tuple));
            }
            self.numbers.extend(last);
        }
    }

    fn number(&mut self, tuple: &[u32]) -> u32 {
        if let Some(&number) = self.known.get(tuple) {
            return number;
        }
        let next = self.combinations.len() as u32;
        self.combinations.push(tuple.into());
        self.known.insert(tuple.into(), next);
        next
    }

    /// Takes in what comes after it; the new numbers of its combinations. `None` if its columns are of other kinds.
    pub(super) fn merge(&mut self, other: Tuples) -> Option<Vec<u32>> {
        let mut renumbered = Vec::with_capacity(self.columns.len());
        for (codes, others) in self.columns.iter_mut().zip(other.columns) {
            renumbered.push(codes.merge(others)?);
        }
        let combinations: Vec<u32> = other
            .combinations
            .into_iter()
            .map(|mut tuple| {
                tuple
                    .iter_mut()
                    .zip(&renumbered)
                    .for_each(|(code, new)| *code = new[*code as usize]);
                self.number(&tuple)
            })
            .collect();
        self.numbers.extend(other.numbers.into_iter().map(|old| combinations[old as usize]));
        Some(combinations)
    }

    /// The keys of the combinations, ascending from the first column on, none last; and the place of each combination in that order, by its number.
    pub(super) fn sorted(&self, types: &[DataType]) -> (Vec<Keys>, Vec<u32>) {
        let columns: Vec<(Keys, Vec<u32>)> =
            self.columns.iter().zip(types).map(|(codes, dtype)| codes.sorted(dtype)).collect();
        let ranks = |tuple: &[u32]| -> Vec<u32> {
            tuple.iter().zip(&columns).map(|(&code, (_, rank))| rank[code as usize]).collect()
        };
        let mut order: Vec<(Vec<u32>, u32)> =
            self.combinations.iter().zip(0..).map(|(tuple, old)| (ranks(tuple), old)).collect();
        order.sort_unstable();
        let mut new = vec![0; order.len()];
        order.iter().zip(0..).for_each(|((_, old), at)| new[*old as usize] = at);
        let keys = columns.iter().enumerate().map(|(at, (keys, _))| {
            let rows = order.iter().map(|(ranks, _)| ranks[at] as usize);
            match keys {
                Keys::Cells(cells) => Keys::Cells(rows.map(|row| cells[row].clone()).collect()),
                Keys::Words(words) => Keys::Words(rows.map(|row| words[row].clone()).collect()),
            }
        });
        (keys.collect(), new)
    }
}

impl Codes {
    /// The codes of some rows.
    fn of(&mut self, keys: &ArrayRef, runs: &[(usize, usize)]) -> Vec<u32> {
        let rows = || runs.iter().flat_map(|&(start, end)| start..end);
        // What lies in the slots of nulls is read, and not looked at.
        let is_valid = |row: usize| keys.is_valid(row);
        fn coded<K: Copy + Eq + std::hash::Hash>(
            known: &mut HashMap<K, u32>,
            keys: impl Iterator<Item = (bool, K)>,
        ) -> Vec<u32> {
            let code = |(is_valid, key)| match is_valid {
                true => {
                    let next = known.len() as u32;
                    *known.entry(key).or_insert(next) + 1
                }
                false => 0,
            };
            keys.map(code).collect()
        }
        match self {
            Codes::Signed(known) => {
                let mut all = Vec::new();
                signed(&mut all, keys, runs);
                coded(known, rows().map(is_valid).zip(all))
            }
            Codes::Unsigned(known) => {
                let mut all = Vec::new();
                unsigned(&mut all, keys, runs);
                coded(known, rows().map(is_valid).zip(all))
            }
            Codes::Words(known) => rows()
                .map(|row| if is_valid(row) { number(known, word(keys, row)) + 1 } else { 0 })
                .collect(),
        }
    }

    /// What takes the place of each code of others, which these take in.
    fn merge(&mut self, others: Codes) -> Option<Vec<u32>> {
        fn merged<K: Eq + std::hash::Hash>(
            known: &mut HashMap<K, u32>,
            others: HashMap<K, u32>,
        ) -> Vec<u32> {
            let mut new = vec![0; others.len()];
            for (key, old) in others {
                let next = known.len() as u32;
                new[old as usize] = *known.entry(key).or_insert(next);
            }
            new
        }
        let new = match (self, others) {
            (Codes::Signed(known), Codes::Signed(others)) => merged(known, others),
            (Codes::Unsigned(known), Codes::Unsigned(others)) => merged(known, others),
            (Codes::Words(known), Codes::Words(others)) => renumbered(known, others),
            _ => return None,
        };
        Some([0].into_iter().chain(new.into_iter().map(|number| number + 1)).collect())
    }

    /// The keys, ascending and none at the end, and the rank of each code among them.
    fn sorted(&self, dtype: &DataType) -> (Keys, Vec<u32>) {
        let (keys, rank) = match self {
            Codes::Signed(known) => {
                let (keys, rank) = ranked(known);
                let cells = keys.into_iter().map(|&key| Some(cell(key, dtype)));
                (Keys::Cells(cells.chain([None]).collect()), rank)
            }
            Codes::Unsigned(known) => {
                let (keys, rank) = ranked(known);
                let cells = keys.into_iter().map(|&key| Some(Cell::Value(key.into())));
                (Keys::Cells(cells.chain([None]).collect()), rank)
            }
            Codes::Words(known) => {
                let (keys, rank) = ranked(known);
                let words = keys.into_iter().map(|word| Some(word.to_string()));
                (Keys::Words(words.chain([None]).collect()), rank)
            }
        };
        let none = rank.len() as u32;
        (keys, [none].into_iter().chain(rank).collect())
    }
}
