//! A table of groups by key, that grows as keys come.
//!
//! Slots stand in the order of the keys' hashes, with runs of taken ones where several hashes ask for the same: a row touches one line of memory, which was asked
//! for before its turn. What a slot's small value does not hold goes to a partial of its own.

use std::collections::HashMap;

use super::kinds::Kind;
use crate::isa::{Job, Target, with_avx2};
use crate::kernels::Kernels;
use crate::keys::Mixing;
use crate::memory::{prefetch_at, with_capacity};
use warpfold_exact::partial::{Finish, Output, Partial};
use warpfold_num::{Error, Nan, Op, Result};
use warpfold_plan::plan::Isa;

/// Rows between two looks whether the table has room: their hashes stay in the nearest cache.
const ROWS: usize = 1024;

/// How many rows before its turn a slot is asked for: as many lines as a core waits for at once, and some.
const AHEAD: usize = 24;

/// Slots of the first table.
const LEAST: usize = 4 * ROWS;

/// What went into a group: half a line of memory for a sum of floats or its extremes, a line for moments. A slot without elements is free.
#[repr(align(32))]
#[derive(Clone, Copy)]
struct Slot<S> {
    rank: u64,
    count: u64,
    small: S,
}

/// What left a slot, of so many of its elements.
struct Moved<T: Kernels> {
    count: u64,
    partial: Partial<T>,
}

/// The groups of some rows, by the ranks of their keys.
pub(super) struct Table<K: Kind<T>, T: Kernels> {
    kind: K,
    op: Op,
    nan: Nan,
    isa: Isa,
    hashing: Mixing,
    slots: Vec<Slot<K::Small>>,
    groups: usize,
    moved: HashMap<u64, Moved<T>, Mixing>,
}

impl<K: Kind<T>, T: Kernels> Table<K, T> {
    pub(super) fn new(kind: K, op: Op, nan: Nan, isa: Isa) -> Self {
        let hashing = Mixing::new();
        let (slots, moved) = (Vec::new(), HashMap::with_hasher(hashing));
        Table { kind, op, nan, isa, hashing, slots, groups: 0, moved }
    }

    /// The ranks of all keys, in no order.
    pub(super) fn ranks(&self) -> impl Iterator<Item = u64> {
        self.slots.iter().filter(|slot| slot.count > 0).map(|slot| slot.rank)
    }

    /// Adds elements to the groups of their keys; where these ask for it, each with its place.
    ///
    /// # Errors
    /// [`Error::Shape`] if there is no memory for so many groups.
    pub(super) fn push(&mut self, ranks: &[u64], x: &[T], places: &[u64]) -> Result<()> {
        for (k, (ranks, x)) in ranks.chunks(ROWS).zip(x.chunks(ROWS)).enumerate() {
            self.reserve(ranks.len())?;
            let places = if K::PLACED { &places[k * ROWS..][..ranks.len()] } else { &[] };
            with_avx2(self.isa, Turn { table: self, ranks, x, places });
        }
        Ok(())
    }

    /// Takes in the groups of another table, whose ranks have other names here.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub(super) fn merge(&mut self, mut other: Self, rank: impl Fn(u64) -> u64) -> Result<()> {
        for slot in other.slots.iter().filter(|slot| slot.count > 0) {
            self.reserve(1)?;
            let slot = Slot { rank: rank(slot.rank), ..*slot };
            let at = self.find(slot.rank);
            let mine = &mut self.slots[at];
            if mine.count == 0 {
                *mine = slot;
                self.groups += 1;
                continue;
            }
            if !self.kind.merge(&mut mine.small, &slot.small) {
                flush::<K, T>(&mut self.moved, mine, self.op, self.nan);
                mine.small = slot.small;
            }
            mine.count += slot.count;
        }
        for (old, moved) in other.moved.drain() {
            let mine = self.moved.entry(rank(old)).or_insert_with(|| Moved::none(self.op));
            mine.count += moved.count;
            mine.partial.merge(&moved.partial);
        }
        Ok(())
    }

    /// What the slot of a group holds of so many elements, if it holds all of them.
    pub(super) fn small(&self, rank: u64) -> Option<(&K::Small, u64)> {
        let slot = &self.slots[self.find(rank)];
        (!self.moved.contains_key(&rank)).then_some((&slot.small, slot.count))
    }

    /// Elements of a group that there is.
    pub(super) fn size(&self, rank: u64) -> u64 {
        self.slots[self.find(rank)].count
    }

    /// The partial of a group that there is.
    pub(super) fn partial(&self, rank: u64) -> Partial<T> {
        let slot = &self.slots[self.find(rank)];
        let empty = Moved::none(self.op);
        let Moved { count, partial } = self.moved.get(&rank).unwrap_or(&empty);
        let mut partial = partial.clone();
        K::flush(&slot.small, self.nan, slot.count - count, &mut partial);
        partial
    }

    /// The result of a group that there is, by its partial.
    pub(super) fn finish(&self, op: Op, rank: u64, finish: Finish) -> Result<Output> {
        self.partial(rank).finish(op, finish).map_err(|error| match error {
            // Elements were there and none was left: they were ignored.
            Error::Empty { op, .. } => Error::Empty { op, ignored: true },
            other => other,
        })
    }

    /// The slot that a rank has, or is to have.
    fn find(&self, rank: u64) -> usize {
        probe(&self.slots, home(self.hashing, self.slots.len(), rank), rank)
    }

    /// Makes room for so many more groups: at most three of four slots are taken then.
    fn reserve(&mut self, more: usize) -> Result<()> {
        let needed = (self.groups + more) / 3 * 4 + 4;
        if needed <= self.slots.len() {
            return Ok(());
        }
        // Half as many again: what is given up and what is taken are there at once.
        let len = (self.slots.len() + self.slots.len() / 2).max(needed).max(LEAST);
        let mut slots = with_capacity(len).map_err(|_| Error::Shape {
            requested: format!(
                "{} of {} by key into more than {} groups",
                self.op,
                T::DTYPE,
                self.groups
            ),
            obstacle: "there is no memory for them".into(),
            remedy: "take fewer keys at a time",
        })?;
        slots.resize(len, Slot { rank: 0, count: 0, small: K::NOTHING });
        for slot in self.slots.iter().filter(|slot| slot.count > 0) {
            let at = probe(&slots, home(self.hashing, len, slot.rank), slot.rank);
            slots[at] = *slot;
        }
        self.slots = slots;
        Ok(())
    }
}

/// Where a rank's slot is looked for first.
#[inline(always)]
fn home(hashing: Mixing, slots: usize, rank: u64) -> usize {
    ((u128::from(hashing.mixed(rank)) * slots as u128) >> 64) as usize
}

/// The first slot from here on that is a rank's, or free; there is one.
#[inline(always)]
fn probe<S>(slots: &[Slot<S>], home: usize, rank: u64) -> usize {
    let mut at = home;
    while slots[at].count > 0 && slots[at].rank != rank {
        at += 1;
        if at == slots.len() {
            at = 0;
        }
    }
    at
}

impl<T: Kernels> Moved<T> {
    fn none(op: Op) -> Self {
        Moved { count: 0, partial: Partial::empty(op) }
    }
}

/// Empties a slot into its partial.
#[inline(never)]
fn flush<'m, K: Kind<T>, T: Kernels>(
    moved: &'m mut HashMap<u64, Moved<T>, Mixing>,
    slot: &Slot<K::Small>,
    op: Op,
    nan: Nan,
) -> &'m mut Moved<T> {
    let moved = moved.entry(slot.rank).or_insert_with(|| Moved::none(op));
    K::flush(&slot.small, nan, slot.count - moved.count, &mut moved.partial);
    moved.count = slot.count;
    moved
}

/// Rows that the table has room for.
struct Turn<'t, K: Kind<T>, T: Kernels> {
    table: &'t mut Table<K, T>,
    ranks: &'t [u64],
    x: &'t [T],
    places: &'t [u64],
}

impl<K: Kind<T>, T: Kernels> Job for Turn<'_, K, T> {
    type Output = ();

    #[inline(always)]
    fn run<C: Target>(self) {
        let Turn { table, ranks, x, places } = self;
        let (kind, hashing, len) = (table.kind, table.hashing, table.slots.len());
        let mut homes = [0; ROWS];
        for (home_of, &rank) in homes.iter_mut().zip(ranks) {
            *home_of = home(hashing, len, rank);
        }
        homes[..ranks.len().min(AHEAD)].iter().for_each(|&at| prefetch_at(&table.slots[at], 0));
        for (k, (&rank, &x)) in ranks.iter().zip(x).enumerate() {
            prefetch_at(&table.slots[homes[(k + AHEAD).min(ROWS - 1)]], 0);
            let place = if K::PLACED { places[k] } else { 0 };
            let at = probe(&table.slots, homes[k], rank);
            let slot = &mut table.slots[at];
            if slot.count == 0 {
                slot.rank = rank;
                table.groups += 1;
            }
            if !kind.put(&mut slot.small, x, place) {
                let moved = flush::<K, T>(&mut table.moved, slot, table.op, table.nan);
                slot.small = K::NOTHING;
                if !kind.put(&mut slot.small, x, place) {
                    K::add(&mut moved.partial, x, place, table.nan);
                    moved.count += 1;
                }
            }
            slot.count += 1;
        }
    }
}
