//! Groups by a table: a cell for each group, to which its elements are added as they come.
//!
//! Every thread has a table of its own and a slice of the elements; tables are joined at the end. What a cell has no room for is left to the
//! group's partial; data of which that is more than a few elements is given up, to be sorted.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::held::Held;
use super::lanes::Kind;
use super::outputs::Sink;
use crate::cpu::crew::each;
use crate::cpu::memory::{prefetch_at, room};
use crate::group::{Numbered, for_each_and_later};
use crate::plan::BatchPlan;

/// Elements that are taken before it is asked whether to give up, and of them those that may have found no room.
const TURN: usize = 1 << 16;
const FEW: usize = TURN / 64;

/// Bytes of a table that the nearest caches hold: cells of a larger one are asked for before their turn.
const NEAR: usize = 256 << 10;

/// What went into a group.
struct Cell<S> {
    small: S,
    count: u64,
}

/// Folds every group; `false`, and nothing was left in the sink, where the data is not for cells.
pub(super) fn run<K: Kind>(
    kind: K,
    plan: &BatchPlan,
    x: &[K::Element],
    numbers: &dyn Numbered,
    groups: usize,
    sink: &dyn Sink<K::Small>,
) -> bool {
    let length = x.len().div_ceil(plan.threads.max(1)).max(1);
    let slice = |k: usize| -> Range<usize> { k * length..x.len().min((k + 1) * length) };
    let mut tables: Vec<Vec<Cell<K::Small>>> =
        (0..x.len().div_ceil(length)).map(|_| Vec::new()).collect();
    let (held, is_given_up) = (Mutex::new(Held::<K>::new(sink, groups)), AtomicBool::new(false));
    let is_far = groups * size_of::<Cell<K::Small>>() > NEAR;
    each(plan.threads, tables.iter_mut().enumerate(), |(k, table)| {
        *table = room(groups).expect("memory for a table of groups");
        table.resize_with(groups, || Cell { small: K::NOTHING, count: 0 });
        for first in slice(k).step_by(TURN) {
            if is_given_up.load(Ordering::Relaxed) {
                return;
            }
            let mut missed = 0;
            let turn = first..slice(k).end.min(first + TURN);
            for_each_and_later(numbers, turn, |at, group, later| {
                if is_far {
                    prefetch_at(&table[later], 0);
                }
                let cell = &mut table[group];
                if kind.put(&mut cell.small, x[at]) {
                    cell.count += 1;
                    return;
                }
                missed += 1;
                let full = std::mem::replace(cell, Cell { small: K::NOTHING, count: 0 });
                let mut held = held.lock().unwrap_or_else(|poison| poison.into_inner());
                held.join(group, &full.small, full.count);
                held.single(group, at);
            });
            if missed > FEW {
                is_given_up.store(true, Ordering::Relaxed);
            }
        }
    });
    if is_given_up.into_inner() {
        return false;
    }
    let mut held = held.into_inner().unwrap_or_else(|poison| poison.into_inner());
    for table in tables {
        for (group, cell) in table.iter().enumerate() {
            held.join(group, &cell.small, cell.count);
        }
    }
    held.leave(0, 1);
    true
}

#[cfg(test)]
mod tests {
    use crate::{Nan, Policy, Result};

    /// Sums, magnitudes, counts and means by groups, in their bits, of elements that a function makes of their index.
    fn agrees(n: usize, groups: u64, make: impl Fn(usize) -> f64) {
        let keys: Vec<u32> =
            (0..n as u64).map(|at| (at * at % 1_000_003 % groups) as u32).collect();
        let x: Vec<f64> = (0..n).map(make).collect();
        let mut apart = vec![Vec::new(); groups as usize];
        keys.iter().zip(&x).for_each(|(&key, &x)| apart[key as usize].push(x));
        for (threads, nan) in [(1, Nan::Propagate), (2, Nan::Ignore), (3, Nan::Propagate)] {
            let policy = Policy { threads: Some(threads), ..Policy::default() };
            let many = policy.group_dense(&keys, groups, &x).unwrap().nan(nan);
            let bits = |all: Vec<f64>| all.into_iter().map(f64::to_bits).collect::<Vec<_>>();
            let alone = |one: fn(crate::Reduce<'_, f64>) -> Result<f64>| -> Result<Vec<f64>> {
                apart.iter().map(|x| one(crate::reduce(x).nan(nan))).collect()
            };
            let what = format!("{n} in {groups} groups");
            assert_eq!(bits(many.sum().unwrap()), bits(alone(|x| x.sum()).unwrap()), "{what}");
            assert_eq!(bits(many.l1().unwrap()), bits(alone(|x| Ok(x.l1())).unwrap()), "{what}");
            match (many.mean(), alone(|x| x.mean())) {
                (Ok(found), Ok(expected)) => assert_eq!(bits(found), bits(expected), "{what}"),
                (found, expected) => assert_eq!(found.is_ok(), expected.is_ok(), "{what}"),
            }
            let nonzero = alone(|x| Ok(x.count() as f64)).unwrap();
            let found = many.count().unwrap().into_iter().map(|count| count as f64);
            assert_eq!(bits(found.collect()), bits(nonzero), "{what}");
        }
    }

    #[test]
    fn cells_hold_what_partials_do() {
        let even = |at: usize| (at as f64 * 0.37).sin();
        for (n, groups) in [(1000, 7), (300_000, 1), (300_000, 1000), (70_000, 70_000)] {
            agrees(n, groups, even);
        }
        // Some that find no room, in some of the groups and in all.
        for every in [50_001, 777] {
            for odd in [f64::NAN, f64::INFINITY, -f64::MAX, 1e300, 1e-300, f64::from_bits(1)] {
                agrees(200_000, 300, |at| if at % every == every - 1 { odd } else { even(at) });
            }
        }
        // So many that the table is given up.
        agrees(200_000, 300, |at| even(at) * 2f64.powi((at * 7919 % 2000) as i32 - 1000));
        agrees(200_000, 300, |at| if at % 3 == 0 { f64::NAN } else { even(at) });
    }
}
