//! What the states of functions have in common: a wide one, exact whatever comes, and a small one for each of many groups.

use std::fmt::Debug;

use arrow::array::ArrayRef;
use arrow::buffer::NullBuffer;
use datafusion_common::Result;
use warpfold_exact::exact::Special;

use crate::cell::Cell;
use crate::task::Task;

/// The exact state of a function, which holds anything.
pub(crate) trait Wide: Clone + Default + Debug + Send + Sync + 'static {
    fn merge(&mut self, other: &Self);

    /// Takes out what had been merged, where it had nothing special.
    fn subtract(&mut self, other: &Self);

    /// The special values (NaN and infinities) that each register has met.
    fn specials(&mut self) -> [Option<&mut Special>; 2];

    /// Rows that went in.
    fn count(&self) -> u64;

    fn to_bytes(&self) -> Vec<u8>;

    fn from_bytes(bytes: &[u8]) -> Result<Self>;

    /// The result, rounded once; `None` is NULL.
    fn finish(&self, task: Task) -> Result<Option<Cell>>;
}

/// What a row gives.
pub(crate) trait Item: Copy + Send + Sync {
    /// Calls a function with each row's number and item.
    fn each(columns: &[ArrayRef], each: impl FnMut(usize, Self)) -> Result<()>;

    /// Bytes by which equal items are known.
    fn key(self) -> [u8; 16];

    fn from_key(key: [u8; 16]) -> Self;
}

/// The exact state of one of many groups, as small as it can be.
pub(crate) trait Slot: Copy + Default + Debug + Send + Sync + 'static {
    type Item: Item;
    type Wide: Wide;

    /// Takes in the rows of columns.
    fn fold(wide: &mut Self::Wide, columns: &[ArrayRef], valid: Option<&NullBuffer>) -> Result<()>;

    /// Adds an item; says whether it could, and is as before if not.
    fn add(&mut self, item: Self::Item) -> bool;

    /// Adds an item to a wide state, which can always.
    fn add_wide(wide: &mut Self::Wide, item: Self::Item);

    /// Adds a wide state; says whether it could, and is as before if not.
    fn absorb(&mut self, wide: &Self::Wide) -> bool;

    fn count(&self) -> u64;

    fn widen(&self) -> Self::Wide;

    /// The result where it takes no wide state to tell; the count is not zero.
    fn quick(&self, _task: Task) -> Option<Cell> {
        None
    }
}
