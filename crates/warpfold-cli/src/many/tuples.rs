//! Several keys an element: each combination that occurs has a number, and the numbers are keys themselves.

use std::collections::HashMap;

use warpfold::{At, Column, Error, Key};

use super::keys::with_key;
use crate::Failure;
use crate::input::text::{Gaps, Indices};
use crate::input::{Name, Whole};
use crate::table::{Cells, Labels};

/// The keys of each number's combination: one column a key.
pub(crate) struct Tuples {
    names: Vec<String>,
    columns: Vec<Column>,
}

/// Leaves out of each file of keys what the others lack; what that is in all.
pub(super) fn align(keys: Vec<(Whole, Gaps)>) -> Result<(Vec<Whole>, Gaps), Failure> {
    let rows = |(keys, gaps): &(Whole, Gaps)| keys.len() + gaps.elements();
    let first = keys.first().map_or(0, rows);
    if let Some(other) = keys.iter().map(rows).find(|&other| other != first) {
        return Err(Failure::from(Error::Keys {
            asked: format!("groups by {first} keys and {other} others"),
            obstacle: "there is not one of each for each element".into(),
            remedy: "cut the longer ones",
        }));
    }
    let all = keys.iter().fold(Gaps::default(), |all, (_, gaps)| all.union(gaps));
    let kept = |(keys, gaps): (Whole, Gaps)| keys.without(&Indices::new(&gaps).among_kept(&all));
    Ok((keys.into_iter().map(kept).collect::<Result<_, _>>()?, all))
}

impl Tuples {
    /// Numbers combinations, in the order of the keys from the first column on.
    pub(super) fn number(
        name: Name,
        keys: &[Whole],
        names: Vec<String>,
    ) -> Result<(Whole, Tuples), Failure> {
        let mut numbers: Vec<u32> = Vec::new();
        let mut columns: Vec<Column> = Vec::new();
        for keys in keys {
            let (codes, column) = with_key!(keys, keys => Ok::<_, Failure>(coded(keys)))?;
            if columns.is_empty() {
                (numbers, columns) = (codes, vec![column]);
                continue;
            }
            let pair = |(&number, &code): (&u32, &u32)| u64::from(number) << 32 | u64::from(code);
            let (all, pairs) = ranked(numbers.iter().zip(&codes).map(pair));
            columns = columns
                .iter()
                .map(|column| taken(column, pairs.iter().map(|pair| (pair >> 32) as usize)))
                .collect();
            columns.push(taken(&column, pairs.iter().map(|&pair| pair as u32 as usize)));
            numbers = all;
        }
        Ok((Whole::of_numbers(name, &numbers)?, Tuples { names, columns }))
    }

    /// The keys, where numbers stand for them.
    pub(super) fn labels(&self, labels: Labels) -> Labels {
        let Labels::Keys(numbers) = &labels else { return labels };
        let [(_, Cells::Numbers(Column::U32(numbers)))] = &numbers[..] else { return labels };
        let column = |column: &Column| {
            Cells::Numbers(taken(column, numbers.iter().map(|&number| number as usize)))
        };
        Labels::Keys(self.names.iter().cloned().zip(self.columns.iter().map(column)).collect())
    }

    /// An error of a group, by its keys.
    pub(super) fn named(&self, failure: Failure) -> Failure {
        let Failure::Reduction(Error::Output { output: At::Group(number), error }) = failure else {
            return failure;
        };
        let texts = |at: usize| {
            let texts: Vec<_> = self.columns.iter().map(|keys| keys.get(at).to_string()).collect();
            texts.join(", ")
        };
        let found = number.parse().ok().filter(|&at| at < self.columns[0].len());
        let output = At::Group(found.map_or(number, texts));
        Failure::Reduction(Error::Output { output, error })
    }
}

/// The rank of each key among those that occur, and these.
fn coded<K: Key>(keys: &[K]) -> (Vec<u32>, Column) {
    let (codes, found) = ranked(keys.iter().map(|key| key.rank()));
    (codes, Column::of(found.into_iter().map(K::from_rank).collect::<Vec<K>>()))
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

fn taken(column: &Column, places: impl Iterator<Item = usize>) -> Column {
    // What is empty keeps its type.
    if column.is_empty() {
        return column.clone();
    }
    Column::of_values(places.map(|at| column.get(at)).collect())
}
