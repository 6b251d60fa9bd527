//! [`Extremes`]: the smallest and largest element and where each stands first.

use crate::element::Ordered;
use crate::exact::tally;
use crate::{Error, Op, Result};

/// A value and the first index at which it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArgIndex<K> {
    /// The value's key ([`Ordered::key`]).
    pub key: K,
    /// The first index of that key.
    pub index: u64,
}

/// Minimum and maximum, each with its first index, and the first NaN.
///
/// Indices count from the start of the whole array, so partials of later pieces carry their offset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extremes<T: Ordered> {
    /// The least element and its index.
    pub min: Option<ArgIndex<T::Key>>,
    /// The greatest element and its index.
    pub max: Option<ArgIndex<T::Key>>,
    /// The index of the first NaN.
    pub first_nan: Option<u64>,
    /// Elements that went in.
    pub count: u64,
}

impl<T: Ordered> Default for Extremes<T> {
    fn default() -> Self {
        Extremes { min: None, max: None, first_nan: None, count: 0 }
    }
}

impl<T: Ordered> Extremes<T> {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in the element at `index`.
    pub fn add(&mut self, x: T, index: u64) {
        tally(&mut self.count, 1);
        if x.is_nan() {
            self.first_nan = Some(self.first_nan.map_or(index, |i| i.min(index)));
        } else {
            let arg_index = Some(ArgIndex { key: x.key(), index });
            self.min = lower(self.min, arg_index);
            self.max = upper(self.max, arg_index);
        }
    }

    /// Gives each index another one, by a function that keeps their order.
    pub fn reindex(&mut self, index: &dyn Fn(u64) -> u64) {
        for arg_index in [&mut self.min, &mut self.max].into_iter().flatten() {
            arg_index.index = index(arg_index.index);
        }
        self.first_nan = self.first_nan.map(index);
    }

    /// Takes in another partial; associative and commutative.
    pub fn merge(&mut self, other: &Self) {
        self.min = lower(self.min, other.min);
        self.max = upper(self.max, other.max);
        self.first_nan = [self.first_nan, other.first_nan].into_iter().flatten().min();
        tally(&mut self.count, other.count);
    }

    /// How many elements were taken in.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The smallest element; NaN if one was taken in.
    ///
    /// # Errors
    /// [`Error::Empty`] if nothing was taken in.
    pub fn min(&self) -> Result<T> {
        self.value(self.min, Op::Min)
    }

    /// The largest element; NaN if one was taken in.
    ///
    /// # Errors
    /// [`Error::Empty`] if nothing was taken in.
    pub fn max(&self) -> Result<T> {
        self.value(self.max, Op::Max)
    }

    /// The first index of the smallest element, or of the first NaN.
    ///
    /// # Errors
    /// [`Error::Empty`] if nothing was taken in.
    pub fn argmin(&self) -> Result<u64> {
        self.index(self.min, Op::ArgMin)
    }

    /// The first index of the largest element, or of the first NaN.
    ///
    /// # Errors
    /// [`Error::Empty`] if nothing was taken in.
    pub fn argmax(&self) -> Result<u64> {
        self.index(self.max, Op::ArgMax)
    }

    fn value(&self, arg_index: Option<ArgIndex<T::Key>>, op: Op) -> Result<T> {
        match (self.first_nan, arg_index) {
            (Some(_), _) => Ok(T::nan()),
            (None, Some(arg_index)) => Ok(T::from_key(arg_index.key)),
            (None, None) => Err(Error::Empty { op, ignored: false }),
        }
    }

    fn index(&self, arg_index: Option<ArgIndex<T::Key>>, op: Op) -> Result<u64> {
        self.first_nan
            .or(arg_index.map(|arg_index| arg_index.index))
            .ok_or(Error::Empty { op, ignored: false })
    }
}

fn lower<K: Ord>(a: Option<ArgIndex<K>>, b: Option<ArgIndex<K>>) -> Option<ArgIndex<K>> {
    [a, b].into_iter().flatten().min_by(|a, b| a.key.cmp(&b.key).then(a.index.cmp(&b.index)))
}

fn upper<K: Ord>(a: Option<ArgIndex<K>>, b: Option<ArgIndex<K>>) -> Option<ArgIndex<K>> {
    [a, b].into_iter().flatten().max_by(|a, b| a.key.cmp(&b.key).then(b.index.cmp(&a.index)))
}
