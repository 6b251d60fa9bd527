//! [`Ranked`]: what is known of each key, by its rank, in any order of the rows: of decimals, and of products of integers.

use std::collections::HashMap;

use warpfold_engine::Mixing;
use warpfold_exact::AnyPartial;
use warpfold_exact::partial::{IntegerProduct, Partial, Product};
use warpfold_num::{DType, Element, with_element};

use super::elements;
use crate::decimal::Decimals;

/// What is known of elements, and merges in any order.
pub(super) trait Known: Clone {
    /// Of none.
    fn nothing() -> Self;
    fn merge(&mut self, other: &Self);
}

impl Known for Decimals {
    fn nothing() -> Self {
        Decimals::default()
    }

    fn merge(&mut self, other: &Self) {
        Decimals::merge(self, other);
    }
}

impl Known for IntegerProduct {
    fn nothing() -> Self {
        IntegerProduct::ONE
    }

    fn merge(&mut self, other: &Self) {
        IntegerProduct::merge(self, other);
    }
}

/// Groups by the ranks of their keys.
#[derive(Debug)]
pub(super) struct Ranked<S> {
    places: HashMap<u64, u32, Mixing>,
    groups: Vec<S>,
    rows: u64,
}

impl<S: Known> Ranked<S> {
    /// No groups.
    pub(super) fn new() -> Self {
        Ranked { places: HashMap::default(), groups: Vec::new(), rows: 0 }
    }

    /// Values taken in so far.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    fn group(&mut self, rank: u64) -> &mut S {
        let place = *self.places.entry(rank).or_insert(self.groups.len() as u32) as usize;
        if place == self.groups.len() {
            self.groups.push(S::nothing());
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
    pub(super) fn of(&self, rank: u64) -> &S {
        &self.groups[self.places[&rank] as usize]
    }
}

impl Ranked<Decimals> {
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
}

impl Ranked<IntegerProduct> {
    /// Takes in integers of a type, with the rank of each one's key.
    pub(super) fn push(&mut self, ranks: &[u64], dtype: DType, bytes: &[u8]) {
        macro_rules! each {
            ($($name:ident: $ty:ty),+) => {
                match dtype {
                    $(DType::$name => for (&rank, &x) in ranks.iter().zip(elements::<$ty>(bytes)) {
                        self.multiply(rank, x.into());
                    },)+
                    other => unreachable!("{other} is no integer"),
                }
            };
        }
        each!(Bool: bool, I8: i8, I16: i16, I32: i32, I64: i64, U8: u8, U16: u16, U32: u32, U64: u64);
        self.rows += ranks.len() as u64;
    }

    fn multiply(&mut self, rank: u64, x: i128) {
        let magnitude = x.unsigned_abs();
        let factor = IntegerProduct { magnitude, low: magnitude as u64, negative: x < 0 };
        self.group(rank).merge(&factor);
    }

    /// The partial of a key that there is, of elements of a type.
    pub(super) fn partial(&self, dtype: DType, rank: u64) -> AnyPartial {
        fn of<T: Element>(product: IntegerProduct) -> Partial<T> {
            Partial::Product(Box::new(Product::integer(product)))
        }
        with_element!(dtype, T => of::<T>(*self.of(rank)).into())
    }
}
