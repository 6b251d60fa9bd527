//! Numbers of keys by a bit for each that there could be: a key's number is how many of the bits before its own are set.
//!
//! A table of numbers takes four bytes for each such key, of which caches hold few; bits and their counts take less than a twentieth of that.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use warpfold_plan::group::Key;

use crate::memory::with_capacity;
use crate::threads::each;

/// Keys that a thread looks at at a time.
pub(super) const CHUNK: usize = 1 << 16;

/// Keys for which there is a word.
const BITS: u64 = u64::BITS as u64;

/// The keys of a range that there are.
pub(super) struct Marks {
    least: u64,
    words: Vec<u64>,
    /// Bits that are set before each word; what 32 bits do not hold is refused before it is read.
    before: Vec<u32>,
}

impl Marks {
    /// Words for a range of keys.
    pub(super) fn words(least: u64, greatest: u64) -> u64 {
        (greatest - least) / BITS + 1
    }

    /// The marks of keys whose ranks lie between two, and the keys, ascending.
    pub(super) fn new<K: Key>(
        keys: &[K],
        (least, greatest): (u64, u64),
        threads: usize,
    ) -> (Self, Vec<K>) {
        let count = Self::words(least, greatest) as usize;
        let mut words: Vec<AtomicU64> = with_capacity(count).expect("memory for a bit a key");
        words.resize_with(count, || AtomicU64::new(0));
        each(threads, keys.chunks(CHUNK), |keys| {
            for key in keys {
                let place = key.rank() - least;
                let (word, bit) = (&words[(place / BITS) as usize], 1 << (place % BITS));
                let seen = word.load(Relaxed);
                match threads {
                    // Whether it was set is not asked: as often as not nobody could have known.
                    0 | 1 => word.store(seen | bit, Relaxed),
                    _ if seen & bit == 0 => _ = word.fetch_or(bit, Relaxed),
                    _ => {}
                }
            }
        });
        let words: Vec<u64> = words.into_iter().map(AtomicU64::into_inner).collect();
        let total = words.iter().map(|word| word.count_ones() as usize).sum();
        let mut found = with_capacity(total).expect("memory for the keys");
        let mut before = with_capacity(count).expect("memory for counts of keys");
        for (&word, k) in words.iter().zip(0u64..) {
            let first = least + k * BITS;
            before.push(found.len() as u32);
            let mut rest = word;
            while rest != 0 {
                found.push(K::from_rank(first + u64::from(rest.trailing_zeros())));
                rest &= rest - 1;
            }
        }
        (Marks { least, words, before }, found)
    }

    /// The number of a key that is there.
    #[inline(always)]
    pub(super) fn number<K: Key>(&self, key: &K) -> u32 {
        let place = key.rank() - self.least;
        let (word, bit) = ((place / BITS) as usize, 1 << (place % BITS));
        self.before[word] + (self.words[word] & (bit - 1)).count_ones()
    }
}
