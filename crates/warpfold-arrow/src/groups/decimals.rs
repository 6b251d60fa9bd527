//! [`DecimalsByKey`]: what is known of decimals, for each key.

use std::collections::HashMap;

use crate::decimal::Decimals;

/// Decimals of each key, in any order of their rows.
#[derive(Debug, Default)]
pub(super) struct DecimalsByKey {
    places: HashMap<u64, u32>,
    groups: Vec<Decimals>,
    rows: u64,
}

impl DecimalsByKey {
    /// Values taken in so far.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Takes in values of some bytes each, with the rank of each one's key and the row that it stands in.
    pub(super) fn push(&mut self, ranks: &[u64], (bytes, width): (&[u8], usize), rows: &[u64]) {
        for ((bytes, &rank), &row) in bytes.chunks_exact(width).zip(ranks).zip(rows) {
            // The two's complement of a narrower integer, widened by its sign.
            let mut wide = [if bytes[width - 1] & 0x80 == 0 { 0 } else { 0xff }; 16];
            wide[..width].copy_from_slice(bytes);
            self.group(rank).push(row, &[i128::from_le_bytes(wide)], None);
        }
        self.rows += ranks.len() as u64;
    }

    fn group(&mut self, rank: u64) -> &mut Decimals {
        let place = *self.places.entry(rank).or_insert(self.groups.len() as u32) as usize;
        if place == self.groups.len() {
            self.groups.push(Decimals::default());
        }
        &mut self.groups[place]
    }

    /// Takes in the groups of others, whose keys have other ranks here.
    pub(super) fn merge(&mut self, other: Self, rank: impl Fn(u64) -> u64) {
        for (old, place) in other.places {
            self.group(rank(old)).merge(&other.groups[place as usize]);
        }
        self.rows += other.rows;
    }

    /// The ranks of all keys, ascending.
    pub(super) fn ranks(&self) -> Vec<u64> {
        let mut ranks: Vec<u64> = self.places.keys().copied().collect();
        ranks.sort_unstable();
        ranks
    }

    /// What is known of a key that there is.
    pub(super) fn of(&self, rank: u64) -> &Decimals {
        &self.groups[self.places[&rank] as usize]
    }
}
