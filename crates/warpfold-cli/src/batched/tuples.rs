//! Keys that are words, or several an element: each word or combination that occurs has a number, and the numbers are keys themselves.

use std::collections::HashMap;

use warpfold::{At, Column, Error, Key};

use super::keys::{Read, with_key};
use crate::Failure;
use crate::input::text::{Indices, MissingRuns};
use crate::input::{Name, Whole};
use crate::table::{Cells, Labels, Printed};

/// The keys of each number's combination: one column a key.
pub(crate) struct Tuples {
    names: Vec<String>,
    columns: Vec<Keys>,
}

/// The keys of a column.
enum Keys {
    Numbers(Column),
    Words(Vec<String>),
}

/// A column of keys, and what its numbers stand for where they are words.
pub(super) struct Coded {
    keys: Whole,
    words: Option<Vec<String>>,
}

impl Coded {
    /// Keys that were read.
    pub(super) fn of(read: Read) -> Coded {
        Coded { keys: read.keys, words: read.words }
    }

    /// Integers.
    pub(super) fn integers(keys: Whole) -> Coded {
        Coded { keys, words: None }
    }

    /// Fails if a file has changed since it was opened.
    pub(super) fn check_unchanged(&self) -> Result<(), Failure> {
        Ok(self.keys.check_unchanged()?)
    }

    /// The rank of each key among those that occur, and these.
    fn ranked(&self) -> Result<(Vec<u32>, Keys), Failure> {
        let Some(words) = &self.words else {
            let keys = &self.keys;
            return with_key!(keys, keys => Ok::<_, Failure>(coded(keys)));
        };
        let numbers = self.keys.elements::<u32>()?;
        let mut order: Vec<u32> = (0..words.len() as u32).collect();
        order.sort_unstable_by_key(|&number| &words[number as usize]);
        let mut rank = vec![0; words.len()];
        order.iter().zip(0..).for_each(|(&number, new)| rank[number as usize] = new);
        // A word of a row that was left out may have no row.
        let sorted = order.iter().map(|&number| words[number as usize].clone()).collect();
        Ok((numbers.iter().map(|&number| rank[number as usize]).collect(), Keys::Words(sorted)))
    }
}

/// Leaves out of each file of keys what the others lack; what that is in all.
pub(super) fn align(keys: Vec<(Coded, MissingRuns)>) -> Result<(Vec<Coded>, MissingRuns), Failure> {
    let rows = |(coded, gaps): &(Coded, MissingRuns)| coded.keys.len() + gaps.elements();
    let first = keys.first().map_or(0, rows);
    if let Some(other) = keys.iter().map(rows).find(|&other| other != first) {
        return Err(Failure::from(Error::Keys {
            requested: format!("groups by {first} keys and {other} others"),
            obstacle: "there is not one of each for each element".into(),
            remedy: "cut the longer ones",
        }));
    }
    let all = keys.iter().fold(MissingRuns::default(), |all, (_, gaps)| all.union(gaps));
    let kept = |(coded, gaps): (Coded, MissingRuns)| {
        let keys = coded.keys.without(&Indices::new(&gaps).among_kept(&all))?;
        Ok::<_, Failure>(Coded { keys, ..coded })
    };
    Ok((keys.into_iter().map(kept).collect::<Result<_, _>>()?, all))
}

impl Tuples {
    /// Numbers combinations, in the order of the keys from the first column on.
    pub(super) fn number(
        name: Name,
        keys: &[Coded],
        names: Vec<String>,
    ) -> Result<(Whole, Tuples), Failure> {
        let mut numbers: Vec<u32> = Vec::new();
        let mut columns: Vec<Keys> = Vec::new();
        for keys in keys {
            let (codes, column) = keys.ranked()?;
            if columns.is_empty() {
                (numbers, columns) = (codes, vec![column]);
                continue;
            }
            let pair = |(&number, &code): (&u32, &u32)| u64::from(number) << 32 | u64::from(code);
            let (all, pairs) = ranked(numbers.iter().zip(&codes).map(pair));
            columns = columns
                .iter()
                .map(|column| column.taken(pairs.iter().map(|pair| (pair >> 32) as usize)))
                .collect();
            columns.push(column.taken(pairs.iter().map(|&pair| pair as u32 as usize)));
            numbers = all;
        }
        Ok((Whole::of_numbers(name, &numbers)?, Tuples { names, columns }))
    }

    /// The same keys, if they are of one column, by another name.
    pub(super) fn called(self, name: String) -> Tuples {
        Tuples { names: vec![name], ..self }
    }

    /// The keys, where numbers stand for them.
    pub(super) fn labels(&self, labels: Labels) -> Labels {
        let Labels::Keys(numbers) = &labels else { return labels };
        let [(_, Cells::Numbers(Column::U32(numbers)))] = &numbers[..] else { return labels };
        self.of_numbers(numbers)
    }

    /// The keys that some numbers stand for.
    pub(super) fn of_numbers(&self, numbers: &[u32]) -> Labels {
        let column =
            |keys: &Keys| keys.taken(numbers.iter().map(|&number| number as usize)).cells();
        Labels::Keys(self.names.iter().cloned().zip(self.columns.iter().map(column)).collect())
    }

    /// An error of a group, by its keys.
    pub(super) fn named(&self, failure: Failure) -> Failure {
        let Failure::Reduction(Error::Output { output: At::Group(number), error }) = failure else {
            return failure;
        };
        let texts = |at: usize| {
            let texts: Vec<_> = self.columns.iter().map(|keys| keys.text(at)).collect();
            texts.join(", ")
        };
        let found = number.parse().ok().filter(|&at| at < self.columns[0].len());
        let output = At::Group(found.map_or(number, texts));
        Failure::Reduction(Error::Output { output, error })
    }
}

/// The rank of each key among those that occur, and these.
fn coded<K: Key>(keys: &[K]) -> (Vec<u32>, Keys) {
    let (codes, found) = ranked(keys.iter().map(|key| key.rank()));
    let column = Column::of(found.into_iter().map(K::from_rank).collect::<Vec<K>>());
    (codes, Keys::Numbers(column))
}

/// The rank of each number among those that occur, and these, ascending.
fn ranked(numbers: impl Iterator<Item = u64>) -> (Vec<u32>, Vec<u64>) {
    let mut known: HashMap<u64, u32> = HashMap::new();
    let mut codes: Vec<u32> = numbers
        .map(|number| {
            let next = known.len() as u32;
            *known.entry(number).or_insert(next)
        })
        .collect();
    let mut found: Vec<(u64, u32)> = known.into_iter().collect();
    found.sort_unstable();
    let mut rank = vec![0; found.len()];
    found.iter().zip(0..).for_each(|(&(_, old), new)| rank[old as usize] = new);
    codes.iter_mut().for_each(|code| *code = rank[*code as usize]);
    (codes, found.into_iter().map(|(number, _)| number).collect())
}

impl Keys {
    fn len(&self) -> usize {
        match self {
            Keys::Numbers(column) => column.len(),
            Keys::Words(words) => words.len(),
        }
    }

    fn text(&self, at: usize) -> String {
        match self {
            Keys::Numbers(column) => column.get(at).to_string(),
            Keys::Words(words) => words[at].clone(),
        }
    }

    fn taken(&self, arg_indices: impl Iterator<Item = usize>) -> Keys {
        match self {
            // What is empty keeps its type.
            Keys::Numbers(column) if column.is_empty() => Keys::Numbers(column.clone()),
            Keys::Numbers(column) => {
                Keys::Numbers(Column::of_values(arg_indices.map(|at| column.get(at)).collect()))
            }
            Keys::Words(words) => Keys::Words(arg_indices.map(|at| words[at].clone()).collect()),
        }
    }

    fn cells(self) -> Cells {
        match self {
            Keys::Numbers(column) => Cells::Numbers(column),
            Keys::Words(words) => {
                Cells::Printed(words.into_iter().map(|word| Some(Printed::word(word))).collect())
            }
        }
    }
}
