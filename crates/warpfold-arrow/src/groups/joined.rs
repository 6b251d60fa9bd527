//! [`Joined`]: groups of several columns by the same keys as one table.

use std::cmp::Ordering;

use warpfold_num::Value;

use super::{Grouped, Keys, Named};
use crate::cell::Cell;

/// One row for each combination of keys that some column has a value for; `None` where another has none.
#[derive(Debug, Clone, PartialEq)]
pub struct Joined {
    /// The keys, a column of each.
    pub keys: Vec<Keys>,
    /// The results of each column, by name.
    pub columns: Vec<Named>,
}

impl Joined {
    /// Joins groups by keys of the same columns.
    ///
    /// # Panics
    /// If there are none, or they have different numbers of keys.
    pub fn of(mut all: Vec<Grouped>) -> Joined {
        // One is the table.
        if let [Grouped { keys, columns }] = &mut all[..] {
            return Joined { keys: std::mem::take(keys), columns: vec![std::mem::take(columns)] };
        }
        let rows = |grouped: &Grouped| grouped.keys.first().map_or(0, Keys::len);
        let mut next = vec![0; all.len()];
        // The row of each column in each row of the table.
        let mut merged: Vec<Vec<Option<usize>>> = Vec::new();
        loop {
            let left = (0..all.len()).filter(|&k| next[k] < rows(&all[k]));
            let least = left.min_by(|&a, &b| compare(&all[a].keys, next[a], &all[b].keys, next[b]));
            let Some(least) = least else { break };
            let at = next[least];
            let row = all.iter().zip(&mut next).map(|(grouped, next)| {
                let is_there = *next < rows(grouped);
                let has_key =
                    is_there && compare(&grouped.keys, *next, &all[least].keys, at).is_eq();
                has_key.then(|| std::mem::replace(next, *next + 1))
            });
            let row: Vec<Option<usize>> = row.collect();
            merged.push(row);
        }
        let source = |row: &[Option<usize>]| {
            row.iter()
                .enumerate()
                .find_map(|(k, at)| Some((k, (*at)?)))
                .expect("a row is of a column")
        };
        let keys = (0..all[0].keys.len()).map(|key| {
            let each = merged.iter().map(|row| source(row));
            match &all[0].keys[key] {
                Keys::Cells(_) => {
                    Keys::Cells(each.map(|(k, at)| all[k].keys[key].cell(at)).collect())
                }
                Keys::Words(_) => {
                    Keys::Words(each.map(|(k, at)| all[k].keys[key].text(at)).collect())
                }
            }
        });
        let keys = keys.collect();
        // What has no group at all has the names that the others have.
        let named = all.iter().find(|grouped| !grouped.columns.is_empty());
        let names: Vec<_> = named
            .map_or_else(Vec::new, |named| named.columns.iter().map(|(name, _)| *name).collect());
        let columns = all.iter().enumerate().map(|(k, grouped)| {
            if grouped.columns.is_empty() {
                return names.iter().map(|&name| (name, vec![None; merged.len()])).collect();
            }
            let taken = |cells: &[Option<Cell>]| {
                merged.iter().map(|row| cells[row[k]?].clone()).collect::<Vec<_>>()
            };
            grouped.columns.iter().map(|(name, cells)| (*name, taken(cells))).collect()
        });
        let columns = columns.collect();
        Joined { keys, columns }
    }
}

impl Keys {
    fn cell(&self, at: usize) -> Option<Cell> {
        match self {
            Keys::Cells(keys) => keys[at].clone(),
            Keys::Words(_) => None,
        }
    }
}

/// Compares two combinations of keys of the same types in the order that groups have, none last.
fn compare(a: &[Keys], row: usize, b: &[Keys], other: usize) -> Ordering {
    fn none_last<T: Ord>(a: Option<T>, b: Option<T>) -> Ordering {
        a.is_none().cmp(&b.is_none()).then_with(|| a.cmp(&b))
    }
    let one = |(a, b): (&Keys, &Keys)| match (a, b) {
        (Keys::Words(a), Keys::Words(b)) => none_last(a[row].as_ref(), b[other].as_ref()),
        (Keys::Cells(a), Keys::Cells(b)) => {
            none_last(a[row].as_ref().map(number), b[other].as_ref().map(number))
        }
        _ => unreachable!("keys of a column are of one kind"),
    };
    a.iter().zip(b).map(one).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// What keys are sorted by.
fn number(key: &Cell) -> i128 {
    match key {
        Cell::Value(Value::Bool(key)) => (*key).into(),
        Cell::Value(Value::I64(key)) => (*key).into(),
        Cell::Value(Value::U64(key)) => (*key).into(),
        Cell::Time(ticks, _) => (*ticks).into(),
        other => unreachable!("no key is {other:?}"),
    }
}
