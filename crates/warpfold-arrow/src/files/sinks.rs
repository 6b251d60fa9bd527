//! [`Sink`]: what takes in columns as they are decoded.

use arrow_array::{ArrayRef, RecordBatch};

use crate::{ColumnReducer, Dot, Groups, Mapped, MappedGroups, Result};

/// What the statistics of a row group say of a column of integers.
pub(super) struct Extremes {
    pub(super) min: ArrayRef,
    pub(super) max: ArrayRef,
    /// Rows that are not null.
    pub(super) values: u64,
}

/// What takes in the batches of some columns.
pub(super) trait Sink: Send + Sized {
    /// Takes in the next batch, of the columns that were asked for in their order.
    fn take(&mut self, batch: &RecordBatch) -> Result<()>;
    /// The row after the last one that was taken in.
    fn row(&self) -> u64;
    /// Takes in the extremes of a row group in place of its rows.
    fn take_extremes(&mut self, extremes: &[Extremes], end: u64) -> Result<()>;
    /// Joins it with what comes after it.
    fn join(&mut self, next: Self) -> Result<()>;
    /// Whether it takes in row groups in any order, and whatever was taken in apart.
    fn takes_any_order(&self) -> bool {
        false
    }
    /// How many that are done may wait for those before them, for each thread.
    const WAITING: usize = 4;
    /// Says that no row comes before those that it takes in.
    fn be_first(&mut self) {}
    /// Says which row comes next, where they come in any order.
    fn go_to(&mut self, _row: u64) {
        unreachable!("rows come in their order")
    }
}

impl Sink for Vec<ColumnReducer> {
    fn take(&mut self, batch: &RecordBatch) -> Result<()> {
        self.iter_mut().zip(batch.columns()).try_for_each(|(fold, column)| fold.push(column))
    }

    fn row(&self) -> u64 {
        self.first().map_or(0, ColumnReducer::rows)
    }

    fn take_extremes(&mut self, extremes: &[Extremes], end: u64) -> Result<()> {
        self.iter_mut().zip(extremes).try_for_each(|(fold, Extremes { min, max, values })| {
            fold.push_extremes([min, max], end, *values)
        })
    }

    fn join(&mut self, next: Self) -> Result<()> {
        self.iter_mut().zip(next).try_for_each(|(fold, next)| fold.merge(next))
    }
}

impl Sink for Dot {
    fn take(&mut self, batch: &RecordBatch) -> Result<()> {
        self.push(batch.column(0), batch.column(1))
    }

    fn row(&self) -> u64 {
        self.rows()
    }

    fn take_extremes(&mut self, _: &[Extremes], _: u64) -> Result<()> {
        unreachable!("products are never taken from statistics")
    }

    fn join(&mut self, next: Self) -> Result<()> {
        self.merge(next);
        Ok(())
    }
}

impl Sink for Mapped {
    fn take(&mut self, batch: &RecordBatch) -> Result<()> {
        self.push(batch.columns())
    }

    fn row(&self) -> u64 {
        self.rows()
    }

    fn take_extremes(&mut self, _: &[Extremes], _: u64) -> Result<()> {
        unreachable!("expressions are never taken from statistics")
    }

    fn join(&mut self, next: Self) -> Result<()> {
        self.merge(&next);
        Ok(())
    }
}

/// Expressions of columns by keys.
pub(super) struct MappedByKeys {
    pub(super) keys: usize,
    /// The row before its own.
    pub(super) start: u64,
    pub(super) groups: MappedGroups,
}

impl Sink for MappedByKeys {
    fn take(&mut self, batch: &RecordBatch) -> Result<()> {
        let (keys, columns) = batch.columns().split_at(self.keys);
        self.groups.push(keys, columns)
    }

    fn row(&self) -> u64 {
        self.start + self.groups.rows()
    }

    fn take_extremes(&mut self, _: &[Extremes], _: u64) -> Result<()> {
        unreachable!("expressions are never taken from statistics")
    }

    fn join(&mut self, next: Self) -> Result<()> {
        self.groups.merge(next.groups)
    }

    /// They have rows in them.
    const WAITING: usize = 1;
}

/// Groups of columns by the same keys.
pub(super) struct ByKeys {
    pub(super) keys: usize,
    pub(super) groups: Vec<Groups>,
}

impl Sink for ByKeys {
    fn take(&mut self, batch: &RecordBatch) -> Result<()> {
        let (keys, values) = batch.columns().split_at(self.keys);
        self.groups
            .iter_mut()
            .zip(values)
            .try_for_each(|(groups, values)| groups.push(keys, values))
    }

    fn row(&self) -> u64 {
        self.groups.first().map_or(0, Groups::rows)
    }

    fn take_extremes(&mut self, _: &[Extremes], _: u64) -> Result<()> {
        unreachable!("groups are never taken from statistics")
    }

    fn join(&mut self, next: Self) -> Result<()> {
        self.groups.iter_mut().zip(next.groups).try_for_each(|(groups, next)| groups.merge(next))
    }

    fn takes_any_order(&self) -> bool {
        self.groups.iter().all(Groups::takes_any_order)
    }

    /// They have rows in them.
    const WAITING: usize = 1;

    fn be_first(&mut self) {
        self.groups.iter_mut().for_each(Groups::be_first);
    }

    fn go_to(&mut self, row: u64) {
        self.groups.iter_mut().for_each(|groups| groups.go_to(row));
    }
}
