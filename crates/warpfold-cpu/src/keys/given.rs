//! Numbers that are given to keys: by a table where they lie close together, by a bit for each that there could be where they lie not far apart, else by hashing.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::marks::{CHUNK, Marks};
use crate::memory::with_capacity;
use crate::threads::{each, map};
use crate::{Error, Result};
use warpfold_plan::group::{Key, MOST_GROUPS, Numbered};
use warpfold_plan::plan::number_bytes;

/// Ranges of keys below this have a table, however few the keys: it fits into a cache.
const SMALL_RANGE: u64 = 1 << 16;

/// Elements whose numbers a thread writes at a time, where all are many: large pages of its own (`cpu/memory`).
const PAGES: usize = 1 << 21;

/// Numbers that were given to keys, as narrow as they can be: they are written once and read once.
#[derive(Debug, Clone)]
pub enum Given {
    /// Below 2^8.
    Bytes(Vec<u8>),
    /// Below 2^16.
    Shorts(Vec<u16>),
    /// All others.
    Words(Vec<u32>),
}

impl Given {
    /// Numbers keys by their order; returns the keys, ascending, too.
    pub fn number<K: Key>(keys: &[K], threads: usize) -> Result<(Self, Vec<K>)> {
        let ends = map(threads, keys.chunks(CHUNK), |keys| {
            let ranks = || keys.iter().map(|key| key.rank());
            ranks().min().zip(ranks().max())
        });
        let join = |(a, b): (u64, u64), (c, d): (u64, u64)| (a.min(c), b.max(d));
        let Some((least, greatest)) = ends.into_iter().flatten().reduce(join) else {
            return Ok((Given::Words(Vec::new()), Vec::new()));
        };
        // Marks are twelve bytes for a word of keys that there could be: no more than as many for each key that there is.
        match greatest - least < SMALL_RANGE {
            true => by_table(keys, least, greatest, threads),
            false if Marks::words(least, greatest) <= keys.len() as u64 => {
                let (marks, found) = Marks::new(keys, (least, greatest), threads);
                check(keys.len(), found.len())?;
                Ok((Given::look_up(keys, found.len(), threads, |key| marks.number(key)), found))
            }
            false => by_hashing(keys, threads),
        }
    }

    /// The number of each key, below `groups`.
    fn look_up<K: Key>(
        keys: &[K],
        groups: usize,
        threads: usize,
        number: impl Fn(&K) -> u32 + Sync,
    ) -> Self {
        match number_bytes(groups as u64) {
            1 => Given::Bytes(written(keys, threads, |key| number(key) as u8)),
            2 => Given::Shorts(written(keys, threads, |key| number(key) as u16)),
            _ => Given::Words(written(keys, threads, number)),
        }
    }
}

/// What a function makes of each key.
fn written<K: Key, N: Copy + Send>(
    keys: &[K],
    threads: usize,
    make: impl Fn(&K) -> N + Sync,
) -> Vec<N> {
    let mut all = with_capacity(keys.len()).expect("memory for the numbers of keys");
    let chunk = (keys.len() / (4 * threads)).clamp(CHUNK, PAGES);
    let chunks = all.spare_capacity_mut()[..keys.len()].chunks_mut(chunk).zip(keys.chunks(chunk));
    each(threads, chunks, |(all, keys)| {
        all.iter_mut().zip(keys).for_each(|(to, key)| {
            to.write(make(key));
        });
    });
    // SAFETY: there is room for as many as there are keys, and for each of these one was written.
    unsafe { all.set_len(keys.len()) };
    all
}

impl Numbered for Given {
    fn numbers(&self, first: usize, out: &mut [u32]) {
        let all = first..first + out.len();
        match self {
            Given::Bytes(numbers) => widened(&numbers[all], out),
            Given::Shorts(numbers) => widened(&numbers[all], out),
            Given::Words(numbers) => out.copy_from_slice(&numbers[all]),
        }
    }
}

fn widened<N: Copy + Into<u32>>(numbers: &[N], out: &mut [u32]) {
    out.iter_mut().zip(numbers).for_each(|(to, number)| *to = (*number).into());
}

/// Refuses more groups than 32 bits number.
fn check(keys: usize, groups: usize) -> Result<()> {
    if groups as u64 <= MOST_GROUPS {
        return Ok(());
    }
    Err(Error::Keys {
        requested: format!("groups of {keys} elements"),
        obstacle: format!("there are {groups} different keys, more than 2^32"),
        remedy: "take them a part at a time",
    })
}

fn by_table<K: Key>(
    keys: &[K],
    least: u64,
    greatest: u64,
    threads: usize,
) -> Result<(Given, Vec<K>)> {
    let slot = |key: &K| (key.rank() - least) as usize;
    let mut present = Vec::new();
    present.resize_with((greatest - least) as usize + 1, || AtomicBool::new(false));
    each(threads, keys.chunks(CHUNK), |keys| {
        for key in keys {
            let present = &present[slot(key)];
            // Most keys were seen before: a line that is only read stays in every core's cache.
            if !present.load(Relaxed) {
                present.store(true, Relaxed);
            }
        }
    });
    let (mut table, mut found) = (vec![0u32; present.len()], Vec::new());
    for (rank, (present, number)) in (least..=greatest).zip(present.iter_mut().zip(&mut table)) {
        if *present.get_mut() {
            // Checked below; a wrong number is in no result.
            *number = found.len() as u32;
            found.push(K::from_rank(rank));
        }
    }
    check(keys.len(), found.len())?;
    Ok((Given::look_up(keys, found.len(), threads, |key| table[slot(key)]), found))
}

fn by_hashing<K: Key>(keys: &[K], threads: usize) -> Result<(Given, Vec<K>)> {
    let hashing = Mixing::new();
    // As few sets as there are threads: a key is seen again in every one.
    let share = keys.len().div_ceil(threads).max(CHUNK);
    let sets = map(threads, keys.chunks(share), |keys| {
        let mut present = HashSet::with_hasher(hashing);
        present.extend(keys.iter().map(|key| key.rank()));
        let mut present: Vec<u64> = present.into_iter().collect();
        present.sort_unstable();
        present
    });
    let mut found = sets.concat();
    // A stable sort merges what is sorted already.
    found.sort();
    found.dedup();
    check(keys.len(), found.len())?;
    let mut numbers = HashMap::with_capacity_and_hasher(found.len(), hashing);
    numbers.extend(found.iter().enumerate().map(|(number, rank)| (*rank, number as u32)));
    let given = Given::look_up(keys, found.len(), threads, |key| numbers[&key.rank()]);
    Ok((given, found.into_iter().map(K::from_rank).collect()))
}

/// A hash of one number by David Stafford's thirteenth mixer; started from another number in each process, so that no keys collide by design.
#[derive(Debug, Clone, Copy)]
pub struct Mixing(u64);

impl Mixing {
    /// Started from a number that nobody knows.
    pub(crate) fn new() -> Self {
        Mixing(RandomState::new().hash_one(0))
    }

    /// The hash of a number.
    #[inline(always)]
    pub(crate) fn mixed(self, number: u64) -> u64 {
        let mut z = self.0.wrapping_add(number);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

impl Default for Mixing {
    fn default() -> Self {
        Self::new()
    }
}

impl BuildHasher for Mixing {
    type Hasher = Mixing;

    fn build_hasher(&self) -> Mixing {
        *self
    }
}

impl Hasher for Mixing {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    #[inline(always)]
    fn write_u64(&mut self, number: u64) {
        self.0 = self.mixed(number);
    }

    #[inline(always)]
    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn check_numbers<K: Key>(keys: &[K]) {
        let expected: Vec<K> = keys.iter().copied().collect::<BTreeSet<K>>().into_iter().collect();
        for threads in [1, 2, 5] {
            let (given, found) = Given::number(keys, threads).unwrap();
            assert_eq!(found, expected);
            let mut numbers = vec![0; keys.len()];
            given.numbers(0, &mut numbers);
            let named: Vec<K> = numbers.iter().map(|number| found[*number as usize]).collect();
            assert_eq!(named, keys);
        }
    }

    #[test]
    fn keys_of_every_type_to_their_ends() {
        macro_rules! check {
            ($($ty:ty),+) => {$({
                check_numbers::<$ty>(&[]);
                check_numbers(&[<$ty>::MAX]);
                check_numbers(&[3, <$ty>::MIN, 1, <$ty>::MAX, 0, 3, <$ty>::MIN]);
            })+};
        }
        check!(i8, i16, i32, i64, u8, u16, u32, u64);
        check_numbers(&[true, false, true]);
        check_numbers(&[-3i64, -1, -3, 2]);
    }

    #[test]
    fn keys_not_far_apart() {
        // Of a range of so many keys for each element, from one to more than there are marks for; at either end of the words.
        let n = 2 * CHUNK as u64 + 5;
        for range in [n - 1, n + 64, 17 * n, 63 * n, 64 * n, 64 * n + 65, 65 * n] {
            let mut keys: Vec<i64> =
                (0..n).map(|at| ((at * at * 7919 + at) % range) as i64 - 1000).collect();
            keys.extend([-1000, range as i64 - 1000]);
            check_numbers(&keys);
        }
        check_numbers(&(0..2 * CHUNK as u64).map(|at| u64::MAX - at * 37).collect::<Vec<_>>());
        // The last word begins at the last number there is.
        check_numbers(&(0..=65_536).map(|at| u64::MAX - at).collect::<Vec<_>>());
        check_numbers(&(0..=65_536).map(|at| i64::MAX - at).collect::<Vec<_>>());
    }

    #[test]
    fn close_and_scattered_keys_beyond_a_chunk() {
        let n = 3 * CHUNK as u64 + 5;
        // Numbers of one byte, of two and of four.
        for groups in [256, 257, 1 << 16, (1 << 16) + 1, 100_003] {
            let close: Vec<u32> = (0..n).map(|at| (at * 7919 % groups) as u32).collect();
            check_numbers(&close);
            let scattered: Vec<i64> = close
                .iter()
                .map(|key| u64::from(*key).wrapping_mul(0x9E37_79B9_7F4A_7C15) as i64)
                .collect();
            check_numbers(&scattered);
        }
    }
}
